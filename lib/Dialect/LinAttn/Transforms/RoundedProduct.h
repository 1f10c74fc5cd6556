//===- RoundedProduct.h - products of rounded operands ----------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_ROUNDEDPRODUCT_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_ROUNDEDPRODUCT_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/IR/Builders.h"

namespace linattn {

/// The tile in another float type; as it is if it has that one.
mlir::Value convertFloats(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value tile, mlir::Type element);

mlir::Value transposeMatrix(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value matrix);

/// What stands for an operand of a product: itself in the type of the
/// arithmetic (f32), its 16-bit rounding, or that and the rounding of what was
/// lost (bf16x2). One that had 16 bits before is exact and not rounded again.
llvm::SmallVector<mlir::Value>
roundOperand(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value operand,
             mlir::Type compute, MmaPrecision precision);

/// outs + a b, each operand rounded as above.
mlir::Value roundedProduct(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value a, mlir::Value b, mlir::Value outs,
                           MmaPrecision precision);

/// The same of operands that are rounded: their terms, the larger first.
mlir::Value roundedProduct(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::ValueRange left, mlir::ValueRange right,
                           mlir::Value outs);

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_ROUNDEDPRODUCT_H
