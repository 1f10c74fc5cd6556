//===- RecurrenceToLoops.cpp - the token-serial form on a CPU -------------===//
//
// See the description of the pass in Passes.td. This file makes the loops over
// sequences, heads and tokens; StepEmitter.cpp the body of one token.
//
//===----------------------------------------------------------------------===//

#include "StepEmitter.h"

#include "linattn/Conversion/Destinations.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/ExpandSugar.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace linattn {
#define GEN_PASS_DEF_RECURRENCETOLOOPS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

/// Lowers one recurrence. The members are the values that the loops share.
class RecurrenceLowering {
public:
  RecurrenceLowering(RecurrenceOp op, SweepCounts &counts)
      : op(op), builder(op), loc(op.getLoc()), counts(counts) {}

  LogicalResult run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// Element `at` of a tensor of offsets or slots, as an index.
  Value loadIndex(Value buffer, Value at) {
    Value value = memref::LoadOp::create(builder, loc, buffer, at);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  }
  /// The head of an operand with `heads` heads that head `h` reads.
  Value operandHead(int64_t heads, Value h) {
    if (heads == op.getNumHeads())
      return h;
    Value group = index(op.getNumHeads() / heads);
    return arith::DivUIOp::create(builder, loc, h, group);
  }
  /// A [K, V] view of a state of a buffer [.., H, K, V].
  Value stateView(Value buffer, ArrayRef<Value> leading);
  void copyState(Value from, Value to);

  void emitSequence(Value n, Value h);
  void emitTokens(Value n, Value h, ArrayRef<Value> homes);
  void emitSnapshots(Value n, Value h, Value t, Value begin, Value end,
                     ArrayRef<Value> homes);

  RecurrenceOp op;
  OpBuilder builder;
  Location loc;
  SweepCounts &counts;
  SmallVector<Value> tokens, params, initial, outputs, finals, snapshots;
  Value seqlens, slots, time;
};

Value RecurrenceLowering::stateView(Value buffer, ArrayRef<Value> leading) {
  auto type = cast<MemRefType>(buffer.getType());
  unsigned rank = type.getRank();
  SmallVector<OpFoldResult> offsets(leading.begin(), leading.end());
  SmallVector<OpFoldResult> sizes(rank - 2, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  offsets.append(2, builder.getIndexAttr(0));
  SmallVector<int64_t> shape(type.getShape().take_back(2));
  for (int64_t size : shape)
    sizes.push_back(builder.getIndexAttr(size));
  auto view = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides));
  return memref::SubViewOp::create(builder, loc, view, buffer, offsets, sizes,
                                   strides);
}

void RecurrenceLowering::copyState(Value from, Value to) {
  auto type = cast<MemRefType>(from.getType());
  Type target = cast<MemRefType>(to.getType()).getElementType();
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  auto loop = scf::ForOp::create(builder, loc, index(0), index(rows), index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  forEachPiece(columns, kPieceWidth, [&](int64_t at, int64_t width) {
    Value indices[] = {loop.getInductionVar(), index(at)};
    Value row = vector::LoadOp::create(
        builder, loc, VectorType::get({width}, type.getElementType()), from,
        indices);
    row = convertFloat(builder, loc, row, target);
    vector::StoreOp::create(builder, loc, row, to, indices);
  });
}

LogicalResult RecurrenceLowering::run() {
  unsigned leading = op.getHeadDim() + 1;
  auto rankOf = [](Value v) {
    return cast<RankedTensorType>(v.getType()).getRank();
  };
  for (Value token : op.getTokens())
    tokens.push_back(getInputBuffer(builder, token, rankOf(token) > leading));
  for (Value param : op.getParams())
    params.push_back(getInputBuffer(builder, param, rankOf(param) > 1));
  if (op.getSeqlens())
    seqlens = getInputBuffer(builder, op.getSeqlens(), false);
  if (op.getSlots())
    slots = getInputBuffer(builder, op.getSlots(), false);

  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(builder, sizes)))
    return failure();
  for (OpResult output : op.getOutputs())
    outputs.push_back(getResultBuffer(builder, output,
                                      sizes[output.getResultNumber()],
                                      rankOf(output) > leading));
  for (auto [i, state] : llvm::enumerate(op.getFinalStates())) {
    if (slots) {
      // The pool is updated in place. Bufferization copies it first if its old
      // contents are read later.
      Value buffer = getInPlaceBuffer(builder, op.getStates()[i]);
      initial.push_back(buffer);
      finals.push_back(buffer);
      continue;
    }
    initial.push_back(getInputBuffer(builder, op.getStates()[i], true));
    finals.push_back(
        getResultBuffer(builder, state, sizes[state.getResultNumber()], true));
  }
  for (OpResult snapshot : op.getSnapshotStates())
    snapshots.push_back(getResultBuffer(
        builder, snapshot, sizes[snapshot.getResultNumber()], true));

  Value sequences;
  if (op.isPacked()) {
    Value offsets = memref::DimOp::create(builder, loc, seqlens, index(0));
    sequences = arith::SubIOp::create(builder, loc, offsets, index(1));
  } else {
    sequences = memref::DimOp::create(builder, loc, tokens[0], index(0));
  }
  time = memref::DimOp::create(builder, loc, tokens[0],
                               index(op.getHeadDim() - 1));
  auto parallel =
      scf::ParallelOp::create(builder, loc, ValueRange{index(0), index(0)},
                              ValueRange{sequences, index(op.getNumHeads())},
                              ValueRange{index(1), index(1)});
  {
    OpBuilder::InsertionGuard guard(builder);
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
  return success();
}

/// One sequence and head: where its states are, the tokens, the final states.
void RecurrenceLowering::emitSequence(Value n, Value h) {
  Value row = n;
  OpBuilder::InsertionGuard guard(builder);
  if (slots) {
    row = loadIndex(slots, n);
    Value padding = index(op.getPaddingSlot());
    Value used = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       row, padding);
    auto branch = scf::IfOp::create(builder, loc, used, /*withElse=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  SmallVector<Value> homes, stored;
  for (auto [i, from, to] : llvm::enumerate(initial, finals)) {
    Value begin = stateView(from, {row, h});
    Value end = stateView(to, {row, h});
    StateType type = op.getStateType(i);
    Value home = end;
    if (type.getComputeType() != type.getElementType())
      home = memref::AllocOp::create(
          builder, loc,
          MemRefType::get(type.getShape(), type.getComputeType()));
    if (home != end || !slots)
      copyState(begin, home);
    homes.push_back(home);
    stored.push_back(end);
  }
  emitTokens(n, h, homes);
  for (auto [home, end] : llvm::zip(homes, stored))
    if (home != end)
      copyState(home, end);
}

void RecurrenceLowering::emitTokens(Value n, Value h, ArrayRef<Value> homes) {
  Value begin = index(0), end = time;
  if (seqlens) {
    begin = loadIndex(seqlens, n);
    Value next = arith::AddIOp::create(builder, loc, n, index(1));
    end = loadIndex(seqlens, next);
  }
  StepEmitter step(op, builder, homes, counts);
  for (auto [arg, buffer] : llvm::zip(op.getParamArgs(), params)) {
    Value head =
        operandHead(cast<MemRefType>(buffer.getType()).getDimSize(0), h);
    step.map(arg, loadStepValue(builder, loc, arg.getType(), buffer, {head}));
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end, index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value t = loop.getInductionVar();
  for (auto [arg, buffer] : llvm::zip(op.getTokenArgs(), tokens)) {
    int64_t heads =
        cast<MemRefType>(buffer.getType()).getDimSize(op.getHeadDim());
    SmallVector<Value, 3> at = {t, operandHead(heads, h)};
    if (!op.isPacked())
      at.insert(at.begin(), n);
    step.map(arg, loadStepValue(builder, loc, arg.getType(), buffer, at));
  }
  SmallVector<Value> results = step.emit(loop.getOperation());
  for (auto [value, buffer] : llvm::zip(results, outputs)) {
    SmallVector<Value, 3> at = {t, h};
    if (!op.isPacked())
      at.insert(at.begin(), n);
    storeStepValue(builder, loc, value, buffer, at);
  }
  if (op.getSnapshots())
    emitSnapshots(n, h, t, begin, end, homes);
}

/// Copies the states after every C-th token of the sequence and after its last.
void RecurrenceLowering::emitSnapshots(Value n, Value h, Value t, Value begin,
                                       Value end, ArrayRef<Value> homes) {
  int64_t every = *op.getSnapshots();
  Value local = arith::SubIOp::create(builder, loc, t, begin);
  Value chunk = arith::DivUIOp::create(builder, loc, local, index(every));
  Value next = arith::AddIOp::create(builder, loc, t, index(1));
  Value length = arith::AddIOp::create(builder, loc, local, index(1));
  Value rest = arith::RemUIOp::create(builder, loc, length, index(every));
  Value full = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     rest, index(0));
  Value last =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, next, end);
  Value due = arith::OrIOp::create(builder, loc, full, last);
  auto branch = scf::IfOp::create(builder, loc, due, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value, 3> at;
  if (!op.isPacked()) {
    at = {n, chunk, h};
  } else if (every == 1) {
    at = {t, h};
  } else {
    Value base = arith::DivUIOp::create(builder, loc, begin, index(every));
    base = arith::AddIOp::create(builder, loc, base, n);
    at = {arith::AddIOp::create(builder, loc, base, chunk), h};
  }
  for (auto [home, buffer] : llvm::zip(homes, snapshots))
    copyState(home, stateView(buffer, at));
}

struct RecurrenceToLoopsPass
    : linattn::impl::RecurrenceToLoopsBase<RecurrenceToLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateExpandSugarPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    SmallVector<RecurrenceOp> ops;
    getOperation().walk([&](RecurrenceOp op) { ops.push_back(op); });
    for (RecurrenceOp op : ops) {
      SweepCounts counts;
      if (failed(RecurrenceLowering(op, counts).run()))
        return signalPassFailure();
      numSweeps += counts.sweeps;
      numCopies += counts.copies;
    }
  }
};

} // namespace
