//===- ChunkedToLoops.cpp - the chunk form on a CPU -----------------------===//
//
// See the description of the pass in Passes.td. This file makes the loops over
// chunks; ChunkBody.cpp prepares the region that they repeat.
//
//===----------------------------------------------------------------------===//

#include "../Common/SequenceLowering.h"
#include "ChunkBody.h"

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace linattn {
#define GEN_PASS_DEF_CHUNKEDTOLOOPS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

/// A cache line.
constexpr int64_t kTileAlignment = 64;

class ChunkedLowering : public SequenceLowering<ChunkedOp> {
public:
  using SequenceLowering::SequenceLowering;

private:
  void emitTokens(Value n, Value h, Value begin, Value end,
                  ArrayRef<Value> homes) override;
  /// Rows [t, t + rows) of the sequence, at most a chunk.
  void emitChunk(Value n, Value h, Value t, Value rows, ArrayRef<Value> homes);
  /// The rows [t, t + rows) of an operand where they lie.
  Value rowsView(Value buffer, ArrayRef<Value> at, Value rows);
  /// A copy of the rows that exist, and zeros behind them.
  Value paddedRows(Value view, Value rows, RankedTensorType tile);
  /// Asks for rows that the next chunk reads: one of them may be on a page of
  /// its own, where no hardware looks ahead.
  void prefetch(Value view);
  Value paramView(Value buffer, Value h);
  Value toTensor(Value buffer, Type type) {
    return bufferization::ToTensorOp::create(builder, loc, type, buffer,
                                             /*restrict=*/true);
  }
  void store(Value tile, Value buffer) {
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, Type(), tile, buffer, /*restrict=*/true,
        /*writable=*/true);
  }
  Value validRows(Value rows);
};

Value ChunkedLowering::rowsView(Value buffer, ArrayRef<Value> at, Value rows) {
  auto type = cast<MemRefType>(buffer.getType());
  unsigned timeDim = op.getHeadDim() - 1;
  SmallVector<OpFoldResult> offsets(at.begin(), at.end()), sizes, strides;
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    strides.push_back(builder.getIndexAttr(1));
    if (d >= (int64_t)offsets.size())
      offsets.push_back(builder.getIndexAttr(0));
    if (d == timeDim) {
      sizes.push_back(rows);
      shape.push_back(ShapedType::kDynamic);
    } else if (d < (int64_t)at.size()) {
      sizes.push_back(builder.getIndexAttr(1));
    } else {
      sizes.push_back(builder.getIndexAttr(type.getDimSize(d)));
      shape.push_back(type.getDimSize(d));
    }
  }
  auto view = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides));
  return memref::SubViewOp::create(builder, loc, view, buffer, offsets, sizes,
                                   strides);
}

Value ChunkedLowering::paddedRows(Value view, Value rows,
                                  RankedTensorType tile) {
  Type element = tile.getElementType();
  Value buffer = memref::AllocOp::create(
      builder, loc, MemRefType::get(tile.getShape(), element), ValueRange{},
      builder.getI64IntegerAttr(kTileAlignment));
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, view);
  SmallVector<OpFoldResult> offsets(tile.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(tile.getRank(), builder.getIndexAttr(1));
  Value head =
      memref::SubViewOp::create(builder, loc, buffer, offsets, sizes, strides);
  memref::CopyOp::create(builder, loc, view, head);
  // Nothing in a whole chunk.
  Value missing =
      arith::SubIOp::create(builder, loc, index(tile.getDimSize(0)), rows);
  offsets[0] = rows;
  sizes[0] = missing;
  Value rest =
      memref::SubViewOp::create(builder, loc, buffer, offsets, sizes, strides);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  linalg::FillOp::create(builder, loc, zero, rest);
  return toTensor(buffer, tile);
}

void ChunkedLowering::prefetch(Value view) {
  auto type = cast<MemRefType>(view.getType());
  constexpr int64_t kLineBits = 512;
  int64_t line = kLineBits / type.getElementTypeBitWidth();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> at;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Value size = memref::DimOp::create(builder, loc, view, d);
    Value step = index(d + 1 == type.getRank() ? line : 1);
    auto loop = scf::ForOp::create(builder, loc, index(0), size, step);
    builder.setInsertionPointToStart(loop.getBody());
    at.push_back(loop.getInductionVar());
  }
  memref::PrefetchOp::create(builder, loc, view, at, /*isWrite=*/false,
                             /*localityHint=*/2, /*isDataCache=*/true);
}

Value ChunkedLowering::paramView(Value buffer, Value h) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<OpFoldResult> offsets = {operandHead(type.getDimSize(0), h)};
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(1)};
  for (int64_t d = 1; d < type.getRank(); ++d) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(type.getDimSize(d)));
  }
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  auto view = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides));
  return memref::SubViewOp::create(builder, loc, view, buffer, offsets, sizes,
                                   strides);
}

/// Which tokens of the chunk exist.
Value ChunkedLowering::validRows(Value rows) {
  auto type = cast<RankedTensorType>(op.getValidArg().getType());
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  AffineMap map = builder.getMultiDimIdentityMap(1);
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange{}, init, ArrayRef<AffineMap>{map},
             ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
             [&](OpBuilder &b, Location l, ValueRange) {
               Value i = linalg::IndexOp::create(b, l, 0);
               Value inside = arith::CmpIOp::create(
                   b, l, arith::CmpIPredicate::ult, i, rows);
               linalg::YieldOp::create(b, l, inside);
             })
      .getResult(0);
}

void ChunkedLowering::emitTokens(Value n, Value h, Value begin, Value end,
                                 ArrayRef<Value> homes) {
  Value chunk = index(op.getChunk());
  auto loop = scf::ForOp::create(builder, loc, begin, end, chunk);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value t = loop.getInductionVar();
  Value left = arith::SubIOp::create(builder, loc, end, t);
  Value rows = arith::MinUIOp::create(builder, loc, left, chunk);
  Value next = arith::AddIOp::create(builder, loc, t, rows);
  Value behind = arith::SubIOp::create(builder, loc, end, next);
  Value nextRows = arith::MinUIOp::create(builder, loc, behind, chunk);
  for (auto [arg, buffer] : llvm::zip(op.getTokenArgs(), tokens)) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getRank() == op.getHeadDim() + 1 || arg.use_empty())
      continue;
    Value head = operandHead(type.getDimSize(op.getHeadDim()), h);
    prefetch(rowsView(buffer, at(n, next, head), nextRows));
  }
  emitChunk(n, h, t, rows, homes);
  if (!op.getSnapshots())
    return;
  Value last = arith::SubIOp::create(builder, loc, next, index(1));
  emitSnapshots(n, h, last, begin, end, homes);
}

void ChunkedLowering::emitChunk(Value n, Value h, Value t, Value rows,
                                ArrayRef<Value> homes) {
  IRMapping mapping;
  for (auto [arg, buffer] : llvm::zip(op.getTokenArgs(), tokens)) {
    if (arg.use_empty())
      continue;
    int64_t heads =
        cast<MemRefType>(buffer.getType()).getDimSize(op.getHeadDim());
    Value view = rowsView(buffer, at(n, t, operandHead(heads, h)), rows);
    mapping.map(arg,
                paddedRows(view, rows, cast<RankedTensorType>(arg.getType())));
  }
  for (auto [arg, buffer] : llvm::zip(op.getParamArgs(), params))
    mapping.map(arg, toTensor(paramView(buffer, h), arg.getType()));
  for (auto [arg, home] : llvm::zip(op.getStateArgs(), homes))
    mapping.map(arg, toTensor(home, arg.getType()));
  mapping.map(op.getValidArg(), validRows(rows));
  for (Operation &inner : op.getBlock()->without_terminator())
    builder.clone(inner, mapping);

  ValueRange yielded = op.getBlock()->getTerminator()->getOperands();
  for (auto [value, buffer] :
       llvm::zip(yielded.take_front(outputs.size()), outputs)) {
    Value tile = mapping.lookup(value);
    Value view = rowsView(buffer, at(n, t, h), rows);
    int64_t rank = cast<RankedTensorType>(tile.getType()).getRank();
    SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, view);
    store(tensor::ExtractSliceOp::create(builder, loc, tile, offsets, sizes,
                                         strides),
          view);
  }
  // The states last: everything that reads the old ones stands before.
  for (auto [value, home] :
       llvm::zip(yielded.drop_front(outputs.size()), homes))
    store(mapping.lookup(value), home);
}

struct ChunkedToLoopsPass
    : linattn::impl::ChunkedToLoopsBase<ChunkedToLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ChunkedOp> ops;
    getOperation().walk([&](ChunkedOp op) { ops.push_back(op); });
    for (ChunkedOp op : ops) {
      if (failed(prepareChunkBody(op, keepRounding)) ||
          failed(ChunkedLowering(op).run()))
        return signalPassFailure();
      ++numLowered;
    }
  }
};

} // namespace
