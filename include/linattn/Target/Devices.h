//===- Devices.h - what a block of threads may use on a GPU -----*- C++ -*-===//
//
// One table of limits per compute capability (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability").
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_TARGET_DEVICES_H
#define LINATTN_TARGET_DEVICES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace linattn {

/// A target that code is made for.
struct Device {
  llvm::StringLiteral chip;
  /// The first version of PTX that has it, but at least 8.0, of CUDA 12.
  llvm::StringLiteral ptxFeature;
};

llvm::ArrayRef<Device> getDevices();

/// A chip such as "sm_90a"; null if it is unknown.
const Device *findDevice(llvm::StringRef chip);

struct DeviceLimits {
  /// Shared memory that a block may opt in to.
  int64_t sharedBytes;
  /// 32-bit registers of a multiprocessor.
  int64_t registers = 65536;
  /// Registers that a thread may have.
  int64_t threadRegisters = 255;
  int64_t threads = 1024;
  /// Blocks of a cluster that every device of the kind schedules; 1 without
  /// clusters.
  int64_t clusterBlocks = 1;
};

/// The limits of a chip; none if it is unknown.
std::optional<DeviceLimits> getDeviceLimits(llvm::StringRef chip);

/// All of them, for messages.
std::string getKnownDevices();

} // namespace linattn

#endif // LINATTN_TARGET_DEVICES_H
