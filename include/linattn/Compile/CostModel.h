//===- CostModel.h - how long a plan would take -----------------*- C++ -*-===//
//
// A few numbers, measured once, and the arithmetic of docs/Plans.md: what a
// plan of a recurrence in chunks would take on a device, so that the compiler
// can choose one without making all of them. --plan overrides it.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_COMPILE_COSTMODEL_H
#define LINATTN_COMPILE_COSTMODEL_H

#include "linattn/Compile/Compile.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include <string>

namespace linattn {

/// The numbers of the model, of an H200. Times in microseconds, rates of one
/// multiprocessor per microsecond. A test counts them.
struct CostConstants {
  /// A kernel, from its launch to its first block and from its last to the
  /// next kernel.
  double launch = 9.6;
  /// A block: its states in and out, and its first chunk, which nothing hides.
  double block = 3.3;
  /// Bytes per microsecond of the whole memory.
  double memoryBytes = 4.4e6;
  /// Operations of what is off the chain, many blocks at once.
  double offChainFlops = 1.35e6;
  /// The same in the kernel of the chain, where a block's warps do both.
  double sharedFlops = 8.0e5;
  /// A decay over K makes operations of a product this many.
  double vectorDecay = 3.5;
  /// The same of a decay that all of K shares.
  double scalarDecay = 1.55;
  /// Products of f32 operands: three of tf32, each at half the rate.
  double singleProducts = 6;
  /// A chunk of a walk: what it takes without its operations.
  double step = 0.09;
  /// Bytes of right operands that a warp reads, and multiplies by.
  double warpBytes = 5.1e4;
  /// Results of elementwise operations that a warp makes.
  double elements = 1.25e4;
  /// What two parts of columns take to exchange what they made, in a chunk.
  double columnParts = 0.26;
  /// Bytes of transitions that a block takes while it makes starts.
  double startBytes = 2.15e4;
  /// By how much another plan must be better than the default to be chosen.
  double margin = 0.05;
};

/// What a walk does for one chunk of one head.
struct WalkWork {
  /// Of what is off the chain, where the walk does it too.
  double offChainFlops = 0;
  /// Bytes of what a warp reads as right operands.
  double operandBytes = 0;
  /// Results of elementwise operations, of all value columns.
  double elements = 0;
};

/// One chunk of one head, read off the chunk form.
struct ChunkWork {
  int64_t chunk = 64, heads = 1;
  /// Of the widest state.
  int64_t keys = 1, values = 1;
  /// Bytes of an operand of a product.
  int64_t operandBytes = 2;
  /// The walk with outputs, the one for the next state alone, and the one from
  /// the identity, which has no tokens of values.
  WalkWork run, ends, transitions;
  /// Bytes of tokens, and of what goes between the kernels of split-T.
  double tokenBytes = 0, scratchBytes = 0;
  /// Bytes that a kernel of what is off the chain moves.
  double offChainBytes = 0;
  bool solves = false, overKeys = false;
  /// Whether value columns may be cut: nothing sums over them.
  bool cuts = true;
  /// Whether the recurrence can run in segments, and whether a transition is a
  /// matrix then.
  bool segments = false, fullTransition = false;

  explicit ChunkWork(ChunkedOp op);
  ChunkWork() = default;
};

/// What the model decides.
struct ChunkCandidate {
  int64_t slice = 0; ///< value columns of a block
  int64_t columnParts = 1;
  bool split = false;
  int64_t segments = 1;

  int64_t getWarps() const { return slice / 16 * columnParts; }
};

struct CostDevice {
  int64_t multiprocessors = 132;
};

/// The sizes, and what is assumed where they are not known: a device that is
/// full, by sequences of 4096 tokens.
CallSizes assumeSizes(CallSizes sizes, const ChunkWork &work,
                      const CostDevice &device);

/// Microseconds.
double estimate(const ChunkWork &work, const ChunkCandidate &candidate,
                CallSizes sizes, const CostDevice &device,
                const CostConstants &constants = {});

/// Candidates of a recurrence, the default of its chunk form first.
llvm::SmallVector<ChunkCandidate> getCandidates(const ChunkWork &work);

/// The candidate that takes the least by the model, or the default if none is
/// better by the margin.
ChunkCandidate choose(const ChunkWork &work, CallSizes sizes,
                      const CostDevice &device,
                      const CostConstants &constants = {});

/// The candidate that a plan makes, with the default where it is silent; adds
/// what the model does not know to `unknown`.
ChunkCandidate toCandidate(llvm::StringRef plan, const ChunkWork &work,
                           std::string &unknown);

/// The options of --plan that make it; empty for the default.
std::string toPlan(const ChunkCandidate &candidate, const ChunkWork &work);

} // namespace linattn

#endif // LINATTN_COMPILE_COSTMODEL_H
