//===- RegionEmitter.cpp - values of attention's regions as tiles ---------===//

#include "RegionEmitter.h"
#include "../Common/Reductions.h"

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

static constexpr double kLog2E = 1.4426950408889634;

RegionEmitter::RegionEmitter(AttentionTilesOp op, const AttentionPlan &plan,
                             OpBuilder &builder)
    : op(op), plan(plan), builder(builder), loc(op.getLoc()),
      context(op.getContext()) {}

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static std::optional<Attribute> splatOf(Value value) {
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)) && dense.isSplat())
    return dense.getSplatValue<Attribute>();
  return std::nullopt;
}

std::optional<double> linattn::attention_to_tile::numberOf(Value value) {
  if (auto attr = splatOf(value))
    if (auto number = dyn_cast<FloatAttr>(*attr))
      return number.getValueAsDouble();
  return std::nullopt;
}

RankedTensorType RegionEmitter::fragmentTypeOf(Value value) {
  RankedTensorType type = plan.getFragmentType(tensorOf(value));
  return slice ? type.clone({type.getDimSize(0), slice->width}) : type;
}

RankedTensorType RegionEmitter::vectorTypeOf(Value value, bool alongRows) {
  RankedTensorType type = plan.getVectorType(tensorOf(value), alongRows);
  return slice && !alongRows ? type.clone({slice->width}) : type;
}

Value RegionEmitter::constant(Type type, double value) {
  TypedAttr attr = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    attr = DenseElementsAttr::get(tensor, ArrayRef<Attribute>(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value RegionEmitter::splat(Value scalar, RankedTensorType type) {
  return tensor::SplatOp::create(builder, loc, scalar, type);
}

Value RegionEmitter::binary(StringRef name, Value a, Value b) {
  OperationState state(loc, name, ValueRange{a, b}, a.getType());
  return builder.create(state)->getResult(0);
}

Value RegionEmitter::cloneElementwise(Operation *inner,
                                      ArrayRef<Value> operands,
                                      RankedTensorType type) {
  OperationState state(inner->getLoc(), inner->getName(), operands,
                       TypeRange{type}, inner->getAttrs());
  return builder.create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

Value RegionEmitter::findFragment(Value value) const {
  Value known = bound.fragments.lookup(value);
  return known ? known : made.fragments.lookup(value);
}

Value RegionEmitter::findShared(Value value) const {
  Value known = bound.shareds.lookup(value);
  return known ? known : made.shareds.lookup(value);
}

Value RegionEmitter::getFragment(Value value) {
  Value known = slice ? made.fragments.lookup(value) : findFragment(value);
  if (known)
    return known;
  Value whole = bound.fragments.lookup(value);
  Value result = whole ? sliceOf(whole) : makeFragment(value);
  made.fragments[value] = result;
  return result;
}

Value RegionEmitter::getShared(Value value) {
  if (Value known = findShared(value))
    return known;
  auto transpose = value.getDefiningOp<linalg::TransposeOp>();
  Value source = getShared(transpose.getInput());
  auto type = cast<tile::SmemType>(source.getType());
  Value result = tile::SmemViewOp::create(
      builder, loc, type.getTransposedType(), source, ArrayRef<int64_t>{0, 0},
      /*transposed=*/true);
  made.shareds[value] = result;
  return result;
}

Value RegionEmitter::makeFragment(Value value) {
  RankedTensorType type = fragmentTypeOf(value);
  if (auto attr = splatOf(value))
    return arith::ConstantOp::create(
        builder, loc,
        cast<TypedAttr>(Attribute(
            DenseElementsAttr::get(type, ArrayRef<Attribute>(*attr)))));
  if (findShared(value)) {
    Value source = getShared(value);
    if (slice)
      source = tile::SmemViewOp::create(
          builder, loc,
          cast<tile::SmemType>(source.getType()).getSliceType(type.getShape()),
          source, ArrayRef<int64_t>{0, slice->first}, /*transposed=*/false);
    return tile::LocalLoadOp::create(builder, loc, type, source);
  }
  Operation *inner = value.getDefiningOp();
  if (!inner)
    return allowedMask(type);
  return llvm::TypeSwitch<Operation *, Value>(inner)
      .Case([&](linalg::MatmulOp matmul) {
        makeProducts(matmul);
        return findFragment(value);
      })
      .Case([&](linalg::BroadcastOp op) { return broadcast(op); })
      .Case([&](linalg::GenericOp op) { return generic(op); })
      .Case([&](linalg::FillOp op) {
        return splat(getScalar(op.getInputs()[0]), type);
      })
      .Case([&](math::ExpOp op) { return exponential(op); })
      .Default([&](Operation *) -> Value {
        auto select = dyn_cast<arith::SelectOp>(inner);
        if (select && !select.getCondition().getDefiningOp())
          return selectAllowed(select);
        return elementwise(inner, type,
                           [&](Value operand) { return getFragment(operand); });
      });
}

Value RegionEmitter::elementwise(Operation *inner, RankedTensorType type,
                                 llvm::function_ref<Value(Value)> get) {
  // A reciprocal per row instead of a division per element.
  if (auto division = dyn_cast<arith::DivFOp>(inner))
    if (Value divisor = perRow(division.getRhs());
        divisor && type.getElementType().isF32()) {
      Value vector = getVector(divisor, /*alongRows=*/true);
      Value one = constant(vector.getType(), 1);
      Value reciprocal = arith::DivFOp::create(builder, loc, one, vector);
      return arith::MulFOp::create(
          builder, loc, get(division.getLhs()),
          tile::SplatRowOp::create(builder, loc, type, reciprocal));
    }
  if (auto product = dyn_cast<arith::MulFOp>(inner))
    for (auto [factor, matrix] :
         {std::pair(product.getLhs(), product.getRhs()),
          std::pair(product.getRhs(), product.getLhs())})
      if (Value vector = perRow(factor);
          vector && vector.getDefiningOp<math::ExpOp>())
        return rescale(get(matrix), getVector(vector, /*alongRows=*/true));
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(get(operand));
  return cloneElementwise(inner, operands, type);
}

/// Bounds of columns by row, where rows are heads of tokens.
Value RegionEmitter::groupedMask(RankedTensorType type) {
  RankedTensorType numbers = type.clone(builder.getI32Type());
  auto iota = [&](RankedTensorType vector) -> Value {
    return tile::IotaOp::create(builder, loc, vector, uint64_t(0));
  };
  Value tokens = iota(tile::getRowType(numbers));
  Value group = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<RankedTensorType>(tokens.getType()),
                             builder.getI32IntegerAttr(plan.group)));
  tokens = arith::DivUIOp::create(builder, loc, tokens, group);
  Value columns = tile::SplatColOp::create(builder, loc, numbers,
                                           iota(tile::getColType(numbers)));
  Value mask;
  auto require = [&](arith::CmpIPredicate predicate, Value bound, bool byRow) {
    if (!bound)
      return;
    bound =
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), bound);
    Value bounds;
    if (byRow) {
      Value rows = splat(bound, cast<RankedTensorType>(tokens.getType()));
      bounds = tile::SplatRowOp::create(
          builder, loc, numbers,
          arith::AddIOp::create(builder, loc, tokens, rows));
    } else {
      bounds = splat(bound, numbers);
    }
    Value holds =
        arith::CmpIOp::create(builder, loc, predicate, columns, bounds);
    mask = mask ? arith::AndIOp::create(builder, loc, mask, holds).getResult()
                : holds;
  };
  require(arith::CmpIPredicate::sle, allowed.upper, /*byRow=*/true);
  require(arith::CmpIPredicate::sge, allowed.lower, /*byRow=*/true);
  require(arith::CmpIPredicate::slt, allowed.columns, /*byRow=*/false);
  return mask;
}

Value RegionEmitter::allowedMask(RankedTensorType type) {
  if (plan.group > 1 && (allowed.upper || allowed.lower))
    return groupedMask(type);
  return tile::BandOp::create(builder, loc, type, allowed.lower, allowed.upper,
                              allowed.columns);
}

/// Most key tiles have only allowed pairs: they skip the selection.
Value RegionEmitter::selectAllowed(arith::SelectOp select) {
  RankedTensorType type = fragmentTypeOf(select.getResult());
  Value inside = getFragment(select.getTrueValue());
  if (allowed.isAll())
    return inside;
  // Before the branch, so that both ways have it.
  Value outside = getFragment(select.getFalseValue());
  auto emit = [&]() -> Value {
    Value mask = allowedMask(type.clone(builder.getI1Type()));
    return arith::SelectOp::create(builder, loc, mask, inside, outside);
  };
  if (!allowed.partial)
    return emit();
  auto branch = scf::IfOp::create(builder, loc, TypeRange{type},
                                  allowed.partial, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, emit());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, inside);
  return branch.getResult(0);
}

Value RegionEmitter::broadcast(linalg::BroadcastOp op) {
  RankedTensorType type = fragmentTypeOf(op->getResult(0));
  Value input = op.getInput();
  if (tensorOf(input).getRank() == 0)
    return splat(getScalar(input), type);
  if (op.getDimensions() == ArrayRef<int64_t>{1})
    return tile::SplatRowOp::create(builder, loc, type,
                                    getVector(input, /*alongRows=*/true));
  return tile::SplatColOp::create(builder, loc, type,
                                  getVector(input, /*alongRows=*/false));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

void RegionEmitter::forEachSlice(int64_t columns,
                                 llvm::function_ref<void(int64_t)> make) {
  if (sliceWidth == 0)
    return make(0);
  // What has no columns is the same in all slices, and stays.
  llvm::DenseMap<Value, Value> fragments, vectors;
  std::swap(fragments, made.fragments);
  std::swap(vectors, made.vectors[false]);
  std::optional<Columns> outer = slice;
  for (int64_t first = 0; first < columns; first += sliceWidth) {
    slice = Columns{first, std::min(sliceWidth, columns - first)};
    make(first);
    made.fragments.clear();
    made.vectors[false].clear();
  }
  slice = outer;
  made.fragments = std::move(fragments);
  made.vectors[false] = std::move(vectors);
}

/// The slice's columns of a fragment.
Value RegionEmitter::sliceOf(Value fragment) {
  auto type = cast<RankedTensorType>(fragment.getType());
  auto attrs = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(context, numbers);
  };
  return tensor::ExtractSliceOp::create(
      builder, loc, type.clone({type.getDimSize(0), slice->width}), fragment,
      attrs({0, slice->first}), attrs({type.getDimSize(0), slice->width}),
      attrs({1, 1}));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The tile of keys that a right operand is, and whether transposed.
static std::pair<Value, bool> keyOf(Value right) {
  if (auto transpose = right.getDefiningOp<linalg::TransposeOp>())
    return {transpose.getInput(), true};
  return {right, false};
}

/// Products of one depth go together, those with one right operand beside each
/// other: what each lane holds of it is read once (differential attention: keys
/// or values of both maps).
void RegionEmitter::makeProducts(linalg::MatmulOp first) {
  struct Product {
    linalg::MatmulOp op;
    Value a, acc;
  };
  SmallVector<Product> products;
  for (SmallVector<linalg::MatmulOp> &group :
       productsByDepth(first->getBlock()))
    if (llvm::is_contained(group, first))
      for (linalg::MatmulOp product : group)
        if (product->getBlock() != op.getStepBlock() ||
            wanted->contains(product))
          products.push_back({product, {}, {}});
  for (Product &product : products) {
    // First what is short: exponentials then stand beside the products.
    product.acc = getFragment(product.op.getOutputs()[0]);
    Value a = product.op.getInputs()[0];
    if (findShared(a) && !findFragment(a))
      product.a = getShared(a);
    else
      product.a = getFragment(a);
  }
  auto emit = [&](Product &product) {
    // f32 operands go in three tf32 products.
    Value left = product.op.getInputs()[0];
    bool single = tensorOf(left).getElementType().isF32();
    made.fragments[product.op->getResult(0)] =
        tile::MmaOp::create(builder, loc, product.acc.getType(), product.a,
                            getShared(product.op.getInputs()[1]), product.acc,
                            uint64_t(single ? 3 : 1));
  };
  for (Product &product : products)
    for (Product &other : products)
      if (!findFragment(other.op->getResult(0)) &&
          keyOf(other.op.getInputs()[1]) == keyOf(product.op.getInputs()[1]))
        emit(other);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value RegionEmitter::getVector(Value value, bool alongRows) {
  if (Value known = bound.vectors[alongRows].lookup(value))
    return known;
  if (Value known = made.vectors[alongRows].lookup(value))
    return known;
  Value result = makeVector(value, alongRows);
  made.vectors[alongRows][value] = result;
  return result;
}

Value RegionEmitter::loadVector(Value tensor, bool alongRows) {
  int64_t begin = firstOf(alongRows);
  Value first = arith::ConstantIndexOp::create(builder, loc, begin);
  Value left = arith::ConstantIndexOp::create(
      builder, loc, tensorOf(tensor).getDimSize(0) - begin);
  return tile::LoadOp::create(builder, loc, vectorTypeOf(tensor, alongRows),
                              memories.lookup(tensor), ValueRange{first},
                              ArrayRef<int64_t>{0}, ValueRange{left});
}

/// A vector of a tensor with more dimensions.
Value RegionEmitter::loadSlice(tensor::ExtractSliceOp op, bool alongRows) {
  SmallVector<Value> indices;
  for (OpFoldResult offset : op.getMixedOffsets()) {
    if (auto attr = dyn_cast<Attribute>(offset))
      indices.push_back(arith::ConstantIndexOp::create(
          builder, loc, cast<IntegerAttr>(attr).getInt()));
    else
      indices.push_back(getScalar(cast<Value>(offset)));
  }
  int64_t inner = indices.size() - 1, begin = firstOf(alongRows);
  if (begin > 0)
    indices.back() = arith::AddIOp::create(
        builder, loc, indices.back(),
        arith::ConstantIndexOp::create(builder, loc, begin));
  Value left = arith::ConstantIndexOp::create(
      builder, loc, op.getType().getDimSize(0) - begin);
  return tile::LoadOp::create(builder, loc,
                              vectorTypeOf(op.getResult(), alongRows),
                              memories.lookup(op.getSource()), indices,
                              ArrayRef<int64_t>{inner}, ValueRange{left});
}

Value RegionEmitter::makeVector(Value value, bool alongRows) {
  RankedTensorType type = vectorTypeOf(value, alongRows);
  if (auto attr = splatOf(value))
    return arith::ConstantOp::create(
        builder, loc,
        cast<TypedAttr>(Attribute(
            DenseElementsAttr::get(type, ArrayRef<Attribute>(*attr)))));
  if (memories.contains(value))
    return loadVector(value, alongRows);
  Operation *inner = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, Value>(inner)
      .Case([&](linalg::FillOp op) {
        return splat(getScalar(op.getInputs()[0]), type);
      })
      .Case([&](linalg::BroadcastOp op) {
        return splat(getScalar(op.getInput()), type);
      })
      .Case([&](linalg::ReduceOp op) { return reduceRows(op); })
      .Case([&](tensor::ExtractSliceOp op) { return loadSlice(op, alongRows); })
      .Default([&](Operation *) {
        auto get = [&](Value operand) { return getVector(operand, alongRows); };
        // In every step, as for matrices.
        auto exp = dyn_cast<math::ExpOp>(inner);
        if (!exp || inner->getBlock() != op.getStepBlock())
          return elementwise(inner, type, get);
        Value exponent = arith::MulFOp::create(
            builder, loc, get(exp.getOperand()), constant(type, kLog2E));
        return Value(math::Exp2Op::create(builder, loc, exponent,
                                          arith::FastMathFlags::afn));
      });
}

/// Over the columns that are made.
Value RegionEmitter::reduceColumns(linalg::ReduceOp reduce) {
  Value input = reduce.getInputs()[0];
  Value fragment = getFragment(input);
  RankedTensorType type = tensorOf(fragment);
  tile::Combine kind = *combineOf(reduce);
  int64_t size = tensorOf(input).getDimSize(1) - firstOf(/*alongRows=*/false);
  if (size < type.getDimSize(1)) {
    // Columns that only fill the tile.
    Value columns = arith::ConstantIndexOp::create(builder, loc, size);
    Value inside =
        tile::BandOp::create(builder, loc, type.clone(builder.getI1Type()),
                             Value(), Value(), columns);
    fragment = arith::SelectOp::create(builder, loc, inside, fragment,
                                       constant(type, neutralOf(kind)));
  }
  return tile::ReduceOp::create(builder, loc, tile::getRowType(type), kind,
                                fragment, uint64_t(1), Value());
}

Value RegionEmitter::reduceRows(linalg::ReduceOp reduce) {
  Value input = reduce.getInputs()[0], init = reduce.getInits()[0];
  StringRef name =
      reduce.getCombiner().front().front().getName().getStringRef();
  Value result;
  forEachSlice(plan.getFragmentType(tensorOf(input)).getDimSize(1),
               [&](int64_t) {
                 Value part = reduceColumns(reduce);
                 result = result ? binary(name, result, part) : part;
               });
  if (numberOf(init) == neutralOf(*combineOf(reduce)))
    return result;
  return binary(name, result, getVector(init, /*alongRows=*/true));
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value RegionEmitter::getScalar(Value value) {
  if (Value known = bound.scalars.lookup(value))
    return known;
  if (Value known = made.scalars.lookup(value))
    return known;
  Value result = makeScalar(value);
  made.scalars[value] = result;
  return result;
}

Value RegionEmitter::makeScalar(Value value) {
  // A tensor of rank 0 is one number.
  if (memories.contains(value))
    return memref::LoadOp::create(builder, loc, memories.lookup(value),
                                  ValueRange{});
  Operation *inner = value.getDefiningOp();
  if (auto attr = splatOf(value))
    return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(*attr));
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
    SmallVector<Value> indices;
    for (Value index : extract.getIndices())
      indices.push_back(getScalar(index));
    return memref::LoadOp::create(
        builder, loc, memories.lookup(extract.getTensor()), indices);
  }
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(getScalar(operand));
  OperationState state(inner->getLoc(), inner->getName(), operands,
                       TypeRange{getElementTypeOrSelf(value.getType())},
                       inner->getAttrs());
  return builder.create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// What has a tile form
//===----------------------------------------------------------------------===//

LogicalResult linattn::attention_to_tile::refuse(Operation *inner,
                                                 const Twine &why) {
  return inner->emitOpError("has no form on tiles: ")
         << why << " (the CPU runs it)";
}

bool linattn::attention_to_tile::isElementwise(Operation *inner) {
  return inner->getNumResults() == 1 && inner->getNumRegions() == 0 &&
         OpTrait::hasElementwiseMappableTraits(inner);
}

static bool isKey(AttentionTilesOp op, Value value) {
  auto arg = dyn_cast<BlockArgument>(value);
  if (!arg || arg.getOwner() != op.getStepBlock())
    return false;
  unsigned first = AttentionTilesOp::kStepLeading + op.getQueries().size();
  return arg.getArgNumber() >= first &&
         arg.getArgNumber() < first + op.getKeys().size();
}

static LogicalResult checkOperation(AttentionTilesOp op, Operation &inner) {
  for (Value result : inner.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (type && (type.getRank() > 2 || !type.hasStaticShape()))
      return refuse(&inner, "values are scalars, vectors and matrices");
    if (getElementTypeOrSelf(result.getType()).isF64())
      return refuse(&inner, "it computes in f64");
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(inner))
    return isa<RankedTensorType>(constant.getType()) && !splatOf(constant)
               ? refuse(&inner, "constants have equal elements")
               : success();
  if (auto matmul = dyn_cast<linalg::MatmulOp>(inner)) {
    Value a = matmul.getInputs()[0], b = matmul.getInputs()[1];
    if (!isKey(op, keyOf(b).first))
      return refuse(&inner, "the right operand of a product is a tile of keys "
                            "or values as it is in memory, or its transpose");
    if (isKey(op, a) || a.getDefiningOp<linalg::TransposeOp>())
      return refuse(&inner, "the left operand of a product has a row per "
                            "query");
    return success();
  }
  auto ofKeys = [&](Value operand) {
    return isKey(op, operand) && tensorOf(operand).getRank() == 2;
  };
  if (auto transpose = dyn_cast<linalg::TransposeOp>(inner)) {
    if (ofKeys(transpose.getInput()) &&
        llvm::all_of(transpose->getUsers(), [](Operation *user) {
          return isa<linalg::MatmulOp>(user);
        }))
      return success();
    for (Operation *user : transpose->getUsers())
      if (isa<arith::ExtFOp, arith::TruncFOp>(user) &&
          ofKeys(transpose.getInput()))
        return op.emitOpError("has no form on tiles: products take keys and "
                              "values in the type that they have in memory, ")
               << getElementTypeOrSelf(transpose.getInput().getType())
               << ", got " << getElementTypeOrSelf(user->getResult(0).getType())
               << " (query, key and value of one type, and 'mma', where it is "
                  "given, that type)";
    return refuse(&inner, "only a tile of keys or values is transposed, for a "
                          "product");
  }
  if (llvm::any_of(inner.getOperands(), ofKeys))
    return refuse(&inner, "a tile of keys or values is an operand of products "
                          "alone, in the type it has in memory (compute on it "
                          "before the operation)");
  if (auto reduce = dyn_cast<linalg::ReduceOp>(inner)) {
    if (reduce.getInputs().size() == 1 && combineOf(reduce) &&
        tensorOf(reduce.getInputs()[0]).getRank() == 2 &&
        reduce.getDimensions() == ArrayRef<int64_t>{1} &&
        tensorOf(reduce.getInputs()[0]).getElementType().isF32())
      return success();
    return refuse(&inner, "reductions are sums, products, minima and maxima "
                          "over the rows of an f32 matrix");
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(inner))
    return checkBody(op, generic);
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
    if (isa<BlockArgument>(extract.getTensor()) &&
        extract.getTensor().getParentRegion()->isProperAncestor(
            inner.getParentRegion()))
      return success();
    return refuse(&inner, "elements are those of tensors from outside");
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(inner)) {
    ArrayRef<int64_t> sizes = slice.getStaticSizes();
    bool isVector =
        slice.getType().getRank() == 1 && slice.hasUnitStride() &&
        llvm::all_of(sizes.drop_back(), [](int64_t size) { return size == 1; });
    if (isVector && isa<BlockArgument>(slice.getSource()) &&
        slice.getSource().getParentRegion()->isProperAncestor(
            inner.getParentRegion()))
      return success();
    return refuse(&inner, "slices are vectors along the last dimension of "
                          "tensors from outside");
  }
  if (isa<linalg::BroadcastOp, linalg::FillOp, tensor::EmptyOp>(inner) ||
      isElementwise(&inner))
    return success();
  return refuse(&inner, "no rule for '" + inner.getName().getStringRef() + "'");
}

/// Numbers from outside are elements of tensors.
static LogicalResult checkCaptured(AttentionTilesOp op) {
  WalkResult walk = op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand);
          argument && !isa<RankedTensorType>(argument.getType()) &&
          !op->isAncestor(argument.getOwner()->getParentOp())) {
        inner->emitOpError("has no form on tiles: it reads argument ")
            << argument.getArgNumber() << " of the function, of type "
            << argument.getType()
            << " (give it as a tensor of one number, taken by tensor.extract)";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult RegionEmitter::check(AttentionTilesOp op) {
  if (failed(checkCaptured(op)))
    return failure();
  for (Block *block : {op.getStepBlock(), op.getFinishBlock()})
    for (Operation &inner : block->without_terminator())
      if (failed(checkOperation(op, inner)))
        return failure();
  return success();
}
