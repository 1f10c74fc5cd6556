//===- DeviceMemory.h - Virtual device allocations ------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_DEVICEMEMORY_H
#define LINATTN_LIB_SIMULATOR_DEVICEMEMORY_H

#include "Shadow.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace linattn::sim {

struct Allocation {
  std::string name;
  uint64_t address = 0, bytes = 0;
  bool readOnly = false; ///< .const
  std::unique_ptr<uint8_t[]> data;
  Shadow shadow;
};

/// Allocations lie far apart, so that an address a little off belongs to none.
class DeviceMemory {
public:
  /// Null when there is no memory left.
  Allocation *allocate(uint64_t bytes, llvm::StringRef name);
  bool release(uint64_t address);
  Allocation *find(uint64_t address) const;
  /// The allocation next to an address that lies in none; may be null.
  const Allocation *nearest(uint64_t address) const;
  void forgetAccesses();
  /// Differs between any two states of any two memories.
  uint64_t generation() const { return currentGeneration; }

private:
  uint64_t currentGeneration = 0;
  std::vector<std::unique_ptr<Allocation>> allocations; ///< by address
  uint64_t nextAddress = firstAddress;
  uint64_t total = 0;

public:
  static constexpr uint64_t firstAddress = 0x7f0000000000;
  static constexpr uint64_t gap = 1 << 20;
  static constexpr uint64_t maxTotal = uint64_t(1) << 36;
};

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_DEVICEMEMORY_H
