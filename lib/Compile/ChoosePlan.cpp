//===- ChoosePlan.cpp - plans of a function, the best first ---------------===//

#include "ChoosePlan.h"

#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/Transitions.h"
#include "linattn/Target/Devices.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

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

/// Plans from fast to small: devices have 99 to 227 KiB of shared memory for a
/// block.
static constexpr StringLiteral kPlans[] = {"",
                                           "stages=1",
                                           "stages=1 slice=32",
                                           "stages=1 slice=16",
                                           "stages=1 chunk=32",
                                           "stages=1 chunk=16"};

/// Of weight 2, such as f32 operands, which take twice the memory and, in three
/// products of two numbers each, six times the code: shorter chunks.
static constexpr StringLiteral kHeavyPlans[] = {
    "chunk=32", "stages=1 chunk=32", "stages=1 chunk=32 slice=32",
    "stages=1 chunk=16", "stages=1 chunk=16 slice=32"};

/// Of more.
static constexpr StringLiteral kHeaviestPlans[] = {
    "chunk=16", "stages=1 chunk=16", "stages=1 chunk=16 slice=32",
    "stages=1 chunk=16 slice=16"};

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

/// Sizes that the types say, then those that are told of the calls.
static CallSizes findSizes(RecurrenceOp op, CallSizes told) {
  auto known = [](int64_t size) {
    return ShapedType::isDynamic(size) ? 0 : size;
  };
  auto token = cast<RankedTensorType>(op.getTokens()[0].getType());
  auto offsets = op.isPacked()
                     ? cast<RankedTensorType>(op.getSeqlens().getType())
                     : RankedTensorType();
  CallSizes sizes;
  sizes.sequences = !offsets                  ? known(token.getDimSize(0))
                    : offsets.isDynamicDim(0) ? 0
                                              : offsets.getDimSize(0) - 1;
  if (!sizes.sequences)
    sizes.sequences = told.sequences;
  sizes.tokens = known(token.getDimSize(op.getHeadDim() - 1));
  if (op.isPacked())
    sizes.tokens =
        sizes.sequences ? llvm::divideCeil(sizes.tokens, sizes.sequences) : 0;
  if (!sizes.tokens)
    sizes.tokens = told.tokens;
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

/// The function in chunks as kernels have them; null if it has no such form.
static OwningOpRef<ModuleOp> makeChunks(ModuleOp inlined, int64_t chunk,
                                        const KernelOptions &options) {
  return runQuietly(inlined, [&](OpPassManager &passes) {
    ChunkwisePassOptions chunkwise;
    chunkwise.chunk = chunk;
    chunkwise.mma = options.mma;
    chunkwise.separateEvents = true;
    passes.addPass(createChunkwisePass(chunkwise));
    passes.addPass(createCSEPass());
  });
}

/// Value columns of a state whose size is felt.
static constexpr int64_t kNarrowState = 16;

/// What a chunk form asks of registers and shared memory, as a power of two:
/// f32 operands of products take two numbers, a system for each value column
/// has its rows in registers, matrices of pairs of events wait for each other,
/// each state has its rows.
static int64_t getWeight(ChunkedOp op) {
  bool isSingle =
      llvm::any_of(op.getBlock()->getOps<UnitLowerSolveOp>(),
                   [](UnitLowerSolveOp solve) { return !solve.isInverse(); });
  int64_t pairs = 0;
  for (auto product : op.getBlock()->getOps<DecayProductOp>()) {
    isSingle |= product.getMma() == MmaPrecision::F32;
    ++pairs;
  }
  int64_t states = llvm::count_if(op.getStates(), [](Value state) {
    return cast<RankedTensorType>(state.getType()).getShape().back() >
           kNarrowState;
  });
  return (isSingle ? 2 : 1) *
         (pairs > 8   ? 4
          : pairs > 4 ? 2
                      : 1) *
         (states > 1 ? 2 : 1);
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

/// Of a full device of the kind.
static int64_t countMultiprocessors(StringRef chip) {
  return llvm::StringSwitch<int64_t>(chip.rtrim("af"))
      .Case("sm_80", 108)
      .Case("sm_86", 84)
      .Case("sm_87", 16)
      .Case("sm_89", 142)
      .Case("sm_90", 132)
      .Cases({"sm_100", "sm_103"}, 148)
      .Case("sm_120", 188)
      .Default(48);
}

PlanProblem linattn::findPlanProblem(ModuleOp isolated,
                                     const KernelOptions &options,
                                     bool isPlanned) {
  PlanProblem problem;
  problem.usual = kPlans;
  OwningOpRef<ModuleOp> inlined =
      runQuietly(isolated, [](OpPassManager &passes) {
        passes.addPass(createInlinerPass());
        passes.addPass(createSymbolDCEPass());
      });
  auto recurrence = inlined ? findOnly<RecurrenceOp>(*inlined) : RecurrenceOp();
  if (!recurrence)
    return problem;
  OwningOpRef<ModuleOp> chunks = makeChunks(*inlined, options.chunk, options);
  if (!chunks)
    return problem;
  int64_t weight = options.chunk == kDefaultChunk && !isPlanned
                       ? getWeight(findOnly<ChunkedOp>(*chunks))
                       : 1;
  if (weight > 1) {
    problem.usual =
        weight == 2 ? ArrayRef(kHeavyPlans) : ArrayRef(kHeaviestPlans);
    problem.chunk = problem.usual.front().str();
    chunks = makeChunks(*inlined, weight == 2 ? 32 : 16, options);
  }
  problem.sizes = findSizes(recurrence, options.sizes);
  if (getDeviceLimits(options.chip))
    problem.device.multiprocessors = countMultiprocessors(options.chip);
  if (!chunks)
    return problem;
  problem.work = ChunkWork(findOnly<ChunkedOp>(*chunks));
  if (problem.knowsSizes() || isPlanned)
    findSegments(*inlined, *problem.work);
  return problem;
}

std::string linattn::joinPlan(std::initializer_list<StringRef> parts) {
  SmallVector<StringRef> some;
  llvm::copy_if(parts, std::back_inserter(some),
                [](StringRef part) { return !part.empty(); });
  return llvm::join(some, " ");
}

std::string linattn::completePlan(StringRef plan, StringRef other) {
  SmallVector<StringRef> words, others;
  llvm::SplitString(plan, words);
  llvm::SplitString(other, others);
  std::string result = plan.str();
  for (StringRef word : others)
    if (llvm::none_of(words, [&](StringRef given) {
          return given.split('=').first == word.split('=').first;
        }))
      result += (result.empty() ? "" : " ") + word.str();
  return result;
}

static std::vector<std::string> chooseChunkPlans(ModuleOp isolated,
                                                 const KernelOptions &options) {
  PlanProblem problem = findPlanProblem(isolated, options);
  std::vector<std::string> plans;
  // Where no size is known the default is as good as another choice.
  if (problem.work && problem.knowsSizes()) {
    std::string chosen = toPlan(
        choose(*problem.work, problem.sizes, problem.device), *problem.work);
    if (!chosen.empty())
      plans = {joinPlan({problem.chunk, chosen}),
               joinPlan({"stages=1", problem.chunk, chosen})};
  }
  for (StringRef plan : problem.usual)
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

std::vector<std::string> linattn::listPlans(ModuleOp isolated,
                                            const KernelOptions &options) {
  if (!options.plan.empty() && !isAttention(isolated))
    return {options.plan};
  std::vector<std::string> plans = choosePlans(isolated, options);
  if (!options.plan.empty()) {
    for (std::string &plan : plans)
      plan = completePlan(options.plan, plan);
    plans.insert(plans.begin(), options.plan);
    plans.erase(std::unique(plans.begin(), plans.end()), plans.end());
  }
  return plans;
}
