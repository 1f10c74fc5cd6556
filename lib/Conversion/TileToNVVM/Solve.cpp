//===- Solve.cpp - a triangular system for each row -----------------------===//
//
// A row n of the right sides is one system over tokens t and their unknowns i.
// Four lanes have it, two of every 8 tokens each. Inside a block of 8 tokens an
// unknown that is done, u_i[t] = side_i[t] + sum_m r_m[t] y_m[t], goes to the
// other three lanes and into the sums of what comes after it,
//
//   y_m[t] = sum_{s<t} A_m[t, s] u_j[s].
//
// What a block is to the later ones are products of its unknowns, which stand
// in the lanes as an mma wants them, and go into the right sides at once: no
// sums wait in registers.
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
/// Columns of A that are read at once, and how many coefficients a lane holds
/// for it at most.
static constexpr int64_t kVector = 4, kCoefficients = 48;

namespace {
/// A matrix and the unknown that it takes.
struct Term {
  SmemTile matrix;
  int64_t writer;
};

/// What goes into one unknown at one rate.
struct RatedSum {
  int64_t reader;
  Value rate;
  Registers rates;
  SmallVector<Term> terms;
};

class Solve {
public:
  Solve(Emitter &e, UnitLowerSolveOp op) : e(e), op(op) {
    auto type = cast<RankedTensorType>(op.getSides()[0].getType());
    blocks = type.getDimSize(1) / kBlock;
    for (Value side : op.getSides())
      unknowns.push_back(e.fragments.lookup(side));
    rowTiles = unknowns[0].size() / (blocks * kElements);
    for (unsigned m = 0; m < op.getMatrices().size(); ++m)
      addTerm(op.getReader(m), op.getRates()[m],
              {e.tiles.lookup(op.getMatrices()[m]), op.getWriter(m)});
    // Two tokens of each matrix; many matrices would fill the registers.
    int64_t perColumn = 2 * op.getMatrices().size();
    while (width > 1 && perColumn * width > kCoefficients)
      width /= 2;
  }

  void run() {
    for (int64_t block = 0; block < blocks; ++block) {
      solveBlock(block);
      updateLater(block);
    }
    for (auto [result, registers] : llvm::zip(op.getResults(), unknowns))
      e.fragments[result] = registers;
  }

private:
  /// A[8 block + 2 lane + token, column ..] of the tokens of a lane.
  using Coefficients = std::array<SmallVector<Value, kVector>, 2>;
  /// The sums of a block: per row tile and element.
  using Sums = SmallVector<Registers>;

  void addTerm(int64_t reader, Value rate, Term term);
  void solveBlock(int64_t block);
  void updateLater(int64_t block);
  Coefficients load(const Term &term, int64_t reader, int64_t block,
                    int64_t column);
  Value finish(const Sums &sums, int64_t unknown, int64_t block, int64_t tile,
               int64_t element);
  int64_t numberOf(int64_t tile, int64_t block, int64_t element) const {
    return (tile * blocks + block) * kElements + element;
  }
  Value multiplyAdd(Value a, Value b, Value c) {
    return math::FmaOp::create(e.builder, e.loc, a, b, c);
  }

  Emitter &e;
  UnitLowerSolveOp op;
  int64_t blocks, rowTiles, width = kVector;
  SmallVector<Registers> unknowns;
  SmallVector<RatedSum> sums;
};
} // namespace

void Solve::addTerm(int64_t reader, Value rate, Term term) {
  for (RatedSum &sum : sums)
    if (sum.reader == reader && sum.rate == rate) {
      sum.terms.push_back(term);
      return;
    }
  sums.push_back({reader, rate, e.fragments.lookup(rate), {term}});
}

/// The coefficients of `width` tokens of the block, 0 where they come too late.
Solve::Coefficients Solve::load(const Term &term, int64_t reader, int64_t block,
                                int64_t column) {
  Type f32 = e.builder.getF32Type();
  Type piece = width == 1 ? f32 : Type(VectorType::get({width}, f32));
  Value lane = e.evaluate(LaneSum::ofLane(1, 4, 1));
  // An unknown of the same token comes before those of higher numbers.
  int64_t same = term.writer < reader ? 1 : 0;
  Coefficients found;
  for (int64_t token : {0, 1}) {
    Value row =
        e.load(piece,
               e.pointerTo(term.matrix, LaneSum::ofLane(1, 4, 2), {},
                           block * kBlock + token, block * kBlock + column),
               width * 4);
    for (int64_t i = 0; i < width; ++i) {
      Value isLater = e.hoisted([&] {
        return e.isLess(e.i32(column + i - token - same),
                        e.mulI(lane, e.i32(2)));
      });
      Value coefficient = width == 1 ? row : e.extract(row, i);
      found[token].push_back(e.select(isLater, coefficient, e.f32(0)));
    }
  }
  return found;
}

Value Solve::finish(const Sums &partial, int64_t unknown, int64_t block,
                    int64_t tile, int64_t element) {
  int64_t number = numberOf(tile, block, element);
  Value u = unknowns[unknown][number];
  for (auto [sum, values] : llvm::zip(sums, partial))
    if (sum.reader == unknown)
      u = multiplyAdd(sum.rates[number], values[tile * kElements + element], u);
  return u;
}

void Solve::solveBlock(int64_t block) {
  Sums partial(sums.size(), Registers(size_t(rowTiles * kElements), e.f32(0)));
  for (int64_t column = 0; column < kBlock; column += width) {
    SmallVector<SmallVector<Coefficients>> own;
    for (const RatedSum &sum : sums)
      own.emplace_back(sum.terms.size());
    auto loadOf = [&](int64_t writer) {
      for (auto [s, sum] : llvm::enumerate(sums))
        for (auto [m, term] : llvm::enumerate(sum.terms))
          if (term.writer == writer)
            own[s][m] = load(term, sum.reader, block, column);
    };
    // Of one token each unknown's when it is due.
    if (width > 1)
      for (int64_t writer = 0; writer < int64_t(unknowns.size()); ++writer)
        loadOf(writer);
    for (int64_t i = 0; i < width; ++i)
      for (int64_t writer = 0; writer < int64_t(unknowns.size()); ++writer) {
        if (width == 1)
          loadOf(writer);
        for (int64_t tile = 0; tile < rowTiles; ++tile)
          // Element 2 h + c is token c of row h.
          for (int64_t h : {0, 1}) {
            int64_t t = column + i;
            Value u =
                emitShuffle(e.builder, e.loc, Shuffle::Index,
                            finish(partial, writer, block, tile, 2 * h + t % 2),
                            e.i32(t / 2), 4);
            for (auto [s, sum] : llvm::enumerate(sums))
              for (auto [m, term] : llvm::enumerate(sum.terms)) {
                if (term.writer != writer)
                  continue;
                for (int64_t token : {0, 1}) {
                  Value &value = partial[s][tile * kElements + 2 * h + token];
                  value = multiplyAdd(own[s][m][token][i], u, value);
                }
              }
          }
      }
  }
  for (int64_t unknown = 0; unknown < int64_t(unknowns.size()); ++unknown)
    for (int64_t tile = 0; tile < rowTiles; ++tile) {
      std::array<Value, kElements> done;
      for (int64_t element = 0; element < kElements; ++element)
        done[element] = finish(partial, unknown, block, tile, element);
      llvm::copy(done, unknowns[unknown].begin() + numberOf(tile, block, 0));
    }
}

/// Adds what the block's unknowns are to those of all later blocks.
void Solve::updateLater(int64_t block) {
  if (block + 1 == blocks)
    return;
  // Column kappa of an mma's operand a is token 2 kappa for kappa < 4, else
  // 2 (kappa - 4) + 1: the elements of a lane.
  auto split = [&](ArrayRef<Value> values) {
    SmallVector<Value, 4> all[2];
    for (Value value : values) {
      Value high = emitToTF32(e.builder, e.loc, value);
      Value rest = e.subF(value, e.bitcast(high, e.builder.getF32Type()));
      all[0].push_back(high);
      all[1].push_back(emitToTF32(e.builder, e.loc, rest));
    }
    return std::make_pair(all[0], all[1]);
  };
  using Halves = std::pair<SmallVector<Value, 4>, SmallVector<Value, 4>>;
  SmallVector<SmallVector<Halves>> known;
  for (const Registers &unknown : unknowns) {
    known.emplace_back();
    for (int64_t tile = 0; tile < rowTiles; ++tile) {
      ArrayRef<Value> u =
          ArrayRef(unknown).slice(numberOf(tile, block, 0), kElements);
      known.back().push_back(split({u[0], u[2], u[1], u[3]}));
    }
  }
  Type f32 = e.builder.getF32Type();
  for (int64_t later = block + 1; later < blocks; ++later)
    for (const RatedSum &sum : sums) {
      Registers product(size_t(rowTiles * kElements), e.f32(0));
      for (const Term &term : sum.terms) {
        Halves a = split(loadPair(e, term.matrix, LaneSum::ofLane(4, 8, 1),
                                  LaneSum::ofLane(1, 4, 2), later * kBlock,
                                  block * kBlock, /*alongColumns=*/true));
        for (int64_t tile = 0; tile < rowTiles; ++tile) {
          const Halves &u = known[term.writer][tile];
          MutableArrayRef<Value> acc =
              MutableArrayRef(product).slice(tile * kElements, kElements);
          // Small products first.
          emitMma(e.builder, e.loc, f32, u.second, a.first, acc);
          emitMma(e.builder, e.loc, f32, u.first, a.second, acc);
          emitMma(e.builder, e.loc, f32, u.first, a.first, acc);
        }
      }
      for (int64_t tile = 0; tile < rowTiles; ++tile)
        for (int64_t element = 0; element < kElements; ++element) {
          int64_t number = numberOf(tile, later, element);
          Value &u = unknowns[sum.reader][number];
          u = multiplyAdd(sum.rates[number],
                          product[tile * kElements + element], u);
        }
    }
}

LogicalResult linattn::tilenvvm::emitSolve(Emitter &e, UnitLowerSolveOp op) {
  Solve(e, op).run();
  return success();
}
