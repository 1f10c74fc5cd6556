//===- HeadGroups.h - heads that share keys ---------------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_HEADGROUPS_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_HEADGROUPS_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn::attention_to_tile {

/// How many heads that follow each other can be rows of one query tile: they
/// read the same keys, and of queries heads that are equally far apart. 1 if
/// the regions ask for the head or the place of a row.
int64_t findHeadGroup(AttentionTilesOp op);

/// How far apart the query heads are that a group of heads reads.
int64_t getHeadStep(mlir::AffineMap queryHeads);

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_HEADGROUPS_H
