//===- Devices.cpp - what a block of threads may use on a GPU -------------===//

#include "linattn/Target/Devices.h"

#include "llvm/ADT/StringSwitch.h"

using namespace linattn;

std::optional<DeviceLimits> linattn::getDeviceLimits(llvm::StringRef chip) {
  // A suffix names features of one chip or family, not other limits.
  llvm::StringRef name = chip.rtrim("af");
  // An opt-in block gets all but 1 KiB of what a multiprocessor has for blocks.
  constexpr int64_t kSmall = 99 * 1024, kMedium = 163 * 1024,
                    kLarge = 227 * 1024;
  auto shared = llvm::StringSwitch<std::optional<int64_t>>(name)
                    .Cases({"sm_80", "sm_87"}, kMedium)
                    .Cases({"sm_86", "sm_89", "sm_120", "sm_121"}, kSmall)
                    .Cases({"sm_90", "sm_100", "sm_103"}, kLarge)
                    .Default(std::nullopt);
  if (!shared)
    return std::nullopt;
  DeviceLimits limits{*shared};
  // Clusters came with sm_90.
  bool clusters = !name.starts_with("sm_8");
  limits.clusterBlocks = clusters ? 8 : 1;
  return limits;
}

llvm::StringRef linattn::getKnownDevices() {
  return "sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_120, sm_121";
}
