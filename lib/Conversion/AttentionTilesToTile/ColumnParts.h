//===- ColumnParts.h - value columns shared by blocks -----------*- C++ -*-===//
//
// A row of weighted values lies in the registers of one warp, of differential
// attention twice. Where the narrowest tiles are too many registers, several
// blocks share a query tile: each makes all scores, but only part of the value
// columns. The regions are narrowed to one part; what they compute has to go
// column by column.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_COLUMNPARTS_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_COLUMNPARTS_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn::attention_to_tile {

/// In how many parts the value columns of an operation have to be cut for tiles
/// of one row tile a warp to fit the registers, and narrows its regions to one
/// of them: operands and results keep their widths. Refuses, with an error at
/// the operation, where this has no parts.
mlir::FailureOr<int64_t> cutColumns(AttentionTilesOp op);

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_COLUMNPARTS_H
