//===- InstrMbarrier.cpp - mbarrier.* -------------------------------------===//

#include "Exec.h"
#include "Findings.h"
#include "Mbarrier.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {
namespace {

enum MbarrierBits {
  MbRelaxed = 1,
  MbExpect = 2,
  MbDrop = 4,
  MbNoComplete = 8,
  MbParity = 16,
  MbTry = 32,
  MbNoInc = 64,
};

/// A phase and the arrivals that were pending, in 64 bits.
uint64_t stateOf(const Mbarrier &bar) { return bar.phase << 20 | bar.pending; }

Step init(Warp &w, const Instr &i, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    initMbarrier({&w, &i, lane}, i.space, addressOf(w, i.arg(0), lane),
                 w.read(i.arg(1), lane));
  }
  return Step::Next;
}

Step inval(Warp &w, const Instr &i, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    invalidateMbarrier({&w, &i, lane}, i.space, addressOf(w, i.arg(0), lane));
  }
  return Step::Next;
}

/// Lanes of `active` that name the same address as its first one.
uint32_t sameAddress(Warp &w, const Op &op, uint32_t active) {
  uint64_t address = addressOf(w, op, countr_zero(active));
  return predicateOf(
      active, [&](unsigned l) { return addressOf(w, op, l) == address; });
}

/// Operands: state, address [, count or bytes]. Arrivals of one warp on one
/// barrier publish together.
Step arrive(Warp &w, const Instr &i, uint32_t active) {
  bool expects = i.detail & MbExpect;
  for (uint32_t todo = active; todo;) {
    uint32_t same = sameAddress(w, i.arg(1), todo);
    todo &= ~same;
    unsigned first = countr_zero(same);
    uint64_t address = addressOf(w, i.arg(1), first);
    Block *block = nullptr;
    Mbarrier *bar = findMbarrier({&w, &i, first}, i.space, address, &block);
    if (!bar)
      continue;
    if (!i.op[0].isSink && block != &w.block)
      report(FindingKind::Mbarrier, w, i, first,
             "an arrival at another block's mbarrier returns no state: the "
             "destination must be _");
    if (!(i.detail & MbRelaxed))
      w.releaseInto(bar->gathering, same);
    for (uint32_t rest = same; rest; rest &= rest - 1) {
      unsigned lane = countr_zero(rest);
      Accessor who{&w, &i, lane};
      if (!i.op[0].isSink)
        w.write(i.op[0], lane, stateOf(*bar));
      uint32_t count = 1;
      if (expects)
        expectTx(who, *bar, uint32_t(w.read(i.arg(2), lane)));
      else if (i.numArgs > 2)
        count = w.read(i.arg(2), lane);
      if ((i.detail & MbNoComplete) && count >= bar->pending)
        report(FindingKind::Mbarrier, w, i, lane,
               "a .noComplete arrival completes the phase");
      arriveOn(who, *bar, count, i.detail & MbDrop);
    }
  }
  w.cluster().progress();
  return Step::Next;
}

/// Operands: address, bytes.
template <void (*Apply)(const Accessor &, Mbarrier &, uint64_t)>
Step bytesOnly(Warp &w, const Instr &i, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    Accessor who{&w, &i, lane};
    if (Mbarrier *bar =
            findMbarrier(who, i.space, addressOf(w, i.arg(0), lane)))
      Apply(who, *bar, uint32_t(w.read(i.arg(1), lane)));
  }
  return Step::Next;
}

/// Whether the phase that a lane names is complete.
bool isDone(Warp &w, const Instr &i, unsigned lane, const Mbarrier &bar) {
  uint64_t named = w.read(i.arg(2), lane);
  if (i.detail & MbParity) {
    if (named > 1)
      reportAt(FindingKind::Mbarrier, w, i, lane, bar.address,
               "a parity is 0 or 1, got " + Twine(named));
    return bar.parityDone(named & 1);
  }
  uint64_t phase = named >> 20;
  if (phase > bar.phase || bar.phase - phase > 1)
    reportAt(FindingKind::Mbarrier, w, i, lane, bar.address,
             "the state names phase " + Twine(phase) + ", the mbarrier is in " +
                 "phase " + Twine(bar.phase) +
                 ": only that one and the one before can be asked for");
  return phase < bar.phase;
}

/// test_wait asks once. try_wait blocks until the phase is complete or, when
/// nothing else can happen, its time is up.
Step wait(Warp &w, const Instr &i, uint32_t active) {
  Split &s = w.split();
  Cluster &cluster = w.cluster();
  uint32_t done = 0;
  for (uint32_t todo = active; todo;) {
    uint32_t same = sameAddress(w, i.arg(1), todo);
    todo &= ~same;
    unsigned first = countr_zero(same);
    uint64_t address = addressOf(w, i.arg(1), first);
    Block *block = nullptr;
    Mbarrier *bar = findMbarrier({&w, &i, first}, i.space, address, &block);
    if (!bar) {
      done |= same;
      continue;
    }
    if (block != &w.block)
      reportAt(FindingKind::Mbarrier, w, i, first, address,
               "a thread can only wait at an mbarrier of its own block");
    uint32_t passed =
        predicateOf(same, [&](unsigned l) { return isDone(w, i, l, *bar); });
    if (passed && !(i.detail & MbRelaxed))
      w.acquire(passed, bar->released);
    done |= passed;
    if (uint32_t rest = same & ~passed)
      w.asked = {&i, unsigned(countr_zero(rest)), address};
  }
  if (w.asked.instr && (done >> w.asked.lane & 1))
    w.asked.instr = nullptr;
  if (!done && (i.detail & MbTry)) {
    if (!s.armed) {
      s.armed = true;
      s.waitValue = cluster.timeouts;
      ++counters().waits["mbarrier"];
    }
    if (s.waitValue == cluster.timeouts) {
      cluster.timedWaits = true;
      return Step::Block;
    }
  }
  w.setPred(i.op[0], active, done);
  return done == active ? Step::Next : Step::Poll;
}

Step pendingCount(Warp &w, const Instr &i, uint32_t active) {
  lanes(active, [&](unsigned l) {
    w.write(i.op[0], l, w.read(i.arg(1), l) & maxMbarrierCount);
  });
  return Step::Next;
}

/// The arrival happens when the lane's cp.async so far are complete.
Step copyArrive(Warp &w, const Instr &i, uint32_t active) {
  Cluster &cluster = w.cluster();
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    Accessor who{&w, &i, lane};
    uint64_t address = addressOf(w, i.arg(0), lane);
    Mbarrier *bar = findMbarrier(who, i.space, address);
    if (!bar)
      continue;
    if (!(i.detail & MbNoInc))
      ++bar->pending;
    std::vector<AsyncRef> before = w.async[lane].open;
    for (auto &group : w.async[lane].groups)
      before.insert(before.end(), group.begin(), group.end());
    AsyncRef work = makeWork(w, lane, i);
    StateSpace space = i.space;
    work->perform = [before, space, address](AsyncWork &work) {
      Cluster &cluster = work.issuer->cluster();
      Accessor who{work.issuer, work.instr, work.lane, &work};
      Mbarrier *bar = findMbarrier(who, space, address);
      for (const AsyncRef &copy : before) {
        cluster.asyncQueue.finish(*copy);
        if (bar)
          releaseWork(bar->gathering, cluster, *copy);
      }
      if (!bar)
        return;
      releaseWork(bar->gathering, cluster, work);
      arriveOn(who, *bar, 1, false);
    };
    cluster.asyncQueue.issue(cluster, work);
  }
  return Step::Next;
}

Error decode(Instr &i, const Words &words) {
  for (StringRef word : ArrayRef(words).drop_front()) {
    unsigned bit = StringSwitch<unsigned>(word)
                       .Case("relaxed", MbRelaxed)
                       .Case("expect_tx", MbExpect)
                       .Case("arrive_drop", MbDrop)
                       .Case("noComplete", MbNoComplete)
                       .Case("parity", MbParity)
                       .Case("try_wait", MbTry)
                       .Case("noinc", MbNoInc)
                       .Default(0);
    i.detail |= bit;
    if (!bit &&
        !StringSwitch<bool>(word)
             .Cases({"arrive", "test_wait", "acquire", "release"}, true)
             .Cases({"cta", "cluster", "b64", "async", "mbarrier"}, true)
             .Cases({"shared", "shared::cta", "shared::cluster"}, true)
             .Default(false))
      return createStringError("unknown modifier '." + word + "'");
  }
  if ((i.detail & MbExpect) && i.numArgs != 3)
    return createStringError("expect_tx needs a number of bytes");
  return Error::success();
}

} // namespace

void registerMbarrier(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Async;
  constexpr uint32_t A = TraitAsync;
  t.add("mbarrier.init[.shared|.shared::cta].b64", "@ <u32", init, K, A);
  t.add("mbarrier.inval[.shared|.shared::cta].b64", "@", inval, K, A);
  t.add("mbarrier.expect_tx[.relaxed][.cta|.cluster][.shared|.shared::cta|"
        ".shared::cluster].b64",
        "@ <u32", bytesOnly<expectTx>, K, A);
  t.add("mbarrier.complete_tx[.relaxed][.cta|.cluster][.shared|.shared::cta|"
        ".shared::cluster].b64",
        "@ <u32", bytesOnly<completeTx>, K, A);
  t.add("mbarrier.arrive.*", "=b64 @ <u32?", arrive, K, A, decode);
  t.add("mbarrier.arrive_drop.*", "=b64 @ <u32?", arrive, K, A, decode);
  t.add("mbarrier.test_wait.parity.*", "=pred @ <b32", wait, K, A, decode);
  t.add("mbarrier.test_wait.*", "=pred @ <b64", wait, K, A, decode);
  t.add("mbarrier.try_wait.parity.*", "=pred @ <b32 <u32?", wait, K,
        A | TraitMayBlock, decode);
  t.add("mbarrier.try_wait.*", "=pred @ <b64 <u32?", wait, K, A | TraitMayBlock,
        decode);
  t.add("mbarrier.pending_count.b64", "=b32 <b64", pendingCount, K);
  t.add("cp.async.mbarrier.arrive[.noinc][.shared|.shared::cta].b64", "@",
        copyArrive, K, A, decode);
}

} // namespace linattn::sim
