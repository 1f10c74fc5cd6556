//===- CoefficientBuilder.cpp - coefficients as arithmetic ----------------===//

#include "linattn/Dialect/LinAttn/Transforms/CoefficientBuilder.h"
#include "linattn/Dialect/LinAttn/Transforms/StepBuilders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace linattn;

using Kind = Coefficient::Kind;

/// Number of value columns of a coefficient that differs between them.
static VectorType
getColumns(const Coefficient *node, Type element,
           const DenseMap<std::pair<const Coefficient *, Type>, Value> &built) {
  if (node->kind == Kind::Value) {
    auto type = cast<VectorType>(node->value.getType());
    return VectorType::get({type.getNumElements()}, element);
  }
  if (node->kind == Kind::Select && node->conditionPerColumn) {
    auto type = cast<VectorType>(node->value.getType());
    return VectorType::get({type.getNumElements()}, element);
  }
  for (const Coefficient *operand : {node->lhs, node->rhs})
    if (operand && operand->perColumn)
      return cast<VectorType>(built.lookup({operand, element}).getType());
  return {};
}

Value CoefficientBuilder::getBuilt(OpBuilder &builder, Location loc,
                                   const Coefficient *node, Type like) {
  auto vector = dyn_cast<VectorType>(like);
  Type element = getElementTypeOrSelf(like);
  if (!vector || node->perColumn)
    return built.lookup({node, element});
  Value &value = built[{node, like}];
  if (value)
    return value;
  if (node->kind == Kind::Constant)
    return value = constantLike(builder, loc, like, node->constant);
  return value = shapeLike(builder, loc, vector, built.lookup({node, element}));
}

Value CoefficientBuilder::buildNode(OpBuilder &builder, Location loc,
                                    const Coefficient *node, Type element) {
  Type type = element;
  if (node->perColumn)
    type = getColumns(node, element, built);
  auto operand = [&](const Coefficient *x) {
    return getBuilt(builder, loc, x, type);
  };
  switch (node->kind) {
  case Kind::Value: {
    Value value = node->value;
    if (!node->perColumn)
      value = buildScalar(builder, value);
    else
      value = shapeLike(builder, loc, cast<VectorType>(type), value);
    return convertElements(builder, loc, value, element);
  }
  case Kind::Constant:
    return constantLike(builder, loc, element, node->constant);
  case Kind::Neg:
    return arith::NegFOp::create(builder, loc, operand(node->lhs));
  case Kind::Add: {
    Value lhs = operand(node->lhs);
    // x - y as it was written, not x + (-y).
    if (node->rhs->kind == Kind::Neg)
      return arith::SubFOp::create(builder, loc, lhs, operand(node->rhs->lhs));
    return arith::AddFOp::create(builder, loc, lhs, operand(node->rhs));
  }
  case Kind::Mul: {
    Value lhs = operand(node->lhs);
    return arith::MulFOp::create(builder, loc, lhs, operand(node->rhs));
  }
  case Kind::Div: {
    Value lhs = operand(node->lhs);
    return arith::DivFOp::create(builder, loc, lhs, operand(node->rhs));
  }
  case Kind::Select: {
    Value condition = node->value;
    if (!node->conditionPerColumn)
      condition = buildScalar(builder, condition);
    else
      condition = shapeLike(builder, loc, cast<VectorType>(type), condition);
    Value lhs = operand(node->lhs);
    return arith::SelectOp::create(builder, loc, condition, lhs,
                                   operand(node->rhs));
  }
  }
  return {};
}

Value CoefficientBuilder::build(OpBuilder &builder, Location loc,
                                const Coefficient *coefficient, Type element) {
  // Operands stand before users in the pool, so that no recursion is needed.
  const CoefficientPool &pool = form.getPool();
  std::vector<bool> needed(coefficient->index + 1, false);
  needed[coefficient->index] = true;
  for (unsigned i = coefficient->index + 1; i-- > 0;)
    if (needed[i] && !built.contains({pool[i], element}))
      for (const Coefficient *operand : {pool[i]->lhs, pool[i]->rhs})
        if (operand)
          needed[operand->index] = true;
  for (unsigned i = 0; i <= coefficient->index; ++i)
    if (needed[i] && !built.contains({pool[i], element}))
      built[{pool[i], element}] = buildNode(builder, loc, pool[i], element);
  return built.lookup({coefficient, element});
}

Value CoefficientBuilder::buildVector(OpBuilder &builder, Location loc,
                                      const Coefficient *coefficient,
                                      VectorType type) {
  // A vector of equal numbers is there already.
  if (coefficient->kind == Kind::Value && !coefficient->perColumn &&
      isa<VectorType>(coefficient->value.getType())) {
    Value value = shapeLike(builder, loc, type, coefficient->value);
    return convertElements(builder, loc, value, type.getElementType());
  }
  if (coefficient->kind == Kind::Constant)
    return getBuilt(builder, loc, coefficient, type);
  build(builder, loc, coefficient, type.getElementType());
  return getBuilt(builder, loc, coefficient, type);
}
