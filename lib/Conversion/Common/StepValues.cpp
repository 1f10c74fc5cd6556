//===- StepValues.cpp - values of a token in memory -----------------------===//

#include "linattn/Conversion/StepValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace linattn;

void linattn::forEachPiece(int64_t columns, int64_t width,
                           llvm::function_ref<void(int64_t, int64_t)> fn) {
  for (int64_t at = 0; at < columns; at += width)
    fn(at, std::min(width, columns - at));
}

/// The indices of row `i` of a vector [.., D], the last of them 0.
static SmallVector<Value> rowIndices(OpBuilder &builder, Location loc,
                                     ArrayRef<Value> at, VectorType type,
                                     int64_t i) {
  SmallVector<Value> indices(at);
  if (type.getRank() == 2)
    indices.push_back(arith::ConstantIndexOp::create(builder, loc, i));
  indices.push_back(arith::ConstantIndexOp::create(builder, loc, 0));
  return indices;
}

Value linattn::loadStepValue(OpBuilder &builder, Location loc, Type type,
                             Value buffer, ArrayRef<Value> at) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return memref::LoadOp::create(builder, loc, buffer, at);
  VectorType row =
      VectorType::get(vector.getShape().take_back(1), vector.getElementType());
  if (vector.getRank() == 1)
    return vector::LoadOp::create(builder, loc, row, buffer,
                                  rowIndices(builder, loc, at, vector, 0));
  Value result = arith::ConstantOp::create(builder, loc, vector,
                                           builder.getZeroAttr(vector));
  for (int64_t i : llvm::seq(vector.getDimSize(0))) {
    Value part = vector::LoadOp::create(
        builder, loc, row, buffer, rowIndices(builder, loc, at, vector, i));
    result = vector::InsertOp::create(builder, loc, part, result, i);
  }
  return result;
}

void linattn::storeStepValue(OpBuilder &builder, Location loc, Value value,
                             Value buffer, ArrayRef<Value> at) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector) {
    memref::StoreOp::create(builder, loc, value, buffer, at);
    return;
  }
  if (vector.getRank() == 1) {
    vector::StoreOp::create(builder, loc, value, buffer,
                            rowIndices(builder, loc, at, vector, 0));
    return;
  }
  for (int64_t i : llvm::seq(vector.getDimSize(0))) {
    Value row = vector::ExtractOp::create(builder, loc, value, i);
    vector::StoreOp::create(builder, loc, row, buffer,
                            rowIndices(builder, loc, at, vector, i));
  }
}
