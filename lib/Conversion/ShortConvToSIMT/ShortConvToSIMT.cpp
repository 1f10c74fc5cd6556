//===- ShortConvToSIMT.cpp - short convolutions on a GPU ------------------===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "../Common/DeviceOps.h"
#include "ConvKernel.h"

#include "linattn/Conversion/Fronts.h"
#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace linattn {
#define GEN_PASS_DEF_SHORTCONVTOSIMT
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;
using namespace linattn::simt;

namespace {

/// Builds sizes as docs/Artifacts.md has them.
struct SizeBuilder {
  Builder b;

  Attribute name(StringRef name) { return b.getStringAttr(name); }
  Attribute number(int64_t value) { return b.getI64IntegerAttr(value); }
  Attribute formula(Attribute of, ArrayRef<NamedAttribute> rest) {
    SmallVector<NamedAttribute> fields(rest);
    fields.push_back(b.getNamedAttr("of", of));
    return b.getDictionaryAttr(fields);
  }
  NamedAttribute field(StringRef name, Attribute value) {
    return b.getNamedAttr(name, value);
  }
};

} // namespace

/// Blocks of the kernel; ConvKernel.h says which thread does what.
static Attribute countBlocks(ShortConvOp op, const ConvPlan &plan) {
  SizeBuilder s{Builder(op.getContext())};
  NamedAttribute byRun = s.field("divide", s.number(plan.run));
  NamedAttribute up = s.field("round", s.name("up"));
  Attribute runs;
  if (op.isPacked())
    runs = s.formula(s.name("T"), {byRun, s.field("plus", s.name("N"))});
  else
    runs = s.formula(
        plan.writesWindow
            ? s.formula(s.name("T"), {byRun, s.field("plus", s.number(1))})
            : s.formula(s.name("T"), {byRun, up}),
        {s.field("times", s.name("N"))});
  return s.formula(runs, {s.field("times", s.number(plan.lanes)),
                          s.field("divide", s.number(plan.threads)), up});
}

static KernelDescription describe(StringRef name, ShortConvOp op,
                                  const ConvPlan &plan) {
  SizeBuilder s{Builder(op.getContext())};
  KernelDescription description;
  description.launches.push_back(
      {name.str(), countBlocks(op, plan), plan.threads});
  description.plan = s.b.getDictionaryAttr(
      {s.field("name", s.name("short convolution SIMT")),
       s.field("channels", s.number(plan.vector * plan.lanes)),
       s.field("channels_per_thread", s.number(plan.vector)),
       s.field("tokens_per_thread", s.number(plan.run))});
  return description;
}

namespace {

struct ShortConvToSIMTPass
    : linattn::impl::ShortConvToSIMTBase<ShortConvToSIMTPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    Base::getDependentDialects(registry);
    device::insertDeviceDialects(registry);
  }

  void runOnOperation() override {
    if (failed(lowerToKernels(getOperation(),
                              [&](func::FuncOp func) { return lower(func); })))
      signalPassFailure();
  }

  LogicalResult lower(func::FuncOp func) {
    // Those in front of a recurrence are computed by its kernel.
    if (llvm::all_of(func.getOps<ShortConvOp>(), isPartOfFront))
      return success();
    FailureOr<KernelSignature> signature = KernelSignature::get(func);
    if (failed(signature))
      return failure();
    auto op = cast<ShortConvOp>(signature->getOp().getOperation());
    FailureOr<ConvPlan> plan = ConvPlan::get(*signature, op);
    if (failed(plan))
      return failure();
    OpBuilder builder(func);
    auto module =
        gpu::GPUModuleOp::create(builder, func.getLoc(), func.getName());
    ConvKernel(*signature, *plan, builder).run(module, func.getName());
    Operation *made = module.lookupSymbol(func.getName());
    made->setAttr(kKernelAttr,
                  signature->describe(describe(func.getName(), op, *plan)));
    func.erase();
    ++numKernels;
    return success();
  }
};

} // namespace
