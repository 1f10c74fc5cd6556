//===- AttentionPlan.h - how an attention kernel shares its work *- C++ -*-===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONPLAN_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONPLAN_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace linattn::attention_to_tile {

/// Of a thread.
constexpr int64_t kMaxRegisters = 255;

/// A block owns a query tile of one sequence and head. Its warps share the
/// rows, so that all of a row, its sums and maxima too, is in one warp.
struct AttentionPlan {
  int64_t warps;
  /// Whether queries that are left operands of products stay in registers; else
  /// each key tile reads them from shared memory again.
  bool queriesInRegisters;
  /// An estimate of the registers of a thread.
  int64_t registers = 0;
  /// Keys of a part; 0: one block sees all keys of its query tile.
  int64_t splitKeys = 0;
  /// Rows of a query tile are this many heads of a token, then of the next.
  int64_t group = 1;
  /// Blocks that share the value columns of a query tile.
  int64_t columnParts = 1;
  /// Whether carried values that need none of the others go over the keys in a
  /// pass of their own (KeyPasses.h).
  bool inTurn = false;

  mlir::RankedTensorType getFragmentType(mlir::RankedTensorType tile) const;
  mlir::RankedTensorType getVectorType(mlir::RankedTensorType vector,
                                       bool alongRows) const;
  /// The tile of shared memory that holds an operand's tile.
  tile::SmemType getSharedType(mlir::RankedTensorType tile) const;
};

/// The products of a block, by how many follow each other up to them. Those of
/// one depth are made together.
llvm::SmallVector<llvm::SmallVector<mlir::linalg::MatmulOp>>
productsByDepth(mlir::Block *block);

/// How values that are too wide for the registers of a warp are shared out.
struct WideValues {
  int64_t columnParts = 1;
  bool inTurn = false;
};

/// An estimate of the registers of a thread for tiles of one row tile a warp
/// and the fewest keys.
int64_t countLeastRegisters(AttentionTilesOp op, WideValues wide);

/// `warps` 0 chooses, `splitKeys` 0 makes no parts. Refuses, with an error at
/// the operation, what does not fit the registers or comes in no parts.
mlir::FailureOr<AttentionPlan> planAttention(AttentionTilesOp op, int64_t warps,
                                             int64_t splitKeys,
                                             WideValues wide);

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONPLAN_H
