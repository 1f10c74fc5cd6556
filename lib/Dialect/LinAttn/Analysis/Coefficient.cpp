//===- Coefficient.cpp - expressions that are free of the state -----------===//

#include "linattn/Dialect/LinAttn/Analysis/Coefficient.h"

using namespace linattn;
using Kind = Coefficient::Kind;
using Ref = CoefficientPool::Ref;

Coefficient &CoefficientPool::make(Kind kind, Ref x, Ref y) {
  auto node = std::make_unique<Coefficient>();
  node->kind = kind;
  node->index = nodes.size();
  node->perColumn = (x && x->perColumn) || (y && y->perColumn);
  node->lhs = x;
  node->rhs = y;
  nodes.push_back(std::move(node));
  return *nodes.back();
}

Ref CoefficientPool::value(mlir::Value value, bool perColumn) {
  Ref &leaf = leaves[value];
  if (!leaf) {
    Coefficient &node = make(Kind::Value);
    node.value = value;
    node.perColumn = perColumn;
    leaf = &node;
  }
  return leaf;
}

Ref CoefficientPool::constant(double value) {
  Coefficient &node = make(Kind::Constant);
  node.constant = value;
  return &node;
}

Ref CoefficientPool::neg(Ref x) {
  if (!x)
    return x;
  if (x->kind == Kind::Constant)
    return constant(-x->constant);
  if (x->kind == Kind::Neg)
    return x->lhs;
  return &make(Kind::Neg, x);
}

Ref CoefficientPool::add(Ref x, Ref y) {
  if (!x || x->isConstant(0))
    return y ? y : x;
  if (!y || y->isConstant(0))
    return x;
  if (x->kind == Kind::Constant && y->kind == Kind::Constant)
    return constant(x->constant + y->constant);
  return &make(Kind::Add, x, y);
}

Ref CoefficientPool::mul(Ref x, Ref y) {
  if (!x || !y)
    return nullptr;
  if (x->kind == Kind::Constant && y->kind == Kind::Constant)
    return constant(x->constant * y->constant);
  for (auto [one, other] : {std::pair(x, y), std::pair(y, x)}) {
    if (one->isConstant(1))
      return other;
    if (one->isConstant(-1))
      return neg(other);
  }
  if (x->kind == Kind::Neg)
    return neg(mul(x->lhs, y));
  if (y->kind == Kind::Neg)
    return neg(mul(x, y->lhs));
  return &make(Kind::Mul, x, y);
}

Ref CoefficientPool::div(Ref x, Ref y) {
  if (!x || y->isConstant(1))
    return x;
  if (y->isConstant(-1))
    return neg(x);
  if (x->kind == Kind::Neg)
    return neg(div(x->lhs, y));
  if (y->kind == Kind::Neg)
    return neg(div(x, y->lhs));
  return &make(Kind::Div, x, y);
}

Ref CoefficientPool::select(mlir::Value condition, bool conditionPerColumn,
                            Ref x, Ref y) {
  if (x == y)
    return x;
  Coefficient &node =
      make(Kind::Select, x ? x : constant(0.0), y ? y : constant(0.0));
  node.value = condition;
  node.conditionPerColumn = conditionPerColumn;
  node.perColumn |= conditionPerColumn;
  return &node;
}
