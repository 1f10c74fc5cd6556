//===- InstrBarrier.cpp - Barriers of blocks and clusters, fences ---------===//

#include "Exec.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {
namespace {

enum BarrierBits {
  BarArrive = 1,
  BarReduce = 2,
  BarPopc = 4,
  BarAnd = 8,
  BarOr = 16,
  BarAligned = 32,
};

/// The barrier opens when its threads are there; those that have exited do not
/// count.
bool tryOpen(Block &block, NamedBarrier &b) {
  uint32_t expected = b.expected ? b.expected : block.liveThreads;
  if (!b.arrived || b.arrived < expected)
    return false;
  ++b.generation;
  b.arrived = 0;
  b.expected = 0;
  b.released = std::move(b.gathering);
  b.gathering = nullptr;
  b.resultCount = b.reduceCount;
  b.resultAnd = b.reduceAnd;
  b.resultOr = b.reduceOr;
  b.reduceCount = b.reduceOr = 0;
  b.reduceAnd = 1;
  block.cluster.progress();
  return true;
}

/// Operands: barrier [, threads], of reductions after the result and before the
/// predicate.
Step barrier(Warp &w, const Instr &i, uint32_t active) {
  bool reduce = i.detail & BarReduce;
  unsigned idArg = reduce ? 1 : 0, countArg = idArg + 1;
  bool hasCount = i.numArgs > (reduce ? 3u : 1u);
  unsigned lane = countr_zero(active);
  uint32_t id = w.read(i.arg(idArg), lane);
  uint32_t count = hasCount ? w.read(i.arg(countArg), lane) : 0;
  Split &s = w.split();
  Block &block = w.block;
  if (id >= 16) {
    report(FindingKind::Barrier, w, i, lane,
           "barrier " + Twine(id) + ": a block has barriers 0 to 15");
    return Step::Next;
  }
  NamedBarrier &b = block.barriers[id];
  if (!s.armed) {
    uint32_t size = w.launch().config.block.count();
    if (count % 32 != 0 || count > (size + 31) / 32 * 32) {
      report(FindingKind::Barrier, w, i, lane,
             "barrier " + Twine(id) + " waits for " + Twine(count) +
                 " threads, which must be a multiple of 32 and at most the "
                 "block's " +
                 Twine(size));
      return Step::Next;
    }
    if (b.arrived && b.expected != count)
      report(FindingKind::Barrier, w, i, lane,
             "barrier " + Twine(id) + " waits for " +
                 (count ? Twine(count).str() : "all") +
                 " threads here and for " +
                 (b.expected ? Twine(b.expected).str() : "all") + " at line " +
                 Twine(b.line));
    if (!b.arrived) {
      b.expected = count;
      b.line = i.line;
    }
    // An aligned arrival counts the whole warp, exited lanes too.
    bool whole = (i.detail & BarAligned) && count;
    b.arrived += whole ? 32 : popcount(active);
    w.releaseInto(b.gathering, active);
    if (reduce) {
      uint32_t p = w.pred(i.arg(i.numArgs - 1)) & active;
      b.reduceCount += popcount(p);
      b.reduceAnd &= p == active;
      b.reduceOr |= p != 0;
    }
    if (b.expected && b.arrived > b.expected)
      report(FindingKind::Barrier, w, i, lane,
             "more than " + Twine(b.expected) + " threads arrive at barrier " +
                 Twine(id));
    uint64_t generation = b.generation;
    bool opened = tryOpen(block, b);
    if (i.detail & BarArrive) {
      w.cluster().progress();
      return Step::Next;
    }
    if (!opened) {
      s.armed = true;
      s.waitValue = generation;
      w.cluster().progress();
      ++counters().waits["barrier"];
      return Step::Block;
    }
  } else if (b.generation == s.waitValue && !tryOpen(block, b)) {
    return Step::Block;
  }
  w.acquire(active, b.released);
  if (reduce) {
    if (i.detail & BarPopc)
      lanes(active, [&](unsigned l) { w.write(i.op[0], l, b.resultCount); });
    else
      w.setPred(i.op[0], active,
                (i.detail & BarAnd ? b.resultAnd : b.resultOr) ? ~0u : 0);
  }
  return Step::Next;
}

Error decodeBarrier(Instr &i, const Words &words) {
  for (StringRef word : words) {
    i.detail |= word == "arrive" ? BarArrive : 0;
    i.detail |= word == "red" ? BarReduce : 0;
    i.detail |= word == "popc" ? BarPopc : 0;
    i.detail |= word == "and" ? BarAnd : 0;
    i.detail |= word == "or" ? BarOr : 0;
    i.detail |= word == "aligned" ? BarAligned : 0;
  }
  if (words[0] == "bar")
    i.detail |= BarAligned;
  if (i.detail & BarAligned)
    i.traits |= TraitAligned;
  return Error::success();
}

//===--- Clusters
//-----------------------------------------------------------===//

bool tryOpenCluster(Cluster &cluster) {
  NamedBarrier &b = cluster.clusterBarrier;
  if (!b.arrived || b.arrived < cluster.liveThreads)
    return false;
  ++b.generation;
  b.arrived = 0;
  b.released = std::move(b.gathering);
  b.gathering = nullptr;
  cluster.progress();
  return true;
}

/// A relaxed arrival publishes what the lanes' fences before it have released.
void publishFences(Warp &w, uint32_t active, ClockRef &gathering) {
  if (w.fences.empty())
    return;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    const ClockRef &published = w.fences[countr_zero(rest)].published;
    if (!published || published == gathering)
      continue;
    auto joined = std::make_shared<VectorClock>(*published);
    if (gathering)
      joined->join(*gathering);
    gathering = joined;
  }
}

Step clusterArrive(Warp &w, const Instr &i, uint32_t active) {
  Cluster &cluster = w.cluster();
  NamedBarrier &b = cluster.clusterBarrier;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    if (w.clusterArrived[lane])
      report(FindingKind::Barrier, w, i, lane,
             "barrier.cluster.arrive twice without a wait between");
    w.clusterArrived[lane] = true;
    w.clusterGeneration[lane] = b.generation;
  }
  b.arrived += popcount(active);
  b.line = i.line;
  if (!(i.detail & 1)) // .relaxed publishes nothing
    w.releaseInto(b.gathering, active);
  else
    publishFences(w, active, b.gathering);
  tryOpenCluster(cluster);
  cluster.progress();
  return Step::Next;
}
Error decodeClusterArrive(Instr &i, const Words &words) {
  i.detail = is_contained(words, "relaxed");
  if (i.detail)
    i.traits |= TraitStrong; // its fences matter
  if (is_contained(words, "aligned"))
    i.traits |= TraitAligned;
  return Error::success();
}

Step clusterWait(Warp &w, const Instr &i, uint32_t active) {
  Cluster &cluster = w.cluster();
  NamedBarrier &b = cluster.clusterBarrier;
  unsigned lane = countr_zero(active);
  if (!w.clusterArrived[lane]) {
    report(FindingKind::Barrier, w, i, lane,
           "barrier.cluster.wait without an arrive before it");
    return Step::Next;
  }
  if (b.generation == w.clusterGeneration[lane] && !tryOpenCluster(cluster)) {
    if (!w.split().armed)
      ++counters().waits["cluster barrier"];
    w.split().armed = true;
    return Step::Block;
  }
  for (uint32_t rest = active; rest; rest &= rest - 1)
    w.clusterArrived[countr_zero(rest)] = false;
  w.startedBlocks = ~0u;
  w.acquire(active, b.released);
  return Step::Next;
}
Error decodeAligned(Instr &i, const Words &words) {
  if (is_contained(words, "aligned"))
    i.traits |= TraitAligned;
  return Error::success();
}

//===--- Fences
//-------------------------------------------------------------===//

Step fence(Warp &w, const Instr &i, uint32_t active) {
  w.fenceLanes(active);
  return Step::Next;
}
Step proxyFence(Warp &w, const Instr &i, uint32_t active) {
  w.proxyFence(active);
  return Step::Next;
}
Step nothing(Warp &, const Instr &, uint32_t) { return Step::Next; }

} // namespace

void registerBarrier(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Barrier;
  constexpr uint32_t B = TraitMayBlock;
  for (StringRef name : {"bar[.cta]", "barrier[.cta]"}) {
    t.add((name + ".sync[.aligned]").str(), "<u32 <u32?", barrier, K, B,
          decodeBarrier);
    t.add((name + ".arrive[.aligned]").str(), "<u32 <u32", barrier, K, 0,
          decodeBarrier);
    t.add((name + ".red.popc[.aligned].u32").str(), "=u32 <u32 <u32? <pred",
          barrier, K, B, decodeBarrier);
    t.add((name + ".red.<and|or>[.aligned].pred").str(),
          "=pred <u32 <u32? <pred", barrier, K, B, decodeBarrier);
  }
  t.add("barrier.cluster.arrive[.release|.relaxed][.aligned]", "",
        clusterArrive, K, 0, decodeClusterArrive);
  t.add("barrier.cluster.wait[.acquire][.aligned]", "", clusterWait, K, B,
        decodeAligned);
  constexpr InstrKind F = InstrKind::Fence;
  t.add("membar.<cta|gl|sys>", "", fence, F, TraitNone);
  t.add("fence[.sc|.acq_rel|.acquire|.release].<cta|cluster|gpu|sys>", "",
        fence, F);
  t.add("fence.proxy.async[.global|.shared::cta|.shared::cluster]", "",
        proxyFence, F);
  t.add("fence.proxy.alias", "", nothing, F);
  t.add("fence.proxy.tensormap::generic.*", "@? #?", nothing, F);
  t.add("fence.mbarrier_init.release.cluster", "", fence, F);
}

} // namespace linattn::sim
