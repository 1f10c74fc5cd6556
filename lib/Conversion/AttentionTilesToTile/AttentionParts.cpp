//===- AttentionParts.cpp - attention with keys in parts ------------------===//
//
// The first kernel writes the running maximum m, sum l and weighted values acc
// of a part; the second takes the parts of a query tile in their order:
//
//   m' = max(m, m_j)    a = e^(m - m')    b = e^(m_j - m')
//   l' = a l + b l_j    acc' = a acc + b acc_j
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "../Common/PackedTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

static constexpr double kLog2E = 1.4426950408889634;
/// Columns of the scratch buffers begin at whole pieces.
static constexpr uint64_t kAlign = 16;

/// What a carried value is in registers.
static RankedTensorType typeOf(const AttentionPlan &plan, Value arg) {
  auto tensor = cast<RankedTensorType>(arg.getType());
  return tensor.getRank() == 2 ? plan.getFragmentType(tensor)
                               : plan.getVectorType(tensor, true);
}

SmallVector<Workspace>
AttentionKernel::getWorkspace(AttentionTilesOp op, const AttentionPlan &plan) {
  Attribute slots =
      KeyParts{int64_t(op.getQueryTile()) / plan.group, plan.splitKeys}
          .countSlots(Builder(op.getContext()), op.isPacked());
  SmallVector<Workspace> result;
  for (auto [i, arg] : llvm::enumerate(op.getCarriedArgs(op.getStepBlock()))) {
    RankedTensorType type = typeOf(plan, arg);
    SmallVector<int64_t> shape = {ShapedType::kDynamic,
                                  int64_t(op.getHeads()) / plan.group};
    llvm::append_range(shape, type.getShape());
    result.push_back({"scratch_" + std::to_string(i),
                      MemRefType::get(shape, type.getElementType()), slots});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Which part
//===----------------------------------------------------------------------===//

Value AttentionKernel::firstSlot(Value n) {
  KeyParts parts = getParts();
  if (!op.isPacked())
    return arith::MulIOp::create(builder, loc, n,
                                 parts.countSlots(builder, loc, time, keyTime));
  auto begin = [&](Value offsets) -> Value {
    Value value = memref::LoadOp::create(builder, loc, memoryOf(offsets), n);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  };
  Value token = begin(op.getSeqlens());
  return parts.firstSlot(builder, loc, n, token,
                         op.getKvSeqlens() ? begin(op.getKvSeqlens()) : token);
}

/// Block index = slot * groups of heads + group: blocks that run at once read
/// keys that lie beside each other.
void AttentionKernel::findPart() {
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value groups = index(countHeadGroups());
  head = arith::RemUIOp::create(builder, loc, block, groups);
  if (plan.group > 1)
    head = arith::MulIOp::create(builder, loc, head, index(plan.group));
  Value slot = arith::DivUIOp::create(builder, loc, block, groups);
  if (op.isPacked())
    sequence = findSequence(builder, loc, slot, numSequences,
                            [&](Value n) { return firstSlot(n); });
  else
    sequence = arith::DivUIOp::create(
        builder, loc, slot, getParts().countSlots(builder, loc, time, keyTime));
  findSpans();
  KeyParts parts = getParts();
  Value tiles = parts.countTiles(builder, loc, queries.count);
  numParts = parts.countParts(builder, loc, tiles, keys.count);
  Value local = sub(slot, firstSlot(sequence));
  // A sequence without keys has no part, and none is divided by 0.
  Value one = index(1);
  Value divisor = arith::MaxSIOp::create(builder, loc, numParts, one);
  Value number = arith::DivUIOp::create(builder, loc, local, divisor);
  partNumber = arith::RemUIOp::create(builder, loc, local, divisor);
  slotBase = sub(slot, partNumber);
  // Without keys the tile is beyond the last one.
  Value none = compare(arith::CmpIPredicate::eq, numParts, index(0));
  setTile(arith::SelectOp::create(builder, loc, none, tiles, number));
}

void AttentionKernel::findParts(Value number) {
  KeyParts parts = getParts();
  Value tiles = parts.countTiles(builder, loc, queries.count);
  numParts = parts.countParts(builder, loc, tiles, keys.count);
  slotBase = add(firstSlot(sequence),
                 arith::MulIOp::create(builder, loc, number, numParts));
}

void AttentionKernel::clipToPart(Value &begin, Value &end) {
  Value tiles = arith::CeilDivSIOp::create(builder, loc, keys.count,
                                           index(op.getKeyTile()));
  Value perPart = arith::CeilDivSIOp::create(builder, loc, tiles, numParts);
  Value first = arith::MulIOp::create(builder, loc, partNumber, perPart);
  begin = arith::MaxSIOp::create(builder, loc, begin, first);
  end = arith::MinSIOp::create(builder, loc, end, add(first, perPart));
}

//===----------------------------------------------------------------------===//
// Scratch buffers
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionKernel::slotIndices(Value slot, int64_t rank) {
  Value group = head;
  if (plan.group > 1)
    group = arith::DivUIOp::create(builder, loc, head, index(plan.group));
  SmallVector<Value> indices = {slot, group};
  indices.append(rank, index(0));
  return indices;
}

static ArrayRef<int64_t> slotDims(int64_t rank) {
  static constexpr int64_t dims[] = {2, 3};
  return ArrayRef(dims).take_front(rank);
}

void AttentionKernel::storePart(const KeyPass &pass, ValueRange carried) {
  Value slot = add(slotBase, partNumber);
  for (auto [number, value] : llvm::zip_equal(pass.carried, carried)) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t rank = type.getRank();
    SmallVector<Value> bounds = {rowsLeft};
    if (rank == 2)
      bounds.push_back(index(type.getDimSize(1)));
    tile::StoreOp::create(builder, loc, value, buffers[number],
                          slotIndices(slot, rank), slotDims(rank), bounds,
                          kAlign);
  }
}

/// e^(a - b) of row vectors.
static Value expDifference(OpBuilder &builder, Location loc, Value a, Value b) {
  auto type = cast<RankedTensorType>(a.getType());
  Value factor = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, Attribute(builder.getFloatAttr(
                                       type.getElementType(), kLog2E))));
  Value exponent = arith::MulFOp::create(
      builder, loc, arith::SubFOp::create(builder, loc, a, b), factor);
  return math::Exp2Op::create(builder, loc, exponent,
                              arith::FastMathFlags::afn);
}

/// What a carried value is in shared memory.
static tile::SmemType sharedTypeOf(const AttentionPlan &plan, Value arg) {
  auto tensor = cast<RankedTensorType>(arg.getType());
  if (tensor.getRank() == 2)
    return plan.getSharedType(tensor);
  return tile::SmemType::get(tensor.getContext(), tensor.getShape(),
                             tensor.getElementType(), /*swizzle=*/0);
}

/// Parts come through a channel, ahead of their turn.
SmallVector<Value> AttentionKernel::combineParts(const KeyPass &pass) {
  SmallVector<Value> args;
  SmallVector<Type> tiles;
  for (unsigned number : pass.carried) {
    args.push_back(op.getCarriedArgs(op.getStepBlock())[number]);
    tiles.push_back(sharedTypeOf(plan, args.back()));
  }
  Value channel = makeChannel(tiles);
  emitter.forget();
  auto loop = scf::ForOp::create(builder, loc, index(0), numParts, index(1),
                                 makeInitial(pass));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value slot = add(slotBase, number);
  auto acquired = tile::ChannelAcquireOp::create(builder, loc, TypeRange(tiles),
                                                 channel, number);
  for (auto [carried, smem] :
       llvm::zip_equal(pass.carried, acquired.getResults())) {
    ArrayRef<int64_t> shape = cast<tile::SmemType>(smem.getType()).getShape();
    int64_t rank = shape.size();
    SmallVector<Value> bounds = {rowsLeft};
    if (rank == 2)
      bounds.push_back(index(shape.back()));
    tile::LoadAsyncOp::create(builder, loc, buffers[carried],
                              slotIndices(slot, rank), slotDims(rank), bounds,
                              /*from=*/Value(), smem, kAlign);
  }
  tile::ChannelCommitOp::create(builder, loc, channel, number);
  auto full = tile::ChannelWaitOp::create(builder, loc, TypeRange(tiles),
                                          channel, number, uint64_t(0));
  auto load = [&](size_t i) -> Value {
    return tile::LocalLoadOp::create(builder, loc, typeOf(plan, args[i]),
                                     full.getResult(i));
  };
  SmallVector<Value> next;
  ValueRange old = loop.getRegionIterArgs();
  for (size_t i = 0; i < args.size(); i += 3) {
    Value partMax = load(i), partSum = load(i + 1);
    auto type = cast<RankedTensorType>(partMax.getType());
    auto splat = [&](double value) -> Value {
      return arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(type, Attribute(builder.getFloatAttr(
                                           type.getElementType(), value))));
    };
    Value max = arith::MaximumFOp::create(builder, loc, old[i], partMax);
    // The shift by 0 keeps -inf - (-inf) from being NaN.
    Value none =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, max,
                              splat(-std::numeric_limits<double>::infinity()));
    Value shift = arith::SelectOp::create(builder, loc, none, splat(0), max);
    Value a = expDifference(builder, loc, old[i], shift);
    Value b = expDifference(builder, loc, partMax, shift);
    // a x + b y
    auto combine = [&](Value x, Value y) -> Value {
      Value xs = a, ys = b;
      if (cast<RankedTensorType>(x.getType()).getRank() == 2) {
        xs = tile::SplatRowOp::create(builder, loc, x.getType(), a);
        ys = tile::SplatRowOp::create(builder, loc, x.getType(), b);
      }
      return arith::AddFOp::create(builder, loc,
                                   arith::MulFOp::create(builder, loc, x, xs),
                                   arith::MulFOp::create(builder, loc, y, ys));
    };
    next.append(
        {max, combine(old[i + 1], partSum), combine(old[i + 2], load(i + 2))});
  }
  tile::ChannelReleaseOp::create(builder, loc, channel, number);
  scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}
