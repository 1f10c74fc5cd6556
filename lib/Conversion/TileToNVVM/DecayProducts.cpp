//===- DecayProducts.cpp - products of rows with decays between them ------===//
//
// See tile.decay_mma for the algebra. A warp has a tile of 16 rows; lane l has
// rows l / 4 and l / 4 + 8 and, of each 16 columns, four: those of an mma's
// operand a, whose registers are operand b of the transposed matrix as well. So
// pairs inside the tile need nothing from memory but x, y and the decays.
//
//===----------------------------------------------------------------------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

//===----------------------------------------------------------------------===//
// Halves of a tile
//===----------------------------------------------------------------------===//

/// Lanes whose rows differ in bit b of l / 4 differ in bit b + 2 of l.
static constexpr int64_t kRowBit = 2;
/// Bits of a row inside the 8 that the lanes of a warp have.
static constexpr int64_t kLaneBits = 3;

/// Whether this lane's rows have the bit: they are in the later half.
static Value isLater(Emitter &e, int64_t bit) {
  return e.hoisted([&] {
    return e.isEqual(e.remI(e.shrI(e.getLane(), kRowBit + bit), 2), e.i32(1));
  });
}

static Value otherHalf(Emitter &e, Value value, int64_t bit) {
  return emitShuffleXor(e.builder, e.loc, value, 1 << (kRowBit + bit));
}

/// The number of this warp's tile of 16 rows, of `tiles`.
static Value ownTile(Emitter &e, int64_t tiles) {
  return e.evaluate(LaneSum::ofWarp(tiles, 1));
}

namespace {

/// 16 columns of a lane's two rows: cells 2 m and 2 m + 1 are the pair of
/// columns in register m of operand a, that is row m mod 2, columns m / 2.
constexpr int64_t kCells = 8;
using Cells = SmallVector<Value, kCells>;
int64_t rowOf(int64_t cell) { return cell / 2 % 2; }
int64_t columnOf(int64_t cell) { return cell / 4 * 2 + cell % 2; }
/// Different columns that a lane has of 16.
constexpr int64_t kColumns = 4;
using ColumnValues = SmallVector<Value, kColumns>;

/// An operand of a product of depth 16: registers of operand a, or of operand b
/// for the two blocks of 8 rows. 16 bits: 4 registers. f32: 8 in two tf32
/// terms.
struct Operand {
  SmallVector<Value, kCells> high, low;
};

/// Four elements of an accumulator.
using Block = SmallVector<Value, 4>;

class DecayMma {
public:
  DecayMma(Emitter &e, DecayMmaOp op);
  void run();

private:
  /// What has been summed for one x.
  struct Sums {
    /// Pairs inside 8 rows whose rows first differ in bit 0, 1, 2; pairs of
    /// equal rows. The first two elements are of the first 8 rows.
    Block bits[kLaneBits], equal;
    /// Pairs of the second and the first 8 rows.
    Block halves;
    /// Pairs with the tiles before.
    SmallVector<Block> earlier;
  };
  /// The decays of 16 columns as products inside a half: before x's event from
  /// the half's start, for both positions of x; after y's event to its end;
  /// all.
  struct Decays {
    Cells before[2], after, all;
  };

  Value pointerTo(const SmemTile &tile, const LaneSum &rows,
                  const LaneSum &columns, int64_t row, int64_t column);
  Cells load(const SmemTile &tile);
  Cells loadGates();
  Cells exponential(const Cells &gates);
  void mergeLanes(Decays &decays, int64_t bit);
  void mergeRows(Decays &decays);
  Cells scale(const Cells &values, const Cells &by);

  Operand operand(const Cells &cells);
  /// acc += a b^T for the rows of a in `rows` (0, 1; -1: both) and a block of 8
  /// rows of b.
  void multiply(const Operand &a, int64_t rows, const Operand &b, int64_t block,
                Block &acc);
  void multiplyInside(const Operand &a, const Operand &b, Block &acc);

  /// All numbers that are summed, in one order.
  SmallVector<Value *> accumulators();
  void addSlice();
  void addInside(ArrayRef<Cells> xs, const Cells &y, Decays &decays);
  void addEarlier(ArrayRef<Cells> xs, Decays &decays);
  void writeTargets(ArrayRef<Cells> xs, const Cells &y, const Decays &decays);
  void writeTarget(const SmemTile &tile, const Cells &rows);
  ColumnValues sumRows(const Cells &cells);
  void writeSums(const ColumnValues &own);
  /// What another warp sees of a tile's slice.
  void give(const Cells &y, const ColumnValues &all, const ColumnValues &sum);
  Operand takeOperand(int64_t tile);
  enum Place : int64_t { AllDecays, Sum, Y };
  ColumnValues takeColumns(int64_t tile, Place place);
  Value slotPointer(Value tile, int64_t place);

  Registers gather(size_t number);
  Value pick(const Sums &sums, int64_t element, bool inclusive);

  Emitter &e;
  DecayMmaOp op;
  Type element;
  int64_t depth, tiles;
  /// Which 16 columns it is at, as i32.
  Value slice;
  std::vector<Sums> sums;
};

} // namespace

DecayMma::DecayMma(Emitter &e, DecayMmaOp op)
    : e(e), op(op), element(op.getElement()),
      depth(op.getY().getType().getShape()[1]),
      tiles(op.getY().getType().getShape()[0] / kRowTile) {
  Block zeros(4, e.f32(0));
  sums.resize(op.getXs().size());
  for (Sums &sum : sums) {
    for (Block &bit : sum.bits)
      bit = zeros;
    sum.equal = sum.halves = zeros;
    // Two blocks of 8 columns for each tile.
    sum.earlier.assign(2 * (tiles - 1), zeros);
  }
}

//===----------------------------------------------------------------------===//
// Rows and decays
//===----------------------------------------------------------------------===//

/// A pointer into the slice: what depends on the slice is computed in the loop,
/// which would be as long as K otherwise.
Value DecayMma::pointerTo(const SmemTile &tile, const LaneSum &rows,
                          const LaneSum &columns, int64_t row, int64_t column) {
  int64_t bytes = tile.type.getElementBytes();
  Value atRow = e.hoisted(
      [&] { return e.addI(e.evaluate(rows), e.i32(tile.row + row)); });
  Value inSlice = e.hoisted([&] {
    return e.addI(e.evaluate(columns * bytes),
                  e.i32((tile.column + column) * bytes));
  });
  Value byte = e.addI(e.mulI(slice, e.i32(kRowTile * bytes)), inSlice);
  Value offset = e.storageOffset(tile.type, atRow, byte);
  return e.advance(e.pointerTo(tile), offset);
}

Cells DecayMma::load(const SmemTile &tile) {
  LaneSum warpRows = LaneSum::ofWarp(tiles, kRowTile);
  Cells cells;
  Type stored = tile.type.getElementType();
  if (!stored.isF32() && hasMatrixRows(tile.type)) {
    Value pointer = pointerTo(tile, LaneSum::ofLane(1, 16, 1) + warpRows,
                              LaneSum::ofLane(16, 2, 8), 0, 0);
    for (Value value :
         emitLdMatrix(e.builder, e.loc, pointer, 4, /*transposed=*/false)) {
      auto [first, second] =
          e.widenPair(e.bitcast(value, VectorType::get({2}, stored)));
      cells.append({first, second});
    }
    return cells;
  }
  LaneSum rows = LaneSum::ofLane(4, 8, 1) + warpRows;
  for (int64_t m = 0; m < kCells / 2; ++m) {
    Value pointer =
        pointerTo(tile, rows, LaneSum::ofLane(1, 4, 2), m % 2 * 8, m / 2 * 8);
    Value pair = e.load(VectorType::get({2}, stored), pointer,
                        2 * tile.type.getElementBytes());
    for (int64_t j : {0, 1}) {
      Value value = e.extract(pair, j);
      cells.push_back(stored.isF32() ? value
                                     : arith::ExtFOp::create(
                                           e.builder, e.loc,
                                           e.builder.getF32Type(), value));
    }
  }
  return cells;
}

/// e^-10000 is 0 in f32 already, and what is multiplied stays a number.
static constexpr double kLeastGate = -1e4;

/// Log decays, clamped.
Cells DecayMma::loadGates() {
  Cells cells = load(e.tiles.lookup(op.getDecays()));
  // maximumf keeps NaN.
  for (Value &cell : cells)
    cell = arith::MaximumFOp::create(e.builder, e.loc, cell, e.f32(kLeastGate));
  return cells;
}

Cells DecayMma::exponential(const Cells &gates) {
  Cells result;
  for (Value gate : gates) {
    // What is rounded to 16 bits next needs no better exponential than the
    // device's.
    if (element.isF32())
      result.push_back(math::ExpOp::create(e.builder, e.loc, gate));
    else
      result.push_back(emitExp2Approx(e.builder, e.loc,
                                      e.mulF(gate, e.f32(1.4426950408889634))));
  }
  return result;
}

Cells DecayMma::scale(const Cells &values, const Cells &by) {
  Cells result;
  for (auto [value, factor] : llvm::zip(values, by))
    result.push_back(e.mulF(value, factor));
  return result;
}

/// From halves of 2^bit rows to halves of twice as many.
void DecayMma::mergeLanes(Decays &decays, int64_t bit) {
  Value later = isLater(e, bit), one = e.f32(1);
  for (int64_t i = 0; i < kCells; ++i) {
    Value other = otherHalf(e, decays.all[i], bit);
    Value earlier = e.select(later, other, one);
    for (Cells &before : decays.before)
      before[i] = e.mulF(before[i], earlier);
    decays.after[i] = e.mulF(decays.after[i], e.select(later, one, other));
    decays.all[i] = e.mulF(decays.all[i], other);
  }
}

/// The same for the two halves that a lane has itself.
void DecayMma::mergeRows(Decays &decays) {
  for (int64_t i = 0; i < kCells; ++i) {
    if (rowOf(i) != 0)
      continue;
    int64_t below = i + 2;
    for (Cells &before : decays.before)
      before[below] = e.mulF(before[below], decays.all[i]);
    decays.after[i] = e.mulF(decays.after[i], decays.all[below]);
    decays.all[i] = e.mulF(decays.all[i], decays.all[below]);
    decays.all[below] = decays.all[i];
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Operand DecayMma::operand(const Cells &cells) {
  Operand result;
  Type i32 = e.builder.getI32Type();
  if (!element.isF32()) {
    for (int64_t i = 0; i < kCells; i += 2)
      result.high.push_back(
          e.bitcast(e.roundPair(cells[i], cells[i + 1], element), i32));
    return result;
  }
  for (Value cell : cells) {
    Value high = emitToTF32(e.builder, e.loc, cell);
    result.high.push_back(high);
    Value rest = e.subF(cell, e.bitcast(high, e.builder.getF32Type()));
    result.low.push_back(emitToTF32(e.builder, e.loc, rest));
  }
  return result;
}

void DecayMma::multiply(const Operand &a, int64_t rows, const Operand &b,
                        int64_t block, Block &acc) {
  Value zero = e.i32(0);
  auto of = [&](ValueRange registers, int64_t cell) {
    return rows < 0 || rowOf(cell) == rows
               ? registers[element.isF32() ? cell : cell / 2]
               : zero;
  };
  if (!element.isF32()) {
    SmallVector<Value> left, right = {b.high[block], b.high[2 + block]};
    for (int64_t m = 0; m < 4; ++m)
      left.push_back(of(a.high, 2 * m));
    emitMma(e.builder, e.loc, element, left, right, acc);
    return;
  }
  auto add = [&](ValueRange ofA, ValueRange ofB) {
    // Columns of 8 each; the even ones of a lane, then the odd ones.
    for (int64_t start = 0; start < kCells; start += 4) {
      SmallVector<Value> left = {of(ofA, start), of(ofA, start + 2),
                                 of(ofA, start + 1), of(ofA, start + 3)};
      SmallVector<Value> right = {ofB[start + 2 * block],
                                  ofB[start + 2 * block + 1]};
      emitMma(e.builder, e.loc, element, left, right, acc);
    }
  };
  // Small products first.
  add(a.low, b.high);
  add(a.high, b.low);
  add(a.high, b.high);
}

/// Pairs inside the first and inside the second 8 rows, in one accumulator.
void DecayMma::multiplyInside(const Operand &a, const Operand &b, Block &acc) {
  multiply(a, 0, b, 0, acc);
  multiply(a, 1, b, 1, acc);
}

void DecayMma::addInside(ArrayRef<Cells> xs, const Cells &y, Decays &decays) {
  // Equal rows: the row's own decay is between a y before and an x after it.
  Operand plain;
  for (auto [number, x] : llvm::enumerate(xs)) {
    if (!op.getInclusive()[number])
      continue;
    if (plain.high.empty())
      plain = operand(y);
    bool own = op.getXPositions()[number] == 1 && op.getYPosition() == 0;
    multiplyInside(operand(own ? scale(x, decays.all) : x), plain,
                   sums[number].equal);
  }
  for (int64_t bit = 0; bit <= kLaneBits; ++bit) {
    Operand right = operand(scale(y, decays.after));
    for (auto [number, x] : llvm::enumerate(xs)) {
      Operand left =
          operand(scale(x, decays.before[op.getXPositions()[number]]));
      if (bit < kLaneBits)
        multiplyInside(left, right, sums[number].bits[bit]);
      else
        multiply(left, 1, right, 0, sums[number].halves);
    }
    if (bit < kLaneBits)
      mergeLanes(decays, bit);
    else
      mergeRows(decays);
  }
}

//===----------------------------------------------------------------------===//
// Tiles before
//===----------------------------------------------------------------------===//
//
// Two buffers in turn, with a slot per tile of what each of its lanes has: a
// lane of another warp needs the same registers.

/// Pieces of 16 bytes of all lanes stand beside each other, one kind after the
/// other.
Value DecayMma::slotPointer(Value tile, int64_t place) {
  int64_t slotBytes = DecayMmaOp::getScratchBytes(kRowTile, element) / 2;
  Value start = e.hoisted([&] {
    Value at = e.mulI(e.getLane(), e.i32(16));
    return tile ? e.addI(at, e.mulI(tile, e.i32(slotBytes))) : at;
  });
  Value buffer = e.mulI(e.remI(slice, 2), e.i32(tiles * slotBytes));
  Value pointer = e.pointerTo(e.tiles.lookup(op.getScratch()));
  pointer = e.advance(e.advance(pointer, start), buffer);
  return e.advance(pointer, place * 16 * kWarpSize);
}

void DecayMma::give(const Cells &y, const ColumnValues &all,
                    const ColumnValues &sum) {
  SmallVector<Value> registers;
  if (element.isF32())
    registers.append(y.begin(), y.end());
  else
    registers.append(operand(y).high);
  auto type = cast<RankedTensorType>(op.getResultTypes()[0]);
  e.when(e.isWriter(type), [&] {
    Value own = ownTile(e, tiles);
    e.store(e.vectorOf(all), slotPointer(own, AllDecays), 16);
    if (!sum.empty())
      e.store(e.vectorOf(sum), slotPointer(own, Sum), 16);
    for (size_t i = 0; i < registers.size(); i += 4)
      e.store(e.vectorOf(ArrayRef(registers).slice(i, 4)),
              slotPointer(own, Y + i / 4), 16);
  });
}

Operand DecayMma::takeOperand(int64_t tile) {
  int64_t slotBytes = DecayMmaOp::getScratchBytes(kRowTile, element) / 2;
  Value slot = e.advance(slotPointer({}, Y), tile * slotBytes);
  Type type = element.isF32() ? Type(e.builder.getF32Type())
                              : Type(e.builder.getI32Type());
  Cells values;
  for (int64_t i = 0; i < (element.isF32() ? kCells : kCells / 2); i += 4) {
    Value piece = e.load(VectorType::get({4}, type),
                         e.advance(slot, 4 * i * kWarpSize), 16);
    for (int64_t j = 0; j < 4; ++j)
      values.push_back(e.extract(piece, j));
  }
  if (element.isF32())
    return operand(values);
  return {values, {}};
}

ColumnValues DecayMma::takeColumns(int64_t tile, Place place) {
  int64_t slotBytes = DecayMmaOp::getScratchBytes(kRowTile, element) / 2;
  Value slot = e.advance(slotPointer({}, place), tile * slotBytes);
  Value piece =
      e.load(VectorType::get({kColumns}, e.builder.getF32Type()), slot, 16);
  ColumnValues values;
  for (int64_t i = 0; i < kColumns; ++i)
    values.push_back(e.extract(piece, i));
  return values;
}

static Cells scaleColumns(Emitter &e, const Cells &cells,
                          const ColumnValues &by) {
  if (by.empty())
    return cells;
  Cells result;
  for (int64_t i = 0; i < kCells; ++i)
    result.push_back(e.mulF(cells[i], by[columnOf(i)]));
  return result;
}

/// Products with the tiles before; then the decays since the start and until
/// the end of the chunk instead of the tile.
void DecayMma::addEarlier(ArrayRef<Cells> xs, Decays &decays) {
  Value own = ownTile(e, tiles), one = e.f32(1);
  SmallVector<Cells, 2> left;
  for (auto [number, x] : llvm::enumerate(xs))
    left.push_back(scale(x, decays.before[op.getXPositions()[number]]));
  // All decays between tile j and this one; warps that are not behind j make
  // what nobody reads.
  ColumnValues between;
  for (int64_t j = tiles - 2; j >= 0; --j) {
    Operand right = takeOperand(j);
    for (auto [number, x] : llvm::enumerate(left)) {
      Operand a = operand(scaleColumns(e, x, between));
      for (int64_t block : {0, 1})
        multiply(a, -1, right, block, sums[number].earlier[2 * j + block]);
    }
    ColumnValues next = takeColumns(j, AllDecays);
    Value isBetween = e.hoisted([&] { return e.isLess(e.i32(j), own); });
    for (int64_t i = 0; i < kColumns; ++i)
      next[i] = e.select(
          isBetween, between.empty() ? next[i] : e.mulF(between[i], next[i]),
          one);
    between = next;
  }
  if (op.getTargets().empty())
    return;
  for (Cells &before : decays.before)
    before = scaleColumns(e, before, between);
  for (int64_t j = 1; j < tiles; ++j) {
    ColumnValues next = takeColumns(j, AllDecays);
    Value isAfter = e.hoisted([&] { return e.isLess(own, e.i32(j)); });
    for (Value &value : next)
      value = e.select(isAfter, value, one);
    decays.after = scaleColumns(e, decays.after, next);
  }
}

//===----------------------------------------------------------------------===//
// Rows with their decays
//===----------------------------------------------------------------------===//

void DecayMma::writeTarget(const SmemTile &tile, const Cells &rows) {
  LaneSum warpRows = LaneSum::ofWarp(tiles, kRowTile);
  SmallVector<Value, kCells> registers;
  if (element.isF32()) {
    for (size_t i = 0; i < rows.size(); i += 2)
      registers.push_back(e.pack(rows[i], rows[i + 1]));
  } else {
    registers = operand(rows).high;
  }
  auto type = cast<RankedTensorType>(op.getResultTypes()[0]);
  e.when(e.isWriter(type), [&] {
    if (!element.isF32() && e.capability >= 90 && hasMatrixRows(tile.type)) {
      emitStMatrix(e.builder, e.loc,
                   pointerTo(tile, LaneSum::ofLane(1, 16, 1) + warpRows,
                             LaneSum::ofLane(16, 2, 8), 0, 0),
                   registers, /*transposed=*/false);
      return;
    }
    for (auto [m, value] : llvm::enumerate(registers))
      e.store(value,
              pointerTo(tile, LaneSum::ofLane(4, 8, 1) + warpRows,
                        LaneSum::ofLane(1, 4, 2), m % 2 * 8, m / 2 * 8),
              element.isF32() ? 8 : 4);
  });
}

void DecayMma::writeTargets(ArrayRef<Cells> xs, const Cells &y,
                            const Decays &decays) {
  for (auto [of, target] : llvm::zip(op.getTargetOf(), op.getTargets())) {
    bool isY = of == int64_t(xs.size());
    writeTarget(e.tiles.lookup(target),
                isY ? scale(y, decays.after)
                    : scale(xs[of], decays.before[op.getXPositions()[of]]));
  }
}

/// Sums over the 16 rows of the warp.
ColumnValues DecayMma::sumRows(const Cells &cells) {
  ColumnValues result(kColumns);
  for (int64_t i = 0; i < kCells; ++i) {
    Value &sum = result[columnOf(i)];
    sum = sum ? e.addF(sum, cells[i]) : cells[i];
  }
  for (Value &sum : result)
    for (int64_t bit = 0; bit < kLaneBits; ++bit)
      sum = e.addF(sum, otherHalf(e, sum, bit));
  return result;
}

void DecayMma::writeSums(const ColumnValues &own) {
  ColumnValues all = own;
  for (int64_t tile = 0; tile < tiles && tiles > 1; ++tile) {
    ColumnValues next = takeColumns(tile, Sum);
    for (int64_t i = 0; i < kColumns; ++i)
      all[i] = tile == 0 ? next[i] : e.addF(all[i], next[i]);
  }
  SmemTile tile = e.tiles.lookup(op.getSums());
  // Lanes 0 to 3 of the first warp hold all 16 columns.
  Value isWriter = e.hoisted([&] { return e.isLess(e.getThread(), e.i32(4)); });
  e.when(isWriter, [&] {
    for (int64_t i = 0; i < kColumns; i += 2)
      e.store(e.pack(all[i], all[i + 1]),
              pointerTo(tile, {}, LaneSum::ofLane(1, 4, 2), 0, i / 2 * 8), 8);
  });
}

void DecayMma::addSlice() {
  Cells y = load(e.tiles.lookup(op.getY()));
  SmallVector<Cells, 2> xs;
  for (Value x : op.getXs())
    xs.push_back(x == op.getY() ? y : load(e.tiles.lookup(x)));
  Cells gates = loadGates();
  Decays decays;
  decays.all = exponential(gates);
  Cells ones(kCells, e.f32(1));
  decays.before[0] = ones;
  decays.before[1] = decays.all;
  decays.after = op.getYPosition() == 0 ? decays.all : ones;
  ColumnValues sum;
  if (op.getSums())
    sum = sumRows(gates);
  addInside(xs, y, decays);
  if (tiles > 1) {
    ColumnValues all(kColumns);
    for (int64_t i = 0; i < kCells; ++i)
      all[columnOf(i)] = decays.all[i];
    give(scale(y, decays.after), all, sum);
    emitBarrier(e.builder, e.loc);
    addEarlier(xs, decays);
  }
  writeTargets(xs, y, decays);
  if (op.getSums())
    writeSums(sum);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// An element of a block of 8 x 8 on the diagonal: from the sum of the highest
/// bit in which its row and its column differ.
Value DecayMma::pick(const Sums &sums, int64_t element, bool inclusive) {
  // Row l / 4, column 2 (l mod 4) + element mod 2.
  auto position = [&] {
    Value row = e.shrI(e.getLane(), kRowBit);
    Value column =
        e.addI(e.mulI(e.remI(e.getLane(), 4), e.i32(2)), e.i32(element % 2));
    return std::pair(row, column);
  };
  Value isBefore = e.hoisted([&] {
    auto [row, column] = position();
    return e.isLess(column, row);
  });
  Value result = sums.bits[0][element];
  for (int64_t bit = 1; bit < kLaneBits; ++bit) {
    Value differs = e.hoisted([&] {
      auto [row, column] = position();
      return e.isLess(e.i32((1 << bit) - 1), e.xorI(row, column));
    });
    result = e.select(differs, sums.bits[bit][element], result);
  }
  Value rest = e.f32(0);
  if (inclusive)
    rest = e.select(e.hoisted([&] {
      auto [row, column] = position();
      return e.isEqual(row, column);
    }),
                    sums.equal[element], rest);
  return e.select(isBefore, result, rest);
}

Registers DecayMma::gather(size_t number) {
  const Sums &sum = sums[number];
  bool inclusive = op.getInclusive()[number];
  Value zero = e.f32(0);
  Registers result;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    Value isOwn =
        e.hoisted([&] { return e.isEqual(ownTile(e, tiles), e.i32(tile)); });
    Value isEarlier =
        e.hoisted([&] { return e.isLess(e.i32(tile), ownTile(e, tiles)); });
    for (int64_t block : {0, 1})
      for (int64_t element = 0; element < 4; ++element) {
        int64_t half = element / 2;
        Value own = half == block ? pick(sum, element, inclusive)
                    : half == 1   ? sum.halves[element]
                                  : zero;
        Value other = zero;
        if (tile < tiles - 1)
          other =
              e.select(isEarlier, sum.earlier[2 * tile + block][element], zero);
        result.push_back(e.select(isOwn, own, other));
      }
  }
  return result;
}

SmallVector<Value *> DecayMma::accumulators() {
  SmallVector<Value *> result;
  auto append = [&](Block &block) {
    for (Value &value : block)
      result.push_back(&value);
  };
  for (auto [number, sum] : llvm::enumerate(sums)) {
    for (Block &bit : sum.bits)
      append(bit);
    if (op.getInclusive()[number])
      append(sum.equal);
    append(sum.halves);
    for (Block &block : sum.earlier)
      append(block);
  }
  return result;
}

void DecayMma::run() {
  SmallVector<Value *> carried = accumulators();
  SmallVector<Value> initial;
  for (Value *value : carried)
    initial.push_back(*value);
  auto index = [&](int64_t value) -> Value {
    return e.constant(e.builder.getIndexAttr(value));
  };
  // f32 takes all registers: none for what others need before and behind.
  bool isAlone = element.isF32() && !op->getParentOfType<scf::ForOp>();
  if (isAlone)
    e.beginAgain();
  auto loop = scf::ForOp::create(e.builder, e.loc, index(0),
                                 index(depth / kRowTile), index(1), initial);
  {
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToStart(loop.getBody());
    for (auto [value, arg] : llvm::zip(carried, loop.getRegionIterArgs()))
      *value = arg;
    slice = e.toI32(loop.getInductionVar());
    addSlice();
    SmallVector<Value> next;
    for (Value *value : carried)
      next.push_back(*value);
    scf::YieldOp::create(e.builder, e.loc, next);
  }
  for (auto [value, result] : llvm::zip(carried, loop.getResults()))
    *value = result;
  if (isAlone)
    e.beginAgain();
  for (auto [number, result] : llvm::enumerate(op.getResults()))
    e.fragments[result] = gather(number);
}

LogicalResult linattn::tilenvvm::emitDecayMma(Emitter &e, DecayMmaOp op) {
  DecayMma(e, op).run();
  return success();
}

//===----------------------------------------------------------------------===//
// Running sums down the rows
//===----------------------------------------------------------------------===//

LogicalResult linattn::tilenvvm::emitScanRows(Emitter &e, ScanRowsOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  auto layout = cast<AccAttr>(type.getEncoding());
  Registers source = e.fragments.lookup(op.getSource());
  bool reverse = op.getReverse();
  int64_t tiles = type.getDimSize(0) / kRowTile, blocks = numBlocks(type);
  int64_t warps = std::min<int64_t>(tiles, layout.getWarps());
  // Sums over the rows before (after) a row inside its tile, and over the tile.
  Registers part(source.size()), all(source.size());
  Value zero = e.f32(0);
  for (size_t first = 0; first < source.size(); first += 4)
    for (int64_t j : {0, 1}) {
      // The two rows of this lane.
      Value sum[2], total[2];
      for (int64_t row : {0, 1}) {
        total[row] = source[first + 2 * row + j];
        for (int64_t bit = 0; bit < kLaneBits; ++bit) {
          Value other = otherHalf(e, total[row], bit);
          Value later = isLater(e, bit);
          Value more = reverse ? e.select(later, zero, other)
                               : e.select(later, other, zero);
          sum[row] = sum[row] ? e.addF(sum[row], more) : more;
          total[row] = e.addF(total[row], other);
        }
      }
      int64_t behind = reverse ? 0 : 1;
      sum[behind] = e.addF(sum[behind], total[1 - behind]);
      Value tile = e.addF(total[0], total[1]);
      for (int64_t row : {0, 1}) {
        part[first + 2 * row + j] = sum[row];
        all[first + 2 * row + j] = tile;
      }
    }
  if (tiles > 1) {
    SmemTile scratch = e.tiles.lookup(op.getScratch());
    LaneSum columns = LaneSum::of(getLaneColumn(type));
    Value isFirstRow = e.hoisted([&]() -> Value {
      Value isFirst = e.isLess(e.getLane(), e.i32(4));
      return tiles < e.warps
                 ? e.both(isFirst, e.isLess(e.getWarp(), e.i32(tiles)))
                 : isFirst;
    });
    e.when(isFirstRow, [&] {
      for (size_t i = 0; i < all.size(); i += 4)
        e.store(e.pack(all[i], all[i + 1]),
                e.pointerTo(scratch, LaneSum::ofWarp(warps, 1), columns,
                            int64_t(i) / 4 / blocks * warps,
                            int64_t(i) / 4 % blocks * 8),
                8);
    });
    emitBarrier(e.builder, e.loc);
    for (size_t i = 0; i < all.size(); i += 4) {
      int64_t number = int64_t(i) / 4 / blocks;
      Value own = e.addI(ownTile(e, warps), e.i32(number * warps));
      // Tiles before (after) it, from the nearest on.
      Value sum[2] = {zero, zero};
      for (int64_t turn = 0; turn < tiles - 1; ++turn) {
        int64_t tile = reverse ? turn + 1 : tiles - 2 - turn;
        SmallVector<Value, 4> pair =
            loadPair(e, scratch, {}, columns, tile, int64_t(i) / 4 % blocks * 8,
                     /*alongColumns=*/true);
        Value counts =
            reverse ? e.isLess(own, e.i32(tile)) : e.isLess(e.i32(tile), own);
        for (int64_t j : {0, 1})
          sum[j] = e.addF(sum[j], e.select(counts, pair[j], zero));
      }
      for (int64_t k = 0; k < 4; ++k)
        part[i + k] = e.addF(part[i + k], sum[k % 2]);
    }
  }
  if (!op.getExclusive())
    for (size_t i = 0; i < part.size(); ++i)
      part[i] = e.addF(part[i], source[i]);
  e.fragments[op.getResult()] = part;
  return success();
}
