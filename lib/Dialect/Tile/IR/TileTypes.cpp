//===- TileTypes.cpp - verification and printing of types and layouts -----===//

#include "linattn/Dialect/Tile/IR/Layouts.h"
#include "linattn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn::tile;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

bool linattn::tile::isFragment(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getEncoding() &&
         isa<AccAttr, RowAttr, ColAttr, StridedAttr>(tensor.getEncoding());
}

static LogicalResult verifyWarps(EmitError emitError, int64_t warps) {
  if (warps >= 1 && warps <= 32 && llvm::isPowerOf2_64(warps))
    return success();
  return emitError() << "warps is 1, 2, 4, 8, 16 or 32, got " << warps;
}

/// The warps form a grid of rows by `columns`.
static LogicalResult verifyGrid(EmitError emitError, int64_t warps,
                                int64_t columns) {
  if (failed(verifyWarps(emitError, warps)))
    return failure();
  if (columns >= 1 && warps % columns == 0)
    return success();
  return emitError() << "columns divides the " << warps << " warps, got "
                     << columns;
}

LogicalResult AccAttr::verify(EmitError emitError, int64_t warps,
                              int64_t columns) {
  return verifyGrid(emitError, warps, columns);
}
LogicalResult RowAttr::verify(EmitError emitError, int64_t warps,
                              int64_t columns) {
  return verifyGrid(emitError, warps, columns);
}
LogicalResult ColAttr::verify(EmitError emitError, int64_t warps,
                              int64_t columns) {
  return verifyGrid(emitError, warps, columns);
}
LogicalResult StridedAttr::verify(EmitError emitError, int64_t vec) {
  if (vec >= 1 && vec <= 32 && llvm::isPowerOf2_64(vec))
    return success();
  return emitError() << "vec is 1, 2, 4, 8, 16 or 32, got " << vec;
}

static LogicalResult verifyRank(EmitError emitError, StringRef layout,
                                ArrayRef<int64_t> shape, size_t rank) {
  if (shape.size() != rank)
    return emitError() << "layout '" << layout << "' is for rank " << rank
                       << ", got rank " << shape.size();
  for (int64_t size : shape)
    if (ShapedType::isDynamic(size) || size < 1 || size > 4096)
      return emitError() << "layout '" << layout
                         << "' is for static sizes from 1 to 4096";
  return success();
}

/// Rows come in tiles of 16 that the warps share, or that several warps hold.
static LogicalResult verifyRows(EmitError emitError, StringRef layout,
                                int64_t rows, int64_t warps) {
  int64_t tiles = rows / kRowTile;
  if (rows % kRowTile == 0 && (tiles % warps == 0 || warps % tiles == 0))
    return success();
  return emitError()
         << "layout '" << layout << "' on " << warps
         << " warps is for rows in tiles of 16 that divide over the "
            "warps, got "
         << rows << " rows";
}

static LogicalResult verifyColumns(EmitError emitError, StringRef layout,
                                   int64_t columns, int64_t parts) {
  if (columns % (8 * parts) == 0)
    return success();
  return emitError() << "layout '" << layout << "' is for a multiple of "
                     << 8 * parts << " columns, got " << columns;
}

LogicalResult AccAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                      EmitError emitError) const {
  if (failed(verifyRank(emitError, "acc", shape, 2)) ||
      failed(verifyRows(emitError, "acc", shape[0], getRowWarps())))
    return failure();
  return verifyColumns(emitError, "acc", shape[1], getColumns());
}

LogicalResult RowAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                      EmitError emitError) const {
  if (failed(verifyRank(emitError, "row", shape, 1)))
    return failure();
  return verifyRows(emitError, "row", shape[0], getRowWarps());
}

LogicalResult ColAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                      EmitError emitError) const {
  if (failed(verifyRank(emitError, "col", shape, 1)))
    return failure();
  return verifyColumns(emitError, "col", shape[0], getColumns());
}

LogicalResult StridedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                          EmitError emitError) const {
  if (failed(verifyRank(emitError, "strided", shape, 1)))
    return failure();
  if (llvm::isPowerOf2_64(shape[0]) && shape[0] >= getVec())
    return success();
  return emitError() << "layout 'strided' with vec = " << getVec()
                     << " is for a power of 2 of at least vec elements, got "
                     << shape[0];
}

//===----------------------------------------------------------------------===//
// !tile.smem
//===----------------------------------------------------------------------===//

static int64_t bytesOf(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

SmemType linattn::tile::SmemType::get(MLIRContext *context,
                                      ArrayRef<int64_t> shape, Type elementType,
                                      int64_t swizzle) {
  return get(context, shape, elementType, swizzle, shape, false);
}

int64_t SmemType::getElementBytes() const { return bytesOf(getElementType()); }

int64_t SmemType::getStorageBytes() const {
  int64_t bytes = getElementBytes();
  for (int64_t size : getStorage())
    bytes *= size;
  return bytes;
}

int64_t SmemType::getPanelBytes() const {
  return getSwizzle() ? getSwizzle() : getStorage().back() * getElementBytes();
}

SmemType SmemType::getTransposedType() const {
  SmallVector<int64_t> shape(llvm::reverse(getShape()));
  return get(getContext(), shape, getElementType(), getSwizzle(), getStorage(),
             !getTransposed());
}

SmemType SmemType::getSliceType(ArrayRef<int64_t> shape) const {
  return get(getContext(), shape, getElementType(), getSwizzle(), getStorage(),
             getTransposed());
}

int64_t SmemType::getSwizzleOf(int64_t rowBytes) {
  for (int64_t swizzle : {128, 64, 32})
    if (rowBytes % swizzle == 0)
      return swizzle;
  return 0;
}

LogicalResult SmemType::verify(EmitError emitError, ArrayRef<int64_t> shape,
                               Type elementType, int64_t swizzle,
                               ArrayRef<int64_t> storage, bool transposed) {
  if (shape.empty() || shape.size() > 2 || storage.size() != shape.size())
    return emitError() << "a tile in shared memory has rank 1 or 2, got rank "
                       << shape.size() << " of rank " << storage.size();
  if (!elementType.isIntOrFloat() ||
      !llvm::is_contained({8u, 16u, 32u, 64u},
                          elementType.getIntOrFloatBitWidth()))
    return emitError() << "elements in shared memory have 8, 16, 32 or 64 "
                          "bits, got "
                       << elementType;
  for (int64_t size : llvm::concat<const int64_t>(shape, storage))
    if (size < 1 || size > (1 << 18))
      return emitError()
             << "sizes of a tile in shared memory lie in [1, 2^18], "
                "got "
             << size;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "swizzle is 0, 32, 64 or 128 bytes, got " << swizzle;
  if (shape.size() == 1 && (swizzle != 0 || transposed))
    return emitError() << "a vector in shared memory has no swizzle and is not "
                          "transposed";
  if (swizzle != 0 && storage.back() * bytesOf(elementType) % swizzle != 0)
    return emitError() << "swizzle = " << swizzle
                       << " is for rows of a multiple of as many bytes, got "
                       << storage.back() * bytesOf(elementType);
  SmallVector<int64_t> stored(shape);
  if (transposed)
    std::reverse(stored.begin(), stored.end());
  for (auto [size, limit] : llvm::zip(stored, storage))
    if (size > limit)
      return emitError() << "a slice of " << size << " does not fit in "
                         << limit;
  return success();
}

void SmemType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType();
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  if (getTransposed())
    printer << ", transposed";
  SmallVector<int64_t> stored(getShape());
  if (getTransposed())
    std::reverse(stored.begin(), stored.end());
  if (getStorage() != ArrayRef<int64_t>(stored)) {
    printer << ", of ";
    printer.printDimensionList(getStorage());
  }
  printer << ">";
}

Type SmemType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape, storage;
  Type elementType;
  int64_t swizzle = 0;
  bool transposed = false;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("swizzle"))) {
      if (parser.parseEqual() || parser.parseInteger(swizzle))
        return {};
    } else if (succeeded(parser.parseOptionalKeyword("transposed"))) {
      transposed = true;
    } else if (parser.parseKeyword("of") ||
               parser.parseDimensionList(storage, /*allowDynamic=*/false,
                                         /*withTrailingX=*/false)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  if (storage.empty()) {
    storage = shape;
    if (transposed)
      std::reverse(storage.begin(), storage.end());
  }
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    ArrayRef<int64_t>(shape), elementType, swizzle,
                    ArrayRef<int64_t>(storage), transposed);
}

//===----------------------------------------------------------------------===//
// !tile.channel
//===----------------------------------------------------------------------===//

/// Tiles with a swizzle begin where it repeats, others with a line of all
/// banks.
static int64_t alignmentOf(Type tile) {
  return cast<SmemType>(tile).getSwizzle() ? 1024 : 128;
}

int64_t ChannelType::getTileOffset(unsigned number) const {
  int64_t offset = 0;
  for (Type tile : getTiles().take_front(number))
    offset = llvm::alignTo(offset, alignmentOf(tile)) +
             cast<SmemType>(tile).getStorageBytes();
  return number < getTiles().size()
             ? llvm::alignTo(offset, alignmentOf(getTiles()[number]))
             : offset;
}

int64_t ChannelType::getAlignment() const {
  int64_t alignment = 0;
  for (Type tile : getTiles())
    alignment = std::max(alignment, alignmentOf(tile));
  return alignment;
}

int64_t ChannelType::getStageBytes() const {
  return llvm::alignTo(getTileOffset(getTiles().size()), getAlignment());
}

LogicalResult ChannelType::verify(EmitError emitError, int64_t stages,
                                  ArrayRef<Type> tiles) {
  if (stages < 1 || stages > 16)
    return emitError() << "a channel has 1 to 16 stages, got " << stages;
  if (tiles.empty())
    return emitError() << "a stage of a channel holds at least one tile";
  for (Type type : tiles) {
    auto tile = dyn_cast<SmemType>(type);
    if (!tile || !tile.isWhole())
      return emitError() << "a channel holds whole tiles in shared memory, got "
                         << type;
  }
  return success();
}
