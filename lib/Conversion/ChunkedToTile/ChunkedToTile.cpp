//===- ChunkedToTile.cpp - the chunk form as a kernel on tiles ------------===//
//
// See the description of the pass in Passes.td. DimClasses.cpp finds what may
// be cut, ChunkPlan.cpp how the work is shared, ChunkKernel.cpp makes the
// kernel around a chunk, TileEmitter.cpp what the region computes.
//
//===----------------------------------------------------------------------===//

#include "ChunkKernel.h"

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace linattn {
#define GEN_PASS_DEF_CHUNKEDTOTILE
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

static KernelLaunch describeLaunch(const KernelSignature &signature,
                                   ChunkedOp op, const ChunkPlan &plan) {
  Builder b(op.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  KernelLaunch launch;
  launch.blocksPerSequence = op.getNumHeads() * plan.slices;
  launch.threads = plan.warps * tile::kWarpSize;
  launch.plan = b.getDictionaryAttr(
      {b.getNamedAttr("name", b.getStringAttr("chunkwise mma.sync, single")),
       number("heads", op.getNumHeads()), number("slices", plan.slices),
       number("columns", plan.sliceWidth), number("chunk", op.getChunk()),
       number("warps", plan.warps), number("parts", plan.columnParts)});
  ChunkKernel::addAlignments(signature, op, launch.alignments);
  return launch;
}

namespace {

struct ChunkedToTilePass : linattn::impl::ChunkedToTileBase<ChunkedToTilePass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isDeclaration())
        functions.push_back(func);
    for (func::FuncOp func : functions)
      if (failed(lower(func)))
        return signalPassFailure();
    if (!functions.empty())
      getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                              UnitAttr::get(&getContext()));
  }

  LogicalResult lower(func::FuncOp func) {
    FailureOr<KernelSignature> signature = KernelSignature::get(func);
    if (failed(signature))
      return failure();
    auto op = dyn_cast<ChunkedOp>(signature->getOp().getOperation());
    if (!op)
      return signature->getOp()->emitOpError(
          "is no chunk form (--linattn-chunkwise makes it)");
    if (failed(ChunkKernel::check(op)) || failed(TileEmitter::check(op)))
      return failure();
    separateUses(op);
    DimClasses classes(op);
    FailureOr<ChunkPlan> plan = planChunk(op, classes, {warps, columnParts, slice});
    if (failed(plan))
      return failure();

    OpBuilder builder(func);
    auto module =
        gpu::GPUModuleOp::create(builder, func.getLoc(), func.getName());
    builder.setInsertionPointToStart(&module.getBodyRegion().front());
    ChunkKernel kernel(*signature, classes, *plan, builder);
    gpu::GPUFuncOp made = kernel.run(func.getName());
    made->setAttr(kKernelAttr, signature->describe(
                                   describeLaunch(*signature, op, *plan)));
    func.erase();
    ++numKernels;
    return success();
  }
};

} // namespace
