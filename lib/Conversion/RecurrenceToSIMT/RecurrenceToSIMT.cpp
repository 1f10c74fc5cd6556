//===- RecurrenceToSIMT.cpp - the token-serial form on a GPU --------------===//
//
// See the description of the pass in Passes.td. KernelSignature.cpp says what
// the kernel takes, KernelPlan.cpp how many threads share a head,
// KernelBuilder.cpp makes its loops, StepEvaluator.cpp the values of a token,
// StateRows.cpp what happens to the states.
//
//===----------------------------------------------------------------------===//

#include "../Common/DeviceOps.h"
#include "KernelBuilder.h"

#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/ExpandSugar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace linattn {
#define GEN_PASS_DEF_RECURRENCETOSIMT
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

static KernelDescription describe(StringRef name, RecurrenceOp op,
                                  const KernelPlan &plan) {
  Builder b(op.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  KernelDescription description;
  // N sequences times what one of them takes.
  DictionaryAttr grid =
      b.getDictionaryAttr({b.getNamedAttr("of", b.getStringAttr("N")),
                           number("times", op.getNumHeads() * plan.slices)});
  description.launches.push_back({name.str(), grid, plan.threads});
  description.plan = b.getDictionaryAttr(
      {b.getNamedAttr("name", b.getStringAttr("token-serial SIMT")),
       number("heads", op.getNumHeads()), number("slices", plan.slices),
       number("columns", plan.width), number("lanes", plan.lanes)});
  return description;
}

namespace {

struct RecurrenceToSIMTPass
    : linattn::impl::RecurrenceToSIMTBase<RecurrenceToSIMTPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    insertDeviceDialects(registry);
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateExpandSugarPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (failed(lowerToKernels(getOperation(),
                              [&](func::FuncOp func) { return lower(func); })))
      signalPassFailure();
  }

  LogicalResult lower(func::FuncOp func) {
    FailureOr<KernelSignature> signature = KernelSignature::get(func);
    if (failed(signature))
      return failure();
    auto op = dyn_cast<RecurrenceOp>(signature->getOp().getOperation());
    if (!op)
      return signature->getOp()->emitOpError(
          "is no recurrence, which is what has a token-serial kernel");
    if (failed(StepEvaluator::check(*op.getBody())))
      return failure();
    llvm::DenseSet<Value> dependent = findStateDependent(*op.getBody());
    FailureOr<KernelPlan> plan = planKernel(op, dependent);
    if (failed(plan))
      return failure();

    OpBuilder builder(func);
    auto module =
        gpu::GPUModuleOp::create(builder, func.getLoc(), func.getName());
    KernelBuilder kernel(*signature, *plan, dependent, builder);
    if (failed(kernel.run(module, func.getName())))
      return failure();
    Operation *made = module.lookupSymbol(func.getName());
    made->setAttr(kKernelAttr,
                  signature->describe(describe(func.getName(), op, *plan)));
    func.erase();
    ++numKernels;
    return success();
  }
};

} // namespace
