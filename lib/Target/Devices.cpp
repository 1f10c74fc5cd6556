//===- Devices.cpp - what a block of threads may use on a GPU -------------===//

#include "linattn/Target/Devices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace linattn;

llvm::ArrayRef<Device> linattn::getDevices() {
  static constexpr Device devices[] = {
      {"sm_80", "ptx80"},  {"sm_86", "ptx80"},   {"sm_87", "ptx80"},
      {"sm_89", "ptx80"},  {"sm_90", "ptx80"},   {"sm_90a", "ptx80"},
      {"sm_100", "ptx86"}, {"sm_100a", "ptx86"}, {"sm_100f", "ptx88"},
      {"sm_103", "ptx88"}, {"sm_103a", "ptx88"}, {"sm_103f", "ptx88"},
      {"sm_120", "ptx87"}, {"sm_120a", "ptx87"}, {"sm_120f", "ptx88"},
      {"sm_121", "ptx88"}, {"sm_121a", "ptx88"}, {"sm_121f", "ptx88"}};
  return devices;
}

const Device *linattn::findDevice(llvm::StringRef chip) {
  const auto *found = llvm::find_if(
      getDevices(), [&](const Device &device) { return device.chip == chip; });
  return found == getDevices().end() ? nullptr : found;
}

std::optional<DeviceLimits> linattn::getDeviceLimits(llvm::StringRef chip) {
  if (!findDevice(chip))
    return std::nullopt;
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

std::string linattn::getKnownDevices() {
  return llvm::join(
      llvm::map_range(getDevices(), [](const Device &d) { return d.chip; }),
      ", ");
}
