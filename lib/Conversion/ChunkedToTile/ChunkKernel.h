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
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H

#include "../Common/KernelSignature.h"
#include "TileEmitter.h"
#include "TokenRows.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace linattn::chunked_to_tile {

/// Which of the kernels of a plan.
enum class KernelPart { Whole, OffChain, Chain };

class ChunkKernel {
public:
  ChunkKernel(const KernelSignature &signature, DimClasses &classes,
              const ChunkPlan &plan, KernelPart part, mlir::OpBuilder &builder);

  /// The scratch buffers between the kernels of plan `split-T`, a row per
  /// chunk.
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
  /// Begin and length of a sequence.
  void emitBounds();
  /// The chunk of this block, of all sequences: emits it if it exists.
  void emitOwnChunk();
  void findChunk(Value slot, Value &chunk);
  Value firstSlot(Value n);
  Value ceilDiv(Value a, int64_t b);
  void setChunk(Value i);
  llvm::SmallVector<mlir::Value> slotIndices(mlir::Value value,
                                             mlir::Value slot);
  void findUsedTokens();
  void createChannel();
  void emitChunks(llvm::ArrayRef<Value> initial,
                  llvm::SmallVectorImpl<Value> &final);
  void loadTokens(Value i);
  Value tokenMemory(const TokenTile &token);
  llvm::SmallVector<mlir::Value> tokenIndices(const TokenTile &token);
  void loadParams();
  Value loadState(unsigned number);
  void storeState(unsigned number, Value fragment);
  /// Writes a state to a row of states in memory.
  void storeTo(llvm::ArrayRef<unsigned> targets, unsigned number,
               Value fragment, llvm::ArrayRef<Value> row);
  void storeSnapshots(Value i, llvm::ArrayRef<Value> states);
  void storeOutput(unsigned number);
  /// Where the slice of a dimension begins, and how much of it there is.
  Value sliceBegin(Value value, unsigned dim);
  Value sliceBound(Value value, unsigned dim);
  bool isCut(Value value, unsigned dim);
  /// Runs `then` in every slice, or in the first if no slice of its own exists.
  void forOwner(bool cut, llvm::function_ref<void()> then);

  const KernelSignature &signature;
  const ChunkPlan &plan;
  KernelPart part;
  ChunkedOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  DimClasses &classes;
  TileEmitter emitter;

  llvm::SmallVector<Value> tensors, buffers;
  /// What is made off the chain.
  llvm::SmallVector<Value> offChain;
  Value time, numSequences, sequence, head, slice, stateRow;
  Value begin, length, channel, slotBase;
  Value firstToken, rowsLeft;
  /// Tokens that the kernel needs; those whose tiles come through the channel.
  llvm::SmallVector<TokenTile> usedTokens, asyncTokens;
};

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H
