//===- KernelPlan.h - threads of a token-serial kernel ----------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELPLAN_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELPLAN_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "llvm/Support/MathExtras.h"

namespace linattn::simt {

constexpr int64_t kWarpSize = 32;

/// Rows of a state that a thread holds come in groups of 4, so that keys are
/// read from shared memory 16 bytes at a time.
constexpr int64_t kGroup = 4;

/// How the threads of a block share one (sequence, head): a thread holds rows
/// (j * lanes + lane) * 4 + c of `vector` adjacent columns of every state.
/// Lanes of a column stand beside each other, so that sums over them are
/// shuffles; in decoding, which is bound by memory, threads of neighbouring
/// columns do, so that a warp moves long pieces of a row, and sums go through
/// shared memory.
struct KernelPlan {
  int64_t lanes = 1;   ///< threads that share a column, a power of two <= 32
  int64_t vector = 1;  ///< columns of a thread; divides every state's V
  int64_t columns = 1; ///< the largest V, or the widest output
  int64_t width = 1;   ///< columns of a block
  int64_t slices = 1;  ///< blocks that share a (sequence, head)
  int64_t threads = 32;
  /// Threads from a lane of a column to the next.
  int64_t laneStride = 1;
  int64_t blocks = 1; ///< that a multiprocessor is to hold at least
  /// Rows of keys are loaded for each read and write, not kept between them.
  bool keysTwice = false;
  bool decoding = false; ///< states live in a pool: a call has few tokens

  /// Lanes of a column that stand in one warp.
  int64_t lanesOfWarp() const {
    return std::clamp<int64_t>(kWarpSize / laneStride, 1, lanes);
  }
  /// Groups of 4 rows that a thread holds of a state with K rows.
  int64_t groups(int64_t keys) const {
    return llvm::divideCeil(keys, kGroup * lanes);
  }
  /// K rounded up to what all lanes hold.
  int64_t paddedKeys(int64_t keys) const {
    return groups(keys) * kGroup * lanes;
  }
};

/// Values of a step that depend on a state through a read.
llvm::DenseSet<mlir::Value> findStateDependent(mlir::Block &step);

/// Refuses, with an error at the operation, what a kernel cannot do.
mlir::FailureOr<KernelPlan>
planKernel(RecurrenceOp op, const llvm::DenseSet<mlir::Value> &dependent);

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELPLAN_H
