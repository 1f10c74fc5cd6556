//===- Inverse.cpp - inverses of unit lower triangular matrices -----------===//
//
// In blocks of 16 rows, with D_w = (I - A_ww)^-1 and A' what A has left of the
// diagonal blocks:
//
//   I - A = D^-1 (I - M),  M = D A'      so  (I - A)^-1 = (I + Q) D,
//   Q = M + Q M:  Q_wc = M_wc + sum_{c<m<w} Q_wm M_mc,   T_wc = Q_wc D_c.
//
// A warp does the rows of its own row tiles; D and M of the others come through
// the scratch, with one barrier. Operands of products are a sum of two bf16
// numbers each (relative error 2^-18), whose range is that of f32.
//
//===----------------------------------------------------------------------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

namespace {

/// A block of 16 x 16 in `acc`: 8 elements a lane.
using Square = SmallVector<Value, 8>;
/// The same in two terms of 16 bits: registers of an operand a, or b.
struct Terms {
  SmallVector<Value, 4> high, low;
};

class Inverse {
public:
  Inverse(Emitter &e, UnitLowerInverseOp op);
  Registers run();

private:
  /// What a warp has of its row tile: `tile` is the i32 number of it, at most
  /// `last`, and at least `first`.
  struct Rows {
    Value tile;
    int64_t first, last;
    SmallVector<Square> a;
    Square diagonal;
    SmallVector<Square> m;
  };

  Rows rowsOf(int64_t number, ValueRange elements);
  Square diagonalOf(Rows &rows);
  Square invertDiagonal(const Rows &rows, const Square &matrix);
  void multiplyDiagonal(Rows &rows);
  void merge(Rows &rows, Registers &result);

  // Places in the scratch, in the slot of a row tile: `own` means that of this
  // warp among those from `slot` on.
  SmemTile place(int64_t slot, bool own, int64_t offset, int64_t columns,
                 int64_t rowBytes, Type element);
  SmemTile diagonalPlace(int64_t slot);
  SmemTile leftTerm(int64_t slot, bool own, bool isLow);
  SmemTile inverseTerm(int64_t slot, bool own, bool isLow);

  Terms split(const Square &block);
  void storeTerm(SmemTile place, int64_t column, ValueRange registers);
  Terms loadLeft(int64_t slot, bool own, int64_t column);
  Terms loadInverse(int64_t slot);

  struct Product {
    const Terms &a;
    Terms b;
    Square &acc;
  };
  /// acc += a b for all, products of one accumulator far from each other.
  void multiply(MutableArrayRef<Product> products);

  RankedTensorType blockType(Type element) {
    return RankedTensorType::get({kRowTile, kRowTile}, element,
                                 AccAttr::get(element.getContext(), 1));
  }

  Emitter &e;
  UnitLowerInverseOp op;
  /// Rows of the matrix, row tiles, and how many warps have rows of their own.
  int64_t size, tiles, warps;
  SmemTile scratch;
  Type f32, bf16;
};

} // namespace

//===----------------------------------------------------------------------===//
// The scratch
//===----------------------------------------------------------------------===//
//
// A slot per row tile, and per copy of it in another warp: the two terms of M,
// then those of D. The diagonal block in f32 comes before M in the same bytes.
// Rows are 16 bytes longer than they need to be, so that eight of them meet all
// banks.

static constexpr int64_t kPad = 16;
static constexpr int64_t kDiagonalRow = kRowTile * 4 + kPad;
static constexpr int64_t kInverseRow = kRowTile * 2 + kPad;
static int64_t leftRow(int64_t size) { return (size - kRowTile) * 2 + kPad; }

/// Bytes of the two terms of M.
static int64_t leftBytes(int64_t size) {
  return std::max(2 * kRowTile * leftRow(size), kRowTile * kDiagonalRow);
}

static int64_t slotBytes(int64_t size, int64_t allSlots) {
  return UnitLowerInverseOp::getScratchBytes(size, allSlots) / allSlots;
}

SmemTile Inverse::place(int64_t slot, bool own, int64_t offset, int64_t columns,
                        int64_t rowBytes, Type element) {
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  int64_t bytes = slotBytes(size, std::max(tiles, e.warps));
  SmemTile tile = scratch;
  tile.type =
      SmemType::get(e.builder.getContext(), {kRowTile, columns}, element, 0,
                    {kRowTile, rowBytes / elementBytes}, false);
  tile.offset += slot * bytes + offset;
  if (own && e.warps > 1)
    tile.dynamic = e.hoisted([&] {
      Value start = e.mulI(e.getWarp(), e.i32(bytes));
      return scratch.dynamic ? e.addI(start, scratch.dynamic) : start;
    });
  return tile;
}

SmemTile Inverse::diagonalPlace(int64_t slot) {
  return place(slot, /*own=*/true, 0, kRowTile, kDiagonalRow, f32);
}

SmemTile Inverse::leftTerm(int64_t slot, bool own, bool isLow) {
  return place(slot, own, isLow * kRowTile * leftRow(size), size - kRowTile,
               leftRow(size), bf16);
}

SmemTile Inverse::inverseTerm(int64_t slot, bool own, bool isLow) {
  return place(slot, own, leftBytes(size) + isLow * kRowTile * kInverseRow,
               kRowTile, kInverseRow, bf16);
}

//===----------------------------------------------------------------------===//
// Products in two terms
//===----------------------------------------------------------------------===//

Terms Inverse::split(const Square &block) {
  Terms terms;
  Type i32 = e.builder.getI32Type();
  for (size_t i = 0; i < block.size(); i += 2) {
    Value high = e.roundPair(block[i], block[i + 1], bf16);
    auto [first, second] = e.widenPair(high);
    terms.high.push_back(e.bitcast(high, i32));
    Value low = e.roundPair(e.subF(block[i], first),
                            e.subF(block[i + 1], second), bf16);
    terms.low.push_back(e.bitcast(low, i32));
  }
  return terms;
}

void Inverse::storeTerm(SmemTile place, int64_t column, ValueRange registers) {
  place.column += column;
  place.type = place.type.getSliceType({kRowTile, kRowTile});
  RankedTensorType type = blockType(bf16);
  Registers typed;
  for (Value value : registers)
    typed.push_back(e.bitcast(value, getRegisterType(type)));
  storeByAllWarps(e, place, type, typed);
}

Terms Inverse::loadLeft(int64_t slot, bool own, int64_t column) {
  return {loadOperandB(e, leftTerm(slot, own, false), {}, 0, column, 2),
          loadOperandB(e, leftTerm(slot, own, true), {}, 0, column, 2)};
}

Terms Inverse::loadInverse(int64_t slot) {
  return {loadOperandB(e, inverseTerm(slot, false, false), {}, 0, 0, 2),
          loadOperandB(e, inverseTerm(slot, false, true), {}, 0, 0, 2)};
}

void Inverse::multiply(MutableArrayRef<Product> products) {
  auto add = [&](SmallVector<Value, 4> Terms::*ofA,
                 SmallVector<Value, 4> Terms::*ofB) {
    for (Product &product : products)
      for (int64_t half = 0; half < 2; ++half)
        emitMma(e.builder, e.loc, bf16, product.a.*ofA,
                ArrayRef(product.b.*ofB).slice(2 * half, 2),
                MutableArrayRef(product.acc).slice(4 * half, 4));
  };
  // Small products first.
  add(&Terms::low, &Terms::high);
  add(&Terms::high, &Terms::low);
  add(&Terms::high, &Terms::high);
}

//===----------------------------------------------------------------------===//
// The rows of a warp
//===----------------------------------------------------------------------===//

Inverse::Inverse(Emitter &e, UnitLowerInverseOp op)
    : e(e), op(op),
      size(cast<RankedTensorType>(op.getMatrix().getType()).getDimSize(0)),
      tiles(size / kRowTile), warps(std::min(tiles, e.warps)),
      scratch(e.tiles.lookup(op.getScratch())), f32(e.builder.getF32Type()),
      bf16(e.builder.getBF16Type()) {}

Inverse::Rows Inverse::rowsOf(int64_t number, ValueRange elements) {
  Rows rows;
  rows.first = number * warps;
  rows.last = rows.first + warps - 1;
  rows.tile = e.hoisted([&] {
    return e.addI(e.evaluate(LaneSum::ofWarp(warps, 1)), e.i32(rows.first));
  });
  for (int64_t column = 0; column < tiles; ++column)
    rows.a.push_back(Square(elements.slice((number * tiles + column) * 8, 8)));
  return rows;
}

/// The block on the diagonal; those right of it and the block itself become 0.
Square Inverse::diagonalOf(Rows &rows) {
  Square diagonal = rows.a[rows.first];
  for (int64_t column = rows.first; column <= rows.last; ++column) {
    Value isDiagonal =
        e.hoisted([&] { return e.isEqual(rows.tile, e.i32(column)); });
    Value isLeft =
        e.hoisted([&] { return e.isLess(e.i32(column), rows.tile); });
    for (int64_t i = 0; i < 8; ++i) {
      Value &element = rows.a[column][i];
      if (column != rows.first)
        diagonal[i] = e.select(isDiagonal, element, diagonal[i]);
      element = e.select(isLeft, element, e.f32(0));
    }
  }
  return diagonal;
}

/// The i32 as a value that LLVM knows nothing about: what is made of it stays
/// in the loop that the kernel runs, instead of in registers before it.
static Value opaque(Emitter &e, Value value) {
  return LLVM::InlineAsmOp::create(
             e.builder, e.loc, value.getType(), value, "mov.b32 $0, $1;",
             "=r,r", /*has_side_effects=*/true, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

/// X = (I - L)^-1 by forward substitution, a column x of it in each lane:
/// x_r = e_r + sum_{k<r} L_rk x_k.
Square Inverse::invertDiagonal(const Rows &rows, const Square &matrix) {
  SmemTile place = diagonalPlace(rows.first);
  RankedTensorType type = blockType(f32);
  storeByAllWarps(e, place, type, matrix);
  emitWarpBarrier(e.builder, e.loc);
  LaneSum column = LaneSum::ofLane(1, kRowTile, 1);
  SmallVector<Value> x;
  Value own = opaque(e, e.evaluate(column));
  for (int64_t r = 0; r < kRowTile; ++r)
    x.push_back(e.select(e.isEqual(own, e.i32(r)), e.f32(1), e.f32(0)));
  // Four columns of L at a time, the same for all lanes.
  auto four = VectorType::get({4}, f32);
  for (int64_t k = 0; k < kRowTile; k += 4) {
    SmallVector<Value> row(kRowTile);
    for (int64_t r = k + 1; r < kRowTile; ++r)
      row[r] = e.load(four, e.pointerTo(place, {}, {}, r, k), 16);
    for (int64_t i = k; i < k + 4; ++i)
      for (int64_t r = i + 1; r < kRowTile; ++r)
        x[r] = math::FmaOp::create(e.builder, e.loc, e.extract(row[r], i - k),
                                   x[i], x[r]);
  }
  emitWarpBarrier(e.builder, e.loc);
  // Half of the lanes writes the lower rows.
  Value isUpper = e.hoisted([&] { return e.isLess(e.getLane(), e.i32(16)); });
  for (int64_t r = 0; r < kRowTile / 2; ++r)
    e.store(
        e.select(isUpper, x[r], x[r + kRowTile / 2]),
        e.pointerTo(place, LaneSum::ofLane(16, 2, kRowTile / 2), column, r, 0),
        4);
  emitWarpBarrier(e.builder, e.loc);
  return Square(loadFragment(e, place, type));
}

/// M = D A', and the terms of M and D into the scratch.
void Inverse::multiplyDiagonal(Rows &rows) {
  Terms inverse = split(rows.diagonal);
  storeTerm(inverseTerm(rows.first, true, false), 0, inverse.high);
  storeTerm(inverseTerm(rows.first, true, true), 0, inverse.low);
  // What was read last from these bytes is the inverse in f32.
  emitWarpBarrier(e.builder, e.loc);
  auto store = [&](ArrayRef<Square> blocks) {
    for (int64_t column = 0; column < rows.last; ++column) {
      Terms terms = split(blocks[column]);
      storeTerm(leftTerm(rows.first, true, false), column * kRowTile,
                terms.high);
      storeTerm(leftTerm(rows.first, true, true), column * kRowTile, terms.low);
    }
  };
  store(rows.a);
  emitWarpBarrier(e.builder, e.loc);
  rows.m.assign(rows.last, Square(8, e.f32(0)));
  SmallVector<Product> products;
  for (int64_t column = 0; column < rows.last; ++column)
    products.push_back({inverse, loadLeft(rows.first, true, column * kRowTile),
                        rows.m[column]});
  multiply(products);
  emitWarpBarrier(e.builder, e.loc);
  store(rows.m);
}

/// Q, then T.
void Inverse::merge(Rows &rows, Registers &result) {
  // Blocks right of a warp's own diagonal are 0, so that all warps do the same.
  SmallVector<Terms> terms(rows.last);
  for (int64_t m = rows.last - 1; m >= 0; --m) {
    terms[m] = split(rows.m[m]);
    SmallVector<Product> products;
    for (int64_t column = 0; column < m; ++column)
      products.push_back(
          {terms[m], loadLeft(m, false, column * kRowTile), rows.m[column]});
    multiply(products);
  }
  SmallVector<Square> blocks(tiles, Square(8, e.f32(0)));
  SmallVector<Product> products;
  for (int64_t column = 0; column < rows.last; ++column)
    products.push_back({terms[column], loadInverse(column), blocks[column]});
  multiply(products);
  for (int64_t column = 0; column < tiles; ++column) {
    Value isDiagonal =
        e.hoisted([&] { return e.isEqual(rows.tile, e.i32(column)); });
    bool maybe = column >= rows.first && column <= rows.last;
    for (int64_t i = 0; i < 8; ++i)
      result.push_back(
          maybe ? e.select(isDiagonal, rows.diagonal[i], blocks[column][i])
                : blocks[column][i]);
  }
}

Registers Inverse::run() {
  Registers elements = e.fragments.lookup(op.getMatrix()), result;
  std::vector<Rows> all;
  for (int64_t number = 0; number < tiles / warps; ++number) {
    all.push_back(rowsOf(number, elements));
    Rows &rows = all.back();
    rows.diagonal = invertDiagonal(rows, diagonalOf(rows));
    if (tiles > 1)
      multiplyDiagonal(rows);
  }
  if (tiles > 1)
    emitBarrier(e.builder, e.loc);
  for (Rows &rows : all)
    merge(rows, result);
  return result;
}

LogicalResult linattn::tilenvvm::emitInverse(Emitter &e,
                                             UnitLowerInverseOp op) {
  if (op.getTerms() != 2)
    return op.emitOpError("has a translation with two terms, got ")
           << op.getTerms();
  e.fragments[op.getResult()] = Inverse(e, op).run();
  return success();
}
