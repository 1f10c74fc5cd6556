//===- AttentionTilesToTile.cpp - attention as a kernel on tiles ----------===//
//
// See the description of the pass in Passes.td. AttentionPlan.cpp decides how
// the work is shared, AttentionKernel.cpp makes the kernel around the regions,
// RegionEmitter.cpp what they compute.
//
//===----------------------------------------------------------------------===//

#include "../Common/TileKernel.h"
#include "AttentionKernel.h"
#include "ColumnParts.h"
#include "FoldScales.h"
#include "KeyPasses.h"
#include "SinkParameters.h"

#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace linattn {
#define GEN_PASS_DEF_ATTENTIONTILESTOTILE
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

static std::string partsName(StringRef name) { return (name + "_parts").str(); }

static KernelDescription describe(const KernelSignature &signature,
                                  StringRef name, AttentionTilesOp op,
                                  const AttentionPlan &plan) {
  Builder b(op.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  KernelDescription description;
  auto launch = [&](StringRef kernel, KernelPart part) {
    description.launches.push_back(
        {kernel.str(), AttentionKernel::countBlocks(op, plan, part),
         plan.warps * tile::kWarpSize});
  };
  StringRef planName = "attention mma.sync";
  if (plan.splitKeys) {
    planName = "attention mma.sync, split keys";
    launch(partsName(name), KernelPart::KeyPart);
    launch(name, KernelPart::Combine);
    description.workspace = AttentionKernel::getWorkspace(op, plan);
  } else {
    launch(name, KernelPart::Whole);
  }
  SmallVector<NamedAttribute> fields = {
      b.getNamedAttr("name", b.getStringAttr(planName)),
      number("heads", op.getHeads()),
      number("query_tile", op.getQueryTile()),
      number("key_tile", op.getKeyTile()),
      number("warps", plan.warps),
      b.getNamedAttr("queries", b.getStringAttr(plan.queriesInRegisters
                                                    ? "registers"
                                                    : "shared memory"))};
  if (plan.splitKeys)
    fields.append({number("split_keys", plan.splitKeys),
                   number("heads_per_tile", plan.group)});
  if (plan.columnParts > 1)
    fields.push_back(number("column_parts", plan.columnParts));
  if (plan.inTurn)
    fields.push_back(
        number("key_passes", findKeyPasses(op, /*inTurn=*/true).size()));
  description.plan = b.getDictionaryAttr(fields);
  AttentionKernel::addAlignments(signature, op, description.alignments);
  return description;
}

namespace {

struct AttentionTilesToTilePass
    : linattn::impl::AttentionTilesToTileBase<AttentionTilesToTilePass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(lowerToKernels(getOperation(),
                              [&](func::FuncOp func) { return lower(func); })))
      signalPassFailure();
  }

  LogicalResult lower(func::FuncOp func) {
    for (auto op : llvm::to_vector(func.getOps<AttentionTilesOp>()))
      if (failed(sinkParameters(op)))
        return failure();
    FailureOr<KernelSignature> signature = KernelSignature::get(func);
    if (failed(signature))
      return failure();
    auto op = dyn_cast<AttentionTilesOp>(signature->getOp().getOperation());
    if (!op)
      return signature->getOp()->emitOpError(
          "is no attention on tiles (--linattn-tile-attention makes it)");
    if (failed(AttentionKernel::check(op)) || failed(RegionEmitter::check(op)))
      return failure();
    FailureOr<WideValues> wide = shareWideValues(op, splitKeys > 0);
    if (failed(wide))
      return failure();
    FailureOr<AttentionPlan> plan = planAttention(op, warps, splitKeys, *wide);
    if (failed(plan))
      return failure();
    foldScales(op);

    OpBuilder builder(func);
    auto module =
        gpu::GPUModuleOp::create(builder, func.getLoc(), func.getName());
    builder.setInsertionPointToStart(&module.getBodyRegion().front());
    auto build = [&](KernelPart part, StringRef name) {
      AttentionKernel(*signature, *plan, part, builder).run(name);
    };
    if (plan->splitKeys) {
      build(KernelPart::KeyPart, partsName(func.getName()));
      build(KernelPart::Combine, func.getName());
    } else {
      build(KernelPart::Whole, func.getName());
    }
    module->setAttr(kKernelAttr, signature->describe(describe(
                                     *signature, func.getName(), op, *plan)));
    if (failed(verifyLayouts(module, op)))
      return failure();
    func.erase();
    ++numKernels;
    return success();
  }
};

} // namespace
