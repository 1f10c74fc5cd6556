//===- TileRegionBuilder.cpp - tensor code of an attention tile -----------===//

#include "TileRegionBuilder.h"

#include "RoundedProduct.h"

using namespace mlir;
using namespace linattn;

static RankedTensorType typeOf(Value tile) {
  return cast<RankedTensorType>(tile.getType());
}

Value TileRegionBuilder::splat(Type type, double value) {
  auto tile = cast<RankedTensorType>(type);
  auto number = builder.getFloatAttr(tile.getElementType(), value);
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(tile, Attribute(number)));
}

Value TileRegionBuilder::zeros(ArrayRef<int64_t> shape) {
  return splat(RankedTensorType::get(shape, compute), 0);
}

Value TileRegionBuilder::convert(Value tile, Type element) {
  return convertFloats(builder, loc, tile, element);
}

Value TileRegionBuilder::transpose(Value matrix) {
  return transposeMatrix(builder, loc, matrix);
}

Value TileRegionBuilder::product(Value a, Value b, Value outs) {
  return roundedProduct(builder, loc, a, b, outs, precision);
}

Value TileRegionBuilder::sigmoid(Value x) {
  Value e = exp(unary<arith::NegFOp>(unary<math::AbsFOp>(x)));
  Value one = splat(x.getType(), 1);
  Value small = div(one, add(one, e));
  return select(compare(arith::CmpFPredicate::OGE, x, 0), small, mul(e, small));
}

Value TileRegionBuilder::repeat(Value tile, Value like, int64_t dimension) {
  Value init = tensor::EmptyOp::create(builder, loc, typeOf(like).getShape(),
                                       typeOf(tile).getElementType());
  return linalg::BroadcastOp::create(builder, loc, tile, init,
                                     ArrayRef<int64_t>{dimension})
      ->getResult(0);
}

Value TileRegionBuilder::reduceRows(Value x, Value onto, bool maximum) {
  return linalg::ReduceOp::create(
             builder, loc, ValueRange{x}, ValueRange{onto},
             ArrayRef<int64_t>{1},
             [&](OpBuilder &b, Location at, ValueRange args) {
               Value next;
               if (maximum)
                 next = arith::MaximumFOp::create(b, at, args[0], args[1]);
               else
                 next = arith::AddFOp::create(b, at, args[0], args[1]);
               linalg::YieldOp::create(b, at, next);
             })
      ->getResult(0);
}

Value TileRegionBuilder::elementwise(
    ValueRange inputs,
    llvm::function_ref<void(OpBuilder &, Location, ValueRange)> body) {
  RankedTensorType type = typeOf(inputs[0]);
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, type, inputs, init, maps,
                                   iterators, body)
      .getResult(0);
}

Value TileRegionBuilder::headOfMap(Value head, int64_t m) {
  Value two = arith::ConstantIndexOp::create(builder, loc, 2);
  Value map = arith::ConstantIndexOp::create(builder, loc, m);
  return arith::AddIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, head, two), map);
}

Value TileRegionBuilder::readNumber(Value tensor, Value at, int64_t rows) {
  Value number = tensor::ExtractOp::create(builder, loc, tensor,
                                           at ? ValueRange{at} : ValueRange{});
  Type element = number.getType();
  Value init =
      tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{rows}, element);
  Value tile = linalg::FillOp::create(builder, loc, number, init).getResult(0);
  return convert(tile, compute);
}
