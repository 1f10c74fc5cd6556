//===- Shadow.h - What is remembered about every byte of memory -----------===//
//
// Beside each region of memory stands a shadow: whether bytes were written, who
// wrote last, who has read since. It is kept per granule of 4 bytes, and in
// pages that see narrower accesses per 2 or 1 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_SHADOW_H
#define LINATTN_LIB_SIMULATOR_SHADOW_H

#include "llvm/ADT/SmallVector.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace linattn::sim {

enum AccessFlags : uint8_t {
  AccessWrite = 1,
  AccessAtomic = 2,     ///< atomic, or a strong (relaxed, acquire, ..) access
  AccessAsyncProxy = 4, ///< by the async proxy: sees fenced writes only
  AccessVolatile = 8,
};

/// Marks "not the work of this cluster".
constexpr uint32_t noThread = ~0u;

struct Cell {
  uint32_t writeClock = 0;
  uint32_t writeThread = noThread;
  uint32_t writeCluster = 0;
  uint32_t writePC = 0;
  uint32_t readClock = 0;
  uint32_t readLanes = 0; ///< lanes of readWarp; 0: no read
  uint32_t readWarp = 0;
  uint32_t readCluster = 0;
  uint32_t readPC = 0;
  uint32_t moreReads = 0; ///< index + 1 into the page's overflow
  uint8_t written = 0;    ///< a bit for each byte of the granule
  uint8_t writeFlags = 0;
  uint8_t readFlags = 0;
};

struct ReadEntry {
  uint32_t clock, lanes, warp, cluster, pc;
  uint8_t flags;
  bool operator==(const ReadEntry &o) const {
    return clock == o.clock && lanes == o.lanes && warp == o.warp &&
           cluster == o.cluster && pc == o.pc && flags == o.flags;
  }
};

/// Mostly a few, in place: they come and go with every write.
using ReadEntries = llvm::SmallVector<ReadEntry, 4>;

constexpr uint32_t shadowPageBytes = 256;

/// Reads of a page by asynchronous work, which reads much at once: kept per
/// page, with a bit for each 4 bytes.
struct AsyncRead {
  uint32_t thread, clock, pc;
  uint32_t version; ///< of the page when these reads were found right
  uint64_t granules;
};

struct ShadowPage {
  std::atomic_flag lock = ATOMIC_FLAG_INIT;
  uint8_t granuleShift = 2;
  std::vector<Cell> cells;
  std::vector<ReadEntries> overflow;
  std::vector<uint32_t> freeOverflow; ///< index + 1
  std::vector<AsyncRead> asyncReads;
  uint32_t version = 0; ///< counts writes

  /// Makes granules at most `shift` wide.
  void refine(unsigned shift);
};

class Shadow {
public:
  Shadow() = default;
  explicit Shadow(uint64_t bytes, bool initialised = false) {
    reset(bytes, initialised);
  }
  ~Shadow() { clear(); }
  Shadow(Shadow &&other) = default;
  Shadow(const Shadow &) = delete;

  void reset(uint64_t bytes, bool initialised);
  uint64_t size() const { return bytes; }

  ShadowPage &page(uint64_t offset) {
    ShadowPage *p =
        pages[offset / shadowPageBytes].load(std::memory_order_acquire);
    return p ? *p : createPage(offset);
  }
  ShadowPage *pageIfPresent(uint64_t offset) const {
    return pages[offset / shadowPageBytes].load(std::memory_order_acquire);
  }

  void markWritten(uint64_t offset, uint64_t count);
  bool isWritten(uint64_t offset, uint64_t count) const;
  /// Forgets who accessed what, keeps what is written: between launches.
  void forgetAccesses();

private:
  void clear();
  ShadowPage &createPage(uint64_t offset);
  uint64_t bytes = 0;
  bool initialised = false;
  std::vector<std::atomic<ShadowPage *>> pages;
};

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_SHADOW_H
