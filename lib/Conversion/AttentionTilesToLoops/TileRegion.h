//===- TileRegion.h - regions on tiles, made ready for a CPU ----*- C++ -*-===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOLOOPS_TILEREGION_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOLOOPS_TILEREGION_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

/// Rewrites the regions of an operation in place: products in the arithmetic
/// type, with their operands' roundings only if `keepRounding`; splat constants
/// that are written to become fills; broadcasts take part in fusion.
mlir::LogicalResult prepareTileRegions(mlir::Operation *op, bool keepRounding);

} // namespace linattn

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOLOOPS_TILEREGION_H
