//===- DeviceMemory.cpp - Virtual device allocations ----------------------===//

#include "DeviceMemory.h"
#include <algorithm>
#include <cstring>
#include <new>

namespace linattn::sim {

static std::atomic<uint64_t> generations{0};

Allocation *DeviceMemory::allocate(uint64_t bytes, llvm::StringRef name) {
  if (bytes > maxTotal || total + bytes > maxTotal)
    return nullptr;
  auto alloc = std::make_unique<Allocation>();
  alloc->name = name.str();
  alloc->bytes = bytes;
  alloc->address = nextAddress;
  alloc->data.reset(new (std::nothrow) uint8_t[bytes + 1]);
  if (!alloc->data)
    return nullptr;
  std::memset(alloc->data.get(), 0xCD, bytes);
  alloc->shadow.reset(bytes, false);
  nextAddress += (bytes + 2 * gap - 1) / gap * gap;
  total += bytes;
  currentGeneration = ++generations;
  allocations.push_back(std::move(alloc));
  return allocations.back().get();
}

/// The first allocation that starts after the address.
static auto after(const std::vector<std::unique_ptr<Allocation>> &list,
                  uint64_t address) {
  return std::upper_bound(
      list.begin(), list.end(), address,
      [](uint64_t a, const auto &alloc) { return a < alloc->address; });
}

Allocation *DeviceMemory::find(uint64_t address) const {
  auto it = after(allocations, address);
  if (it == allocations.begin())
    return nullptr;
  Allocation *alloc = std::prev(it)->get();
  return address - alloc->address < alloc->bytes ? alloc : nullptr;
}

const Allocation *DeviceMemory::nearest(uint64_t address) const {
  auto it = after(allocations, address);
  const Allocation *below =
      it == allocations.begin() ? nullptr : std::prev(it)->get();
  const Allocation *above = it == allocations.end() ? nullptr : it->get();
  if (!below || (above && above->address - address <
                              address - (below->address + below->bytes)))
    return above;
  return below;
}

bool DeviceMemory::release(uint64_t address) {
  for (auto it = allocations.begin(); it != allocations.end(); ++it)
    if ((*it)->address == address) {
      total -= (*it)->bytes;
      allocations.erase(it);
      currentGeneration = ++generations;
      return true;
    }
  return false;
}

void DeviceMemory::forgetAccesses() {
  for (auto &alloc : allocations)
    alloc->shadow.forgetAccesses();
}

} // namespace linattn::sim
