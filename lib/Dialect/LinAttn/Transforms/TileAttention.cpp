//===- TileAttention.cpp - attention as passes over key tiles -------------===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "TileRegionBuilder.h"

#include "linattn/Dialect/LinAttn/IR/Precision.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"

#include <limits>

namespace linattn {
#define GEN_PASS_DEF_TILEATTENTIONPASS
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

struct TileOptions {
  int64_t queryTile, keyTile;
  std::optional<MmaPrecision> mma;
  /// By how much a maximum may be behind.
  double slack;
};

int64_t headsOf(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return type.getDimSize(type.getRank() - 2);
}

/// Running maximum, sum and weighted values of the rows of a query tile.
struct Carried {
  Value max, sum, acc;
};

/// Builds an attention_tiles for one attention operation.
template <typename OpTy> class AttentionTiler {
public:
  AttentionTiler(RewriterBase &rewriter, OpTy op, const TileOptions &options)
      : rewriter(rewriter), op(op), options(options),
        tiles(rewriter, op.getLoc()) {
    Type element = getElementTypeOrSelf(op.getQuery().getType());
    tiles.compute = element.isF64() ? element : Type(rewriter.getF32Type());
    tiles.precision = options.mma.value_or(*getMmaPrecision(op));
  }

  /// An operand of the tiled form, read at head `map` of h.
  unsigned addQuery(Value query, AffineExpr map) {
    return add(queries, queryHeads, query, map);
  }
  unsigned addKey(Value key, AffineExpr map) {
    return add(keys, keyHeads, key, map);
  }
  AffineExpr head() { return rewriter.getAffineDimExpr(0); }

  using StepFn = llvm::function_ref<SmallVector<Carried>(
      ValueRange queries, ValueRange keys, ArrayRef<Carried> carried)>;
  using FinishFn = llvm::function_ref<SmallVector<Value>(
      ValueRange queries, ArrayRef<Carried> carried)>;

  AttentionTilesOp build(int64_t heads, unsigned maps, StepFn step,
                         FinishFn finish);

  /// One key tile of the softmax map of query head `queryHead`.
  Carried step(Value q, Value k, Value v, Value queryHead, Carried old);
  /// acc / l, 0 where no key was seen, and log l + m.
  Value normalize(Carried last);
  Value logSumExp(Carried last);

  TileRegionBuilder &getTiles() { return tiles; }
  /// Of the region that is being built.
  Value getHead() const { return head_; }

private:
  unsigned add(SmallVector<Value> &operands, SmallVector<AffineMap> &maps,
               Value operand, AffineExpr map) {
    operands.push_back(operand);
    maps.push_back(AffineMap::get(1, 0, map));
    return operands.size() - 1;
  }
  Value emitScore(Value s, Value queryHead);
  /// Whether a row has seen no key, or only scores of -inf: [Q].
  Value sawNone(Value max) {
    return tiles.compare(arith::CmpFPredicate::OEQ, max, kMinusInfinity);
  }
  SmallVector<Carried> carriedOf(Block *block, AttentionTilesOp tiled);

  RewriterBase &rewriter;
  OpTy op;
  const TileOptions &options;
  TileRegionBuilder tiles;
  SmallVector<Value> queries, keys;
  SmallVector<AffineMap> queryHeads, keyHeads;
  // Of the region that is being built.
  Value sequence, head_, firstQuery, firstKey, allowed;
};

/// The score region on a tile. A pair that is not allowed may have positions
/// that a tensor from outside does not have: it reads place 0.
template <typename OpTy>
Value AttentionTiler<OpTy>::emitScore(Value s, Value queryHead) {
  Region &score = op.getScore();
  if (score.empty())
    return s;
  Block &block = score.front();
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    auto position = [&](Value first, int64_t dim) -> Value {
      return arith::AddIOp::create(b, loc, first,
                                   linalg::IndexOp::create(b, loc, dim));
    };
    IRMapping mapping;
    Value inputs[] = {args[0], sequence, queryHead, position(firstQuery, 0),
                      position(firstKey, 1)};
    for (auto [arg, value] : llvm::zip_equal(block.getArguments(), inputs))
      mapping.map(arg, value);
    Value zero;
    for (Operation &inner : block.without_terminator()) {
      Operation *copy = b.clone(inner, mapping);
      auto extract = dyn_cast<tensor::ExtractOp>(copy);
      if (!extract)
        continue;
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(extract);
      zero = arith::ConstantIndexOp::create(b, loc, 0);
      for (OpOperand &at : extract.getIndicesMutable())
        at.set(arith::SelectOp::create(b, loc, args[1], at.get(), zero));
    }
    linalg::YieldOp::create(
        b, loc, mapping.lookupOrDefault(block.getTerminator()->getOperand(0)));
  };
  return tiles.elementwise({s, allowed}, body);
}

template <typename OpTy>
Carried AttentionTiler<OpTy>::step(Value q, Value k, Value v, Value queryHead,
                                   Carried old) {
  Value kT = tiles.transpose(k);
  Value s =
      tiles.product(q, kT, tiles.zeros({options.queryTile, options.keyTile}));
  s = tiles.scale(s, op.getEffectiveScale());
  s = emitScore(s, queryHead);
  s = tiles.select(allowed, s, tiles.splat(s.getType(), kMinusInfinity));

  Value max = tiles.reduceRows(s, old.max, /*maximum=*/true);
  // A maximum that is NaN is taken, and so is that of a row that had none.
  if (options.slack > 0)
    max = tiles.select(tiles.compare(arith::CmpFPredicate::UGT,
                                     tiles.sub(max, old.max), options.slack),
                       max, old.max);
  // The shift by 0 keeps -inf - (-inf) from being NaN.
  Value shift = tiles.select(sawNone(max), tiles.splat(max.getType(), 0), max);
  Value p = tiles.exp(tiles.sub(s, tiles.overColumns(shift, s)));
  Value alpha = tiles.exp(tiles.sub(old.max, shift));
  Value sum = tiles.reduceRows(p, tiles.mul(alpha, old.sum),
                               /*maximum=*/false);
  Value acc = tiles.mul(tiles.overColumns(alpha, old.acc), old.acc);
  return {max, sum, tiles.product(p, v, acc)};
}

template <typename OpTy> Value AttentionTiler<OpTy>::normalize(Carried last) {
  Value none = sawNone(last.max);
  Value divisor =
      tiles.select(none, tiles.splat(last.sum.getType(), 1), last.sum);
  Value out = tiles.div(last.acc, tiles.overColumns(divisor, last.acc));
  // A value that is not finite may have met a weight of 0.
  return tiles.select(tiles.overColumns(none, out),
                      tiles.splat(out.getType(), 0), out);
}

template <typename OpTy> Value AttentionTiler<OpTy>::logSumExp(Carried last) {
  Value divisor = tiles.select(sawNone(last.max),
                               tiles.splat(last.sum.getType(), 1), last.sum);
  return tiles.add(last.max, tiles.log(divisor));
}

template <typename OpTy>
SmallVector<Carried> AttentionTiler<OpTy>::carriedOf(Block *block,
                                                     AttentionTilesOp tiled) {
  SmallVector<Carried> carried;
  auto args = tiled.getCarriedArgs(block);
  for (size_t i = 0; i < args.size(); i += 3)
    carried.push_back({args[i], args[i + 1], args[i + 2]});
  return carried;
}

template <typename OpTy>
AttentionTilesOp AttentionTiler<OpTy>::build(int64_t heads, unsigned maps,
                                             StepFn emitStep,
                                             FinishFn emitFinish) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<double> init;
  for (unsigned i = 0; i < maps; ++i)
    init.append({kMinusInfinity, 0.0, 0.0});
  auto tiled = AttentionTilesOp::create(
      rewriter, loc, op->getResultTypes(), queries, keys, op.getSeqlens(),
      op.getKvSeqlens(), rewriter.getI64IntegerAttr(heads),
      rewriter.getI64IntegerAttr(options.queryTile),
      rewriter.getI64IntegerAttr(options.keyTile), op.getCausalAttr(),
      op.getWindowAttr(), rewriter.getAffineMapArrayAttr(queryHeads),
      rewriter.getAffineMapArrayAttr(keyHeads), rewriter.getF64ArrayAttr(init));

  Type index = rewriter.getIndexType();
  auto valueType = cast<RankedTensorType>(op.getValue().getType());
  SmallVector<Type> carriedTypes;
  for (unsigned i = 0; i < maps; ++i) {
    auto row = RankedTensorType::get({options.queryTile}, tiles.compute);
    carriedTypes.append(
        {row, row,
         RankedTensorType::get({options.queryTile, valueType.getShape().back()},
                               tiles.compute)});
  }
  auto addArguments = [&](Block *block, Type type, size_t count = 1) {
    for (size_t i = 0; i < count; ++i)
      block->addArgument(type, loc);
  };

  Block *block = rewriter.createBlock(&tiled.getStep());
  addArguments(block, index, 4);
  addArguments(block,
               RankedTensorType::get({options.queryTile, options.keyTile},
                                     rewriter.getI1Type()));
  for (Value query : queries)
    addArguments(block, tiled.getTileType(query, options.queryTile));
  for (Value key : keys)
    addArguments(block, tiled.getTileType(key, options.keyTile));
  for (Type type : carriedTypes)
    addArguments(block, type);
  sequence = block->getArgument(0);
  head_ = block->getArgument(1);
  firstQuery = block->getArgument(2);
  firstKey = block->getArgument(3);
  allowed = block->getArgument(4);
  auto args = block->getArguments().drop_front(tiled.kStepLeading);
  SmallVector<Value> yielded;
  for (Carried next : emitStep(args.take_front(queries.size()),
                               args.slice(queries.size(), keys.size()),
                               carriedOf(block, tiled)))
    yielded.append({next.max, next.sum, next.acc});
  YieldOp::create(rewriter, loc, yielded);

  block = rewriter.createBlock(&tiled.getFinish());
  addArguments(block, index, 3);
  for (Value query : queries)
    addArguments(block, tiled.getTileType(query, options.queryTile));
  for (Type type : carriedTypes)
    addArguments(block, type);
  head_ = block->getArgument(1);
  yielded.clear();
  args = block->getArguments().drop_front(tiled.kFinishLeading);
  for (auto [value, result] : llvm::zip_equal(
           emitFinish(args.take_front(queries.size()), carriedOf(block, tiled)),
           op->getResults()))
    yielded.push_back(
        tiles.convert(value, getElementTypeOrSelf(result.getType())));
  YieldOp::create(rewriter, loc, yielded);
  return tiled;
}

//===----------------------------------------------------------------------===//
// The operations
//===----------------------------------------------------------------------===//

void tile(RewriterBase &rewriter, SoftmaxAttentionOp op,
          const TileOptions &options) {
  AttentionTiler tiler(rewriter, op, options);
  int64_t heads = headsOf(op.getQuery());
  AffineExpr h = tiler.head(), kv = h.floorDiv(heads / headsOf(op.getKey()));
  tiler.addQuery(op.getQuery(), h);
  tiler.addKey(op.getKey(), kv);
  tiler.addKey(op.getValue(), kv);
  AttentionTilesOp tiled = tiler.build(
      heads, /*maps=*/1,
      [&](ValueRange queries, ValueRange keys, ArrayRef<Carried> carried) {
        return SmallVector<Carried>{tiler.step(queries[0], keys[0], keys[1],
                                               tiler.getHead(), carried[0])};
      },
      [&](ValueRange, ArrayRef<Carried> carried) {
        SmallVector<Value> outputs = {tiler.normalize(carried[0])};
        if (op.getLse())
          outputs.push_back(tiler.logSumExp(carried[0]));
        return outputs;
      });
  rewriter.replaceOp(op, tiled);
}

/// x / sqrt(mean x^2 + eps) * weight, by rows.
Value emitRMSNorm(TileRegionBuilder &tiles, Value x, Value weight, double eps) {
  auto type = cast<RankedTensorType>(x.getType());
  Value zero = tiles.zeros({type.getDimSize(0)});
  Value sum = tiles.reduceRows(tiles.mul(x, x), zero, /*maximum=*/false);
  Value mean = tiles.div(sum, tiles.splat(sum.getType(), type.getDimSize(1)));
  Value root = tiles.sqrt(tiles.add(mean, tiles.splat(sum.getType(), eps)));
  x = tiles.div(x, tiles.overColumns(root, x));
  return tiles.mul(x, tiles.overRows(tiles.convert(weight, tiles.compute), x));
}

void tile(RewriterBase &rewriter, DiffAttentionOp op,
          const TileOptions &options) {
  AttentionTiler tiler(rewriter, op, options);
  TileRegionBuilder &tiles = tiler.getTiles();
  bool v1 = op.getVersion() == DiffVersion::V1;
  int64_t heads = op.getNumHeads();
  AffineExpr h = tiler.head();
  // Query head 2 h + m; value head h / group; of version 1 key head twice that
  // plus m, of version 2 the value head.
  AffineExpr value = h.floorDiv(heads / headsOf(op.getValue()));
  SmallVector<unsigned> keyOf;
  for (int64_t m : llvm::seq(2)) {
    tiler.addQuery(op.getQuery(), h * 2 + m);
    if (v1 || m == 0)
      tiler.addKey(op.getKey(), v1 ? value * 2 + m : value);
    keyOf.push_back(v1 ? m : 0);
  }
  unsigned values = tiler.addKey(op.getValue(), value);
  auto lambda = cast<RankedTensorType>(op.getLambda().getType());
  if (lambda.getRank() > 1)
    tiler.addQuery(op.getLambda(), h);

  auto step = [&](ValueRange queries, ValueRange keys,
                  ArrayRef<Carried> carried) {
    SmallVector<Carried> next;
    for (int64_t m : llvm::seq(2))
      next.push_back(tiler.step(queries[m], keys[keyOf[m]], keys[values],
                                tiles.headOfMap(tiler.getHead(), m),
                                carried[m]));
    return next;
  };
  auto finish = [&](ValueRange queries, ArrayRef<Carried> carried) {
    Value first = tiler.normalize(carried[0]);
    Value second = tiler.normalize(carried[1]);
    Value rate;
    if (lambda.getRank() > 1)
      rate = tiles.convert(queries[2], tiles.compute);
    else
      rate = tiles.readNumber(op.getLambda(),
                              lambda.getRank() == 1 ? tiler.getHead() : Value(),
                              options.queryTile);
    if (!v1)
      rate = tiles.sigmoid(rate);
    Value out =
        tiles.sub(first, tiles.mul(tiles.overColumns(rate, second), second));
    if (op.getNorm())
      out =
          emitRMSNorm(tiles, out, op.getNorm(), op.getEps().convertToDouble());
    if (std::optional<APFloat> scale = op.getOutputScale())
      out = tiles.scale(out, scale->convertToDouble());
    return SmallVector<Value>{out};
  };
  rewriter.replaceOp(op, tiler.build(heads, /*maps=*/2, step, finish));
}

struct TileAttentionPass
    : linattn::impl::TileAttentionPassBase<TileAttentionPass> {
  using Base::Base;

  LogicalResult checkOptions() {
    for (auto [name, size] : {std::pair("query-tile", int64_t(queryTile)),
                              std::pair("key-tile", int64_t(keyTile))})
      if (size < 4 || size > 256 || !llvm::isPowerOf2_64(size))
        return getOperation()->emitError()
               << name << " is a power of 2 from 4 to 256, got " << size;
    // Weights stay far from what f16 holds.
    if (!(slack >= 0 && slack <= 8))
      return getOperation()->emitError()
             << "slack lies in [0, 8], got " << double(slack);
    if (!mma.empty() && !symbolizeMmaPrecision(mma))
      return getOperation()->emitError()
             << "mma is f32, tf32x3, bf16, f16 or bf16x2, got '" << mma << "'";
    return success();
  }

  void runOnOperation() override {
    if (failed(checkOptions()))
      return signalPassFailure();
    TileOptions options{queryTile, keyTile, std::nullopt, slack};
    if (!mma.empty())
      options.mma = symbolizeMmaPrecision(mma);
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<SoftmaxAttentionOp, DiffAttentionOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto softmax = dyn_cast<SoftmaxAttentionOp>(op))
        tile(rewriter, softmax, options);
      else
        tile(rewriter, cast<DiffAttentionOp>(op), options);
      ++numTiled;
    }
  }
};
} // namespace
