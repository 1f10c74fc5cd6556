//===- State.cpp - Warps, blocks and clusters while they run --------------===//

#include "State.h"
#include "Access.h"
#include "Findings.h"
#include "Specials.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {

static thread_local Counters *currentCounters = nullptr;
Counters &counters() { return *currentCounters; }
void setCounters(Counters *c) { currentCounters = c; }

Launch &Warp::launch() const { return block.cluster.launch; }
Cluster &Warp::cluster() const { return block.cluster; }

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Warp::Warp(Block &block, uint32_t index, uint32_t lanes)
    : block(block), index(index),
      launched(lanes == 32 ? ~0u : (1u << lanes) - 1), live(launched) {
  const Launch &l = launch();
  const Program &p = *l.program;
  registers.reset(new uint8_t[p.registerBytes + 64]);
  base[0] = registers.get();
  base[1] = l.constants.data();
  available.assign(p.numRegisters, 0);
  available[constantRegister] = ~0u;
  predicates.assign(p.numRegisters, 0);
  for (const SpecialRegister &special : p.specials) {
    available[special.op.reg] = ~0u;
    bool isPred = special.op.type == Type::Pred;
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint64_t value = specialRegisterValue(special.name, *this, lane);
      if (isPred)
        predicates[special.op.reg] |= uint32_t(value & 1) << lane;
      else
        write(special.op, lane, value);
    }
  }
  splits.emplace_back();
  splits.back().mask = launched;
  splits.back().pc = p.functions.front().entry;
  if (p.usesAsync)
    async.reset(new LaneAsync[32]);
  if (p.frameBytes) {
    frame.assign(size_t(p.frameBytes) * 32, 0xCD);
    for (unsigned lane = 0; lane < 32; ++lane)
      frameShadow.emplace_back(p.frameBytes);
  }
}

Block::Block(Cluster &cluster, Dim3 index, uint32_t rank)
    : cluster(cluster), index(index), rank(rank) {
  const Launch &l = cluster.launch;
  uint32_t bytes =
      l.program->dynamicSharedOffset - sharedBase + l.config.dynamicSharedBytes;
  shared.assign(bytes, 0xCD);
  sharedShadow.reset(bytes, false);
  liveThreads = l.config.block.count();
  for (uint32_t first = 0; first < liveThreads; first += 32)
    warps.push_back(std::make_unique<Warp>(*this, first / 32,
                                           std::min(32u, liveThreads - first)));
}

Cluster::Cluster(Launch &launch, uint32_t linearIndex)
    : launch(launch), linear(linearIndex),
      random(launch.options.seed * 0x9E3779B97F4A7C15u + linearIndex) {
  const Dim3 &c = launch.clusterDim, &g = launch.config.grid;
  Dim3 clusters{g.x / c.x, g.y / c.y, g.z / c.z};
  Dim3 at{linearIndex % clusters.x, linearIndex / clusters.x % clusters.y,
          linearIndex / clusters.x / clusters.y};
  for (uint32_t rank = 0; rank < c.count(); ++rank) {
    Dim3 index{at.x * c.x + rank % c.x, at.y * c.y + rank / c.x % c.y,
               at.z * c.z + rank / c.x / c.y};
    blocks.push_back(std::make_unique<Block>(*this, index, rank));
    for (auto &warp : blocks.back()->warps) {
      warp->clusterIndex = warps.size();
      warps.push_back(warp.get());
    }
    liveThreads += blocks.back()->liveThreads;
  }
  firstAsync = warps.size() * 32;
  clockSize = firstAsync + (warps.size() + 31) / 32 * 32 + asyncSlots;
  if (launch.options.checkRaces) {
    auto empty = std::make_shared<const VectorClock>(clockSize);
    for (Warp *warp : warps) {
      warp->clocks.fill(empty);
      if (launch.program->usesAtomics)
        warp->fences.resize(32);
    }
  }
}

//===----------------------------------------------------------------------===//
// Happens-before
//===----------------------------------------------------------------------===//

ClockRef Warp::release(uint32_t lanes) {
  if (!launch().options.checkRaces || !lanes)
    return nullptr;
  unsigned first = countr_zero(lanes);
  auto result = std::make_shared<VectorClock>(*clocks[first]);
  const VectorClock *last = clocks[first].get();
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    if (clocks[lane].get() != last) {
      last = clocks[lane].get();
      result->join(*last);
    }
    result->set(threadId(lane), clock);
  }
  ++clock;
  return result;
}

void Warp::releaseInto(ClockRef &object, uint32_t lanes) {
  ClockRef mine = release(lanes);
  if (!mine)
    return;
  if (!object) {
    object = mine;
    return;
  }
  auto joined = std::const_pointer_cast<VectorClock>(mine);
  joined->join(*object);
  object = joined;
}

void Warp::acquire(uint32_t lanes, const ClockRef &from) {
  if (!from || !launch().options.checkRaces)
    return;
  ClockRef old, updated;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    if (clocks[lane] == from)
      continue;
    if (clocks[lane] != old) {
      old = clocks[lane];
      if (from->covers(*old)) {
        updated = from;
      } else {
        auto joined = std::make_shared<VectorClock>(*old);
        joined->join(*from);
        updated = joined;
      }
    }
    clocks[lane] = updated;
  }
}

void Warp::proxyFence(uint32_t lanes) {
  if (!launch().options.checkRaces)
    return;
  // Lanes that fence together share one clock: that the others' accesses are
  // fenced is true as well, and whether they are ordered stands in the first
  // half.
  ClockRef old, updated;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    if (clocks[lane] != old) {
      old = clocks[lane];
      auto fenced = std::make_shared<VectorClock>(*old);
      fenced->fence();
      for (uint32_t all = lanes; all; all &= all - 1)
        fenced->setFenced(threadId(countr_zero(all)), clock);
      updated = fenced;
    }
    clocks[lane] = updated;
  }
  ++clock;
}

void Warp::fenceLanes(uint32_t lanes) {
  if (fences.empty())
    return;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    for (uint64_t key : fences[lane].seen)
      acquireKey(*this, lane, key);
    fences[lane].seen.clear();
    fences[lane].published = release(1u << lane);
  }
}

//===----------------------------------------------------------------------===//
// Asynchronous work
//===----------------------------------------------------------------------===//

void AsyncQueue::issue(Cluster &cluster, AsyncRef work) {
  if (cluster.launch.options.timing == AsyncTiming::Earliest ||
      (cluster.launch.options.timing == AsyncTiming::Random &&
       cluster.random() % 4 == 0)) {
    finish(*work);
    cluster.progress();
    return;
  }
  while (!queue.empty() && queue.front()->done)
    queue.pop_front();
  queue.push_back(std::move(work));
}

void AsyncQueue::finish(AsyncWork &work) {
  if (work.done)
    return;
  work.done = true;
  work.perform(work);
}

bool AsyncQueue::finishOne(Cluster &cluster) {
  while (!queue.empty()) {
    size_t at = cluster.random() % queue.size();
    AsyncRef work = std::move(queue[at]);
    queue[at] = std::move(queue.back());
    queue.pop_back();
    if (work->done)
      continue;
    finish(*work);
    cluster.progress();
    return true;
  }
  return false;
}

AsyncRef makeWork(Warp &warp, uint32_t lane, const Instr &instr) {
  auto work = std::make_shared<AsyncWork>();
  Cluster &cluster = warp.cluster();
  work->issuer = &warp;
  work->lane = lane;
  work->instr = &instr;
  std::tie(work->slot, work->slotClock) = cluster.asyncQueue.nextSlot();
  work->slot += cluster.clockSize - asyncSlots;
  work->clock = warp.clocks[lane];
  work->issuerThread = warp.threadId(lane);
  work->issuerClock = warp.clock;
  if (work->clock)
    ++warp.clock;
  return work;
}

static void setSlot(VectorClock &clock, const AsyncOrigin &work) {
  clock.set(work.slot, work.slotClock);
}

void releaseWork(ClockRef &object, Cluster &cluster, const AsyncOrigin &work) {
  if (!work.clock)
    return;
  auto joined = object ? std::make_shared<VectorClock>(*object)
                       : std::make_shared<VectorClock>(cluster.clockSize);
  setSlot(*joined, work);
  object = joined;
}

void acquireWork(Warp &warp, uint32_t lanes,
                 const std::vector<AsyncRef> &work) {
  if (work.empty() || !work.front()->clock)
    return;
  ClockRef old, updated;
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    if (warp.clocks[lane] != old) {
      old = warp.clocks[lane];
      auto joined = std::make_shared<VectorClock>(*old);
      for (const AsyncRef &w : work)
        setSlot(*joined, *w);
      updated = joined;
    }
    warp.clocks[lane] = updated;
  }
}

std::pair<uint32_t, uint32_t> AsyncQueue::nextSlot() {
  uint64_t n = issued++;
  return {uint32_t(n % asyncSlots), uint32_t(n / asyncSlots + 1)};
}

} // namespace linattn::sim
