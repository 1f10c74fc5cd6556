//===- Segments.cpp - long sequences in pieces ----------------------------===//

#include "Segments.h"

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

static ArrayRef<int64_t> sizesOf(ChunkedOp op, unsigned state) {
  return cast<RankedTensorType>(op.getStateArgs()[state].getType()).getShape();
}

SmallVector<unsigned> linattn::chunked_to_tile::getCarried(ChunkedOp op,
                                                           SegmentKind kind) {
  SmallVector<unsigned> result;
  for (unsigned state : llvm::seq(op.getNumStates()))
    if (kind == SegmentKind::Whole ||
        isTransition(op, state) == (kind == SegmentKind::Transitions))
      result.push_back(state);
  return result;
}

SmallVector<Workspace>
linattn::chunked_to_tile::getSegmentWorkspace(ChunkedOp op, int64_t count) {
  SmallVector<Workspace> result;
  if (count == 1)
    return result;
  Builder b(op.getContext());
  Attribute rows = b.getDictionaryAttr(
      {b.getNamedAttr("of", b.getStringAttr("N")),
       b.getNamedAttr("times", b.getI64IntegerAttr(count))});
  for (unsigned state : llvm::seq(op.getNumStates())) {
    SmallVector<int64_t> shape = {ShapedType::kDynamic, op.getNumHeads()};
    llvm::append_range(shape, sizesOf(op, state));
    result.push_back({"segments_" + std::to_string(state),
                      MemRefType::get(shape, b.getF32Type()), rows});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

SegmentBounds::SegmentBounds(OpBuilder &builder, Location loc, Value numChunks,
                             int64_t count)
    : builder(builder), loc(loc), numChunks(numChunks) {
  Value segments = arith::ConstantIndexOp::create(builder, loc, count);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  perSegment = arith::MaxSIOp::create(
      builder, loc,
      arith::CeilDivSIOp::create(builder, loc, numChunks, segments), one);
}

Value SegmentBounds::getFirst(Value segment) const {
  return arith::MinSIOp::create(
      builder, loc, arith::MulIOp::create(builder, loc, segment, perSegment),
      numChunks);
}

Value SegmentBounds::getEnd(Value segment) const {
  return arith::MinSIOp::create(
      builder, loc,
      arith::AddIOp::create(builder, loc, getFirst(segment), perSegment),
      numChunks);
}

Value SegmentBounds::getLast() const {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value used = arith::CeilDivSIOp::create(builder, loc, numChunks, perSegment);
  return arith::MaxSIOp::create(
      builder, loc, arith::SubIOp::create(builder, loc, used, one), zero);
}

//===----------------------------------------------------------------------===//
// The kernel of the starts
//===----------------------------------------------------------------------===//

/// Rows of a fragment go to warps in tiles of 16.
static constexpr int64_t kRowTile = 16;
static constexpr int64_t kMostWarps = 8;
static constexpr int64_t kMostColumns = 32;
/// Numbers of a transition that a lane holds at once.
static constexpr int64_t kLaneElements = 64;

StartsKernel::StartsKernel(const KernelSignature &signature, int64_t count,
                           ArrayRef<Workspace> workspace, OpBuilder &builder)
    : signature(signature),
      op(cast<ChunkedOp>(signature.getOp().getOperation())), count(count),
      workspace(workspace), builder(builder), loc(op.getLoc()),
      states(getCarried(op, SegmentKind::Run)) {
  int64_t columns = 1;
  for (unsigned state : states) {
    warps = std::max(warps, std::min(kMostWarps, getRows(state) / kRowTile));
    columns = std::max(columns, sizesOf(op, state)[1]);
  }
  width = std::min<int64_t>(kMostColumns, llvm::alignTo(columns, kRowTile));
  slices = llvm::divideCeil(columns, width);
}

Value StartsKernel::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

int64_t StartsKernel::getRows(unsigned number) const {
  return std::max<int64_t>(kRowTile,
                           llvm::PowerOf2Ceil(sizesOf(op, number)[0]));
}

RankedTensorType StartsKernel::getFragmentType(unsigned number) const {
  return RankedTensorType::get(
      {std::max(getRows(number), kRowTile * warps), width},
      builder.getF32Type(), tile::AccAttr::get(builder.getContext(), warps, 1));
}

Value StartsKernel::loadOffset(Value operand, Value at) {
  Value value = memref::LoadOp::create(
      builder, loc, tensors[*signature.getOperand(operand)], at);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

gpu::GPUFuncOp StartsKernel::run(StringRef name) {
  auto func = createTileKernel(builder, loc, name, signature, workspace,
                               /*sizes=*/2, warps);
  OpBuilder::InsertionGuard guard(builder);
  enterTileKernel(builder, func);
  ArrayRef<BlockArgument> args = func.getArguments();
  numSequences = args.back();
  time = args.drop_back().back();
  tensors.assign(args.begin(), args.begin() + signature.getTensors().size());
  args = args.drop_back(2).take_back(op.getNumStates());
  segmentBuffers.assign(args.begin(), args.end());

  // Block index = (sequence * H + head) * slices + slice.
  Value rest = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  slice = arith::RemUIOp::create(builder, loc, rest, index(slices));
  rest = arith::DivUIOp::create(builder, loc, rest, index(slices));
  Value heads = index(op.getNumHeads());
  head = arith::RemUIOp::create(builder, loc, rest, heads);
  sequence = arith::DivUIOp::create(builder, loc, rest, heads);
  stateRow = sequence;
  if (op.getSlots()) {
    stateRow = loadOffset(op.getSlots(), sequence);
    Value used = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       stateRow, index(op.getPaddingSlot()));
    auto branch = scf::IfOp::create(builder, loc, used, false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  emitSequence();
  return func;
}

void StartsKernel::emitSequence() {
  Value length = time;
  if (op.isPacked()) {
    Value begin = loadOffset(op.getSeqlens(), sequence);
    Value next = arith::AddIOp::create(builder, loc, sequence, index(1));
    length = arith::SubIOp::create(builder, loc,
                                   loadOffset(op.getSeqlens(), next), begin);
  }
  Value chunks =
      arith::CeilDivSIOp::create(builder, loc, length, index(op.getChunk()));
  last = SegmentBounds(builder, loc, chunks, count).getLast();
  for (unsigned state : states) {
    Value here = index(llvm::divideCeil(sizesOf(op, state)[1], width));
    Value exists = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, slice, here);
    auto branch = scf::IfOp::create(builder, loc, exists, false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitState(state);
  }
}

void StartsKernel::emitState(unsigned number) {
  Value base = arith::MulIOp::create(builder, loc, sequence, index(count));
  auto rowOf = [&](Value segment) -> Value {
    return arith::AddIOp::create(builder, loc, base, segment);
  };
  Value memory = segmentBuffers[getSegmentBuffer(op, number)];
  auto loop = scf::ForOp::create(builder, loc, index(0), last, index(1),
                                 loadInitial(number));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value row = rowOf(loop.getInductionVar());
    Value state = loop.getRegionIterArgs()[0];
    // The start of a segment takes the place of its end.
    Value end = loadRows(number, memory, row, getFragmentType(number));
    store(number, state, row);
    scf::YieldOp::create(builder, loc, advance(number, state, end, row));
  }
  store(number, loop.getResult(0), rowOf(last));
}

Value StartsKernel::advance(unsigned number, Value state, Value end,
                            Value row) {
  unsigned transition = getTransitions(op)[number];
  Value memory = segmentBuffers[getSegmentBuffer(op, transition)];
  ArrayRef<int64_t> sizes = sizesOf(op, transition);
  RankedTensorType type = getFragmentType(number);
  if (sizes[1] != 1)
    return multiply(number, state, end, row);
  Value factors;
  if (sizes[0] == 1) {
    Value factor = memref::LoadOp::create(
        builder, loc, memory, ValueRange{row, head, index(0), index(0)});
    factors = tensor::SplatOp::create(builder, loc, factor, type);
  } else {
    auto layout = tile::RowAttr::get(builder.getContext(), warps, 1);
    Value vector = tile::LoadOp::create(
        builder, loc,
        RankedTensorType::get({type.getDimSize(0)}, builder.getF32Type(),
                              layout),
        memory, ValueRange{row, head, index(0), index(0)}, ArrayRef<int64_t>{2},
        ValueRange{index(sizes[0])});
    factors = tile::SplatRowOp::create(builder, loc, type, vector);
  }
  return math::FmaOp::create(builder, loc, factors, state, end);
}

/// The state goes through shared memory, its transition to registers, as many
/// columns at once as they hold.
Value StartsKernel::multiply(unsigned number, Value state, Value end,
                             Value row) {
  unsigned transition = getTransitions(op)[number];
  Value memory = segmentBuffers[getSegmentBuffer(op, transition)];
  int64_t keys = sizesOf(op, transition)[0];
  RankedTensorType type = getFragmentType(number);
  auto whole = tile::SmemType::get(builder.getContext(), type.getShape(),
                                   builder.getF32Type(),
                                   tile::SmemType::getSwizzleOf(width * 4));
  Value shared = tile::AllocOp::create(builder, loc, whole, IntegerAttr());
  tile::LocalStoreOp::create(builder, loc, state, shared);
  int64_t rows = type.getDimSize(0);
  int64_t depth = std::clamp<int64_t>(
      kLaneElements * warps * tile::kWarpSize / rows, kRowTile, 64);
  Value acc = end;
  for (int64_t first = 0; first < keys; first += depth) {
    int64_t size =
        std::min<int64_t>(depth, llvm::alignTo(keys - first, kRowTile));
    auto leftType = RankedTensorType::get({rows, size}, builder.getF32Type(),
                                          type.getEncoding());
    Value left = tile::LoadOp::create(
        builder, loc, leftType, memory,
        ValueRange{row, head, index(0), index(first)}, ArrayRef<int64_t>{2, 3},
        ValueRange{index(keys), index(keys - first)});
    Value right = tile::SmemViewOp::create(
        builder, loc, whole.getSliceType({size, width}), shared,
        ArrayRef<int64_t>{first, 0}, /*transposed=*/false);
    acc = tile::MmaOp::create(builder, loc, acc.getType(), left, right, acc,
                              uint64_t(3));
  }
  return acc;
}

Value StartsKernel::loadInitial(unsigned number) {
  Value state = op.getStates()[number];
  RankedTensorType type = getFragmentType(number);
  if (Value constant = makeConstantState(builder, loc, signature, state, type))
    return constant;
  Value memory = tensors[*signature.getOperand(state)];
  Type stored = getElementTypeOrSelf(memory.getType());
  Value loaded = loadRows(number, memory, stateRow, type.clone(stored));
  if (stored == type.getElementType())
    return loaded;
  return arith::ExtFOp::create(builder, loc, type, loaded);
}

/// Where a state's slice begins, and how much of it there is.
Value StartsKernel::loadRows(unsigned number, Value memory, Value row,
                             RankedTensorType type) {
  ArrayRef<int64_t> sizes = sizesOf(op, number);
  Value begin = arith::MulIOp::create(builder, loc, slice, index(width));
  Value left = arith::SubIOp::create(builder, loc, index(sizes[1]), begin);
  return tile::LoadOp::create(
      builder, loc, type, memory, ValueRange{row, head, index(0), begin},
      ArrayRef<int64_t>{2, 3}, ValueRange{index(sizes[0]), left});
}

void StartsKernel::store(unsigned number, Value state, Value row) {
  ArrayRef<int64_t> sizes = sizesOf(op, number);
  Value begin = arith::MulIOp::create(builder, loc, slice, index(width));
  Value left = arith::SubIOp::create(builder, loc, index(sizes[1]), begin);
  tile::StoreOp::create(
      builder, loc, state, segmentBuffers[getSegmentBuffer(op, number)],
      ValueRange{row, head, index(0), begin}, ArrayRef<int64_t>{2, 3},
      ValueRange{index(sizes[0]), left}, uint64_t(16));
}
