//===- Mbarrier.cpp - Barriers in shared memory ---------------------------===//

#include "Mbarrier.h"
#include "Findings.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace linattn::sim {

static std::string hex(uint64_t value) { return "0x" + utohexstr(value, true); }

static uint64_t pattern(uint64_t offset) {
  return 0x6d626172'72696572u ^ offset << 32;
}

static void wrong(const Accessor &who, uint64_t address, const Twine &message,
                  const Instr *other = nullptr) {
  reportAt(FindingKind::Mbarrier, *who.warp, *who.instr, who.lane, address,
           message, other);
}

static void complain(const Accessor &who, const Mbarrier &bar,
                     const Twine &what) {
  wrong(who, bar.address, "the mbarrier at " + hex(bar.address) + " " + what);
}

/// Whether the initialisation is ordered before the use.
static bool knowsInit(const Accessor &who, const Mbarrier &bar) {
  Warp &warp = *who.warp;
  const VectorClock *known =
      who.work ? who.work->clock.get() : warp.clocks[who.lane].get();
  return !known || bar.initThread == warp.threadId(who.lane) ||
         known->get(bar.initThread) >= bar.initClock;
}

static Place locateMbarrier(const Accessor &who, StateSpace space,
                            uint64_t address, Block *&block) {
  Place place = locate(*who.warp, *who.instr, who.lane, space, address, 8,
                       AccessWrite | AccessAtomic);
  if (place.data && place.space != StateSpace::Shared) {
    wrong(who, address,
          "address " + hex(address) +
              " of an mbarrier is not in shared memory");
    place.data = nullptr;
  }
  if (!place.data)
    return place;
  block = who.warp->cluster().blocks[place.owner->rank].get();
  if (block != &who.warp->block || who.work)
    noteOutsideUse(who, *block, address);
  return place;
}

Mbarrier *findMbarrier(const Accessor &who, StateSpace space, uint64_t address,
                       Block **holder) {
  Block *block = nullptr;
  Place place = locateMbarrier(who, space, address, block);
  if (!place.data)
    return nullptr;
  if (holder)
    *holder = block;
  if (!block->mbarriers)
    block->mbarriers = std::make_shared<MbarrierTable>();
  auto it = block->mbarriers->at.find(place.offset);
  if (it == block->mbarriers->at.end()) {
    wrong(who, address,
          "the mbarrier at " + hex(address) + " was never initialised");
    return nullptr;
  }
  Mbarrier &bar = it->second;
  uint64_t found;
  std::memcpy(&found, place.data, 8);
  if (found != pattern(place.offset)) {
    complain(who, bar,
             "was written over by other accesses since its "
             "initialisation at line " +
                 Twine(bar.init->line));
    uint64_t repaired = pattern(place.offset);
    std::memcpy(place.data, &repaired, 8);
  }
  if (!knowsInit(who, bar))
    wrong(who, address,
          "the mbarrier at " + hex(address) +
              " is used before its "
              "initialisation at line " +
              Twine(bar.init->line) +
              " is known here: a barrier must come between",
          bar.init);
  return &bar;
}

void initMbarrier(const Accessor &who, StateSpace space, uint64_t address,
                  uint32_t count) {
  Block *block = nullptr;
  Place place = locateMbarrier(who, space, address, block);
  if (!place.data)
    return;
  if (block != &who.warp->block) {
    wrong(who, address,
          "an mbarrier is initialised by a thread of another block");
    return;
  }
  if (count == 0 || count > maxMbarrierCount) {
    wrong(who, address,
          "an mbarrier is initialised with " + Twine(count) +
              " arrivals: 1 to " + Twine(maxMbarrierCount) + " are possible");
    count = std::max(1u, std::min(count, maxMbarrierCount));
  }
  if (!block->mbarriers)
    block->mbarriers = std::make_shared<MbarrierTable>();
  auto [it, fresh] = block->mbarriers->at.try_emplace(place.offset);
  if (!fresh)
    complain(who, it->second, "is initialised again without mbarrier.inval");
  noteAccess(who, place, address, 8, AccessWrite);
  uint64_t bits = pattern(place.offset);
  std::memcpy(place.data, &bits, 8);
  Mbarrier bar;
  bar.expected = bar.pending = count;
  bar.address = address;
  bar.initThread = who.warp->threadId(who.lane);
  bar.initClock = who.warp->clock;
  bar.init = who.instr;
  it->second = bar;
}

void invalidateMbarrier(const Accessor &who, StateSpace space,
                        uint64_t address) {
  Block *block = nullptr;
  Mbarrier *bar = findMbarrier(who, space, address, &block);
  if (!bar)
    return;
  if (bar->tx)
    complain(who, *bar,
             "is invalidated while it expects " + Twine(bar->tx) + " bytes");
  for (auto it = block->mbarriers->at.begin(); it != block->mbarriers->at.end();
       ++it)
    if (&it->second == bar) {
      block->mbarriers->at.erase(it);
      return;
    }
}

/// Starts the next phase if nothing is missing in this one.
static void tryComplete(const Accessor &who, Mbarrier &bar) {
  if (bar.pending)
    return;
  if (bar.tx < 0) {
    complain(who, bar,
             "has received " + Twine(-bar.tx) +
                 " bytes more than were expected in phase " + Twine(bar.phase));
    bar.tx = 0;
  }
  if (bar.tx)
    return;
  ++bar.phase;
  bar.pending = bar.expected;
  // Arrivals are atomic updates of one object, so a wait learns of those of
  // earlier phases as well.
  bar.released = bar.gathering;
  who.warp->cluster().progress();
}

static void checkTx(const Accessor &who, Mbarrier &bar) {
  if (bar.tx <= maxMbarrierTx && bar.tx >= -maxMbarrierTx)
    return;
  complain(who, bar,
           "has " + Twine(bar.tx) + " bytes to come, beyond its limit of " +
               Twine(maxMbarrierTx));
  bar.tx = bar.tx > 0 ? maxMbarrierTx : -maxMbarrierTx;
}

void expectTx(const Accessor &who, Mbarrier &bar, uint64_t bytes) {
  bar.tx += int64_t(std::min<uint64_t>(bytes, 1u << 30));
  bar.expectWarp = who.warp;
  bar.expect = who.instr;
  bar.expectLane = who.lane;
  checkTx(who, bar);
}

void completeTx(const Accessor &who, Mbarrier &bar, uint64_t bytes) {
  bar.tx -= int64_t(std::min<uint64_t>(bytes, 1u << 30));
  checkTx(who, bar);
  tryComplete(who, bar);
}

void arriveOn(const Accessor &who, Mbarrier &bar, uint32_t count, bool drop) {
  if (drop) {
    if (count > bar.expected)
      complain(who, bar,
               "expects " + Twine(bar.expected) + " arrivals, " + Twine(count) +
                   " are dropped");
    bar.expected -= std::min(bar.expected, count);
  }
  if (count > bar.pending) {
    complain(who, bar,
             "gets " + Twine(count) + " arrivals when " + Twine(bar.pending) +
                 " of " + Twine(bar.expected) + " are pending in phase " +
                 Twine(bar.phase));
    count = bar.pending;
  }
  bar.pending -= count;
  tryComplete(who, bar);
}

void signalBytes(const Accessor &who, StateSpace space, uint64_t address,
                 uint64_t bytes) {
  Mbarrier *bar = findMbarrier(who, space, address);
  if (!bar)
    return;
  releaseWork(bar->gathering, who.warp->cluster(), *who.work);
  completeTx(who, *bar, bytes);
}

void checkMbarriersAtExit(Cluster &cluster) {
  for (const auto &block : cluster.blocks) {
    if (!block->mbarriers)
      continue;
    for (auto &[offset, bar] : block->mbarriers->at) {
      if (!bar.tx)
        continue;
      bool more = bar.tx > 0;
      Warp &warp = bar.expectWarp ? *bar.expectWarp : *block->warps.front();
      const Instr &instr = bar.expect ? *bar.expect : *bar.init;
      complain({&warp, &instr, bar.expectLane}, bar,
               Twine("of block rank ") + Twine(block->rank) +
                   (more ? " still expects " + Twine(bar.tx) +
                               " bytes at exit that no copy brings"
                         : " has received " + Twine(-bar.tx) +
                               " bytes at exit that nothing expected"));
    }
  }
}

std::string describeMbarrier(const Warp &warp) {
  const Warp::MbarrierQuestion &asked = warp.asked;
  uint64_t address = asked.address;
  uint64_t plain =
      address - sharedWindow < windowBytes ? address - sharedWindow : address;
  uint64_t offset = (plain & ((1u << clusterRankShift) - 1)) - sharedBase;
  std::string text = "the mbarrier at " + hex(address);
  const Block &block = warp.block;
  if (!block.mbarriers)
    return text;
  auto it = block.mbarriers->at.find(offset);
  if (it == block.mbarriers->at.end())
    return text;
  const Mbarrier &bar = it->second;
  return text + ": in phase " + std::to_string(bar.phase) + " " +
         std::to_string(bar.pending) + " of " + std::to_string(bar.expected) +
         " arrivals and " + std::to_string(bar.tx) + " bytes are missing";
}

} // namespace linattn::sim
