//===- UniformVectors.cpp - vectors whose elements are equal --------------===//

#include "linattn/Dialect/LinAttn/Analysis/UniformVectors.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace linattn;

/// Bounds the recursion of buildScalar.
static constexpr unsigned kMaxDepth = 64;

/// Elementwise operations that have a scalar form.
static bool isElementwise(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  if (isa<SigmoidOp, SoftplusOp, SiLUOp>(op))
    return true;
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op->getDialect()) &&
         OpTrait::hasElementwiseMappableTraits(op);
}

static bool isSingleElement(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && !vector.isScalable() && vector.getNumElements() == 1;
}

UniformVectors::UniformVectors(Block &block) {
  for (Operation &op : block) {
    if (op.getNumResults() != 1 || !isa<VectorType>(op.getResult(0).getType()))
      continue;
    Value result = op.getResult(0);
    DenseElementsAttr constant;
    if (matchPattern(result, m_Constant(&constant))) {
      if (constant.isSplat())
        depths[result] = 0;
      continue;
    }
    if (!isa<vector::BroadcastOp, vector::ShapeCastOp>(op) &&
        !isElementwise(&op))
      continue;
    unsigned depth = 0;
    bool uniform = llvm::all_of(op.getOperands(), [&](Value operand) {
      if (!isUniform(operand))
        return false;
      auto it = depths.find(operand);
      if (it != depths.end())
        depth = std::max(depth, it->second + 1);
      return true;
    });
    if (uniform && depth <= kMaxDepth)
      depths[result] = depth;
  }
}

bool UniformVectors::isUniform(Value value) const {
  return !isa<VectorType>(value.getType()) ||
         isSingleElement(value.getType()) || depths.contains(value);
}

Value UniformVectors::buildScalar(OpBuilder &builder, Value value,
                                  DenseMap<Value, Value> &known) const {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return value;
  if (Value scalar = known.lookup(value))
    return scalar;
  Location loc = value.getLoc();
  Operation *op = depths.contains(value) ? value.getDefiningOp() : nullptr;
  Value scalar;
  DenseElementsAttr constant;
  if (!op) {
    SmallVector<int64_t> first(type.getRank(), 0);
    scalar = vector::ExtractOp::create(builder, loc, value, first);
  } else if (matchPattern(value, m_Constant(&constant))) {
    scalar = arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(constant.getSplatValue<Attribute>()));
  } else if (isa<vector::BroadcastOp, vector::ShapeCastOp>(op)) {
    scalar = buildScalar(builder, op->getOperand(0), known);
  } else {
    OperationState state(loc, op->getName());
    for (Value operand : op->getOperands())
      state.addOperands(buildScalar(builder, operand, known));
    state.addTypes(type.getElementType());
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    scalar = builder.create(state)->getResult(0);
  }
  known[value] = scalar;
  return scalar;
}
