//===- TileEmitter.cpp - values of a chunk as tiles -----------------------===//

#include "TileEmitter.h"
#include "../Common/Reductions.h"

#include "TokenRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

TileEmitter::TileEmitter(ChunkedOp op, DimClasses &classes,
                         const ChunkPlan &plan, OpBuilder &builder)
    : op(op), classes(classes), plan(plan), builder(builder), loc(op.getLoc()),
      context(op.getContext()) {}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

bool TileEmitter::isTransposed(Value value) {
  return classes.isColumns(value, 1);
}

RankedTensorType TileEmitter::getFragmentType(Value value, bool transposed,
                                              Type element) {
  int64_t rowCount = getTileSize(value, transposed ? 1 : 0);
  int64_t columnCount = getTileSize(value, transposed ? 0 : 1);
  return RankedTensorType::get(
      {rowCount, columnCount},
      element ? element : tensorOf(value).getElementType(), accOf(value));
}

tile::SmemType TileEmitter::getSharedType(Value value) {
  Type element = tensorOf(value).getElementType();
  if (tensorOf(value).getRank() == 1)
    return tile::SmemType::get(context, {getTileSize(value, 0)}, element, 0);
  SmallVector<int64_t> shape = {getTileSize(value, 0), getTileSize(value, 1)};
  int64_t rowBytes = shape[1] * element.getIntOrFloatBitWidth() / 8;
  return tile::SmemType::get(context, shape, element,
                             tile::SmemType::getSwizzleOf(rowBytes));
}

RankedTensorType TileEmitter::getVectorType(Value value, Attribute layout) {
  return RankedTensorType::get({getTileSize(value, 0)},
                               tensorOf(value).getElementType(), layout);
}

Attribute TileEmitter::getLanes(Value vector) {
  int64_t size = getTileSize(vector, 0);
  // Lanes have equal numbers of elements of a power of two only.
  if (!llvm::isPowerOf2_64(size))
    return tile::ColAttr::get(context);
  return tile::StridedAttr::get(context,
                                std::max<int64_t>(1, size / tile::kWarpSize));
}

Attribute TileEmitter::layoutOf(Value vector) {
  return tensorOf(vector).getEncoding();
}

//===----------------------------------------------------------------------===//
// Small builders
//===----------------------------------------------------------------------===//

Value TileEmitter::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = isa<FloatType>(element)
                       ? TypedAttr(FloatAttr::get(element, value))
                       : TypedAttr(IntegerAttr::get(element, int64_t(value)));
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attr = DenseElementsAttr::get(tensor, ArrayRef<Attribute>(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value TileEmitter::splat(Value scalar, RankedTensorType type) {
  return tensor::SplatOp::create(builder, loc, scalar, type);
}

Value TileEmitter::binary(StringRef name, Value a, Value b) {
  OperationState state(loc, name, ValueRange{a, b}, a.getType());
  return builder.create(state)->getResult(0);
}

Value TileEmitter::transposedView(Value smem) {
  auto type = cast<tile::SmemType>(smem.getType());
  return tile::SmemViewOp::create(builder, loc, type.getTransposedType(), smem,
                                  ArrayRef<int64_t>{0, 0},
                                  /*transposed=*/true);
}

Value TileEmitter::cloneElementwise(Operation *inner, ArrayRef<Value> operands,
                                    RankedTensorType type) {
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(inner->getOperands(), operands))
    mapping.map(from, to);
  Operation *clone = builder.clone(*inner, mapping);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

void TileEmitter::bindFragment(Value value, Value fragment) {
  fragments[{value, isTransposed(value)}] = fragment;
}

Value TileEmitter::getFragment(Value value, bool transposed) {
  value = strip(value);
  if (Value known = fragments.lookup({value, transposed}))
    return known;
  Value made = makeFragment(value, transposed);
  fragments[{value, transposed}] = made;
  return made;
}

Value TileEmitter::getShared(Value value) {
  value = strip(value);
  if (shareds.contains(value) || makeWithProducts(value))
    return shareds.lookup(value);
  Value made;
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>()) {
    made = transposedView(getShared(transpose.getInput()));
  } else {
    bool transposed = isTransposed(value);
    Value fragment = getFragment(value, transposed);
    made = tile::AllocOp::create(builder, loc, getSharedType(value),
                                 IntegerAttr());
    tile::LocalStoreOp::create(builder, loc, fragment,
                               transposed ? transposedView(made) : made);
  }
  shareds[value] = made;
  return made;
}

Value TileEmitter::makeFragment(Value value, bool transposed) {
  Value fragment = makeUnmasked(value, transposed);
  // What is held in the other direction was masked when it was made.
  if (!value.getDefiningOp() || transposed != isTransposed(value) ||
      tensorOf(value).getElementType().isInteger())
    return fragment;
  return maskPadding(value, fragment, transposed);
}

/// A product that nothing else uses, to be added without a rounding between.
static arith::MulFOp findFusable(arith::AddFOp sum) {
  if (!getElementTypeOrSelf(sum.getType()).isF32())
    return {};
  for (Value operand : {sum.getRhs(), sum.getLhs()})
    if (auto product = operand.getDefiningOp<arith::MulFOp>())
      if (product->hasOneUse())
        return product;
  return {};
}

Value TileEmitter::makeUnmasked(Value value, bool transposed) {
  RankedTensorType type = getFragmentType(value, transposed);
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)))
    return arith::ConstantOp::create(
        builder, loc,
        cast<TypedAttr>(Attribute(DenseElementsAttr::get(
            type, ArrayRef<Attribute>(dense.getSplatValue<Attribute>())))));
  Operation *inner = value.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(inner))
    return getFragment(transpose.getInput(), !transposed);
  if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(inner))
    return broadcastFragment(broadcast, transposed);
  if (auto maker = makers.find(value); maker != makers.end() &&
                                       transposed == isTransposed(value) &&
                                       !shareds.contains(value))
    return maker->second(transposed);
  // What is held the other way round, or comes from memory, is read from there.
  if (!inner || shareds.contains(value) || transposed != isTransposed(value)) {
    Value smem = getShared(value);
    return tile::LocalLoadOp::create(builder, loc, type,
                                     transposed ? transposedView(smem) : smem);
  }
  return llvm::TypeSwitch<Operation *, Value>(inner)
      .Case([&](linalg::MatmulOp matmul) {
        return matmulFragment(matmul, transposed);
      })
      .Case([&](DecayProductOp product) {
        return product.isVectorDecay() ? vectorProductFragment(product)
                                       : productFragment(product);
      })
      .Case([&](DecayScanOp scan) { return decayRows(scan); })
      .Case([&](UnitLowerSolveOp solve) { return solveFragment(solve); })
      .Case([&](tensor::ExtractSliceOp slice) {
        Unknown unknown = *getUnknown(slice);
        return solveColumns(unknown.solve)[unknown.number];
      })
      .Default([&](Operation *) -> Value {
        auto operandOf = [&](Value operand) {
          return inLayout(getFragment(operand, transposed), type.getEncoding());
        };
        if (auto sum = dyn_cast<arith::AddFOp>(inner))
          if (arith::MulFOp product = findFusable(sum)) {
            Value other = sum.getLhs() == product.getResult() ? sum.getRhs()
                                                              : sum.getLhs();
            return math::FmaOp::create(
                builder, loc, operandOf(product.getLhs()),
                operandOf(product.getRhs()), operandOf(other));
          }
        SmallVector<Value> operands;
        for (Value operand : inner->getOperands())
          operands.push_back(operandOf(operand));
        return cloneElementwise(inner, operands, type);
      });
}

Value TileEmitter::broadcastFragment(linalg::BroadcastOp broadcast,
                                     bool transposed) {
  RankedTensorType type = getFragmentType(broadcast->getResult(0), transposed);
  Value input = broadcast.getInput();
  if (tensorOf(input).getRank() == 0)
    return splat(getScalar(input), type);
  // Constant along the columns of the region's matrix: one value per row.
  bool perRow = broadcast.getDimensions() == ArrayRef<int64_t>{1};
  if (perRow != transposed)
    return tile::SplatRowOp::create(builder, loc, type,
                                    getVector(input, getRow()));
  return tile::SplatColOp::create(builder, loc, type,
                                  getVector(input, getCol()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// op(a) op(b) + acc, where op transposes what its flag says. The left operand
/// comes from registers where it is held there in this direction.
Value TileEmitter::multiply(Value a, bool aTransposed, Value b,
                            bool bTransposed, Value acc, int64_t terms) {
  a = strip(a);
  b = strip(b);
  Value left;
  bool inMemory = shareds.contains(a) || a.getDefiningOp<linalg::TransposeOp>();
  if (!inMemory && plan.columnParts == 1 && isTransposed(a) == aTransposed) {
    left = getFragment(a, aTransposed);
  } else if (Value known = fragments.lookup({a, aTransposed});
             known && plan.columnParts == 1) {
    left = known;
  } else {
    left = getShared(a);
    if (aTransposed)
      left = transposedView(left);
  }
  Value right = getShared(b);
  if (bTransposed)
    right = transposedView(right);
  return tile::MmaOp::create(builder, loc, acc.getType(), left, right, acc,
                             uint64_t(terms));
}

/// f32 operands go in three tf32 products.
static int64_t termsOf(Type element) { return element.isF32() ? 3 : 1; }

Value TileEmitter::matmulFragment(linalg::MatmulOp matmul, bool transposed) {
  Value a = matmul.getInputs()[0], b = matmul.getInputs()[1];
  Value acc =
      inLayout(getFragment(matmul.getOutputs()[0], transposed), getAcc());
  int64_t terms = termsOf(tensorOf(a).getElementType());
  // D^T = B^T A^T.
  if (transposed)
    return multiply(b, true, a, true, acc, terms);
  return multiply(a, false, b, false, acc, terms);
}

Value TileEmitter::narrow(Value value, Type element) {
  value = strip(value);
  if (tensorOf(value).getElementType() == element)
    return value;
  if (auto widened = value.getDefiningOp<arith::ExtFOp>();
      widened && getElementTypeOrSelf(widened.getIn().getType()) == element)
    return widened.getIn();
  Value &made = narrowed[{value, element}];
  if (!made) {
    // A value of the region like any other; it goes with the region.
    OpBuilder region(context);
    region.setInsertionPointAfterValue(value);
    made = arith::TruncFOp::create(region, loc, tensorOf(value).clone(element),
                                   value);
    classes.alias(made, value);
  }
  return made;
}

Type linattn::chunked_to_tile::operandType(MmaPrecision precision,
                                           MLIRContext *context) {
  switch (precision) {
  case MmaPrecision::BF16:
    return BFloat16Type::get(context);
  case MmaPrecision::F16:
    return Float16Type::get(context);
  default:
    return Float32Type::get(context);
  }
}

Value TileEmitter::productFragment(DecayProductOp product) {
  Type element = operandType(product.getMma(), context);
  RankedTensorType type = getFragmentType(product.getResult(), false);
  Value acc = constant(type, 0);
  Value p =
      multiply(narrow(product.getX(), element), false,
               narrow(product.getY(), element), true, acc, termsOf(element));
  return gamma(product, type, p);
}

/// A system for each value column: columns are rows here.
SmallVector<Value> TileEmitter::solveColumns(UnitLowerSolveOp solve) {
  SmallVector<Value> &known = solved[solve];
  if (!known.empty())
    return known;
  auto layout = tile::AccAttr::get(context, plan.warps);
  auto columnsOf = [&](Value value) {
    return inLayout(getFragment(value, /*transposed=*/true), layout);
  };
  bool several = tensorOf(solve.getResult()).getRank() == 3;
  auto unstack = [&](Value all) {
    return several ? getStacked(all) : SmallVector<Value>{all};
  };
  SmallVector<Value> sides, rates, matrices;
  SmallVector<int64_t> readers, writers;
  for (Value side : unstack(solve.getRhs()))
    sides.push_back(columnsOf(side));
  int64_t count = sides.size();
  OperandRange all = solve.getMatrices();
  for (auto [m, stacked] : llvm::enumerate(solve.getRates()))
    for (auto [reader, stackedRate] : llvm::enumerate(unstack(stacked))) {
      Value rate;
      for (int64_t writer = 0; writer < count; ++writer) {
        Value matrix = all[(m * count + reader) * count + writer];
        // A read of another state, or no such term.
        if (several && isZero(matrix))
          continue;
        if (!rate)
          rate = columnsOf(stackedRate);
        rates.push_back(rate);
        matrices.push_back(getShared(matrix));
        readers.push_back(reader);
        writers.push_back(writer);
      }
    }
  if (!several)
    readers = writers = {};
  if (matrices.empty())
    return solved[solve] = sides;
  auto made =
      tile::UnitLowerSolveOp::create(builder, loc, ValueRange(sides).getTypes(),
                                     sides, rates, matrices, readers, writers);
  return solved[solve] = llvm::to_vector_of<Value>(made.getResults());
}

Value TileEmitter::solveFragment(UnitLowerSolveOp solve) {
  if (!solve.isInverse())
    return solveColumns(solve).front();
  Value matrix = gatherColumns(getFragment(solve.getMatrices()[0], false));
  int64_t n = tensorOf(matrix).getDimSize(0);
  auto scratchType = tile::SmemType::get(
      context, {tile::UnitLowerInverseOp::getScratchBytes(n, plan.warps)},
      builder.getI8Type(), 0);
  Value scratch =
      tile::AllocOp::create(builder, loc, scratchType, IntegerAttr());
  Value inverse = tile::UnitLowerInverseOp::create(
      builder, loc, matrix.getType(), matrix, scratch);
  return inverse;
}

Value TileEmitter::moveThroughShared(Value fragment, Attribute layout) {
  RankedTensorType type = tensorOf(fragment);
  Type element = type.getElementType();
  int64_t rowBytes =
      type.getShape().back() * element.getIntOrFloatBitWidth() / 8;
  int64_t swizzle =
      type.getRank() == 2 ? tile::SmemType::getSwizzleOf(rowBytes) : 0;
  Value smem = tile::AllocOp::create(
      builder, loc,
      tile::SmemType::get(context, type.getShape(), element, swizzle),
      IntegerAttr());
  tile::LocalStoreOp::create(builder, loc, fragment, smem);
  return tile::LocalLoadOp::create(
      builder, loc, RankedTensorType::get(type.getShape(), element, layout),
      smem);
}

tile::AccAttr TileEmitter::accOf(Value value) {
  if (plan.columnParts == 1)
    return getAcc();
  Operation *inner = value.getDefiningOp();
  auto gathered = tile::AccAttr::get(context, plan.warps);
  if (isa_and_nonnull<UnitLowerSolveOp>(inner) || getUnknown(value))
    return gathered;
  if (inner && OpTrait::hasElementwiseMappableTraits(inner) &&
      llvm::any_of(inner->getOperands(), [&](Value operand) {
        return tensorOf(operand).getRank() == 2 && accOf(operand) == gathered;
      }))
    return gathered;
  return getAcc();
}

Value TileEmitter::inLayout(Value fragment, Attribute layout) {
  if (tensorOf(fragment).getEncoding() == layout)
    return fragment;
  return moveThroughShared(fragment, layout);
}

Value TileEmitter::gatherColumns(Value fragment) {
  if (plan.columnParts == 1)
    return fragment;
  return moveThroughShared(fragment, tile::AccAttr::get(context, plan.warps));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value TileEmitter::getVector(Value value, Attribute layout) {
  value = strip(value);
  if (Value known = vectors.lookup({value, layout}))
    return known;
  Value made = makeVector(value, layout);
  vectors[{value, layout}] = made;
  return made;
}

/// Where a vector is made: sums over a matrix end in its rows or columns,
/// everything else is spread over lanes, where it costs least.
Attribute TileEmitter::naturalLayout(Value value) {
  value = strip(value);
  Operation *inner = value.getDefiningOp();
  if (!inner || isTokenTile(op, value))
    return getLanes(value);
  if (isa<tensor::ExtractSliceOp>(inner))
    return tile::ColAttr::get(context);
  if (auto reduce = dyn_cast<linalg::ReduceOp>(inner)) {
    Value input = reduce.getInputs()[0];
    bool alongRows = reduce.getDimensions() == ArrayRef<int64_t>{1};
    if (alongRows != isTransposed(input))
      return tile::RowAttr::get(context, plan.warps);
    return tile::ColAttr::get(context);
  }
  if (OpTrait::hasElementwiseMappableTraits(inner))
    for (Value operand : inner->getOperands()) {
      Attribute layout = naturalLayout(operand);
      if (!isa<tile::StridedAttr>(layout))
        return layout;
    }
  return getLanes(value);
}

Value TileEmitter::validVector(Value value, Attribute layout) {
  auto type = RankedTensorType::get({getTileSize(value, 0)},
                                    builder.getI32Type(), layout);
  Value iota = tile::IotaOp::create(builder, loc, type, uint64_t(0));
  Value count =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), rows);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, iota,
                               splat(count, type));
}

Value TileEmitter::makeVector(Value value, Attribute layout) {
  RankedTensorType type = getVectorType(value, layout);
  if (value == op.getValidArg())
    return validVector(value, layout);
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)))
    return arith::ConstantOp::create(
        builder, loc,
        cast<TypedAttr>(Attribute(DenseElementsAttr::get(
            type, ArrayRef<Attribute>(dense.getSplatValue<Attribute>())))));
  Operation *inner = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(inner))
    return splat(getScalar(broadcast.getInput()), type);
  if (Value smem = shareds.lookup(value))
    return tile::LocalLoadOp::create(builder, loc, type, smem);
  Attribute natural = naturalLayout(value);
  if (natural != layout)
    return convertVector(getVector(value, natural), layout);
  if (auto scan = dyn_cast<DecayScanOp>(inner))
    return scan.isVectorDecay() ? decayColumns(scan) : decayVector(scan);
  if (auto reduce = dyn_cast<linalg::ReduceOp>(inner))
    return reduceVector(reduce);
  if (auto column = dyn_cast<tensor::ExtractSliceOp>(inner))
    return columnVector(column.getSource(), column.getStaticOffset(1));
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(getVector(operand, layout));
  return cloneElementwise(inner, operands, type);
}

/// One value column of a matrix: all its others set to 0, and summed.
Value TileEmitter::columnVector(Value matrix, int64_t column) {
  Value fragment = gatherColumns(getFragment(matrix, /*transposed=*/true));
  RankedTensorType type = tensorOf(fragment);
  RankedTensorType integers = type.clone(builder.getI32Type());
  Value at = tile::SplatRowOp::create(
      builder, loc, integers,
      iota(tile::getRowType(type).getEncoding(), type.getDimSize(0)));
  Value isColumn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         at, constant(integers, column));
  Value only = arith::SelectOp::create(builder, loc, isColumn, fragment,
                                       constant(type, 0));
  return sumRows(tile::Combine::Add, only);
}

/// Combines the rows of a matrix into a vector over its columns.
Value TileEmitter::sumRows(tile::Combine kind, Value fragment) {
  RankedTensorType type = tensorOf(fragment);
  Value scratch;
  int64_t warps = std::min(plan.warps, type.getDimSize(0) / tile::kRowTile);
  if (warps > 1)
    scratch = tile::AllocOp::create(
        builder, loc,
        tile::SmemType::get(context, {warps, type.getDimSize(1)},
                            type.getElementType(), 0),
        IntegerAttr());
  return tile::ReduceOp::create(builder, loc, tile::getColType(type), kind,
                                fragment, uint64_t(0), scratch);
}

Value TileEmitter::convertVector(Value vector, Attribute layout) {
  RankedTensorType from = tensorOf(vector);
  auto to =
      RankedTensorType::get(from.getShape(), from.getElementType(), layout);
  if (tile::isConvertible(from, to))
    return tile::ConvertOp::create(builder, loc, to, vector);
  return moveThroughShared(vector, layout);
}

Value TileEmitter::reduceVector(linalg::ReduceOp reduce) {
  Value input = reduce.getInputs()[0];
  bool transposed = isTransposed(input);
  Value fragment = gatherColumns(getFragment(input, transposed));
  RankedTensorType type = tensorOf(fragment);
  bool alongRows = reduce.getDimensions() == ArrayRef<int64_t>{1};
  tile::Combine kind = *combineOf(reduce);
  // Padding is 0, which sums alone do not see.
  unsigned dim = reduce.getDimensions()[0];
  if (kind != tile::Combine::Add &&
      getTileSize(input, dim) != tensorOf(input).getDimSize(dim))
    fragment = fillPadding(input, fragment, transposed, dim, neutralOf(kind));
  Value result;
  if (alongRows != transposed)
    result = tile::ReduceOp::create(builder, loc, tile::getRowType(type), kind,
                                    fragment, uint64_t(1), Value());
  else
    result = sumRows(kind, fragment);
  Value init = getVector(reduce.getInits()[0], tensorOf(result).getEncoding());
  Operation *combiner = &reduce.getCombiner().front().front();
  return binary(combiner->getName().getStringRef(), result, init);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value TileEmitter::getScalar(Value value) {
  if (Value known = scalars.lookup(value))
    return known;
  Value made = makeScalar(value);
  scalars[value] = made;
  return made;
}

Value TileEmitter::makeScalar(Value value) {
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)))
    return arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  Operation *inner = value.getDefiningOp();
  if (auto scan = dyn_cast<DecayScanOp>(inner))
    return decayVector(scan);
  IRMapping mapping;
  for (Value operand : inner->getOperands())
    mapping.map(operand, getScalar(operand));
  Operation *clone = builder.clone(*inner, mapping);
  clone->getResult(0).setType(tensorOf(value).getElementType());
  return clone->getResult(0);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Whether a matrix is read to make the value. Decays over K are one, also
/// those that are the same for every token.
static bool readsMatrix(ChunkedOp op, Value value) {
  Operation *inner = value.getDefiningOp();
  if (auto scan = dyn_cast_or_null<DecayScanOp>(inner))
    return scan.isVectorDecay() || readsMatrix(op, scan.getGate());
  if (isTokenTile(op, value))
    return tensorOf(value).getRank() == 2;
  if (!inner || inner->hasTrait<OpTrait::ConstantLike>() ||
      isa<tensor::EmptyOp>(inner))
    return tensorOf(value).getRank() == 2 && !inner;
  return llvm::any_of(inner->getOperands(),
                      [&](Value operand) { return readsMatrix(op, operand); });
}

/// A scan of decays over K that an elementwise value is made of, if any.
static DecayScanOp findScan(Value value) {
  Operation *inner = value.getDefiningOp();
  if (auto scan = dyn_cast_or_null<DecayScanOp>(inner))
    return scan.isVectorDecay() ? scan : DecayScanOp();
  if (inner && OpTrait::hasElementwiseMappableTraits(inner))
    for (Value operand : inner->getOperands())
      if (DecayScanOp scan = findScan(operand))
        return scan;
  return {};
}

SmallVector<Value> TileEmitter::getOffChain() {
  DenseSet<Value> onChain(op.getStateArgs().begin(), op.getStateArgs().end());
  auto isOn = [&](Value value) { return onChain.contains(value); };
  llvm::SmallSetVector<Value, 4> result;
  for (Operation &inner : *op.getBlock()) {
    if (llvm::none_of(inner.getOperands(), isOn))
      continue;
    onChain.insert(inner.result_begin(), inner.result_end());
    // Vectors that cost more than their tokens.
    for (Value operand : inner.getOperands()) {
      operand = strip(operand);
      while (auto broadcast = operand.getDefiningOp<linalg::BroadcastOp>())
        operand = strip(broadcast.getInput());
      if (!isOn(operand) && operand.getDefiningOp() &&
          tensorOf(operand).getRank() == 1 && readsMatrix(op, operand))
        result.insert(operand);
    }
  }
  for (auto matmul : op.getBlock()->getOps<linalg::MatmulOp>()) {
    if (!isOn(matmul->getResult(0)))
      continue;
    // The operand that is read from shared memory.
    Value right =
        matmul.getInputs()[isTransposed(matmul->getResult(0)) ? 0 : 1];
    right = strip(right);
    while (auto transpose = right.getDefiningOp<linalg::TransposeOp>())
      right = strip(transpose.getInput());
    if (right.getDefiningOp() && !isTokenTile(op, right) && !isOn(right))
      result.insert(right);
  }
  for (auto solve : op.getBlock()->getOps<UnitLowerSolveOp>())
    if (!solve.isInverse() && isOn(solve.getResult()))
      for (Value matrix : solve.getMatrices())
        if (matrix = strip(matrix); !isOn(matrix) && !isZero(matrix))
          result.insert(matrix);
  // What scans decays over K fills the registers: one after another, before
  // anything else is kept there.
  SmallVector<std::pair<int, Value>> order;
  for (Value value : result) {
    DecayScanOp scan = findScan(value);
    order.push_back({scan ? int(scan.getSpan()) : INT_MAX, value});
  }
  // In place: std::stable_sort wants a buffer of a deprecated kind.
  for (size_t i = 1; i < order.size(); ++i)
    for (size_t j = i; j > 0 && order[j].first < order[j - 1].first; --j)
      std::swap(order[j], order[j - 1]);
  return llvm::map_to_vector(order, [](auto entry) { return entry.second; });
}

//===----------------------------------------------------------------------===//
// What has a tile form
//===----------------------------------------------------------------------===//

LogicalResult TileEmitter::check(ChunkedOp op) {
  auto refuse = [](Operation *inner, const Twine &why) {
    return inner->emitOpError("has no form on tiles yet: ")
           << why << " (the token-serial kernel runs it)";
  };
  for (Operation &inner : op.getBlock()->without_terminator()) {
    // The decays of a token and the unknowns of a system, taken from where they
    // come from.
    if (isa<tensor::EmptyOp, tensor::InsertSliceOp, tensor::CollapseShapeOp>(
            inner) &&
        llvm::all_of(inner.getUsers(), [](Operation *user) {
          return isa<tensor::InsertSliceOp, tensor::CollapseShapeOp,
                     DecayScanOp, DecayProductOp, UnitLowerSolveOp>(user);
        }))
      continue;
    if (auto solve = dyn_cast<UnitLowerSolveOp>(inner);
        solve && llvm::all_of(inner.getUsers(), [](Operation *user) {
          return getUnknown(user->getResult(0)).has_value();
        }))
      continue;
    if (isa<tensor::ExtractSliceOp>(inner) && getUnknown(inner.getResult(0)))
      continue;
    for (Value result : inner.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || type.getRank() > 2)
        return refuse(&inner, "values are scalars, vectors and matrices");
      if (type.getElementType().isF64())
        return refuse(&inner, "it computes in f64");
    }
    DenseElementsAttr dense;
    if (matchPattern(&inner, m_Constant(&dense))) {
      if (!dense.isSplat())
        return refuse(&inner, "constants have equal elements, others can be "
                              "parameters");
      continue;
    }
    if (auto product = dyn_cast<DecayProductOp>(inner)) {
      if (product.getXPositions().size() != 1 ||
          product.getYPositions().size() != 1)
        return refuse(&inner, "rows of more than one event per token");
      if (product.isVectorDecay() && product.getNumDecays() > 1)
        return refuse(&inner, "more than one decay over K per token");
      if (product.getMma() == MmaPrecision::BF16x2)
        return refuse(&inner, "mma = bf16x2");
      continue;
    }
    if (auto scan = dyn_cast<DecayScanOp>(inner)) {
      if (scan.getPositions() && scan.getPositions()->size() != 1)
        return refuse(&inner, "rows of more than one event per token");
      if (scan.isVectorDecay() && scan.getDecays() > 1)
        return refuse(&inner, "more than one decay over K per token");
      continue;
    }
    if (auto solve = dyn_cast<UnitLowerSolveOp>(inner)) {
      if (solve.getTransposed())
        return refuse(&inner, "a system that is solved transposed");
      continue;
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(inner)) {
      if (isTokenTile(op, slice))
        continue;
      RankedTensorType source = slice.getSourceType();
      if (source.getRank() != 2 || slice.getType().getRank() != 1 ||
          slice.getType().getDimSize(0) != source.getDimSize(0) ||
          !source.getElementType().isF32() ||
          ShapedType::isDynamic(slice.getStaticOffset(1)) ||
          isa<BlockArgument>(slice.getSource()))
        return refuse(&inner, "slices are columns of f32 matrices of the "
                              "region, parts of a vector can be operands of "
                              "their own");
      continue;
    }
    if (auto reduce = dyn_cast<linalg::ReduceOp>(inner)) {
      Value input = reduce.getInputs()[0];
      if (reduce.getInputs().size() != 1 || !combineOf(reduce) ||
          tensorOf(input).getRank() != 2 ||
          !tensorOf(input).getElementType().isF32())
        return refuse(&inner, "reductions are sums, products, minima and "
                              "maxima over a dimension of an f32 matrix");
      continue;
    }
    if (isa<linalg::MatmulOp, linalg::BroadcastOp, linalg::TransposeOp,
            tensor::EmptyOp>(inner))
      continue;
    if (OpTrait::hasElementwiseMappableTraits(&inner))
      continue;
    return refuse(&inner,
                  "no rule for '" + inner.getName().getStringRef() + "'");
  }
  return success();
}
