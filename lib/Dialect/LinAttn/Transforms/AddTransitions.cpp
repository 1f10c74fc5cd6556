//===- AddTransitions.cpp - from a segment's start to its end -------------===//
//
// See the description of the pass in Passes.td. Which states need a matrix and
// which a diagonal is read off the normal form: M has the events of its state,
// and one without writes stays diagonal.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/LinAttn/Transforms/CoefficientBuilder.h"
#include "linattn/Dialect/LinAttn/Transforms/Normalize.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/StepBuilders.h"
#include "linattn/Dialect/LinAttn/Transforms/Transitions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace linattn {
#define GEN_PASS_DEF_ADDTRANSITIONSPASS
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

using Kind = StepEvent::Kind;

/// Whether a write of the state reads it, so that its transition is a matrix.
static bool isFull(const NormalForm &form, unsigned state) {
  return llvm::any_of(form.getChain(state), [](const StepEvent *event) {
    return event->kind == Kind::Write && !event->terms.empty();
  });
}

/// Sizes of the transition of a state: a matrix, or one column for its
/// diagonal.
static std::pair<int64_t, int64_t> shapeOf(const NormalForm &form,
                                           unsigned state) {
  int64_t keys = form.getRecurrence().getStateType(state).getKeys();
  if (isFull(form, state))
    return {keys, keys};
  bool perKey = llvm::any_of(form.getChain(state), [](const StepEvent *event) {
    return event->kind == Kind::Decay && event->perKey;
  });
  return {perKey ? keys : 1, 1};
}

static LogicalResult check(const NormalForm &form) {
  RecurrenceOp op = form.getRecurrence();
  for (const StepEvent &event : form.getEvents()) {
    if (event.kind != Kind::Write)
      continue;
    if (event.hasPerColumnTerm())
      return event.op->emitOpError(
          "cannot run in segments: the rate of what it reads differs between "
          "value columns, and each would need a transition of its own (plans "
          "without segments run it)");
    for (const StepEvent::Term &term : event.terms)
      if (unsigned other = form.getEvents()[term.read].state;
          other != event.state) {
        InFlightDiagnostic diagnostic =
            event.op->emitOpError("cannot run in segments: it writes state ")
            << event.state << " and reads state " << other
            << ", and a transition maps one state (plans without segments run "
               "it)";
        diagnostic.attachNote(form.getEvents()[term.read].op->getLoc())
            << "the read";
        return diagnostic;
      }
  }
  for (unsigned i : llvm::seq(op.getNumStates()))
    if (op.getStateType(i).getComputeType().isF64())
      return op.emitOpError("cannot run in segments: state ")
             << i << " computes in f64 (states of kernels compute in f32)";
  return success();
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// The events of `state` on its transition, at the builder's place. What a
/// diagonal is made of are decays alone.
static Value buildEvents(OpBuilder &builder, const NormalForm &form,
                         CoefficientBuilder &coefficients, unsigned state,
                         Value transition) {
  auto type = cast<StateType>(transition.getType());
  bool full = isFull(form, state);
  VectorType columns = type.getReadType();
  DenseMap<const StepEvent *, Value> reads;
  Value current = transition;
  for (const StepEvent *event : form.getChain(state)) {
    Location loc = event->op->getLoc();
    switch (event->kind) {
    case Kind::Decay: {
      DecayOp decay = event->getDecay();
      current = DecayOp::create(builder, loc, current, decay.getGate(),
                                decay.getLinear());
      break;
    }
    case Kind::Read:
      if (full && event->feedsWrite)
        reads[event] =
            ReadOp::create(builder, loc, current, event->getRead().getKey(),
                           event->getRead().getScaleAttr());
      break;
    case Kind::Write: {
      Value sum;
      for (const StepEvent::Term &term : event->terms) {
        Value part = reads.lookup(&form.getEvents()[term.read]);
        Value rate = coefficients.build(builder, loc, term.coefficient,
                                        columns.getElementType());
        part = arith::MulFOp::create(
            builder, loc, shapeLike(builder, loc, columns, rate), part);
        sum = sum ? arith::AddFOp::create(builder, loc, sum, part) : part;
      }
      if (sum)
        current = WriteOp::create(builder, loc, current,
                                  event->getWrite().getKey(), sum);
      break;
    }
    }
  }
  return current;
}

//===----------------------------------------------------------------------===//
// The operands
//===----------------------------------------------------------------------===//

/// The number of sequences.
static OpFoldResult countSequences(OpBuilder &builder, RecurrenceOp op) {
  Location loc = op.getLoc();
  if (op.getSlots())
    return tensor::getMixedSize(builder, loc, op.getSlots(), 0);
  if (!op.isPacked())
    return tensor::getMixedSize(builder, loc, op.getTokens()[0], 0);
  auto type = cast<RankedTensorType>(op.getSeqlens().getType());
  if (!type.isDynamicDim(0))
    return builder.getIndexAttr(type.getDimSize(0) - 1);
  Value offsets = tensor::DimOp::create(builder, loc, op.getSeqlens(), 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return arith::SubIOp::create(builder, loc, offsets, one).getResult();
}

/// What a transition begins with: the identity, or ones for a diagonal.
static Value buildStart(OpBuilder &builder, RecurrenceOp op, int64_t rows,
                        int64_t columns) {
  Location loc = op.getLoc();
  Type element = builder.getF32Type();
  SmallVector<OpFoldResult> sizes = {countSequences(builder, op)};
  for (int64_t size : {op.getNumHeads(), rows, columns})
    sizes.push_back(builder.getIndexAttr(size));
  if (columns == 1) {
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, element);
    Value one =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1));
    return linalg::FillOp::create(builder, loc, one, empty).getResult(0);
  }
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  dispatchIndexOpFoldResults(sizes, dynamic, shape);
  return tensor::GenerateOp::create(
      builder, loc, RankedTensorType::get(shape, element), dynamic,
      [&](OpBuilder &b, Location loc, ValueRange at) {
        Value equal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            at[2], at[3]);
        Value number = arith::UIToFPOp::create(b, loc, element, equal);
        tensor::YieldOp::create(b, loc, number);
      });
}

static FailureOr<RecurrenceOp> addTransitions(RewriterBase &rewriter,
                                              RecurrenceOp op) {
  if (!getTransitions(op).empty())
    return op.emitOpError("has transitions already");
  if (op.getNumStates() == 0)
    return op.emitOpError("cannot run in segments: it has no state (its tokens "
                          "do not wait for each other)");
  NormalizeCounts counts;
  if (failed(normalizeStep(rewriter, op, counts)))
    return failure();
  FailureOr<NormalForm> form = NormalForm::compute(op);
  if (failed(form) || failed(check(*form)))
    return failure();

  unsigned numStates = op.getNumStates(), numOutputs = op.getNumOutputs();
  SmallVector<Value> states(op.getStates());
  SmallVector<Type> types(
      op->getResults().take_front(numOutputs + numStates).getTypes());
  SmallVector<Value> ends;
  Operation *yield = op.getBody()->getTerminator();
  CoefficientBuilder coefficients(*form);
  rewriter.setInsertionPoint(op);
  SmallVector<std::pair<int64_t, int64_t>> shapes;
  for (unsigned i : llvm::seq(numStates)) {
    shapes.push_back(shapeOf(*form, i));
    states.push_back(
        buildStart(rewriter, op, shapes[i].first, shapes[i].second));
    types.push_back(states.back().getType());
  }
  // Snapshots of transitions are nobody's, but there is one per state.
  for (auto [i, snapshot] : llvm::enumerate(op.getSnapshotStates()))
    types.push_back(snapshot.getType());
  for (unsigned i : llvm::seq(op.getSnapshots() ? numStates : 0)) {
    auto like = cast<RankedTensorType>(op.getSnapshotStates()[i].getType());
    SmallVector<int64_t> shape(like.getShape());
    shape[shape.size() - 2] = shapes[i].first;
    shape[shape.size() - 1] = shapes[i].second;
    types.push_back(RankedTensorType::get(shape, rewriter.getF32Type()));
  }

  SmallVector<int64_t> transitions;
  for (unsigned i : llvm::seq(numStates))
    transitions.push_back(numStates + i);
  transitions.append(numStates, -1);

  auto result = RecurrenceOp::create(
      rewriter, op.getLoc(), types, op.getTokens(), op.getParams(), states,
      op.getSeqlens(), op.getSlots(), op.getPaddingAttr(),
      op.getSnapshotsAttr(), op.getPrecisionAttr());
  result->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  result->setAttr(kTransitionsAttr, rewriter.getDenseI64ArrayAttr(transitions));
  for (auto [rows, columns] : shapes) {
    Value arg = op.getBody()->addArgument(StateType::get(rewriter.getContext(),
                                                         rows, columns,
                                                         rewriter.getF32Type()),
                                          op.getLoc());
    OpBuilder inner(yield);
    ends.push_back(buildEvents(inner, *form, coefficients, ends.size(), arg));
  }
  yield->insertOperands(yield->getNumOperands(), ends);
  result.getStep().takeBody(op.getStep());

  SmallVector<Value> replacements;
  unsigned old = numOutputs + numStates;
  for (unsigned i : llvm::seq(op->getNumResults()))
    replacements.push_back(result->getResult(i < old ? i : i + numStates));
  rewriter.replaceOp(op, replacements);
  return result;
}

namespace {
struct AddTransitionsPass
    : linattn::impl::AddTransitionsPassBase<AddTransitionsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<RecurrenceOp> recurrences;
    getOperation()->walk([&](RecurrenceOp op) { recurrences.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (RecurrenceOp op : recurrences) {
      FailureOr<RecurrenceOp> made = addTransitions(rewriter, op);
      if (failed(made))
        return signalPassFailure();
      for (auto [i, transition] : llvm::enumerate(getTransitions(*made)))
        if (transition >= 0)
          ++(made->getStateType(transition).getShape()[1] == 1 ? numDiagonal
                                                               : numFull);
    }
  }
};
} // namespace
