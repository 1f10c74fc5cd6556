//===- Access.cpp - Checked access to memory ------------------------------===//

#include "RaceCheck.h"

using namespace llvm;

namespace linattn::sim {

//===----------------------------------------------------------------------===//
// Finding the memory
//===----------------------------------------------------------------------===//

static Place outside(Warp &warp, const Instr &instr, unsigned lane,
                     uint64_t address, uint32_t bytes, uint8_t flags,
                     const Twine &where) {
  reportAt(FindingKind::OutOfBounds, warp, instr, lane, address,
           accessText(flags, bytes) + " " + where);
  return {};
}

static Place locateShared(Warp &warp, const Instr &instr, unsigned lane,
                          uint64_t address, uint32_t bytes, uint8_t flags,
                          bool otherBlocks) {
  Block *block = &warp.block;
  uint64_t rank = address >> clusterRankShift;
  uint64_t offset = address & ((uint64_t(1) << clusterRankShift) - 1);
  if (rank) {
    if (rank - 1 >= warp.cluster().blocks.size() ||
        (!otherBlocks && rank - 1 != block->rank))
      return outside(warp, instr, lane, address, bytes, flags,
                     "at shared address " + hex(address) +
                         (otherBlocks ? ", which belongs to no block of the "
                                        "cluster"
                                      : ", outside the block's own window"));
    block = warp.cluster().blocks[rank - 1].get();
  }
  if (offset < sharedBase || offset - sharedBase + bytes > block->sharedBytes())
    return outside(warp, instr, lane, address, bytes, flags,
                   "outside shared memory: address " + hex(address) +
                       ", the block has " + Twine(block->sharedBytes()) +
                       " bytes from " + hex(sharedBase) + " on");
  Place place;
  place.offset = offset - sharedBase;
  place.data = block->shared.data() + place.offset;
  place.shadow = &block->sharedShadow;
  place.space = StateSpace::Shared;
  place.owner = block;
  return place;
}

static Place locateLocal(Warp &warp, const Instr &instr, unsigned lane,
                         uint64_t address, uint32_t bytes, uint8_t flags) {
  uint64_t size = warp.launch().program->frameBytes;
  if (address >= size || address + bytes > size)
    return outside(warp, instr, lane, address, bytes, flags,
                   "outside local memory: address " + hex(address) +
                       ", the thread has " + Twine(size) + " bytes");
  Place place;
  place.offset = address;
  place.data = warp.frame.data() + size * lane + address;
  place.shadow = &warp.frameShadow[lane];
  place.space = StateSpace::Local;
  return place;
}

static Place locateParam(Warp &warp, const Instr &instr, unsigned lane,
                         uint64_t address, uint32_t bytes, uint8_t flags) {
  std::vector<uint8_t> &params = warp.launch().parameters;
  if (flags & AccessWrite) {
    reportAt(FindingKind::ReadOnly, warp, instr, lane, address,
             "write to a kernel parameter");
    return {};
  }
  if (address >= params.size() || address + bytes > params.size())
    return outside(warp, instr, lane, address, bytes, flags,
                   "outside the kernel's parameters: offset " + Twine(address) +
                       " of " + Twine(params.size()) + " bytes");
  Place place;
  place.data = params.data() + address;
  place.offset = address;
  place.space = StateSpace::Param;
  return place;
}

static Place locateGlobal(Warp &warp, const Instr &instr, unsigned lane,
                          uint64_t address, uint32_t bytes, uint8_t flags,
                          StateSpace space) {
  // The allocation found last is mostly the next one as well.
  static thread_local const DeviceMemory *cachedMemory = nullptr;
  static thread_local Allocation *cached = nullptr;
  static thread_local uint64_t cachedGeneration = 0;
  DeviceMemory *memory = warp.launch().memory;
  if (cachedMemory != memory || cachedGeneration != memory->generation() ||
      address - cached->address >= cached->bytes) {
    Allocation *found = memory->find(address);
    if (!found) {
      const Allocation *near = memory->nearest(address);
      std::string where = "at global address " + hex(address);
      if (near && address < near->address)
        where += ", " + std::to_string(near->address - address) +
                 " bytes before '" + near->name + "'";
      else if (near)
        where += ", " + std::to_string(address - near->address - near->bytes) +
                 " bytes past the end of '" + near->name + "' (" +
                 std::to_string(near->bytes) + " bytes)";
      return outside(warp, instr, lane, address, bytes, flags, where);
    }
    cachedMemory = memory;
    cached = found;
    cachedGeneration = memory->generation();
  }
  Allocation *alloc = cached;
  uint64_t offset = address - alloc->address;
  if (offset + bytes > alloc->bytes)
    return outside(warp, instr, lane, address, bytes, flags,
                   "at global address " + hex(address) + ", offset " +
                       Twine(offset) + " of '" + alloc->name + "' (" +
                       Twine(alloc->bytes) + " bytes)");
  if (alloc->readOnly && (flags & AccessWrite)) {
    reportAt(FindingKind::ReadOnly, warp, instr, lane, address,
             "write to constant memory '" + Twine(alloc->name) + "'");
    return {};
  }
  if (space == StateSpace::Const && !alloc->readOnly) {
    reportAt(FindingKind::BadOperand, warp, instr, lane, address,
             "constant-space access to global memory '" + Twine(alloc->name) +
                 "'");
    return {};
  }
  Place place;
  place.offset = offset;
  place.data = alloc->data.get() + offset;
  place.shadow = &alloc->shadow;
  place.space = alloc->readOnly ? StateSpace::Const : StateSpace::Global;
  return place;
}

Place locate(Warp &warp, const Instr &instr, unsigned lane, StateSpace space,
             uint64_t address, uint32_t bytes, uint8_t flags,
             uint32_t alignment) {
  uint32_t align = alignment ? alignment : bytes;
  if (address & (align - 1)) {
    reportAt(FindingKind::Misaligned, warp, instr, lane, address,
             accessText(flags, bytes) + " at address " + hex(address) +
                 ", which is not a multiple of " + Twine(align));
    return {};
  }
  switch (space) {
  case StateSpace::Shared:
    return locateShared(warp, instr, lane, address, bytes, flags, false);
  case StateSpace::SharedCluster:
    return locateShared(warp, instr, lane, address, bytes, flags, true);
  case StateSpace::Local:
    return locateLocal(warp, instr, lane, address, bytes, flags);
  case StateSpace::Param:
    return locateParam(warp, instr, lane, address, bytes, flags);
  case StateSpace::Global:
  case StateSpace::Const:
    return locateGlobal(warp, instr, lane, address, bytes, flags, space);
  case StateSpace::Generic:
    break;
  }
  if (address - sharedWindow < windowBytes)
    return locateShared(warp, instr, lane, address - sharedWindow, bytes, flags,
                        true);
  if (address - localWindow < windowBytes)
    return locateLocal(warp, instr, lane, address - localWindow, bytes, flags);
  if (address - paramWindow < windowBytes)
    return locateParam(warp, instr, lane, address - paramWindow, bytes, flags);
  return locateGlobal(warp, instr, lane, address, bytes, flags,
                      StateSpace::Generic);
}

//===----------------------------------------------------------------------===//
// Races and initialisation
//===----------------------------------------------------------------------===//

void noteAccess(const Accessor &who, const Place &place, uint64_t address,
                uint32_t bytes, uint8_t flags) {
  if (!place.shadow || place.space == StateSpace::Const)
    return;
  if (place.owner && (who.work || place.owner != &who.warp->block))
    noteOutsideUse(who, *place.owner, address);
  Check check(who, place.space, bytes, flags);
  check.address = address;
  check.cells(*place.shadow, place.offset);
}

void noteSharedReads(const Accessor &who, Block &block,
                     ArrayRef<std::pair<uint32_t, uint64_t>> pages,
                     uint8_t flags) {
  if (pages.empty())
    return;
  Check check(who, StateSpace::Shared, 16, flags);
  auto addressOfFirst = [](std::pair<uint32_t, uint64_t> page) {
    return sharedBase + page.first * shadowPageBytes +
           countr_zero(page.second) * 4;
  };
  noteOutsideUse(who, block, addressOfFirst(pages.front()));
  for (auto page : pages) {
    check.address = addressOfFirst(page);
    check.asyncRead(block.sharedShadow.page(page.first * shadowPageBytes),
                    page.second);
  }
}

//===----------------------------------------------------------------------===//
// The life of a block's shared memory
//===----------------------------------------------------------------------===//

static bool knowsBlock(const VectorClock &known, const Block &block) {
  for (const auto &warp : block.warps)
    for (unsigned lane = 0; lane < 32; ++lane)
      if (known.get(warp->threadId(lane)))
        return true;
  return false;
}

void noteOutsideUse(const Accessor &who, const Block &owner, uint64_t address) {
  Warp &warp = *who.warp;
  const VectorClock *known =
      who.work ? who.work->clock.get() : warp.clocks[who.lane].get();
  if (!known)
    return;
  if (&owner != &warp.block && !(warp.startedBlocks >> owner.rank & 1)) {
    warp.startedBlocks |= 1u << owner.rank;
    if (!knowsBlock(*known, owner))
      reportAt(FindingKind::ClusterMemory, warp, *who.instr, who.lane, address,
               "the shared memory of block rank " + Twine(owner.rank) +
                   " is used before that block is known to have started: a "
                   "cluster barrier must come first");
  }
  Cluster &cluster = warp.cluster();
  Block &block = *cluster.blocks[owner.rank];
  if (block.outsideUses.empty())
    block.outsideUses.resize(cluster.clockSize);
  uint32_t user = who.work ? who.work->slot : warp.threadId(who.lane);
  uint32_t clock = who.work ? who.work->slotClock : warp.clock;
  OutsideUse &use = block.outsideUses[user];
  if (use.clock <= clock)
    use = {clock, &warp, who.instr, who.lane, address};
}

void checkExits(Cluster &cluster) {
  for (const auto &block : cluster.blocks) {
    for (uint32_t user = 0; user < block->outsideUses.size(); ++user) {
      const OutsideUse &use = block->outsideUses[user];
      if (!use.clock ||
          (block->knownAtExit && block->knownAtExit->get(user) >= use.clock))
        continue;
      if (user < cluster.firstAsync)
        reportAt(FindingKind::ClusterMemory, *use.warp, *use.instr, use.lane,
                 use.address,
                 "block rank " + Twine(block->rank) +
                     " may have exited before its shared memory is used here: "
                     "it must wait at a cluster barrier before it exits");
      else
        reportAt(FindingKind::AsyncCopy, *use.warp, *use.instr, use.lane,
                 use.address,
                 "block rank " + Twine(block->rank) +
                     " exits while this asynchronous work may still use its "
                     "shared memory: nothing has waited for it");
    }
  }
}

uint8_t *access(Warp &warp, const Instr &instr, unsigned lane, StateSpace space,
                uint64_t address, uint32_t bytes, uint8_t flags,
                StateSpace *actual) {
  Place place = locate(warp, instr, lane, space, address, bytes, flags);
  if (!place.data)
    return nullptr;
  if (actual)
    *actual = place.space;
  noteAccess({&warp, &instr, lane}, place, address, bytes, flags);
  return place.data;
}

/// Whether all active lanes lie in one region, aligned and in bounds; if so,
/// their offsets.
static bool locateTogether(Warp &warp, StateSpace space, uint32_t active,
                           const uint64_t *address, uint32_t bytes,
                           uint8_t flags, uint64_t *offset, Place &region) {
  uint64_t low = ~uint64_t(0), high = 0, bits = 0;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    uint64_t a = address[countr_zero(rest)];
    low = std::min(low, a);
    high = std::max(high, a);
    bits |= a;
  }
  if (bits & (bytes - 1))
    return false;
  if (space == StateSpace::Shared) {
    Block &block = warp.block;
    if (low < sharedBase || high > (1u << clusterRankShift) ||
        high - sharedBase + bytes > block.sharedBytes())
      return false;
    low = sharedBase;
    region.data = block.shared.data();
    region.shadow = &block.sharedShadow;
    region.space = StateSpace::Shared;
  } else if (space == StateSpace::Global) {
    Allocation *alloc = warp.launch().memory->find(low);
    if (!alloc || high - alloc->address + bytes > alloc->bytes ||
        alloc->readOnly)
      return false;
    low = alloc->address;
    region.data = alloc->data.get();
    region.shadow = &alloc->shadow;
    region.space = StateSpace::Global;
  } else {
    return false;
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    offset[lane] = address[lane] - low;
  return true;
}

uint32_t accessWarp(Warp &warp, const Instr &instr, uint32_t active,
                    StateSpace space, const uint64_t *address, uint32_t bytes,
                    uint8_t flags, uint8_t **data) {
  uint64_t offset[32];
  uint32_t good = 0, shared = 0;
  Counters &count = counters();
  uint64_t *moved = flags & AccessWrite ? count.writtenBytes : count.readBytes;
  Place region;
  if (locateTogether(warp, space, active, address, bytes, flags, offset,
                     region)) {
    unsigned first = countr_zero(active);
    Check check({&warp, &instr, first}, region.space, bytes, flags);
    bool write = flags & AccessWrite;
    bool repeats = false;
    if (!write)
      for (unsigned lane = 1; lane < 32; ++lane)
        repeats |= offset[lane] <= offset[lane - 1];
    uint32_t rest = active;
    while (rest) {
      unsigned lane = countr_zero(rest);
      uint32_t same = 1u << lane;
      rest &= rest - 1;
      // Lanes that read the same place and know the same are one access.
      if (repeats) {
        for (uint32_t others = rest; others; others &= others - 1) {
          unsigned next = countr_zero(others);
          if (offset[next] == offset[lane] &&
              warp.clocks[next] == warp.clocks[lane])
            same |= 1u << next;
        }
        rest &= ~same;
      }
      check.known = warp.clocks[lane].get();
      check.move(lane, same, address[lane]);
      check.cells(*region.shadow, offset[lane]);
    }
    // Offsets of inactive lanes are anything.
    for (unsigned lane = 0; lane < 32; ++lane)
      data[lane] = region.data + (active >> lane & 1 ? offset[lane] : 0);
    moved[size_t(region.space)] += uint64_t(popcount(active)) * bytes;
    good = active;
    shared = region.space == StateSpace::Shared ? active : 0;
  } else {
    for (uint32_t rest = active; rest; rest &= rest - 1) {
      unsigned lane = countr_zero(rest);
      Place place =
          locate(warp, instr, lane, space, address[lane], bytes, flags);
      data[lane] = place.data;
      offset[lane] = place.offset;
      if (!place.data)
        continue;
      noteAccess({&warp, &instr, lane}, place, address[lane], bytes, flags);
      good |= 1u << lane;
      shared |= uint32_t(place.space == StateSpace::Shared) << lane;
      moved[size_t(place.space)] += bytes;
    }
  }
  if (shared)
    countBankConflicts(instr, offset, shared, bytes);
  return good;
}

//===----------------------------------------------------------------------===//
// Bank conflicts
//===----------------------------------------------------------------------===//

void countBankConflicts(const Instr &instr, const uint64_t *addresses,
                        uint32_t active, unsigned bytes) {
  // 32 banks of 4 bytes. Accesses of 8 bytes go in two halves of the warp,
  // those of 16 bytes in four quarters; equal words of one wavefront are one
  // access.
  unsigned lanesPerPass = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  unsigned wordsPerLane = std::max(1u, bytes / 4);
  // Consecutive places, and one place for all, have none.
  uint64_t base = addresses[countr_zero(active)];
  bool consecutive = bytes >= 4, broadcast = bytes >= 4;
  for (uint32_t rest = active; rest && (consecutive || broadcast);
       rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    consecutive &=
        addresses[lane] == base + uint64_t(lane - countr_zero(active)) * bytes;
    broadcast &= addresses[lane] == base;
  }
  if (consecutive || broadcast)
    return;
  uint64_t extra = 0;
  for (unsigned first = 0; first < 32; first += lanesPerPass) {
    uint64_t seen[32][32];
    uint8_t count[32] = {};
    unsigned most = 0;
    for (unsigned lane = first; lane < first + lanesPerPass; ++lane) {
      if (!(active >> lane & 1))
        continue;
      for (unsigned w = 0; w < wordsPerLane; ++w) {
        uint64_t word = addresses[lane] / 4 + w;
        unsigned bank = word % 32;
        bool known = false;
        for (unsigned i = 0; i < count[bank] && !known; ++i)
          known = seen[bank][i] == word;
        if (!known && count[bank] < 32) {
          seen[bank][count[bank]++] = word;
          most = std::max<unsigned>(most, count[bank]);
        }
      }
    }
    extra += most ? most - 1 : 0;
  }
  if (extra)
    counters().conflicts[instr.pc] += extra;
}

//===----------------------------------------------------------------------===//
// Synchronisation through memory
//===----------------------------------------------------------------------===//

static uint64_t syncKey(const Place &place, uint64_t address) {
  // A shared address means a different place in each block.
  return place.space == StateSpace::Shared
             ? sharedWindow | uint64_t(place.owner->cluster.linear) << 24 << 4 |
                   uint64_t(place.owner->rank) << 24 | place.offset
             : address;
}

void releaseAt(Warp &warp, uint32_t lane, const Place &place, uint64_t address,
               bool isRelease) {
  Launch &launch = warp.launch();
  if (!launch.options.checkRaces)
    return;
  ClockRef mine =
      isRelease ? warp.release(1u << lane)
                : (warp.fences.empty() ? nullptr : warp.fences[lane].published);
  if (!mine)
    return;
  std::lock_guard<std::mutex> guard(launch.globalSyncLock);
  ClockRef &slot =
      launch.globalSync[syncKey(place, address)][warp.cluster().linear];
  if (!slot || mine->covers(*slot)) {
    slot = mine;
    return;
  }
  auto joined = std::make_shared<VectorClock>(*mine);
  joined->join(*slot);
  slot = joined;
}

void acquireAt(Warp &warp, uint32_t lane, const Place &place, uint64_t address,
               bool isAcquire) {
  if (!warp.launch().options.checkRaces)
    return;
  uint64_t key = syncKey(place, address);
  if (isAcquire) {
    acquireKey(warp, lane, key);
    return;
  }
  if (warp.fences.empty())
    return;
  std::vector<uint64_t> &seen = warp.fences[lane].seen;
  if (seen.size() < 16 && !is_contained(seen, key))
    seen.push_back(key);
}

void acquireKey(Warp &warp, uint32_t lane, uint64_t key) {
  Launch &launch = warp.launch();
  std::lock_guard<std::mutex> guard(launch.globalSyncLock);
  auto it = launch.globalSync.find(key);
  if (it == launch.globalSync.end())
    return;
  uint32_t own = warp.cluster().linear;
  for (auto &[cluster, clock] : it->second) {
    if (cluster == own) {
      warp.acquire(1u << lane, clock);
      continue;
    }
    if (warp.clocks[lane]->ofCluster(cluster) == clock.get())
      continue;
    auto joined = std::make_shared<VectorClock>(*warp.clocks[lane]);
    joined->joinForeign(cluster, clock);
    for (auto &[third, theirs] : clock->others())
      if (third != own)
        joined->joinForeign(third, theirs);
    warp.clocks[lane] = joined;
  }
}

} // namespace linattn::sim
