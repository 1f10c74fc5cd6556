//===- TokenRows.cpp - tokens of several rows -----------------------------===//

#include "TokenRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

/// The row that a slice takes of every token, if it is one: [C, 1] of [C, R],
/// [C, 1, D] of [C, R, D].
static std::optional<int64_t> getRow(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType();
  if (source.getRank() != slice.getType().getRank() + 1 ||
      !slice.getDroppedDims().test(1) || !slice.hasUnitStride() ||
      ShapedType::isDynamic(slice.getStaticOffset(1)))
    return std::nullopt;
  for (int64_t dim : llvm::seq(source.getRank()))
    if (dim != 1 && slice.getStaticSize(dim) != source.getDimSize(dim))
      return std::nullopt;
  return slice.getStaticOffset(1);
}

static RankedTensorType withoutRows(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + 1);
  return RankedTensorType::get(shape, type.getElementType());
}

namespace {
/// Makes row `row` of every token of a value, in front of `builder`.
class RowLifter {
public:
  RowLifter(OpBuilder &builder, int64_t row) : builder(builder), row(row) {}

  Value lift(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    Operation *inner = value.getDefiningOp();
    DenseElementsAttr dense;
    if (matchPattern(value, m_Constant(&dense)) && dense.isSplat())
      return arith::ConstantOp::create(
          builder, value.getLoc(),
          DenseElementsAttr::get(withoutRows(type),
                                 dense.getSplatValue<Attribute>()));
    if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(inner))
      if (Value lifted = liftBroadcast(broadcast))
        return lifted;
    if (inner && OpTrait::hasElementwiseMappableTraits(inner) &&
        llvm::all_of(inner->getOperandTypes(), [&](Type operand) {
          auto tensor = dyn_cast<RankedTensorType>(operand);
          return tensor && tensor.getShape() == type.getShape();
        })) {
      IRMapping mapping;
      for (Value operand : inner->getOperands())
        mapping.map(operand, lift(operand));
      Operation *clone = builder.clone(*inner, mapping);
      clone->getResult(0).setType(withoutRows(type));
      return clone->getResult(0);
    }
    return slice(value, type);
  }

private:
  Value liftBroadcast(linalg::BroadcastOp broadcast) {
    // Of a vector over tokens: its rows are all the same.
    ArrayRef<int64_t> added = broadcast.getDimensions();
    if (!llvm::is_contained(added, 1) || llvm::is_contained(added, 0))
      return {};
    auto type =
        withoutRows(cast<RankedTensorType>(broadcast->getResult(0).getType()));
    SmallVector<int64_t> rest;
    for (int64_t dim : added)
      if (dim != 1)
        rest.push_back(dim > 1 ? dim - 1 : dim);
    if (rest.empty())
      return broadcast.getInput();
    Location loc = broadcast.getLoc();
    Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                         type.getElementType());
    return linalg::BroadcastOp::create(builder, loc, broadcast.getInput(), init,
                                       rest)
        ->getResult(0);
  }

  Value slice(Value value, RankedTensorType type) {
    int64_t rank = type.getRank();
    SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes, strides(rank, builder.getIndexAttr(1));
    for (int64_t size : type.getShape())
      sizes.push_back(builder.getIndexAttr(size));
    offsets[1] = builder.getIndexAttr(row);
    sizes[1] = builder.getIndexAttr(1);
    return tensor::ExtractSliceOp::create(builder, value.getLoc(),
                                          withoutRows(type), value, offsets,
                                          sizes, strides);
  }

  OpBuilder &builder;
  int64_t row;
};
} // namespace

void linattn::chunked_to_tile::liftRowSlices(ChunkedOp op) {
  SmallVector<tensor::ExtractSliceOp> slices(
      op.getBlock()->getOps<tensor::ExtractSliceOp>());
  for (tensor::ExtractSliceOp slice : slices) {
    std::optional<int64_t> row = getRow(slice);
    if (!row)
      continue;
    OpBuilder builder(slice);
    slice.replaceAllUsesWith(RowLifter(builder, *row).lift(slice.getSource()));
    slice.erase();
  }
  // What the rows were taken of, users first.
  SmallVector<Operation *> all =
      llvm::map_to_vector(op.getBlock()->without_terminator(),
                          [](Operation &inner) { return &inner; });
  for (Operation *inner : llvm::reverse(all))
    if (isOpTriviallyDead(inner))
      inner->erase();
  DenseMap<std::pair<Value, int64_t>, Value> known;
  for (auto slice : llvm::make_early_inc_range(
           op.getBlock()->getOps<tensor::ExtractSliceOp>())) {
    std::optional<int64_t> row = getRow(slice);
    if (!row || !isa<BlockArgument>(slice.getSource()))
      continue;
    Value &first = known[{slice.getSource(), *row}];
    if (!first) {
      first = slice;
      continue;
    }
    slice.replaceAllUsesWith(first);
    slice.erase();
  }
}

bool linattn::chunked_to_tile::isTokenTile(ChunkedOp op, Value value) {
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
    return getRow(slice) &&
           llvm::is_contained(op.getTokenArgs(), slice.getSource());
  return llvm::is_contained(op.getTokenArgs(), value);
}

SmallVector<TokenTile> linattn::chunked_to_tile::getTokenTiles(ChunkedOp op) {
  SmallVector<TokenTile> result;
  for (auto [i, arg] : llvm::enumerate(op.getTokenArgs())) {
    bool whole = arg.use_empty();
    for (Operation *user : arg.getUsers())
      whole |= !isa<tensor::ExtractSliceOp>(user) ||
               !isTokenTile(op, user->getResult(0));
    if (whole)
      result.push_back({arg, unsigned(i), std::nullopt});
  }
  for (auto slice : op.getBlock()->getOps<tensor::ExtractSliceOp>())
    if (isTokenTile(op, slice))
      result.push_back(
          {slice,
           unsigned(llvm::find(op.getTokenArgs(), slice.getSource()) -
                    op.getTokenArgs().begin()),
           getRow(slice)});
  return result;
}

SmallVector<Value> linattn::chunked_to_tile::getStacked(Value all) {
  SmallVector<Value> tiles;
  while (auto insert = all.getDefiningOp<tensor::InsertSliceOp>()) {
    tiles.push_back(insert.getSource());
    all = insert.getDest();
  }
  // The last one was put in last.
  std::reverse(tiles.begin(), tiles.end());
  return tiles;
}

std::optional<Unknown> linattn::chunked_to_tile::getUnknown(Value value) {
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  auto solve = slice ? slice.getSource().getDefiningOp<UnitLowerSolveOp>()
                     : UnitLowerSolveOp();
  if (!solve || slice.getSourceType().getRank() != 3)
    return std::nullopt;
  return Unknown{solve, slice.getStaticOffset(0)};
}
