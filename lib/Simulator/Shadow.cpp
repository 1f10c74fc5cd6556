//===- Shadow.cpp - What is remembered about every byte of memory ---------===//

#include "Shadow.h"

namespace linattn::sim {

void ShadowPage::refine(unsigned shift) {
  while (granuleShift > shift) {
    unsigned half = 1u << (granuleShift - 1);
    std::vector<Cell> finer(cells.size() * 2);
    for (size_t i = 0; i < cells.size(); ++i) {
      finer[2 * i] = finer[2 * i + 1] = cells[i];
      finer[2 * i].written = cells[i].written & ((1u << half) - 1);
      finer[2 * i + 1].written = cells[i].written >> half;
      if (cells[i].moreReads) {
        overflow.push_back(ReadEntries(overflow[cells[i].moreReads - 1]));
        finer[2 * i + 1].moreReads = overflow.size();
      }
    }
    cells = std::move(finer);
    --granuleShift;
  }
}

void Shadow::clear() {
  for (auto &p : pages)
    delete p.load();
  pages.clear();
}

void Shadow::reset(uint64_t newBytes, bool isInitialised) {
  clear();
  bytes = newBytes;
  initialised = isInitialised;
  pages = std::vector<std::atomic<ShadowPage *>>(
      (bytes + shadowPageBytes - 1) / shadowPageBytes + 1);
}

ShadowPage &Shadow::createPage(uint64_t offset) {
  auto fresh = std::make_unique<ShadowPage>();
  fresh->cells.resize(shadowPageBytes / 4);
  if (initialised)
    for (Cell &cell : fresh->cells)
      cell.written = 0xF;
  ShadowPage *expected = nullptr;
  auto &slot = pages[offset / shadowPageBytes];
  if (slot.compare_exchange_strong(expected, fresh.get()))
    return *fresh.release();
  return *expected;
}

void Shadow::markWritten(uint64_t offset, uint64_t count) {
  if (offset == 0 && count == bytes) {
    initialised = true;
    for (auto &p : pages) {
      delete p.load();
      p.store(nullptr);
    }
    return;
  }
  for (uint64_t at = offset; at < offset + count; ++at) {
    ShadowPage &p = page(at);
    uint64_t inPage = at % shadowPageBytes;
    p.cells[inPage >> p.granuleShift].written |=
        1u << (inPage & ((1u << p.granuleShift) - 1));
  }
}

bool Shadow::isWritten(uint64_t offset, uint64_t count) const {
  for (uint64_t at = offset; at < offset + count; ++at) {
    const ShadowPage *p = pageIfPresent(at);
    if (!p) {
      if (!initialised)
        return false;
      continue;
    }
    uint64_t inPage = at % shadowPageBytes;
    if (!(p->cells[inPage >> p->granuleShift].written >>
              (inPage & ((1u << p->granuleShift) - 1)) &
          1))
      return false;
  }
  return true;
}

void Shadow::forgetAccesses() {
  for (auto &slot : pages) {
    ShadowPage *p = slot.load();
    if (!p)
      continue;
    p->overflow.clear();
    p->freeOverflow.clear();
    for (Cell &cell : p->cells) {
      Cell kept;
      kept.written = cell.written;
      cell = kept;
    }
  }
}

} // namespace linattn::sim
