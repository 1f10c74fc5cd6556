//===- StepBuilders.cpp - arithmetic on values of a step ------------------===//

#include "linattn/Dialect/LinAttn/Transforms/StepBuilders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

Value linattn::convertElements(OpBuilder &builder, Location loc, Value value,
                               Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  unsigned width = from.getIntOrFloatBitWidth();
  if (width < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  if (width > element.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, type, value);
  // Two types of the same width (bf16, f16): through f32.
  return convertElements(
      builder, loc, convertElements(builder, loc, value, builder.getF32Type()),
      element);
}

Value linattn::constantLike(OpBuilder &builder, Location loc, Type type,
                            APFloat value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  bool lost = false;
  value.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                &lost);
  TypedAttr attr = FloatAttr::get(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, loc, attr);
}

Value linattn::constantLike(OpBuilder &builder, Location loc, Type type,
                            double value) {
  return constantLike(builder, loc, type, APFloat(value));
}

Value linattn::shapeLike(OpBuilder &builder, Location loc, VectorType type,
                         Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  VectorType wanted = type.clone(element);
  if (value.getType() == wanted)
    return value;
  if (!isa<VectorType>(value.getType()))
    return vector::BroadcastOp::create(builder, loc, wanted, value);
  return vector::ShapeCastOp::create(builder, loc, wanted, value);
}
