//===- Arena.h - where tiles lie in shared memory ---------------*- C++ -*-===//

#ifndef LINATTN_DIALECT_TILE_TRANSFORMS_ARENA_H
#define LINATTN_DIALECT_TILE_TRANSFORMS_ARENA_H

#include "linattn/Dialect/Tile/IR/Tile.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace linattn::tile {

/// An `alloc` or `channel.create`, when it lives, and where it lies.
struct Buffer {
  mlir::Operation *op;
  int64_t bytes;
  int64_t alignment;
  /// First and last use, as numbers of operations in program order.
  int64_t first, last;
  int64_t offset = 0;

  bool meets(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
};

struct Arena {
  llvm::SmallVector<Buffer> buffers;
  int64_t bytes = 0;
};

/// Places the tiles of a kernel; writes nothing into it. Such as live at
/// different times share bytes, unless `spread`.
Arena planArena(mlir::FunctionOpInterface func, bool spread = false);

/// Whether the tiles of a kernel fit into `bytes` without sharing any, and it
/// is one of which a multiprocessor holds a block, for want of registers.
bool canSpread(mlir::FunctionOpInterface func, int64_t bytes);

/// Bytes of shared memory that a block may have: `sharedBytes` unless it is 0,
/// else what the chip has. Reports an unknown chip at `op`.
mlir::FailureOr<int64_t>
getSharedLimit(mlir::Operation *op, int64_t sharedBytes, llvm::StringRef chip);

} // namespace linattn::tile

#endif // LINATTN_DIALECT_TILE_TRANSFORMS_ARENA_H
