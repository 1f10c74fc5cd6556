//===- NormalForm.cpp - the affine normal form of a step ------------------===//
//
// Part of linattn. First the chain of each state, then its events in one order,
// then the affine forms of what is written.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/LinAttn/Analysis/NormalForm.h"

#include "AffineForms.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace linattn;

using Kind = StepEvent::Kind;

static bool isUpdate(Operation *op) { return isa<DecayOp, WriteOp>(op); }

/// The state that a decay, read or write takes.
static Value getStateOperand(Operation *op) { return op->getOperand(0); }

namespace linattn {
class NormalFormAnalysis {
public:
  NormalFormAnalysis(RecurrenceOp recurrence,
                     std::optional<DiagnosticSeverity> severity)
      : recurrence(recurrence), block(*recurrence.getBody()),
        severity(severity), form(recurrence), forms(*form.pool, form.uniform) {}

  FailureOr<NormalForm> run() {
    findLive();
    findChains();
    checkStates();
    if (failed)
      return failure();
    orderEvents();
    followForms();
    findOutputReads();
    if (failed)
      return failure();
    return std::move(form);
  }

private:
  using Version = std::pair<unsigned, unsigned>;

  void findLive();
  void findChains();
  void checkStates();
  void orderEvents();
  void addEvent(Operation *op);
  void followForms();
  void checkFree(Operation *op, Value value, StringRef what);
  void addWrite(StepEvent &event);
  void findOutputReads();

  /// Reports `op` and returns the diagnostic for notes; null when silent.
  InFlightDiagnostic refuse(Operation *op, const Twine &message) {
    failed = true;
    if (!severity || !refused.insert(op).second)
      return {};
    InFlightDiagnostic diagnostic =
        op->getContext()->getDiagEngine().emit(op->getLoc(), *severity);
    diagnostic << "'" << op->getName() << "' op " << message;
    return diagnostic;
  }
  static void addNote(InFlightDiagnostic &diagnostic, Operation *op,
                      const Twine &message) {
    if (diagnostic.getUnderlyingDiagnostic())
      diagnostic.attachNote(op->getLoc()) << message;
  }

  RecurrenceOp recurrence;
  Block &block;
  std::optional<DiagnosticSeverity> severity;
  NormalForm form;
  AffineForms forms;
  bool failed = false;
  SmallPtrSet<Operation *, 8> refused;
  SmallPtrSet<Operation *, 32> live;
  DenseMap<Value, Version> versions;
  DenseMap<Operation *, unsigned> eventOf;
  /// Decays so far, per state.
  SmallVector<unsigned> decays;
};
} // namespace linattn

void NormalFormAnalysis::findLive() {
  for (Operation &op : llvm::reverse(block)) {
    bool isUsed = llvm::any_of(op.getUsers(), [&](Operation *user) {
      Operation *ancestor = block.findAncestorOpInBlock(*user);
      return ancestor && live.contains(ancestor);
    });
    if (isUsed || op.hasTrait<OpTrait::IsTerminator>())
      live.insert(&op);
  }
}

void NormalFormAnalysis::findChains() {
  Operation *yield = block.getTerminator();
  unsigned numOutputs = yield->getNumOperands() - recurrence.getNumStates();
  for (auto [i, arg] : llvm::enumerate(recurrence.getStateArgs())) {
    Value state = arg;
    for (unsigned version = 0;; ++version) {
      versions[state] = {i, version};
      SmallVector<Operation *, 2> updates;
      for (Operation *user : state.getUsers())
        if (live.contains(user) && isUpdate(user))
          updates.push_back(user);
      if (updates.empty())
        break;
      llvm::sort(updates, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
      for (Operation *second : ArrayRef(updates).drop_front()) {
        InFlightDiagnostic diagnostic = refuse(
            second, "(normal_form_c2) forks state " + Twine(i) +
                        ": each version of it ends in one decay or write");
        addNote(diagnostic, updates.front(), "the same version ends here");
      }
      state = updates.front()->getResult(0);
    }
    Value yielded = yield->getOperand(numOutputs + i);
    if (yielded == state || failed)
      continue;
    auto version = versions.find(yielded);
    InFlightDiagnostic diagnostic =
        refuse(yield, "(normal_form_c3) yields the last version of state " +
                          Twine(i) + ", got " +
                          (version == versions.end()
                               ? Twine("a value that is none of its versions")
                               : Twine("an earlier one")));
    if (Operation *last = state.getDefiningOp())
      addNote(diagnostic, last, "the last version is made here");
  }
}

void NormalFormAnalysis::checkStates() {
  auto isState = [](Type type) { return isa<StateType>(type); };
  for (Operation &op : block.without_terminator()) {
    if (!live.contains(&op))
      continue;
    if (isa<DecayOp, ReadOp, WriteOp>(op)) {
      // What is no version comes from an operation that is refused below, or is
      // a branch of a fork.
      continue;
    }
    if (llvm::any_of(op.getOperandTypes(), isState) ||
        llvm::any_of(op.getResultTypes(), isState))
      refuse(&op, "(normal_form_c1) takes or makes a state, which only decays, "
                  "reads and writes do");
  }
}

void NormalFormAnalysis::addEvent(Operation *op) {
  auto version = versions.find(getStateOperand(op));
  if (!eventOf.try_emplace(op, form.events.size()).second)
    return;
  StepEvent event;
  event.op = op;
  event.kind = isa<DecayOp>(op)  ? Kind::Decay
               : isa<ReadOp>(op) ? Kind::Read
                                 : Kind::Write;
  std::tie(event.state, event.version) = version->second;
  event.position = decays[event.state];
  if (auto decay = dyn_cast<DecayOp>(op)) {
    event.perKey = !form.uniform.isUniform(decay.getGate());
    ++decays[event.state];
  }
  form.events.push_back(std::move(event));
}

void NormalFormAnalysis::orderEvents() {
  decays.assign(recurrence.getNumStates(), 0);
  for (Operation &op : block) {
    if (!live.contains(&op) || !isa<DecayOp, ReadOp, WriteOp>(op))
      continue;
    if (!versions.contains(getStateOperand(&op))) {
      refuse(&op, "(normal_form_c1) takes a state that is no version of an "
                  "argument");
      continue;
    }
    // A read's key is free of the state, so that nothing keeps the read from
    // standing before the update.
    if (isUpdate(&op)) {
      SmallVector<Operation *> reads;
      for (Operation *user : getStateOperand(&op).getUsers())
        if (isa<ReadOp>(user) && live.contains(user) &&
            op.isBeforeInBlock(user))
          reads.push_back(user);
      llvm::sort(reads, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
      for (Operation *read : reads)
        addEvent(read);
    }
    addEvent(&op);
  }
}

void NormalFormAnalysis::checkFree(Operation *op, Value value, StringRef what) {
  const StateDependence *found = forms.lookup(value);
  if (!found)
    return;
  InFlightDiagnostic diagnostic =
      refuse(op, Twine(what) + " depends on the state");
  addNote(diagnostic, found->read, "through this read");
}

void NormalFormAnalysis::addWrite(StepEvent &event) {
  Value value = event.getWrite().getValue();
  const StateDependence *found = forms.lookup(value);
  if (!found) {
    event.constant = forms.getFree(value);
    return;
  }
  if (Operation *breaker = found->breaker) {
    InFlightDiagnostic diagnostic =
        refuse(breaker, "(normal_form_c6) breaks the affine form of a write's "
                        "value: " +
                            found->reason);
    addNote(diagnostic, event.op, "the write uses it");
    return;
  }
  // Every write here has a term, beside which a c of 0 is none.
  if (found->constant && !found->constant->isConstant(0))
    event.constant = found->constant;
  event.terms = found->terms;
  for (const StepEvent::Term &term : event.terms)
    form.events[term.read].feedsWrite = true;
}

void NormalFormAnalysis::followForms() {
  for (Operation &op : block.without_terminator()) {
    if (!live.contains(&op))
      continue;
    auto event = eventOf.find(&op);
    if (event == eventOf.end()) {
      forms.addResults(&op);
      continue;
    }
    if (auto decay = dyn_cast<DecayOp>(op)) {
      checkFree(&op, decay.getGate(), "(normal_form_c5) the decay");
    } else if (auto read = dyn_cast<ReadOp>(op)) {
      checkFree(&op, read.getKey(), "(normal_form_c4) the key of the read");
      forms.addRead(&op, event->second);
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      checkFree(&op, write.getKey(), "(normal_form_c4) the key of the write");
      addWrite(form.events[event->second]);
    }
  }
}

void NormalFormAnalysis::findOutputReads() {
  Operation *yield = block.getTerminator();
  unsigned numOutputs = yield->getNumOperands() - recurrence.getNumStates();
  SmallVector<Value> worklist(yield->getOperands().take_front(numOutputs));
  SmallPtrSet<Operation *, 32> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<ReadOp>(op)) {
      if (auto event = eventOf.find(op); event != eventOf.end())
        form.events[event->second].reachesOutput = true;
      continue;
    }
    llvm::append_range(worklist, op->getOperands());
  }
}

FailureOr<NormalForm>
NormalForm::compute(RecurrenceOp recurrence,
                    std::optional<DiagnosticSeverity> severity) {
  return NormalFormAnalysis(recurrence, severity).run();
}

SmallVector<const StepEvent *> NormalForm::getChain(unsigned state) const {
  SmallVector<const StepEvent *> chain;
  for (const StepEvent &event : events)
    if (event.state == state)
      chain.push_back(&event);
  return chain;
}

unsigned NormalForm::getNumDecays(unsigned state) const {
  return llvm::count_if(events, [&](const StepEvent &event) {
    return event.kind == Kind::Decay && event.state == state;
  });
}
