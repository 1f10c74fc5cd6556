//===- RecurrenceOp.cpp - the recurrence operation ------------------------===//

#include "StepVerifier.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace linattn;

//===----------------------------------------------------------------------===//
// Assembly: lists of `%value : type`
//===----------------------------------------------------------------------===//

static ParseResult
parseTypedOperands(OpAsmParser &parser,
                   SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                   SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    return failure(parser.parseOperand(operands.emplace_back()) ||
                   parser.parseColonType(types.emplace_back()));
  });
}

static void printTypedOperands(OpAsmPrinter &printer, Operation *,
                               OperandRange operands, TypeRange types) {
  llvm::interleaveComma(operands, printer, [&](Value operand) {
    printer << operand << " : " << operand.getType();
  });
}

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

unsigned RecurrenceOp::getNumOutputs() {
  unsigned perState = getSnapshots() ? 2 : 1;
  unsigned states = perState * getNumStates();
  return states > getNumResults() ? 0 : getNumResults() - states;
}

ResultRange RecurrenceOp::getOutputs() {
  return getResults().take_front(getNumOutputs());
}

ResultRange RecurrenceOp::getFinalStates() {
  return getResults().slice(getNumOutputs(), getNumStates());
}

ResultRange RecurrenceOp::getSnapshotStates() {
  return getResults().drop_front(getNumOutputs() + getNumStates());
}

int64_t RecurrenceOp::getNumHeads() {
  int64_t heads = 1;
  for (Value token : getTokens())
    heads = std::max(
        heads,
        cast<RankedTensorType>(token.getType()).getDimSize(getHeadDim()));
  for (Value param : getParams())
    heads =
        std::max(heads, cast<RankedTensorType>(param.getType()).getDimSize(0));
  for (Value state : getStates())
    heads =
        std::max(heads, cast<RankedTensorType>(state.getType()).getDimSize(1));
  return heads;
}

Block::BlockArgListType RecurrenceOp::getTokenArgs() {
  return getBody()->getArguments().take_front(getTokens().size());
}

Block::BlockArgListType RecurrenceOp::getParamArgs() {
  return getBody()->getArguments().slice(getTokens().size(),
                                         getParams().size());
}

Block::BlockArgListType RecurrenceOp::getStateArgs() {
  return getBody()->getArguments().take_back(getNumStates());
}

StateType RecurrenceOp::getStateType(unsigned i) {
  return cast<StateType>(getStateArgs()[i].getType());
}

void RecurrenceOp::getAsmBlockArgumentNames(Region &region,
                                            OpAsmSetValueNameFn setName) {
  if (region.empty() ||
      region.getNumArguments() < getTokens().size() + getParams().size())
    return;
  for (auto [i, arg] : llvm::enumerate(region.getArguments())) {
    if (i < getTokens().size())
      setName(arg, "t");
    else if (i < getTokens().size() + getParams().size())
      setName(arg, "p");
    else
      setName(arg, "s");
  }
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The step's view of an operand whose dimensions from `leading` on belong to
/// one token and head: a scalar or a vector.
static Type getStepType(RankedTensorType type, unsigned leading) {
  if (type.getRank() == leading)
    return type.getElementType();
  return VectorType::get(type.getShape().drop_front(leading),
                         type.getElementType());
}

/// Static dimensions that must agree: remembers the first and reports others.
namespace {
struct SameSize {
  int64_t size = ShapedType::kDynamic;
  bool agrees(int64_t other) {
    if (ShapedType::isDynamic(other))
      return true;
    if (ShapedType::isDynamic(size))
      size = other;
    return size == other;
  }
};
} // namespace

LogicalResult RecurrenceOp::verify() {
  if (getTokens().empty())
    return emitOpError("(recurrence_c1) there is at least one token operand");
  if (getNumResults() == 0)
    return emitOpError("(recurrence_c9) there is at least one result");

  unsigned leading = getHeadDim() + 1;
  SameSize batch, time;
  // (kind, index, type, dimension of the heads)
  struct Item {
    StringRef kind;
    unsigned index;
    RankedTensorType type;
    unsigned headDim;
  };
  SmallVector<Item> items;
  for (auto [i, token] : llvm::enumerate(getTokens())) {
    auto type = cast<RankedTensorType>(token.getType());
    if (type.getRank() < leading || type.getRank() > leading + 2)
      return emitOpError() << "(recurrence_c2) token operand " << i
                           << " has rank " << leading << " to " << leading + 2
                           << (isPacked() ? " with" : " without")
                           << " seqlens, got " << type;
    items.push_back({"token operand", (unsigned)i, type, getHeadDim()});
    if (!isPacked() && !batch.agrees(type.getDimSize(0)))
      return emitOpError() << "(recurrence_c5) token operand " << i
                           << " has B = " << batch.size
                           << " like the others, got " << type.getDimSize(0);
    if (!time.agrees(type.getDimSize(getHeadDim() - 1)))
      return emitOpError() << "(recurrence_c5) token operand " << i
                           << " has T = " << time.size
                           << " like the others, got "
                           << type.getDimSize(getHeadDim() - 1);
  }
  for (auto [i, param] : llvm::enumerate(getParams())) {
    auto type = cast<RankedTensorType>(param.getType());
    if (type.getRank() < 1 || type.getRank() > 3)
      return emitOpError() << "(recurrence_c2) parameter " << i
                           << " has rank 1 to 3, [H, ..], got " << type;
    items.push_back({"parameter", (unsigned)i, type, 0});
  }
  for (auto [i, state] : llvm::enumerate(getStates())) {
    auto type = cast<RankedTensorType>(state.getType());
    if (type.getRank() != 4)
      return emitOpError() << "(recurrence_c6) state operand " << i
                           << " is [N, H, K, V], got " << type;
    items.push_back({"state operand", (unsigned)i, type, 1});
  }
  for (const Item &item : items) {
    int64_t elements = 1;
    for (int64_t d = item.headDim; d < item.type.getRank(); ++d) {
      int64_t size = item.type.getDimSize(d);
      if (item.type.isDynamicDim(d) || size < 1)
        return emitOpError()
               << "(recurrence_c3) " << item.kind << " " << item.index
               << " has static, positive head count and trailing dimensions, "
                  "got "
               << item.type;
      // recurrence_c6 bounds K and V.
      if (d != item.headDim && item.kind == "state operand")
        continue;
      bool tooLarge = d == item.headDim ? size > kMaxHeads
                                        : size > kMaxVectorElements / elements;
      if (tooLarge)
        return emitOpError()
               << "(recurrence_c3) " << item.kind << " " << item.index
               << " has at most " << kMaxHeads << " heads and "
               << kMaxVectorElements << " elements per head, got " << item.type;
      if (d != item.headDim)
        elements *= size;
    }
  }
  int64_t heads = getNumHeads();
  for (const Item &item : items) {
    int64_t own = item.type.getDimSize(item.headDim);
    if (heads % own != 0)
      return emitOpError() << "(recurrence_c4) the head count of " << item.kind
                           << " " << item.index << " divides the largest, "
                           << heads << ", got " << own;
  }

  SameSize sequences;
  if (Value seqlens = getSeqlens()) {
    auto type = cast<RankedTensorType>(seqlens.getType());
    if (type.getRank() != 1 || type.getDimSize(0) == 0)
      return emitOpError() << "(recurrence_c10) seqlens is [N + 1], got "
                           << type;
    if (!type.isDynamicDim(0))
      sequences.size = type.getDimSize(0) - 1;
  } else {
    sequences.size = batch.size;
  }
  if (Value slots = getSlots()) {
    auto type = cast<RankedTensorType>(slots.getType());
    if (type.getRank() != 1)
      return emitOpError() << "(recurrence_c11) slots is [N], got " << type;
    if (!sequences.agrees(type.getDimSize(0)))
      return emitOpError()
             << "(recurrence_c11) slots has one element per sequence, N = "
             << sequences.size << ", got " << type.getDimSize(0);
    if (getStates().empty())
      return emitOpError("(recurrence_c11) slots asks for a state operand");
  }
  if (getPadding()) {
    if (!getSlots())
      return emitOpError("(recurrence_c11) padding asks for slots");
    if (*getPadding() >= 0)
      return emitOpError() << "(recurrence_c11) padding is negative, got "
                           << *getPadding();
  }
  if (std::optional<int64_t> every = getSnapshots()) {
    if (*every < 1)
      return emitOpError()
             << "(recurrence_c12) the period of snapshots is positive, got "
             << *every;
    if (getStates().empty())
      return emitOpError("(recurrence_c12) snapshots asks for a state operand");
  }
  for (auto [i, state] : llvm::enumerate(getStates())) {
    auto type = cast<RankedTensorType>(state.getType());
    if (type.getDimSize(1) != heads)
      return emitOpError() << "(recurrence_c6) state operand " << i
                           << " has the largest head count, H = " << heads
                           << ", got " << type.getDimSize(1);
    if (type.getDimSize(2) > kMaxStateDim || type.getDimSize(3) > kMaxStateDim)
      return emitOpError() << "(recurrence_c6) state operand " << i
                           << " has K and V from 1 to " << kMaxStateDim
                           << ", got " << type;
    if (!getSlots() && !sequences.agrees(type.getDimSize(0)))
      return emitOpError() << "(recurrence_c6) state operand " << i
                           << " has one state per sequence, N = "
                           << sequences.size << ", got " << type.getDimSize(0);
  }
  return success();
}

/// Whether the result type is `shape` (dynamic sizes fit any) of `element`.
static bool hasShape(Type type, ArrayRef<int64_t> shape, Type element) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.getElementType() != element ||
      tensor.getRank() != (int64_t)shape.size())
    return false;
  for (auto [got, want] : llvm::zip(tensor.getShape(), shape))
    if (!ShapedType::isDynamic(got) && !ShapedType::isDynamic(want) &&
        got != want)
      return false;
  return true;
}

LogicalResult RecurrenceOp::verifyRegions() {
  unsigned leading = getHeadDim() + 1;
  SmallVector<Type> expected;
  for (Value token : getTokens())
    expected.push_back(
        getStepType(cast<RankedTensorType>(token.getType()), leading));
  for (Value param : getParams())
    expected.push_back(getStepType(cast<RankedTensorType>(param.getType()), 1));
  for (Value state : getStates()) {
    auto type = cast<RankedTensorType>(state.getType());
    expected.push_back(StateType::get(getContext(), type.getDimSize(2),
                                      type.getDimSize(3),
                                      cast<FloatType>(type.getElementType())));
  }
  Block &body = *getBody();
  if (body.getNumArguments() != expected.size())
    return emitOpError() << "(recurrence_c7) the step takes " << expected.size()
                         << " arguments (tokens, params, states), got "
                         << body.getNumArguments();
  for (auto [i, want] : llvm::enumerate(expected))
    if (body.getArgument(i).getType() != want)
      return emitOpError() << "(recurrence_c7) argument " << i
                           << " of the step is " << want << ", got "
                           << body.getArgument(i).getType();

  if (failed(verifyStepOperations(body, "recurrence_c13", "step")))
    return failure();
  for (Operation &op : body.without_terminator()) {
    bool touchesState =
        llvm::any_of(op.getOperandTypes(), llvm::IsaPred<StateType>) ||
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<StateType>);
    if (touchesState && !isa<DecayOp, ReadOp, WriteOp, DeltaUpdateOp>(op))
      return op.emitOpError("(recurrence_c14) is not allowed on a state: only "
                            "decay, read, write and delta_update are");
  }

  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return emitOpError()
           << "(recurrence_c8) the step ends with linattn.yield, got "
           << body.getTerminator()->getName();
  unsigned states = getNumStates();
  unsigned wantResults = yield.getNumOperands() + (getSnapshots() ? states : 0);
  if (yield.getNumOperands() < states)
    return yield.emitOpError()
           << "(recurrence_c8) yields the outputs and then " << states
           << " state(s), got " << yield.getNumOperands() << " value(s)";
  if (getNumResults() != wantResults)
    return emitOpError() << "(recurrence_c9) has " << wantResults
                         << " result(s) for " << yield.getNumOperands()
                         << " yielded value(s), got " << getNumResults();

  unsigned outputs = yield.getNumOperands() - states;
  auto tokenShape = cast<RankedTensorType>(getTokens()[0].getType()).getShape();
  for (unsigned i = 0; i < outputs; ++i) {
    Type type = yield.getOperand(i).getType();
    Type element = getElementTypeOrSelf(type);
    if (!isa<FloatType>(element))
      return yield.emitOpError()
             << "(recurrence_c8) output " << i
             << " is a float or a vector of floats, got " << type;
    if (auto vector = dyn_cast<VectorType>(type);
        vector && (vector.isScalable() || vector.getRank() > 2))
      return yield.emitOpError()
             << "(recurrence_c8) output " << i
             << " is a scalar or a vector of rank 1 or 2, got " << type;
    SmallVector<int64_t> shape(tokenShape.take_front(leading - 1));
    shape.push_back(getNumHeads());
    if (auto vector = dyn_cast<VectorType>(type))
      shape.append(vector.getShape().begin(), vector.getShape().end());
    if (!hasShape(getResult(i).getType(), shape, element))
      return emitOpError() << "(recurrence_c9) result " << i << " is "
                           << RankedTensorType::get(shape, element) << ", got "
                           << getResult(i).getType();
  }
  for (unsigned i = 0; i < states; ++i) {
    Type got = yield.getOperand(outputs + i).getType();
    if (got != getStateArgs()[i].getType())
      return yield.emitOpError()
             << "(recurrence_c8) state " << i << " is "
             << getStateArgs()[i].getType() << ", got " << got;
    auto stateType = cast<RankedTensorType>(getStates()[i].getType());
    if (getResult(outputs + i).getType() != stateType)
      return emitOpError() << "(recurrence_c9) result " << outputs + i
                           << " has the state operand's type " << stateType
                           << ", got " << getResult(outputs + i).getType();
    if (!getSnapshots())
      continue;
    SmallVector<int64_t> shape;
    if (!isPacked())
      shape.push_back(tokenShape[0]);
    int64_t time = tokenShape[getHeadDim() - 1];
    int64_t every = *getSnapshots();
    bool isStatic = !ShapedType::isDynamic(time) && (!isPacked() || every == 1);
    shape.push_back(isStatic ? llvm::divideCeil(time, every)
                             : ShapedType::kDynamic);
    llvm::append_range(shape, stateType.getShape().drop_front(1));
    Type snapshot = getResult(outputs + states + i).getType();
    if (!hasShape(snapshot, shape, stateType.getElementType()))
      return emitOpError() << "(recurrence_c9) result " << outputs + states + i
                           << " is "
                           << RankedTensorType::get(shape,
                                                    stateType.getElementType())
                           << ", got " << snapshot;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes of the results
//===----------------------------------------------------------------------===//

LogicalResult
RecurrenceOp::reifyResultShapes(OpBuilder &builder,
                                ReifiedRankedShapedTypeDims &reified) {
  Location loc = getLoc();
  Value first = getTokens().front();
  unsigned timeDim = getHeadDim() - 1;
  auto staticSizes = [&](Value result, unsigned from) {
    SmallVector<OpFoldResult> sizes;
    for (int64_t size :
         cast<RankedTensorType>(result.getType()).getShape().drop_front(from))
      sizes.push_back(builder.getIndexAttr(size));
    return sizes;
  };
  for (Value output : getOutputs()) {
    SmallVector<OpFoldResult> sizes;
    for (unsigned d = 0; d <= timeDim; ++d)
      sizes.push_back(tensor::getMixedSize(builder, loc, first, d));
    llvm::append_range(sizes, staticSizes(output, getHeadDim()));
    reified.push_back(sizes);
  }
  for (Value state : getStates())
    reified.push_back(tensor::getMixedSizes(builder, loc, state));
  for (Value snapshot : getSnapshotStates()) {
    int64_t every = *getSnapshots();
    SmallVector<OpFoldResult> sizes;
    if (!isPacked())
      sizes.push_back(tensor::getMixedSize(builder, loc, first, 0));
    OpFoldResult time = tensor::getMixedSize(builder, loc, first, timeDim);
    AffineExpr d0 = builder.getAffineDimExpr(0),
               d1 = builder.getAffineDimExpr(1);
    if (isPacked() && every > 1) {
      // T / C + N rows: every sequence may leave one part of a chunk.
      OpFoldResult offsets =
          tensor::getMixedSize(builder, loc, getSeqlens(), 0);
      sizes.push_back(affine::makeComposedFoldedAffineApply(
          builder, loc, d0.floorDiv(every) + d1 - 1, {time, offsets}));
    } else {
      sizes.push_back(affine::makeComposedFoldedAffineApply(
          builder, loc, d0.ceilDiv(every), {time}));
    }
    llvm::append_range(sizes, staticSizes(snapshot, isPacked() ? 1 : 2));
    reified.push_back(sizes);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

namespace {
/// Drops token operands and parameters that the step does not use. The first
/// token operand stays where no other would: it carries B and T. The largest
/// head count must stay too.
struct DropUnusedOperands : OpRewritePattern<RecurrenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RecurrenceOp op,
                                PatternRewriter &rewriter) const override {
    unsigned tokens = op.getTokens().size();
    unsigned params = op.getParams().size();
    int64_t heads = op.getNumHeads();
    for (unsigned i = 0; i < tokens + params; ++i) {
      if (!op.getBody()->getArgument(i).use_empty())
        continue;
      bool isToken = i < tokens;
      if (isToken && tokens == 1)
        continue;
      unsigned headDim = isToken ? op.getHeadDim() : 0;
      auto own = cast<RankedTensorType>(op->getOperand(i).getType())
                     .getDimSize(headDim);
      if (own == heads && op.getStates().empty())
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        if (isToken)
          op.getTokensMutable().erase(i);
        else
          op.getParamsMutable().erase(i - tokens);
        op.getBody()->eraseArgument(i);
      });
      return success();
    }
    return failure();
  }
};
} // namespace

void RecurrenceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<DropUnusedOperands>(context);
}

#define GET_OP_CLASSES
#include "linattn/Dialect/LinAttn/IR/LinAttnOps.cpp.inc"
