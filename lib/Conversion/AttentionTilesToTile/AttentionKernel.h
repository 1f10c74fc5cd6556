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
// With carried values in turn (KeyPasses.h) queries and key tiles come once for
// each pass, and what a pass has made waits in shared memory for `finish`.
//
// With keys in parts there are two kernels: of the first a block sees one part
// and writes the carried values to scratch buffers, the second combines these
// in the order of the parts (AttentionParts.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONKERNEL_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONKERNEL_H

#include "../Common/KernelSignature.h"
#include "KeyParts.h"
#include "KeyPasses.h"
#include "RegionEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace linattn::attention_to_tile {

/// Which of the kernels of a plan.
enum class KernelPart { Whole, KeyPart, Combine };

class AttentionKernel {
public:
  AttentionKernel(const KernelSignature &signature, const AttentionPlan &plan,
                  KernelPart part, mlir::OpBuilder &builder);

  /// Refuses, with an error at the operation, what the kernel cannot do.
  static mlir::LogicalResult check(AttentionTilesOp op);
  /// What the kernel's wide copies ask of the addresses of its operands.
  static void addAlignments(const KernelSignature &signature,
                            AttentionTilesOp op,
                            llvm::DenseMap<unsigned, int64_t> &alignments);
  /// How many blocks a kernel is launched with, as docs/Artifacts.md has sizes.
  static mlir::Attribute
  countBlocks(AttentionTilesOp op, const AttentionPlan &plan, KernelPart part);
  /// The scratch buffers between the kernels, a row per part of the keys of a
  /// query tile.
  static llvm::SmallVector<Workspace> getWorkspace(AttentionTilesOp op,
                                                   const AttentionPlan &plan);
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
  /// The tokens of a query tile.
  int64_t countTokens() { return int64_t(op.getQueryTile()) / plan.group; }
  int64_t countHeadGroups() { return int64_t(op.getHeads()) / plan.group; }
  void findTile();
  void findSpans();
  void setTile(Value number);
  /// The dimension along which rows go that are `plan.group` to a token.
  int64_t rowDim() {
    return plan.group > 1 ? op.getHeadDim() : op.getHeadDim() - 1;
  }
  Span spanOf(Value offsets, Value whole);
  void emitTile();
  Value memoryOf(Value operand);
  llvm::SmallVector<Value> indicesOf(Value operand, mlir::AffineMap heads,
                                     Value row);
  int64_t stepOf(mlir::AffineMap heads, bool ofKeys);
  /// Starts copies of the rows from `row` of matrices into tiles.
  void loadRows(llvm::ArrayRef<unsigned> operands, bool ofKeys, Value row,
                Value left, mlir::ValueRange tiles);
  Value loadVector(unsigned number, bool ofKeys, Value row, Value left);
  /// Operands that are matrices and that a pass, or `finish`, has a use for.
  llvm::SmallVector<unsigned> findMatrices(const KeyPass &pass, bool ofKeys);
  void loadQueries(const KeyPass &pass);
  llvm::SmallVector<Value> emitSteps(const KeyPass &pass);
  void emitStep(Value number, mlir::ValueRange carried,
                llvm::SmallVectorImpl<Value> &next);
  void setAllowed(Value firstKey, Value keysLeft);
  void emitFinish();
  llvm::SmallVector<Value> makeInitial(const KeyPass &pass);
  void bindCarried(mlir::Block *block, const KeyPass &pass,
                   mlir::ValueRange carried);
  /// Keeps what a pass has made for `finish`, out of registers.
  void keepCarried(const KeyPass &pass, mlir::ValueRange carried);

  // Keys in parts (AttentionParts.cpp).
  KeyParts getParts() { return {countTokens(), plan.splitKeys}; }
  Value firstSlot(Value n);
  void findPart();
  void findParts(Value number);
  /// The key tiles [begin, end) of the block's part alone.
  void clipToPart(Value &begin, Value &end);
  llvm::SmallVector<Value> slotIndices(Value slot, int64_t rank);
  void storePart(const KeyPass &pass, mlir::ValueRange carried);
  llvm::SmallVector<Value> combineParts(const KeyPass &pass);
  void storeOutput(unsigned number, Value value);
  /// The first of `width` columns that a tile of a matrix with `whole` has.
  Value firstColumn(int64_t width, int64_t whole);
  Value makeChannel(llvm::ArrayRef<mlir::Type> tiles);
  mlir::Value operandArg(unsigned number, bool ofKeys);

  const KernelSignature &signature;
  const AttentionPlan &plan;
  KernelPart part;
  AttentionTilesOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  RegionEmitter emitter;

  llvm::SmallVector<Value> tensors, buffers;
  Value time, keyTime, numSequences;
  // Of the block's tile: of several heads the first one, and how many rows are
  // queries.
  Value sequence, head, firstQuery, queriesLeft, rowsLeft;
  Span queries, keys;
  /// Which part of the value columns the block has; null if all.
  Value columnPart;
  /// keys.count - queries.count: the position of query t is t + shift.
  Value shift;
  /// Of keys in parts: the tile's first slot, how many parts it has, and which
  /// of them the block has.
  Value slotBase, numParts, partNumber;
  llvm::SmallVector<KeyPass> passes;
  /// Queries in shared memory.
  llvm::SmallDenseSet<unsigned> loadedQueries;
};

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_ATTENTIONKERNEL_H
