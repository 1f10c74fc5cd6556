//===- ChunkPlan.cpp - how a chunk kernel shares its work -----------------===//

#include "ChunkPlan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

/// Rows of an mma tile.
static constexpr int64_t kRowTile = 16;

/// Rows of a matrix are shared by the warps: a power of two of row tiles.
static int64_t padRows(int64_t size) {
  return std::max<int64_t>(kRowTile, llvm::PowerOf2Ceil(size));
}

int64_t ChunkPlan::getTileSize(const DimClasses &classes, Value value,
                               unsigned dim) const {
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  unsigned dimClass = classes.get(value, dim);
  if (cutClass == dimClass)
    return sliceWidth;
  // Value columns are rows of transposed tiles; others only have to fill mma's
  // depth.
  if (classes.isColumns(dimClass))
    return padRows(size);
  return llvm::alignTo(size, columnTile);
}

/// Matrices of [C, C]: their rows on as many warps as they are worth.
ChunkPlan ChunkPlan::forOffChain() const {
  ChunkPlan result = *this;
  result.warps =
      std::max(leastWarps, std::min<int64_t>(4, warps / columnParts));
  result.columnParts = 1;
  return result;
}

/// Matrices of value columns: a warp for 16 of them.
ChunkPlan ChunkPlan::forChain() const {
  ChunkPlan result = *this;
  if (cutClass)
    result.warps = std::max<int64_t>(1, std::min(warps / columnParts,
                                                 sliceWidth / kRowTile)) *
                   columnParts;
  return result;
}

/// All columns of a block, a warp for 16 of them, and no state in registers.
ChunkPlan ChunkPlan::forOutputs(int64_t columns) const {
  ChunkPlan result = *this;
  result.warps = std::min<int64_t>(8, padRows(columns) / kRowTile);
  result.columnParts = 1;
  result.cutClass = std::nullopt;
  result.sliceWidth = 0;
  result.slices = 1;
  return result;
}

/// Value columns of a block where nobody asks for others.
static constexpr int64_t kSlice = 64;

/// Whether what of outputs mixes value columns is worth a kernel of its own: if
/// without it there are slices.
static bool isWorthApart(ArrayRef<Value> states, const DimClasses &classes,
                         const OutputTail &tail) {
  return llvm::any_of(states, [&](Value state) {
    ArrayRef<Operation *> mixers = classes.getMixers(classes.get(state, 1));
    return !mixers.empty() && llvm::all_of(mixers, [&](Operation *by) {
      return tail.contains(by);
    }) && cast<RankedTensorType>(state.getType()).getDimSize(1) > kSlice;
  });
}

/// The widest operands of the products, both terms of those that have two.
static int64_t operandBits(ChunkedOp op) {
  int64_t bits = 16;
  for (auto product : op.getBlock()->getOps<DecayProductOp>())
    if (product.getMma() == MmaPrecision::F32)
      bits = 32;
  for (auto product : op.getBlock()->getOps<linalg::MatmulOp>())
    bits = std::max<int64_t>(
        bits, getElementTypeOrSelf(product.getInputs()[0].getType())
                  .getIntOrFloatBitWidth());
  return bits;
}

/// 128 keys of 16 bits; an f32 operand is two numbers in registers.
static constexpr int64_t kMostRowBits = 128 * 16;

FailureOr<ChunkPlan>
linattn::chunked_to_tile::planChunk(ChunkedOp op, const DimClasses &classes,
                                    const OutputTail &tail,
                                    const ChunkPlanOptions &options) {
  if (op.getChunk() < uint64_t(kRowTile))
    return op.emitOpError("is not lowered to tiles: a chunk has at least 16 "
                          "tokens, got ")
           << op.getChunk();
  ChunkPlan plan;
  plan.outputsApart =
      !tail.empty() && options.outputsApart.value_or(
                           isWorthApart(options.states, classes, tail));
  // The widest columns that nothing mixes are cut.
  int64_t widest = 0, whole = kRowTile;
  for (Value state : options.states) {
    unsigned dimClass = classes.get(state, 1);
    int64_t size = cast<RankedTensorType>(state.getType()).getDimSize(1);
    bool isMixed =
        llvm::any_of(classes.getMixers(dimClass), [&](Operation *by) {
          return !plan.outputsApart || !tail.contains(by);
        });
    if (!isMixed && size > widest) {
      widest = size;
      plan.cutClass = dimClass;
    }
    if (isMixed)
      whole = std::max(whole, padRows(size));
  }
  // A state that is not cut is in every slice: where all of them update it in
  // place, one would read what another has written.
  bool isShared = op.getSlots() && plan.cutClass &&
                  llvm::any_of(op.getStateArgs(), [&](Value state) {
                    return classes.get(state, 1) != *plan.cutClass;
                  });
  if (isShared && widest > (options.slice ? options.slice : kSlice)) {
    if (options.slice)
      return op.emitOpError("is not lowered to tiles: states in pools with "
                            "other value columns than those that are cut are "
                            "in every slice, got slice=")
             << options.slice << " for " << widest
             << " columns (no slice works)";
    whole = std::max(whole, padRows(widest));
    plan.cutClass = std::nullopt;
  }
  // 16 rows of the transposed state a row of warps: 64 columns on 4 of them,
  // and two parts of their matrices, 8 warps in all, where all of it is wide
  // enough for products of 16 columns.
  int64_t rows = std::max(whole, std::min(kSlice, padRows(widest)));
  int64_t rowWarps =
      std::min<int64_t>(4, std::max<int64_t>(rows, op.getChunk()) / kRowTile);
  // The chain of a delta rule is short beside what its system costs.
  bool solves = !op.getBlock()->getOps<UnitLowerSolveOp>().empty();
  for (auto product : op.getBlock()->getOps<DecayProductOp>())
    plan.overK |= product.isVectorDecay();
  for (auto scan : op.getBlock()->getOps<DecayScanOp>())
    plan.overK |= scan.isVectorDecay();
  // So is that of a decay over K.
  plan.split = options.split.value_or(solves || plan.overK);
  // A chain alone is short of shared memory's time, not of warps.
  bool wide = op.getChunk() >= 32 && !plan.split && !plan.overK;
  int64_t rowBits = 0;
  for (Value state : options.states) {
    int64_t size = cast<RankedTensorType>(state.getType()).getDimSize(0);
    wide &= size > kRowTile;
    rowBits = std::max(rowBits, size * operandBits(op));
  }
  // A row of the state fills half of a warp's registers, or its operands do.
  if (rowBits > kMostRowBits && (plan.split || !plan.overK))
    wide = true;
  plan.columnParts = options.columnParts ? options.columnParts : (wide ? 2 : 1);
  plan.columnTile = kRowTile * plan.columnParts;
  if (plan.overK)
    plan.leastWarps = llvm::alignTo(op.getChunk(), plan.columnTile) / kRowTile;
  plan.warps = options.warps ? options.warps : rowWarps * plan.columnParts;
  if (plan.warps % plan.columnParts != 0)
    return op.emitOpError(
               "is not lowered to tiles: the parts of columns divide "
               "the warps, got ")
           << plan.columnParts << " and " << plan.warps;
  if (plan.overK && !plan.split && plan.columnParts != 1)
    return op.emitOpError(
               "is not lowered to tiles: a decay over K has one part "
               "of columns, got ")
           << plan.columnParts;
  if (!plan.split && plan.warps < plan.leastWarps)
    return op.emitOpError("is not lowered to tiles: a decay over K has a warp "
                          "for each 16 tokens of the chunk, got ")
           << plan.warps << " for " << op.getChunk() << " tokens";
  if (plan.cutClass) {
    plan.sliceWidth =
        options.slice ? options.slice : std::min(kSlice, padRows(widest));
    plan.slices = llvm::divideCeil(widest, plan.sliceWidth);
  }
  return plan;
}
