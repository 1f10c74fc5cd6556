//===- RaceCheck.h - One access against what the shadow remembers ---------===//
//
// Included by Access.cpp alone: the loops over cells are worth inlining.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_RACECHECK_H
#define LINATTN_LIB_SIMULATOR_RACECHECK_H

#include "Access.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

namespace linattn::sim {

inline std::string hex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, true);
}

inline std::string accessText(uint8_t flags, uint32_t bytes) {
  return std::to_string(bytes) + "-byte " +
         (flags & AccessAsyncProxy ? "asynchronous " : "") +
         (flags & AccessWrite
              ? (flags & AccessAtomic ? "atomic access" : "write")
              : "read");
}

/// What an access did to one cell, to do it again to cells in the same state.
class Repeat {
public:
  bool known = false;
  unsigned granule = 0;

  void start(const ShadowPage &page, const Cell &cell) {
    before = cell;
    beforeMore = more(page, cell);
  }
  void finish(const ShadowPage &page, const Cell &cell, bool clean) {
    after = cell;
    known = clean && !before.moreReads == !after.moreReads;
    afterMore = more(page, cell);
  }
  bool apply(ShadowPage &page, Cell &cell) const {
    uint32_t index = cell.moreReads;
    Cell state = cell;
    state.moreReads = before.moreReads;
    if (!index != !before.moreReads ||
        std::memcmp(&state, &before, sizeof(Cell)) != 0)
      return false;
    if (index) {
      ReadEntries &reads = page.overflow[index - 1];
      if (!beforeMore.equals(reads))
        return false;
      reads.assign(afterMore.begin(), afterMore.end());
    }
    cell = after;
    cell.moreReads = index;
    return true;
  }

private:
  /// A few entries, without touching the heap.
  struct Reads : llvm::SmallVector<ReadEntry, 8> {
    bool equals(const ReadEntries &other) const {
      return size() == other.size() &&
             std::equal(begin(), end(), other.begin());
    }
  };
  static Reads more(const ShadowPage &page, const Cell &cell) {
    Reads reads;
    if (cell.moreReads) {
      const ReadEntries &all = page.overflow[cell.moreReads - 1];
      reads.append(all.begin(), all.end());
    }
    return reads;
  }
  Cell before, after;
  Reads beforeMore, afterMore;
};

/// An access being checked against the cells it touches: of a lane, of a piece
/// of asynchronous work, or of lanes that know the same and read the same
/// place.
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
  Repeat repeat; ///< of asynchronous work, which touches many cells

  Check(const Accessor &who, StateSpace space, uint32_t bytes, uint8_t flags)
      : who(who), space(space), bytes(bytes), flags(flags), warp(*who.warp),
        cluster(who.warp->cluster()) {
    checkMissing = cluster.launch.options.checkUninitialised &&
                   (!(flags & AccessWrite) || (flags & AccessAtomic));
    if (who.work) {
      thread = who.work->slot;
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
    if (otherThread >= cluster.firstAsync)
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
             accessText(flags, bytes) + " of " +
                 (global ? "global" : "shared") + " memory at " + hex(address) +
                 " is not ordered after the " + what + " by " +
                 threadText(otherCluster, otherThread) + " at line " +
                 llvm::Twine(other.line),
             &other);
  }

  void reportFence(uint32_t otherCluster, uint32_t otherThread,
                   uint32_t otherPC) {
    const Instr &other = cluster.launch.program->code[otherPC];
    reportAt(FindingKind::ProxyFence, warp, *who.instr, who.lane, address,
             llvm::Twine("the async proxy ") +
                 (flags & AccessWrite ? "writes " : "reads ") + hex(address) +
                 ", written by " + threadText(otherCluster, otherThread) +
                 " at line " + llvm::Twine(other.line) +
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
      uint32_t reader = readWarp * 32 + llvm::countr_zero(rest);
      if (ordered(readCluster, reader, readClock))
        continue;
      reportRace("read", readCluster, reader, readPC);
      return false;
    }
    return true;
  }

  /// Whether a later access that is ordered after this one is also ordered
  /// after the reads of that entry, which then need not be kept.
  bool coversReads(uint32_t readCluster, uint32_t readWarp, uint32_t lanes,
                   uint32_t readClock) const {
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      if (!ordered(readCluster, readWarp * 32 + llvm::countr_zero(rest),
                   readClock))
        return false;
    return true;
  }

  void addRead(ShadowPage &page, Cell &cell) {
    uint32_t myWarp = thread / 32, bit = readers;
    uint8_t atomic = flags & AccessAtomic;
    if (cell.readLanes && cell.readWarp == myWarp &&
        cell.readCluster == cluster.linear && cell.readFlags == atomic) {
      if (cell.readClock == clock) {
        cell.readLanes |= bit;
        return;
      }
      // What is ordered after a thread's newer read is so after its older ones.
      if (cell.readClock < clock)
        cell.readLanes &= ~bit;
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
    ReadEntries &more = page.overflow[cell.moreReads - 1];
    for (size_t i = 0; i < more.size();) {
      ReadEntry &e = more[i];
      if (e.warp == myWarp && e.cluster == cluster.linear &&
          e.flags == atomic) {
        if (e.clock == clock) {
          e.lanes |= bit;
          return;
        }
        if (e.clock < clock && !(e.lanes &= ~bit)) {
          e = more.back();
          more.pop_back();
          continue;
        }
      }
      ++i;
    }
    // Now and then, drop the entries that this read makes superfluous.
    if (more.size() >= 4 && llvm::isPowerOf2_64(more.size()))
      llvm::erase_if(more, [&](const ReadEntry &e) {
        return coversReads(e.cluster, e.warp, e.lanes, e.clock);
      });
    // Of readers in other clusters two tell as much as all; within a cluster
    // there are at most as many entries as warps and their clocks.
    constexpr size_t maxEntries = 1024, maxForeign = 4;
    bool foreign = space == StateSpace::Global;
    if (more.size() < (foreign ? maxForeign : maxEntries))
      more.push_back(
          {clock, bit, myWarp, cluster.linear, who.instr->pc, atomic});
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
    // Read again by the same lanes with no write since: nothing new.
    if (!write && (cell.readLanes & readers) == readers &&
        cell.readClock == clock && cell.readWarp == thread / 32 &&
        cell.readCluster == cluster.linear &&
        cell.readFlags == (flags & AccessAtomic))
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
          if (!raced &&
              !afterReads(e.cluster, e.warp, e.lanes, e.clock, e.pc, e.flags))
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

  /// Whether a cell may be read.
  void readable(const Cell &cell, uint8_t byteMask) {
    if (checkMissing && (cell.written & byteMask) != byteMask && !missing)
      reportMissing();
    if (checkRaces && !raced && !afterWrite(cell))
      raced = true;
  }

  /// A read by asynchronous work of whole words of a page. What a warp's wgmma
  /// have read before, with no write since, needs no second look: the warp has
  /// not forgotten anything.
  void asyncRead(ShadowPage &page, uint64_t granules) {
    uint64_t good = 0;
    bool inOrder = thread < cluster.clockSize - asyncSlots;
    std::vector<AsyncRead> &reads = page.asyncReads;
    for (size_t i = 0; i < reads.size();) {
      AsyncRead &r = reads[i];
      if (r.thread == thread) {
        if (inOrder && r.version == page.version)
          good |= r.granules;
        // The newer read stands for the older one.
        if (!(r.granules &= ~granules)) {
          r = reads.back();
          reads.pop_back();
          continue;
        }
      }
      ++i;
    }
    unsigned shift = page.granuleShift, perWord = 4u >> shift;
    for (uint64_t rest = granules & ~good; rest; rest &= rest - 1) {
      const Cell *cell = &page.cells[llvm::countr_zero(rest) * perWord];
      for (unsigned c = 0; c < perWord; ++c)
        readable(cell[c], (1u << (1u << shift)) - 1);
    }
    if (!checkRaces)
      return;
    for (AsyncRead &r : reads)
      if (r.thread == thread && r.clock == clock && r.version == page.version) {
        r.granules |= granules;
        return;
      }
    reads.push_back({thread, clock, who.instr->pc, page.version, granules});
  }

  static uint64_t granulesOf(uint64_t at, uint64_t end) {
    unsigned first = at % shadowPageBytes / 4;
    unsigned count = (end + 3) / 4 - at / 4;
    return (count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << first;
  }

  /// A write of a page after what asynchronous work has read of it.
  void afterAsyncReads(ShadowPage &page, uint64_t at, uint64_t end) {
    ++page.version;
    if (page.asyncReads.empty())
      return;
    uint64_t granules = granulesOf(at, end);
    for (AsyncRead &r : page.asyncReads)
      if (r.granules & granules) {
        if (checkRaces && !raced &&
            !ordered(cluster.linear, r.thread, r.clock)) {
          reportRace("read", cluster.linear, r.thread, r.pc);
          raced = true;
        }
        r.granules &= ~granules;
      }
    llvm::erase_if(page.asyncReads,
                   [](const AsyncRead &r) { return !r.granules; });
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

inline void Check::cells(Shadow &shadow, uint64_t at) {
  bool lock = space == StateSpace::Global && cluster.launch.parallel;
  uint64_t end = at + bytes;
  // By far the most frequent case.
  if (bytes == 4 && !(at & 3) && !lock)
    if (ShadowPage &page = shadow.page(at); page.granuleShift == 2) {
      if (flags & AccessWrite)
        afterAsyncReads(page, at, end);
      cell(page, page.cells[(at % shadowPageBytes) / 4], 0xF);
      return;
    }
  while (at < end) {
    ShadowPage &page = shadow.page(at);
    PageLock guard(page, lock);
    uint64_t pageEnd =
        std::min(end, (at / shadowPageBytes + 1) * shadowPageBytes);
    // The widest granule that both ends of the access agree with.
    unsigned fit = std::min(2, llvm::countr_zero((at | pageEnd) | 4));
    if (fit < page.granuleShift)
      page.refine(fit);
    if (flags & AccessWrite) {
      afterAsyncReads(page, at, pageEnd);
    } else if (who.work && space == StateSpace::Shared && fit == 2) {
      asyncRead(page, granulesOf(at, pageEnd));
      at = pageEnd;
      continue;
    }
    unsigned granule = 1u << page.granuleShift;
    uint8_t full = (1u << granule) - 1;
    auto cellAt = [&](uint64_t offset) -> Cell & {
      return page.cells[(offset % shadowPageBytes) >> page.granuleShift];
    };
    if (!who.work) {
      for (; at < pageEnd; at += granule)
        cell(page, cellAt(at), full);
      continue;
    }
    // Neighbours mostly have the same past, and then the same future.
    if (repeat.granule != granule)
      repeat.known = false;
    repeat.granule = granule;
    for (; at < pageEnd; at += granule) {
      Cell &c = cellAt(at);
      if (repeat.known && repeat.apply(page, c))
        continue;
      repeat.start(page, c);
      cell(page, c, full);
      repeat.finish(page, c, !raced && !missing);
    }
  }
}

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_RACECHECK_H
