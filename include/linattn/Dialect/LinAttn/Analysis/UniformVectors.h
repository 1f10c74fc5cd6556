//===- UniformVectors.h - vectors whose elements are equal ------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_ANALYSIS_UNIFORMVECTORS_H
#define LINATTN_DIALECT_LINATTN_ANALYSIS_UNIFORMVECTORS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace linattn {

/// Finds the vectors of a block whose elements are all one number: broadcasts
/// and splats, and elementwise arithmetic on them. A rate that was broadcast
/// before it was negated is still one rate for all value columns.
class UniformVectors {
public:
  explicit UniformVectors(mlir::Block &block);

  /// Scalars are uniform.
  bool isUniform(mlir::Value value) const;

  /// The one number that a uniform value holds; repeats arithmetic on scalars
  /// where it must. `known` keeps what was built.
  mlir::Value
  buildScalar(mlir::OpBuilder &builder, mlir::Value value,
              llvm::DenseMap<mlir::Value, mlir::Value> &known) const;

private:
  /// Uniform vectors, and how many operations buildScalar repeats in a row.
  llvm::DenseMap<mlir::Value, unsigned> depths;
};

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_ANALYSIS_UNIFORMVECTORS_H
