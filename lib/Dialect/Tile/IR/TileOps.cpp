//===- TileOps.cpp - verification and folding of operations on tiles ------===//

#include "linattn/Dialect/Tile/IR/Layouts.h"
#include "linattn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn::tile;

//===----------------------------------------------------------------------===//
// View offsets in text: nothing where both are 0
//===----------------------------------------------------------------------===//

static ParseResult parseViewOffsets(OpAsmParser &parser,
                                    DenseI64ArrayAttr &offsets) {
  SmallVector<int64_t> values = {0, 0};
  if (succeeded(parser.parseOptionalLSquare()) &&
      (parser.parseInteger(values[0]) || parser.parseComma() ||
       parser.parseInteger(values[1]) || parser.parseRSquare()))
    return failure();
  offsets = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

static void printViewOffsets(OpAsmPrinter &printer, Operation *,
                             DenseI64ArrayAttr offsets) {
  ArrayRef<int64_t> values = offsets.asArrayRef();
  if (llvm::any_of(values, [](int64_t value) { return value != 0; }))
    printer << "[" << values[0] << ", " << values[1] << "]";
}

#define GET_OP_CLASSES
#include "linattn/Dialect/Tile/IR/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared rules
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto smem = dyn_cast<SmemType>(type))
    return smem.getShape();
  return cast<RankedTensorType>(type).getShape();
}

static Type elementOf(Type type) {
  if (auto smem = dyn_cast<SmemType>(type))
    return smem.getElementType();
  return cast<RankedTensorType>(type).getElementType();
}

/// What load, store and load_async have in common.
static LogicalResult verifyAccess(Operation *op, MemRefType memref,
                                  size_t numIndices, ArrayRef<int64_t> dims,
                                  size_t numBounds, Type tile,
                                  int64_t group = 1, int64_t step = 1) {
  size_t rank = shapeOf(tile).size();
  if (numIndices != size_t(memref.getRank()))
    return op->emitOpError("has one index per dimension of ")
           << memref << ", got " << numIndices;
  if (dims.size() != rank)
    return op->emitOpError("dims name one dimension of the memref for each of "
                           "the tile's ")
           << rank << ", got " << dims.size();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= memref.getRank())
      return op->emitOpError("dims lie in [0, ")
             << memref.getRank() << "), got " << dim;
    if (llvm::is_contained(dims.take_front(i), dim))
      return op->emitOpError("dims differ, got ") << dim << " twice";
  }
  if (numBounds != 0 && numBounds != rank)
    return op->emitOpError("has a bound for each of the tile's ")
           << rank << " dimensions or none, got " << numBounds;
  if (group < 1 || step < 1 || (group > 1 && dims.front() == 0))
    return op->emitOpError("groups and steps are positive, and a group of "
                           "several rows runs along a dimension that is not "
                           "the first, got group = ")
           << group << ", step = " << step << " and dims = [" << dims << "]";
  if (memref.getElementType() != elementOf(tile))
    return op->emitOpError("element types are equal, got ")
           << memref.getElementType() << " and " << elementOf(tile);
  return success();
}

LogicalResult LoadOp::verify() {
  return verifyAccess(*this, cast<MemRefType>(getSource().getType()),
                      getIndices().size(), getDims(), getBounds().size(),
                      getResult().getType(), getGroup(), getStep());
}

LogicalResult StoreOp::verify() {
  if (!llvm::is_contained({2u, 4u, 8u, 16u}, getAlign()))
    return emitOpError("align is 16, 8, 4 or 2, got ") << int64_t(getAlign());
  return verifyAccess(*this, cast<MemRefType>(getTarget().getType()),
                      getIndices().size(), getDims(), getBounds().size(),
                      getValue().getType(), getGroup());
}

/// Copies in the background move whole tiles, row by row.
static LogicalResult verifyBackground(Operation *op, MemRefType memref,
                                      ArrayRef<int64_t> dims, SmemType tile) {
  if (!tile.isWhole())
    return op->emitOpError("copies a whole tile, got ") << tile;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (dims.back() != memref.getRank() - 1 ||
      failed(memref.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1)
    return op->emitOpError("the tile's last dimension runs along the memref's "
                           "last one, which is contiguous, got ")
           << memref << " and dims = [" << dims << "]";
  return success();
}

LogicalResult LoadAsyncOp::verify() {
  auto memref = cast<MemRefType>(getSource().getType());
  if (failed(verifyAccess(*this, memref, getIndices().size(), getDims(),
                          getBounds().size(), getTarget().getType(), getGroup(),
                          getStep())))
    return failure();
  if (getFrom() && getTarget().getType().getRank() != 2)
    return emitOpError("'from' counts rows of a tile of rank 2, got ")
           << getTarget().getType();
  if (!llvm::is_contained({4u, 8u, 16u}, getAlign()))
    return emitOpError("align is 16, 8 or 4, got ") << int64_t(getAlign());
  return verifyBackground(*this, memref, getDims(), getTarget().getType());
}

LogicalResult StoreAsyncOp::verify() {
  auto memref = cast<MemRefType>(getTarget().getType());
  if (failed(verifyAccess(*this, memref, getIndices().size(), getDims(),
                          getBounds().size(), getValue().getType())))
    return failure();
  return verifyBackground(*this, memref, getDims(), getValue().getType());
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Tiles with a swizzle begin where it repeats, others where 16 bytes do.
static LogicalResult verifyOffset(Operation *op, std::optional<uint64_t> offset,
                                  int64_t alignment) {
  if (!offset || *offset % alignment == 0)
    return success();
  return op->emitOpError("offset is a multiple of ")
         << alignment << ", got " << *offset;
}

LogicalResult AllocOp::verify() {
  if (!getType().isWhole())
    return emitOpError("makes a whole tile, got ") << getType();
  return verifyOffset(*this, getOffset(), getType().getSwizzle() ? 1024 : 16);
}

LogicalResult SmemViewOp::verify() {
  SmemType source = getSource().getType(), result = getType();
  if (source.getRank() != 2 || result.getRank() != 2)
    return emitOpError("views are of rank 2, got ")
           << source << " and " << result;
  SmallVector<int64_t> shape(result.getShape());
  if (getTransposed())
    std::reverse(shape.begin(), shape.end());
  SmemType expected = source.getSliceType(shape);
  if (getTransposed())
    expected = expected.getTransposedType();
  if (result != expected)
    return emitOpError("the result is ") << expected << ", got " << result;
  ArrayRef<int64_t> offsets = getOffsets();
  if (offsets.size() != 2)
    return emitOpError("has two offsets, got ") << offsets.size();
  for (auto [dim, offset, size, limit] :
       llvm::enumerate(offsets, shape, source.getShape())) {
    if (offset < 0 || offset + size > limit)
      return emitOpError("the slice lies inside the source, got [")
             << offset << ", " << offset + size << ") of " << limit;
    // Rows may begin anywhere; columns of 8 are what loads move at once.
    if ((dim == 1) != source.getTransposed() && offset % 8 != 0)
      return emitOpError("a slice begins at a column of the storage that is a "
                         "multiple of 8, got ")
             << offset;
  }
  return success();
}

OpFoldResult SmemViewOp::fold(FoldAdaptor) {
  bool whole = llvm::all_of(getOffsets(), [](int64_t o) { return o == 0; });
  if (whole && !getTransposed() && getType() == getSource().getType())
    return getSource();
  auto producer = getSource().getDefiningOp<SmemViewOp>();
  if (!producer)
    return {};
  // A view of a view is one view.
  SmallVector<int64_t> offsets(getOffsets());
  if (producer.getTransposed())
    std::reverse(offsets.begin(), offsets.end());
  for (auto [offset, first] : llvm::zip(offsets, producer.getOffsets()))
    offset += first;
  getSourceMutable().assign(producer.getSource());
  setOffsets(offsets);
  setTransposed(getTransposed() != producer.getTransposed());
  return getResult();
}

static LogicalResult verifySameTile(Operation *op, Type a, Type b) {
  if (shapeOf(a) == shapeOf(b) && elementOf(a) == elementOf(b))
    return success();
  return op->emitOpError("shapes and element types are equal, got ")
         << a << " and " << b;
}

LogicalResult LocalLoadOp::verify() {
  return verifySameTile(*this, getSource().getType(), getType());
}

LogicalResult LocalStoreOp::verify() {
  return verifySameTile(*this, getValue().getType(), getTarget().getType());
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

static LogicalResult verifyTiles(Operation *op, ChannelType channel,
                                 TypeRange results) {
  if (TypeRange(channel.getTiles()) == results)
    return success();
  return op->emitOpError("gives the ")
         << channel.getTiles().size() << " tiles of " << channel << ", got "
         << results;
}

LogicalResult ChannelCreateOp::verify() {
  if (getEvery() && getOwn())
    return emitOpError("has a period of all blocks (every) or of its own "
                       "(own), got both");
  for (std::optional<uint64_t> period : {getEvery(), getOwn()})
    if (period && (int64_t(*period) < 2 || int64_t(*period) > 8))
      return emitOpError("the period lies in [2, 8], got ") << int64_t(*period);
  return verifyOffset(*this, getOffset(), getType().getAlignment());
}

LogicalResult ChannelAcquireOp::verify() {
  return verifyTiles(*this, getChannel().getType(), getResultTypes());
}

LogicalResult ChannelStageOp::verify() {
  return verifyTiles(*this, getChannel().getType(), getResultTypes());
}

LogicalResult ChannelWaitOp::verify() {
  if (int64_t(getPending()) < 0)
    return emitOpError("pending is not negative, got ")
           << int64_t(getPending());
  return verifyTiles(*this, getChannel().getType(), getResultTypes());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Only a wait, or the next product of a sum, takes what is not there yet.
static LogicalResult verifyInFlight(MmaOp mma) {
  unsigned products = 0;
  for (Operation *user : mma->getUsers()) {
    if (isa<MmaWaitOp>(user) && user->getBlock() == mma->getBlock())
      continue;
    auto next = dyn_cast<MmaOp>(user);
    if (next && next.getAsync() && next.getAcc() == mma.getResult() &&
        next.getA() != mma.getResult() && next->getBlock() == mma->getBlock() &&
        ++products == 1)
      continue;
    return mma.emitOpError("the result of an async product is used by mma_wait "
                           "or as the accumulator of one further async product "
                           "of its block, got ")
           << user->getName();
  }
  return success();
}

LogicalResult MmaOp::verify() {
  auto acc = cast<RankedTensorType>(getAcc().getType());
  auto layout = dyn_cast<AccAttr>(acc.getEncoding());
  if (!layout || !acc.getElementType().isF32())
    return emitOpError("the accumulator is f32 in layout acc, got ") << acc;
  Type a = getA().getType(), b = getB().getType();
  if (shapeOf(a).size() != 2 || shapeOf(b).size() != 2 ||
      shapeOf(a)[0] != acc.getDimSize(0) || shapeOf(a)[1] != shapeOf(b)[0] ||
      shapeOf(b)[1] != acc.getDimSize(1))
    return emitOpError("multiplies [M, K] by [K, N] into [M, N], got ")
           << a << ", " << b << " and " << acc;
  Type element = elementOf(a);
  if (element != elementOf(b) ||
      !(element.isBF16() || element.isF16() || element.isF32()))
    return emitOpError("a and b are both bf16, f16 or f32, got ")
           << element << " and " << elementOf(b);
  if (getTerms() != 1 && (getTerms() != 3 || !element.isF32()))
    return emitOpError("terms is 1, or 3 for f32, got ")
           << int64_t(getTerms()) << " for " << element;
  if (auto fragment = dyn_cast<RankedTensorType>(a);
      fragment &&
      (fragment.getEncoding() != layout || layout.getColumns() != 1))
    return emitOpError("a in registers has the layout of the accumulator, with "
                       "one part of columns, got ")
           << fragment << " and " << acc;
  int64_t depth = element.isF32() ? 8 : 16;
  if (shapeOf(a)[1] % depth != 0)
    return emitOpError("K is a multiple of ")
           << depth << " for " << element << ", got " << shapeOf(a)[1];
  return getAsync() ? verifyInFlight(*this) : success();
}

LogicalResult MmaWaitOp::verify() {
  for (Value product : getProducts()) {
    auto mma = product.getDefiningOp<MmaOp>();
    if (!mma || !mma.getAsync())
      return emitOpError("waits for the results of async mma, got ") << product;
  }
  return success();
}

/// Twice, for slices of 16 columns in turn: of each 16 rows an operand of 16 x
/// 16, 16 decays and 16 sums, as lanes hold them.
int64_t DecayMmaOp::getScratchBytes(int64_t rows, Type element) {
  int64_t laneBytes = (element.isF32() ? 32 : 16) + 2 * 16;
  return 2 * rows / kRowTile * kWarpSize * laneBytes;
}

static bool isMmaElement(Type type) {
  return type.isBF16() || type.isF16() || type.isF32();
}

LogicalResult DecayMmaOp::verify() {
  ArrayRef<int64_t> shape = getY().getType().getShape();
  SmallVector<Value> tiles(getXs());
  tiles.append({getY(), getDecays()});
  for (Value tile : tiles) {
    auto type = cast<SmemType>(tile.getType());
    if (type.getRank() != 2 || type.getShape() != shape ||
        shape[1] % kRowTile != 0 || !isMmaElement(type.getElementType()) ||
        type.getTransposed())
      return emitOpError("xs, y and decays are [C, K] in bf16, f16 or f32, K a "
                         "multiple of 16, not transposed, got ")
             << type;
  }
  if (getXs().empty() || getResults().size() != getXs().size() ||
      getXPositions().size() != getXs().size() ||
      getInclusive().size() != getXs().size())
    return emitOpError("has a result, a position and a flag for each x, got ")
           << getResults().size() << ", " << getXPositions().size() << " and "
           << getInclusive().size() << " for " << getXs().size();
  for (Type result : getResultTypes()) {
    auto type = cast<RankedTensorType>(result);
    auto layout = dyn_cast<AccAttr>(type.getEncoding());
    if (!layout || layout.getColumns() != 1 || !type.getElementType().isF32() ||
        type.getShape() != ArrayRef<int64_t>{shape[0], shape[0]} ||
        layout.getWarps() * kRowTile < shape[0] || type != getResultTypes()[0])
      return emitOpError(
                 "results are [C, C] in f32 and layout acc with one part "
                 "of columns and C / 16 warps or more, got ")
             << type;
  }
  SmallVector<int64_t> positions(getXPositions());
  positions.push_back(int64_t(getYPosition()));
  for (int64_t position : positions)
    if (position != 0 && position != 1)
      return emitOpError("positions are 0 or 1, got ") << position;
  if (!isMmaElement(getElement()))
    return emitOpError("operands are rounded to bf16, f16 or f32, got ")
           << getElement();
  if (getTargetOf().size() != getTargets().size())
    return emitOpError("has a number of rows for each target, got ")
           << getTargetOf().size() << " for " << getTargets().size();
  for (auto [of, target] : llvm::zip(getTargetOf(), getTargets())) {
    if (of < 0 || of > int64_t(getXs().size()))
      return emitOpError("targets are of an x or, after them, of y, got ")
             << of;
    auto type = cast<SmemType>(target.getType());
    if (type.getRank() != 2 || type.getShape() != shape ||
        type.getElementType() != getElement() || type.getTransposed())
      return emitOpError("targets are [C, K] in the element type of the "
                         "operands, not transposed, got ")
             << type;
  }
  if (getSums()) {
    SmemType type = getSums().getType();
    if (type.getShape() != shape.drop_front() || !type.getElementType().isF32())
      return emitOpError("sums are [K] in f32, got ") << type;
  }
  SmemType scratch = getScratch().getType();
  int64_t needed = getScratchBytes(shape[0], getElement());
  if (!scratch.isWhole() || !scratch.getElementType().isInteger(8) ||
      scratch.getRank() != 1 || scratch.getStorageBytes() < needed)
    return emitOpError("the scratch is a vector of at least ")
           << needed << " i8, got " << scratch;
  return success();
}

/// A slot for each row tile, and for each warp: what its row has left of the
/// diagonal block in two 16-bit terms, or that block in f32, and the inverse of
/// the block in two terms. Rows are 16 bytes longer than what they hold, so
/// that they begin in other banks.
int64_t UnitLowerInverseOp::getScratchBytes(int64_t n, int64_t warps,
                                            int64_t terms) {
  // One f16 matrix with rows of 16 bytes more, and the 8x8 blocks on the
  // diagonal in f32 with their inverses.
  if (terms == 1)
    return n * (n + 8) * 2 + n / kRowTile * 1200;
  constexpr int64_t pad = 16;
  int64_t tiles = n / kRowTile;
  int64_t left = 2 * kRowTile * ((n - kRowTile) * 2 + pad);
  int64_t block = kRowTile * (kRowTile * 4 + pad);
  int64_t inverse = tiles > 1 ? 2 * kRowTile * (kRowTile * 2 + pad) : 0;
  return std::max(tiles, warps) * (std::max(left, block) + inverse);
}

LogicalResult UnitLowerInverseOp::verify() {
  auto type = cast<RankedTensorType>(getMatrix().getType());
  auto layout = dyn_cast<AccAttr>(type.getEncoding());
  if (!layout || !type.getElementType().isF32() ||
      type.getDimSize(0) != type.getDimSize(1) || layout.getColumns() != 1 ||
      !llvm::is_contained({16, 32, 64, 128}, type.getDimSize(0)))
    return emitOpError("the matrix is square in f32 and layout acc with one "
                       "part of columns, of 16, 32, 64 or 128 rows, got ")
           << type;
  if (getTerms() != 1 && getTerms() != 2)
    return emitOpError("terms is 1 or 2, got ") << int64_t(getTerms());
  SmemType scratch = getScratch().getType();
  int64_t needed = getScratchBytes(type.getDimSize(0), layout.getWarps(),
                                   int64_t(getTerms()));
  if (!scratch.isWhole() || !scratch.getElementType().isInteger(8) ||
      scratch.getRank() != 1 || scratch.getStorageBytes() < needed)
    return emitOpError("the scratch is a vector of at least ")
           << needed << " i8, got " << scratch;
  return success();
}

LogicalResult UnitLowerSolveOp::verify() {
  if (getSides().empty())
    return emitOpError("there is a right side");
  auto type = cast<RankedTensorType>(getSides()[0].getType());
  auto layout = dyn_cast<AccAttr>(type.getEncoding());
  if (!layout || !type.getElementType().isF32() || layout.getColumns() != 1)
    return emitOpError("the right side is [N, C] in f32 and layout acc with "
                       "one part of columns, got ")
           << type;
  for (Value side : getSides())
    if (side.getType() != type)
      return emitOpError("right sides have one type, ")
             << type << ", got " << side.getType();
  for (Value rate : getRates())
    if (rate.getType() != type)
      return emitOpError("rates have the type of the right side, ")
             << type << ", got " << rate.getType();
  if (getRates().empty() || getRates().size() != getMatrices().size())
    return emitOpError("there are as many matrices as rates, at least one, "
                       "got ")
           << getMatrices().size() << " and " << getRates().size();
  int64_t size = type.getDimSize(1);
  for (Value matrix : getMatrices()) {
    auto smem = cast<SmemType>(matrix.getType());
    if (smem.getShape() != ArrayRef<int64_t>{size, size} ||
        !smem.getElementType().isF32() || smem.getTransposed())
      return emitOpError("a matrix of ")
             << size << " columns of the right side is " << size << " x "
             << size << " in f32, not transposed, got " << smem;
  }
  int64_t unknowns = getSides().size();
  for (ArrayRef<int64_t> rows : {getReaders(), getWriters()}) {
    if (rows.size() != getMatrices().size() &&
        !(unknowns == 1 && rows.empty() && getReaders() == getWriters()))
      return emitOpError("there are as many rows as matrices, ")
             << getMatrices().size() << ", got " << rows.size();
    for (int64_t row : rows)
      if (row < 0 || row >= unknowns)
        return emitOpError("a row is one of ")
               << unknowns << " right sides, got " << row;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  if (failed(verifySameTile(*this, source, result)))
    return failure();
  if (!isConvertible(source, result))
    return emitOpError("no shuffle inside a warp makes ")
           << result << " from " << source
           << "; go through shared memory (local_store, local_load)";
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  auto producer = getSource().getDefiningOp<ConvertOp>();
  if (!producer ||
      !isConvertible(cast<RankedTensorType>(producer.getSource().getType()),
                     cast<RankedTensorType>(getType())))
    return {};
  if (producer.getSource().getType() == getType())
    return producer.getSource();
  getSourceMutable().assign(producer.getSource());
  return getResult();
}

LogicalResult SplatRowOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  if (isa<AccAttr>(result.getEncoding()) &&
      getSource().getType() == getRowType(result))
    return success();
  return emitOpError("makes a matrix in acc from a vector in row of its rows, "
                     "got ")
         << getSource().getType() << " and " << result;
}

LogicalResult SplatColOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  if (isa<AccAttr>(result.getEncoding()) &&
      getSource().getType() == getColType(result))
    return success();
  return emitOpError("makes a matrix in acc from a vector in col of its "
                     "columns, got ")
         << getSource().getType() << " and " << result;
}

LogicalResult ReduceOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto layout = dyn_cast<AccAttr>(source.getEncoding());
  if (!layout || !source.getElementType().isF32() || getAxis() > 1)
    return emitOpError("reduces f32 in layout acc along axis 0 or 1, got ")
           << source << " along " << int64_t(getAxis());
  RankedTensorType expected =
      getAxis() == 1 ? getRowType(source) : getColType(source);
  if (getType() != expected)
    return emitOpError("the result is ") << expected << ", got " << getType();
  // Rows that other warps hold as well need no exchange.
  int64_t warps = std::min(layout.getWarps(), source.getDimSize(0) / kRowTile);
  bool needsScratch = getAxis() == 0 && warps > 1;
  if (needsScratch != bool(getScratch()))
    return emitOpError(needsScratch ? "reduces over several warps and needs "
                                      "scratch"
                                    : "needs no scratch");
  if (!needsScratch)
    return success();
  SmemType scratch = getScratch().getType();
  auto needed = SmemType::get(getContext(), {warps, source.getDimSize(1)},
                              source.getElementType(), 0);
  if (scratch != needed)
    return emitOpError("the scratch is ") << needed << ", got " << scratch;
  return success();
}

LogicalResult ScanOp::verify() {
  auto type = cast<RankedTensorType>(getSource().getType());
  if (isa<StridedAttr>(type.getEncoding()) && type.getElementType().isF32())
    return success();
  return emitOpError("sums f32 in layout strided, got ") << type;
}

LogicalResult ScanRowsOp::verify() {
  auto type = cast<RankedTensorType>(getSource().getType());
  auto layout = dyn_cast<AccAttr>(type.getEncoding());
  if (!layout || !type.getElementType().isF32() || layout.getColumns() != 1)
    return emitOpError("the source is f32 in layout acc with one part of "
                       "columns, got ")
           << type;
  int64_t tiles = type.getDimSize(0) / kRowTile;
  Value scratch = getScratch();
  if ((tiles > 1) != bool(scratch))
    return emitOpError("scratch is given for more than 16 rows, and only then, "
                       "got ")
           << type;
  if (scratch && scratch.getType() != SmemType::get(getContext(),
                                                    {tiles, type.getDimSize(1)},
                                                    type.getElementType(), 0))
    return emitOpError("the scratch has a row for each 16 rows, got ")
           << scratch.getType();
  return success();
}

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.getElementType().isInteger(32))
    return emitOpError("counts in i32, got ") << type;
  int64_t axis = getAxis();
  if (axis < 0 || axis >= type.getRank())
    return emitOpError("the axis lies in [0, ")
           << type.getRank() << "), got " << axis;
  return success();
}

LogicalResult BandOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!isa<AccAttr>(type.getEncoding()) || !type.getElementType().isInteger(1))
    return emitOpError("marks elements by i1 in layout acc, got ") << type;
  if (!getLower() && !getUpper() && !getColumns())
    return emitOpError("has a bound: lower, upper or columns");
  return success();
}

LogicalResult WarpAnyOp::verify() {
  auto type = cast<RankedTensorType>(getSource().getType());
  if (!isa<RowAttr>(type.getEncoding()) || !type.getElementType().isInteger(1))
    return emitOpError("takes i1 in layout row, got ") << type;
  for (Operation *user : getResult().getUsers()) {
    auto branch = dyn_cast<scf::IfOp>(user);
    if (!branch)
      return emitOpError("differs by warp and is the condition of scf.if, got ")
             << user->getName();
    for (Region &region : branch->getRegions())
      for (Operation &inner : region.getOps())
        if (!isa<scf::YieldOp>(inner) && !isPure(&inner))
          return emitOpError("differs by warp: operations under it are pure, "
                             "got ")
                 << inner.getName();
  }
  return success();
}
