//===- Access.cpp - Checked access to memory ------------------------------===//

#include "Access.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {

//===----------------------------------------------------------------------===//
// Finding the memory
//===----------------------------------------------------------------------===//

static std::string hex(uint64_t value) { return "0x" + utohexstr(value, true); }

static std::string accessText(uint8_t flags, uint32_t bytes) {
  return std::to_string(bytes) + "-byte " +
         (flags & AccessAsyncProxy ? "asynchronous " : "") +
         (flags & AccessWrite ? (flags & AccessAtomic ? "atomic access" : "write")
                              : "read");
}

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
        where += ", " +
                 std::to_string(address - near->address - near->bytes) +
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

namespace {

/// An access being checked against the cells it touches: of a lane, of a piece of
/// asynchronous work, or of lanes that know the same and read the same place.
struct Check {
  Accessor who;
  StateSpace space;
  uint64_t address = 0;
  uint32_t bytes;
  uint8_t flags;
  uint32_t readers = 0; ///< bits of the lanes in the warp of `thread`
  Warp &warp;
  Cluster &cluster;
  uint32_t thread, clock;
  const VectorClock *known;
  bool checkMissing, checkRaces;
  bool raced = false, missing = false;

  Check(const Accessor &who, StateSpace space, uint32_t bytes, uint8_t flags)
      : who(who), space(space), bytes(bytes), flags(flags), warp(*who.warp),
        cluster(who.warp->cluster()) {
    checkMissing = cluster.launch.options.checkUninitialised &&
                   (!(flags & AccessWrite) || (flags & AccessAtomic));
    if (who.work) {
      thread = cluster.clockSize - asyncSlots + who.work->slot;
      clock = who.work->slotClock;
      known = who.work->clock.get();
    } else {
      thread = warp.threadId(who.lane);
      clock = warp.clock;
      known = warp.clocks[who.lane].get();
    }
    checkRaces = known && space != StateSpace::Local;
    readers = 1u << (thread % 32);
  }

  /// The next lane (or lanes) of the same instruction.
  void move(uint32_t lane, uint32_t lanes, uint64_t at) {
    who.lane = lane;
    thread = warp.threadId(lane);
    readers = lanes;
    address = at;
    raced = missing = false;
  }

  /// The clock that holds what is known about a cluster.
  const VectorClock *about(uint32_t otherCluster) const {
    return otherCluster == cluster.linear ? known
                                          : known->ofCluster(otherCluster);
  }
  bool isSelf(uint32_t otherCluster, uint32_t otherThread) const {
    return otherThread == thread && otherCluster == cluster.linear &&
           !(readers & (readers - 1));
  }
  bool ordered(uint32_t otherCluster, uint32_t otherThread,
               uint32_t otherClock) const {
    if (isSelf(otherCluster, otherThread))
      return true;
    if (who.work && otherThread == who.work->issuerThread &&
        otherCluster == cluster.linear)
      return otherClock <= who.work->issuerClock;
    const VectorClock *vc = about(otherCluster);
    return vc && vc->get(otherThread) >= otherClock;
  }
  bool fenced(uint32_t otherCluster, uint32_t otherThread,
              uint32_t otherClock) const {
    const VectorClock *vc = about(otherCluster);
    return vc && vc->fenced(otherThread) >= otherClock;
  }

  std::string threadText(uint32_t otherCluster, uint32_t otherThread) const {
    if (otherThread >= cluster.clockSize - asyncSlots)
      return "asynchronous work";
    const Launch &launch = cluster.launch;
    uint32_t perBlock = cluster.blocks.front()->warps.size() * 32;
    uint32_t t = otherThread % perBlock;
    const Dim3 &b = launch.config.block;
    std::string text = "thread (" + std::to_string(t % b.x) + "," +
                       std::to_string(t / b.x % b.y) + "," +
                       std::to_string(t / b.x / b.y) + ")";
    if (otherCluster != cluster.linear)
      text += launch.clusterDim.count() > 1
                  ? " of cluster " + std::to_string(otherCluster)
                  : " of another block";
    else if (otherThread / perBlock != warp.block.rank)
      text += " of block rank " + std::to_string(otherThread / perBlock);
    return text;
  }

  void reportRace(const char *what, uint32_t otherCluster, uint32_t otherThread,
                  uint32_t otherPC) {
    const Instr &other = cluster.launch.program->code[otherPC];
    bool global = space == StateSpace::Global;
    reportAt(global ? FindingKind::GlobalRace : FindingKind::SharedRace, warp,
             *who.instr, who.lane, address,
             accessText(flags, bytes) + " of " + (global ? "global" : "shared") +
                 " memory at " + hex(address) + " is not ordered after the " +
                 what + " by " + threadText(otherCluster, otherThread) +
                 " at line " + Twine(other.line),
             &other);
  }

  void reportFence(uint32_t otherCluster, uint32_t otherThread,
                   uint32_t otherPC) {
    const Instr &other = cluster.launch.program->code[otherPC];
    reportAt(FindingKind::ProxyFence, warp, *who.instr, who.lane, address,
             Twine("the async proxy ") +
                 (flags & AccessWrite ? "writes " : "reads ") + hex(address) +
                 ", written by " + threadText(otherCluster, otherThread) + " at line " +
                 Twine(other.line) +
                 " without a fence.proxy.async after the write",
             &other);
  }

  /// False if a race was reported.
  bool afterWrite(const Cell &cell) {
    if (cell.writeThread == noThread)
      return true;
    if ((flags & AccessAtomic) && (cell.writeFlags & AccessAtomic))
      return true;
    if (!ordered(cell.writeCluster, cell.writeThread, cell.writeClock)) {
      reportRace("write", cell.writeCluster, cell.writeThread, cell.writePC);
      return false;
    }
    if ((flags & AccessAsyncProxy) && !(cell.writeFlags & AccessAsyncProxy) &&
        !fenced(cell.writeCluster, cell.writeThread, cell.writeClock)) {
      reportFence(cell.writeCluster, cell.writeThread, cell.writePC);
      return false;
    }
    return true;
  }

  bool afterReads(uint32_t readCluster, uint32_t readWarp, uint32_t lanes,
                  uint32_t readClock, uint32_t readPC, uint8_t readFlags) {
    if ((flags & AccessAtomic) && (readFlags & AccessAtomic))
      return true;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
      uint32_t reader = readWarp * 32 + countr_zero(rest);
      if (ordered(readCluster, reader, readClock))
        continue;
      reportRace("read", readCluster, reader, readPC);
      return false;
    }
    return true;
  }

  /// Whether a later access that is ordered after this one is also ordered after
  /// the reads of that entry, which then need not be kept.
  bool coversReads(uint32_t readCluster, uint32_t readWarp, uint32_t lanes,
                   uint32_t readClock) const {
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      if (!ordered(readCluster, readWarp * 32 + countr_zero(rest), readClock))
        return false;
    return true;
  }

  void addRead(ShadowPage &page, Cell &cell) {
    uint32_t myWarp = thread / 32, bit = readers;
    uint8_t atomic = flags & AccessAtomic;
    if (cell.readLanes && cell.readWarp == myWarp && cell.readClock == clock &&
        cell.readCluster == cluster.linear && cell.readFlags == atomic) {
      cell.readLanes |= bit;
      return;
    }
    if (!cell.readLanes ||
        (!cell.moreReads && coversReads(cell.readCluster, cell.readWarp,
                                        cell.readLanes, cell.readClock))) {
      cell.readWarp = myWarp;
      cell.readLanes = bit;
      cell.readClock = clock;
      cell.readCluster = cluster.linear;
      cell.readFlags = atomic;
      cell.readPC = who.instr->pc;
      return;
    }
    if (!cell.moreReads) {
      if (!page.freeOverflow.empty()) {
        cell.moreReads = page.freeOverflow.back();
        page.freeOverflow.pop_back();
      } else {
        page.overflow.emplace_back();
        cell.moreReads = page.overflow.size();
      }
    }
    std::vector<ReadEntry> &more = page.overflow[cell.moreReads - 1];
    for (size_t i = 0; i < more.size();) {
      ReadEntry &e = more[i];
      if (e.warp == myWarp && e.clock == clock && e.cluster == cluster.linear &&
          e.flags == atomic) {
        e.lanes |= bit;
        return;
      }
      if (coversReads(e.cluster, e.warp, e.lanes, e.clock)) {
        e = more.back();
        more.pop_back();
      } else {
        ++i;
      }
    }
    // Of readers in other clusters two tell as much as all; within a cluster
    // there are at most as many entries as warps and their clocks.
    constexpr size_t maxEntries = 1024, maxForeign = 4;
    bool foreign = space == StateSpace::Global;
    if (more.size() < (foreign ? maxForeign : maxEntries))
      more.push_back({clock, bit, myWarp, cluster.linear, who.instr->pc, atomic});
  }

  void reportMissing() {
    missing = true;
    reportAt(FindingKind::UninitialisedMemory, warp, *who.instr, who.lane,
             address,
             accessText(flags, bytes) + " of " +
                 (space == StateSpace::Shared  ? "shared"
                  : space == StateSpace::Local ? "local"
                                               : "global") +
                 " memory at " + hex(address) + " that was never written");
  }

  void cell(ShadowPage &page, Cell &cell, uint8_t byteMask) {
    bool write = flags & AccessWrite;
    if (checkMissing && (cell.written & byteMask) != byteMask && !missing)
      reportMissing();
    if (write)
      cell.written |= byteMask;
    if (!checkRaces)
      return;
    // Accesses of one thread one after the other: nothing to check.
    bool mine = cell.writeThread == thread && cell.writeClock == clock &&
                cell.writeCluster == cluster.linear;
    if (!raced && !mine && !afterWrite(cell))
      raced = true;
    if (!write) {
      addRead(page, cell);
      return;
    }
    if (cell.readLanes) {
      if (!raced && !afterReads(cell.readCluster, cell.readWarp, cell.readLanes,
                                cell.readClock, cell.readPC, cell.readFlags))
        raced = true;
      if (cell.moreReads) {
        for (const ReadEntry &e : page.overflow[cell.moreReads - 1])
          if (!raced && !afterReads(e.cluster, e.warp, e.lanes, e.clock, e.pc,
                                    e.flags))
            raced = true;
        page.overflow[cell.moreReads - 1].clear();
        page.freeOverflow.push_back(cell.moreReads);
        cell.moreReads = 0;
      }
      cell.readLanes = 0;
    }
    cell.writeThread = thread;
    cell.writeClock = clock;
    cell.writeCluster = cluster.linear;
    cell.writePC = who.instr->pc;
    cell.writeFlags = flags;
  }

  /// All cells of one access.
  void cells(Shadow &shadow, uint64_t at);
};

class PageLock {
public:
  PageLock(ShadowPage &page, bool needed) : page(needed ? &page : nullptr) {
    if (this->page)
      while (this->page->lock.test_and_set(std::memory_order_acquire)) {
      }
  }
  ~PageLock() {
    if (page)
      page->lock.clear(std::memory_order_release);
  }

private:
  ShadowPage *page;
};

} // namespace

void Check::cells(Shadow &shadow, uint64_t at) {
  bool lock = space == StateSpace::Global && cluster.launch.parallel;
  uint64_t end = at + bytes;
  while (at < end) {
    ShadowPage &page = shadow.page(at);
    PageLock guard(page, lock);
    uint64_t pageEnd = std::min(end, (at / shadowPageBytes + 1) * shadowPageBytes);
    // The widest granule that both ends of the access agree with.
    unsigned fit = std::min(2, countr_zero((at | pageEnd) | 4));
    if (fit < page.granuleShift)
      page.refine(fit);
    unsigned granule = 1u << page.granuleShift;
    uint8_t full = (1u << granule) - 1;
    for (; at < pageEnd; at += granule)
      cell(page, page.cells[(at % shadowPageBytes) >> page.granuleShift], full);
  }
}

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
  uint32_t user = who.work ? cluster.clockSize - asyncSlots + who.work->slot
                           : warp.threadId(who.lane);
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
      if (user < cluster.clockSize - asyncSlots)
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

/// Whether all active lanes lie in one region, aligned and in bounds; if so, their
/// offsets.
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
    uint32_t rest = active;
    while (rest) {
      unsigned lane = countr_zero(rest);
      uint32_t same = 1u << lane;
      rest &= rest - 1;
      // Neighbours that read the same place and know the same are one access.
      while (!write && rest) {
        unsigned next = countr_zero(rest);
        if (offset[next] != offset[lane] ||
            warp.clocks[next] != warp.clocks[lane])
          break;
        same |= 1u << next;
        rest &= rest - 1;
      }
      check.known = warp.clocks[lane].get();
      check.move(lane, same, address[lane]);
      check.cells(*region.shadow, offset[lane]);
    }
    for (unsigned lane = 0; lane < 32; ++lane)
      data[lane] = region.data + offset[lane];
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
  // 32 banks of 4 bytes. Accesses of 8 bytes go in two halves of the warp, those
  // of 16 bytes in four quarters; equal words of one wavefront are one access.
  unsigned lanesPerPass = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  unsigned wordsPerLane = std::max(1u, bytes / 4);
  // Consecutive places, and one place for all, have none.
  uint64_t base = addresses[countr_zero(active)];
  bool consecutive = bytes >= 4, broadcast = bytes >= 4;
  for (uint32_t rest = active; rest && (consecutive || broadcast);
       rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    consecutive &= addresses[lane] ==
                   base + uint64_t(lane - countr_zero(active)) * bytes;
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
