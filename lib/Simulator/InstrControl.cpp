//===- InstrControl.cpp - Branches, calls, the end ------------------------===//

#include "Access.h"
#include "Exec.h"
#include "Findings.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {

Step trap(Warp &w, const Instr &i, uint32_t active) {
  report(FindingKind::Trap, w, i, countr_zero(active),
         StringRef(i.def->pattern) == "trap"
             ? "the kernel executed trap"
             : "an assertion of the kernel failed");
  w.cluster().stopped = true;
  w.launch().stop = true;
  return Step::Exit;
}

/// Bytes of a call's parameters go from frame variable to frame variable, with
/// what the shadow knows about them.
static void copyInFrame(Warp &w, uint32_t active, const CallInfo::Copy &copy) {
  uint64_t size = w.launch().program->frameBytes;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    uint8_t *frame = w.frame.data() + size * lane;
    std::memmove(frame + copy.to, frame + copy.from, copy.bytes);
    for (uint32_t b = 0; b < copy.bytes; ++b)
      if (w.frameShadow[lane].isWritten(copy.from + b, 1))
        w.frameShadow[lane].markWritten(copy.to + b, 1);
  }
}

/// Moves the active lanes of the running split to `pc`; the others go on.
static Split &divert(Warp &w, const Instr &i, uint32_t active, uint32_t pc) {
  Split moved = w.split();
  Split &s = w.split();
  s.pc = i.pc + 1;
  moved.mask = active;
  moved.pc = pc;
  if (s.mask == active) {
    s = std::move(moved);
    return s;
  }
  s.mask &= ~active;
  w.splits.push_back(std::move(moved));
  return w.splits.back();
}

Step callFunction(Warp &w, const Instr &i, uint32_t active) {
  const Program &p = *w.launch().program;
  const CallInfo &call = p.calls[i.detail];
  for (const CallInfo::Copy &copy : call.arguments)
    copyInFrame(w, active, copy);
  Split &s = divert(w, i, active, p.functions[call.callee].entry);
  s.returns.push_back(i.pc + 1);
  return Step::Diverted;
}

namespace {

Step branch(Warp &, const Instr &, uint32_t) { return Step::Branch; }
Step end(Warp &, const Instr &, uint32_t) { return Step::Exit; }

Step ret(Warp &w, const Instr &i, uint32_t active) {
  if (w.split().returns.empty())
    return Step::Exit;
  const Program &p = *w.launch().program;
  uint32_t to = w.split().returns.back();
  for (const CallInfo::Copy &copy : p.calls[p.code[to - 1].detail].results)
    copyInFrame(w, active, copy);
  Split &s = divert(w, i, active, to);
  s.returns.pop_back();
  return Step::Diverted;
}

/// brx.idx: each lane picks from the list.
Step branchIndexed(Warp &w, const Instr &i, uint32_t active) {
  const Op &index = i.arg(0);
  uint32_t todo = active;
  while (todo) {
    unsigned lane = countr_zero(todo);
    uint64_t k = w.read(index, lane);
    uint32_t same =
        predicateOf(todo, [&](unsigned l) { return w.read(index, l) == k; });
    todo &= ~same;
    if (k >= i.targets.size()) {
      report(FindingKind::BadOperand, w, i, lane,
             "branch index " + Twine(k) + " of a list of " +
                 Twine(i.targets.size()));
      k = 0;
    }
    divert(w, i, same, i.targets.empty() ? i.pc + 1 : i.targets[k]);
  }
  return Step::Diverted;
}

Step nothing(Warp &, const Instr &, uint32_t) { return Step::Next; }

Error decodeBranchIndexed(Instr &, const Words &) { return Error::success(); }

} // namespace

void registerControl(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Control;
  t.add("bra[.uni]", "L", branch, K);
  t.add("brx.idx[.uni]", "<u32 L", branchIndexed, K, 0, decodeBranchIndexed);
  t.add("ret[.uni]", "", ret, K);
  t.add("exit", "", end, K);
  t.add("trap", "", trap, K);
  t.add("brkpt", "", nothing, K);
  t.add(
      "nanosleep.u32", "<u32",
      [](Warp &, const Instr &, uint32_t) { return Step::Poll; }, K);
  t.add("griddepcontrol.<launch_dependents|wait>", "", nothing, K);
  t.add("pmevent[.mask]", "#", nothing, K);
}

} // namespace linattn::sim
