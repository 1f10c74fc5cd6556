//===- GlobalMemory.cpp - what kernels load and store ---------------------===//
//
// Addresses have 64 bits. They are sums of what a lane adds, which no loop
// changes, and of what the indices add, which is the same in all lanes.
//
//===----------------------------------------------------------------------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

static int64_t bytesOf(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

/// The pointer to the element at `indices`.
static Value basePointer(Emitter &e, const GlobalArray &array,
                         ValueRange indices) {
  Value offset;
  for (auto [index, stride] : llvm::zip(indices, array.strides)) {
    Value part = e.mulI(e.toI64(e.scalars.lookup(index)), stride);
    offset = offset ? e.addI(offset, part) : part;
  }
  if (!offset)
    return array.pointer;
  int64_t bytes = bytesOf(array.type.getElementType());
  return e.advance(array.pointer, e.mulI(offset, e.i64(bytes)));
}

LogicalResult linattn::tilenvvm::emitScalarLoad(Emitter &e, Operation *op) {
  auto load = cast<memref::LoadOp>(op);
  GlobalArray array = e.arrays.lookup(load.getMemRef());
  Type type = load.getType();
  // In memory an index has 64 bits.
  Type stored = type.isIndex() ? Type(e.builder.getI64Type()) : type;
  Value value =
      e.load(stored, basePointer(e, array, load.getIndices()), bytesOf(stored));
  if (type.isIndex())
    value = arith::IndexCastOp::create(e.builder, e.loc, type, value);
  e.scalars.map(load.getResult(), value);
  return success();
}

namespace {
/// What an access to a tile in global memory reads and where it ends.
class TileAccess {
public:
  TileAccess(Emitter &e, Value memref, ValueRange indices,
             ArrayRef<int64_t> dims, ValueRange bounds, ArrayRef<int64_t> shape,
             int64_t group, int64_t step = 1)
      : e(e), array(e.arrays.lookup(memref)),
        bytes(bytesOf(array.type.getElementType())), group(group), step(step),
        dims(dims), shape(shape) {
    base = basePointer(e, array, indices);
    for (auto [bound, size] : llvm::zip(bounds, shape))
      limits.push_back(limitOf(bound, size));
    limits.resize(shape.size());
  }

  int64_t elementBytes() const { return bytes; }
  /// The number of elements in memory along an axis, as i32; null: all.
  Value limit(size_t axis) const { return limits[axis]; }

  bool isContiguous(size_t axis) const { return staticStride(axis) == 1; }

  /// Whether the element `more` on from what a lane gives is in memory; null:
  /// it always is. The difference is the same in all lanes.
  Value isInside(size_t axis, Value position, int64_t more) {
    if (!limits[axis])
      return {};
    return e.isLess(position, e.subI(limits[axis], e.i32(more)));
  }

  /// The pointer to the element at positions that the lane gives.
  Value pointer(ArrayRef<Value> positions) {
    Value offset = e.hoisted([&] {
      Value sum = e.i64(0);
      for (auto [axis, position] : llvm::enumerate(positions))
        sum = e.addI(sum, distance(axis, position));
      return sum;
    });
    return e.advance(base, offset);
  }

  /// The same, `more` elements on along each axis, from a pointer to the
  /// element at the positions.
  Value pointer(Value first, ArrayRef<Value> positions,
                ArrayRef<int64_t> more) {
    if (!isGrouped()) {
      for (auto [axis, count] : llvm::enumerate(more))
        first = advance(first, axis, count);
      return first;
    }
    SmallVector<Value> places;
    for (size_t axis = 0; axis < more.size(); ++axis)
      places.push_back(e.hoisted(
          [&] { return e.addI(positions[axis], e.i32(more[axis])); }));
    return pointer(places);
  }

  /// Whether rows fill two dimensions: then no distance is that of all rows.
  bool isGrouped() const { return group > 1 || step > 1; }

  /// A pointer `count` elements on along an axis.
  Value advance(Value pointer, size_t axis, int64_t count) {
    if (count == 0)
      return pointer;
    if (std::optional<int64_t> stride = staticStride(axis))
      return e.advance(pointer, count * *stride * bytes);
    Value distance =
        e.hoisted([&] { return e.mulI(strideBytes(axis), e.i64(count)); });
    return e.advance(pointer, distance);
  }

private:
  std::optional<int64_t> staticStride(size_t axis) const {
    APInt stride;
    if (matchPattern(array.strides[dims[axis]], m_ConstantInt(&stride)))
      return stride.getSExtValue();
    return std::nullopt;
  }

  /// The bytes from one element to the next along an axis.
  Value strideBytes(size_t axis) { return strideOf(dims[axis]); }
  Value strideOf(int64_t dim) {
    return e.hoisted([&] { return e.mulI(array.strides[dim], e.i64(bytes)); });
  }

  /// The bytes from the first element to the one at a position.
  Value distance(size_t axis, Value position) {
    if (axis != 0 || !isGrouped())
      return e.mulI(e.toI64(position), strideBytes(axis));
    Value row = e.mulI(e.remI(position, group), e.i32(step));
    Value inner = e.mulI(e.toI64(row), strideBytes(0));
    Value outer =
        e.mulI(e.toI64(e.divI(position, group)), strideOf(dims[0] - 1));
    return e.addI(inner, outer);
  }

  /// At most the tile's size, so that it fits in 32 bits.
  Value limitOf(Value bound, int64_t size) {
    Value limit = e.scalars.lookup(bound);
    APInt known;
    if (matchPattern(limit, m_ConstantInt(&known)) &&
        known.getSExtValue() >= size)
      return {};
    limit = e.toI64(limit);
    limit = e.builder.createOrFold<arith::MinSIOp>(e.loc, limit, e.i64(size));
    limit = e.builder.createOrFold<arith::MaxSIOp>(e.loc, limit, e.i64(0));
    return e.toI32(limit);
  }

  Emitter &e;
  GlobalArray array;
  int64_t bytes, group, step;
  SmallVector<int64_t> dims, shape;
  Value base;
  SmallVector<Value> limits;
};
} // namespace

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Calls `move` for each element of a fragment: its number, the condition that
/// it is in memory, its pointer.
static void
forEachElement(Emitter &e, TileAccess &access, RankedTensorType type,
               llvm::function_ref<void(int64_t, Value, Value)> move) {
  Value rows = e.evaluate(LaneSum::of(getLaneRow(type)));
  Value columns = e.evaluate(LaneSum::of(getLaneColumn(type)));
  bool alongRows = isa<RowAttr>(type.getEncoding());
  SmallVector<Value> positions = {rows, columns};
  if (type.getRank() == 1)
    positions = {alongRows ? rows : columns};
  Value first = access.pointer(positions);
  for (int64_t i = 0; i < getElementsPerLane(type); ++i) {
    LaneElement at = getLaneElement(type, i);
    SmallVector<int64_t> more = {at.row, at.column};
    if (type.getRank() == 1)
      more = {alongRows ? at.row : at.column};
    Value inside;
    for (size_t axis = 0; axis < positions.size(); ++axis)
      inside =
          e.both(inside, access.isInside(axis, positions[axis], more[axis]));
    move(i, inside, access.pointer(first, positions, more));
  }
}

LogicalResult linattn::tilenvvm::emitLoad(Emitter &e, LoadOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  TileAccess access(e, op.getSource(), op.getIndices(), op.getDims(),
                    op.getBounds(), type.getShape(), op.getGroup(),
                    op.getStep());
  Registers elements;
  Type element = type.getElementType();
  forEachElement(e, access, type, [&](int64_t, Value inside, Value pointer) {
    Registers loaded = e.orZero(inside, element, [&] {
      return Registers{e.load(element, pointer, access.elementBytes())};
    });
    elements.push_back(loaded.front());
  });
  e.fragments[op.getResult()] = e.packAs(type, elements);
  return success();
}

static LogicalResult storeRegisters(Emitter &e, StoreOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  TileAccess access(e, op.getTarget(), op.getIndices(), op.getDims(),
                    op.getBounds(), type.getShape(), op.getGroup());
  Registers elements = e.unpack(e.fragments.lookup(op.getValue()));
  Value writes = e.isWriter(type);
  forEachElement(e, access, type,
                 [&](int64_t number, Value inside, Value pointer) {
                   e.when(e.both(writes, inside), [&] {
                     e.store(elements[number], pointer, access.elementBytes());
                   });
                 });
  return success();
}

//===----------------------------------------------------------------------===//
// Shared memory: pieces over all threads, neighbours beside each other
//===----------------------------------------------------------------------===//

namespace {
/// Pieces of a tile's rows: thread t takes pieces t, t + threads, ..
struct Pieces {
  int64_t bytes, perRow, count, threads;
};
} // namespace

static Pieces piecesOf(Emitter &e, ArrayRef<int64_t> shape,
                       int64_t elementBytes, int64_t align) {
  int64_t rowBytes = shape.back() * elementBytes;
  while (rowBytes % align != 0)
    align /= 2;
  int64_t rows = shape.size() == 1 ? 1 : shape.front();
  int64_t perRow = rowBytes / align;
  return {align, perRow, rows * perRow, e.warps * kWarpSize};
}

namespace {
/// One turn of the threads: this thread's piece begins at byte `byte` (element
/// `column`) of row `row` + moreRows, at `global` in memory. `exists` is
/// whether there is one; null: yes.
struct Turn {
  Value row, byte, column, global, exists;
  int64_t moreRows = 0;
};
} // namespace

static void forEachTurn(Emitter &e, TileAccess &access, Pieces pieces,
                        size_t rank, llvm::function_ref<void(Turn)> move) {
  // Where a turn covers whole rows, it only moves the first one.
  bool wholeRows = pieces.threads % pieces.perRow == 0;
  int64_t rowsPerTurn = wholeRows ? pieces.threads / pieces.perRow : 0;
  Turn turn;
  for (int64_t first = 0; first < pieces.count; first += pieces.threads) {
    bool isStart = first == 0 || !wholeRows;
    e.hoisted([&] {
      if (isStart) {
        Value piece = e.addI(e.getThread(), e.i32(first));
        turn.row = e.divI(piece, pieces.perRow);
        turn.byte = e.mulI(e.remI(piece, pieces.perRow), e.i32(pieces.bytes));
        turn.column = e.divI(turn.byte, access.elementBytes());
      }
      if (first + pieces.threads > pieces.count)
        turn.exists = e.isLess(e.getThread(), e.i32(pieces.count - first));
      return turn.row;
    });
    if (isStart && rank == 2)
      turn.global = access.pointer({turn.row, turn.column});
    else if (isStart)
      turn.global = access.pointer({turn.column});
    else if (access.isGrouped())
      turn.global = access.pointer(turn.global, {turn.row, turn.column},
                                   {turn.moreRows, 0});
    else
      turn.global = access.advance(turn.global, 0, rowsPerTurn);
    move(turn);
    turn.moreRows += rowsPerTurn;
  }
}

/// The offset of a piece in a tile's storage. Rows that are 8 apart swizzle
/// alike.
static Value pieceAddress(Emitter &e, const SmemTile &tile, const Turn &turn) {
  SmemType type = tile.type;
  int64_t whole = type.getSwizzle() ? turn.moreRows / 8 * 8 : turn.moreRows;
  Value offset = e.hoisted([&] {
    int64_t bytes = type.getElementBytes();
    Value row = e.addI(turn.row, e.i32(tile.row + turn.moreRows - whole));
    Value byte = e.addI(turn.byte, e.i32(tile.column * bytes));
    return e.storageOffset(type, row, byte);
  });
  Value pointer = e.arena;
  if (tile.dynamic)
    pointer = e.advance(pointer, tile.dynamic);
  pointer = e.advance(pointer, offset);
  return e.advance(pointer, tile.offset + whole * type.getPanelBytes());
}

LogicalResult linattn::tilenvvm::emitLoadAsync(Emitter &e, LoadAsyncOp op) {
  llvm::SaveAndRestore invariants(e.invariants);
  if (e.isShortOfRegisters)
    e.beginAgain();
  SmemTile tile = e.tiles.lookup(op.getTarget());
  ArrayRef<int64_t> shape = tile.type.getShape();
  TileAccess access(e, op.getSource(), op.getIndices(), op.getDims(),
                    op.getBounds(), shape, op.getGroup(), op.getStep());
  Value from;
  if (op.getFrom())
    from = e.toI32(e.scalars.lookup(op.getFrom()));
  int64_t elementBytes = access.elementBytes();
  Pieces pieces = piecesOf(e, shape, elementBytes, op.getAlign());
  if (pieces.bytes < 4)
    return op.emitOpError("copies pieces of 4 bytes or more, got rows of ")
           << shape.back() * elementBytes << " bytes in "
           << op.getTarget().getType();
  size_t inner = shape.size() - 1;
  forEachTurn(e, access, pieces, shape.size(), [&](Turn turn) {
    e.when(turn.exists, [&] {
      // Bytes of the piece that are in memory.
      Value valid;
      if (Value limit = access.limit(inner)) {
        Value rest = e.mulI(e.subI(limit, turn.column), e.i32(elementBytes));
        rest = e.builder.createOrFold<arith::MinSIOp>(e.loc, rest,
                                                      e.i32(pieces.bytes));
        valid = e.builder.createOrFold<arith::MaxSIOp>(e.loc, rest, e.i32(0));
      }
      Value inside;
      if (inner == 1)
        inside = access.isInside(0, turn.row, turn.moreRows);
      if (from)
        inside = e.both(
            inside, e.isLess(e.subI(from, e.i32(turn.moreRows + 1)), turn.row));
      if (inside)
        valid = e.select(inside, valid ? valid : e.i32(pieces.bytes), e.i32(0));
      emitCopyAsync(e.builder, e.loc, pieceAddress(e, tile, turn), turn.global,
                    pieces.bytes, valid);
    });
  });
  return success();
}

/// A tile of shared memory in pieces of a row. What is in memory of the last
/// piece of a row goes by elements.
static LogicalResult storeTile(Emitter &e, StoreOp op) {
  SmemTile tile = e.tiles.lookup(op.getValue());
  if (tile.type.getTransposed())
    return op.emitOpError("stores rows as they lie in shared memory, got ")
           << tile.type;
  ArrayRef<int64_t> shape = tile.type.getShape();
  TileAccess access(e, op.getTarget(), op.getIndices(), op.getDims(),
                    op.getBounds(), shape, op.getGroup());
  size_t inner = shape.size() - 1;
  int64_t elementBytes = access.elementBytes();
  int64_t align = std::max<int64_t>(op.getAlign(), elementBytes);
  if (!access.isContiguous(inner))
    align = elementBytes;
  Pieces pieces = piecesOf(e, shape, elementBytes, align);
  int64_t perPiece = pieces.bytes / elementBytes;
  Type element = tile.type.getElementType();
  Type word = e.builder.getIntegerType(std::min<int64_t>(32, pieces.bytes * 8));
  Type pieceType = word;
  if (pieces.bytes > 4)
    pieceType = VectorType::get({pieces.bytes / 4}, word);

  forEachTurn(e, access, pieces, shape.size(), [&](Turn turn) {
    Value inside = turn.exists;
    if (inner == 1)
      inside = e.both(inside, access.isInside(0, turn.row, turn.moreRows));
    Value shared = pieceAddress(e, tile, turn);
    auto movePiece = [&] {
      e.store(e.load(pieceType, shared, pieces.bytes), turn.global,
              pieces.bytes);
    };
    if (!access.limit(inner))
      return e.when(inside, movePiece);
    Value full = access.isInside(inner, turn.column, perPiece - 1);
    e.when(e.both(inside, full), movePiece);
    if (perPiece == 1)
      return;
    e.when(e.both(inside, e.xorI(full, e.i1(true))), [&] {
      for (int64_t i = 0; i + 1 < perPiece; ++i)
        e.when(access.isInside(inner, turn.column, i), [&] {
          Value value = e.load(element, e.advance(shared, i * elementBytes),
                               elementBytes);
          e.store(value, e.advance(turn.global, i * elementBytes),
                  elementBytes);
        });
    });
  });
  return success();
}

LogicalResult linattn::tilenvvm::emitStore(Emitter &e, StoreOp op) {
  if (isFragment(op.getValue().getType()))
    return storeRegisters(e, op);
  return storeTile(e, op);
}
