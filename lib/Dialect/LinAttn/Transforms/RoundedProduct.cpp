//===- RoundedProduct.cpp - products of rounded operands ------------------===//

#include "RoundedProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;

Value linattn::convertFloats(OpBuilder &builder, Location loc, Value tile,
                             Type element) {
  auto type = cast<RankedTensorType>(tile.getType());
  unsigned have = type.getElementTypeBitWidth();
  unsigned want = element.getIntOrFloatBitWidth();
  if (type.getElementType() == element)
    return tile;
  if (have == want) // bf16 and f16
    return convertFloats(
        builder, loc, convertFloats(builder, loc, tile, builder.getF32Type()),
        element);
  if (have < want)
    return arith::ExtFOp::create(builder, loc, type.clone(element), tile);
  return arith::TruncFOp::create(builder, loc, type.clone(element), tile);
}

Value linattn::transposeMatrix(OpBuilder &builder, Location loc, Value matrix) {
  auto type = cast<RankedTensorType>(matrix.getType());
  Value init = tensor::EmptyOp::create(
      builder, loc, ArrayRef<int64_t>{type.getDimSize(1), type.getDimSize(0)},
      type.getElementType());
  return linalg::TransposeOp::create(builder, loc, matrix, init,
                                     ArrayRef<int64_t>{1, 0})
      ->getResult(0);
}

SmallVector<Value> linattn::roundOperand(OpBuilder &builder, Location loc,
                                         Value operand, Type compute,
                                         MmaPrecision precision) {
  auto convert = [&](Value tile, Type element) {
    return convertFloats(builder, loc, tile, element);
  };
  Type narrow;
  if (precision == MmaPrecision::BF16 || precision == MmaPrecision::BF16x2)
    narrow = builder.getBF16Type();
  else if (precision == MmaPrecision::F16)
    narrow = builder.getF16Type();
  else
    return {convert(operand, compute)};
  if (auto widened = operand.getDefiningOp<arith::ExtFOp>())
    if (getElementTypeOrSelf(widened.getIn().getType()) == narrow)
      return {widened.getIn()};
  Value high = convert(operand, narrow);
  if (high == operand || precision != MmaPrecision::BF16x2)
    return {high};
  Value wide = convert(operand, compute);
  Value rest =
      arith::SubFOp::create(builder, loc, wide, convert(high, compute));
  return {high, convert(rest, narrow)};
}

Value linattn::roundedProduct(OpBuilder &builder, Location loc, Value a,
                              Value b, Value outs, MmaPrecision precision) {
  Type compute = getElementTypeOrSelf(outs.getType());
  SmallVector<Value> left = roundOperand(builder, loc, a, compute, precision);
  SmallVector<Value> right = roundOperand(builder, loc, b, compute, precision);
  return roundedProduct(builder, loc, left, right, outs);
}

Value linattn::roundedProduct(OpBuilder &builder, Location loc, ValueRange left,
                              ValueRange right, Value outs) {
  for (auto [i, x] : llvm::enumerate(left))
    for (auto [j, y] : llvm::enumerate(right))
      // The product of both second terms is below the sum's rounding.
      if (i + j < 2)
        outs = linalg::MatmulOp::create(builder, loc, outs.getType(),
                                        ValueRange{x, y}, outs)
                   .getResult(0);
  return outs;
}
