//===- SimulatedDriver.h - the CUDA driver over the simulator -------------===//
//
// The functions of the driver that the runtime calls, on the simulator's device
// memory. PTX runs; a cubin is answered as one for another GPU, upon which the
// runtime takes the PTX. Everything is done when a call returns. A finding of
// the simulator is a failed launch, and the text of that error.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_SIMULATOR_SIMULATEDDRIVER_H
#define LINATTN_SIMULATOR_SIMULATEDDRIVER_H

#include "linattn/Simulator/Simulator.h"

#include <string>

namespace linattn::sim {

struct SimulatedDevice {
  std::string name = "PTX simulator";
  int count = 1; ///< devices; all memory is on the first one
  int major = 9, minor = 0;
  int multiprocessors = 132;
  int sharedBytes = 232448; ///< per block, at most: that of an H100
  unsigned threads = 0;     ///< of the host, for blocks; 0: one per core
  /// Of a block; LINATTN_SIM_MAX_INSTRUCTIONS, where it is set.
  uint64_t maxWarpInstructions = defaultMaxWarpInstructions;
};

/// Of this process, from now on.
void setSimulatedDevice(const SimulatedDevice &device);

/// What the next allocation is called in findings.
void nameNextAllocation(const std::string &name);

/// For linattn_use_driver.
void *lookUpSimulatedDriver(const char *name);

} // namespace linattn::sim

#endif // LINATTN_SIMULATOR_SIMULATEDDRIVER_H
