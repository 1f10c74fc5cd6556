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
      evaluator(frame, shared, dependent), ahead(frame, shared, dependent) {
  for (unsigned i : llvm::seq(op.getNumStates()))
    states.emplace_back(frame, op.getStateType(i));
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

LogicalResult KernelBuilder::run(Operation *owner, StringRef name) {
  module = owner;
  OpBuilder::InsertionGuard guard(builder);
  KernelFunction kernel =
      createKernel(frame, module, name, signature, plan.threads, plan.blocks);
  tensors = std::move(kernel.tensors);
  frame.time = kernel.time;
  numSequences = kernel.numSequences;
  bindFronts();
  bindArguments(evaluator);
  emitPosition();
  shared.begin((name + "_shared").str());
  if (plan.decoding && fronts.empty()) {
    ahead.begin((name + "_ahead").str());
    evaluator.setTurn(ahead);
  }
  Value valid = frame.isLess(frame.toI64(frame.sequence), numSequences);
  frame.when(valid, [&] {
    emitBounds();
    emitSlot();
  });
  return shared.finish(module);
}

void KernelBuilder::bindFronts() {
  // Evaluators keep their addresses.
  fronts.reserve(signature.getFronts().size());
  for (Value operand : op.getTokens())
    if (ShortConvOp conv = getFront(operand)) {
      fronts.emplace_back(signature, tensors, conv);
      fronted.push_back(operand);
    }
}

void KernelBuilder::bindArguments(StepEvaluator &to) {
  unsigned front = 0;
  for (auto [arg, operand] : llvm::zip(op.getTokenArgs(), op.getTokens())) {
    if (getFront(operand))
      to.bind(arg, fronts[front++]);
    else
      to.bind(arg, tensors[*signature.getOperand(operand)]);
  }
  for (auto [arg, operand] : llvm::zip(op.getParamArgs(), op.getParams()))
    to.bind(arg, tensors[*signature.getOperand(operand)]);
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
  // Threads of `laneStride` column groups, for each lane; then the next groups.
  auto [upper, position] = divide(frame.thread, plan.laneStride * plan.lanes);
  auto [lane, group] = divide(position, plan.laneStride);
  frame.lane = lane;
  group = frame.addI(frame.mulI(upper, frame.i32(plan.laneStride)), group);
  Value first = frame.addI(frame.mulI(frame.slice, frame.i32(plan.width)),
                           frame.mulI(group, frame.i32(plan.vector)));
  for (int64_t part : llvm::seq(plan.vector))
    frame.columns.push_back(frame.addBounded(first, part));
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
  // An empty sequence has no first token to load.
  Value any = frame.isLess(frame.begin, frame.end);
  auto branch = scf::IfOp::create(builder, frame.loc, any,
                                  /*withElseRegion=*/true);
  frame.preambleEnd = branch;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  for (unsigned i : llvm::seq(op.getNumStates()))
    if (ArrayRef<unsigned> results = resultsOf(i); !results.empty())
      storeState(i, loadState(i), results);
  storeWindows();

  // The tokens' loads before those of the states: what is computed from them
  // does not wait for the states.
  builder.setInsertionPointToStart(branch.thenBlock());
  frame.firstTokenEnd = frame.i32(0).getDefiningOp();
  SmallVector<Value> initial;
  for (unsigned i : llvm::seq(op.getNumStates()))
    StateRowsBuilder::append(loadState(i), initial);
  SmallVector<Value> ends = emitTokens(initial);
  unsigned next = 0;
  for (unsigned i : llvm::seq(op.getNumStates())) {
    SmallVector<unsigned> targets(resultsOf(i));
    if (op.getSlots())
      targets.push_back(*signature.getOperand(op.getStates()[i]));
    storeState(i, states[i].take(ends, next), targets);
  }
}

ArrayRef<unsigned> KernelBuilder::resultsOf(unsigned state) {
  return signature.getResult(op.getNumOutputs() + state);
}

StateRows KernelBuilder::loadState(unsigned state) {
  Value operand = op.getStates()[state];
  std::optional<unsigned> index = signature.getOperand(operand);
  if (!index)
    return states[state].fill(signature.getConstant(operand));
  const GlobalTensor &tensor = tensors[*index];
  return states[state].load(stateBase(tensor, stateRow), rowStride(tensor),
                            tensor.type.getElementType());
}

void KernelBuilder::storeState(unsigned state, const StateRows &rows,
                               ArrayRef<unsigned> targets) {
  for (unsigned target : targets) {
    const GlobalTensor &tensor = tensors[target];
    // A result of its own is [N, ..] or, a pool, [P, ..]: the rows of the
    // operand either way.
    states[state].store(rows, stateBase(tensor, stateRow), rowStride(tensor),
                        tensor.type.getElementType());
  }
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::emitTokens(ArrayRef<Value> initial) {
  Location loc = frame.loc;
  SmallVector<DecayOp> compensated;
  for (auto decay : op.getBody()->getOps<DecayOp>())
    if (!decay.getLinear() && !isa<VectorType>(decay.getGate().getType()))
      compensated.push_back(decay);
  SmallVector<unsigned> waiting = llvm::filter_to_vector(
      llvm::seq(op.getNumStates()), [&](unsigned i) { return hasPending(i); });
  SmallVector<Value> carried(initial);
  carried.append(waiting.size(), frame.f32(1));
  carried.append(compensated.size(), frame.f32(0));
  auto ends =
      op.getBody()->getTerminator()->getOperands().take_back(op.getNumStates());
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
    for (unsigned i : waiting)
      pending[op.getStateArgs()[i]] = loop.getRegionIterArg(next++);
    for (DecayOp decay : compensated)
      lost[decay] = loop.getRegionIterArg(next++);
    // Without states scf.for brings its own, empty terminator.
    if (initial.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    shared.beginToken();
    if (ahead.isUsed())
      ahead.beginToken();
    emitToken();
    if (!initial.empty()) {
      SmallVector<Value> yielded;
      for (Value state : ends)
        StateRowsBuilder::append(versions[state], yielded);
      for (unsigned i : waiting)
        yielded.push_back(pending[ends[i]] ? pending[ends[i]] : frame.f32(1));
      for (DecayOp decay : compensated)
        yielded.push_back(lost[decay]);
      scf::YieldOp::create(builder, loc, yielded);
    }
  }
  ahead.finish(module, [&](StepEvaluator &to) { bindArguments(to); });
  auto replaced = cast<scf::ForOp>(evaluator.finish());
  frame.loop = nullptr;
  ValueRange results = replaced.getResults();
  SmallVector<Value> settledRows;
  unsigned next = 0, nextFactor = initial.size();
  for (unsigned i : llvm::seq(op.getNumStates())) {
    StateRows rows = states[i].take(results, next);
    if (llvm::is_contained(waiting, i))
      rows = states[i].scale(rows, results[nextFactor++]);
    StateRowsBuilder::append(rows, settledRows);
  }
  return settledRows;
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
  if (!ahead.isUsed())
    publishKeys(order);
  for (Operation *inner : order)
    if (isa<DecayOp, ReadOp, WriteOp>(inner))
      emitStateOp(inner);
  storeOutputs();
  if (op.getSnapshots())
    storeSnapshots();
}

/// 1/x, to about half a unit in the last place.
static Value emitReciprocal(KernelFrame &frame, Value x) {
  OpBuilder &builder = frame.builder;
  Value y = emitReciprocalApprox(builder, frame.loc, x);
  Value minus = arith::NegFOp::create(builder, frame.loc, x);
  Value error = math::FmaOp::create(builder, frame.loc, minus, y, frame.f32(1));
  return math::FmaOp::create(builder, frame.loc, y, error, y);
}

void KernelBuilder::emitStateOp(Operation *inner) {
  StateRowsBuilder rows(frame, cast<StateType>(inner->getOperand(0).getType()));
  const StateRows &before = versions[inner->getOperand(0)];
  if (auto read = dyn_cast<ReadOp>(inner)) {
    SmallVector<Value, 4> elements = sumOverLanes(
        rows.dot(before, evaluator.rows(read.getKey(), /*exponential=*/false)));
    Value factor = pending.lookup(inner->getOperand(0));
    if (std::optional<APFloat> scale = read.getScale()) {
      Value number = frame.f32(scale->convertToDouble());
      factor =
          factor
              ? Value(arith::MulFOp::create(builder, frame.loc, factor, number))
              : number;
    }
    if (factor)
      for (Value &element : elements)
        element = arith::MulFOp::create(builder, frame.loc, element, factor);
    evaluator.bindRead(read, elements);
    return;
  }
  StateRows after;
  if (auto write = dyn_cast<WriteOp>(inner)) {
    SmallVector<Value, 4> values;
    for (unsigned part : llvm::seq(plan.vector))
      values.push_back(evaluator.atColumnF32(write.getValue(), part));
    if (Value factor = pending.lookup(inner->getOperand(0))) {
      Value inverse = emitReciprocal(frame, factor);
      for (Value &value : values)
        value = arith::MulFOp::create(builder, frame.loc, value, inverse);
      pending[inner->getResult(0)] = factor;
    }
    if (plan.keysTwice)
      evaluator.forgetRows();
    after = rows.addOuter(
        before, evaluator.rows(write.getKey(), /*exponential=*/false), values);
  } else {
    auto decay = cast<DecayOp>(inner);
    bool exponential = !decay.getLinear();
    if (isa<VectorType>(decay.getGate().getType())) {
      after = rows.scale(before, evaluator.rows(decay.getGate(), exponential));
      pending[inner->getResult(0)] = pending.lookup(inner->getOperand(0));
    } else {
      Value factor = scalarFactor(decay);
      if (decaysWait())
        return decayLater(decay, factor);
      after = rows.scale(before, factor);
    }
  }
  versions[inner->getResult(0)] = std::move(after);
}

/// The same in all lanes of a column: they add in the same order.
SmallVector<Value, 4> KernelBuilder::sumOverLanes(SmallVector<Value, 4> sums) {
  Location loc = frame.loc;
  auto add = [&](Value a, Value b) -> Value {
    return arith::AddFOp::create(builder, loc, a, b);
  };
  int64_t together = plan.lanesOfWarp();
  for (int64_t lane = 1; lane < together; lane *= 2)
    for (Value &sum : sums)
      sum = add(sum, emitShuffleXor(builder, loc, sum, lane * plan.laneStride));
  if (together == plan.lanes)
    return sums;
  // Of other warps: through shared memory, all columns of a thread at once.
  int64_t slot = shared.allocate(plan.threads * plan.vector);
  unsigned bytes = plan.vector * sizeof(float);
  Type f32 = builder.getF32Type(), type = f32;
  Value all = sums[0];
  if (plan.vector != 1) {
    type = VectorType::get(plan.vector, f32);
    all = LLVM::PoisonOp::create(builder, loc, type);
    for (auto [part, sum] : llvm::enumerate(sums))
      all = LLVM::InsertElementOp::create(builder, loc, all, sum,
                                          frame.i32(part));
  }
  auto place = [&](int64_t first, Value thread) {
    return shared.address(slot + first * plan.vector,
                          frame.mulI(thread, frame.i32(plan.vector)));
  };
  frame.store(all, place(0, frame.thread), bytes);
  frame.barrier();
  // The thread of the first warp that has these columns.
  int64_t piece = together * plan.laneStride;
  Value own = frame.hoisted({}, [&]() -> Value {
    int64_t all = plan.lanes * plan.laneStride;
    Value inPiece =
        arith::RemUIOp::create(builder, loc, frame.thread, frame.i32(piece));
    if (all == plan.threads)
      return inPiece;
    Value upper =
        arith::DivUIOp::create(builder, loc, frame.thread, frame.i32(all));
    return frame.addI(frame.mulI(upper, frame.i32(all)), inPiece);
  });
  SmallVector<Value> ofLanes;
  for (int64_t first = 0; first < plan.lanes; first += together)
    ofLanes.push_back(
        frame.load(type, place(first * plan.laneStride, own), bytes));
  for (auto [part, sum] : llvm::enumerate(sums)) {
    SmallVector<Value> parts(ofLanes);
    if (plan.vector != 1)
      for (Value &value : parts)
        value = LLVM::ExtractElementOp::create(builder, loc, value,
                                               frame.i32(part));
    for (size_t count = parts.size(); count > 1; count /= 2)
      for (size_t i = 0; i < count / 2; ++i)
        parts[i] = add(parts[2 * i], parts[2 * i + 1]);
    sum = parts[0];
  }
  return sums;
}

/// Factors that wait lie between these: their inverses, and rows without them,
/// are far from the ends of f32.
static constexpr double kLeastPending = 0x1p-30, kMostPending = 0x1p30;

bool KernelBuilder::hasPending(unsigned state) {
  if (!decaysWait())
    return false;
  Value version = op.getBody()->getTerminator()->getOperands().take_back(
      op.getNumStates())[state];
  for (Operation *def; (def = version.getDefiningOp());
       version = def->getOperand(0))
    if (auto decay = dyn_cast<DecayOp>(def);
        decay && !isa<VectorType>(decay.getGate().getType()))
      return true;
  return false;
}

Value KernelBuilder::scalarFactor(DecayOp decay) {
  Value gate = decay.getGate();
  if (decay.getLinear())
    return evaluator.elementF32(gate, {});
  return emitCompensated(frame, logDecay(gate), lost[decay]);
}

/// A product per element less for each token: reads are multiplied by the
/// factor, values of writes divided by it. Once it is small or large it is
/// applied.
void KernelBuilder::decayLater(DecayOp decay, Value factor) {
  Location loc = frame.loc;
  Value before = decay->getOperand(0), after = decay->getResult(0);
  if (Value old = pending.lookup(before))
    factor = arith::MulFOp::create(builder, loc, old, factor);
  Value size = math::AbsFOp::create(builder, loc, factor);
  auto compare = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    return arith::CmpFOp::create(builder, loc, predicate, size,
                                 frame.f32(bound));
  };
  Value waits = arith::AndIOp::create(
      builder, loc, compare(arith::CmpFPredicate::OGE, kLeastPending),
      compare(arith::CmpFPredicate::OLE, kMostPending));
  StateRowsBuilder rows(frame, cast<StateType>(before.getType()));
  SmallVector<Value> kept, applied;
  StateRowsBuilder::append(versions[before], kept);
  SmallVector<Type> types(kept.size() + 1, builder.getF32Type());
  auto branch = scf::IfOp::create(builder, loc, types, waits,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    kept.push_back(factor);
    scf::YieldOp::create(builder, loc, kept);
    builder.setInsertionPointToStart(branch.elseBlock());
    StateRowsBuilder::append(rows.scale(versions[before], factor), applied);
    applied.push_back(frame.f32(1));
    scf::YieldOp::create(builder, loc, applied);
  }
  unsigned next = 0;
  versions[after] = rows.take(branch.getResults(), next);
  pending[after] = branch.getResults().back();
}

StateRows KernelBuilder::settled(Value version) {
  Value factor = pending.lookup(version);
  if (!factor)
    return versions[version];
  StateRowsBuilder rows(frame, cast<StateType>(version.getType()));
  return rows.scale(versions[version], factor);
}

LogDecay KernelBuilder::logDecay(Value gate) {
  if (LogDecay decay = ahead.decay(gate); decay.factor)
    return decay;
  return emitLogDecay(frame, evaluator.elementF32(gate, {}));
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
    // Row by row, of each the columns of this thread.
    int64_t parts = inner == 1 ? 1 : plan.vector;
    SmallVector<Value> elements;
    for (int64_t row : llvm::seq(outer))
      for (int64_t part : llvm::seq(parts)) {
        SmallVector<Coord, 2> at;
        if (vector && vector.getRank() == 2)
          at.push_back(row);
        if (vector)
          at.push_back(evaluator.columnOf(inner, part));
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
          offset = frame.addI(offset, frame.toI64(frame.columns[0]));
        return frame.advance(tensor.pointer, element, offset);
      });
      auto store = [&](ArrayRef<int64_t> some) {
        Value at =
            frame.advance(base, element,
                          frame.mulI(frame.token, tensor.strides[headDim - 1]));
        for (int64_t row : llvm::seq(outer)) {
          Value place = at;
          if (vector && vector.getRank() == 2)
            place = frame.advance(
                at, element,
                frame.mulI(frame.i64(row), tensor.strides[headDim + 1]));
          for (int64_t part : some)
            frame.store(elements[row * parts + part],
                        frame.advance(place, element, frame.i64(part)));
        }
      };
      auto all = llvm::to_vector(llvm::seq(parts));
      if (inner % parts == 0) {
        frame.when(frame.ownsColumn(inner), [&] { store(all); });
        continue;
      }
      for (int64_t part : all)
        frame.when(frame.ownsColumn(inner, part), [&] { store(part); });
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
        states[i].store(settled(yielded[i]), base, rowStride(tensor),
                        tensor.type.getElementType());
      }
  });
}
