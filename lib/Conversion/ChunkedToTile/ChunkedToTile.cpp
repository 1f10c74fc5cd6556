//===- ChunkedToTile.cpp - the chunk form as a kernel on tiles ------------===//
//
// See the description of the pass in Passes.td. DimClasses.cpp finds what may
// be cut, ChunkPlan.cpp how the work is shared, ChunkKernel.cpp makes the
// kernel around a chunk, TileEmitter.cpp what the region computes.
//
//===----------------------------------------------------------------------===//

#include "ChunkKernel.h"
#include "TokenRows.h"

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

/// Rows of the scratch buffers: chunks of all sequences, and of packed ones a
/// row more for the rest of each.
static Attribute countSlots(ChunkedOp op) {
  Builder b(op.getContext());
  SmallVector<NamedAttribute> fields = {
      b.getNamedAttr("of", b.getStringAttr("T")),
      b.getNamedAttr("divide", b.getI64IntegerAttr(op.getChunk()))};
  if (op.isPacked()) {
    fields.push_back(b.getNamedAttr("plus", b.getStringAttr("N")));
    return b.getDictionaryAttr(fields);
  }
  fields.push_back(b.getNamedAttr("round", b.getStringAttr("up")));
  return b.getDictionaryAttr({b.getNamedAttr("of", b.getDictionaryAttr(fields)),
                              b.getNamedAttr("times", b.getStringAttr("N"))});
}

static std::string offChainName(StringRef name) {
  return (name + "_offchain").str();
}

static KernelDescription describe(const KernelSignature &signature,
                                  StringRef name, ChunkedOp op,
                                  const ChunkPlan &plan,
                                  ArrayRef<Workspace> workspace) {
  Builder b(op.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  KernelDescription description;
  Attribute slots = countSlots(op);
  if (plan.split)
    description.launches.push_back(
        {offChainName(name),
         b.getDictionaryAttr(
             {b.getNamedAttr("of", slots), number("times", op.getNumHeads())}),
         plan.forOffChain().warps * tile::kWarpSize});
  description.launches.push_back(
      {name.str(),
       b.getDictionaryAttr({b.getNamedAttr("of", b.getStringAttr("N")),
                            number("times", op.getNumHeads() * plan.slices)}),
       (plan.split ? plan.forChain() : plan).warps * tile::kWarpSize});
  description.workspace.assign(workspace.begin(), workspace.end());
  for (Workspace &buffer : description.workspace)
    buffer.rows = slots;
  StringRef planName = plan.split ? "split-T" : "single";
  description.plan = b.getDictionaryAttr(
      {b.getNamedAttr("name",
                      b.getStringAttr("chunkwise mma.sync, " + planName)),
       number("heads", op.getNumHeads()), number("slices", plan.slices),
       number("columns", plan.sliceWidth), number("chunk", op.getChunk()),
       number("warps", plan.warps), number("parts", plan.columnParts)});
  ChunkKernel::addAlignments(signature, op, description.alignments);
  return description;
}

namespace {

struct ChunkedToTilePass : linattn::impl::ChunkedToTileBase<ChunkedToTilePass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(lowerToKernels(getOperation(),
                              [&](func::FuncOp func) { return lower(func); })))
      signalPassFailure();
  }

  LogicalResult lower(func::FuncOp func) {
    FailureOr<KernelSignature> signature = KernelSignature::get(func);
    if (failed(signature))
      return failure();
    auto op = dyn_cast<ChunkedOp>(signature->getOp().getOperation());
    if (!op)
      return signature->getOp()->emitOpError(
          "is no chunk form (--linattn-chunkwise makes it)");
    foldFills(op);
    liftRowSlices(op);
    if (failed(ChunkKernel::check(op)) || failed(TileEmitter::check(op)))
      return failure();
    fuseScales(op);
    separateUses(op);
    DimClasses classes(op);
    ChunkPlanOptions options{warps, columnParts, slice, std::nullopt};
    if (split >= 0)
      options.split = split != 0;
    FailureOr<ChunkPlan> plan = planChunk(op, classes, options);
    if (failed(plan))
      return failure();

    OpBuilder builder(func);
    auto module =
        gpu::GPUModuleOp::create(builder, func.getLoc(), func.getName());
    builder.setInsertionPointToStart(&module.getBodyRegion().front());
    SmallVector<Workspace> workspace;
    auto build = [&](KernelPart part, const ChunkPlan &plan, StringRef name) {
      ChunkKernel kernel(*signature, classes, plan, part, builder);
      kernel.run(name);
      return kernel.getWorkspace();
    };
    if (plan->split) {
      build(KernelPart::OffChain, plan->forOffChain(),
            offChainName(func.getName()));
      workspace = build(KernelPart::Chain, plan->forChain(), func.getName());
    } else {
      build(KernelPart::Whole, *plan, func.getName());
    }
    module->setAttr(kKernelAttr,
                    signature->describe(describe(*signature, func.getName(), op,
                                                 *plan, workspace)));
    func.erase();
    ++numKernels;
    return success();
  }
};

} // namespace
