//===- Products.cpp - matrix products by mma.sync -------------------------===//
//
// Steps of k are the outer loop: between two instructions on one accumulator
// lie all others, and an operand b is loaded once for all row tiles of a warp
// and is dead after them.
//
//===----------------------------------------------------------------------===//

#include "DeviceOps.h"
#include "Lowerings.h"

using namespace mlir;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

namespace {

class Product {
public:
  Product(Emitter &e, MmaOp op)
      : e(e), op(op), type(cast<RankedTensorType>(op.getAcc().getType())),
        acc(e.fragments.lookup(op.getAcc())), blocks(type.getDimSize(1) / 8),
        rowTiles(acc.size() / (blocks * 4)), b(e.tiles.lookup(op.getB())) {
    if (isa<SmemType>(op.getA().getType()))
      aTile = e.tiles.lookup(op.getA());
    else
      aRegisters = e.fragments.lookup(op.getA());
    depth = b.type.getShape()[0];
  }

  Registers run() {
    if (b.type.getElementType().isF32())
      multiplySingle();
    else
      multiplyHalf();
    return acc;
  }

private:
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

  // 16-bit operands: m16n8k16.
  SmallVector<Value, 4> halfA(int64_t rowTile, int64_t k);
  void multiplyHalf();

  // f32 operands as tf32: m16n8k8. Index kappa of the instruction is column
  // 2 kappa for kappa < 4, else 2 (kappa - 4) + 1 of the 8 columns: so lanes of
  // an accumulator hold operand a already.
  struct Terms {
    SmallVector<Value, 4> high, low;
  };
  Terms split(ValueRange values);
  SmallVector<Value, 4> singleA(int64_t rowTile, int64_t k);
  SmallVector<Value, 4> singleB(int64_t k, int64_t block);
  void multiplySingle();

  Emitter &e;
  MmaOp op;
  RankedTensorType type;
  Registers acc;
  int64_t blocks, rowTiles, depth;
  SmemTile b, aTile;
  Registers aRegisters;
};

} // namespace

SmallVector<Value, 4> Product::halfA(int64_t rowTile, int64_t k) {
  if (aRegisters.empty())
    return loadOperandA(e, aTile, warpRows(), firstRow(rowTile), k);
  SmallVector<Value, 4> values;
  int64_t first = (rowTile * (depth / 8) + k / 8) * 2;
  for (Value value : ArrayRef(aRegisters).slice(first, 4))
    values.push_back(e.bitcast(value, e.builder.getI32Type()));
  return values;
}

void Product::multiplyHalf() {
  Type element = b.type.getElementType();
  for (int64_t k = 0; k < depth; k += 16) {
    SmallVector<SmallVector<Value, 4>> a;
    for (int64_t rowTile = 0; rowTile < rowTiles; ++rowTile)
      a.push_back(halfA(rowTile, k));
    for (int64_t block = 0; block < blocks; block += 2) {
      int64_t count = std::min<int64_t>(2, blocks - block);
      SmallVector<Value, 4> bs = loadOperandB(e, b, k, block * 8, count);
      for (int64_t rowTile = 0; rowTile < rowTiles; ++rowTile)
        for (int64_t i = 0; i < count; ++i)
          emitMma(e.builder, e.loc, element, a[rowTile],
                  ArrayRef(bs).slice(2 * i, 2),
                  accumulator(rowTile, block + i));
    }
  }
}

SmallVector<Value, 4> Product::singleA(int64_t rowTile, int64_t k) {
  SmallVector<Value, 4> pairs;
  if (!aRegisters.empty()) {
    int64_t first = (rowTile * (depth / 8) + k / 8) * 4;
    llvm::append_range(pairs, ArrayRef(aRegisters).slice(first, 4));
  } else {
    LaneSum rows = LaneSum::ofLane(4, 8, 1) + warpRows();
    for (int64_t more : {0, 8})
      pairs.append(loadPair(e, aTile, rows, LaneSum::ofLane(1, 4, 2),
                            firstRow(rowTile) + more, k,
                            /*alongColumns=*/true));
  }
  // Rows l / 4 and l / 4 + 8 of the even columns, then of the odd ones.
  return {pairs[0], pairs[2], pairs[1], pairs[3]};
}

SmallVector<Value, 4> Product::singleB(int64_t k, int64_t block) {
  return loadPair(e, b, LaneSum::ofLane(1, 4, 2), LaneSum::ofLane(4, 8, 1), k,
                  block * 8, /*alongColumns=*/false);
}

Product::Terms Product::split(ValueRange values) {
  Terms terms;
  for (Value value : values) {
    Value high = emitToTF32(e.builder, e.loc, value);
    terms.high.push_back(high);
    if (op.getTerms() == 1)
      continue;
    Value rest = e.subF(value, e.bitcast(high, e.builder.getF32Type()));
    terms.low.push_back(emitToTF32(e.builder, e.loc, rest));
  }
  return terms;
}

void Product::multiplySingle() {
  Type f32 = e.builder.getF32Type();
  for (int64_t k = 0; k < depth; k += 8) {
    SmallVector<Terms> a;
    for (int64_t rowTile = 0; rowTile < rowTiles; ++rowTile)
      a.push_back(split(singleA(rowTile, k)));
    // Some blocks at a time, so that products of one accumulator lie apart.
    for (int64_t start = 0; start < blocks; start += 4) {
      int64_t end = std::min(blocks, start + 4);
      SmallVector<Terms> bs;
      for (int64_t block = start; block < end; ++block)
        bs.push_back(split(singleB(k, block)));
      auto multiply = [&](SmallVector<Value, 4> Terms::*ofA,
                          SmallVector<Value, 4> Terms::*ofB) {
        for (int64_t block = start; block < end; ++block)
          for (int64_t rowTile = 0; rowTile < rowTiles; ++rowTile)
            emitMma(e.builder, e.loc, f32, a[rowTile].*ofA,
                    bs[block - start].*ofB, accumulator(rowTile, block));
      };
      // Small products first.
      if (op.getTerms() == 3) {
        multiply(&Terms::low, &Terms::high);
        multiply(&Terms::high, &Terms::low);
      }
      multiply(&Terms::high, &Terms::high);
    }
  }
}

LogicalResult linattn::tilenvvm::emitMmaOp(Emitter &e, MmaOp op) {
  for (Value operand : op.getOperands().take_front(2)) {
    auto type = dyn_cast<SmemType>(operand.getType());
    if (type && !hasMatrixRows(type))
      return op.emitOpError("operands in shared memory have rows of a multiple "
                            "of 16 bytes, got ")
             << type;
  }
  e.fragments[op.getResult()] = Product(e, op).run();
  return success();
}
