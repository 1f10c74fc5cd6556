//===- UnitLowerSolveOp.cpp - the coupling of the writes ------------------===//

#include "TileBuilder.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

using namespace mlir;
using namespace linattn;

LogicalResult UnitLowerSolveOp::verify() {
  if (getMatrices().empty())
    return emitOpError("(unit_lower_solve_c2) there is a matrix");
  auto matrix = cast<RankedTensorType>(getMatrices()[0].getType());
  Type element = matrix.getElementType();
  for (Value other : getMatrices())
    if (other.getType() != matrix || matrix.getRank() != 2 ||
        !matrix.hasStaticShape() || matrix.getNumElements() == 0 ||
        matrix.getDimSize(0) != matrix.getDimSize(1) ||
        !(element.isF32() || element.isF64()))
      return emitOpError() << "(unit_lower_solve_c1) matrices are square, "
                              "static, of one type, f32 or f64, got "
                           << other.getType();
  // Right sides of several unknowns per token stand above each other.
  auto rhs = getRhs() ? cast<RankedTensorType>(getRhs().getType())
                      : RankedTensorType();
  bool several = rhs && rhs.getRank() == 3 && !getRates().empty();
  size_t unknowns = several ? std::max<int64_t>(1, rhs.getDimSize(0)) : 1;
  size_t want =
      getRates().empty() ? 1 : getRates().size() * unknowns * unknowns;
  if (getMatrices().size() != want)
    return emitOpError() << "(unit_lower_solve_c2) there is one matrix, or one "
                            "per rate, "
                         << want << ", got " << getMatrices().size();
  Type type = matrix;
  if (getRhs()) {
    if (!(rhs.getRank() == 2 || several) || !rhs.hasStaticShape() ||
        rhs.getDimSize(several) != matrix.getDimSize(0) ||
        rhs.getNumElements() == 0 || rhs.getElementType() != element)
      return emitOpError() << "(unit_lower_solve_c3) the rhs is [n, V] of "
                           << element << " with n = " << matrix.getDimSize(0)
                           << ", got " << rhs;
    type = rhs;
  }
  for (Value rate : getRates())
    if (!getRhs() || rate.getType() != type)
      return emitOpError()
             << "(unit_lower_solve_c3) a rate has the type of the "
                "rhs, got "
             << rate.getType();
  if (getInit().getType() != type || getResult().getType() != type)
    return emitOpError() << "(unit_lower_solve_c4) outs and the result are "
                         << type << ", got " << getInit().getType() << " and "
                         << getResult().getType();
  if (getTransposed() && !getRates().empty())
    return emitOpError(
        "(unit_lower_solve_c5) transposed does not go with rates");
  return success();
}

namespace {
/// Blocked substitution. Block I of 16 rows:
///   U_I = R_I + sum_m b_m o (A_m[I, done] U[done]), by products,
/// then row by row inside the block. `transposed` turns A around first and runs
/// from the last block. One body serves all blocks.
class Substitution {
public:
  Substitution(UnitLowerSolveOp op, OpBuilder &b)
      : op(op), b(b), tile{b, op.getLoc()}, loc(op.getLoc()),
        matrices(op.getMatrices()), reverse(op.getTransposed()) {
    n = cast<RankedTensorType>(op.getMatrices()[0].getType()).getDimSize(0);
    auto type = cast<RankedTensorType>(op.getResult().getType());
    width = type.getDimSize(1);
    element = type.getElementType();
  }

  Value run() {
    if (reverse)
      for (Value &matrix : matrices)
        matrix = tile.transpose(matrix);
    return tile.pieces(n, kBlock, op.getInit(), reverse,
                       [&](Value begin, int64_t rows, Value u) {
                         u = productBlock(u, begin, rows);
                         return solveBlock(u, begin, rows);
                       });
  }

private:
  static constexpr int64_t kBlock = 16;
  static constexpr int64_t kColumns = 64;

  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }

  /// Fills the block's rows of u with everything but the block's own coupling.
  Value productBlock(Value u, Value begin, int64_t rows) {
    Value sum = rightHandSide(begin, rows);
    if (n <= kBlock)
      return tile.insert(sum, u, begin, tile.attr(0));
    Value from = tile.index(0), count = begin;
    if (reverse) {
      from = add(begin, tile.index(rows));
      count = arith::SubIOp::create(b, loc, tile.index(n), from);
    }
    for (auto [m, matrix] : llvm::enumerate(matrices)) {
      Value done = tile.slice(u, from, count, tile.attr(0), tile.attr(width));
      Value a = tile.slice(matrix, begin, tile.attr(rows), from, count);
      if (op.getRates().empty()) {
        sum = tile.matmul(a, done, sum);
        continue;
      }
      Value product = tile.matmul(a, done, tile.zeros({rows, width}, element));
      Value rate =
          tile.slice(op.getRates()[m], begin, rows, tile.attr(0), width);
      Value scaled = arith::MulFOp::create(b, loc, rate, product);
      sum = arith::AddFOp::create(b, loc, sum, scaled);
    }
    return tile.insert(sum, u, begin, tile.attr(0));
  }

  Value rightHandSide(Value begin, int64_t rows) {
    if (op.getRhs())
      return tile.slice(op.getRhs(), begin, rows, tile.attr(0), width);
    // Rows of the identity.
    Value block = tile.zeros({rows, width}, element);
    Value one = tile.constant(element, 1);
    return tile
        .loop(rows, block, false,
              [&](Value i, ValueRange args) -> SmallVector<Value> {
                return {tensor::InsertOp::create(b, loc, one, args[0],
                                                 ValueRange{i, add(i, begin)})};
              })
        .front();
  }

  /// u[i] += sum_m b_m[i] o sum_{j before i in the block} A_m[i, j] u[j].
  Value solveBlock(Value u, Value begin, int64_t rows) {
    return tile.pieces(
        width, kColumns, u, false,
        [&](Value column, int64_t columns, Value piece) {
          return tile
              .loop(rows, piece, reverse,
                    [&](Value i, ValueRange args) -> SmallVector<Value> {
                      return {solveRow(args[0], i, begin, rows, column,
                                       VectorType::get({columns}, element))};
                    })
              .front();
        });
  }

  Value solveRow(Value u, Value i, Value begin, int64_t rows, Value column,
                 VectorType type) {
    Value row = add(i, begin);
    Value sum = tile.readRow(u, row, column, type.getDimSize(0));
    bool rated = !op.getRates().empty();
    SmallVector<Value> sums;
    for (size_t m = 0; m < matrices.size(); ++m)
      sums.push_back(rated ? tile.constant(type, 0) : sum);
    Value lower = reverse ? add(row, tile.index(1)) : begin;
    Value upper = reverse ? add(begin, tile.index(rows)) : row;
    auto loop = scf::ForOp::create(b, loc, lower, upper, tile.index(1), sums);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value j = loop.getInductionVar();
      Value known = tile.readRow(u, j, column, type.getDimSize(0));
      SmallVector<Value> next;
      auto contract = arith::FastMathFlags::contract;
      for (auto [matrix, carried] :
           llvm::zip(matrices, loop.getRegionIterArgs())) {
        Value a = tensor::ExtractOp::create(b, loc, matrix, ValueRange{row, j});
        Value product =
            arith::MulFOp::create(b, loc, tile.splat(a, type), known, contract);
        next.push_back(
            arith::AddFOp::create(b, loc, product, carried, contract));
      }
      scf::YieldOp::create(b, loc, next);
    }
    if (!rated)
      return tile.writeRow(loop.getResult(0), u, row, column);
    for (auto [rate, part] : llvm::zip(op.getRates(), loop.getResults())) {
      Value factor = tile.readRow(rate, row, column, type.getDimSize(0));
      sum = arith::AddFOp::create(b, loc, sum,
                                  arith::MulFOp::create(b, loc, factor, part));
    }
    return tile.writeRow(sum, u, row, column);
  }

  UnitLowerSolveOp op;
  OpBuilder &b;
  TileBuilder tile;
  Location loc;
  SmallVector<Value> matrices;
  bool reverse;
  int64_t n, width;
  Type element;
};
} // namespace

namespace {
/// The unknowns of a token as rows of one system, token after token.
class Interleaver {
public:
  Interleaver(UnitLowerSolveOp op, OpBuilder &b)
      : op(op), b(b), loc(op.getLoc()),
        type(cast<RankedTensorType>(op.getResult().getType())),
        unknowns(type.getDimSize(0)), tokens(type.getDimSize(1)),
        columns(type.getDimSize(2)) {}

  Value run() {
    SmallVector<Value> rates, matrices;
    for (Value rate : op.getRates())
      rates.push_back(interleaveRows(rate));
    OperandRange all = op.getMatrices();
    for (; !all.empty(); all = all.drop_front(unknowns * unknowns))
      matrices.push_back(interleave(all.take_front(unknowns * unknowns)));
    Value init = empty({unknowns * tokens, columns});
    auto solve = UnitLowerSolveOp::create(b, loc, init.getType(),
                                          interleaveRows(op.getRhs()), matrices,
                                          rates, init, false);
    Value solved = Substitution(solve, b).run();
    solve.erase();
    solved = tensor::ExpandShapeOp::create(
        b, loc, typeOf({tokens, unknowns, columns}), solved,
        SmallVector<ReassociationIndices>{{0, 1}, {2}});
    Value result = op.getInit();
    for (int64_t i = 0; i < unknowns; ++i)
      result = insert(extract(solved, 1, i), result, {{0, i}});
    return result;
  }

private:
  RankedTensorType typeOf(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, type.getElementType());
  }
  Value empty(ArrayRef<int64_t> shape) {
    return tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  }
  /// Of a tensor, at `place` of a dimension, without it.
  Value extract(Value source, int64_t dim, int64_t place) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(source.getType()).getShape());
    SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(shape.size(), b.getIndexAttr(1));
    offsets[dim] = b.getIndexAttr(place);
    SmallVector<int64_t> sizes = shape;
    sizes[dim] = 1;
    shape.erase(shape.begin() + dim);
    return tensor::ExtractSliceOp::create(
        b, loc, typeOf(shape), source, offsets,
        getAsIndexOpFoldResult(b.getContext(), sizes), strides);
  }
  /// Into a tensor, at places of the dimensions that the source lacks.
  Value insert(Value source, Value target,
               ArrayRef<std::pair<int64_t, int64_t>> places) {
    SmallVector<int64_t> sizes(
        cast<RankedTensorType>(target.getType()).getShape());
    SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
    for (auto [dim, place] : places) {
      offsets[dim] = b.getIndexAttr(place);
      sizes[dim] = 1;
    }
    return tensor::InsertSliceOp::create(
        b, loc, source, target, offsets,
        getAsIndexOpFoldResult(b.getContext(), sizes), strides);
  }
  Value interleaveRows(Value rows) {
    Value all = empty({tokens, unknowns, columns});
    for (int64_t i = 0; i < unknowns; ++i)
      all = insert(extract(rows, 0, i), all, {{1, i}});
    return tensor::CollapseShapeOp::create(
        b, loc, all, SmallVector<ReassociationIndices>{{0, 1}, {2}});
  }
  Value interleave(ValueRange matrices) {
    Value all = empty({tokens, unknowns, tokens, unknowns});
    for (int64_t i = 0; i < unknowns; ++i)
      for (int64_t j = 0; j < unknowns; ++j)
        all = insert(matrices[i * unknowns + j], all, {{1, i}, {3, j}});
    return tensor::CollapseShapeOp::create(
        b, loc, all, SmallVector<ReassociationIndices>{{0, 1}, {2, 3}});
  }

  UnitLowerSolveOp op;
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
  int64_t unknowns, tokens, columns;
};
} // namespace

FailureOr<SmallVector<Value>>
UnitLowerSolveOp::decomposeOperation(OpBuilder &b) {
  if (cast<RankedTensorType>(getResult().getType()).getRank() == 3)
    return SmallVector<Value>{Interleaver(*this, b).run()};
  return SmallVector<Value>{Substitution(*this, b).run()};
}
