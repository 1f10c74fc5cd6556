//===- FrontConv.cpp - a convolution in front of a token operand ----------===//

#include "FrontConv.h"

#include "../Common/ConvolveToken.h"
#include "../Common/DeviceOps.h"
#include "StepEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

FrontConv::FrontConv(const KernelSignature &signature,
                     ArrayRef<GlobalTensor> tensors, ShortConvOp op)
    : op(op), input(tensors[*signature.getOperand(op.getInput())]),
      weight(tensors[*signature.getOperand(op.getWeight())]) {
  if (Value operand = op.getBias())
    bias = tensors[*signature.getOperand(operand)];
  if (Value operand = op.getWindow()) {
    if (std::optional<unsigned> index = signature.getOperand(operand))
      window = tensors[*index];
    else
      fill = signature.getConstant(operand).getValueAsDouble();
  }
  for (unsigned target : signature.getFinalWindow(op))
    finalWindows.push_back(tensors[target]);
}

/// Element `indices` of a tensor.
static Value elementPointer(KernelFrame &frame, const GlobalTensor &tensor,
                            ArrayRef<Value> indices) {
  Value offset;
  for (auto [i, index] : llvm::enumerate(indices)) {
    Value part = i < tensor.strides.size()
                     ? frame.mulI(index, tensor.strides[i])
                     : index;
    offset = offset ? frame.addI(offset, part) : part;
  }
  return frame.advance(tensor.pointer, tensor.type.getElementType(), offset);
}

static Value loadElementF32(KernelFrame &frame, const GlobalTensor &tensor,
                            ArrayRef<Value> indices) {
  return frame.toF32(frame.load(tensor.type.getElementType(),
                                elementPointer(frame, tensor, indices)));
}

Value FrontConv::rowPointer(KernelFrame &frame, Value channel) const {
  SmallVector<Value> indices = {frame.i64(0), channel};
  if (!op.isPacked())
    indices.insert(indices.begin(), frame.toI64(frame.sequence));
  return elementPointer(frame, input, indices);
}

Value FrontConv::offsetOf(KernelFrame &frame, Value channel) const {
  unsigned dim = op.isPacked() ? 1 : 2;
  return dim < input.strides.size() ? frame.mulI(channel, input.strides[dim])
                                    : channel;
}

Value FrontConv::loadWeight(KernelFrame &frame, Value channel,
                            int64_t j) const {
  return loadElementF32(frame, weight, {channel, frame.i64(j)});
}

Value FrontConv::loadBias(KernelFrame &frame, Value channel) const {
  return loadElementF32(frame, *bias, {channel});
}

Value FrontConv::windowPointer(KernelFrame &frame, Value channel,
                               Value j) const {
  return elementPointer(frame, *window,
                        {frame.toI64(frame.sequence), channel, j});
}

Value FrontConv::loadWindow(KernelFrame &frame, Value channel, Value j) const {
  if (!window)
    return frame.f32(fill);
  return frame.toF32(frame.load(window->type.getElementType(),
                                windowPointer(frame, channel, j)));
}

Value FrontConv::loadInput(KernelFrame &frame, Value channel,
                           Value token) const {
  OpBuilder &builder = frame.builder;
  Type element = input.type.getElementType();
  Value isBefore = frame.isLess(token, frame.begin);
  Value place =
      frame.addI(arith::SubIOp::create(builder, frame.loc, token, frame.begin),
                 frame.i64(getDepth()));
  Value pointer = frame.advance(rowPointer(frame, channel), element,
                                frame.mulI(token, tokenStride()));
  // No branch, so that nothing waits for one load before the next.
  if (window && window->type.getElementType() == element) {
    Value before = windowPointer(frame, channel, place);
    return frame.toF32(
        frame.load(element, frame.select(isBefore, before, pointer)));
  }
  auto branch =
      scf::IfOp::create(builder, frame.loc, TypeRange(builder.getF32Type()),
                        isBefore, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, frame.loc, loadWindow(frame, channel, place));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, frame.loc,
                       frame.toF32(frame.load(element, pointer)));
  return branch.getResult(0);
}

//===----------------------------------------------------------------------===//
// Elements of the operand
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> innerShape(BlockArgument arg) {
  auto vector = dyn_cast<VectorType>(arg.getType());
  return vector ? vector.getShape() : ArrayRef<int64_t>();
}

static int64_t countChannels(BlockArgument arg) {
  int64_t channels = 1;
  for (int64_t size : innerShape(arg))
    channels *= size;
  return channels;
}

void StepEvaluator::publishFronts() {
  if (fronts.empty())
    return;
  int64_t threads = frame.plan.threads, next = 0;
  // Few tokens: registers hold the states, and nothing is kept for the next
  // token, no address either.
  Value thread = frame.thread;
  if (frame.plan.decoding)
    thread = emitThreadIndexHere(frame.builder, frame.loc);
  for (auto [arg, front] : fronts) {
    int64_t channels = countChannels(arg);
    int64_t slot = frontSlots[arg] = shared.allocate(channels);
    // Threads of their own, as far as there are.
    if (next + channels > threads)
      next = 0;
    for (int64_t first = 0; first < channels; first += threads) {
      int64_t count = std::min(threads, channels - first);
      Value local = frame.hoisted({thread}, [&]() -> Value {
        Value own = frame.addI(thread, frame.i32(first - next));
        return arith::MaxSIOp::create(
            frame.builder, frame.loc,
            frame.minI(own, frame.i32(first + count - 1)), frame.i32(first));
      });
      Value inside;
      if (count < threads)
        inside = frame.hoisted({thread}, [&]() -> Value {
          Value own = frame.addI(thread, frame.i32(-next));
          // Unsigned, so that one comparison does for both ends.
          return arith::CmpIOp::create(frame.builder, frame.loc,
                                       arith::CmpIPredicate::ult, own,
                                       frame.i32(count));
        });
      frame.when(inside, [&, arg = arg, front = front] {
        frame.store(frame.toF32(convolved(arg, *front, local)),
                    shared.address(slot, local), sizeof(float));
      });
    }
    next = channels < threads ? next + channels : 0;
  }
  frame.barrier();
}

Value StepEvaluator::convolvedElement(BlockArgument arg, ArrayRef<Coord> at) {
  Value place = toValue(linearize(at, innerShape(arg)));
  Value element =
      frame.load(frame.builder.getF32Type(),
                 shared.address(frontSlots.lookup(arg), place), sizeof(float));
  return frame.fromF32(element, getElementTypeOrSelf(arg.getType()));
}

/// The inputs are carried from token to token, those before the first come from
/// the window. Rounded where a kernel of its own would round. The last token
/// leaves the window that remains.
Value StepEvaluator::convolved(BlockArgument arg, const FrontConv &front,
                               Value local) {
  auto operand = cast<RankedTensorType>(
      frame.op.getTokens()[arg.getArgNumber()].getType());
  int64_t heads = operand.getDimSize(frame.op.getHeadDim());
  Value channel = frame.hoisted({local}, [&] {
    return frame.addI(
        frame.mulI(frame.operandHead(heads), frame.i64(countChannels(arg))),
        frame.toI64(local));
  });
  auto invariant = [&](llvm::function_ref<Value()> build) {
    return frame.hoisted({channel}, build);
  };
  SmallVector<Value> weights;
  for (int64_t j : llvm::seq(front.getWidth()))
    weights.push_back(
        invariant([&] { return front.loadWeight(frame, channel, j); }));
  Value bias;
  if (front.bias)
    bias = invariant([&] { return front.loadBias(frame, channel); });
  SmallVector<Value> values;
  if (frame.isInvariant(channel))
    values = carriedInputs(front, channel);
  else
    for (int64_t j : llvm::seq(front.getWidth()))
      values.push_back(front.loadInput(
          frame, channel,
          frame.addI(frame.token, frame.i64(j - front.getDepth()))));
  Value sum =
      emitConvolution(frame, weights, values, bias, front.op.getActivation());
  Value element = frame.fromF32(sum, getElementTypeOrSelf(arg.getType()));
  if (!front.finalWindows.empty()) {
    Value next = frame.addI(frame.token, frame.i64(1));
    Value isLast = arith::CmpIOp::create(
        frame.builder, frame.loc, arith::CmpIPredicate::eq, next, frame.end);
    Value writes = arith::AndIOp::create(frame.builder, frame.loc, isLast,
                                         ownsWindow(frame, operand));
    frame.when(writes, [&] {
      front.storeWindow(frame, channel, ArrayRef(values).drop_front());
    });
  }
  return element;
}

SmallVector<Value> StepEvaluator::carriedInputs(const FrontConv &front,
                                                Value channel) {
  OpBuilder &builder = frame.builder;
  Type type = front.input.type.getElementType();
  Value row =
      frame.hoisted({}, [&] { return front.rowPointer(frame, frame.i64(0)); });
  Value own =
      frame.hoisted({channel}, [&] { return front.offsetOf(frame, channel); });
  Value current = prefetch(
      type, row, front.tokenStride(), [=, &frame = frame](Value place) {
        return frame.load(type, frame.advance(place, type, own));
      });
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(current);
  Value next = frame.toF32(current);
  SmallVector<Value> values = {next};
  for (int64_t j : llvm::reverse(llvm::seq(front.getDepth()))) {
    builder.setInsertionPoint(frame.firstTokenEnd);
    Value first = front.loadWindow(frame, channel, frame.i64(j));
    builder.setInsertionPointToStart(frame.token.getParentBlock());
    Value placeholder = emitPlaceholder(builder.getF32Type());
    handedOn.push_back({placeholder, first, next});
    values.insert(values.begin(), placeholder);
    next = placeholder;
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Windows that remain
//===----------------------------------------------------------------------===//

Value simt::ownsWindow(KernelFrame &frame, RankedTensorType operand) {
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  auto isZero = [&](Value number) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number,
                                 frame.i32(0));
  };
  int64_t heads = operand.getDimSize(frame.op.getHeadDim());
  Value group = frame.i32(frame.op.getNumHeads() / heads);
  Value inGroup = arith::RemUIOp::create(builder, loc, frame.head, group);
  return arith::AndIOp::create(builder, loc, isZero(frame.slice),
                               isZero(inGroup));
}

void FrontConv::storeWindow(KernelFrame &frame, Value channel,
                            ArrayRef<Value> inputs) const {
  for (const GlobalTensor &tensor : finalWindows)
    for (auto [j, input] : llvm::enumerate(inputs))
      frame.store(
          frame.fromF32(input, tensor.type.getElementType()),
          elementPointer(frame, tensor,
                         {frame.toI64(frame.sequence), channel, frame.i64(j)}));
}

void simt::storeFinalWindow(KernelFrame &frame, const FrontConv &front,
                            RankedTensorType operand) {
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  unsigned headDim = frame.op.getHeadDim();
  int64_t heads = operand.getDimSize(headDim), channels = 1;
  for (int64_t size : operand.getShape().drop_front(headDim + 1))
    channels *= size;
  Value group = frame.i32(frame.op.getNumHeads() / heads);
  Value head = arith::DivUIOp::create(builder, loc, frame.head, group);
  Value base = frame.mulI(frame.toI64(head), frame.i64(channels));
  auto store = [&](Value channel) {
    SmallVector<Value> inputs;
    for (int64_t j : llvm::seq(front.getDepth()))
      inputs.push_back(front.loadInput(
          frame, channel,
          frame.addI(frame.end, frame.i64(j - front.getDepth()))));
    front.storeWindow(frame, channel, inputs);
  };
  int64_t threads = frame.plan.threads;
  frame.when(ownsWindow(frame, operand), [&] {
    for (int64_t first = 0; first < channels; first += threads) {
      Value local = frame.addI(frame.thread, frame.i32(first));
      Value inside = first + threads > channels
                         ? frame.isLess(local, frame.i32(channels))
                         : Value();
      frame.when(inside, [&] { store(frame.addI(base, frame.toI64(local))); });
    }
  });
}
