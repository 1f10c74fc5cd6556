//===- AttentionTilesOp.cpp - attention on tiles --------------------------===//

#include "StepVerifier.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;

RankedTensorType AttentionTilesOp::getTileType(Value value, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape = {rows};
  llvm::append_range(shape, type.getShape().drop_front(getHeadDim() + 1));
  return RankedTensorType::get(shape, type.getElementType());
}

void AttentionTilesOp::getAsmBlockArgumentNames(Region &region,
                                                OpAsmSetValueNameFn setName) {
  bool isStep = region.getRegionNumber() == 0;
  SmallVector<StringRef> names = {"b", "h", "t"};
  if (isStep)
    names.append({"j", "allowed"});
  names.append(getQueries().size(), "q");
  if (isStep)
    names.append(getKeys().size(), "k");
  names.append(getNumCarried(), "c");
  for (auto [arg, name] : llvm::zip(region.getArguments(), names))
    setName(arg, name);
}

LogicalResult AttentionTilesOp::verify() {
  for (auto [name, size] :
       {std::pair("query", getQueryTile()), std::pair("key", getKeyTile())})
    if (size < 4 || size > 256 || !llvm::isPowerOf2_64(size))
      return emitOpError() << "(attention_tiles_c1) the " << name
                           << " tile is a power of 2 from 4 to 256, got "
                           << size;
  if (getHeads() < 1 || getHeads() > kMaxHeads)
    return emitOpError() << "(attention_tiles_c3) the heads are from 1 to "
                         << kMaxHeads << ", got " << getHeads();
  struct Group {
    StringRef kind;
    OperandRange operands;
    ArrayAttr maps;
  };
  for (Group group : {Group{"query", getQueries(), getQueryHeads()},
                      Group{"key", getKeys(), getKeyHeads()}}) {
    if (group.operands.empty())
      return emitOpError() << "(attention_tiles_c2) there is at least one "
                           << group.kind << " operand";
    if (group.maps.size() != group.operands.size())
      return emitOpError() << "(attention_tiles_c3) there is one map per "
                           << group.kind << " operand, "
                           << group.operands.size() << ", got "
                           << group.maps.size();
    for (auto [operand, attr] :
         llvm::zip(group.operands, group.maps.getAsRange<AffineMapAttr>())) {
      auto type = cast<RankedTensorType>(operand.getType());
      int64_t head = getHeadDim();
      bool fits = type.getRank() > head;
      for (int64_t d = head; fits && d < type.getRank(); ++d)
        fits = !type.isDynamicDim(d) && type.getDimSize(d) > 0;
      if (!fits)
        return emitOpError()
               << "(attention_tiles_c2) a " << group.kind << " operand is ["
               << (isPacked() ? "" : "B, ")
               << "T, H, ..] with static, positive sizes from H on, got "
               << type;
      AffineMap map = attr.getValue();
      int64_t count = type.getDimSize(head);
      if (map.getNumDims() != 1 || map.getNumSymbols() != 0 ||
          map.getNumResults() != 1)
        return emitOpError()
               << "(attention_tiles_c3) a map takes a head to a head, got "
               << attr;
      for (int64_t h = 0; h < getHeads(); ++h) {
        SmallVector<int64_t> to = map.compose(ArrayRef<int64_t>{h});
        if (to[0] < 0 || to[0] >= count)
          return emitOpError()
                 << "(attention_tiles_c3) " << attr << " takes head " << h
                 << " to a head below " << count << ", got " << to[0];
      }
    }
  }
  for (Value offsets : {getSeqlens(), getKvSeqlens()})
    if (offsets && cast<RankedTensorType>(offsets.getType()).getRank() != 1)
      return emitOpError()
             << "(attention_tiles_c4) seqlens and kv_seqlens are [N + 1], got "
             << offsets.getType();
  if (getKvSeqlens() && !getSeqlens())
    return emitOpError("(attention_tiles_c4) kv_seqlens asks for seqlens");
  if (getWindow() && (*getWindow() < 1 || *getWindow() > kMaxWindow))
    return emitOpError() << "(attention_tiles_c4) the window is from 1 to "
                         << kMaxWindow << ", got " << *getWindow();
  return success();
}

LogicalResult AttentionTilesOp::verifyRegions() {
  Builder builder(getContext());
  Type index = builder.getIndexType();
  SmallVector<Type> stepTypes(4, index), finishTypes(3, index);
  stepTypes.push_back(RankedTensorType::get({getQueryTile(), getKeyTile()},
                                            builder.getI1Type()));
  for (Value query : getQueries()) {
    stepTypes.push_back(getTileType(query, getQueryTile()));
    finishTypes.push_back(getTileType(query, getQueryTile()));
  }
  for (Value key : getKeys())
    stepTypes.push_back(getTileType(key, getKeyTile()));
  Block *step = getStepBlock(), *finish = getFinishBlock();
  auto isCarried = [&](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile && tile.hasStaticShape() && tile.getRank() >= 1 &&
           tile.getDimSize(0) == getQueryTile() &&
           (tile.getElementType().isF32() || tile.getElementType().isF64());
  };
  size_t carried = getNumCarried();
  SmallVector<Type> all(step->getArgumentTypes());
  if (all.size() != stepTypes.size() + carried ||
      ArrayRef<Type>(all).drop_back(carried) != ArrayRef<Type>(stepTypes) ||
      !llvm::all_of(ArrayRef<Type>(all).take_back(carried), isCarried))
    return emitOpError() << "(attention_tiles_c5) step takes (" << stepTypes
                         << ") and " << carried << " carried tile(s) of "
                         << getQueryTile() << " rows in f32 or f64, got ("
                         << step->getArgumentTypes() << ")";
  SmallVector<Type> carriedTypes(ArrayRef<Type>(all).take_back(carried));
  llvm::append_range(finishTypes, carriedTypes);
  if (!llvm::equal(finish->getArgumentTypes(), finishTypes))
    return emitOpError() << "(attention_tiles_c5) finish takes (" << finishTypes
                         << "), got (" << finish->getArgumentTypes() << ")";
  for (Block *block : {step, finish})
    for (Operation &op : block->without_terminator())
      if (!isPure(&op))
        return op.emitOpError("(attention_tiles_c7) is not allowed in a tile: "
                              "its operations are pure");
  auto yielded = [](Block *block) {
    auto yield = dyn_cast_or_null<YieldOp>(
        block->mightHaveTerminator() ? block->getTerminator() : nullptr);
    return yield ? SmallVector<Type>(yield.getOperandTypes())
                 : SmallVector<Type>();
  };
  if (yielded(step) != carriedTypes)
    return emitOpError() << "(attention_tiles_c6) step yields (" << carriedTypes
                         << "), got (" << yielded(step) << ")";
  SmallVector<Type> outputs;
  for (auto [i, result] : llvm::enumerate(getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getRank() <= (int64_t)getHeadDim() ||
        type.getDimSize(getHeadDim()) != getHeads())
      return emitOpError() << "(attention_tiles_c6) result " << i << " is ["
                           << (isPacked() ? "" : "B, ") << "T, " << getHeads()
                           << ", ..], got " << type;
    outputs.push_back(getTileType(result, getQueryTile()));
  }
  if (yielded(finish) != outputs)
    return emitOpError() << "(attention_tiles_c6) finish yields (" << outputs
                         << "), got (" << yielded(finish) << ")";
  return success();
}

LogicalResult
AttentionTilesOp::reifyResultShapes(OpBuilder &builder,
                                    ReifiedRankedShapedTypeDims &reified) {
  SmallVector<OpFoldResult> rows =
      tensor::getMixedSizes(builder, getLoc(), getQueries().front());
  rows.resize(getHeadDim());
  for (Value result : getResults()) {
    SmallVector<OpFoldResult> sizes = rows;
    for (int64_t size : cast<RankedTensorType>(result.getType())
                            .getShape()
                            .drop_front(getHeadDim()))
      sizes.push_back(builder.getIndexAttr(size));
    reified.push_back(sizes);
  }
  return success();
}
