//===- AttentionKernel.h - the kernel around attention's regions *- C++ -*-===//
//
//   sequence n, head h, query tile from the block's index
//   if the sequence has such a tile
//     load the tile's queries
//     for each key tile with an allowed pair
//       acquire, load, commit, wait: the tile's keys and values
//       the region `step`, as tiles; release
//     the region `finish`; outputs
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONKERNEL_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONKERNEL_H

#include "../Common/KernelSignature.h"
#include "RegionEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace linattn::attention_to_tile {

class AttentionKernel {
public:
  AttentionKernel(const KernelSignature &signature, const AttentionPlan &plan,
                  mlir::OpBuilder &builder);

  /// Refuses, with an error at the operation, what the kernel cannot do.
  static mlir::LogicalResult check(AttentionTilesOp op);
  /// What the kernel's wide copies ask of the addresses of its operands.
  static void addAlignments(const KernelSignature &signature,
                            AttentionTilesOp op,
                            llvm::DenseMap<unsigned, int64_t> &alignments);
  /// How many blocks are launched, as docs/Artifacts.md has sizes.
  static mlir::Attribute countBlocks(AttentionTilesOp op);
  /// Builds the kernel at the builder's place.
  void run(llvm::StringRef name);

private:
  using Value = mlir::Value;
  /// Queries or keys of one sequence: its first row in memory, how many rows.
  struct Span {
    Value begin, count;
  };

  Value index(int64_t value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  void findTile();
  Span spanOf(Value offsets, Value whole);
  void emitTile();
  Value memoryOf(Value operand);
  llvm::SmallVector<Value> indicesOf(Value operand, mlir::AffineMap heads,
                                     Value row);
  /// Starts copies of the rows from `row` of matrices into tiles.
  void loadRows(llvm::ArrayRef<unsigned> operands, bool ofKeys, Value row,
                Value left, mlir::ValueRange tiles);
  Value loadVector(unsigned number, bool ofKeys, Value row, Value left);
  void loadQueries();
  void emitSteps(llvm::SmallVectorImpl<Value> &carried);
  void emitStep(Value number, mlir::ValueRange carried,
                llvm::SmallVectorImpl<Value> &next);
  void setAllowed(Value firstKey, Value keysLeft);
  void emitFinish(mlir::ValueRange carried);
  void storeOutput(unsigned number, Value value);
  Value makeChannel(llvm::ArrayRef<mlir::Type> tiles);
  mlir::Value operandArg(unsigned number, bool ofKeys);

  const KernelSignature &signature;
  const AttentionPlan &plan;
  AttentionTilesOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  RegionEmitter emitter;

  llvm::SmallVector<Value> tensors;
  Value time, keyTime, numSequences;
  // Of the block's tile.
  Value sequence, head, firstQuery, queriesLeft;
  Span queries, keys;
  /// keys.count - queries.count: the position of query t is t + shift.
  Value shift;
  /// Operands that are matrices: their tiles come through channels.
  llvm::SmallVector<unsigned> queryMatrices, keyMatrices;
};

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONKERNEL_H
