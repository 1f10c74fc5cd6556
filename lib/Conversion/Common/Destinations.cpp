//===- Destinations.cpp - where lowered operations read and write ---------===//

#include "linattn/Conversion/Destinations.h"

#include "SequenceOp.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace linattn;

MemRefType linattn::getStridedMemRef(RankedTensorType type,
                                     bool contiguousInner) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  if (contiguousInner && !strides.empty())
    strides.back() = 1;
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides));
}

/// States that the last dimension is contiguous. Not by memref.cast: casts fold
/// into the loads behind them and lose what they state.
static Value assumeContiguousInner(OpBuilder &builder, Value buffer) {
  Location loc = buffer.getLoc();
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  bool isStrided = succeeded(type.getStridesAndOffset(strides, offset));
  if (type.getRank() == 0 || (isStrided && strides.back() == 1))
    return buffer;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  SmallVector<OpFoldResult> newStrides = metadata.getConstifiedMixedStrides();
  newStrides.back() = builder.getIndexAttr(1);
  auto strided =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, [&] {
        SmallVector<int64_t> all(type.getRank(), ShapedType::kDynamic);
        all.back() = 1;
        return all;
      }());
  return memref::ReinterpretCastOp::create(
      builder, loc,
      MemRefType::get(type.getShape(), type.getElementType(), strided),
      metadata.getBaseBuffer(), metadata.getConstifiedMixedOffset(),
      metadata.getConstifiedMixedSizes(), newStrides);
}

/// The memory behind a tensor, with free strides.
static Value getBuffer(OpBuilder &builder, Value tensor, bool contiguousInner,
                       bool readOnly) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value buffer = bufferization::ToBufferOp::create(
      builder, tensor.getLoc(), getStridedMemRef(type, false), tensor,
      readOnly);
  return contiguousInner ? assumeContiguousInner(builder, buffer) : buffer;
}

Value linattn::getInputBuffer(OpBuilder &builder, Value tensor,
                              bool contiguousInner) {
  return getBuffer(builder, tensor, contiguousInner, /*readOnly=*/true);
}

Value linattn::getInPlaceBuffer(OpBuilder &builder, Value tensor) {
  return getBuffer(builder, tensor, /*contiguousInner=*/true,
                   /*readOnly=*/false);
}

static bufferization::MaterializeInDestinationOp getOnlySink(OpResult result) {
  if (!result.hasOneUse())
    return {};
  auto sink =
      dyn_cast<bufferization::MaterializeInDestinationOp>(*result.user_begin());
  if (!sink || sink.getSource() != result ||
      !isa<MemRefType>(sink.getDest().getType()))
    return {};
  DominanceInfo dominance;
  if (!dominance.properlyDominates(sink.getDest(), result.getOwner()))
    return {};
  return sink;
}

Value linattn::getResultBuffer(OpBuilder &builder, OpResult result,
                               ArrayRef<OpFoldResult> sizes,
                               bool contiguousInner) {
  Location loc = result.getLoc();
  auto type = cast<RankedTensorType>(result.getType());
  if (auto sink = getOnlySink(result)) {
    Value buffer = sink.getDest();
    return contiguousInner ? assumeContiguousInner(builder, buffer) : buffer;
  }
  SmallVector<Value> dynamic;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (type.isDynamicDim(d))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return memref::AllocOp::create(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      dynamic);
}

void linattn::replaceWithBuffer(OpBuilder &builder, OpResult result,
                                Value buffer) {
  if (auto sink = getOnlySink(result)) {
    sink->erase();
    return;
  }
  if (result.use_empty())
    return;
  Value tensor = bufferization::ToTensorOp::create(
      builder, result.getLoc(), result.getType(), buffer, /*restrict=*/true,
      /*writable=*/true);
  result.replaceAllUsesWith(tensor);
}

BlockArgument linattn::getInPlaceArgument(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return {};
  SequenceOp op = SequenceOp::dynCast(result.getOwner());
  if (!op || !op.getSlots())
    return {};
  unsigned outputs = op.getNumOutputs();
  unsigned number = result.getResultNumber();
  if (number < outputs || number >= outputs + op.getNumStates())
    return {};
  auto argument = dyn_cast<BlockArgument>(op.getStates()[number - outputs]);
  if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    return {};
  return argument;
}
