//===- AttentionPlan.cpp - how an attention kernel shares its work --------===//

#include "AttentionPlan.h"

#include "HeadGroups.h"
#include "KeyPasses.h"

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

/// Operands of products on their way, addresses, counters. Of f32 operands also
/// the terms that they are split in, and of a window its second bound by row.
/// Of a body that asks where an element stands, bounds and addresses. Beside
/// queries in registers, where the tile stands if another pass begins with
/// that.
static constexpr int64_t kWorkRegisters = 48, kSplitRegisters = 44,
                         kWindowRegisters = 8, kPlaceRegisters = 6,
                         kPassRegisters = 12;

/// Columns of a tile: products go by 16.
static int64_t padColumns(int64_t size) {
  return llvm::alignTo(size, tile::kRowTile);
}

RankedTensorType AttentionPlan::getFragmentType(RankedTensorType matrix) const {
  return RankedTensorType::get(
      {matrix.getDimSize(0), padColumns(matrix.getDimSize(1))},
      matrix.getElementType(), tile::AccAttr::get(matrix.getContext(), warps));
}

RankedTensorType AttentionPlan::getVectorType(RankedTensorType vector,
                                              bool alongRows) const {
  MLIRContext *context = vector.getContext();
  if (alongRows)
    return RankedTensorType::get(vector.getShape(), vector.getElementType(),
                                 tile::RowAttr::get(context, warps));
  return RankedTensorType::get({padColumns(vector.getDimSize(0))},
                               vector.getElementType(),
                               tile::ColAttr::get(context));
}

tile::SmemType AttentionPlan::getSharedType(RankedTensorType matrix) const {
  int64_t columns = padColumns(matrix.getDimSize(1));
  int64_t bytes = columns * matrix.getElementTypeBitWidth() / 8;
  return tile::SmemType::get(
      matrix.getContext(), {matrix.getDimSize(0), columns},
      matrix.getElementType(), tile::SmemType::getSwizzleOf(bytes));
}

static bool isMatrix(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 2;
}

SmallVector<SmallVector<linalg::MatmulOp>>
linattn::attention_to_tile::productsByDepth(Block *block) {
  SmallVector<SmallVector<linalg::MatmulOp>> groups;
  llvm::DenseMap<Value, size_t> depths;
  for (Operation &inner : *block) {
    size_t depth = 0;
    for (Value operand : inner.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    if (auto product = dyn_cast<linalg::MatmulOp>(inner)) {
      if (groups.size() <= depth)
        groups.emplace_back();
      groups[depth++].push_back(product);
    }
    for (Value result : inner.getResults())
      depths[result] = depth;
  }
  return groups;
}

/// Carried values are triples of a running maximum, sum and weighted values,
/// which is what the combination of parts is about.
static bool isOnlineSoftmax(AttentionTilesOp op) {
  SmallVector<double> init;
  for (APFloat number : op.getInit().getAsValueRange<FloatAttr>())
    init.push_back(number.convertToDouble());
  auto args = op.getCarriedArgs(op.getStepBlock());
  auto yielded = op.getStepBlock()->getTerminator()->getOperands();
  if (init.size() % 3 != 0)
    return false;
  for (size_t i = 0; i < init.size(); i += 3) {
    if (init[i] != -std::numeric_limits<double>::infinity() ||
        init[i + 1] != 0 || init[i + 2] != 0 || isMatrix(args[i].getType()) ||
        isMatrix(args[i + 1].getType()) || !isMatrix(args[i + 2].getType()))
      return false;
    // acc' = a acc + p V
    auto product = yielded[i + 2].getDefiningOp<linalg::MatmulOp>();
    if (!product || !product.getOutputs()[0].getDefiningOp<arith::MulFOp>())
      return false;
  }
  return true;
}

/// Bodies of the step that ask for places, to compute with them or to read
/// there.
static int64_t countPlaceBodies(Block *step) {
  return llvm::count_if(
      step->getOps<linalg::GenericOp>(), [](linalg::GenericOp body) {
        return llvm::any_of(*body.getBody(), [](Operation &inner) {
          return isa<linalg::IndexOp, tensor::ExtractOp>(inner);
        });
      });
}

/// Beside values and scores.
static int64_t countWorkRegisters(AttentionTilesOp op, bool split) {
  return kWorkRegisters +
         (split ? kSplitRegisters
                : kPlaceRegisters * countPlaceBodies(op.getStepBlock())) +
         (op.getWindow() ? kWindowRegisters : 0);
}

/// Whether f32 operands of products are split in terms.
static bool splitsOperands(Block *step) {
  return llvm::any_of(step->getOps<linalg::MatmulOp>(), [](auto product) {
    return getElementTypeOrSelf(product.getInputs()[0].getType()).isF32();
  });
}

namespace {
/// Registers of a thread while a pass goes over the keys.
struct PassRegisters {
  int64_t carried = 0, scores = 0, queries = 0;
};
} // namespace

/// `registersOf` says what a value takes, `scoresOf` what a product does. Of
/// other passes the vectors stay.
static PassRegisters
countRegisters(AttentionTilesOp op, const KeyPass &pass,
               llvm::function_ref<int64_t(Value)> registersOf,
               llvm::function_ref<int64_t(Value)> scoresOf) {
  PassRegisters count;
  Block *step = op.getStepBlock();
  for (auto [number, arg] : llvm::enumerate(op.getCarriedArgs(step)))
    if (pass.carries(number) || !isMatrix(arg.getType()))
      count.carried += registersOf(arg);
  for (ArrayRef<linalg::MatmulOp> products : productsByDepth(step)) {
    int64_t sum = 0;
    for (linalg::MatmulOp product : products) {
      Value left = product.getInputs()[0], result = product->getResult(0);
      if (!pass.inner.contains(product) ||
          llvm::is_contained(step->getTerminator()->getOperands(), result))
        continue;
      sum += scoresOf(result);
      if (isa<BlockArgument>(left))
        count.queries += registersOf(left);
    }
    count.scores = std::max(count.scores, sum);
  }
  return count;
}

int64_t linattn::attention_to_tile::countLeastRegisters(AttentionTilesOp op,
                                                        WideValues wide) {
  // Of a row tile a lane has two rows, and of each a fourth of the columns.
  auto registersOf = [&](Value value) -> int64_t {
    auto type = cast<RankedTensorType>(value.getType());
    return isMatrix(type)
               ? padColumns(type.getDimSize(1) / wide.columnParts) / 2
               : 2;
  };
  auto scoresOf = [](Value) -> int64_t { return tile::kRowTile / 2; };
  int64_t most = 0;
  for (const KeyPass &pass : findKeyPasses(op, wide.inTurn)) {
    PassRegisters count = countRegisters(op, pass, registersOf, scoresOf);
    most = std::max(most, count.carried + count.scores);
  }
  return most + countWorkRegisters(op, splitsOperands(op.getStepBlock()));
}

FailureOr<AttentionPlan>
linattn::attention_to_tile::planAttention(AttentionTilesOp op, int64_t warps,
                                          int64_t splitKeys, WideValues wide) {
  int64_t rows = op.getQueryTile();
  if (rows < tile::kRowTile || int64_t(op.getKeyTile()) < tile::kRowTile)
    return op.emitOpError("is not lowered to tiles: query and key tiles have "
                          "16 rows or more, got ")
           << rows << " and " << op.getKeyTile();
  if (splitKeys < 0 || splitKeys % int64_t(op.getKeyTile()) != 0)
    return op.emitOpError("is not split over keys: a part is a multiple of the "
                          "key tile, ")
           << op.getKeyTile() << ", got " << splitKeys;
  if (splitKeys && !isOnlineSoftmax(op))
    return op.emitOpError("is not split over keys: parts are combined of "
                          "running maxima, sums and weighted values, which its "
                          "carried values are not (split-keys=0)");
  AttentionPlan plan;
  plan.splitKeys = splitKeys;
  plan.columnParts = wide.columnParts;
  plan.inTurn = wide.inTurn;
  if (splitKeys)
    plan.group = findHeadGroup(op);
  // Two row tiles of a warp share what is read of keys and values: shared
  // memory has too little time for less.
  plan.warps =
      warps ? warps
            : std::max<int64_t>(std::min<int64_t>(4, rows / tile::kRowTile),
                                rows / 32);
  if (!llvm::isPowerOf2_64(plan.warps) || plan.warps * tile::kRowTile > rows)
    return op.emitOpError("is not lowered to tiles: warps are a power of 2 "
                          "that share ")
           << rows << " query rows by 16, got " << plan.warps;

  auto registersOf = [&](Value value) -> int64_t {
    auto tensor = cast<RankedTensorType>(value.getType());
    RankedTensorType fragment = isMatrix(tensor)
                                    ? plan.getFragmentType(tensor)
                                    : plan.getVectorType(tensor, true);
    return llvm::divideCeil(tile::getElementsPerLane(fragment) *
                                fragment.getElementTypeBitWidth(),
                            32);
  };
  bool split = splitsOperands(op.getStepBlock());
  int64_t queries = 0;
  for (const KeyPass &pass : findKeyPasses(op, plan.inTurn)) {
    PassRegisters count = countRegisters(op, pass, registersOf, registersOf);
    plan.registers = std::max(plan.registers, count.carried + count.scores);
    queries = std::max(queries, count.queries);
  }
  plan.registers += countWorkRegisters(op, split);
  if (plan.registers > kMaxRegisters)
    return op.emitOpError("is not lowered to tiles: tiles of ")
           << rows << " queries and " << op.getKeyTile() << " keys on "
           << plan.warps << " warps need about " << plan.registers
           << " registers of a thread, which has " << kMaxRegisters
           << " (smaller tiles, or narrower values)";
  int64_t kept = plan.inTurn ? kPassRegisters : 0;
  plan.queriesInRegisters =
      !split && plan.registers + queries + kept <= kMaxRegisters;
  if (plan.queriesInRegisters)
    plan.registers += queries;
  return plan;
}
