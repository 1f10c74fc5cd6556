//===- SharedMemory.cpp - tiles, channels, local loads and stores ---------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

static LogicalResult needsOffset(Operation *op) {
  return op->emitOpError("has no offset in the arena; run "
                         "--tile-plan-shared-memory first");
}

LogicalResult linattn::tilenvvm::emitAlloc(Emitter &e, AllocOp op) {
  if (!op.getOffset())
    return needsOffset(op);
  SmemTile tile;
  tile.type = op.getType();
  tile.offset = *op.getOffset();
  e.tiles[op.getResult()] = tile;
  return success();
}

LogicalResult linattn::tilenvvm::emitView(Emitter &e, SmemViewOp op) {
  SmemTile tile = e.tiles.lookup(op.getSource());
  ArrayRef<int64_t> offsets = op.getOffsets();
  bool swap = tile.type.getTransposed();
  tile.row += offsets[swap];
  tile.column += offsets[!swap];
  tile.type = op.getType();
  e.tiles[op.getResult()] = tile;
  return success();
}

LogicalResult linattn::tilenvvm::emitChannelCreate(Emitter &e,
                                                   ChannelCreateOp op) {
  if (!op.getOffset())
    return needsOffset(op);
  e.channels[op.getResult()] = *op.getOffset();
  return success();
}

LogicalResult linattn::tilenvvm::emitStage(Emitter &e, Value channel,
                                           Value step, ValueRange results) {
  auto type = cast<ChannelType>(channel.getType());
  Value stageOffset;
  if (type.getStages() > 1) {
    Value stage = e.remI(e.toI32(e.scalars.lookup(step)), type.getStages());
    stageOffset = e.mulI(stage, e.i32(type.getStageBytes()));
  }
  for (auto [number, result] : llvm::enumerate(results)) {
    SmemTile tile;
    tile.type = cast<SmemType>(result.getType());
    tile.offset = e.channels.lookup(channel) + type.getTileOffset(number);
    tile.dynamic = stageOffset;
    e.tiles[result] = tile;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Matrices of 16-bit elements: ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

namespace {
/// Where lane l points for four 8 x 8 matrices: of those that follow each other
/// in the registers of `acc`, matrix m = l / 8 is 8 (m mod 2) rows down and
/// 8 (m / 2) columns right of the first.
struct MatrixLanes {
  LaneSum rows, columns;
};
} // namespace

/// In a transposed view the rows of a stored matrix are columns.
static MatrixLanes matrixLanes(bool transposed) {
  if (transposed)
    return {LaneSum::ofLane(8, 2, 8),
            LaneSum::ofLane(1, 8, 1) + LaneSum::ofLane(16, 2, 8)};
  return {LaneSum::ofLane(1, 16, 1), LaneSum::ofLane(16, 2, 8)};
}

/// Whether matrices of 8 x 8 begin at the 16 bytes that ldmatrix asks for.
bool linattn::tilenvvm::hasMatrixRows(SmemType type) {
  return type.getPanelBytes() % 16 == 0;
}

int64_t linattn::tilenvvm::numBlocks(RankedTensorType type) {
  auto acc = cast<AccAttr>(type.getEncoding());
  return type.getDimSize(1) / acc.getColumns() / 8;
}

static int64_t numRowTiles(RankedTensorType type) {
  return getElementsPerLane(type) / (numBlocks(type) * 4);
}

LaneSum linattn::tilenvvm::warpColumnsOf(RankedTensorType type) {
  LaneTerm term = getLaneColumn(type);
  return LaneSum::ofWarp(term.warpMod, term.warpScale, term.warpDiv);
}

/// Calls `move` for each piece of a fragment: the pointer of this lane, its
/// first register and the number of registers.
static void
forEachMatrix(Emitter &e, const SmemTile &tile, RankedTensorType type,
              llvm::function_ref<void(Value, int64_t, int64_t)> move) {
  MatrixLanes lanes = matrixLanes(tile.type.getTransposed());
  LaneTerm warpRows = getLaneRow(type);
  lanes.rows = lanes.rows + LaneSum::ofWarp(warpRows.warpMod, kRowTile);
  lanes.columns = lanes.columns + warpColumnsOf(type);
  int64_t blocks = numBlocks(type);
  for (int64_t rowTile = 0; rowTile < numRowTiles(type); ++rowTile)
    for (int64_t block = 0; block < blocks; block += 2) {
      int64_t element = (rowTile * blocks + block) * 4;
      LaneElement at = getLaneElement(type, element);
      Value pointer =
          e.pointerTo(tile, lanes.rows, lanes.columns, at.row, at.column);
      move(pointer, element / 2, block + 1 < blocks ? 4 : 2);
    }
}

SmallVector<Value, 4> linattn::tilenvvm::loadOperandA(Emitter &e,
                                                      const SmemTile &tile,
                                                      const LaneSum &warpRows,
                                                      int64_t row,
                                                      int64_t column) {
  bool transposed = tile.type.getTransposed();
  MatrixLanes lanes = matrixLanes(transposed);
  Value pointer =
      e.pointerTo(tile, lanes.rows + warpRows, lanes.columns, row, column);
  return emitLdMatrix(e.builder, e.loc, pointer, 4, transposed);
}

SmallVector<Value, 4>
linattn::tilenvvm::loadOperandB(Emitter &e, const SmemTile &tile,
                                const LaneSum &warpColumns, int64_t row,
                                int64_t column, int64_t count) {
  // Lane l holds column l / 4, where of an accumulator it has row l / 4.
  bool transposed = tile.type.getTransposed();
  MatrixLanes lanes = matrixLanes(transposed);
  Value pointer =
      e.pointerTo(tile, lanes.rows, lanes.columns + warpColumns, row, column);
  return emitLdMatrix(e.builder, e.loc, pointer, 2 * count, !transposed);
}

SmallVector<Value, 4>
linattn::tilenvvm::loadPair(Emitter &e, const SmemTile &tile,
                            const LaneSum &rows, const LaneSum &columns,
                            int64_t row, int64_t column, bool alongColumns) {
  Type element = tile.type.getElementType();
  int64_t bytes = tile.type.getElementBytes();
  Value pointer = e.pointerTo(tile, rows, columns, row, column);
  if (alongColumns != tile.type.getTransposed()) {
    Value pair = e.load(VectorType::get({2}, element), pointer, 2 * bytes);
    return {e.extract(pair, 0), e.extract(pair, 1)};
  }
  Value next = e.pointerTo(tile, rows, columns, row + !alongColumns,
                           column + alongColumns);
  return {e.load(element, pointer, bytes), e.load(element, next, bytes)};
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Elements beside each other in registers and in memory: a piece of `width`
/// from element `number` on.
static int64_t pieceWidth(const SmemTile &tile, RankedTensorType type) {
  if (isa<AccAttr>(type.getEncoding())) {
    bool aligned =
        tile.type.getPanelBytes() % (2 * tile.type.getElementBytes()) == 0;
    return tile.type.getTransposed() || !aligned ? 1 : 2;
  }
  if (isa<ColAttr>(type.getEncoding()))
    return 2;
  if (auto strided = dyn_cast<StridedAttr>(type.getEncoding()))
    return std::min<int64_t>(strided.getVec(),
                             16 / tile.type.getElementBytes());
  return 1;
}

/// Calls `move` for each piece of a fragment.
static void forEachPiece(Emitter &e, const SmemTile &tile,
                         RankedTensorType type,
                         llvm::function_ref<void(Value, int64_t)> move) {
  LaneSum rows = LaneSum::of(getLaneRow(type));
  LaneSum columns = LaneSum::of(getLaneColumn(type));
  bool alongRows = isa<RowAttr>(type.getEncoding());
  int64_t width = pieceWidth(tile, type);
  for (int64_t i = 0; i < getElementsPerLane(type); i += width) {
    LaneElement at = getLaneElement(type, i);
    // A vector in shared memory is a row.
    if (type.getRank() == 1)
      move(e.pointerTo(tile, {}, alongRows ? rows : columns, 0,
                       alongRows ? at.row : at.column),
           i);
    else
      move(e.pointerTo(tile, rows, columns, at.row, at.column), i);
  }
}

Registers linattn::tilenvvm::loadFragment(Emitter &e, const SmemTile &tile,
                                          RankedTensorType type) {
  Registers registers;
  if (isPacked(type) && hasMatrixRows(tile.type)) {
    forEachMatrix(e, tile, type, [&](Value pointer, int64_t, int64_t count) {
      for (Value value : emitLdMatrix(e.builder, e.loc, pointer, count,
                                      tile.type.getTransposed()))
        registers.push_back(e.bitcast(value, getRegisterType(type)));
    });
    return registers;
  }
  int64_t width = pieceWidth(tile, type);
  Type element = type.getElementType();
  int64_t bytes = tile.type.getElementBytes();
  forEachPiece(e, tile, type, [&](Value pointer, int64_t) {
    if (width == 1) {
      registers.push_back(e.load(element, pointer, bytes));
      return;
    }
    Value piece =
        e.load(VectorType::get({width}, element), pointer, width * bytes);
    for (int64_t i = 0; i < width; ++i)
      registers.push_back(e.extract(piece, i));
  });
  return e.packAs(type, registers);
}

void linattn::tilenvvm::storeByAllWarps(Emitter &e, const SmemTile &tile,
                                        RankedTensorType type,
                                        ValueRange registers) {
  bool packed = isPacked(type);
  if (packed && e.capability >= 90 && hasMatrixRows(tile.type)) {
    forEachMatrix(
        e, tile, type, [&](Value pointer, int64_t first, int64_t count) {
          SmallVector<Value> values;
          for (Value value : registers.slice(first, count))
            values.push_back(e.bitcast(value, e.builder.getI32Type()));
          emitStMatrix(e.builder, e.loc, pointer, values,
                       tile.type.getTransposed());
        });
    return;
  }
  int64_t width = pieceWidth(tile, type);
  bool pairs = packed && width == 2;
  Registers elements = pairs ? Registers(registers) : e.unpack(registers);
  int64_t bytes = tile.type.getElementBytes();
  forEachPiece(e, tile, type, [&](Value pointer, int64_t number) {
    if (pairs)
      e.store(e.bitcast(elements[number / 2], e.builder.getI32Type()), pointer,
              4);
    else if (width == 1)
      e.store(elements[number], pointer, bytes);
    else
      e.store(e.vectorOf(ArrayRef(elements).slice(number, width)), pointer,
              width * bytes);
  });
}

void linattn::tilenvvm::storeFragment(Emitter &e, const SmemTile &tile,
                                      RankedTensorType type,
                                      ValueRange registers) {
  e.when(e.isWriter(type), [&] { storeByAllWarps(e, tile, type, registers); });
}

LogicalResult linattn::tilenvvm::emitLocalLoad(Emitter &e, LocalLoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  e.fragments[op.getResult()] =
      loadFragment(e, e.tiles.lookup(op.getSource()), type);
  return success();
}

LogicalResult linattn::tilenvvm::emitLocalStore(Emitter &e, LocalStoreOp op) {
  storeFragment(e, e.tiles.lookup(op.getTarget()),
                cast<RankedTensorType>(op.getValue().getType()),
                e.fragments.lookup(op.getValue()));
  return success();
}
