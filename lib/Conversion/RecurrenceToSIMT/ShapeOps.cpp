//===- ShapeOps.cpp - operations that only move elements ------------------===//
//
// The part of StepEvaluator that follows an element through broadcasts, slices,
// inserts, shuffles and reshapes: arithmetic on its coordinates.
//
//===----------------------------------------------------------------------===//

#include "StepEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::simt;

//===----------------------------------------------------------------------===//
// What is known
//===----------------------------------------------------------------------===//

static LogicalResult checkOperation(Operation &op) {
  auto refuse = [&](const Twine &why) {
    return op.emitOpError("is not lowered to a SIMT kernel: ")
           << why << " (the CPU runs it)";
  };
  if (isa<DecayOp, ReadOp, WriteOp, YieldOp>(op) ||
      OpTrait::hasElementwiseMappableTraits(&op))
    return success();
  if (op.hasTrait<OpTrait::ConstantLike>()) {
    // Not poison, which folds of wrong positions leave behind.
    Attribute value;
    matchPattern(&op, m_Constant(&value));
    if (isa_and_nonnull<IntegerAttr, FloatAttr, DenseElementsAttr>(value))
      return success();
    return refuse("a constant is a number or a vector of numbers");
  }
  if (auto reduction = dyn_cast<vector::ReductionOp>(op)) {
    if (!isa<FloatType>(reduction.getType()))
      return refuse("a reduction is of floats");
    return success();
  }
  if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
    if (shuffle.getResultVectorType().getRank() != 1 ||
        shuffle.getV1VectorType().getRank() != 1)
      return refuse("a shuffle is of vectors of rank 1");
    return success();
  }
  if (isa<vector::InterleaveOp, vector::DeinterleaveOp>(op)) {
    if (cast<VectorType>(op.getOperand(0).getType()).getRank() != 1)
      return refuse("it is of vectors of rank 1");
    return success();
  }
  if (isa<vector::BroadcastOp, vector::ExtractOp, vector::InsertOp,
          vector::ExtractStridedSliceOp, vector::InsertStridedSliceOp,
          vector::ShapeCastOp, vector::TransposeOp, vector::FromElementsOp,
          vector::ToElementsOp, vector::StepOp>(op))
    return success();
  return refuse("a step takes elementwise operations, reductions of floats, "
                "and what moves elements of a vector");
}

LogicalResult StepEvaluator::check(Block &step) {
  for (Operation &op : step) {
    if (failed(checkOperation(op)))
      return failure();
    for (Type type : op.getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type);
          vector && vector.isScalable())
        return op.emitOpError("is not lowered to a SIMT kernel: the size of ")
               << type << " is not known";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Value StepEvaluator::toValue(Coord coord) {
  return coord.isNumber() ? frame.i32(coord.number) : coord.value;
}

Coord StepEvaluator::toCoord(OpFoldResult position) {
  if (std::optional<int64_t> number = getConstantIntValue(position))
    return *number;
  Value index = scalar(cast<Value>(position));
  return Value(arith::IndexCastOp::create(frame.builder, frame.loc,
                                          frame.builder.getI32Type(), index));
}

/// `a op number`, in the preamble where it can be.
template <typename OpTy>
static Coord withNumber(KernelFrame &frame, Coord a, int64_t number) {
  return frame.hoisted({a.value}, [&]() -> Value {
    return OpTy::create(frame.builder, frame.loc, a.value, frame.i32(number));
  });
}

Coord StepEvaluator::add(Coord a, int64_t number) {
  if (a.isNumber())
    return a.number + number;
  return number == 0 ? a : withNumber<arith::AddIOp>(frame, a, number);
}

Coord StepEvaluator::mul(Coord a, int64_t number) {
  if (a.isNumber())
    return a.number * number;
  return number == 1 ? a : withNumber<arith::MulIOp>(frame, a, number);
}

Coord StepEvaluator::div(Coord a, int64_t number) {
  if (a.isNumber())
    return a.number / number;
  return number == 1 ? a : withNumber<arith::DivUIOp>(frame, a, number);
}

Coord StepEvaluator::rem(Coord a, int64_t number) {
  if (a.isNumber())
    return a.number % number;
  if (number == 1)
    return Coord(int64_t(0));
  return withNumber<arith::RemUIOp>(frame, a, number);
}

Coord StepEvaluator::sum(Coord a, Coord b) {
  if (a.isNumber())
    return add(b, a.number);
  if (b.isNumber())
    return add(a, b.number);
  return frame.hoisted({a.value, b.value},
                       [&] { return frame.addI(a.value, b.value); });
}

Coord StepEvaluator::clamp(Coord a, int64_t size) {
  if (a.isNumber())
    return std::clamp(a.number, int64_t(0), size - 1);
  return frame.hoisted({a.value}, [&]() -> Value {
    Value low =
        arith::MaxSIOp::create(frame.builder, frame.loc, a.value, frame.i32(0));
    return frame.minI(low, frame.i32(size - 1));
  });
}

Coord StepEvaluator::linearize(ArrayRef<Coord> at, ArrayRef<int64_t> shape) {
  Coord linear(int64_t(0));
  for (auto [coord, size] : llvm::zip_equal(at, shape))
    linear = sum(mul(linear, size), coord);
  return linear;
}

SmallVector<Coord> StepEvaluator::delinearize(Coord at,
                                              ArrayRef<int64_t> shape) {
  SmallVector<Coord> coords(shape.size(), Coord(int64_t(0)));
  for (size_t i = shape.size(); i-- > 0;) {
    // The first coordinate is what is left.
    coords[i] = i == 0 ? at : rem(at, shape[i]);
    at = div(at, shape[i]);
  }
  return coords;
}

Value StepEvaluator::isWithin(Coord a, int64_t low, int64_t high, bool &never) {
  if (a.isNumber()) {
    never |= a.number < low || a.number >= high;
    return {};
  }
  return frame.hoisted({a.value}, [&]() -> Value {
    // Unsigned, so that one comparison does for both ends.
    Value shifted = arith::SubIOp::create(frame.builder, frame.loc, a.value,
                                          frame.i32(low));
    return arith::CmpIOp::create(frame.builder, frame.loc,
                                 arith::CmpIPredicate::ult, shifted,
                                 frame.i32(high - low));
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value StepEvaluator::reshaped(Value value, ArrayRef<Coord> at) {
  Operation *def = value.getDefiningOp();
  return TypeSwitch<Operation *, Value>(def)
      .Case([&](vector::BroadcastOp op) {
        auto source = dyn_cast<VectorType>(op.getSource().getType());
        if (!source)
          return scalar(op.getSource());
        SmallVector<Coord> coords(at.take_back(source.getRank()));
        for (auto [coord, size] : llvm::zip_equal(coords, source.getShape()))
          if (size == 1)
            coord = Coord(int64_t(0));
        return evaluate(op.getSource(), coords);
      })
      .Case([&](vector::ExtractOp op) {
        SmallVector<Coord> coords;
        for (OpFoldResult position : op.getMixedPosition())
          coords.push_back(toCoord(position));
        coords.append(at.begin(), at.end());
        return evaluate(op.getSource(), coords);
      })
      .Case([&](vector::InsertOp op) { return inserted(op, at); })
      .Case([&](vector::ExtractStridedSliceOp op) {
        SmallVector<Coord> coords(at);
        for (auto [i, offset] : llvm::enumerate(op.getOffsets()))
          coords[i] = add(coords[i], cast<IntegerAttr>(offset).getInt());
        return evaluate(op.getSource(), coords);
      })
      .Case([&](vector::InsertStridedSliceOp op) {
        return insertedSlice(op, at);
      })
      .Case([&](vector::ShuffleOp op) { return shuffled(op, at); })
      .Case([&](vector::ShapeCastOp op) {
        Coord linear = linearize(at, op.getResultVectorType().getShape());
        return evaluate(
            op.getSource(),
            delinearize(linear, op.getSourceVectorType().getShape()));
      })
      .Case([&](vector::TransposeOp op) {
        SmallVector<Coord> coords(at);
        for (auto [i, from] : llvm::enumerate(op.getPermutation()))
          coords[from] = at[i];
        return evaluate(op.getVector(), coords);
      })
      .Case([&](vector::InterleaveOp op) -> Value {
        Coord half = div(at[0], 2), odd = rem(at[0], 2);
        if (odd.isNumber())
          return evaluate(odd.number ? op.getRhs() : op.getLhs(), {half});
        bool never = false;
        Value isOdd = isWithin(odd, 1, 2, never);
        Value right = evaluate(op.getRhs(), {half});
        return frame.select(isOdd, right, evaluate(op.getLhs(), {half}));
      })
      .Case([&](vector::DeinterleaveOp op) {
        unsigned first = cast<OpResult>(value).getResultNumber();
        return evaluate(op.getSource(), {add(mul(at[0], 2), first)});
      })
      .Case([&](vector::FromElementsOp op) { return fromElements(op, at); })
      .Case([&](vector::ToElementsOp op) {
        auto type = cast<VectorType>(op.getSource().getType());
        Coord linear(int64_t(cast<OpResult>(value).getResultNumber()));
        return evaluate(op.getSource(), delinearize(linear, type.getShape()));
      })
      .Case([&](vector::StepOp op) -> Value {
        return arith::IndexCastOp::create(frame.builder, frame.loc,
                                          frame.builder.getIndexType(),
                                          toValue(at[0]));
      });
}

Value StepEvaluator::inserted(vector::InsertOp op, ArrayRef<Coord> at) {
  SmallVector<OpFoldResult> positions = op.getMixedPosition();
  Value inside;
  bool never = false;
  for (auto [position, coord] : llvm::zip(positions, at)) {
    Coord wanted = toCoord(position);
    Value here;
    if (wanted.isNumber())
      here = isWithin(coord, wanted.number, wanted.number + 1, never);
    else
      here = arith::CmpIOp::create(frame.builder, frame.loc,
                                   arith::CmpIPredicate::eq, toValue(coord),
                                   wanted.value);
    if (here)
      inside = inside ? Value(arith::AndIOp::create(frame.builder, frame.loc,
                                                    inside, here))
                      : here;
  }
  ArrayRef<Coord> rest = at.drop_front(positions.size());
  if (never)
    return evaluate(op.getDest(), at);
  Value element = evaluate(op.getValueToStore(), rest);
  if (!inside)
    return element;
  return frame.select(inside, element, evaluate(op.getDest(), at));
}

Value StepEvaluator::insertedSlice(vector::InsertStridedSliceOp op,
                                   ArrayRef<Coord> at) {
  ArrayRef<int64_t> shape = op.getSourceVectorType().getShape();
  size_t leading = at.size() - shape.size();
  Value inside;
  bool never = false;
  SmallVector<Coord> coords;
  for (auto [i, attr] : llvm::enumerate(op.getOffsets())) {
    int64_t offset = cast<IntegerAttr>(attr).getInt();
    int64_t size = i < leading ? 1 : shape[i - leading];
    Value here = isWithin(at[i], offset, offset + size, never);
    if (here)
      inside = inside ? Value(arith::AndIOp::create(frame.builder, frame.loc,
                                                    inside, here))
                      : here;
    if (i >= leading)
      coords.push_back(clamp(add(at[i], -offset), size));
  }
  if (never)
    return evaluate(op.getDest(), at);
  Value element = evaluate(op.getValueToStore(), coords);
  if (!inside)
    return element;
  return frame.select(inside, element, evaluate(op.getDest(), at));
}

Value StepEvaluator::shuffled(vector::ShuffleOp op, ArrayRef<Coord> at) {
  ArrayRef<int64_t> mask = op.getMask();
  int64_t first = op.getV1VectorType().getNumElements();
  auto pick = [&](int64_t index) {
    // An undefined element may be any.
    index = std::max(index, int64_t(0));
    return index < first ? evaluate(op.getV1(), {Coord(index)})
                         : evaluate(op.getV2(), {Coord(index - first)});
  };
  if (at[0].isNumber())
    return pick(mask[at[0].number]);
  Coord source(int64_t(0));
  bool consecutive = true;
  for (auto [i, index] : llvm::enumerate(mask))
    consecutive &= index == mask[0] + int64_t(i);
  if (consecutive) {
    source = add(at[0], mask[0]);
  } else {
    SmallVector<int32_t> indices;
    for (int64_t index : mask)
      indices.push_back(std::max(index, int64_t(0)));
    auto type =
        VectorType::get(int64_t(mask.size()), frame.builder.getI32Type());
    source =
        lookUp(DenseElementsAttr::get(type, ArrayRef<int32_t>(indices)), at[0]);
  }
  bool never = false;
  if (llvm::all_of(mask, [&](int64_t index) { return index < first; }))
    return evaluate(op.getV1(), {source});
  Coord second = add(source, -first);
  if (llvm::all_of(mask, [&](int64_t index) { return index >= first; }))
    return evaluate(op.getV2(), {second});
  Value isFirst = isWithin(source, 0, first, never);
  Value left = evaluate(op.getV1(), {clamp(source, first)});
  Value right = evaluate(
      op.getV2(), {clamp(second, op.getV2VectorType().getNumElements())});
  return frame.select(isFirst, left, right);
}

Value StepEvaluator::fromElements(vector::FromElementsOp op,
                                  ArrayRef<Coord> at) {
  auto type = cast<VectorType>(op.getType());
  Coord linear = linearize(at, type.getShape());
  if (linear.isNumber())
    return scalar(op.getElements()[linear.number]);
  Value result = scalar(op.getElements().back());
  for (int64_t i = type.getNumElements() - 1; i-- > 0;) {
    bool never = false;
    Value here = isWithin(linear, i, i + 1, never);
    result = frame.select(here, scalar(op.getElements()[i]), result);
  }
  return result;
}

Value StepEvaluator::lookUp(DenseElementsAttr numbers, Coord at) {
  OpBuilder &builder = frame.builder;
  constexpr unsigned kGlobal = 1;
  Type element = numbers.getElementType();
  bool isBool = element.isInteger(1);
  Type stored = element;
  if (isBool) {
    // One byte each: a table of bits is packed.
    SmallVector<int8_t> bytes;
    for (bool bit : numbers.getValues<bool>())
      bytes.push_back(bit);
    stored = builder.getI8Type();
    numbers = DenseElementsAttr::get(
        cast<ShapedType>(numbers.getType().clone(stored)),
        ArrayRef<int8_t>(bytes));
  } else if (isa<IndexType>(element)) {
    stored = builder.getI64Type();
    SmallVector<int64_t> wide;
    for (const APInt &number : numbers.getValues<APInt>())
      wide.push_back(number.getSExtValue());
    numbers = DenseElementsAttr::get(
        cast<ShapedType>(numbers.getType().clone(stored)),
        ArrayRef<int64_t>(wide));
  }
  numbers = numbers.reshape(
      RankedTensorType::get({numbers.getNumElements()}, stored));
  auto type = LLVM::LLVMArrayType::get(stored, numbers.getNumElements());
  std::string &symbol = frame.tables[numbers];
  if (symbol.empty()) {
    Operation *kernel = frame.preambleEnd->getParentOfType<LLVM::LLVMFuncOp>();
    symbol = (cast<LLVM::LLVMFuncOp>(kernel).getName() + "_table_" +
              Twine(frame.tables.size() - 1))
                 .str();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(kernel);
    LLVM::GlobalOp::create(builder, frame.loc, type, /*isConstant=*/true,
                           LLVM::Linkage::Internal, symbol, numbers,
                           /*alignment=*/0, kGlobal);
  }
  Value array = LLVM::AddressOfOp::create(
      builder, frame.loc,
      LLVM::LLVMPointerType::get(builder.getContext(), kGlobal), symbol);
  Value loaded = frame.load(stored, frame.advance(array, stored, toValue(at)));
  if (isBool)
    return arith::TruncIOp::create(builder, frame.loc, element, loaded);
  if (isa<IndexType>(element))
    return arith::IndexCastOp::create(builder, frame.loc, element, loaded);
  return loaded;
}
