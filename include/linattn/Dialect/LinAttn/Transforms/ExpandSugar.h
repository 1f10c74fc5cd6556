//===- ExpandSugar.h - expansions of the shorthand operations ---*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_EXPANDSUGAR_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_EXPANDSUGAR_H

namespace mlir {
class Operation;
class RewritePatternSet;
} // namespace mlir

namespace linattn {

/// `delta_update` as read, arithmetic and write.
void populateExpandDeltaUpdatePatterns(mlir::RewritePatternSet &patterns);

/// All shorthand operations in arith, math and vector, and read and write;
/// constants with the digits that are used.
void populateExpandSugarPatterns(mlir::RewritePatternSet &patterns);

/// Whether populateExpandSugarPatterns has an expansion for it.
bool isSugar(mlir::Operation *op);

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_EXPANDSUGAR_H
