//===- AttentionToLoops.cpp - attention on a CPU, as the equation says ----===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "linattn/Conversion/Destinations.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/StepValues.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/LinAttn/Transforms/ExpandSugar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <limits>

namespace linattn {
#define GEN_PASS_DEF_ATTENTIONTOLOOPS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

/// What both operations have, taken apart.
struct Attention {
  Value query, key, value, seqlens, kvSeqlens;
  bool causal, packed;
  std::optional<int64_t> window;
  double scale;
  Region *score;

  template <typename OpTy>
  explicit Attention(OpTy op)
      : query(op.getQuery()), key(op.getKey()), value(op.getValue()),
        seqlens(op.getSeqlens()), kvSeqlens(op.getKvSeqlens()),
        causal(op.getCausal()), packed(op.isPacked()), window(op.getWindow()),
        scale(op.getEffectiveScale()), score(&op.getScore()) {}
};

/// Emits loops over sequences, heads and queries, and the softmax of a row.
class RowEmitter {
public:
  RowEmitter(OpBuilder &builder, Location loc, Attention attention)
      : builder(builder), loc(loc), a(attention) {
    Type element = getElementTypeOrSelf(a.query.getType());
    compute = element.isF64() ? element : Type(builder.getF32Type());
    query = getInputBuffer(builder, a.query, true);
    key = getInputBuffer(builder, a.key, true);
    value = getInputBuffer(builder, a.value, true);
    if (a.seqlens)
      seqlens = getInputBuffer(builder, a.seqlens, false);
    kvSeqlens = seqlens;
    if (a.kvSeqlens)
      kvSeqlens = getInputBuffer(builder, a.kvSeqlens, false);
  }

  Value index(int64_t v) {
    return arith::ConstantIndexOp::create(builder, loc, v);
  }
  Value number(double v) {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getFloatAttr(compute, v));
  }
  Type getCompute() const { return compute; }
  /// Indices of a row of queries or results: [n, t, h], packed [t, h].
  SmallVector<Value> rowAt(Value h) {
    SmallVector<Value> at = {row, h};
    if (!a.packed)
      at.insert(at.begin(), sequence);
    return at;
  }
  SmallVector<Value> timeAt() {
    SmallVector<Value> at = rowAt(index(0));
    at.pop_back();
    return at;
  }

  /// Parallel over sequences and `heads` heads; `body(h)` makes one query row.
  void emitRows(int64_t heads, llvm::function_ref<void(Value)> body);

  struct Softmax {
    Value output; ///< vector<Dv>, in the compute type
    Value lse;
  };
  /// Softmax attention of the current row with the heads given.
  Softmax emitSoftmax(Value queryHead, Value keyHead, Value valueHead);

private:
  Value add(Value x, Value y) {
    return arith::AddIOp::create(builder, loc, x, y);
  }
  Value sub(Value x, Value y) {
    return arith::SubIOp::create(builder, loc, x, y);
  }
  Value offset(Value offsets, Value n) {
    Value v = memref::LoadOp::create(builder, loc, offsets, n);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), v);
  }
  Value loadRow(Value buffer, Value at, Value h);
  Value emitScore(Value q, Value j, Value queryHead, Value keyHead);
  std::pair<Value, Value> allowedKeys();

  OpBuilder &builder;
  Location loc;
  Attention a;
  Type compute;
  Value query, key, value, seqlens, kvSeqlens, scores;
  /// Sequence, row in memory, query inside the sequence; keys of the sequence:
  /// first row in memory and count; count of queries.
  Value sequence, row, local, keyBegin, keys, queries;
};

void RowEmitter::emitRows(int64_t heads, llvm::function_ref<void(Value)> body) {
  Value sequences;
  if (a.packed) {
    Value offsets = memref::DimOp::create(builder, loc, seqlens, index(0));
    sequences = sub(offsets, index(1));
  } else {
    sequences = memref::DimOp::create(builder, loc, query, index(0));
  }
  auto parallel = scf::ParallelOp::create(
      builder, loc, ValueRange{index(0), index(0)},
      ValueRange{sequences, index(heads)}, ValueRange{index(1), index(1)});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(parallel.getBody());
  sequence = parallel.getInductionVars()[0];
  Value h = parallel.getInductionVars()[1];
  Value begin = index(0), end;
  keyBegin = index(0);
  if (a.packed) {
    Value next = add(sequence, index(1));
    begin = offset(seqlens, sequence);
    end = offset(seqlens, next);
    keyBegin = offset(kvSeqlens, sequence);
    keys = sub(offset(kvSeqlens, next), keyBegin);
  } else {
    end = memref::DimOp::create(builder, loc, query, index(1));
    keys = memref::DimOp::create(builder, loc, key, index(1));
  }
  queries = sub(end, begin);
  scores = memref::AllocOp::create(
      builder, loc, MemRefType::get({ShapedType::kDynamic}, compute), keys);
  auto loop = scf::ForOp::create(builder, loc, begin, end, index(1));
  builder.setInsertionPointToStart(loop.getBody());
  row = loop.getInductionVar();
  local = sub(row, begin);
  body(h);
}

/// The keys [first, last) that the current query may see: position
/// p = t + S - T; causal s <= p; window p - w < s, s < p + w.
std::pair<Value, Value> RowEmitter::allowedKeys() {
  Value position = add(local, sub(keys, queries));
  Value first = index(0), last = keys;
  auto max = [&](Value x, Value y) -> Value {
    return arith::MaxSIOp::create(builder, loc, x, y);
  };
  auto min = [&](Value x, Value y) -> Value {
    return arith::MinSIOp::create(builder, loc, x, y);
  };
  if (a.window)
    first = max(first, add(position, index(1 - *a.window)));
  if (a.causal)
    last = min(last, add(position, index(1)));
  else if (a.window)
    last = min(last, add(position, index(*a.window)));
  // Queries before the first key see none.
  return {first, max(first, last)};
}

Value RowEmitter::loadRow(Value buffer, Value at, Value h) {
  auto type = cast<MemRefType>(buffer.getType());
  auto vector =
      VectorType::get(type.getShape().take_back(1), type.getElementType());
  SmallVector<Value> indices = {at, h};
  if (!a.packed)
    indices.insert(indices.begin(), sequence);
  return convertElements(builder, loc,
                         loadStepValue(builder, loc, vector, buffer, indices),
                         compute);
}

Value RowEmitter::emitScore(Value q, Value j, Value queryHead, Value keyHead) {
  Value k = loadRow(key, add(keyBegin, j), keyHead);
  Value product = arith::MulFOp::create(builder, loc, q, k);
  Value dot = vector::ReductionOp::create(builder, loc,
                                          vector::CombiningKind::ADD, product);
  Value s = arith::MulFOp::create(builder, loc, dot, number(a.scale));
  if (a.score->empty())
    return s;
  IRMapping mapping;
  Block &block = a.score->front();
  Value inputs[] = {s, sequence, queryHead, local, j};
  for (auto [arg, v] : llvm::zip_equal(block.getArguments(), inputs))
    mapping.map(arg, v);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookupOrDefault(block.getTerminator()->getOperand(0));
}

RowEmitter::Softmax RowEmitter::emitSoftmax(Value queryHead, Value keyHead,
                                            Value valueHead) {
  Value q = loadRow(query, row, queryHead);
  auto [first, last] = allowedKeys();
  Value one = index(1);
  Value minusInf = number(-std::numeric_limits<double>::infinity());

  auto maxLoop = scf::ForOp::create(builder, loc, first, last, one, minusInf);
  Value max = maxLoop.getResult(0);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(maxLoop.getBody());
    Value j = maxLoop.getInductionVar();
    Value s = emitScore(q, j, queryHead, keyHead);
    memref::StoreOp::create(builder, loc, s, scores, j);
    Value next =
        arith::MaximumFOp::create(builder, loc, maxLoop.getRegionIterArg(0), s);
    scf::YieldOp::create(builder, loc, next);
  }
  // No key, or only scores of -inf: 0 and a log-sum-exp of -inf. The shift by 0
  // keeps -inf - (-inf) from being NaN.
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                     max, minusInf);
  Value shift = arith::SelectOp::create(builder, loc, none, number(0), max);
  auto width = cast<MemRefType>(value.getType()).getShape().back();
  auto type = VectorType::get({width}, compute);
  Value zero =
      arith::ConstantOp::create(builder, loc, type, builder.getZeroAttr(type));
  auto sumLoop = scf::ForOp::create(builder, loc, first, last, one,
                                    ValueRange{number(0), zero});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(sumLoop.getBody());
    Value j = sumLoop.getInductionVar();
    Value s = memref::LoadOp::create(builder, loc, scores, j);
    Value p = math::ExpOp::create(
        builder, loc, arith::SubFOp::create(builder, loc, s, shift));
    Value v = loadRow(value, add(keyBegin, j), valueHead);
    Value weighted = arith::MulFOp::create(
        builder, loc, vector::BroadcastOp::create(builder, loc, type, p), v);
    Value sum =
        arith::AddFOp::create(builder, loc, sumLoop.getRegionIterArg(0), p);
    Value out = arith::AddFOp::create(builder, loc, sumLoop.getRegionIterArg(1),
                                      weighted);
    scf::YieldOp::create(builder, loc, ValueRange{sum, out});
  }
  Value sum = sumLoop.getResult(0);
  Value divisor = arith::SelectOp::create(builder, loc, none, number(1), sum);
  Value out = arith::DivFOp::create(
      builder, loc, sumLoop.getResult(1),
      vector::BroadcastOp::create(builder, loc, type, divisor));
  out = arith::SelectOp::create(builder, loc, none, zero, out);
  Value lse = arith::AddFOp::create(builder, loc, max,
                                    math::LogOp::create(builder, loc, divisor));
  return {out, lse};
}

/// Dimension of the heads of an operand, as a count.
int64_t headsOf(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return type.getDimSize(type.getRank() - 2);
}

LogicalResult lower(SoftmaxAttentionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RowEmitter rows(builder, loc, Attention(op));
  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(builder, sizes)))
    return failure();
  auto result = cast<OpResult>(op.getResult());
  Value output = getResultBuffer(builder, result, sizes[0], true);
  Value lse;
  if (op.getLse())
    lse =
        getResultBuffer(builder, cast<OpResult>(op.getLse()), sizes[1], false);
  int64_t heads = headsOf(op.getQuery());
  Type element = getElementTypeOrSelf(result.getType());
  rows.emitRows(heads, [&](Value h) {
    Value group = rows.index(heads / headsOf(op.getKey()));
    Value kv = arith::DivUIOp::create(builder, loc, h, group);
    RowEmitter::Softmax row = rows.emitSoftmax(h, kv, kv);
    storeStepValue(builder, loc,
                   convertElements(builder, loc, row.output, element), output,
                   rows.rowAt(h));
    if (lse)
      memref::StoreOp::create(builder, loc, row.lse, lse, rows.rowAt(h));
  });
  replaceWithBuffer(builder, result, output);
  if (lse)
    replaceWithBuffer(builder, cast<OpResult>(op.getLse()), lse);
  op.erase();
  return success();
}

/// RMSNorm of a vector: x / sqrt(mean x^2 + eps) times the weight.
Value emitRMSNorm(OpBuilder &builder, Location loc, RowEmitter &rows, Value x,
                  Value weight, double eps) {
  auto type = cast<VectorType>(x.getType());
  Value square = arith::MulFOp::create(builder, loc, x, x);
  Value sum = vector::ReductionOp::create(builder, loc,
                                          vector::CombiningKind::ADD, square);
  Value mean = arith::DivFOp::create(builder, loc, sum,
                                     rows.number(type.getNumElements()));
  Value root = math::SqrtOp::create(
      builder, loc,
      arith::AddFOp::create(builder, loc, mean, rows.number(eps)));
  x = arith::DivFOp::create(
      builder, loc, x, vector::BroadcastOp::create(builder, loc, type, root));
  return arith::MulFOp::create(builder, loc, x, weight);
}

LogicalResult lower(DiffAttentionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RowEmitter rows(builder, loc, Attention(op));
  Type compute = rows.getCompute();
  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(builder, sizes)))
    return failure();
  auto result = cast<OpResult>(op.getResult());
  Value output = getResultBuffer(builder, result, sizes[0], true);
  Value lambdas = getInputBuffer(builder, op.getLambda(), false);
  Value norm;
  if (op.getNorm())
    norm = getInputBuffer(builder, op.getNorm(), true);
  int64_t heads = op.getNumHeads();
  bool v1 = op.getVersion() == DiffVersion::V1;
  rows.emitRows(heads, [&](Value h) {
    int64_t keyValueHeads = headsOf(op.getValue());
    Value group = rows.index(heads / keyValueHeads);
    if (!v1)
      group = rows.index(2 * heads / keyValueHeads);
    Value two = rows.index(2);
    SmallVector<Value> maps;
    for (int64_t m : llvm::seq(2)) {
      Value map = rows.index(m);
      Value queryHead = arith::AddIOp::create(
          builder, loc, arith::MulIOp::create(builder, loc, h, two), map);
      // v1: value head h / (H / Hkv), key head twice that plus the map.
      // v2: query head j reads key/value head j / (2 H / Hkv).
      Value valueHead =
          arith::DivUIOp::create(builder, loc, v1 ? h : queryHead, group);
      Value keyHead = valueHead;
      if (v1)
        keyHead = arith::AddIOp::create(
            builder, loc, arith::MulIOp::create(builder, loc, valueHead, two),
            map);
      maps.push_back(rows.emitSoftmax(queryHead, keyHead, valueHead).output);
    }
    auto type = cast<VectorType>(maps[0].getType());
    int64_t rank = cast<MemRefType>(lambdas.getType()).getRank();
    SmallVector<Value> at;
    if (rank == 1)
      at = {h};
    else if (rank > 1)
      at = rows.rowAt(h);
    Value lambda = convertElements(
        builder, loc, memref::LoadOp::create(builder, loc, lambdas, at),
        compute);
    if (!v1)
      lambda = SigmoidOp::create(builder, loc, lambda.getType(), lambda);
    Value second = arith::MulFOp::create(
        builder, loc, vector::BroadcastOp::create(builder, loc, type, lambda),
        maps[1]);
    Value out = arith::SubFOp::create(builder, loc, maps[0], second);
    if (norm) {
      auto stored = cast<MemRefType>(norm.getType());
      Value weight = convertElements(
          builder, loc,
          loadStepValue(
              builder, loc,
              VectorType::get(stored.getShape(), stored.getElementType()), norm,
              {}),
          compute);
      out = emitRMSNorm(builder, loc, rows, out, weight,
                        op.getEps().convertToDouble());
    }
    if (std::optional<APFloat> scale = op.getOutputScale())
      out = arith::MulFOp::create(
          builder, loc, out,
          vector::BroadcastOp::create(builder, loc, type,
                                      rows.number(scale->convertToDouble())));
    Type element = getElementTypeOrSelf(result.getType());
    storeStepValue(builder, loc, convertElements(builder, loc, out, element),
                   output, rows.rowAt(h));
  });
  replaceWithBuffer(builder, result, output);
  op.erase();
  return success();
}

struct AttentionToLoopsPass
    : linattn::impl::AttentionToLoopsBase<AttentionToLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<SoftmaxAttentionOp, DiffAttentionOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto softmax = dyn_cast<SoftmaxAttentionOp>(op);
      if (failed(softmax ? lower(softmax) : lower(cast<DiffAttentionOp>(op))))
        return signalPassFailure();
      ++numLowered;
    }
    RewritePatternSet patterns(&getContext());
    populateExpandSugarPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
