//===- ChunkPlan.h - how a chunk kernel shares its work ---------*- C++ -*-===//
//
// Plan `single`: a block owns one (sequence, head) and a slice of the value
// columns; all its warps do everything. Which dimension is padded to what.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKPLAN_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKPLAN_H

#include "OutputTail.h"

namespace linattn::chunked_to_tile {

struct ChunkPlan {
  int64_t warps = 4;
  /// Parts of the columns of matrices in registers: with one, the left operand
  /// of a product stays there; with two, twice as many warps work on as many
  /// rows, and what they need of each other goes through shared memory.
  int64_t columnParts = 1;
  /// What all kernels of the plan pad columns to: what one leaves in memory for
  /// another has one size.
  int64_t columnTile = 16;
  /// Warps that matrices of [C, C] need at least.
  int64_t leastWarps = 1;
  /// Plan `split-T`: one kernel makes what does not depend on the state, all
  /// chunks at once; a second one walks over the chunks.
  bool split = false;
  /// What of outputs mixes value columns in a kernel of its own, all chunks at
  /// once, after the ones that walk over them.
  bool outputsApart = false;
  /// Whether some decay has a gate for each row of the state.
  bool overK = false;
  /// Value columns of a slice and how many slices there are; the class that is
  /// cut, if any.
  int64_t sliceWidth = 0, slices = 1;
  std::optional<unsigned> cutClass;

  /// The plan of the kernel for what does not depend on the state, and of the
  /// one that walks over the chunks.
  ChunkPlan forOffChain() const;
  ChunkPlan forChain() const;
  /// The plan of the kernel for what of outputs mixes value columns, so many at
  /// most.
  ChunkPlan forOutputs(int64_t columns) const;

  /// What the tile of a dimension of `size` elements of this class has.
  int64_t getTileSize(const DimClasses &classes, mlir::Value value,
                      unsigned dim) const;
};

struct ChunkPlanOptions {
  /// The state arguments that the kernel carries.
  llvm::SmallVector<mlir::Value> states;
  int64_t warps = 0;       ///< 0: chosen
  int64_t columnParts = 0; ///< 0: chosen
  int64_t slice = 0;       ///< 0: chosen
  std::optional<bool> split, outputsApart;
};

/// Refuses, with an error at the operation, what has no kernel on tiles yet.
mlir::FailureOr<ChunkPlan> planChunk(ChunkedOp op, const DimClasses &classes,
                                     const OutputTail &tail,
                                     const ChunkPlanOptions &options);

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKPLAN_H
