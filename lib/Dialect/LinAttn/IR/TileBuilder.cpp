//===- TileBuilder.cpp - tensor code of a chunk ---------------------------===//

#include "TileBuilder.h"

using namespace mlir;
using namespace linattn;

Value TileBuilder::constant(Type type, double value) {
  Attribute number = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(b, loc, shaped,
                                     DenseElementsAttr::get(shaped, number));
  return arith::ConstantOp::create(b, loc, type, cast<TypedAttr>(number));
}

Value TileBuilder::zeros(ArrayRef<int64_t> shape, Type element) {
  Value zero = constant(element, 0);
  return linalg::FillOp::create(b, loc, zero, empty(shape, element))
      .getResult(0);
}

Value TileBuilder::transpose(Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  Value init =
      empty({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
  return linalg::TransposeOp::create(b, loc, matrix, init,
                                     ArrayRef<int64_t>{1, 0})
      ->getResult(0);
}

Value TileBuilder::slice(Value matrix, OpFoldResult at, OpFoldResult rows,
                         OpFoldResult column, OpFoldResult columns) {
  return tensor::ExtractSliceOp::create(
      b, loc, matrix, ArrayRef<OpFoldResult>{at, column},
      ArrayRef<OpFoldResult>{rows, columns},
      ArrayRef<OpFoldResult>{attr(1), attr(1)});
}

Value TileBuilder::insert(Value part, Value matrix, OpFoldResult at,
                          OpFoldResult column) {
  auto type = cast<RankedTensorType>(part.getType());
  return tensor::InsertSliceOp::create(
      b, loc, part, matrix, ArrayRef<OpFoldResult>{at, column},
      ArrayRef<OpFoldResult>{attr(type.getDimSize(0)),
                             attr(type.getDimSize(1))},
      ArrayRef<OpFoldResult>{attr(1), attr(1)});
}

Value TileBuilder::readRow(Value matrix, Value row, Value column,
                           int64_t width) {
  auto element = cast<RankedTensorType>(matrix.getType()).getElementType();
  return vector::TransferReadOp::create(
      b, loc, VectorType::get({width}, element), matrix,
      ValueRange{row, column}, constant(element, 0), ArrayRef<bool>{true});
}

Value TileBuilder::writeRow(Value vector, Value matrix, Value row,
                            Value column) {
  return vector::TransferWriteOp::create(b, loc, vector, matrix,
                                         ValueRange{row, column},
                                         ArrayRef<bool>{true})
      .getResult();
}

SmallVector<Value> TileBuilder::loop(
    int64_t count, ValueRange init, bool reverse,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop =
      scf::ForOp::create(b, loc, index(0), index(count), index(1), init);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    if (reverse)
      i = arith::SubIOp::create(b, loc, index(count - 1), i);
    SmallVector<Value> next = body(i, loop.getRegionIterArgs());
    scf::YieldOp::create(b, loc, next);
  }
  return SmallVector<Value>(loop.getResults());
}

Value TileBuilder::pieces(
    int64_t size, int64_t piece, Value init, bool reverse,
    llvm::function_ref<Value(Value, int64_t, Value)> body) {
  int64_t whole = size / piece, rest = size % piece;
  auto emitRest = [&](Value carried) {
    return rest == 0 ? carried : body(index(whole * piece), rest, carried);
  };
  if (reverse)
    init = emitRest(init);
  if (whole == 1)
    init = body(index(0), piece, init);
  else if (whole > 1)
    init = loop(whole, init, reverse,
                [&](Value i, ValueRange args) -> SmallVector<Value> {
                  Value at = arith::MulIOp::create(b, loc, i, index(piece));
                  return {body(at, piece, args[0])};
                })
               .front();
  return reverse ? init : emitRest(init);
}
