//===- ColumnParts.h - values too wide for registers ------------*- C++ -*-===//
//
// A row of weighted values lies in the registers of one warp, of differential
// attention twice. Where the narrowest tiles are too many registers, there are
// two ways:
//
//   * Several blocks share a query tile: each makes all scores, but only part
//   of
//     the value columns. The regions are narrowed to one part; what they
//     compute has to go column by column.
//   * Carried values that need none of the others go over the keys in turn
//     (KeyPasses.h). Then `finish` has whole rows, and may sum over them.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_COLUMNPARTS_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_COLUMNPARTS_H

#include "AttentionPlan.h"

namespace linattn::attention_to_tile {

/// Chooses the way, and narrows the regions to one part of the columns if there
/// are several: operands and results keep their widths. Refuses, with an error
/// at the operation, where there is none.
mlir::FailureOr<WideValues> shareWideValues(AttentionTilesOp op,
                                            bool splitKeys);

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_COLUMNPARTS_H
