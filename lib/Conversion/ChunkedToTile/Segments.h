//===- Segments.h - long sequences in pieces --------------------*- C++ -*-===//
//
// Plan `segmented`: a sequence is cut into segments of whole chunks, which run
// beside each other. Its kernels, in this order:
//
//   ends          every segment but the last from state 0: B_j
//   transitions   every segment but the last from the identity, without the
//                 constant part of what is written: M_j
//   starts        S_0 the initial state, S_{j+1} = M_j S_j + B_j, one by one
//   (its name)    every segment from S_j, with outputs
//
// Nothing is left out: the start of a segment is what a run from the beginning
// would give, up to rounding.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_SEGMENTS_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_SEGMENTS_H

#include "../Common/TileKernel.h"

#include "linattn/Dialect/LinAttn/Transforms/Transitions.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace linattn::chunked_to_tile {

/// What a kernel does of plan `segmented`; `Whole` sequences without it.
enum class SegmentKind { Whole, Ends, Transitions, Run };

struct SegmentPass {
  SegmentKind kind = SegmentKind::Whole;
  /// Segments of a sequence.
  int64_t count = 1;

  bool isSegmented() const { return kind != SegmentKind::Whole; }
  bool hasOutputs() const {
    return kind == SegmentKind::Whole || kind == SegmentKind::Run;
  }
  /// Segments that have blocks.
  int64_t countBlocks() const {
    return !isSegmented() ? 1 : hasOutputs() ? count : count - 1;
  }
};

/// Numbers of the states that the kernel carries.
llvm::SmallVector<unsigned> getCarried(ChunkedOp op, SegmentKind kind);

/// The scratch buffers, a row per segment: of each state the ends of its
/// segments, then their starts; of each transition its ends. Empty with one
/// segment.
llvm::SmallVector<Workspace> getSegmentWorkspace(ChunkedOp op, int64_t count);

/// Which of them holds a state.
inline unsigned getSegmentBuffer(ChunkedOp, unsigned state) { return state; }

/// The chunks of a sequence's segments, at run time.
class SegmentBounds {
public:
  SegmentBounds(mlir::OpBuilder &builder, mlir::Location loc,
                mlir::Value numChunks, int64_t count);
  mlir::Value getFirst(mlir::Value segment) const;
  mlir::Value getEnd(mlir::Value segment) const;
  /// The last segment with a chunk; 0 of a sequence without one.
  mlir::Value getLast() const;

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value numChunks, perSegment;
};

/// The kernel that makes the starts of segments of their ends: a block for each
/// sequence, head and slice of the value columns.
class StartsKernel {
public:
  StartsKernel(const KernelSignature &signature, int64_t count,
               llvm::ArrayRef<Workspace> workspace, mlir::OpBuilder &builder);

  mlir::gpu::GPUFuncOp run(llvm::StringRef name);

  int64_t getWarps() const { return warps; }
  /// Blocks of a sequence and head.
  int64_t getSlices() const { return slices; }

private:
  using Value = mlir::Value;

  mlir::Value index(int64_t value);
  Value loadOffset(Value operand, Value at);
  void emitSequence();
  void emitState(unsigned number);
  /// M_j S_j + B_j.
  Value advance(unsigned number, Value state, Value end, Value row);
  Value multiply(unsigned number, Value state, Value end, Value row);
  Value loadInitial(unsigned number);
  Value loadRows(unsigned number, Value memory, Value row,
                 mlir::RankedTensorType type);
  void store(unsigned number, Value state, Value row);
  mlir::RankedTensorType getFragmentType(unsigned number) const;
  int64_t getRows(unsigned number) const;

  const KernelSignature &signature;
  ChunkedOp op;
  int64_t count;
  llvm::ArrayRef<Workspace> workspace;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t warps = 1, width = 16, slices = 1;
  llvm::SmallVector<unsigned> states;
  llvm::SmallVector<Value> tensors, segmentBuffers;
  Value time, numSequences, sequence, head, slice, stateRow, last;
};

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_SEGMENTS_H
