//===- SharedAccess.h - what operations do to shared memory -----*- C++ -*-===//

#ifndef LINATTN_DIALECT_TILE_TRANSFORMS_SHAREDACCESS_H
#define LINATTN_DIALECT_TILE_TRANSFORMS_SHAREDACCESS_H

#include "linattn/Dialect/Tile/IR/Tile.h"

namespace linattn::tile {

/// A step of a channel as base + offset. A constant has no base; nothing is
/// known of a step that is a function of something else.
struct Step {
  mlir::Value base;
  int64_t offset = 0;
  bool known = true;

  bool operator==(const Step &other) const {
    return base == other.base && offset == other.offset && known == other.known;
  }
};

/// Splits additions and subtractions of constants off.
Step getStep(mlir::Value value);

/// Bytes that an operation reads or writes.
struct SharedAccess {
  /// The `alloc` or `channel.create`; none if it cannot be found.
  mlir::Operation *root = nullptr;
  bool write = false;
  /// Of a channel: the step and the number of the tile in its stage (-1: all).
  Step step;
  int64_t tile = -1;
  /// The part of the tile as it is stored.
  int64_t rowBegin = 0, rowEnd = 0, columnBegin = 0, columnEnd = 0;

  bool operator==(const SharedAccess &other) const {
    return root == other.root && write == other.write && step == other.step &&
           tile == other.tile && rowBegin == other.rowBegin &&
           rowEnd == other.rowEnd && columnBegin == other.columnBegin &&
           columnEnd == other.columnEnd;
  }
};

/// Whether two threads that make these accesses in no order may meet.
bool conflicts(const SharedAccess &a, const SharedAccess &b);

/// Accesses of one operation, without those of its regions. `wait` writes its
/// stage: that is when copies of one thread become data for others.
llvm::SmallVector<SharedAccess> getSharedAccesses(mlir::Operation *op);

} // namespace linattn::tile

#endif // LINATTN_DIALECT_TILE_TRANSFORMS_SHAREDACCESS_H
