//===- SequenceLowering.h - loops over sequences and heads ------*- C++ -*-===//
//
// What the token-serial and the chunk form share on a CPU: where operands and
// results lie, the parallel loop over sequences and heads, packed sequences,
// slots, the states of a head in memory, snapshots.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_COMMON_SEQUENCELOWERING_H
#define LINATTN_CONVERSION_COMMON_SEQUENCELOWERING_H

#include "linattn/Conversion/Destinations.h"
#include "linattn/Conversion/StepValues.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace linattn {

/// Lowers one `recurrence` or `chunked`. The members are the values that the
/// loops share.
template <typename OpTy> class SequenceLowering {
public:
  explicit SequenceLowering(OpTy op) : op(op), builder(op), loc(op.getLoc()) {}
  virtual ~SequenceLowering() = default;

  mlir::LogicalResult run();

protected:
  using Value = mlir::Value;

  /// Rows [begin, end) of one sequence and head; `homes` hold its states, [K,
  /// V] in the arithmetic type, and are updated.
  virtual void emitTokens(Value n, Value h, Value begin, Value end,
                          llvm::ArrayRef<Value> homes) = 0;

  Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// Element `at` of a tensor of offsets or slots, as an index.
  Value loadIndex(Value buffer, Value at) {
    Value value = mlir::memref::LoadOp::create(builder, loc, buffer, at);
    return mlir::arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), value);
  }
  /// The head of an operand with `heads` heads that head `h` reads.
  Value operandHead(int64_t heads, Value h) {
    if (heads == op.getNumHeads())
      return h;
    Value group = index(op.getNumHeads() / heads);
    return mlir::arith::DivUIOp::create(builder, loc, h, group);
  }
  /// [n, t, h], packed [t, h].
  llvm::SmallVector<Value, 3> at(Value n, Value t, Value h) {
    if (op.isPacked())
      return {t, h};
    return {n, t, h};
  }
  /// A [K, V] view of a state of a buffer [.., H, K, V].
  Value stateView(Value buffer, llvm::ArrayRef<Value> leading);
  void copyState(Value from, Value to);
  void emitSnapshots(Value n, Value h, Value t, Value begin, Value end,
                     llvm::ArrayRef<Value> homes);

  OpTy op;
  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<Value> tokens, params, initial, outputs, finals, snapshots;
  Value seqlens, slots, time;

private:
  void emitSequence(Value n, Value h);
};

template <typename OpTy>
mlir::Value
SequenceLowering<OpTy>::stateView(mlir::Value buffer,
                                  llvm::ArrayRef<mlir::Value> leading) {
  auto type = mlir::cast<mlir::MemRefType>(buffer.getType());
  unsigned rank = type.getRank();
  llvm::SmallVector<mlir::OpFoldResult> offsets(leading.begin(), leading.end());
  llvm::SmallVector<mlir::OpFoldResult> sizes(rank - 2,
                                              builder.getIndexAttr(1));
  llvm::SmallVector<mlir::OpFoldResult> strides(rank, builder.getIndexAttr(1));
  offsets.append(2, builder.getIndexAttr(0));
  llvm::SmallVector<int64_t> shape(type.getShape().take_back(2));
  for (int64_t size : shape)
    sizes.push_back(builder.getIndexAttr(size));
  auto view = mlir::cast<mlir::MemRefType>(
      mlir::memref::SubViewOp::inferRankReducedResultType(shape, type, offsets,
                                                          sizes, strides));
  return mlir::memref::SubViewOp::create(builder, loc, view, buffer, offsets,
                                         sizes, strides);
}

template <typename OpTy>
void SequenceLowering<OpTy>::copyState(mlir::Value from, mlir::Value to) {
  auto type = mlir::cast<mlir::MemRefType>(from.getType());
  mlir::Type target =
      mlir::cast<mlir::MemRefType>(to.getType()).getElementType();
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  auto loop =
      mlir::scf::ForOp::create(builder, loc, index(0), index(rows), index(1));
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  forEachPiece(columns, kPieceWidth, [&](int64_t at, int64_t width) {
    mlir::Value indices[] = {loop.getInductionVar(), index(at)};
    mlir::Value row = mlir::vector::LoadOp::create(
        builder, loc, mlir::VectorType::get({width}, type.getElementType()),
        from, indices);
    row = convertElements(builder, loc, row, target);
    mlir::vector::StoreOp::create(builder, loc, row, to, indices);
  });
}

template <typename OpTy> mlir::LogicalResult SequenceLowering<OpTy>::run() {
  unsigned leading = op.getHeadDim() + 1;
  auto rankOf = [](mlir::Value v) {
    return mlir::cast<mlir::RankedTensorType>(v.getType()).getRank();
  };
  for (mlir::Value token : op.getTokens())
    tokens.push_back(getInputBuffer(builder, token, rankOf(token) > leading));
  for (mlir::Value param : op.getParams())
    params.push_back(getInputBuffer(builder, param, rankOf(param) > 1));
  if (op.getSeqlens())
    seqlens = getInputBuffer(builder, op.getSeqlens(), false);
  if (op.getSlots())
    slots = getInputBuffer(builder, op.getSlots(), false);

  mlir::ReifiedRankedShapedTypeDims sizes;
  if (mlir::failed(op.reifyResultShapes(builder, sizes)))
    return mlir::failure();
  for (mlir::OpResult output : op.getOutputs())
    outputs.push_back(getResultBuffer(builder, output,
                                      sizes[output.getResultNumber()],
                                      rankOf(output) > leading));
  for (auto [i, state] : llvm::enumerate(op.getFinalStates())) {
    if (slots) {
      // The pool is updated in place. Bufferization copies it first if its old
      // contents are read later.
      mlir::Value buffer = getInPlaceBuffer(builder, op.getStates()[i]);
      initial.push_back(buffer);
      finals.push_back(buffer);
      continue;
    }
    initial.push_back(getInputBuffer(builder, op.getStates()[i], true));
    finals.push_back(
        getResultBuffer(builder, state, sizes[state.getResultNumber()], true));
  }
  for (mlir::OpResult snapshot : op.getSnapshotStates())
    snapshots.push_back(getResultBuffer(
        builder, snapshot, sizes[snapshot.getResultNumber()], true));

  mlir::Value sequences;
  if (op.isPacked()) {
    mlir::Value offsets =
        mlir::memref::DimOp::create(builder, loc, seqlens, index(0));
    sequences = mlir::arith::SubIOp::create(builder, loc, offsets, index(1));
  } else {
    sequences = mlir::memref::DimOp::create(builder, loc, tokens[0], index(0));
  }
  time = mlir::memref::DimOp::create(builder, loc, tokens[0],
                                     index(op.getHeadDim() - 1));
  auto parallel = mlir::scf::ParallelOp::create(
      builder, loc, mlir::ValueRange{index(0), index(0)},
      mlir::ValueRange{sequences, index(op.getNumHeads())},
      mlir::ValueRange{index(1), index(1)});
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(parallel.getBody());
    emitSequence(parallel.getInductionVars()[0],
                 parallel.getInductionVars()[1]);
  }

  for (auto [output, buffer] : llvm::zip(op.getOutputs(), outputs))
    replaceWithBuffer(builder, output, buffer);
  for (auto [state, buffer] : llvm::zip(op.getFinalStates(), finals))
    replaceWithBuffer(builder, state, buffer);
  for (auto [snapshot, buffer] : llvm::zip(op.getSnapshotStates(), snapshots))
    replaceWithBuffer(builder, snapshot, buffer);
  op.erase();
  return mlir::success();
}

/// One sequence and head: where its states are, the tokens, the final states.
template <typename OpTy>
void SequenceLowering<OpTy>::emitSequence(mlir::Value n, mlir::Value h) {
  mlir::Value row = n;
  mlir::OpBuilder::InsertionGuard guard(builder);
  if (slots) {
    row = loadIndex(slots, n);
    mlir::Value padding = index(op.getPaddingSlot());
    mlir::Value used = mlir::arith::CmpIOp::create(
        builder, loc, mlir::arith::CmpIPredicate::ne, row, padding);
    auto branch =
        mlir::scf::IfOp::create(builder, loc, used, /*withElse=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  llvm::SmallVector<mlir::Value> homes, stored;
  for (auto [i, from, to] : llvm::enumerate(initial, finals)) {
    mlir::Value begin = stateView(from, {row, h});
    mlir::Value end = stateView(to, {row, h});
    auto type = mlir::cast<mlir::MemRefType>(end.getType());
    mlir::Type compute = type.getElementType();
    if (!compute.isF64())
      compute = builder.getF32Type();
    mlir::Value home = end;
    if (compute != type.getElementType())
      home = mlir::memref::AllocOp::create(
          builder, loc, mlir::MemRefType::get(type.getShape(), compute));
    if (home != end || !slots)
      copyState(begin, home);
    homes.push_back(home);
    stored.push_back(end);
  }
  mlir::Value begin = index(0), stop = time;
  if (seqlens) {
    begin = loadIndex(seqlens, n);
    mlir::Value next = mlir::arith::AddIOp::create(builder, loc, n, index(1));
    stop = loadIndex(seqlens, next);
  }
  emitTokens(n, h, begin, stop, homes);
  for (auto [home, end] : llvm::zip(homes, stored))
    if (home != end)
      copyState(home, end);
}

/// Copies the states after every C-th token of the sequence and after its last.
template <typename OpTy>
void SequenceLowering<OpTy>::emitSnapshots(mlir::Value n, mlir::Value h,
                                           mlir::Value t, mlir::Value begin,
                                           mlir::Value end,
                                           llvm::ArrayRef<mlir::Value> homes) {
  int64_t every = *op.getSnapshots();
  mlir::Value local = mlir::arith::SubIOp::create(builder, loc, t, begin);
  mlir::Value chunk =
      mlir::arith::DivUIOp::create(builder, loc, local, index(every));
  mlir::Value next = mlir::arith::AddIOp::create(builder, loc, t, index(1));
  mlir::Value length =
      mlir::arith::AddIOp::create(builder, loc, local, index(1));
  mlir::Value rest =
      mlir::arith::RemUIOp::create(builder, loc, length, index(every));
  mlir::Value full = mlir::arith::CmpIOp::create(
      builder, loc, mlir::arith::CmpIPredicate::eq, rest, index(0));
  mlir::Value last = mlir::arith::CmpIOp::create(
      builder, loc, mlir::arith::CmpIPredicate::eq, next, end);
  mlir::Value due = mlir::arith::OrIOp::create(builder, loc, full, last);
  auto branch = mlir::scf::IfOp::create(builder, loc, due, /*withElse=*/false);
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  llvm::SmallVector<mlir::Value, 3> at;
  if (!op.isPacked()) {
    at = {n, chunk, h};
  } else if (every == 1) {
    at = {t, h};
  } else {
    mlir::Value base =
        mlir::arith::DivUIOp::create(builder, loc, begin, index(every));
    base = mlir::arith::AddIOp::create(builder, loc, base, n);
    at = {mlir::arith::AddIOp::create(builder, loc, base, chunk), h};
  }
  for (auto [home, buffer] : llvm::zip(homes, snapshots))
    copyState(home, stateView(buffer, at));
}

} // namespace linattn

#endif // LINATTN_CONVERSION_COMMON_SEQUENCELOWERING_H
