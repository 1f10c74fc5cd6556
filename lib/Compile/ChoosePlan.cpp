//===- ChoosePlan.cpp - plans of a function, the best first ---------------===//

#include "linattn/Compile/CostModel.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/Transitions.h"
#include "linattn/Target/Devices.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace linattn;

bool linattn::isAttention(ModuleOp isolated) {
  return isolated
      .walk([](Operation *op) {
        return isa<SoftmaxAttentionOp, DiffAttentionOp, AttentionTilesOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Tokens per chunk where nobody asks for another number.
static constexpr int64_t kDefaultChunk = 64;

/// Tokens per chunk of products with f32 operands, which take twice the memory
/// and, in three products of two numbers each, six times the code.
static constexpr int64_t kSingleChunk = 32;

/// Plans from fast to small: devices have 99 to 227 KiB of shared memory for a
/// block.
static constexpr StringLiteral kPlans[] = {"",
                                           "stages=1",
                                           "stages=1 slice=32",
                                           "stages=1 slice=16",
                                           "stages=1 chunk=32",
                                           "stages=1 chunk=16"};

/// The same with f32 operands.
static constexpr StringLiteral kSinglePlans[] = {
    "chunk=32", "stages=1 chunk=32", "stages=1 chunk=32 slice=32",
    "stages=1 chunk=16", "stages=1 chunk=16 slice=32"};

/// The same of attention, whose tiles must fit the registers too.
static constexpr StringLiteral kAttentionPlans[] = {
    "query-tile=128 key-tile=64",         "query-tile=128 key-tile=32",
    "query-tile=64 key-tile=64",          "query-tile=64 key-tile=32",
    "query-tile=64 key-tile=32 stages=1", "query-tile=32 key-tile=32",
    "query-tile=32 key-tile=16 stages=1", "query-tile=16 key-tile=16 stages=1"};

/// A query length in the type that asks for keys in parts: a grid of query
/// tiles would be small.
static constexpr int64_t kDecodeQueries = 16;

/// Bytes of a key of one head up to which 32 of them are a stage.
static constexpr int64_t kNarrowKey = 256;

/// Plans of decoding: few queries, heads that share keys in one query tile, and
/// small stages, so that several blocks of a multiprocessor have loads on their
/// way (of 16-bit keys of width 128 a stage is 16 KiB: four blocks, two stages
/// each).
static SmallVector<std::string> makeDecodePlans(ModuleOp isolated) {
  int64_t rows = 0, keyBytes = 0;
  auto look = [&](auto op) {
    auto query = cast<RankedTensorType>(op.getQuery().getType());
    auto value = cast<RankedTensorType>(op.getValue().getType());
    int64_t time = query.getDimSize(op.getSeqlens() ? 0 : 1);
    if (ShapedType::isDynamic(time) || time > kDecodeQueries)
      return;
    int64_t headDim = query.getRank() - 2;
    rows = time *
           (query.getDimSize(headDim) / value.getDimSize(value.getRank() - 2));
    keyBytes = std::max(query.getShape().back(), value.getShape().back()) *
               query.getElementTypeBitWidth() / 8;
  };
  isolated.walk([&](SoftmaxAttentionOp op) { look(op); });
  isolated.walk([&](DiffAttentionOp op) { look(op); });
  if (rows == 0)
    return {};
  std::string tile =
      "query-tile=" +
      std::to_string(std::clamp<int64_t>(llvm::PowerOf2Ceil(rows), 16, 64));
  SmallVector<std::string> plans;
  auto add = [&](StringRef keys) {
    plans.push_back(tile + " " + keys.str() + " split-keys=1024");
  };
  if (keyBytes <= kNarrowKey)
    add("key-tile=32 stages=3");
  add("key-tile=16 stages=3");
  add("key-tile=16 stages=2");
  return plans;
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

/// Sizes that the types say, where nothing is known of the calls.
static CallSizes findSizes(RecurrenceOp op, CallSizes sizes) {
  auto known = [](int64_t size) {
    return ShapedType::isDynamic(size) ? 0 : size;
  };
  auto token = cast<RankedTensorType>(op.getTokens()[0].getType());
  if (!sizes.sequences) {
    auto offsets = op.isPacked()
                       ? cast<RankedTensorType>(op.getSeqlens().getType())
                       : RankedTensorType();
    sizes.sequences = !offsets ? known(token.getDimSize(0))
                      : offsets.isDynamicDim(0) ? 0
                                                : offsets.getDimSize(0) - 1;
  }
  if (!sizes.tokens) {
    sizes.tokens = known(token.getDimSize(op.getHeadDim() - 1));
    if (op.isPacked())
      sizes.tokens =
          sizes.sequences ? llvm::divideCeil(sizes.tokens, sizes.sequences) : 0;
  }
  return sizes;
}

/// A copy of the function after some passes; null if they refuse it.
static OwningOpRef<ModuleOp>
runQuietly(ModuleOp module, llvm::function_ref<void(OpPassManager &)> add) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager passes(module.getContext());
  add(passes);
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(passes.run(*copy)))
    return {};
  return copy;
}

template <typename OpTy> static OpTy findOnly(ModuleOp module) {
  OpTy found;
  module.walk([&](OpTy op) { found = op; });
  return found;
}

/// The work of a chunk; none if the function has no chunk form.
static std::optional<ChunkWork> findWork(ModuleOp inlined, int64_t chunk,
                                         const KernelOptions &options) {
  OwningOpRef<ModuleOp> chunks =
      runQuietly(inlined, [&](OpPassManager &passes) {
        ChunkwisePassOptions chunkwise;
        chunkwise.chunk = chunk;
        chunkwise.mma = options.mma;
        passes.addPass(createChunkwisePass(chunkwise));
        passes.addPass(createCSEPass());
      });
  ChunkedOp op = chunks ? findOnly<ChunkedOp>(*chunks) : ChunkedOp();
  if (!op)
    return std::nullopt;
  return ChunkWork(op);
}

static void findSegments(ModuleOp inlined, ChunkWork &work) {
  OwningOpRef<ModuleOp> segmented =
      runQuietly(inlined, [](OpPassManager &passes) {
        passes.addPass(createAddTransitionsPass());
      });
  if (!segmented)
    return;
  auto op = findOnly<RecurrenceOp>(*segmented);
  work.segments = true;
  for (int64_t transition : getTransitions(op))
    work.fullTransition |=
        transition >= 0 && op.getStateType(transition).getValues() != 1;
}

static std::vector<std::string> chooseChunkPlans(ModuleOp isolated,
                                                 const KernelOptions &options) {
  std::vector<std::string> plans;
  OwningOpRef<ModuleOp> inlined = runQuietly(
      isolated, [](OpPassManager &passes) { passes.addPass(createInlinerPass()); });
  auto recurrence = inlined ? findOnly<RecurrenceOp>(*inlined) : RecurrenceOp();
  std::optional<ChunkWork> work =
      recurrence ? findWork(*inlined, options.chunk, options) : std::nullopt;
  bool single = work && work->operandBytes > 2 && options.chunk == kDefaultChunk;
  if (single)
    work = findWork(*inlined, kSingleChunk, options);
  CallSizes sizes =
      recurrence ? findSizes(recurrence, options.sizes) : options.sizes;
  // Without any size the default is as good as another choice.
  if (work && (sizes.sequences || sizes.tokens)) {
    findSegments(*inlined, *work);
    CostDevice device;
    if (auto limits = getDeviceLimits(options.chip)) {
      device.multiprocessors = limits->multiprocessors;
      device.sharedBytes = limits->sharedBytes;
    }
    std::string chosen = toPlan(choose(*work, sizes, device), *work);
    if (!chosen.empty()) {
      if (single)
        chosen = "chunk=" + std::to_string(kSingleChunk) + " " + chosen;
      plans.push_back(chosen);
      plans.push_back("stages=1 " + chosen);
    }
  }
  for (StringRef plan : single ? ArrayRef(kSinglePlans) : ArrayRef(kPlans))
    plans.push_back(plan.str());
  return plans;
}

std::vector<std::string> linattn::choosePlans(ModuleOp isolated,
                                              const KernelOptions &options) {
  if (!isAttention(isolated))
    return chooseChunkPlans(isolated, options);
  std::vector<std::string> plans;
  for (std::string &plan : makeDecodePlans(isolated))
    plans.push_back(std::move(plan));
  for (StringRef plan : kAttentionPlans)
    plans.push_back(plan.str());
  return plans;
}
