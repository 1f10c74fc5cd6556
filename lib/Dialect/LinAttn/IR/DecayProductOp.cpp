//===- DecayProductOp.cpp - decayed products of keys ----------------------===//
//
// Two decompositions for the CPU. With p(y) <= p(x) positions among the decays
// of the chunk and y before x:
//
//   P[x, y] = sum_i X[x, i] Y[y, i] exp(sum_{p(y) <= j < p(x)} g[j, i])
//
// A scalar gate is taken out of the sum: P = (X Y^T) o Gamma, and the exponents
// of Gamma grow row by row, Gamma[x + 1, y] from Gamma[x, y], by one gate a
// step. Over K, blocks of 16 tokens meet at the start of x's block:
//
//   X[x] e^{sum from the block's start to x} . Y[y] e^{sum from y to that
//   start}
//
// and inside a block a decayed copy of each y is carried forward. Either way
// each sum is made of its own gates only.
//
//===----------------------------------------------------------------------===//

#include "TileBuilder.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include <limits>

using namespace mlir;
using namespace linattn;

int64_t DecayProductOp::getChunk() {
  return cast<RankedTensorType>(getX().getType()).getDimSize(0) /
         (int64_t)getXPositions().size();
}

int64_t DecayProductOp::getNumDecays() {
  if (!getGate())
    return 0;
  return cast<RankedTensorType>(getGate().getType()).getDimSize(0) / getChunk();
}

bool DecayProductOp::isVectorDecay() {
  return getGate() &&
         cast<RankedTensorType>(getGate().getType()).getRank() == 2;
}

LogicalResult DecayProductOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType());
  auto y = cast<RankedTensorType>(getY().getType());
  Type element = x.getElementType();
  if (x.getRank() != 2 || y.getRank() != 2 || !x.hasStaticShape() ||
      !y.hasStaticShape() || x.getDimSize(1) != y.getDimSize(1) ||
      y.getElementType() != element || x.getNumElements() == 0 ||
      y.getNumElements() == 0 || !(element.isF32() || element.isF64()))
    return emitOpError() << "(decay_product_c1) x and y are [rows, K], static, "
                            "with one K and one element type, f32 or f64, got "
                         << x << " and " << y;
  int64_t nx = getXPositions().size(), ny = getYPositions().size();
  if (nx < 1 || ny < 1 || (int64_t)getXOrder().size() != nx ||
      (int64_t)getYOrder().size() != ny || x.getDimSize(0) % nx != 0 ||
      y.getDimSize(0) % ny != 0 || x.getDimSize(0) / nx != y.getDimSize(0) / ny)
    return emitOpError() << "(decay_product_c2) positions and orders are as "
                            "many and divide the rows into one number of "
                            "tokens, got "
                         << nx << " events for " << x.getDimSize(0)
                         << " rows of x and " << ny << " for "
                         << y.getDimSize(0) << " rows of y";
  int64_t chunk = x.getDimSize(0) / nx, decays = 0;
  if (getGate()) {
    auto gate = cast<RankedTensorType>(getGate().getType());
    bool shape =
        gate.hasStaticShape() && gate.getElementType() == element &&
        (gate.getRank() == 1 ||
         (gate.getRank() == 2 && gate.getDimSize(1) == x.getDimSize(1)));
    if (!shape || gate.getDimSize(0) < chunk || gate.getDimSize(0) % chunk != 0)
      return emitOpError() << "(decay_product_c3) the gate is [C nd] or [C nd, "
                              "K] of "
                           << element << " with C = " << chunk
                           << ", K = " << x.getDimSize(1) << ", got " << gate;
    decays = gate.getDimSize(0) / chunk;
  }
  for (ArrayRef<int64_t> positions : {getXPositions(), getYPositions()})
    for (int64_t position : positions)
      if (position < 0 || position > decays)
        return emitOpError() << "(decay_product_c4) positions lie in [0, "
                             << decays << "], got " << position;
  for (int64_t e = 0; e < nx; ++e)
    for (int64_t f = 0; f < ny; ++f)
      if (isBefore(f, e) && getYPositions()[f] > getXPositions()[e])
        return emitOpError()
               << "(decay_product_c4) a y before an x is not at a later "
                  "position, got "
               << getYPositions()[f] << " and " << getXPositions()[e];
  auto want =
      RankedTensorType::get({x.getDimSize(0), y.getDimSize(0)}, element);
  if (getInit().getType() != want || getResult().getType() != want)
    return emitOpError() << "(decay_product_c5) outs and the result are "
                         << want << ", got " << getInit().getType() << " and "
                         << getResult().getType();
  return success();
}

namespace {
/// What both decompositions share.
class Product {
public:
  Product(DecayProductOp op, OpBuilder &b)
      : op(op), b(b), tile{b, op.getLoc()}, loc(op.getLoc()),
        chunk(op.getChunk()), decays(op.getNumDecays()),
        nx(op.getXPositions().size()), ny(op.getYPositions().size()) {
    auto type = cast<RankedTensorType>(op.getX().getType());
    keys = type.getDimSize(1);
    element = type.getElementType();
  }

protected:
  /// Rounds an operand of an inner product, as `mma` says.
  Value round(Value value) {
    Type narrow;
    if (op.getMma() == MmaPrecision::BF16)
      narrow = b.getBF16Type();
    else if (op.getMma() == MmaPrecision::F16)
      narrow = b.getF16Type();
    else
      return value;
    auto type = cast<ShapedType>(value.getType());
    value = arith::TruncFOp::create(b, loc, type.clone(narrow), value);
    return arith::ExtFOp::create(b, loc, type, value);
  }
  /// t * n + e.
  Value row(Value t, int64_t n, int64_t e) {
    Value base = arith::MulIOp::create(b, loc, t, tile.index(n));
    return arith::AddIOp::create(b, loc, base, tile.index(e));
  }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }

  DecayProductOp op;
  OpBuilder &b;
  TileBuilder tile;
  Location loc;
  int64_t chunk, decays, nx, ny, keys;
  Type element;
};

/// One gate per decay, or none.
class ScalarProduct : Product {
public:
  using Product::Product;

  Value run() {
    int64_t columns = chunk * ny;
    Value x = round(op.getX());
    Value y = tile.transpose(round(op.getY()));
    Value product = multiply(x, y);
    // Of each column: its position among the decays, and when it is written.
    span = 1 + *llvm::max_element(op.getXOrder());
    for (int64_t order : op.getYOrder())
      span = std::max(span, order + 1);
    SmallVector<int32_t> startOf, timeOf;
    for (int64_t t = 0; t < chunk; ++t)
      for (int64_t f = 0; f < ny; ++f) {
        startOf.push_back(t * decays + op.getYPositions()[f]);
        timeOf.push_back(t * span + op.getYOrder()[f]);
      }
    Value starts = integers(startOf), times = integers(timeOf);
    return tile.pieces(columns, kColumns, product, false,
                       [&](Value column, int64_t width, Value p) {
                         return emitColumns(p, column, width,
                                            readIntegers(starts, column, width),
                                            readIntegers(times, column, width));
                       });
  }

private:
  static constexpr int64_t kColumns = 64;

  /// X Y^T where y may be before x: a block of 16 tokens of x against those of
  /// y up to it. The rest is masked anyway and left as it is.
  Value multiply(Value x, Value y) {
    constexpr int64_t kBlock = 16;
    if (chunk <= kBlock || chunk % kBlock != 0)
      return tile.matmul(x, y, tile.zeros({chunk * nx, chunk * ny}, element));
    int64_t rows = kBlock * nx, columns = kBlock * ny;
    Value none = tile.empty({chunk * nx, chunk * ny}, element);
    auto everyX = [&](Value i, ValueRange outer) -> SmallVector<Value> {
      Value at = arith::MulIOp::create(b, loc, i, tile.index(rows));
      Value xBlock = tile.slice(x, at, rows, tile.attr(0), keys);
      Value end = arith::AddIOp::create(b, loc, i, tile.index(1));
      auto loop =
          scf::ForOp::create(b, loc, tile.index(0), end, tile.index(1), outer);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value column = arith::MulIOp::create(b, loc, loop.getInductionVar(),
                                           tile.index(columns));
      Value p = loop.getRegionIterArg(0);
      Value yBlock = tile.slice(y, tile.attr(0), keys, column, columns);
      Value sums = tile.slice(p, at, rows, column, columns);
      sums = linalg::FillOp::create(b, loc, tile.constant(element, 0), sums)
                 .getResult(0);
      Value block = tile.matmul(xBlock, yBlock, sums);
      scf::YieldOp::create(b, loc, tile.insert(block, p, at, column));
      return {loop.getResult(0)};
    };
    return tile.loop(chunk / kBlock, none, false, everyX).front();
  }

  Value integers(ArrayRef<int32_t> values) {
    auto type = RankedTensorType::get({(int64_t)values.size()}, b.getI32Type());
    return arith::ConstantOp::create(b, loc,
                                     DenseIntElementsAttr::get(type, values));
  }
  Value readIntegers(Value from, Value column, int64_t width) {
    Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    return vector::TransferReadOp::create(
        b, loc, VectorType::get({width}, b.getI32Type()), from,
        ValueRange{column}, none, ArrayRef<bool>{true});
  }
  /// Whether `value`, an index, is above each of `bounds`.
  Value above(Value value, Value bounds) {
    Value number = arith::IndexCastOp::create(b, loc, b.getI32Type(), value);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bounds,
                                 tile.splat(number, bounds.getType()));
  }

  /// Columns [column, column + width) of P from those of X Y^T.
  Value emitColumns(Value product, Value column, int64_t width, Value start,
                    Value time) {
    auto numbers = VectorType::get({width}, element);
    Value zero = tile.constant(numbers, 0);
    auto body = [&](Value t, ValueRange args) -> SmallVector<Value> {
      Value exponent = args[0], p = args[1];
      for (int64_t position = 0; position <= decays; ++position) {
        for (int64_t e = 0; e < nx; ++e)
          if (op.getXPositions()[e] == position)
            p = emitRow(p, t, e, column, exponent, time);
        if (position == decays)
          break;
        Value j = row(t, decays, position);
        Value gate = tensor::ExtractOp::create(b, loc, op.getGate(), j);
        Value begun =
            above(arith::AddIOp::create(b, loc, j, tile.index(1)), start);
        Value step = arith::SelectOp::create(b, loc, begun,
                                             tile.splat(gate, numbers), zero);
        exponent = arith::AddFOp::create(b, loc, exponent, step);
      }
      return {exponent, p};
    };
    return tile.loop(chunk, ValueRange{zero, product}, false, body)[1];
  }

  /// A row of P from that of X Y^T. The exponent of a masked pair is masked,
  /// not only its product.
  Value emitRow(Value p, Value t, int64_t e, Value column, Value exponent,
                Value time) {
    auto numbers = cast<VectorType>(exponent.getType());
    Value zero = tile.constant(numbers, 0);
    Value at = row(t, nx, e);
    Value before = above(row(t, span, op.getXOrder()[e]), time);
    Value value = tile.readRow(p, at, column, numbers.getDimSize(0));
    if (decays > 0) {
      Value masked = arith::SelectOp::create(b, loc, before, exponent, zero);
      value = mul(value, math::ExpOp::create(b, loc, masked));
    }
    value = arith::SelectOp::create(b, loc, before, value, zero);
    return tile.writeRow(value, p, at, column);
  }

  int64_t span;
};

/// Gates over K.
class VectorProduct : Product {
public:
  using Product::Product;

  Value run() {
    // Every decay's factor, once.
    auto gateType = cast<RankedTensorType>(op.getGate().getType());
    factors = tile.empty(gateType.getShape(), element);
    factors = tile.loop(chunk * decays, factors, false,
                        [&](Value j, ValueRange args) -> SmallVector<Value> {
                          Value g = readKeys(op.getGate(), j);
                          Value f = math::ExpOp::create(b, loc, g);
                          return {tile.writeRow(f, args[0], j, tile.index(0))};
                        })
                  .front();
    Value p = tile.zeros({chunk * nx, chunk * ny}, element);
    x = scaleX();
    return diagonalBlocks(earlierBlocks(p));
  }

private:
  static constexpr int64_t kBlock = 16;

  Value readKeys(Value matrix, Value at) {
    return tile.readRow(matrix, at, tile.index(0), keys);
  }
  VectorType keyVector() { return VectorType::get({keys}, element); }

  /// x times the decays from the start of its block to it.
  Value scaleX() {
    Value scaled = tile.empty({chunk * nx, keys}, element);
    Value one = tile.constant(keyVector(), 1);
    auto body = [&](Value t, ValueRange args) -> SmallVector<Value> {
      Value factor = args[0], out = args[1];
      Value inBlock = arith::RemUIOp::create(b, loc, t, tile.index(kBlock));
      Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          inBlock, tile.index(0));
      factor = arith::SelectOp::create(b, loc, first, one, factor);
      for (int64_t position = 0; position <= decays; ++position) {
        for (int64_t e = 0; e < nx; ++e)
          if (op.getXPositions()[e] == position) {
            Value at = row(t, nx, e);
            out = tile.writeRow(mul(readKeys(op.getX(), at), factor), out, at,
                                tile.index(0));
          }
        if (position < decays)
          factor = mul(factor, readKeys(factors, row(t, decays, position)));
      }
      return {factor, out};
    };
    return tile.loop(chunk, ValueRange{one, scaled}, false, body)[1];
  }

  /// Blocks of x against the blocks of y before them.
  Value earlierBlocks(Value p) {
    int64_t whole = chunk / kBlock, rest = chunk % kBlock;
    Value y = tile.empty({chunk * ny, keys}, element);
    if (whole > 1) {
      SmallVector<Value> results = tile.loop(
          whole - 1, ValueRange{y, p}, false,
          [&](Value i, ValueRange args) -> SmallVector<Value> {
            Value block = arith::AddIOp::create(b, loc, i, tile.index(1));
            Value carried = carryY(args[0], i);
            return {carried, emitBlocks(args[1], carried, block, kBlock)};
          });
      y = results[0];
      p = results[1];
    }
    if (whole == 0 || rest == 0)
      return p;
    y = carryY(y, tile.index(whole - 1));
    return emitBlocks(p, y, tile.index(whole), rest);
  }

  /// The block of x with `tokens` tokens against all earlier ones of y, which
  /// are decayed up to its start.
  Value emitBlocks(Value p, Value y, Value block, int64_t tokens) {
    Value at = scale(block, kBlock * nx);
    Value rows = round(tile.slice(x, at, tokens * nx, tile.attr(0), keys));
    auto loop = scf::ForOp::create(b, loc, tile.index(0), block, tile.index(1),
                                   ValueRange{p});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value column = scale(loop.getInductionVar(), kBlock * ny);
    Value earlier =
        round(tile.slice(y, column, kBlock * ny, tile.attr(0), keys));
    Value part = tile.matmul(rows, tile.transpose(earlier),
                             tile.zeros({tokens * nx, kBlock * ny}, element));
    Value next = tile.insert(part, loop.getRegionIterArg(0), at, column);
    scf::YieldOp::create(b, loc, next);
    return loop.getResult(0);
  }

  Value scale(Value value, int64_t factor) {
    return arith::MulIOp::create(b, loc, value, tile.index(factor));
  }

  /// Every y up to the end of `block` times the decays from it to that end,
  /// given the same up to the block's start.
  Value carryY(Value carried, Value block) {
    Value one = tile.constant(keyVector(), 1);
    Value from = scale(block, kBlock);
    // Of the block: from y to its end.
    auto inside = [&](Value i, ValueRange args) -> SmallVector<Value> {
      Value factor = args[0], out = args[1];
      Value t = arith::AddIOp::create(b, loc, i, from);
      for (int64_t position = decays; position >= 0; --position) {
        for (int64_t f = 0; f < ny; ++f)
          if (op.getYPositions()[f] == position) {
            Value at = row(t, ny, f);
            out = tile.writeRow(mul(readKeys(op.getY(), at), factor), out, at,
                                tile.index(0));
          }
        if (position > 0)
          factor = mul(factor, readKeys(factors, row(t, decays, position - 1)));
      }
      return {factor, out};
    };
    SmallVector<Value> results =
        tile.loop(kBlock, ValueRange{one, carried}, true, inside);
    auto loop = scf::ForOp::create(b, loc, tile.index(0), scale(from, ny),
                                   tile.index(1), ValueRange{results[1]});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar(), out = loop.getRegionIterArg(0);
    Value scaled = mul(readKeys(out, at), results[0]);
    Value next = tile.writeRow(scaled, out, at, tile.index(0));
    scf::YieldOp::create(b, loc, next);
    return loop.getResult(0);
  }

  /// Inside a block: y is carried forward, token by token, and meets each x.
  Value diagonalBlocks(Value p) {
    auto everyY = [&](Value start, ValueRange outer) -> SmallVector<Value> {
      Value result = outer[0];
      for (int64_t f = 0; f < ny; ++f) {
        Value column = row(start, ny, f);
        Value y = readKeys(op.getY(), column);
        // The token of y itself.
        for (int64_t position = op.getYPositions()[f]; position <= decays;
             ++position) {
          for (int64_t e = 0; e < nx; ++e)
            if (op.getXPositions()[e] == position && op.isBefore(f, e))
              result = meet(result, row(start, nx, e), column, y);
          if (position < decays)
            y = mul(y, readKeys(factors, row(start, decays, position)));
        }
        // The later tokens of its block.
        Value next = arith::AddIOp::create(b, loc, start, tile.index(1));
        Value ended = arith::DivUIOp::create(b, loc, start, tile.index(kBlock));
        ended = arith::MulIOp::create(
            b, loc, arith::AddIOp::create(b, loc, ended, tile.index(1)),
            tile.index(kBlock));
        ended = arith::MinUIOp::create(b, loc, ended, tile.index(chunk));
        auto loop = scf::ForOp::create(b, loc, next, ended, tile.index(1),
                                       ValueRange{y, result});
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Value t = loop.getInductionVar();
        Value carried = loop.getRegionIterArg(0);
        Value out = loop.getRegionIterArg(1);
        for (int64_t position = 0; position <= decays; ++position) {
          for (int64_t e = 0; e < nx; ++e)
            if (op.getXPositions()[e] == position)
              out = meet(out, row(t, nx, e), column, carried);
          if (position < decays)
            carried = mul(carried, readKeys(factors, row(t, decays, position)));
        }
        scf::YieldOp::create(b, loc, ValueRange{carried, out});
        result = loop.getResult(1);
      }
      return {result};
    };
    return tile.loop(chunk, p, false, everyY).front();
  }

  Value meet(Value p, Value xRow, Value yRow, Value y) {
    Value x = round(readKeys(op.getX(), xRow));
    Value dot = vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD,
                                            mul(x, round(y)));
    return tensor::InsertOp::create(b, loc, dot, p, ValueRange{xRow, yRow});
  }

  Value factors, x;
};
} // namespace

FailureOr<SmallVector<Value>> DecayProductOp::decomposeOperation(OpBuilder &b) {
  if (isVectorDecay())
    return SmallVector<Value>{VectorProduct(*this, b).run()};
  return SmallVector<Value>{ScalarProduct(*this, b).run()};
}
