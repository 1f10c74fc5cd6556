//===- Solve.cpp - a triangular system for each row -----------------------===//
//
// A row n of the right side is one system over tokens t. Four lanes have it,
// two of every 8 tokens each, and beside each token what its sums
//
//   y_m[t] = sum_{s<t} A_m[t, s] u[s]
//
// are so far. A token that is done, u[t] = rhs[t] + sum_m r_m[t] y_m[t], goes
// to the other three lanes and into the sums of all later tokens.
//
//===----------------------------------------------------------------------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

/// Tokens of a block, two in each of four lanes.
static constexpr int64_t kBlock = 8;
/// Elements of a lane in a block: two tokens of two rows.
static constexpr int64_t kElements = 4;
/// Columns of A that are read at once.
static constexpr int64_t kVector = 4;

namespace {
class Solve {
public:
  Solve(Emitter &e, UnitLowerSolveOp op)
      : e(e), op(op),
        blocks(cast<RankedTensorType>(op.getRhs().getType()).getDimSize(1) /
               kBlock),
        result(e.fragments.lookup(op.getRhs())) {
    for (Value rate : op.getRates())
      rates.push_back(e.fragments.lookup(rate));
    for (Value matrix : op.getMatrices())
      matrices.push_back(e.tiles.lookup(matrix));
  }

  Registers run() {
    int64_t perTile = blocks * kElements;
    for (int64_t first = 0; first < int64_t(result.size()); first += perTile)
      solveRows(first);
    return result;
  }

private:
  /// A[8 block + 2 lane + token, column ..] of the tokens of a lane.
  using Coefficients = std::array<SmallVector<Value, kBlock>, 2>;

  void solveRows(int64_t first);
  Coefficients load(size_t term, int64_t block, int64_t columns);
  Value multiplyAdd(Value a, Value b, Value c) {
    return math::FmaOp::create(e.builder, e.loc, a, b, c);
  }

  Emitter &e;
  UnitLowerSolveOp op;
  int64_t blocks;
  Registers result;
  SmallVector<Registers> rates;
  SmallVector<SmemTile> matrices;
};
} // namespace

Solve::Coefficients Solve::load(size_t term, int64_t block, int64_t columns) {
  auto four = VectorType::get({kVector}, e.builder.getF32Type());
  Coefficients found;
  for (int64_t token : {0, 1})
    for (int64_t k = 0; k < kBlock; k += kVector) {
      Value row =
          e.load(four,
                 e.pointerTo(matrices[term], LaneSum::ofLane(1, 4, 2), {},
                             block * kBlock + token, columns * kBlock + k),
                 16);
      for (int64_t i = 0; i < kVector; ++i)
        found[token].push_back(e.extract(row, i));
    }
  return found;
}

void Solve::solveRows(int64_t first) {
  size_t terms = matrices.size();
  // y per term, in the order of the result's elements.
  SmallVector<Registers> sums(terms,
                              Registers(size_t(blocks * kElements), e.f32(0)));
  Value lane = e.evaluate(LaneSum::ofLane(1, 4, 1));
  for (int64_t block = 0; block < blocks; ++block) {
    // Element 2 h + c is token c of row h.
    auto done = [&](int64_t element) {
      int64_t number = block * kElements + element;
      Value u = result[first + number];
      for (size_t m = 0; m < terms; ++m)
        u = multiplyAdd(rates[m][first + number], sums[m][number], u);
      return u;
    };
    SmallVector<Coefficients> own;
    for (size_t m = 0; m < terms; ++m) {
      own.push_back(load(m, block, block));
      // Later tokens only: what is done stays as it is.
      for (int64_t token : {0, 1})
        for (int64_t t = 0; t < kBlock; ++t) {
          Value isLater = e.hoisted([&] {
            return e.isLess(e.i32(t - token), e.mulI(lane, e.i32(2)));
          });
          Value &a = own[m][token][t];
          a = e.select(isLater, a, e.f32(0));
        }
    }
    std::array<SmallVector<Value, kBlock>, 2> known;
    for (int64_t t = 0; t < kBlock; ++t)
      for (int64_t h : {0, 1}) {
        Value u = emitShuffle(e.builder, e.loc, Shuffle::Index,
                              done(2 * h + t % 2), e.i32(t / 2), 4);
        known[h].push_back(u);
        for (size_t m = 0; m < terms; ++m)
          for (int64_t token : {0, 1}) {
            Value &sum = sums[m][block * kElements + 2 * h + token];
            sum = multiplyAdd(own[m][token][t], u, sum);
          }
      }
    for (int64_t element = 0; element < kElements; ++element)
      result[first + block * kElements + element] = done(element);
    for (int64_t later = block + 1; later < blocks; ++later)
      for (size_t m = 0; m < terms; ++m) {
        Coefficients a = load(m, later, block);
        for (int64_t t = 0; t < kBlock; ++t)
          for (int64_t h : {0, 1})
            for (int64_t token : {0, 1}) {
              Value &sum = sums[m][later * kElements + 2 * h + token];
              sum = multiplyAdd(a[token][t], known[h][t], sum);
            }
      }
  }
}

LogicalResult linattn::tilenvvm::emitSolve(Emitter &e, UnitLowerSolveOp op) {
  e.fragments[op.getResult()] = Solve(e, op).run();
  return success();
}
