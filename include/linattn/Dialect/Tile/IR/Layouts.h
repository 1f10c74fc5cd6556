//===- Layouts.h - which lane holds which element ---------------*- C++ -*-===//
//
// The one place that knows the layouts of the tile dialect: how many elements a
// lane holds, where each of them lies, and which layouts convert into which.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_TILE_IR_LAYOUTS_H
#define LINATTN_DIALECT_TILE_IR_LAYOUTS_H

#include "linattn/Dialect/Tile/IR/Tile.h"

namespace linattn::tile {

constexpr int64_t kWarpSize = 32;
/// Warps of a block.
constexpr int64_t kMaxWarps = 32;
/// Rows of an mma tile.
constexpr int64_t kRowTile = 16;

/// Elements of a fragment that one lane holds.
int64_t getElementsPerLane(mlir::RankedTensorType type);

/// Where element `number` of a lane lies, as a constant beside what depends on
/// the lane and the warp: row = row + getLaneRow, column = column +
/// getLaneColumn. A vector uses `column` in `col` and `strided`, `row` in
/// `row`.
struct LaneElement {
  int64_t row = 0, column = 0;
};
LaneElement getLaneElement(mlir::RankedTensorType type, int64_t number);

/// What a coordinate takes from lane l and warp w:
///   (l / laneDiv mod laneMod) * laneScale + (w / warpDiv mod warpMod) *
///   warpScale.
struct LaneTerm {
  int64_t laneDiv = 1, laneMod = 1, laneScale = 0;
  int64_t warpDiv = 1, warpMod = 1, warpScale = 0;
};
LaneTerm getLaneRow(mlir::RankedTensorType type);
LaneTerm getLaneColumn(mlir::RankedTensorType type);

/// How often an element stands in a block of `warps` warps: copies in other
/// lanes, and in other warps. Who writes is the copy with the least lane and
/// warp: lanes with (l / laneDiv) mod laneMod == 0 and warps with w mod warpMod
/// < warpCount.
struct Replication {
  int64_t laneDiv = 1, laneMod = 1;
  int64_t warpMod = kMaxWarps, warpCount = 1;
};
Replication getReplication(mlir::RankedTensorType type);

/// The layout of a vector along the rows, along the columns of a matrix.
mlir::RankedTensorType getRowType(mlir::RankedTensorType matrix);
mlir::RankedTensorType getColType(mlir::RankedTensorType matrix);

/// The conversion table: pairs that shuffles inside a warp can do.
bool isConvertible(mlir::RankedTensorType from, mlir::RankedTensorType to);

} // namespace linattn::tile

#endif // LINATTN_DIALECT_TILE_IR_LAYOUTS_H
