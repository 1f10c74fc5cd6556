//===- AttentionTilesToLoops.cpp - tiled attention on a CPU ---------------===//
//
// See the description of the pass in Passes.td. This file makes the loops over
// tiles; TileRegion.cpp prepares the regions that they repeat.
//
//===----------------------------------------------------------------------===//

#include "TileRegion.h"

#include "linattn/Conversion/Destinations.h"
#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace linattn {
#define GEN_PASS_DEF_ATTENTIONTILESTOLOOPS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

class AttentionTilesLowering {
public:
  explicit AttentionTilesLowering(AttentionTilesOp op)
      : op(op), builder(op), loc(op.getLoc()) {}

  LogicalResult run();

private:
  /// Queries or keys of one sequence: its first row in memory, how many rows.
  struct Span {
    Value begin, count;
  };

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value min(Value a, Value b) {
    return arith::MinSIOp::create(builder, loc, a, b);
  }
  Value max(Value a, Value b) {
    return arith::MaxSIOp::create(builder, loc, a, b);
  }
  Value toTensor(Value buffer, Type type) {
    return bufferization::ToTensorOp::create(builder, loc, type, buffer,
                                             /*restrict=*/true);
  }
  void store(Value tile, Value buffer) {
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, Type(), tile, buffer, /*restrict=*/true,
        /*writable=*/true);
  }

  Span spanOf(Value offsets, Value buffer);
  void emitHead();
  /// Queries [t, t + rows) of the sequence.
  void emitQueryTile(Value t);
  void emitKeyTile(Value t, Value j, ArrayRef<Value> queryTiles);
  /// The keys that some query of [t, stop) may see, as a range.
  std::pair<Value, Value> visibleKeys(Value t, Value stop);
  Value allowedPairs(Value t, Value j);
  /// `count` rows from `row` of the sequence `span` and one head, in place.
  Value rowsView(Value buffer, const Span &span, Value row, Value count,
                 Value head);
  /// A copy of them as a tile, zeros behind them.
  Value loadTile(Value buffer, const Span &span, Value row, Value count,
                 AffineMap headMap, RankedTensorType type);

  AttentionTilesOp op;
  OpBuilder builder;
  Location loc;
  SmallVector<Value> queryBuffers, keyBuffers, results;
  Value seqlens, kvSeqlens;
  // Of the sequence and head that is being emitted.
  Value sequence, head;
  Span queries, keys;
  SmallVector<Value> homes;
};

LogicalResult AttentionTilesLowering::run() {
  unsigned leading = op.getHeadDim() + 1;
  auto bufferOf = [&](Value operand) {
    bool isVector =
        cast<RankedTensorType>(operand.getType()).getRank() > leading;
    return getInputBuffer(builder, operand, isVector);
  };
  for (Value query : op.getQueries())
    queryBuffers.push_back(bufferOf(query));
  for (Value key : op.getKeys())
    keyBuffers.push_back(bufferOf(key));
  if (op.getSeqlens())
    seqlens = getInputBuffer(builder, op.getSeqlens(), false);
  kvSeqlens = op.getKvSeqlens()
                  ? getInputBuffer(builder, op.getKvSeqlens(), false)
                  : seqlens;
  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(builder, sizes)))
    return failure();
  for (OpResult result : op->getResults())
    results.push_back(getResultBuffer(
        builder, result, sizes[result.getResultNumber()],
        cast<RankedTensorType>(result.getType()).getRank() > leading));

  Value sequences;
  if (op.isPacked())
    sequences =
        sub(memref::DimOp::create(builder, loc, seqlens, index(0)), index(1));
  else
    sequences = memref::DimOp::create(builder, loc, queryBuffers[0], index(0));
  auto parallel =
      scf::ParallelOp::create(builder, loc, ValueRange{index(0), index(0)},
                              ValueRange{sequences, index(op.getHeads())},
                              ValueRange{index(1), index(1)});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(parallel.getBody());
    sequence = parallel.getInductionVars()[0];
    head = parallel.getInductionVars()[1];
    emitHead();
  }
  for (auto [result, buffer] : llvm::zip(op->getResults(), results))
    replaceWithBuffer(builder, result, buffer);
  op.erase();
  return success();
}

AttentionTilesLowering::Span AttentionTilesLowering::spanOf(Value offsets,
                                                            Value buffer) {
  if (!offsets)
    return {index(0), memref::DimOp::create(builder, loc, buffer, index(1))};
  auto load = [&](Value at) -> Value {
    Value value = memref::LoadOp::create(builder, loc, offsets, at);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  };
  Value begin = load(sequence);
  return {begin, sub(load(add(sequence, index(1))), begin)};
}

void AttentionTilesLowering::emitHead() {
  queries = spanOf(seqlens, queryBuffers[0]);
  keys = spanOf(kvSeqlens, keyBuffers[0]);
  for (BlockArgument arg : op.getCarriedArgs(op.getStepBlock())) {
    auto type = cast<RankedTensorType>(arg.getType());
    homes.push_back(memref::AllocOp::create(
        builder, loc, MemRefType::get(type.getShape(), type.getElementType())));
  }
  auto loop = scf::ForOp::create(builder, loc, index(0), queries.count,
                                 index(op.getQueryTile()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  emitQueryTile(loop.getInductionVar());
}

/// Position p = t + S - T; causal s <= p; window p - w < s, and s < p + w if
/// not causal. From the first query's first key to the last one's last key
/// there is an allowed pair in every tile.
std::pair<Value, Value> AttentionTilesLowering::visibleKeys(Value t,
                                                            Value stop) {
  Value shift = sub(keys.count, queries.count);
  Value first = index(0), last = keys.count;
  if (op.getWindow())
    first = max(first, add(add(t, shift), index(1 - *op.getWindow())));
  if (op.getCausal())
    last = min(last, add(stop, shift));
  else if (op.getWindow())
    last = min(last, add(add(stop, shift), index(*op.getWindow() - 1)));
  return {first, last};
}

void AttentionTilesLowering::emitQueryTile(Value t) {
  Value stop = min(add(t, index(op.getQueryTile())), queries.count);
  Value count = sub(stop, t);
  auto queryMaps = op.getQueryHeads().getAsValueRange<AffineMapAttr>();
  SmallVector<Value> tiles;
  for (auto [operand, buffer, map] :
       llvm::zip(op.getQueries(), queryBuffers, queryMaps))
    tiles.push_back(loadTile(buffer, queries, t, count, map,
                             op.getTileType(operand, op.getQueryTile())));
  auto inits = op.getInit().getAsValueRange<FloatAttr>();
  for (auto [home, init] : llvm::zip(homes, inits)) {
    Type element = cast<MemRefType>(home.getType()).getElementType();
    Value number = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(element, init.convertToDouble()));
    linalg::FillOp::create(builder, loc, number, home);
  }
  auto [first, last] = visibleKeys(t, stop);
  Value step = index(op.getKeyTile());
  Value aligned = arith::MulIOp::create(
      builder, loc, arith::DivUIOp::create(builder, loc, first, step), step);
  auto loop = scf::ForOp::create(builder, loc, aligned, last, step);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    emitKeyTile(t, loop.getInductionVar(), tiles);
  }

  IRMapping mapping;
  Block *finish = op.getFinishBlock();
  SmallVector<Value> inputs = {sequence, head, t};
  llvm::append_range(inputs, tiles);
  for (auto [arg, home] : llvm::zip(op.getCarriedArgs(finish), homes))
    inputs.push_back(toTensor(home, arg.getType()));
  mapping.map(finish->getArguments(), inputs);
  for (Operation &inner : finish->without_terminator())
    builder.clone(inner, mapping);
  for (auto [value, buffer] :
       llvm::zip(finish->getTerminator()->getOperands(), results)) {
    Value tile = mapping.lookupOrDefault(value);
    Value view = rowsView(buffer, queries, t, count, head);
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
    SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, view);
    store(tensor::ExtractSliceOp::create(builder, loc, tile, offsets, sizes,
                                         strides),
          view);
  }
}

void AttentionTilesLowering::emitKeyTile(Value t, Value j,
                                         ArrayRef<Value> queryTiles) {
  Value count = min(index(op.getKeyTile()), sub(keys.count, j));
  auto keyMaps = op.getKeyHeads().getAsValueRange<AffineMapAttr>();
  SmallVector<Value> inputs = {sequence, head, t, j, allowedPairs(t, j)};
  llvm::append_range(inputs, queryTiles);
  for (auto [operand, buffer, map] :
       llvm::zip(op.getKeys(), keyBuffers, keyMaps))
    inputs.push_back(loadTile(buffer, keys, j, count, map,
                              op.getTileType(operand, op.getKeyTile())));
  Block *step = op.getStepBlock();
  for (auto [arg, home] : llvm::zip(op.getCarriedArgs(step), homes))
    inputs.push_back(toTensor(home, arg.getType()));
  IRMapping mapping;
  mapping.map(step->getArguments(), inputs);
  for (Operation &inner : step->without_terminator())
    builder.clone(inner, mapping);
  // Last: everything that reads the old values stands before.
  for (auto [value, home] :
       llvm::zip(step->getTerminator()->getOperands(), homes))
    store(mapping.lookupOrDefault(value), home);
}

Value AttentionTilesLowering::allowedPairs(Value t, Value j) {
  auto type =
      cast<RankedTensorType>(op.getStepBlock()->getArgument(4).getType());
  Value shift = sub(keys.count, queries.count);
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  Value window = op.getWindow() ? index(*op.getWindow()) : Value();
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, type, ValueRange{}, init,
             ArrayRef<AffineMap>{builder.getMultiDimIdentityMap(2)}, iterators,
             [&](OpBuilder &b, Location at, ValueRange) {
               auto plus = [&](Value x, Value y) -> Value {
                 return arith::AddIOp::create(b, at, x, y);
               };
               auto less = [&](Value x, Value y) -> Value {
                 return arith::CmpIOp::create(b, at, arith::CmpIPredicate::slt,
                                              x, y);
               };
               Value query = plus(t, linalg::IndexOp::create(b, at, 0));
               Value key = plus(j, linalg::IndexOp::create(b, at, 1));
               Value position = plus(query, shift);
               Value result = less(key, keys.count);
               auto require = [&](Value condition) {
                 result = arith::AndIOp::create(b, at, result, condition);
               };
               require(less(query, queries.count));
               if (op.getCausal())
                 require(arith::CmpIOp::create(b, at, arith::CmpIPredicate::sle,
                                               key, position));
               if (window) {
                 require(less(position, plus(key, window)));
                 if (!op.getCausal())
                   require(less(key, plus(position, window)));
               }
               linalg::YieldOp::create(b, at, result);
             })
      .getResult(0);
}

Value AttentionTilesLowering::rowsView(Value buffer, const Span &span,
                                       Value row, Value count, Value ofHead) {
  auto type = cast<MemRefType>(buffer.getType());
  unsigned timeDim = op.getHeadDim() - 1;
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (d < timeDim) {
      offsets.push_back(sequence);
      sizes.push_back(builder.getIndexAttr(1));
    } else if (d == timeDim) {
      offsets.push_back(add(span.begin, row));
      sizes.push_back(count);
    } else if (d == timeDim + 1) {
      offsets.push_back(ofHead);
      sizes.push_back(builder.getIndexAttr(1));
    } else {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(builder.getIndexAttr(type.getDimSize(d)));
      shape.push_back(type.getDimSize(d));
    }
  }
  auto view = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides));
  return memref::SubViewOp::create(builder, loc, view, buffer, offsets, sizes,
                                   strides);
}

Value AttentionTilesLowering::loadTile(Value buffer, const Span &span,
                                       Value row, Value count,
                                       AffineMap headMap,
                                       RankedTensorType type) {
  Value ofHead = affine::AffineApplyOp::create(builder, loc, headMap, head);
  Value view = rowsView(buffer, span, row, count, ofHead);
  Value tile = memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()));
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  linalg::FillOp::create(builder, loc, zero, tile);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, view);
  Value rows =
      memref::SubViewOp::create(builder, loc, tile, offsets, sizes, strides);
  memref::CopyOp::create(builder, loc, view, rows);
  return toTensor(tile, type);
}

struct AttentionTilesToLoopsPass
    : linattn::impl::AttentionTilesToLoopsBase<AttentionTilesToLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<AttentionTilesOp> ops;
    getOperation().walk([&](AttentionTilesOp op) { ops.push_back(op); });
    for (AttentionTilesOp op : ops) {
      if (failed(prepareTileRegions(op, keepRounding)) ||
          failed(AttentionTilesLowering(op).run()))
        return signalPassFailure();
      ++numLowered;
    }
  }
};

} // namespace
