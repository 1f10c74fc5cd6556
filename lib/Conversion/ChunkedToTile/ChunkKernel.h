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
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H

#include "../Common/KernelSignature.h"
#include "TileEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace linattn::chunked_to_tile {

class ChunkKernel {
public:
  ChunkKernel(const KernelSignature &signature, DimClasses &classes,
              const ChunkPlan &plan, mlir::OpBuilder &builder);

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
  void emitChunks(llvm::ArrayRef<Value> initial,
                  llvm::SmallVectorImpl<Value> &final);
  void loadTokens(Value i);
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
  ChunkedOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  DimClasses &classes;
  TileEmitter emitter;

  llvm::SmallVector<Value> tensors;
  Value time, sequence, head, slice, stateRow;
  Value begin, length, channel;
  Value firstToken, rowsLeft;
  /// Token operands whose tiles come through the channel.
  llvm::SmallVector<unsigned> asyncTokens;
};

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_CHUNKKERNEL_H
