//===- Coefficient.h - expressions that are free of the state ---*- C++ -*-===//
//
// Part of linattn. The c and b_j of a write k (c + sum_j b_j r_j)^T.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_ANALYSIS_COEFFICIENT_H
#define LINATTN_DIALECT_LINATTN_ANALYSIS_COEFFICIENT_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <vector>

namespace linattn {

/// An expression over values of a step. It is elementwise, so it is either one
/// number for all value columns or one per column. A null pointer is the
/// coefficient that is not there: 0, without arithmetic.
struct Coefficient {
  enum class Kind { Value, Constant, Neg, Add, Mul, Div, Select };
  Kind kind;
  /// Place in the pool; operands stand before their users.
  unsigned index;
  /// Whether it may differ between value columns.
  bool perColumn = false;
  /// The value itself; of a selection the condition, an i1 or a vector of them.
  mlir::Value value = {};
  /// Whether a selection's condition differs between columns.
  bool conditionPerColumn = false;
  double constant = 0;
  const Coefficient *lhs = nullptr;
  const Coefficient *rhs = nullptr;

  bool isConstant(double wanted) const {
    return kind == Kind::Constant && constant == wanted;
  }
};

/// Makes and owns coefficients. Simplifies only what keeps every bit: signs,
/// factors of 1 and sums with 0.
class CoefficientPool {
public:
  using Ref = const Coefficient *;

  Ref value(mlir::Value value, bool perColumn);
  Ref constant(double value);
  Ref neg(Ref x);
  Ref add(Ref x, Ref y);
  Ref sub(Ref x, Ref y) { return add(x, neg(y)); }
  Ref mul(Ref x, Ref y);
  /// `y` is there.
  Ref div(Ref x, Ref y);
  Ref select(mlir::Value condition, bool conditionPerColumn, Ref x, Ref y);

  unsigned size() const { return nodes.size(); }
  Ref operator[](unsigned index) const { return nodes[index].get(); }

private:
  Coefficient &make(Coefficient::Kind kind, Ref x = nullptr, Ref y = nullptr);

  std::vector<std::unique_ptr<Coefficient>> nodes;
  llvm::DenseMap<mlir::Value, Ref> leaves;
};

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_ANALYSIS_COEFFICIENT_H
