//===- Products.cpp - matrix products by mma.sync -------------------------===//
//
// Steps of k are the outer loop: between two instructions on one accumulator
// lie all others, and an operand b is loaded once for all row tiles of a warp
// and is dead after them. Products that follow each other and share b share its
// loads as well: they, not the tensor cores, are what shared memory has too
// little time for.
//
//===----------------------------------------------------------------------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

namespace {

/// The operands of an mma in two terms; of 16-bit operands only `high`.
struct Terms {
  SmallVector<Value, 4> high, low;
};

/// One of the products: its accumulator and where its operand a comes from.
struct Factor {
  Factor(Emitter &e, MmaOp op)
      : op(op), type(cast<RankedTensorType>(op.getAcc().getType())),
        acc(e.fragments.lookup(op.getAcc())),
        blocks(type.getDimSize(1) /
               cast<AccAttr>(type.getEncoding()).getColumns() / 8),
        rowTiles(acc.size() / (blocks * 4)) {
    if (isa<SmemType>(op.getA().getType()))
      tile = e.tiles.lookup(op.getA());
    else
      registers = e.fragments.lookup(op.getA());
  }

  MutableArrayRef<Value> accumulator(int64_t rowTile, int64_t block) {
    return MutableArrayRef(acc).slice((rowTile * blocks + block) * 4, 4);
  }
  /// Rows of a in shared memory are those of the accumulator.
  LaneSum warpRows() const {
    return LaneSum::ofWarp(getLaneRow(type).warpMod, kRowTile);
  }
  int64_t firstRow(int64_t rowTile) const {
    return getLaneElement(type, rowTile * blocks * 4).row;
  }
  /// The registers of a's columns k, k + 1, .. k + columns - 1.
  ArrayRef<Value> registersAt(int64_t rowTile, int64_t k,
                              int64_t columns) const {
    int64_t perTile = registers.size() / rowTiles;
    int64_t depth = cast<RankedTensorType>(op.getA().getType()).getDimSize(1);
    return ArrayRef(registers).slice(rowTile * perTile + k * perTile / depth,
                                     columns * perTile / depth);
  }

  // A handle: its constness says nothing about what it points to.
  mutable MmaOp op;
  RankedTensorType type;
  Registers acc;
  int64_t blocks, rowTiles;
  SmemTile tile;
  Registers registers;
};

/// Products with one operand b.
class Products {
public:
  Products(Emitter &e, ArrayRef<MmaOp> ops)
      : e(e), b(e.tiles.lookup(MmaOp(ops.front()).getB())),
        element(b.type.getElementType()), terms(MmaOp(ops.front()).getTerms()),
        depth(b.type.getShape()[0]) {
    for (MmaOp op : ops)
      factors.emplace_back(e, op);
    blocks = factors.front().blocks;
    warpColumns = warpColumnsOf(factors.front().type);
  }

  void run() {
    if (element.isF32())
      multiplySingle();
    else
      multiplyHalf();
    for (Factor &factor : factors)
      e.fragments[factor.op.getResult()] = factor.acc;
  }

private:
  // 16-bit operands: m16n8k16.
  SmallVector<Value, 4> halfA(const Factor &factor, int64_t rowTile, int64_t k);
  void multiplyHalf();

  // f32 operands as tf32: m16n8k8. Index kappa of the instruction is column
  // 2 kappa for kappa < 4, else 2 (kappa - 4) + 1 of the 8 columns: so lanes of
  // an accumulator hold operand a already.
  Terms split(ValueRange values);
  SmallVector<Value, 4> singleA(const Factor &factor, int64_t rowTile,
                                int64_t k);
  SmallVector<Value, 4> singleB(int64_t k, int64_t block);
  void multiplySingle();

  /// Operands a of all products and row tiles at k.
  SmallVector<Terms> allOfA(int64_t k);
  /// Calls `multiply` for each row tile of each product: the product, the row
  /// tile, its number among all.
  void
  forEachRowTile(llvm::function_ref<void(Factor &, int64_t, size_t)> multiply);

  Emitter &e;
  SmemTile b;
  Type element;
  int64_t terms, depth, blocks;
  LaneSum warpColumns;
  std::vector<Factor> factors;
};

} // namespace

void Products::forEachRowTile(
    llvm::function_ref<void(Factor &, int64_t, size_t)> multiply) {
  size_t number = 0;
  for (Factor &factor : factors)
    for (int64_t rowTile = 0; rowTile < factor.rowTiles; ++rowTile)
      multiply(factor, rowTile, number++);
}

SmallVector<Terms> Products::allOfA(int64_t k) {
  SmallVector<Terms> all;
  forEachRowTile([&](Factor &factor, int64_t rowTile, size_t) {
    if (element.isF32())
      all.push_back(split(singleA(factor, rowTile, k)));
    else
      all.push_back({halfA(factor, rowTile, k), {}});
  });
  return all;
}

SmallVector<Value, 4> Products::halfA(const Factor &factor, int64_t rowTile,
                                      int64_t k) {
  if (factor.registers.empty())
    return loadOperandA(e, factor.tile, factor.warpRows(),
                        factor.firstRow(rowTile), k);
  SmallVector<Value, 4> values;
  for (Value value : factor.registersAt(rowTile, k, 16))
    values.push_back(e.bitcast(value, e.builder.getI32Type()));
  return values;
}

void Products::multiplyHalf() {
  for (int64_t k = 0; k < depth; k += 16) {
    SmallVector<Terms> a = allOfA(k);
    for (int64_t block = 0; block < blocks; block += 2) {
      int64_t count = std::min<int64_t>(2, blocks - block);
      SmallVector<Value, 4> bs =
          loadOperandB(e, b, warpColumns, k, block * 8, count);
      forEachRowTile([&](Factor &factor, int64_t rowTile, size_t number) {
        for (int64_t i = 0; i < count; ++i)
          emitMma(e.builder, e.loc, element, a[number].high,
                  ArrayRef(bs).slice(2 * i, 2),
                  factor.accumulator(rowTile, block + i));
      });
    }
  }
}

SmallVector<Value, 4> Products::singleA(const Factor &factor, int64_t rowTile,
                                        int64_t k) {
  SmallVector<Value, 4> pairs;
  if (!factor.registers.empty()) {
    llvm::append_range(pairs, factor.registersAt(rowTile, k, 8));
  } else {
    LaneSum rows = LaneSum::ofLane(4, 8, 1) + factor.warpRows();
    for (int64_t more : {0, 8})
      pairs.append(loadPair(e, factor.tile, rows, LaneSum::ofLane(1, 4, 2),
                            factor.firstRow(rowTile) + more, k,
                            /*alongColumns=*/true));
  }
  // Rows l / 4 and l / 4 + 8 of the even columns, then of the odd ones.
  return {pairs[0], pairs[2], pairs[1], pairs[3]};
}

SmallVector<Value, 4> Products::singleB(int64_t k, int64_t block) {
  return loadPair(e, b, LaneSum::ofLane(1, 4, 2),
                  LaneSum::ofLane(4, 8, 1) + warpColumns, k, block * 8,
                  /*alongColumns=*/false);
}

Terms Products::split(ValueRange values) {
  Terms result;
  for (Value value : values) {
    Value high = emitToTF32(e.builder, e.loc, value);
    result.high.push_back(high);
    if (terms == 1)
      continue;
    Value rest = e.subF(value, e.bitcast(high, e.builder.getF32Type()));
    result.low.push_back(emitToTF32(e.builder, e.loc, rest));
  }
  return result;
}

void Products::multiplySingle() {
  for (int64_t k = 0; k < depth; k += 8) {
    SmallVector<Terms> a = allOfA(k);
    // Some blocks at a time, so that products of one accumulator lie apart.
    for (int64_t start = 0; start < blocks; start += 4) {
      int64_t end = std::min(blocks, start + 4);
      SmallVector<Terms> bs;
      for (int64_t block = start; block < end; ++block)
        bs.push_back(split(singleB(k, block)));
      auto multiply = [&](SmallVector<Value, 4> Terms::*ofA,
                          SmallVector<Value, 4> Terms::*ofB) {
        for (int64_t block = start; block < end; ++block)
          forEachRowTile([&](Factor &factor, int64_t rowTile, size_t number) {
            emitMma(e.builder, e.loc, element, a[number].*ofA,
                    bs[block - start].*ofB, factor.accumulator(rowTile, block));
          });
      };
      // Small products first.
      if (terms == 3) {
        multiply(&Terms::low, &Terms::high);
        multiply(&Terms::high, &Terms::low);
      }
      multiply(&Terms::high, &Terms::high);
    }
  }
}

LogicalResult linattn::tilenvvm::emitProducts(Emitter &e, ArrayRef<MmaOp> ops) {
  for (MmaOp op : ops)
    for (Value operand : op.getOperands().take_front(2)) {
      auto type = dyn_cast<SmemType>(operand.getType());
      if (type && !hasMatrixRows(type))
        return op.emitOpError("operands in shared memory have rows of a "
                              "multiple of 16 bytes, got ")
               << type;
    }
  Products(e, ops).run();
  return success();
}
