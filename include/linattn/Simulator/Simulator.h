//===- Simulator.h - Run PTX kernels on the CPU ---------------------------===//
//
// The public face of the PTX simulator: device memory, modules, launches.
//
//   Simulator sim;
//   auto module = sim.load(ptxText, "kernel.ptx");
//   auto x = sim.allocate(1024, "x");
//   sim.upload(*x, bytes);
//   auto report = sim.launch(**module, "kernel", config, {argument(*x)}, {});
//
// Nothing here aborts: misuse comes back as llvm::Error, faults of the kernel
// as findings of the report.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_SIMULATOR_SIMULATOR_H
#define LINATTN_SIMULATOR_SIMULATOR_H

#include "linattn/Simulator/Report.h"
#include "linattn/Simulator/TensorMap.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace linattn::sim {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  /// {0,0,0}: what the kernel's .reqnctapercluster says, else no cluster.
  Dim3 cluster{0, 0, 0};
  uint32_t dynamicSharedBytes = 0;
};

/// When asynchronous work (copies, wgmma) takes effect.
enum class AsyncTiming {
  Earliest, ///< as soon as it is issued
  Latest,   ///< when a wait demands it, or when nothing else can go on
  Random    ///< at seeded moments in between
};

/// Many times what a block of any kernel here executes; a spin of one warp gets
/// there in a minute.
constexpr uint64_t defaultMaxWarpInstructions = 1000000000;

struct LaunchOptions {
  uint64_t seed = 0;
  AsyncTiming timing = AsyncTiming::Random;
  /// Warps take turns after a seeded number of instructions; off: in order.
  bool shuffleWarps = true;
  /// Host threads that run blocks; 0: one per core.
  unsigned threads = 0;
  bool checkUninitialised = true;
  bool checkRaces = true;
  /// Findings kept; equal ones (kind and lines) count once.
  unsigned maxFindings = 32;
  /// Warp instructions of a block, or of the blocks of a cluster together,
  /// before the launch is given up; 0: no limit.
  uint64_t maxWarpInstructions = defaultMaxWarpInstructions;
  /// Where a launch says that it still runs, after 10 s, 20 s, 40 s, ..
  llvm::raw_ostream *progress = nullptr;
};

/// The bytes of one kernel argument, laid out as the kernel's .param wants it.
struct Argument {
  std::vector<uint8_t> bytes;
};

template <typename T> Argument argument(const T &value) {
  Argument result;
  result.bytes.resize(sizeof(T));
  std::memcpy(result.bytes.data(), &value, sizeof(T));
  return result;
}

/// What a kernel declares about one of its parameters.
struct ParameterInfo {
  std::string name;
  std::string type;   ///< as in the PTX text, such as "u64" or "b8"
  uint32_t bytes = 0; ///< of the whole parameter
  uint32_t align = 1;
};

struct KernelInfo {
  std::string name;
  std::vector<ParameterInfo> parameters;
  Dim3 requiredBlock{0, 0, 0};
  Dim3 requiredCluster{0, 0, 0};
  uint32_t staticSharedBytes = 0;
};

class Module;

class Simulator {
public:
  Simulator();
  ~Simulator();
  Simulator(const Simulator &) = delete;
  Simulator &operator=(const Simulator &) = delete;

  /// Device memory. Contents are uninitialised until written. `name` appears in
  /// messages.
  llvm::Expected<uint64_t> allocate(uint64_t bytes, llvm::StringRef name);
  llvm::Error release(uint64_t address);
  llvm::Error upload(uint64_t address, llvm::ArrayRef<uint8_t> bytes);
  /// Reads back bytes; those never written read as the fill pattern 0xCD.
  llvm::Error download(uint64_t address,
                       llvm::MutableArrayRef<uint8_t> bytes) const;
  /// Whether every byte of the range was written.
  bool isInitialised(uint64_t address, uint64_t bytes) const;

  /// Parses a module and allocates its global variables. `name` appears in
  /// messages. The module lives as long as the simulator.
  llvm::Expected<Module *> load(llvm::StringRef ptx, llvm::StringRef name);
  llvm::Expected<KernelInfo> kernelInfo(Module &module,
                                        llvm::StringRef kernel) const;
  std::vector<std::string> kernelNames(const Module &module) const;
  /// Address and size of a module's global variable.
  llvm::Expected<std::pair<uint64_t, uint64_t>>
  globalVariable(const Module &module, llvm::StringRef name) const;

  /// An error when the launch itself is impossible; what the kernel did wrong
  /// is in the report.
  llvm::Expected<Report> launch(Module &module, llvm::StringRef kernel,
                                const LaunchConfig &config,
                                llvm::ArrayRef<Argument> arguments,
                                const LaunchOptions &options);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace linattn::sim

#endif // LINATTN_SIMULATOR_SIMULATOR_H
