//===- CoefficientBuilder.h - coefficients as arithmetic --------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_COEFFICIENTBUILDER_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_COEFFICIENTBUILDER_H

#include "linattn/Dialect/LinAttn/Analysis/NormalForm.h"

namespace linattn {

/// Writes coefficients of a normal form as arith, in f32 or f64. What was
/// written once is used again, so the insertion point may only move down.
class CoefficientBuilder {
public:
  explicit CoefficientBuilder(const NormalForm &form) : form(form) {}

  /// One number, or a vector of rank 1 where the coefficient differs between
  /// columns.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc,
                    const Coefficient *coefficient, mlir::Type element);

  /// The coefficient for each of the columns of `type`.
  mlir::Value buildVector(mlir::OpBuilder &builder, mlir::Location loc,
                          const Coefficient *coefficient,
                          mlir::VectorType type);

  /// The one number that a uniform value of the step holds.
  mlir::Value buildScalar(mlir::OpBuilder &builder, mlir::Value value) {
    return form.getUniformVectors().buildScalar(builder, value, scalars);
  }

private:
  mlir::Value buildNode(mlir::OpBuilder &builder, mlir::Location loc,
                        const Coefficient *node, mlir::Type element);
  /// What `node` became, as a scalar or in the columns of `like`.
  mlir::Value getBuilt(mlir::OpBuilder &builder, mlir::Location loc,
                       const Coefficient *node, mlir::Type like);

  const NormalForm &form;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<std::pair<const Coefficient *, mlir::Type>, mlir::Value> built;
};

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_COEFFICIENTBUILDER_H
