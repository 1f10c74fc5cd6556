//===- KernelBuilder.cpp - builds the kernel of a recurrence --------------===//

#include "KernelBuilder.h"

#include "../Common/DeviceOps.h"

#include "linattn/Conversion/Fronts.h"
#include "linattn/Conversion/StepSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

KernelBuilder::KernelBuilder(const KernelSignature &signature,
                             const KernelPlan &plan,
                             const llvm::DenseSet<Value> &dependent,
                             OpBuilder &builder)
    : signature(signature), plan(plan),
      op(cast<RecurrenceOp>(signature.getOp().getOperation())),
      builder(builder), frame(op, plan, builder), shared(frame),
      evaluator(frame, shared, dependent) {
  for (unsigned i : llvm::seq(op.getNumStates()))
    states.emplace_back(frame, op.getStateType(i));
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::run(Operation *module, StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  KernelFunction kernel =
      createKernel(frame, module, name, signature, plan.threads, plan.blocks);
  tensors = std::move(kernel.tensors);
  frame.time = kernel.time;
  numSequences = kernel.numSequences;
  bindArguments();
  emitPosition();
  shared.begin((name + "_shared").str());
  Value valid = frame.isLess(frame.toI64(frame.sequence), numSequences);
  frame.when(valid, [&] {
    emitBounds();
    emitSlot();
  });
  return shared.finish(module);
}

void KernelBuilder::bindArguments() {
  // The evaluator keeps their addresses.
  fronts.reserve(signature.getFronts().size());
  for (auto [arg, operand] : llvm::zip(op.getTokenArgs(), op.getTokens())) {
    ShortConvOp conv = getFront(operand);
    if (!conv) {
      evaluator.bind(arg, tensors[*signature.getOperand(operand)]);
      continue;
    }
    fronts.emplace_back(signature, tensors, conv);
    fronted.push_back(operand);
    evaluator.bind(arg, fronts.back());
  }
  for (auto [arg, operand] : llvm::zip(op.getParamArgs(), op.getParams()))
    evaluator.bind(arg, tensors[*signature.getOperand(operand)]);
}

void KernelBuilder::emitSlot() {
  stateRow = frame.sequence;
  if (!op.getSlots())
    return emitSequence();
  stateRow = loadOffset(op.getSlots(), frame.sequence);
  Value used =
      arith::CmpIOp::create(builder, frame.loc, arith::CmpIPredicate::ne,
                            stateRow, frame.i64(op.getPaddingSlot()));
  frame.when(used, [&] { emitSequence(); });
  if (fronts.empty())
    return;
  // Convolutions know nothing of slots: their windows are written for all.
  Value unused =
      arith::CmpIOp::create(builder, frame.loc, arith::CmpIPredicate::eq,
                            stateRow, frame.i64(op.getPaddingSlot()));
  frame.when(unused, [&] { storeWindows(); });
}

void KernelBuilder::storeWindows() {
  for (auto [front, operand] : llvm::zip_equal(fronts, fronted))
    if (!front.finalWindows.empty())
      storeFinalWindow(frame, front, cast<RankedTensorType>(operand.getType()));
}

/// Block index = (sequence * H + head) * slices + slice.
void KernelBuilder::emitPosition() {
  Location loc = frame.loc;
  auto divide = [&](Value a, int64_t by) -> std::pair<Value, Value> {
    if (by == 1)
      return {a, frame.i32(0)};
    Value divisor = frame.i32(by);
    return {arith::DivUIOp::create(builder, loc, a, divisor),
            arith::RemUIOp::create(builder, loc, a, divisor)};
  };
  Value rest;
  std::tie(rest, frame.slice) =
      divide(emitBlockIndex(builder, loc), plan.slices);
  std::tie(frame.sequence, frame.head) = divide(rest, op.getNumHeads());
  frame.thread = emitThreadIndex(builder, loc);
  Value local;
  if (plan.lanesAcrossWarps)
    std::tie(frame.lane, local) = divide(frame.thread, plan.width);
  else
    std::tie(local, frame.lane) = divide(frame.thread, plan.lanes);
  frame.column =
      frame.addI(frame.mulI(frame.slice, frame.i32(plan.width)), local);
}

Value KernelBuilder::loadOffset(Value operand, Value at) {
  const GlobalTensor &tensor = tensors[*signature.getOperand(operand)];
  Type element = tensor.type.getElementType();
  Value offset = frame.mulI(frame.toI64(at), tensor.strides[0]);
  return frame.toI64(
      frame.load(element, frame.advance(tensor.pointer, element, offset)));
}

//===----------------------------------------------------------------------===//
// Sequences and states
//===----------------------------------------------------------------------===//

Value KernelBuilder::stateBase(const GlobalTensor &tensor, Value row,
                               Value second) {
  SmallVector<Value, 3> indices = {frame.toI64(row)};
  if (second)
    indices.push_back(frame.toI64(second));
  indices.push_back(frame.toI64(frame.head));
  Value offset;
  for (auto [index, stride] : llvm::zip(indices, tensor.strides)) {
    Value part = frame.mulI(index, stride);
    offset = offset ? frame.addI(offset, part) : part;
  }
  return frame.advance(tensor.pointer, tensor.type.getElementType(), offset);
}

/// The stride between rows of K: the inner dimension V is contiguous.
static Value rowStride(const GlobalTensor &tensor) {
  return tensor.strides.back();
}

void KernelBuilder::emitBounds() {
  frame.begin = frame.i64(0);
  frame.end = frame.time;
  if (op.isPacked()) {
    frame.begin = loadOffset(op.getSeqlens(), frame.sequence);
    Value next = frame.addI(frame.sequence, frame.i32(1));
    frame.end = loadOffset(op.getSeqlens(), next);
  }
}

void KernelBuilder::emitSequence() {
  SmallVector<Value> initial;
  for (auto [i, state] : llvm::enumerate(op.getStates())) {
    StateRows rows;
    if (std::optional<unsigned> index = signature.getOperand(state)) {
      const GlobalTensor &tensor = tensors[*index];
      rows = states[i].load(stateBase(tensor, stateRow), rowStride(tensor),
                            tensor.type.getElementType());
    } else {
      rows = states[i].fill(signature.getConstant(state));
    }
    StateRowsBuilder::append(rows, initial);
  }

  // An empty sequence has no first token to load.
  Value any = frame.isLess(frame.begin, frame.end);
  auto branch =
      scf::IfOp::create(builder, frame.loc, TypeRange(ValueRange(initial)), any,
                        /*withElseRegion=*/true);
  frame.preambleEnd = branch;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitTokens(initial);
    builder.setInsertionPointToStart(branch.elseBlock());
    storeWindows();
    scf::YieldOp::create(builder, frame.loc, initial);
  }

  unsigned next = 0;
  for (auto [i, state] : llvm::enumerate(op.getStates())) {
    StateRows rows = states[i].take(branch.getResults(), next);
    SmallVector<unsigned> targets(signature.getResult(op.getNumOutputs() + i));
    if (op.getSlots())
      targets.push_back(*signature.getOperand(state));
    for (unsigned target : targets) {
      const GlobalTensor &tensor = tensors[target];
      // A result of its own is [N, ..] or, a pool, [P, ..]: the rows of the
      // operand either way.
      states[i].store(rows, stateBase(tensor, stateRow), rowStride(tensor),
                      tensor.type.getElementType());
    }
  }
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

void KernelBuilder::emitTokens(ArrayRef<Value> initial) {
  Location loc = frame.loc;
  SmallVector<DecayOp> compensated;
  for (auto decay : op.getBody()->getOps<DecayOp>())
    if (!decay.getLinear() && !isa<VectorType>(decay.getGate().getType()))
      compensated.push_back(decay);
  SmallVector<Value> carried(initial);
  carried.append(compensated.size(), frame.f32(0));
  auto loop = scf::ForOp::create(builder, loc, frame.begin, frame.end,
                                 frame.i64(1), carried);
  frame.loop = loop;
  frame.token = loop.getInductionVar();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    unsigned next = 0;
    for (auto [i, arg] : llvm::enumerate(op.getStateArgs()))
      versions[arg] = states[i].take(loop.getRegionIterArgs(), next);
    for (DecayOp decay : compensated)
      lost[decay] = loop.getRegionIterArg(next++);
    // Without states scf.for brings its own, empty terminator.
    if (initial.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    shared.beginToken();
    emitToken();
    if (!initial.empty()) {
      SmallVector<Value> yielded;
      for (Value state : op.getBody()->getTerminator()->getOperands().take_back(
               op.getNumStates()))
        StateRowsBuilder::append(versions[state], yielded);
      for (DecayOp decay : compensated)
        yielded.push_back(lost[decay]);
      scf::YieldOp::create(builder, loc, yielded);
    }
  }
  auto replaced = cast<scf::ForOp>(evaluator.finish());
  frame.loop = nullptr;
  scf::YieldOp::create(builder, loc,
                       replaced.getResults().take_front(initial.size()));
}

void KernelBuilder::publishKeys(ArrayRef<Operation *> order) {
  bool any = false;
  auto publish = [&](Value vector, bool exponential) {
    if (!isa<VectorType>(vector.getType()))
      return;
    evaluator.publish(vector, exponential);
    any = true;
  };
  for (Operation *inner : order) {
    if (auto decay = dyn_cast<DecayOp>(inner))
      publish(decay.getGate(), !decay.getLinear());
    else if (auto read = dyn_cast<ReadOp>(inner))
      publish(read.getKey(), false);
    else if (auto write = dyn_cast<WriteOp>(inner))
      publish(write.getKey(), false);
  }
  if (any)
    frame.barrier();
}

void KernelBuilder::emitToken() {
  // Reads before the update that ends their version: fewer registers.
  SmallVector<Operation *> order = scheduleStep(*op.getBody());
  evaluator.publishFronts();
  publishKeys(order);
  for (Operation *inner : order)
    if (isa<DecayOp, ReadOp, WriteOp>(inner))
      emitStateOp(inner);
  storeOutputs();
  if (op.getSnapshots())
    storeSnapshots();
}

void KernelBuilder::emitStateOp(Operation *inner) {
  StateRowsBuilder rows(frame, cast<StateType>(inner->getOperand(0).getType()));
  const StateRows &before = versions[inner->getOperand(0)];
  if (auto read = dyn_cast<ReadOp>(inner)) {
    Value element = sumOverLanes(
        rows.dot(before, evaluator.rows(read.getKey(), /*exponential=*/false)));
    if (std::optional<APFloat> scale = read.getScale())
      element = arith::MulFOp::create(builder, frame.loc, element,
                                      frame.f32(scale->convertToDouble()));
    evaluator.bindRead(read, element);
    return;
  }
  StateRows after;
  if (auto write = dyn_cast<WriteOp>(inner)) {
    Value value = frame.toF32(evaluator.atColumn(write.getValue()));
    after = rows.addOuter(
        before, evaluator.rows(write.getKey(), /*exponential=*/false), value);
  } else {
    auto decay = cast<DecayOp>(inner);
    bool exponential = !decay.getLinear();
    if (isa<VectorType>(decay.getGate().getType())) {
      after = rows.scale(before, evaluator.rows(decay.getGate(), exponential));
    } else {
      Value factor = frame.toF32(evaluator.scalar(decay.getGate()));
      if (exponential)
        factor = compensatedExp(factor, lost[decay]);
      after = rows.scale(before, factor);
    }
  }
  versions[inner->getResult(0)] = std::move(after);
}

/// The same in all lanes of a column: they add in the same order.
Value KernelBuilder::sumOverLanes(Value part) {
  Location loc = frame.loc;
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddFOp::create(builder, loc, a, b);
  };
  if (!plan.lanesAcrossWarps) {
    for (int64_t mask = 1; mask < plan.lanes; mask *= 2)
      part = add(part, emitShuffleXor(builder, loc, part, mask));
    return part;
  }
  int64_t slot = shared.allocate(plan.threads);
  frame.store(part, shared.address(slot, frame.thread), sizeof(float));
  frame.barrier();
  Value own = frame.hoisted({}, [&]() -> Value {
    return arith::RemUIOp::create(builder, loc, frame.thread,
                                  frame.i32(plan.width));
  });
  SmallVector<Value> parts;
  for (int64_t lane : llvm::seq(plan.lanes))
    parts.push_back(frame.load(builder.getF32Type(),
                               shared.address(slot + lane * plan.width, own),
                               sizeof(float)));
  for (size_t count = parts.size(); count > 1; count /= 2)
    for (size_t i = 0; i < count / 2; ++i)
      parts[i] = add(parts[2 * i], parts[2 * i + 1]);
  return parts[0];
}

/// e^g for one token, in f32, such that the product over many tokens does not
/// drift: what rounding took from this factor, and from those before it, goes
/// to the next. A gate that is the same for every token would otherwise err the
/// same way each time, 1e-5 after a thousand. Only factors in [1/2, 1] last
/// long enough to need it.
Value KernelBuilder::compensatedExp(Value gate, Value &carry) {
  Location loc = frame.loc;
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddFOp::create(builder, loc, a, b);
  };
  auto sub = [&](Value a, Value b) -> Value {
    return arith::SubFOp::create(builder, loc, a, b);
  };
  Value factor = math::ExpOp::create(builder, loc, gate);
  Value minusOne = math::ExpM1Op::create(builder, loc, gate);
  auto compare = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, factor,
                                 frame.f32(bound));
  };
  Value lasting = arith::AndIOp::create(
      builder, loc, compare(arith::CmpFPredicate::OGE, 0.5),
      compare(arith::CmpFPredicate::OLE, 1.0));
  // factor - 1 is exact here, so this is what rounding e^g lost.
  Value rest = add(sub(minusOne, sub(factor, frame.f32(1))), carry);
  Value corrected = add(factor, rest);
  Value left = add(sub(factor, corrected), rest);
  carry = arith::SelectOp::create(builder, loc, lasting, left, frame.f32(0));
  return arith::SelectOp::create(builder, loc, lasting, corrected, factor);
}

void KernelBuilder::storeOutputs() {
  unsigned headDim = op.getHeadDim();
  auto yield = op.getBody()->getTerminator();
  for (unsigned i : llvm::seq(op.getNumOutputs())) {
    ArrayRef<unsigned> targets = signature.getResult(i);
    if (targets.empty())
      continue;
    Value value = yield->getOperand(i);
    auto vector = dyn_cast<VectorType>(value.getType());
    int64_t inner = vector ? vector.getShape().back() : 1;
    int64_t outer = vector && vector.getRank() == 2 ? vector.getDimSize(0) : 1;
    SmallVector<Value> elements;
    for (int64_t row : llvm::seq(outer)) {
      SmallVector<Coord, 2> at;
      if (vector && vector.getRank() == 2)
        at.push_back(row);
      if (vector)
        at.push_back(evaluator.columnOf(inner));
      elements.push_back(evaluator.evaluate(value, at));
    }
    for (unsigned target : targets) {
      const GlobalTensor &tensor = tensors[target];
      Type element = tensor.type.getElementType();
      Value base = frame.hoisted({}, [&] {
        Value offset =
            frame.mulI(frame.toI64(frame.head), tensor.strides[headDim]);
        if (!op.isPacked())
          offset = frame.addI(offset, frame.mulI(frame.toI64(frame.sequence),
                                                 tensor.strides[0]));
        if (vector)
          offset = frame.addI(offset, frame.toI64(frame.column));
        return frame.advance(tensor.pointer, element, offset);
      });
      frame.when(frame.ownsColumn(inner), [&] {
        Value at =
            frame.advance(base, element,
                          frame.mulI(frame.token, tensor.strides[headDim - 1]));
        for (auto [row, stored] : llvm::enumerate(elements)) {
          Value place = at;
          if (outer != 1 || (vector && vector.getRank() == 2))
            place = frame.advance(
                at, element,
                frame.mulI(frame.i64(row), tensor.strides[headDim + 1]));
          frame.store(stored, place);
        }
      });
    }
  }
}

/// The states after every C-th token of the sequence and after its last.
void KernelBuilder::storeSnapshots() {
  Location loc = frame.loc;
  int64_t every = *op.getSnapshots();
  Value local = arith::SubIOp::create(builder, loc, frame.token, frame.begin);
  Value due;
  if (every != 1) {
    Value count = frame.addI(local, frame.i64(1));
    Value rest = arith::RemUIOp::create(builder, loc, count, frame.i64(every));
    Value full = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       rest, frame.i64(0));
    Value next = frame.addI(frame.token, frame.i64(1));
    Value last = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       next, frame.end);
    due = arith::OrIOp::create(builder, loc, full, last);
  }
  auto yielded =
      op.getBody()->getTerminator()->getOperands().take_back(op.getNumStates());
  frame.when(due, [&] {
    Value chunk = local;
    if (every != 1)
      chunk = arith::DivUIOp::create(builder, loc, local, frame.i64(every));
    Value row = frame.sequence, second = chunk;
    if (op.isPacked()) {
      second = {};
      row = frame.token;
      if (every != 1) {
        Value base =
            arith::DivUIOp::create(builder, loc, frame.begin, frame.i64(every));
        base = frame.addI(base, frame.toI64(frame.sequence));
        row = frame.addI(base, chunk);
      }
    }
    for (unsigned i : llvm::seq(op.getNumStates()))
      for (unsigned target :
           signature.getResult(op.getNumOutputs() + op.getNumStates() + i)) {
        const GlobalTensor &tensor = tensors[target];
        Value base = emitOpaque(builder, loc, stateBase(tensor, row, second));
        states[i].store(versions[yielded[i]], base, rowStride(tensor),
                        tensor.type.getElementType());
      }
  });
}
