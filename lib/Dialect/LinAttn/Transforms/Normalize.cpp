//===- Normalize.cpp - writes the normal form out -------------------------===//
//
// Part of linattn. Every write becomes S + k (c + sum_j b_j * r_j)^T.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/LinAttn/Transforms/Normalize.h"
#include "linattn/Dialect/LinAttn/Transforms/CoefficientBuilder.h"
#include "linattn/Dialect/LinAttn/Transforms/ExpandSugar.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/StepBuilders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/SetVector.h"

namespace linattn {
#define GEN_PASS_DEF_NORMALIZEPASS
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

using Kind = StepEvent::Kind;

//===----------------------------------------------------------------------===//
// Before the analysis
//===----------------------------------------------------------------------===//

static void mergeAndEraseDead(RewriterBase &rewriter, RecurrenceOp recurrence) {
  DominanceInfo dominance(recurrence);
  eliminateCommonSubExpressions(rewriter, dominance, recurrence);
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*recurrence.getBody())))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

static void expand(RecurrenceOp recurrence,
                   function_ref<void(RewritePatternSet &)> populate) {
  RewritePatternSet patterns(recurrence.getContext());
  populate(patterns);
  walkAndApplyPatterns(recurrence, std::move(patterns));
}

/// The gate of one decay in place of two; null where one is a factor and the
/// other a log decay.
static Value combineGates(RewriterBase &rewriter, DecayOp first,
                          DecayOp second) {
  if (first.getLinear() != second.getLinear())
    return {};
  // Not in 16 bits: the sum would be rounded and no longer be the product of
  // the two factors.
  Type element = second.getState().getType().getComputeType();
  for (Value gate : {first.getGate(), second.getGate()}) {
    Type own = getElementTypeOrSelf(gate.getType());
    if (own.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
      element = own;
  }
  Location loc = second.getLoc();
  auto vector = dyn_cast<VectorType>(first.getGate().getType());
  if (!vector)
    vector = dyn_cast<VectorType>(second.getGate().getType());
  SmallVector<Value, 2> gates;
  for (Value gate : {first.getGate(), second.getGate()}) {
    gate = convertElements(rewriter, loc, gate, element);
    gates.push_back(vector ? shapeLike(rewriter, loc, vector, gate) : gate);
  }
  if (first.getLinear())
    return arith::MulFOp::create(rewriter, loc, gates[0], gates[1]);
  return arith::AddFOp::create(rewriter, loc, gates[0], gates[1]);
}

/// Returns the number of decays that went.
static unsigned simplifyDecays(RewriterBase &rewriter,
                               RecurrenceOp recurrence) {
  unsigned removed = 0;
  UniformVectors uniform(*recurrence.getBody());
  DenseMap<Value, Value> scalars;
  for (DecayOp decay :
       llvm::make_early_inc_range(recurrence.getBody()->getOps<DecayOp>())) {
    rewriter.setInsertionPoint(decay);
    Value gate = decay.getGate();
    if (isa<VectorType>(gate.getType()) && uniform.isUniform(gate)) {
      Value scalar = uniform.buildScalar(rewriter, gate, scalars);
      rewriter.modifyOpInPlace(decay,
                               [&] { decay.getGateMutable().assign(scalar); });
    }
    SmallVector<OpFoldResult, 1> folded;
    if (succeeded(decay->fold(folded)) && folded.size() == 1 &&
        isa<Value>(folded[0])) {
      rewriter.replaceOp(decay, cast<Value>(folded[0]));
      ++removed;
      continue;
    }
    auto first = decay.getState().getDefiningOp<DecayOp>();
    if (!first || !first.getResult().hasOneUse())
      continue;
    Value combined = combineGates(rewriter, first, decay);
    if (!combined)
      continue;
    rewriter.modifyOpInPlace(decay, [&] {
      decay.getStateMutable().assign(first.getState());
      decay.getGateMutable().assign(combined);
    });
    rewriter.eraseOp(first);
    ++removed;
  }
  return removed;
}

void linattn::simplifyStep(RewriterBase &rewriter, RecurrenceOp recurrence,
                           NormalizeCounts &counts) {
  expand(recurrence, populateExpandDeltaUpdatePatterns);
  // Merging first: a read that nothing uses must not keep decays apart.
  mergeAndEraseDead(rewriter, recurrence);
  counts.decays += simplifyDecays(rewriter, recurrence);
  mergeAndEraseDead(rewriter, recurrence);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// The read behind a conversion to another state's type of arithmetic; null for
/// other values.
static ReadOp getRead(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<ReadOp>(op);
}

/// Whether the value is the coefficient itself, with nothing left to compute.
static bool isPlain(Value value, const Coefficient *coefficient) {
  switch (coefficient->kind) {
  case Coefficient::Kind::Value:
    return coefficient->value == value;
  case Coefficient::Kind::Constant:
    return matchPattern(value, m_Constant());
  default:
    return false;
  }
}

/// Whether `value` is literally r, -r or b * r with the given read and b.
static bool isTerm(Value value, const StepEvent::Term &term, ReadOp read,
                   bool mayNegate) {
  const Coefficient *b = term.coefficient;
  if (b->isConstant(1))
    return getRead(value) == read;
  if (b->isConstant(-1)) {
    auto negation = value.getDefiningOp<arith::NegFOp>();
    return mayNegate && negation && getRead(negation.getOperand()) == read;
  }
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return false;
  for (auto [x, y] : {std::pair(product.getLhs(), product.getRhs()),
                      std::pair(product.getRhs(), product.getLhs())})
    if (getRead(y) == read && isPlain(x, b))
      return true;
  return false;
}

/// Whether the write's value is c + b_0 * r_0 + b_1 * r_1 .. already.
static bool isNormal(const NormalForm &form, const StepEvent &event,
                     VectorType type) {
  Value value = event.getWrite().getValue();
  if (value.getType() != type)
    return false;
  for (const StepEvent::Term &term : llvm::reverse(event.terms)) {
    ReadOp read = form.getEvents()[term.read].getRead();
    bool isFirst = &term == &event.terms.front() && !event.constant;
    if (isFirst)
      return isTerm(value, term, read, /*mayNegate=*/true);
    if (term.coefficient->isConstant(-1)) {
      auto difference = value.getDefiningOp<arith::SubFOp>();
      if (!difference || getRead(difference.getRhs()) != read)
        return false;
      value = difference.getLhs();
      continue;
    }
    auto sum = value.getDefiningOp<arith::AddFOp>();
    if (!sum)
      return false;
    // Sums commute, and folders put constants on the right.
    if (isTerm(sum.getRhs(), term, read, /*mayNegate=*/false))
      value = sum.getLhs();
    else if (isTerm(sum.getLhs(), term, read, /*mayNegate=*/false))
      value = sum.getRhs();
    else
      return false;
  }
  return isPlain(value, event.constant);
}

static Value buildWritten(RewriterBase &rewriter, const NormalForm &form,
                          CoefficientBuilder &coefficients,
                          const StepEvent &event, VectorType type) {
  Location loc = event.op->getLoc();
  Value sum;
  if (event.constant)
    sum = coefficients.buildVector(rewriter, loc, event.constant, type);
  for (const StepEvent::Term &term : event.terms) {
    const Coefficient *b = term.coefficient;
    Value read = convertElements(
        rewriter, loc, form.getEvents()[term.read].getRead().getResult(),
        type.getElementType());
    read = shapeLike(rewriter, loc, type, read);
    if (b->isConstant(-1)) {
      sum = sum ? arith::SubFOp::create(rewriter, loc, sum, read).getResult()
                : arith::NegFOp::create(rewriter, loc, read).getResult();
      continue;
    }
    if (!b->isConstant(1)) {
      Value factor = coefficients.buildVector(rewriter, loc, b, type);
      read = arith::MulFOp::create(rewriter, loc, factor, read);
    }
    sum = sum ? arith::AddFOp::create(rewriter, loc, sum, read).getResult()
              : read;
  }
  return sum;
}

/// Returns the number of writes whose value changed.
static unsigned rewriteWrites(RewriterBase &rewriter, const NormalForm &form) {
  unsigned rewritten = 0;
  CoefficientBuilder coefficients(form);
  for (const StepEvent &event : form.getEvents()) {
    if (event.kind != Kind::Write)
      continue;
    WriteOp write = event.getWrite();
    VectorType type = write.getState().getType().getReadType();
    if (isNormal(form, event, type))
      continue;
    rewriter.setInsertionPoint(write);
    Value value = buildWritten(rewriter, form, coefficients, event, type);
    rewriter.modifyOpInPlace(write,
                             [&] { write.getValueMutable().assign(value); });
    ++rewritten;
  }
  return rewritten;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Moves an operation, and what it uses, before `place`.
static void moveWithOperands(RewriterBase &rewriter, Operation *op,
                             Operation *place) {
  llvm::SetVector<Operation *> needed;
  needed.insert(op);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == op->getBlock() &&
          place->isBeforeInBlock(def))
        needed.insert(def);
    }
  SmallVector<Operation *> ordered = needed.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *moved : ordered)
    rewriter.moveOpBefore(moved, place);
}

/// Puts the reads of a version before the update that ends it. Returns how many
/// moved.
static unsigned orderReads(RewriterBase &rewriter, const NormalForm &form) {
  unsigned moved = 0;
  for (const StepEvent &event : form.getEvents()) {
    if (event.kind != Kind::Read)
      continue;
    for (Operation *user : event.getRead().getState().getUsers())
      if (isa<DecayOp, WriteOp>(user) && user->isBeforeInBlock(event.op)) {
        moveWithOperands(rewriter, event.op, user);
        ++moved;
      }
  }
  return moved;
}

LogicalResult
linattn::normalizeStep(RewriterBase &rewriter, RecurrenceOp recurrence,
                       NormalizeCounts &counts,
                       std::optional<DiagnosticSeverity> severity) {
  simplifyStep(rewriter, recurrence, counts);
  FailureOr<NormalForm> form = NormalForm::compute(recurrence, severity);
  if (succeeded(form)) {
    counts.writes += rewriteWrites(rewriter, *form);
    counts.reads += orderReads(rewriter, *form);
  }
  expand(recurrence, populateExpandSugarPatterns);
  mergeAndEraseDead(rewriter, recurrence);
  return success(succeeded(form));
}

namespace {
struct NormalizePass : linattn::impl::NormalizePassBase<NormalizePass> {
  using NormalizePassBase::NormalizePassBase;
  void runOnOperation() override {
    SmallVector<RecurrenceOp> recurrences;
    getOperation()->walk([&](RecurrenceOp op) { recurrences.push_back(op); });
    IRRewriter rewriter(&getContext());
    NormalizeCounts counts;
    for (RecurrenceOp recurrence : recurrences)
      if (failed(normalizeStep(rewriter, recurrence, counts,
                               keepRefused ? DiagnosticSeverity::Remark
                                           : DiagnosticSeverity::Error)) &&
          !keepRefused)
        signalPassFailure();
    numWrites += counts.writes;
    numDecays += counts.decays;
    numReads += counts.reads;
  }
};
} // namespace
