//===- AffineForms.h - values of a step as c + sum_j b_j r_j ----*- C++ -*-===//

#ifndef LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_AFFINEFORMS_H
#define LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_AFFINEFORMS_H

#include "linattn/Dialect/LinAttn/Analysis/NormalForm.h"

namespace linattn {

/// What is known of a value that depends on the state.
struct StateDependence {
  /// A read that it depends on.
  mlir::Operation *read = nullptr;
  /// The operation that made it something else than affine, and why; null
  /// where it is c + sum_j b_j r_j.
  mlir::Operation *breaker = nullptr;
  llvm::StringRef reason = {};
  const Coefficient *constant = nullptr;
  llvm::SmallVector<StepEvent::Term, 2> terms = {};
};

/// Follows affine forms through the arithmetic of a step.
class AffineForms {
public:
  AffineForms(CoefficientPool &pool, const UniformVectors &uniform)
      : pool(pool), uniform(uniform) {}

  /// Null where the value is free of the state.
  const StateDependence *lookup(mlir::Value value) const;
  /// The first operand that depends on the state.
  const StateDependence *lookupOperands(mlir::Operation *op) const;

  /// r_j = the read itself.
  void addRead(mlir::Operation *read, unsigned event);
  /// Finds the forms of the results from those of the operands.
  void addResults(mlir::Operation *op);

  /// The coefficient of a value that is free of the state.
  const Coefficient *getFree(mlir::Value value);

private:
  using Form = StateDependence;
  Form transfer(mlir::Operation *op);
  Form get(mlir::Value value);
  Form broken(mlir::Operation *op, llvm::StringRef reason) const;
  Form combine(const Form &x, const Form &y,
               llvm::function_ref<const Coefficient *(const Coefficient *,
                                                      const Coefficient *)>
                   fn);
  Form map(const Form &x,
           llvm::function_ref<const Coefficient *(const Coefficient *)> fn);
  Form mul(mlir::Operation *op, mlir::Value x, mlir::Value y);
  Form reshape(mlir::Operation *op, llvm::StringRef reason);

  CoefficientPool &pool;
  const UniformVectors &uniform;
  llvm::DenseMap<mlir::Value, StateDependence> forms;
};

} // namespace linattn

#endif // LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_AFFINEFORMS_H
