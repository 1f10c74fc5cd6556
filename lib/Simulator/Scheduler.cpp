//===- Scheduler.cpp - Taking turns ---------------------------------------===//
//
// A cluster runs on one host thread. Its warps take turns for a seeded number
// of instructions. Lanes of a warp that part become splits; the split that is
// furthest behind runs first, and splits that meet merge, so that lanes come
// together again where the code does. A split that polls lets the others go
// first, so every lane makes progress.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Findings.h"
#include "Mbarrier.h"
#include "Unwritten.h"
#include "Wgmma.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace linattn::sim {

namespace {

/// A cluster in which this many polls in a row changed nothing waits for
/// others.
constexpr uint64_t stalledPolls = 20000;
/// A split that runs this long without polling computes something.
constexpr uint32_t longWork = 2000;

class WarpRunner {
public:
  WarpRunner(Cluster &cluster, Warp &warp)
      : cluster(cluster), warp(warp), program(*cluster.launch.program),
        code(program.code.data()) {}

  /// False if no lane could do anything. What is left of the budget was not
  /// executed.
  bool run(int &budget) {
    bool ran = false;
    while (budget > 0 && !warp.splits.empty()) {
      merge();
      if (!pick())
        break;
      int before = budget;
      runSplit(budget);
      // A blocked split that was tried again in vain is no progress.
      ran |= before != budget;
      if (cluster.stopped)
        break;
    }
    return ran;
  }

private:
  Cluster &cluster;
  Warp &warp;
  const Program &program;
  const Instr *code;

  void merge() {
    auto &splits = warp.splits;
    for (unsigned i = 0; i < splits.size(); ++i)
      for (unsigned j = i + 1; j < splits.size();) {
        Split &a = splits[i], &b = splits[j];
        if (a.pc == b.pc && !a.armed && !b.armed && a.returns == b.returns) {
          a.mask |= b.mask;
          a.state = Split::Ready;
          a.polled &= b.polled;
          splits.erase(splits.begin() + j);
        } else {
          ++j;
        }
      }
  }

  bool pick() {
    auto &splits = warp.splits;
    int best = -1;
    for (bool polled : {false, true}) {
      for (unsigned i = 0; i < splits.size(); ++i) {
        Split &s = splits[i];
        bool can = s.state == Split::Ready
                       ? s.polled == polled
                       : s.state == Split::Blocked && !polled &&
                             s.seenEvents != cluster.events;
        if (can && (best < 0 || s.pc < splits[best].pc))
          best = i;
      }
      if (best >= 0)
        break;
      for (Split &s : splits)
        if (polled)
          s.polled = false;
    }
    if (best < 0)
      return false;
    warp.current = best;
    return true;
  }

  /// Where another split waits that this one may merge with.
  uint32_t nextMeeting() const {
    uint32_t next = ~0u;
    for (unsigned i = 0; i < warp.splits.size(); ++i)
      if (i != warp.current && warp.splits[i].pc > warp.splits[warp.current].pc)
        next = std::min(next, warp.splits[i].pc);
    return next;
  }

  void checkInFlight(const Instr &instr, uint32_t active) {
    auto check = [&](ArrayRef<uint32_t> regs, bool write) {
      for (uint32_t reg : regs) {
        uint32_t bad = warp.inFlightWrite[reg];
        if (write)
          bad |= warp.inFlightRead[reg];
        if (bad &= active)
          report(FindingKind::WgmmaRegister, warp, instr, countr_zero(bad),
                 "register " + program.registerNames[reg] + " is " +
                     (write ? "written" : "read") +
                     " while a wgmma that uses it is in flight: "
                     "wgmma.wait_group must come first");
      }
    };
    check({instr.sources, instr.numSources}, false);
    check({instr.dests, instr.numDests}, true);
  }

  /// Whether all lanes that the instruction needs are here. May let lanes go on
  /// that wait elsewhere for the same thing.
  bool converged(const Instr &instr, uint32_t &active) {
    if (instr.traits & TraitAligned) {
      if ((instr.traits & TraitWholeWarp) && warp.live != warp.launched &&
          active == warp.live)
        report(FindingKind::Divergence, warp, instr, countr_zero(active),
               "lanes of this warp have exited before an instruction that all "
               "of its lanes must execute");
      return active == warp.live;
    }
    const Op &members = instr.arg(instr.maskArg);
    uint32_t need = 0;
    for (uint32_t rest = active; rest; rest &= rest - 1) {
      unsigned lane = countr_zero(rest);
      uint32_t mask = warp.read(members, lane);
      if (!(mask >> lane & 1)) {
        report(FindingKind::Divergence, warp, instr, lane,
               "the executing lane is not in its own member mask 0x" +
                   utohexstr(mask));
        mask |= 1u << lane;
      }
      need |= mask;
    }
    need &= warp.live;
    if (!(need & ~active))
      return true;
    if (!(instr.traits & TraitAnyPlace))
      return false;
    uint32_t together = active;
    for (Split &s : warp.splits)
      if (s.state == Split::Converge && code[s.pc].fn == instr.fn)
        together |= s.mask;
    if (need & ~together)
      return false;
    for (Split &s : warp.splits)
      if (s.state == Split::Converge && code[s.pc].fn == instr.fn &&
          (s.mask & need)) {
        s.state = Split::Ready;
        ++s.pc;
      }
    active = together;
    return true;
  }

  void countWork(Split &s, int instructions) {
    s.sincePoll += instructions;
    if (s.sincePoll < longWork)
      return;
    s.sincePoll = 0;
    cluster.worked();
  }

  void exitLanes(uint32_t lanes) {
    unsigned count = popcount(lanes);
    if (program.usesAsync)
      warp.releaseInto(warp.block.knownAtExit, lanes);
    warp.live &= ~lanes;
    warp.block.liveThreads -= count;
    cluster.liveThreads -= count;
    cluster.progress();
    for (Split &s : warp.splits)
      if (s.state == Split::Converge)
        s.state = Split::Ready;
  }

  void runSplit(int &budget) {
    uint32_t meeting = nextMeeting();
    Counters &count = counters();
    uint32_t *available = warp.available.data();
    Split *s = &warp.split();
    uint32_t pc = s->pc;
    const int begin = budget;
    while (true) {
      const Instr &instr = code[pc];
      uint32_t active = s->mask;
      if (instr.guard) {
        if (active & ~available[instr.guard]) {
          s->pc = pc;
          reportGuard(instr, active);
        }
        uint32_t p = warp.predicates[instr.guard];
        active &= instr.guardNegated ? ~p : p;
      }
      Step step = Step::Next;
      uint32_t ran = active;
      if (active) {
        if (instr.traits & (TraitMayBlock | TraitAligned | TraitCollective)) {
          s->pc = pc;
          if (active != s->mask) {
            Split rest = *s;
            rest.mask &= ~active;
            ++rest.pc;
            s->mask = active;
            warp.splits.push_back(rest);
            s = &warp.split();
            meeting = std::min(meeting, pc + 1);
          }
          if ((instr.traits & (TraitAligned | TraitCollective)) && !s->armed &&
              !converged(instr, active)) {
            s->state = Split::Converge;
            ++count.waits["lanes of the same warp"];
            return;
          }
        }
        uint32_t usable = active;
        for (unsigned i = 0; i < instr.numSources; ++i)
          usable &= available[instr.sources[i]];
        bool marked = usable != active;
        if (marked) {
          s->pc = pc;
          checkUnwritten(warp, instr, active);
          marked = instr.traits & TraitPassesBits;
        }
        if (warp.anyInFlight && !(instr.traits & TraitOwnFlightCheck)) {
          s->pc = pc;
          checkInFlight(instr, active);
        }
        step = instr.fn(warp, instr, active);
        if (step != Step::Block) {
          ++count.warpRuns[pc];
          count.threadRuns[pc] += popcount(active);
          if (!marked)
            for (unsigned i = 0; i < instr.numDests; ++i)
              available[instr.dests[i]] |= active;
          if (instr.traits & TraitWritesWgmma)
            noteWgmmaWrites(instr);
        }
      }
      switch (step) {
      case Step::Next:
        break;
      case Step::Block:
        s = &warp.split();
        s->pc = pc;
        s->state = Split::Blocked;
        s->seenEvents = cluster.events;
        return;
      case Step::Branch: {
        --budget;
        s = &warp.split();
        uint32_t rest = s->mask & ~ran;
        if (!rest) {
          pc = instr.target;
          if (warp.splits.size() > 1 || budget <= 0) {
            s->pc = pc;
            countWork(*s, begin - budget);
            return;
          }
          continue;
        }
        Split other = *s;
        other.mask = rest;
        other.pc = pc + 1;
        s->mask = ran;
        s->pc = instr.target;
        warp.splits.push_back(other);
        return;
      }
      case Step::Exit: {
        --budget;
        s = &warp.split();
        s->mask &= ~ran;
        s->pc = pc + 1;
        if (!s->mask)
          warp.splits.erase(warp.splits.begin() + warp.current);
        exitLanes(ran);
        return;
      }
      case Step::Poll:
        --budget;
        s = &warp.split();
        s->pc = pc + 1;
        s->state = Split::Ready;
        s->armed = false;
        s->polled = true;
        s->sincePoll = 0;
        ++cluster.pollsSinceProgress;
        return;
      case Step::Diverted:
        --budget;
        return;
      }
      s = &warp.split();
      s->state = Split::Ready;
      s->armed = false;
      ++pc;
      --budget;
      if (pc >= meeting || budget <= 0 || cluster.stopped) {
        s->pc = pc;
        countWork(*s, begin - budget);
        return;
      }
    }
  }

  void noteWgmmaWrites(const Instr &instr) {
    if (warp.unfenced.empty())
      warp.unfenced.assign(program.numRegisters, 0);
    for (unsigned i = 0; i < instr.numDests; ++i)
      if (uint8_t &mark = warp.unfenced[instr.dests[i]]; !mark) {
        mark = 1;
        warp.unfencedList.push_back(instr.dests[i]);
      }
  }

  void reportGuard(const Instr &instr, uint32_t active) {
    uint32_t missing = active & ~warp.available[instr.guard];
    if (cluster.launch.options.checkUninitialised)
      report(FindingKind::UninitialisedRegister, warp, instr,
             countr_zero(missing),
             "predicate " + program.registerNames[instr.guard] +
                 " is read but was never written");
    warp.available[instr.guard] |= missing;
  }
};

} // namespace

/// Names the place where the warp that used up the last of it goes on.
static void reportLimit(const Warp &warp, uint64_t limit) {
  const Launch &launch = warp.launch();
  bool many = launch.clusterDim.count() > 1;
  std::string text =
      formatv("'{0}' has not ended after {1} warp instructions of a {2}: "
              "max_instructions of the launch file, --max-instructions or "
              "LINATTN_SIM_MAX_INSTRUCTIONS allow more, 0 any number",
              launch.program->kernel->name, limit, many ? "cluster" : "block");
  if (warp.splits.empty())
    return launch.findings->addGlobal(FindingKind::Limit, text);
  const Split &split = warp.splits.front();
  report(FindingKind::Limit, warp, launch.program->code[split.pc],
         countr_zero(split.mask), text);
}

Cluster::Outcome Cluster::run() {
  bool shuffle = launch.options.shuffleWarps;
  bool sometimes = launch.options.timing == AsyncTiming::Random;
  uint64_t limit = launch.options.maxWarpInstructions;
  SmallVector<Warp *> order(warps.begin(), warps.end());
  while (liveThreads) {
    if (launch.stop.load(std::memory_order_relaxed))
      return Outcome::Stopped;
    if (shuffle)
      std::shuffle(order.begin(), order.end(), random);
    bool ran = false;
    uint64_t before = executed;
    for (Warp *warp : order) {
      if (!warp->live)
        continue;
      int begin = shuffle ? 8 + int(random() % 120) : 64;
      int budget = begin;
      ran |= WarpRunner(*this, *warp).run(budget);
      executed += begin - budget;
      if (stopped)
        return Outcome::Stopped;
      if (limit && executed > limit) {
        reportLimit(*warp, limit);
        launch.stop = true;
        return Outcome::Stopped;
      }
    }
    launch.warpInstructions.fetch_add(executed - before,
                                      std::memory_order_relaxed);
    if (sometimes && !asyncQueue.empty() && random() % 4 == 0)
      asyncQueue.finishOne(*this);
    bool spinning = pollsSinceProgress > 4 * warps.size();
    if ((!ran || spinning) && asyncQueue.finishOne(*this))
      continue;
    // Waits with a time limit give up, a few times.
    if (!ran && timedWaits && pollsSinceProgress <= 8 * warps.size()) {
      timedWaits = false;
      ++timeouts;
      ++events;
      continue;
    }
    if (!ran || pollsSinceProgress > stalledPolls)
      return Outcome::Stalled;
  }
  // Work that nobody waited for still happens.
  while (asyncQueue.finishOne(*this)) {
  }
  checkExits(*this);
  checkMbarriersAtExit(*this);
  checkWarpgroupsAtExit(*this);
  return Outcome::Done;
}

void Cluster::reportDeadlock() {
  for (Warp *warp : warps) {
    bool reported = false;
    for (Split &s : warp->splits) {
      const Instr &instr = launch.program->code[s.pc];
      if (s.state != Split::Converge)
        continue;
      std::string others;
      for (Split &o : warp->splits)
        if (&o != &s)
          others += (others.empty() ? "" : ", ") +
                    ("lanes " + rangesText(o.mask)) + " are at line " +
                    std::to_string(launch.program->code[o.pc].line);
      report(FindingKind::Divergence, *warp, instr, countr_zero(s.mask),
             "lanes " + rangesText(s.mask) + " of warp " + Twine(warp->index) +
                 " wait for the other lanes of their warp, but " +
                 (others.empty() ? "those have exited" : others));
      reported = true;
      break;
    }
    if (reported)
      continue;
    for (Split &s : warp->splits) {
      const Instr &instr = launch.program->code[s.pc];
      std::string text = "lanes " + rangesText(s.mask) + " of warp " +
                         std::to_string(warp->index);
      const Warp::MbarrierQuestion &asked = warp->asked;
      if (asked.instr && (s.mask >> asked.lane & 1) &&
          (s.state != Split::Blocked || asked.instr == &instr)) {
        reportAt(FindingKind::Deadlock, *warp, *asked.instr, asked.lane,
                 asked.address,
                 text + " wait for ever for " + describeMbarrier(*warp));
        continue;
      }
      report(FindingKind::Deadlock, *warp, instr, countr_zero(s.mask),
             text + (s.state == Split::Blocked ? " wait here for ever"
                                               : " poll here for ever"));
    }
  }
}

} // namespace linattn::sim
