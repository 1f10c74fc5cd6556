//===- KeyPasses.h - carried values that go over the keys -------*- C++ -*-===//
//
// Carried values that need none of the others, such as those of either map of a
// differential attention, can go over the keys in a pass of their own. Then
// only the values of one pass are in registers at a time; those of the passes
// before it wait in shared memory for the region `finish`.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_KEYPASSES_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_KEYPASSES_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "llvm/ADT/DenseSet.h"

namespace linattn::attention_to_tile {

struct KeyPass {
  /// Numbers of carried values, rising.
  llvm::SmallVector<unsigned> carried;
  /// What of the region `step` makes their next values: operations of its block
  /// and arguments.
  llvm::DenseSet<mlir::Operation *> inner;
  llvm::DenseSet<mlir::Value> args;

  bool carries(unsigned number) const {
    return llvm::is_contained(carried, number);
  }
};

/// The passes of an operation, in the order of their first carried values;
/// `inTurn` or all in one.
llvm::SmallVector<KeyPass> findKeyPasses(AttentionTilesOp op, bool inTurn);

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_KEYPASSES_H
