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

static constexpr StringLiteral kOffChainSuffix = "_offchain";
static constexpr StringLiteral kEndsSuffix = "_ends";
static constexpr StringLiteral kTransitionsSuffix = "_transitions";
static constexpr StringLiteral kStartsSuffix = "_starts";
static constexpr StringLiteral kOutputsSuffix = "_outputs";

namespace {
/// The plans of the kernels: `transitions` and `starts` of segments.
struct Plans {
  ChunkPlan chunks, transitions, outputs;
  int64_t segments = 1;
  int64_t startWarps = 0, startSlices = 0;
};
} // namespace

static KernelDescription describe(const KernelSignature &signature,
                                  StringRef name, ChunkedOp op,
                                  const Plans &plans,
                                  ArrayRef<Workspace> workspace) {
  const ChunkPlan &plan = plans.chunks;
  Builder b(op.getContext());
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  KernelDescription description;
  Attribute slots = countSlots(op);
  // A block for each chunk and head.
  auto launchSlots = [&](StringRef suffix, const ChunkPlan &plan) {
    description.launches.push_back(
        {(name + suffix).str(),
         b.getDictionaryAttr(
             {b.getNamedAttr("of", slots), number("times", op.getNumHeads())}),
         plan.warps * tile::kWarpSize});
  };
  if (plan.split)
    launchSlots(kOffChainSuffix, plan.forOffChain());
  // `segments` blocks for each sequence, head and slice.
  auto launch = [&](StringRef suffix, int64_t segments, int64_t slices,
                    int64_t warps) {
    description.launches.push_back(
        {(name + suffix).str(),
         b.getDictionaryAttr(
             {b.getNamedAttr("of", b.getStringAttr("N")),
              number("times", op.getNumHeads() * slices * segments)}),
         warps * tile::kWarpSize});
  };
  auto launchChunks = [&](StringRef suffix, int64_t segments,
                          const ChunkPlan &plan) {
    launch(suffix, segments, plan.slices,
           (plan.split ? plan.forChain() : plan).warps);
  };
  if (plans.segments > 1) {
    launchChunks(kEndsSuffix, plans.segments - 1, plan);
    launchChunks(kTransitionsSuffix, plans.segments - 1, plans.transitions);
    launch(kStartsSuffix, 1, plans.startSlices, plans.startWarps);
  }
  launchChunks("", plans.segments, plan);
  if (plan.outputsApart)
    launchSlots(kOutputsSuffix, plans.outputs);
  description.workspace.assign(workspace.begin(), workspace.end());
  for (Workspace &buffer : description.workspace)
    if (!buffer.rows)
      buffer.rows = slots;
  std::string planName = plan.split ? "split-T" : "single";
  if (plans.segments > 1)
    planName += ", segmented";
  if (plan.outputsApart)
    planName += ", outputs apart";
  SmallVector<NamedAttribute> fields = {
      b.getNamedAttr("name",
                     b.getStringAttr("chunkwise mma.sync, " + planName)),
      number("heads", op.getNumHeads()),
      number("slices", plan.slices),
      number("columns", plan.sliceWidth),
      number("chunk", op.getChunk()),
      number("warps", plan.warps),
      number("parts", plan.columnParts)};
  if (plans.segments > 1)
    fields.push_back(number("segments", plans.segments));
  description.plan = b.getDictionaryAttr(fields);
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
    OutputTail tail(op, classes);
    FailureOr<Plans> plans = makePlans(op, classes, tail);
    if (failed(plans))
      return failure();
    const ChunkPlan &plan = plans->chunks;

    OpBuilder builder(func);
    auto module =
        gpu::GPUModuleOp::create(builder, func.getLoc(), func.getName());
    builder.setInsertionPointToStart(&module.getBodyRegion().front());
    SmallVector<Workspace> workspace;
    auto build = [&](KernelPart part, const ChunkPlan &plan, SegmentKind kind,
                     StringRef suffix) {
      ChunkKernel kernel(*signature, classes, tail, plan, part,
                         {kind, plans->segments}, builder);
      kernel.run((func.getName() + suffix).str());
      // The same of all of them.
      if (workspace.empty())
        workspace = kernel.getWorkspace();
    };
    auto buildChunks = [&](const ChunkPlan &plan, SegmentKind kind,
                           StringRef suffix) {
      if (plan.split)
        build(KernelPart::Chain, plan.forChain(), kind, suffix);
      else
        build(KernelPart::Whole, plan, kind, suffix);
    };
    if (plan.split)
      build(KernelPart::OffChain, plan.forOffChain(), SegmentKind::Whole,
            kOffChainSuffix);
    if (plans->segments > 1) {
      buildChunks(plan, SegmentKind::Ends, kEndsSuffix);
      buildChunks(plans->transitions, SegmentKind::Transitions,
                  kTransitionsSuffix);
      buildChunks(plan, SegmentKind::Run, "");
      llvm::append_range(workspace, getSegmentWorkspace(op, plans->segments));
      StartsKernel starts(*signature, plans->segments, workspace, builder);
      starts.run((func.getName() + kStartsSuffix).str());
      plans->startWarps = starts.getWarps();
      plans->startSlices = starts.getSlices();
    } else {
      buildChunks(plan, SegmentKind::Whole, "");
    }
    if (plan.outputsApart)
      build(KernelPart::Outputs, plans->outputs, SegmentKind::Whole,
            kOutputsSuffix);
    module->setAttr(kKernelAttr,
                    signature->describe(describe(*signature, func.getName(), op,
                                                 *plans, workspace)));
    if (failed(verifyLayouts(module, op)))
      return failure();
    func.erase();
    ++numKernels;
    return success();
  }

  FailureOr<Plans> makePlans(ChunkedOp op, const DimClasses &classes,
                             const OutputTail &tail) {
    auto argsOf = [&](SegmentKind kind) {
      return llvm::map_to_vector(
          getCarried(op, kind),
          [&](unsigned state) -> Value { return op.getStateArgs()[state]; });
    };
    Plans plans;
    plans.segments = segments;
    if (segments > 1 && getTransitions(op).empty())
      return op.emitOpError("cannot run in segments: it has no transitions "
                            "(--linattn-add-transitions makes them)");
    SegmentKind kind = segments > 1 ? SegmentKind::Run : SegmentKind::Whole;
    ChunkPlanOptions options{argsOf(kind), warps,        columnParts,
                             slice,        std::nullopt, std::nullopt};
    if (outputs >= 0)
      options.outputsApart = outputs != 0;
    if (split >= 0)
      options.split = split != 0;
    FailureOr<ChunkPlan> plan = planChunk(op, classes, tail, options);
    if (failed(plan))
      return failure();
    if (segments > 1 && plan->overK && !plan->split)
      return op.emitOpError("is not lowered to tiles: segments of a decay over "
                            "K have a kernel for what is off the chain, got "
                            "split=0 (split=1, or segments=1)");
    plans.chunks = *plan;
    int64_t columns = 1;
    for (Value value : tail.getCrossing())
      columns = std::max(columns,
                         cast<RankedTensorType>(value.getType()).getDimSize(1));
    plans.outputs = plan->forOutputs(columns);
    if (segments == 1)
      return plans;
    // What is off the chain serves both: its tiles depend on the parts.
    options.states = argsOf(SegmentKind::Transitions);
    options.columnParts = plan->columnParts;
    options.split = plan->split;
    options.outputsApart = plan->outputsApart;
    FailureOr<ChunkPlan> transitions = planChunk(op, classes, tail, options);
    if (failed(transitions))
      return failure();
    plans.transitions = *transitions;
    return plans;
  }
};

} // namespace
