//===- Layouts.cpp - which lane holds which element -----------------------===//

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn::tile;

/// Row tiles that one warp holds of a matrix or a row vector with `rows` rows.
static int64_t rowTilesPerWarp(int64_t rows, int64_t warps) {
  return std::max<int64_t>(1, rows / kRowTile / warps);
}

/// Warps that share the rows, and parts of the columns.
static int64_t rowWarpsOf(Attribute layout) {
  if (auto acc = dyn_cast<AccAttr>(layout))
    return acc.getRowWarps();
  if (auto row = dyn_cast<RowAttr>(layout))
    return row.getRowWarps();
  if (auto col = dyn_cast<ColAttr>(layout))
    return col.getRowWarps();
  return 1;
}

static int64_t partsOf(Attribute layout) {
  if (auto acc = dyn_cast<AccAttr>(layout))
    return acc.getColumns();
  if (auto col = dyn_cast<ColAttr>(layout))
    return col.getColumns();
  return 1;
}

int64_t linattn::tile::getElementsPerLane(RankedTensorType type) {
  Attribute layout = type.getEncoding();
  ArrayRef<int64_t> shape = type.getShape();
  if (auto acc = dyn_cast<AccAttr>(layout))
    return rowTilesPerWarp(shape[0], acc.getRowWarps()) *
           (shape[1] / acc.getColumns() / 8) * 4;
  if (auto row = dyn_cast<RowAttr>(layout))
    return rowTilesPerWarp(shape[0], row.getRowWarps()) * 2;
  if (isa<ColAttr>(layout))
    return shape[0] / partsOf(layout) / 8 * 2;
  int64_t vec = cast<StridedAttr>(layout).getVec();
  return std::max<int64_t>(vec,
                           llvm::divideCeil(shape[0], vec * kWarpSize) * vec);
}

LaneElement linattn::tile::getLaneElement(RankedTensorType type,
                                          int64_t number) {
  Attribute layout = type.getEncoding();
  if (auto acc = dyn_cast<AccAttr>(layout)) {
    int64_t blocks = type.getDimSize(1) / acc.getColumns() / 8;
    int64_t inBlock = number % 4, block = number / 4;
    return {block / blocks * kRowTile * acc.getRowWarps() + inBlock / 2 * 8,
            block % blocks * 8 + inBlock % 2};
  }
  if (auto row = dyn_cast<RowAttr>(layout))
    return {number / 2 * kRowTile * row.getRowWarps() + number % 2 * 8, 0};
  if (isa<ColAttr>(layout))
    return {0, number / 2 * 8 + number % 2};
  int64_t vec = cast<StridedAttr>(layout).getVec();
  return {0, number / vec * vec * kWarpSize + number % vec};
}

LaneTerm linattn::tile::getLaneRow(RankedTensorType type) {
  Attribute layout = type.getEncoding();
  if (!isa<AccAttr, RowAttr>(layout))
    return {};
  int64_t tiles = type.getDimSize(0) / kRowTile;
  return {4, 8, 1, 1, std::min<int64_t>(tiles, rowWarpsOf(layout)), kRowTile};
}

LaneTerm linattn::tile::getLaneColumn(RankedTensorType type) {
  Attribute layout = type.getEncoding();
  if (isa<AccAttr, ColAttr>(layout)) {
    int64_t parts = partsOf(layout);
    return {1, 4, 2, rowWarpsOf(layout), parts, type.getShape().back() / parts};
  }
  if (auto strided = dyn_cast<StridedAttr>(layout)) {
    int64_t vec = strided.getVec();
    return {
        1,
        std::min<int64_t>(kWarpSize, llvm::divideCeil(type.getDimSize(0), vec)),
        vec};
  }
  return {};
}

Replication linattn::tile::getReplication(RankedTensorType type) {
  Attribute layout = type.getEncoding();
  int64_t rowWarps = rowWarpsOf(layout);
  // Warps with the same rows are a row of the grid apart.
  if (isa<AccAttr>(layout))
    return {1, 1, rowWarps,
            std::min<int64_t>(type.getDimSize(0) / kRowTile, rowWarps)};
  if (isa<RowAttr>(layout))
    return {1, 4, kMaxWarps,
            std::min<int64_t>(type.getDimSize(0) / kRowTile, rowWarps)};
  if (isa<ColAttr>(layout))
    return {4, 8, partsOf(layout) > 1 ? rowWarps : kMaxWarps, 1};
  int64_t lanes =
      llvm::divideCeil(type.getDimSize(0), cast<StridedAttr>(layout).getVec());
  return {std::min<int64_t>(kWarpSize, lanes),
          std::max<int64_t>(1, kWarpSize / std::min<int64_t>(kWarpSize, lanes)),
          kMaxWarps, 1};
}

RankedTensorType linattn::tile::getRowType(RankedTensorType matrix) {
  auto acc = cast<AccAttr>(matrix.getEncoding());
  return RankedTensorType::get(
      {matrix.getDimSize(0)}, matrix.getElementType(),
      RowAttr::get(matrix.getContext(), acc.getWarps(), acc.getColumns()));
}

RankedTensorType linattn::tile::getColType(RankedTensorType matrix) {
  auto acc = cast<AccAttr>(matrix.getEncoding());
  MLIRContext *context = matrix.getContext();
  ColAttr layout = acc.getColumns() == 1 ? ColAttr::get(context)
                                         : ColAttr::get(context, acc.getWarps(),
                                                        acc.getColumns());
  return RankedTensorType::get({matrix.getDimSize(1)}, matrix.getElementType(),
                               layout);
}

bool linattn::tile::isConvertible(RankedTensorType from, RankedTensorType to) {
  Attribute source = from.getEncoding(), target = to.getEncoding();
  if (source == target)
    return true;
  if (isa<StridedAttr>(source))
    return isa<StridedAttr, RowAttr, ColAttr>(target);
  // Every lane of a warp finds each column in its own warp; rows only where the
  // warp holds all of them.
  if (auto col = dyn_cast<ColAttr>(source))
    return col.getColumns() == 1 && isa<StridedAttr, RowAttr, ColAttr>(target);
  if (auto row = dyn_cast<RowAttr>(source))
    return row.getRowWarps() == 1 && isa<StridedAttr, ColAttr>(target);
  return false;
}
