//===- ChunkedOp.cpp - a recurrence in chunks -----------------------------===//

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;

unsigned ChunkedOp::getNumOutputs() {
  unsigned states = (getSnapshots() ? 2 : 1) * getNumStates();
  return states > getNumResults() ? 0 : getNumResults() - states;
}

ResultRange ChunkedOp::getOutputs() {
  return getResults().take_front(getNumOutputs());
}
ResultRange ChunkedOp::getFinalStates() {
  return getResults().slice(getNumOutputs(), getNumStates());
}
ResultRange ChunkedOp::getSnapshotStates() {
  return getResults().drop_front(getNumOutputs() + getNumStates());
}

int64_t ChunkedOp::getNumHeads() {
  int64_t heads = 1;
  auto consider = [&](Value operand, unsigned dim) {
    heads = std::max(heads,
                     cast<RankedTensorType>(operand.getType()).getDimSize(dim));
  };
  for (Value token : getTokens())
    consider(token, getHeadDim());
  for (Value param : getParams())
    consider(param, 0);
  for (Value state : getStates())
    consider(state, 1);
  return heads;
}

Block::BlockArgListType ChunkedOp::getTokenArgs() {
  return getBlock()->getArguments().slice(1, getTokens().size());
}
Block::BlockArgListType ChunkedOp::getParamArgs() {
  return getBlock()->getArguments().slice(1 + getTokens().size(),
                                          getParams().size());
}
Block::BlockArgListType ChunkedOp::getStateArgs() {
  return getBlock()->getArguments().take_back(getNumStates());
}

void ChunkedOp::getAsmBlockArgumentNames(Region &region,
                                         OpAsmSetValueNameFn setName) {
  for (auto [i, arg] : llvm::enumerate(region.getArguments())) {
    if (i == 0)
      setName(arg, "valid");
    else if (i <= getTokens().size())
      setName(arg, "t");
    else if (i <= getTokens().size() + getParams().size())
      setName(arg, "p");
    else
      setName(arg, "s");
  }
}

LogicalResult ChunkedOp::verify() {
  int64_t chunk = getChunk();
  if (chunk < 4 || chunk > 128 || !llvm::isPowerOf2_64(chunk))
    return emitOpError()
           << "(chunked_c1) the chunk is a power of 2 from 4 to 128, got "
           << chunk;
  if (getTokens().empty())
    return emitOpError("(chunked_c2) there is at least one token operand");
  struct Item {
    StringRef kind;
    Value operand;
    int64_t headDim, least, most;
  };
  SmallVector<Item> items;
  int64_t head = getHeadDim();
  for (Value token : getTokens())
    items.push_back({"token operand", token, head, head + 1, head + 3});
  for (Value param : getParams())
    items.push_back({"parameter", param, 0, 1, 3});
  for (Value state : getStates())
    items.push_back({"state operand", state, 1, 4, 4});
  for (Item &item : items) {
    auto type = cast<RankedTensorType>(item.operand.getType());
    bool fits = type.getRank() >= item.least && type.getRank() <= item.most;
    for (int64_t d = item.headDim; fits && d < type.getRank(); ++d)
      fits = !type.isDynamicDim(d) && type.getDimSize(d) > 0;
    if (!fits)
      return emitOpError() << "(chunked_c2) a " << item.kind << " has rank "
                           << item.least << " to " << item.most
                           << " and static, positive sizes from dimension "
                           << item.headDim << " on, got " << type;
  }
  int64_t heads = getNumHeads();
  for (Item &item : items) {
    int64_t own =
        cast<RankedTensorType>(item.operand.getType()).getDimSize(item.headDim);
    if (heads % own != 0 || (item.kind == "state operand" && own != heads))
      return emitOpError() << "(chunked_c2) the head count of a " << item.kind
                           << " fits the largest, " << heads << ", got " << own;
  }
  if ((getSeqlens() &&
       cast<RankedTensorType>(getSeqlens().getType()).getRank() != 1) ||
      (getSlots() &&
       cast<RankedTensorType>(getSlots().getType()).getRank() != 1))
    return emitOpError("(chunked_c2) seqlens and slots have rank 1");
  if (std::optional<int64_t> every = getSnapshots();
      every && (*every < 1 || *every % chunk != 0 || getStates().empty()))
    return emitOpError()
           << "(chunked_c5) the period of snapshots is a multiple "
              "of the chunk, "
           << chunk << ", got " << *every;
  return success();
}

LogicalResult ChunkedOp::verifyRegions() {
  int64_t chunk = getChunk();
  Builder builder(getContext());
  SmallVector<Type> expected = {
      RankedTensorType::get({chunk}, builder.getI1Type())};
  for (Value token : getTokens()) {
    auto type = cast<RankedTensorType>(token.getType());
    SmallVector<int64_t> shape = {chunk};
    llvm::append_range(shape, type.getShape().drop_front(getHeadDim() + 1));
    expected.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  for (Value param : getParams()) {
    auto type = cast<RankedTensorType>(param.getType());
    expected.push_back(RankedTensorType::get(type.getShape().drop_front(),
                                             type.getElementType()));
  }
  for (Value state : getStates()) {
    auto type = cast<RankedTensorType>(state.getType());
    Type element = type.getElementType();
    if (!element.isF64())
      element = builder.getF32Type();
    expected.push_back(
        RankedTensorType::get(type.getShape().take_back(2), element));
  }
  Block &block = *getBlock();
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return emitOpError() << "(chunked_c3) the region takes (" << expected
                         << "), got (" << block.getArgumentTypes() << ")";
  for (Operation &op : block.without_terminator())
    if (!isPure(&op))
      return op.emitOpError(
          "(chunked_c6) is not allowed in a chunk: its operations are pure");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  unsigned outputs = getNumOutputs();
  unsigned results = outputs + (getSnapshots() ? 2 : 1) * getNumStates();
  if (getNumResults() != results)
    return emitOpError() << "(chunked_c4) has at least " << results
                         << " result(s) for " << getNumStates()
                         << " state(s), got " << getNumResults();
  if (!yield || yield.getNumOperands() != outputs + getNumStates())
    return emitOpError() << "(chunked_c4) the region yields " << outputs
                         << " output(s) and " << getNumStates() << " state(s)";
  for (auto [i, output] : llvm::enumerate(getOutputs())) {
    auto type = cast<RankedTensorType>(output.getType());
    if (type.getRank() < (int64_t)getHeadDim() + 1)
      return emitOpError() << "(chunked_c4) result " << i
                           << " is [B, T, H, ..], got " << type;
    SmallVector<int64_t> shape = {chunk};
    llvm::append_range(shape, type.getShape().drop_front(getHeadDim() + 1));
    Type want = RankedTensorType::get(shape, type.getElementType());
    if (yield.getOperand(i).getType() != want)
      return yield.emitOpError()
             << "(chunked_c4) output " << i << " is " << want << ", got "
             << yield.getOperand(i).getType();
  }
  for (auto [i, arg] : llvm::enumerate(getStateArgs())) {
    if (yield.getOperand(outputs + i).getType() != arg.getType())
      return yield.emitOpError()
             << "(chunked_c4) state " << i << " is " << arg.getType()
             << ", got " << yield.getOperand(outputs + i).getType();
    if (getFinalStates()[i].getType() != getStates()[i].getType())
      return emitOpError() << "(chunked_c4) result " << outputs + i
                           << " has the state operand's type "
                           << getStates()[i].getType() << ", got "
                           << getFinalStates()[i].getType();
  }
  for (auto [i, snapshot] : llvm::enumerate(getSnapshotStates())) {
    // [B, n, H, K, V], packed [n, H, K, V].
    auto state = cast<RankedTensorType>(getStates()[i].getType());
    auto type = cast<RankedTensorType>(snapshot.getType());
    int64_t leading = isPacked() ? 1 : 2;
    if (type.getElementType() != state.getElementType() ||
        type.getRank() != leading + 3 ||
        type.getShape().take_back(3) != state.getShape().take_back(3))
      return emitOpError() << "(chunked_c4) snapshot " << i << " is ["
                           << (isPacked() ? "" : "B, ")
                           << "n, H, K, V] with the last three sizes and the "
                              "element type of "
                           << state << ", got " << type;
  }
  return success();
}

LogicalResult
ChunkedOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &reified) {
  Location loc = getLoc();
  Value first = getTokens().front();
  unsigned timeDim = getHeadDim() - 1;
  auto append = [&](SmallVector<OpFoldResult> sizes, Value result,
                    unsigned from) {
    for (int64_t size :
         cast<RankedTensorType>(result.getType()).getShape().drop_front(from))
      sizes.push_back(builder.getIndexAttr(size));
    reified.push_back(sizes);
  };
  for (Value output : getOutputs()) {
    SmallVector<OpFoldResult> sizes;
    for (unsigned d = 0; d <= timeDim; ++d)
      sizes.push_back(tensor::getMixedSize(builder, loc, first, d));
    append(sizes, output, getHeadDim());
  }
  for (Value state : getStates())
    reified.push_back(tensor::getMixedSizes(builder, loc, state));
  for (Value snapshot : getSnapshotStates()) {
    int64_t every = *getSnapshots();
    SmallVector<OpFoldResult> sizes;
    if (!isPacked())
      sizes.push_back(tensor::getMixedSize(builder, loc, first, 0));
    OpFoldResult time = tensor::getMixedSize(builder, loc, first, timeDim);
    AffineExpr d0 = builder.getAffineDimExpr(0);
    AffineExpr d1 = builder.getAffineDimExpr(1);
    if (isPacked())
      sizes.push_back(affine::makeComposedFoldedAffineApply(
          builder, loc, d0.floorDiv(every) + d1 - 1,
          {time, tensor::getMixedSize(builder, loc, getSeqlens(), 0)}));
    else
      sizes.push_back(affine::makeComposedFoldedAffineApply(
          builder, loc, d0.ceilDiv(every), {time}));
    append(sizes, snapshot, isPacked() ? 1 : 2);
  }
  return success();
}
