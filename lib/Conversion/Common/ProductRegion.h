//===- ProductRegion.h - products of a region, ready for a CPU --*- C++ -*-===//

#ifndef LINATTN_CONVERSION_COMMON_PRODUCTREGION_H
#define LINATTN_CONVERSION_COMMON_PRODUCTREGION_H

#include "mlir/IR/PatternMatch.h"

namespace linattn {

/// Products inside `op` take their operands in the type of their sums: rounded
/// only if `keepRounding`, else as they were before they were rounded.
void widenProducts(mlir::RewriterBase &rewriter, mlir::Operation *op,
                   bool keepRounding);

/// Splat constants that an operation inside `op` adds to become fills: a
/// constant would be copied from memory each time.
void fillConstants(mlir::RewriterBase &rewriter, mlir::Operation *op);

} // namespace linattn

#endif // LINATTN_CONVERSION_COMMON_PRODUCTREGION_H
