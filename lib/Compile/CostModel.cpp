//===- CostModel.cpp - how long a plan would take -------------------------===//

#include "linattn/Compile/CostModel.h"

#include "linattn/Dialect/LinAttn/Analysis/ChunkDependences.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn;

static_assert(sizeof(CostConstants) <= 20 * sizeof(double),
              "a model of more numbers would fit anything");

/// Columns are rows of transposed tiles, 16 for each warp.
static constexpr int64_t kRowTile = 16;
/// Columns of a block where nothing asks for others.
static constexpr int64_t kSlice = 64;
static constexpr int64_t kUnknownTokens = 4096;
/// Of a multiprocessor: fewer warps than these leave some of it idle.
static constexpr int64_t kSchedulers = 4;

//===----------------------------------------------------------------------===//
// The work of a chunk
//===----------------------------------------------------------------------===//

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t bytesOf(RankedTensorType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// The value before it was transposed, rounded, widened or masked.
static Value getSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<linalg::TransposeOp, arith::ExtFOp, arith::TruncFOp>(op))
      value = op->getOperand(0);
    else if (auto select = dyn_cast<arith::SelectOp>(op))
      value = select.getTrueValue();
    else
      break;
  }
  return value;
}

/// Matrices that a chain reads and does not depend on, but tokens: split-T
/// writes and reads them.
static bool isScratch(const ChunkDependences &dependences, Value value) {
  return value.getDefiningOp() && !dependences.dependsOnState(value) &&
         tensorOf(value).getRank() == 2;
}

/// The values that some values are made of, but for those that `stops` says.
static llvm::DenseSet<Value> getSlice(
    SmallVector<Value> todo,
    llvm::function_ref<bool(Value)> stops = [](Value) { return false; }) {
  llvm::DenseSet<Value> seen;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (stops(value) || !seen.insert(value).second)
      continue;
    if (Operation *inner = value.getDefiningOp())
      llvm::append_range(todo, inner->getOperands());
  }
  return seen;
}

/// Elementwise on matrices, but not a change of type, which goes with a
/// product.
static bool isElementwise(Operation *op) {
  auto type = op->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                  : RankedTensorType();
  return type && type.getRank() == 2 &&
         OpTrait::hasElementwiseMappableTraits(op) &&
         !isa<arith::ExtFOp, arith::TruncFOp>(op);
}

/// Operations of a product, more of them where it decays.
static double countWork(Operation *op) {
  double flops = countProductFlops(op);
  auto product = dyn_cast<DecayProductOp>(op);
  if (!product || !product.getGate())
    return flops;
  return flops * (product.isVectorDecay() ? CostConstants().vectorDecay
                                          : CostConstants().scalarDecay);
}

ChunkWork::ChunkWork(ChunkedOp op) : chunk(op.getChunk()) {
  heads = op.getNumHeads();
  for (Value state : op.getStateArgs()) {
    RankedTensorType type = tensorOf(state);
    if (type.getDimSize(1) > values || type.getDimSize(0) > keys) {
      keys = type.getDimSize(0);
      values = type.getDimSize(1);
    }
  }
  for (Value token : op.getTokenArgs())
    tokenBytes += bytesOf(tensorOf(token));
  for (Value yielded : op.getBlock()->getTerminator()->getOperands().take_front(
           op.getNumOutputs()))
    tokenBytes += bytesOf(tensorOf(yielded));

  ChunkDependences dependences(op);
  llvm::DenseSet<Value> needed = getSlice(
      llvm::to_vector(op.getBlock()->getTerminator()->getOperands().drop_front(
          op.getNumOutputs())));
  llvm::DenseSet<Value> scratch;
  bool apart = false;
  SmallVector<Value> offChain, lefts;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    solves |= isa<UnitLowerSolveOp>(inner);
    if (auto product = dyn_cast<DecayProductOp>(inner))
      overKeys |= product.isVectorDecay();
    if (auto scan = dyn_cast<DecayScanOp>(inner))
      overKeys |= scan.isVectorDecay();
    if (dependences.getClass(&inner) == ChunkClass::OffChain) {
      double flops = countWork(&inner);
      if (flops == 0)
        continue;
      offChain.push_back(inner.getResult(0));
      run.offChainFlops += flops;
      if (needed.contains(inner.getResult(0)))
        ends.offChainFlops += flops;
      continue;
    }
    // Norms of outputs: of many columns in a kernel of its own.
    if (isa<linalg::ReduceOp>(inner)) {
      if (values <= kSlice ||
          dependences.getClass(&inner) == ChunkClass::OnChain)
        cuts = false;
      else
        apart = true;
    }
    auto product = dyn_cast<linalg::MatmulOp>(inner);
    if (!product)
      continue;
    // D^T = B^T A^T: A is read from shared memory.
    Value left = product.getInputs()[0], right = product.getInputs()[1];
    lefts.push_back(left);
    operandBytes = std::max<int64_t>(
        operandBytes,
        getElementTypeOrSelf(left.getType()).getIntOrFloatBitWidth() / 8);
    run.operandBytes += bytesOf(tensorOf(left));
    if (dependences.getClass(&inner) == ChunkClass::OnChain)
      ends.operandBytes += bytesOf(tensorOf(left));
    for (Value operand : {left, right}) {
      Value source = getSource(operand);
      if (isScratch(dependences, source) && scratch.insert(source).second)
        scratchBytes += tensorOf(source).getNumElements() * operandBytes;
    }
  }
  llvm::DenseSet<Value> tokens = getSlice(offChain);
  for (Value token : op.getTokenArgs())
    if (tokens.contains(token))
      offChainBytes += bytesOf(tensorOf(token));
  offChainBytes += scratchBytes;
  // Written by one kernel and read by another.
  if (apart)
    tokenBytes += 2 * sizeof(float) * chunk * values;

  // What is made once for all value columns is no part of a walk.
  llvm::DenseSet<Value> shared = getSlice(
      lefts, [&](Value value) { return dependences.dependsOnState(value); });
  transitions = ends;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (!isElementwise(&inner))
      continue;
    Value result = inner.getResult(0);
    if (shared.contains(result) || tokens.contains(result))
      continue;
    double elements = tensorOf(result).getNumElements();
    run.elements += elements;
    if (!needed.contains(result))
      continue;
    ends.elements += elements;
    if (dependences.dependsOnState(result))
      transitions.elements += elements;
  }
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

namespace {
class Estimator {
public:
  Estimator(const ChunkWork &work, const ChunkCandidate &candidate,
            const CostDevice &device, const CostConstants &c)
      : work(work), candidate(candidate), device(device), c(c) {}

  double run(int64_t sequences, int64_t tokens) const {
    int64_t chunks = llvm::divideCeil(tokens, work.chunk);
    int64_t heads = sequences * work.heads, count = candidate.segments;
    int64_t slices = llvm::divideCeil(work.values, candidate.slice);
    double time = 0;
    if (candidate.split)
      time += offChain(heads * chunks);
    int64_t each = llvm::divideCeil(chunks, count);
    if (count > 1) {
      int64_t cut = heads * (count - 1);
      time += walk(cut * slices, each, work.ends);
      double bytes = 4.0 * work.keys;
      if (work.fullTransition) {
        bytes *= work.keys;
        time += walk(cut * llvm::divideCeil(work.keys, candidate.slice), each,
                     work.transitions);
      } else {
        // Reads gates only.
        time += c.launch;
      }
      time += c.launch + (count - 1) * (c.step + bytes / c.startBytes);
    }
    time += walk(heads * count * slices, each, work.run);
    double moved =
        heads * chunks *
        (work.tokenBytes + (candidate.split ? 2 * work.scratchBytes : 0.0));
    return std::max(time, moved / c.memoryBytes);
  }

private:
  double operations(double flops) const {
    return work.operandBytes > 2 ? flops * c.singleProducts : flops;
  }

  double offChain(double chunks) const {
    return c.launch + chunks * (work.offChainBytes / c.memoryBytes +
                                operations(work.run.offChainFlops) /
                                    c.offChainFlops / device.multiprocessors);
  }

  /// What a block takes for a chunk. More columns are more warps, which read
  /// the same operands at the same time.
  double chunkTime(const WalkWork &walk) const {
    double time = c.step +
                  walk.operandBytes / candidate.columnParts / c.warpBytes +
                  walk.elements / work.values * kRowTile / c.elements;
    if (candidate.columnParts > 1)
      time += c.columnParts;
    if (!candidate.split)
      time += operations(walk.offChainFlops) / c.sharedFlops;
    return time;
  }

  /// Blocks of one multiprocessor take what they would take one after another:
  /// where two are resident they share what one of them uses up.
  double walk(double blocks, double chunks, const WalkWork &work) const {
    double beside = std::max<int64_t>(1, kSchedulers / candidate.getWarps());
    double each =
        std::ceil(std::ceil(blocks / device.multiprocessors) / beside);
    return c.launch + each * (c.block + chunks * chunkTime(work));
  }

  const ChunkWork &work;
  const ChunkCandidate &candidate;
  const CostDevice &device;
  const CostConstants &c;
};
} // namespace

CallSizes linattn::assumeSizes(CallSizes sizes, const ChunkWork &work,
                               const CostDevice &device) {
  if (!sizes.tokens)
    sizes.tokens = kUnknownTokens;
  if (!sizes.sequences)
    sizes.sequences =
        std::max<int64_t>(1, 4 * device.multiprocessors / work.heads);
  return sizes;
}

double linattn::estimate(const ChunkWork &work, const ChunkCandidate &candidate,
                         CallSizes sizes, const CostDevice &device,
                         const CostConstants &constants) {
  sizes = assumeSizes(sizes, work, device);
  return Estimator(work, candidate, device, constants)
      .run(sizes.sequences, sizes.tokens);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// What --chunked-to-tile chooses where it is told nothing.
static ChunkCandidate getDefault(const ChunkWork &work,
                                 std::optional<bool> split = {}) {
  ChunkCandidate result;
  result.slice =
      work.cuts
          ? std::min<int64_t>(
                kSlice, llvm::PowerOf2Ceil(std::max(work.values, kRowTile)))
          : llvm::PowerOf2Ceil(std::max(work.values, kRowTile));
  result.split = split.value_or(work.solves || work.overKeys);
  bool wide = work.chunk >= 32 && !result.split && !work.overKeys &&
              work.keys > kRowTile;
  // A row of the state, or of its operands, in the registers of a warp.
  if (work.keys * work.operandBytes > 256 && (result.split || !work.overKeys))
    wide = true;
  result.columnParts = wide ? 2 : 1;
  return result;
}

ChunkCandidate linattn::toCandidate(StringRef plan, const ChunkWork &work,
                                    std::string &unknown) {
  SmallVector<StringRef> words;
  llvm::SplitString(plan, words);
  llvm::StringMap<int64_t> given;
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    // Those of the chunk form are in the work.
    if (name == "chunk" || name == "mma")
      continue;
    if (llvm::is_contained({"slice", "column-parts", "split", "segments"},
                           name))
      (void)value.getAsInteger(10, given[name]);
    else
      unknown += (unknown.empty() ? "" : " ") + word.str();
  }
  std::optional<bool> split;
  if (given.count("split") && given["split"] >= 0)
    split = given["split"] != 0;
  ChunkCandidate result = getDefault(work, split);
  if (int64_t slice = given.lookup("slice"))
    result.slice = std::min<int64_t>(
        slice, llvm::PowerOf2Ceil(std::max(work.values, kRowTile)));
  if (int64_t parts = given.lookup("column-parts"))
    result.columnParts = parts;
  if (int64_t segments = given.lookup("segments"))
    result.segments = segments;
  return result;
}

SmallVector<ChunkCandidate> linattn::getCandidates(const ChunkWork &work) {
  ChunkCandidate base = getDefault(work);
  SmallVector<ChunkCandidate> result = {base};
  // Narrow slices, in two parts of columns: in one, two warps load all tokens
  // of a block, and spill.
  if (work.cuts && base.slice > 32 && work.keys > kRowTile &&
      (base.split || !work.overKeys)) {
    ChunkCandidate narrow = base;
    narrow.slice = 32;
    narrow.columnParts = 2;
    result.push_back(narrow);
  }
  if (work.segments)
    for (ChunkCandidate one : SmallVector<ChunkCandidate>(result))
      for (int64_t segments : {2, 4, 8, 16, 32}) {
        one.segments = segments;
        result.push_back(one);
      }
  return result;
}

ChunkCandidate linattn::choose(const ChunkWork &work, CallSizes sizes,
                               const CostDevice &device,
                               const CostConstants &constants) {
  std::optional<ChunkCandidate> best;
  double least = 0;
  for (const ChunkCandidate &candidate : getCandidates(work)) {
    double time = estimate(work, candidate, sizes, device, constants);
    if (best && time >= least)
      continue;
    least = best ? time : time / (1 + constants.margin);
    best = candidate;
  }
  return *best;
}

std::string linattn::toPlan(const ChunkCandidate &candidate,
                            const ChunkWork &work) {
  ChunkCandidate base = getDefault(work);
  std::string text;
  auto add = [&](StringRef name, int64_t value, int64_t usual) {
    if (value != usual)
      text +=
          (text.empty() ? "" : " ") + name.str() + "=" + std::to_string(value);
  };
  add("segments", candidate.segments, 1);
  add("column-parts", candidate.columnParts, base.columnParts);
  add("slice", candidate.slice, base.slice);
  return text;
}
