//===- StepTiler.cpp - values of a step, for a chunk of tokens ------------===//

#include "StepTiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;

RankedTensorType StepTiler::tileType(Type type) {
  SmallVector<int64_t> shape = {chunk};
  if (auto vector = dyn_cast<VectorType>(type))
    llvm::append_range(shape, vector.getShape());
  return RankedTensorType::get(shape, getElementTypeOrSelf(type));
}

Value StepTiler::get(Value value) {
  auto found = tiles.find(value);
  if (found != tiles.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (!op || obstacle)
    return {};
  Value tile = tileOperation(op);
  if (!tile) {
    // The innermost operation without a form is the one to name.
    if (!obstacle)
      obstacle = op;
    return {};
  }
  tiles[value] = tile;
  return tile;
}

Value StepTiler::broadcast(Location loc, Value tile, ArrayRef<int64_t> shape,
                           ArrayRef<int64_t> dimensions) {
  if (dimensions.empty())
    return tile;
  Value init = tensor::EmptyOp::create(builder, loc, shape,
                                       getElementTypeOrSelf(tile.getType()));
  return linalg::BroadcastOp::create(builder, loc, tile, init, dimensions)
      ->getResult(0);
}

Value StepTiler::repeat(Location loc, Value perHead) {
  auto type = cast<RankedTensorType>(perHead.getType());
  SmallVector<int64_t> shape = {chunk};
  llvm::append_range(shape, type.getShape());
  return broadcast(loc, perHead, shape, {0});
}

Value StepTiler::tileOperation(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return {};
  return TypeSwitch<Operation *, Value>(op)
      .Case<arith::ConstantOp>([&](auto) { return tileConstant(op); })
      .Case<vector::BroadcastOp>([&](auto) { return tileBroadcast(op); })
      .Case<vector::ReductionOp, vector::MultiDimReductionOp>(
          [&](auto) { return tileReduction(op); })
      .Case<vector::ExtractOp, vector::ExtractStridedSliceOp, vector::InsertOp,
            vector::InsertStridedSliceOp>([&](auto) { return tileSlice(op); })
      .Case<vector::ShapeCastOp>([&](auto) { return tileReshape(op); })
      .Case<vector::FMAOp>([&](vector::FMAOp fma) -> Value {
        Value a = get(fma.getLhs()), b = get(fma.getRhs()),
              c = get(fma.getAcc());
        if (!a || !b || !c)
          return {};
        return math::FmaOp::create(builder, op->getLoc(), a, b, c);
      })
      .Default([&](Operation *) { return tileElementwise(op); });
}

Value StepTiler::tileElementwise(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op))
    return {};
  RankedTensorType result = tileType(op->getResult(0).getType());
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value tile = get(operand);
    if (!tile)
      return {};
    // A scalar among vectors: the condition of a select.
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<int64_t> missing;
    for (int64_t d = type.getRank(); d < result.getRank(); ++d)
      missing.push_back(d);
    operands.push_back(
        broadcast(op->getLoc(), tile, result.getShape(), missing));
  }
  OperationState state(op->getLoc(), op->getName(), operands, {result},
                       op->getDiscardableAttrDictionary().getValue());
  Operation *tiled = builder.create(state);
  tiled->copyProperties(op->getPropertiesStorage());
  return tiled->getResult(0);
}

Value StepTiler::tileConstant(Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  RankedTensorType type = tileType(constant.getType());
  Attribute value = constant.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (dense.isSplat())
      value = dense.getSplatValue<Attribute>();
    else
      return repeat(
          op->getLoc(),
          arith::ConstantOp::create(
              builder, op->getLoc(),
              dense.reshape(RankedTensorType::get(type.getShape().drop_front(),
                                                  type.getElementType()))));
  }
  if (!isa<FloatAttr, IntegerAttr>(value))
    return {};
  return arith::ConstantOp::create(builder, op->getLoc(), type,
                                   DenseElementsAttr::get(type, value));
}

Value StepTiler::tileBroadcast(Operation *op) {
  Value tile = get(op->getOperand(0));
  if (!tile)
    return {};
  auto from = dyn_cast<VectorType>(op->getOperand(0).getType());
  RankedTensorType result = tileType(op->getResult(0).getType());
  int64_t added =
      result.getRank() - cast<RankedTensorType>(tile.getType()).getRank();
  // Sizes of 1 that grow have no single operation here.
  if (from && from.getShape() != result.getShape().drop_front(1 + added))
    return {};
  SmallVector<int64_t> dimensions;
  for (int64_t d = 1; d <= added; ++d)
    dimensions.push_back(d);
  return broadcast(op->getLoc(), tile, result.getShape(), dimensions);
}

Value StepTiler::tileReduction(Operation *op) {
  Location loc = op->getLoc();
  vector::CombiningKind kind;
  Value source, start;
  SmallVector<int64_t> dimensions;
  if (auto reduction = dyn_cast<vector::ReductionOp>(op)) {
    kind = reduction.getKind();
    source = reduction.getVector();
    start = reduction.getAcc();
    dimensions = {1};
  } else {
    auto multi = cast<vector::MultiDimReductionOp>(op);
    kind = multi.getKind();
    source = multi.getSource();
    start = multi.getAcc();
    for (int64_t d : multi.getReductionDims())
      dimensions.push_back(d + 1);
  }
  std::optional<arith::AtomicRMWKind> atomic;
  switch (kind) {
  case vector::CombiningKind::ADD:
    atomic = arith::AtomicRMWKind::addf;
    break;
  case vector::CombiningKind::MUL:
    atomic = arith::AtomicRMWKind::mulf;
    break;
  case vector::CombiningKind::MAXIMUMF:
    atomic = arith::AtomicRMWKind::maximumf;
    break;
  case vector::CombiningKind::MINIMUMF:
    atomic = arith::AtomicRMWKind::minimumf;
    break;
  case vector::CombiningKind::MAXNUMF:
    atomic = arith::AtomicRMWKind::maxnumf;
    break;
  case vector::CombiningKind::MINNUMF:
    atomic = arith::AtomicRMWKind::minnumf;
    break;
  default:
    break;
  }
  RankedTensorType result = tileType(op->getResult(0).getType());
  if (!atomic || !isa<FloatType>(result.getElementType()))
    return {};
  Value tile = get(source);
  Value init = start ? get(start) : Value();
  if (!tile || (start && !init))
    return {};
  if (!start) {
    Attribute identity = arith::getIdentityValueAttr(
        *atomic, result.getElementType(), builder, loc);
    Value number =
        arith::ConstantOp::create(builder, loc, cast<TypedAttr>(identity));
    Value empty = tensor::EmptyOp::create(builder, loc, result.getShape(),
                                          result.getElementType());
    init = linalg::FillOp::create(builder, loc, number, empty).getResult(0);
  }
  auto reduce = linalg::ReduceOp::create(
      builder, loc, tile, init, dimensions,
      [&](OpBuilder &b, Location l, ValueRange args) {
        Value combined = arith::getReductionOp(*atomic, b, l, args[1], args[0]);
        linalg::YieldOp::create(b, l, combined);
      });
  return reduce->getResult(0);
}

/// Static extract and insert: slices behind the token dimension.
Value StepTiler::tileSlice(Operation *op) {
  Location loc = op->getLoc();
  // Offsets and sizes in the larger vector; ones are dropped by type.
  auto makeSlice = [&](ShapedType whole, ArrayRef<int64_t> offsets,
                       ArrayRef<int64_t> sizes, SmallVector<OpFoldResult> &o,
                       SmallVector<OpFoldResult> &s,
                       SmallVector<OpFoldResult> &strides) {
    o = {builder.getIndexAttr(0)};
    s = {builder.getIndexAttr(chunk)};
    for (int64_t d = 0; d < whole.getRank(); ++d) {
      bool given = d < (int64_t)offsets.size();
      o.push_back(builder.getIndexAttr(given ? offsets[d] : 0));
      s.push_back(builder.getIndexAttr(
          d < (int64_t)sizes.size() ? sizes[d] : whole.getDimSize(d)));
    }
    strides.assign(o.size(), builder.getIndexAttr(1));
  };
  auto ints = [](ArrayAttr attr) {
    SmallVector<int64_t> values;
    for (Attribute a : attr)
      values.push_back(cast<IntegerAttr>(a).getInt());
    return values;
  };
  auto allOnes = [](ArrayRef<int64_t> values) {
    return llvm::all_of(values, [](int64_t v) { return v == 1; });
  };
  SmallVector<OpFoldResult> o, s, strides;
  if (auto extract = dyn_cast<vector::ExtractOp>(op)) {
    if (extract.hasDynamicPosition())
      return {};
    Value tile = get(extract.getSource());
    if (!tile)
      return {};
    ArrayRef<int64_t> position = extract.getStaticPosition();
    SmallVector<int64_t> ones(position.size(), 1);
    makeSlice(extract.getSourceVectorType(), position, ones, o, s, strides);
    return tensor::ExtractSliceOp::create(
        builder, loc, tileType(extract.getType()), tile, o, s, strides);
  }
  if (auto extract = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    Value tile = get(extract.getSource());
    if (!tile || !allOnes(ints(extract.getStrides())))
      return {};
    makeSlice(extract.getSourceVectorType(), ints(extract.getOffsets()),
              ints(extract.getSizes()), o, s, strides);
    return tensor::ExtractSliceOp::create(
        builder, loc, tileType(extract.getType()), tile, o, s, strides);
  }
  if (auto insert = dyn_cast<vector::InsertOp>(op)) {
    if (insert.hasDynamicPosition())
      return {};
    Value part = get(insert.getValueToStore()), whole = get(insert.getDest());
    if (!part || !whole)
      return {};
    ArrayRef<int64_t> position = insert.getStaticPosition();
    SmallVector<int64_t> ones(position.size(), 1);
    makeSlice(insert.getDestVectorType(), position, ones, o, s, strides);
    return tensor::InsertSliceOp::create(builder, loc, part, whole, o, s,
                                         strides);
  }
  auto insert = cast<vector::InsertStridedSliceOp>(op);
  Value part = get(insert.getValueToStore()), whole = get(insert.getDest());
  if (!part || !whole || !allOnes(ints(insert.getStrides())))
    return {};
  ArrayRef<int64_t> partShape = insert.getSourceVectorType().getShape();
  int64_t leading = insert.getDestVectorType().getRank() - partShape.size();
  SmallVector<int64_t> sizes(leading, 1);
  llvm::append_range(sizes, partShape);
  makeSlice(insert.getDestVectorType(), ints(insert.getOffsets()), sizes, o, s,
            strides);
  return tensor::InsertSliceOp::create(builder, loc, part, whole, o, s,
                                       strides);
}

Value StepTiler::tileReshape(Operation *op) {
  Location loc = op->getLoc();
  Value tile = get(op->getOperand(0));
  if (!tile)
    return {};
  // [C, a, b] -> [C, a b] -> [C, c, d]
  auto grouped = [&](int64_t rank) {
    SmallVector<ReassociationIndices> groups = {{0}};
    groups.emplace_back();
    for (int64_t d = 1; d < rank; ++d)
      groups.back().push_back(d);
    return groups;
  };
  auto from = cast<RankedTensorType>(tile.getType());
  if (from.getRank() > 2)
    tile = tensor::CollapseShapeOp::create(builder, loc, tile,
                                           grouped(from.getRank()));
  RankedTensorType to = tileType(op->getResult(0).getType());
  if (from.getRank() < 2 || to.getRank() < 2)
    return {};
  if (to.getRank() > 2)
    tile = tensor::ExpandShapeOp::create(builder, loc, to, tile,
                                         grouped(to.getRank()));
  return tile;
}
