//===- StepBuilders.h - arithmetic on values of a step ----------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_STEPBUILDERS_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_STEPBUILDERS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace linattn {

/// The scalar or vector with elements of `element`: widened, rounded, or as it
/// is.
mlir::Value convertElements(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, mlir::Type element);

/// A scalar or a splat, rounded to the type's elements.
mlir::Value constantLike(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type type, llvm::APFloat value);
mlir::Value constantLike(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type type, double value);

/// The value as a vector of `type`: a scalar broadcast, a vector of as many
/// elements reshaped.
mlir::Value shapeLike(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::VectorType type, mlir::Value value);

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_STEPBUILDERS_H
