//===- ChunkKernel.h - the kernel around a chunk ----------------*- C++ -*-===//
//
// Plan `single`, in this form:
//
//   sequence n, head h, slice of value columns from the block's index
//   if the slot is not padding
//     initial states; params
//     for each chunk
//       acquire, load, commit, wait: the chunk's tokens
//       the region of `chunked`, as tiles
//       outputs; release
//     final states
//
// Plan `split-T`: what does not depend on the state is made by a kernel of its
// own, a block for each chunk and head, and written to scratch buffers; the
// kernel above loads it with the tokens.
//
// What of outputs mixes value columns may be a kernel of its own too, of the
// same form as the first one, behind the others (OutputTail.h).
//
// Plan `segmented`: see Segments.h. The kernels that walk over chunks do so for
// a segment of a sequence, from and to states in scratch buffers.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H

#include "../Common/TileKernel.h"
#include "Segments.h"
#include "TileEmitter.h"
#include "TokenRows.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace linattn::chunked_to_tile {

/// Which of the kernels of a plan.
enum class KernelPart { Whole, OffChain, Chain, Outputs };

class ChunkKernel {
public:
  ChunkKernel(const KernelSignature &signature, DimClasses &classes,
              const OutputTail &tail, const ChunkPlan &plan, KernelPart part,
              SegmentPass pass, mlir::OpBuilder &builder);

  /// The scratch buffers between the kernels, a row per chunk: what is off the
  /// chain, what crosses to the outputs.
  llvm::SmallVector<Workspace> getWorkspace();

  /// Refuses, with an error at the operation, what the kernel cannot do.
  static mlir::LogicalResult check(ChunkedOp op);
  /// What the kernel's wide copies ask of the addresses of its operands.
  static void addAlignments(const KernelSignature &signature, ChunkedOp op,
                            llvm::DenseMap<unsigned, int64_t> &alignments);
  /// Builds the kernel at the builder's place.
  mlir::gpu::GPUFuncOp run(llvm::StringRef name);

private:
  using Value = mlir::Value;

  Value index(int64_t value);
  Value operandHead(int64_t heads);
  Value loadOffset(Value operand, Value at);
  mlir::DictionaryAttr argumentAttrs(unsigned tensor);
  void emitSequence();
  void emitSegment();
  /// Begin and length of a sequence.
  void emitBounds();
  /// The chunk of this block, of all sequences: emits it if it exists.
  void emitOwnChunk();
  void emitOwnOffChain(Value slot);
  void emitOwnOutputs(Value slot);
  void findChunk(Value slot, Value &chunk);
  Value firstSlot(Value n);
  Value ceilDiv(Value a, int64_t b);
  void setChunk(Value i);
  llvm::SmallVector<mlir::Value> slotIndices(mlir::Value value,
                                             mlir::Value slot);
  /// What of the tokens and of what is off the chain the kernel needs.
  void findUsed();
  void createChannel();
  /// About how many registers of a thread states and addresses take.
  int64_t countRegisters();
  void emitChunks(llvm::ArrayRef<Value> initial,
                  llvm::SmallVectorImpl<Value> &final);
  void loadTokens(Value i);
  void readBeforeSystems();
  Value tokenMemory(const TokenTile &token);
  llvm::SmallVector<mlir::Value> tokenIndices(const TokenTile &token);
  void loadParams();

  // Convolutions in front (ChunkFronts.cpp).
  struct FrontVectors {
    llvm::SmallVector<Value> weights;
    Value bias;
  };
  ShortConvOp frontOf(const TokenTile &token);
  Value isFirstChunk();
  /// The tile of a convolution's input: that of its result and a halo.
  tile::SmemType getHaloType(const TokenTile &token);
  Value firstChannel(const TokenTile &token);
  Value loadChannels(const TokenTile &token, Value memory,
                     llvm::ArrayRef<Value> indices, int64_t dim,
                     mlir::Attribute layout);
  Value loadWindow(const TokenTile &token, Value j, mlir::Attribute layout);
  FrontVectors loadFrontVectors(const TokenTile &token, mlir::Attribute layout);
  void loadFrontVectors();
  void loadWithHalo(const TokenTile &token, Value smem, int64_t align);
  Value initialSum(const TokenTile &token, const FrontVectors &vectors,
                   bool transposed, Value positions);
  Value convolve(const TokenTile &token, Value smem, bool transposed);
  void storeFinalWindows();
  void storeFinalWindow(const TokenTile &token);
  Value finalInput(const TokenTile &token, int64_t j, mlir::Attribute lanes);

  Value loadState(unsigned number);
  /// What a segment's run from no state begins with: 0, or a transition's
  /// identity.
  Value makeNeutral(unsigned number);
  Value loadFragment(unsigned number, Value memory, Value row);
  void storeFragment(unsigned number, Value fragment, Value memory,
                     llvm::ArrayRef<Value> row);
  /// The scratch buffer of a state of segments, and the segment's row in it.
  Value segmentBuffer(unsigned number);
  Value segmentRow();
  void storeState(unsigned number, Value fragment);
  /// Writes a state to a row of states in memory.
  void storeTo(llvm::ArrayRef<unsigned> targets, unsigned number,
               Value fragment, llvm::ArrayRef<Value> row);
  void storeSnapshots(Value i, llvm::ArrayRef<Value> states);
  void storeOutput(unsigned number);
  /// Whether the kernel writes the output.
  bool hasOutput(unsigned number);
  /// What crosses to the kernel of outputs, a row of its buffer.
  Value loadCrossing(Value value, Value buffer, Value slot);
  void storeCrossing(Value value, Value buffer, Value slot);
  /// Where the slice of a dimension begins, and how much of it there is.
  Value sliceBegin(Value value, unsigned dim);
  Value sliceBound(Value value, unsigned dim);
  bool isCut(Value value, unsigned dim);
  /// Runs `then` in every slice, or in the first if no slice of its own exists.
  void forOwner(bool cut, llvm::function_ref<void()> then);

  const KernelSignature &signature;
  const OutputTail &tail;
  const ChunkPlan &plan;
  KernelPart part;
  SegmentPass pass;
  ChunkedOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  DimClasses &classes;
  TileEmitter emitter;

  llvm::SmallVector<Value> tensors, buffers, crossingBuffers, segmentBuffers;
  /// What is made off the chain, and which of it the kernel needs.
  llvm::SmallVector<Value> offChain;
  /// What crosses to the kernel of outputs, if there is one.
  llvm::SmallVector<Value> crossing;
  llvm::SmallVector<unsigned> usedOffChain;
  /// What the kernel computes.
  llvm::DenseSet<Value> used;
  /// Numbers of the states that the kernel carries.
  llvm::SmallVector<unsigned> states;
  Value time, numSequences, sequence, segment, head, slice, stateRow;
  Value begin, length, channel, slotBase;
  Value firstChunk, endChunk, numChunks;
  Value chunk, firstToken, rowsLeft;
  llvm::DenseMap<Value, FrontVectors> frontVectors;
  /// Tokens that the kernel needs; those whose tiles come through the channel.
  llvm::SmallVector<TokenTile> usedTokens, asyncTokens;
};

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H
