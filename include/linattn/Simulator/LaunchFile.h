//===- LaunchFile.h - Launches described in JSON --------------------------===//
//
// {
//   "kernel": "name",                      may be missing if there is only one
//   "grid": [2, 1, 1], "block": 128, "cluster": [2], "dynamic_shared": 1024,
//   "buffers": [
//     {"name": "x", "type": "f32", "shape": [64], "init": "random",
//      "seed": 1, "low": -1, "high": 1},
//     {"name": "y", "type": "f32", "shape": [64], "init": "none",
//      "output": true, "tolerance": 1e-6}],
//   "args": [{"buffer": "x"}, {"buffer": "y", "offset": 16},
//            {"type": "u32", "value": 64}, {"bytes": "00ff"},
//            {"tensor_map": {"buffer": "x", "type": "f32", "dims": [64],
//                            "strides": [], "box": [32], "swizzle": 128}}],
//   "options": {"seed": 1, "timing": "latest", "threads": 1, "races": true,
//               "uninitialised": true, "max_instructions": 1000000}
// }
//
// "init": "none" | "zero" | "random" (uniform in [low, high]) | "bits" (random
// bit patterns) | "iota" | "fill" with "value" | "values" with "values" | "npy"
// with "file". Random numbers are those of splitmix64, so that other programs
// can make the same.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_SIMULATOR_LAUNCHFILE_H
#define LINATTN_SIMULATOR_LAUNCHFILE_H

#include "linattn/Simulator/Simulator.h"
#include "llvm/Support/JSON.h"

namespace linattn::sim {

struct LaunchBuffer {
  std::string name, type;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes; ///< initial contents; empty: uninitialised
  bool isOutput = false;
  /// Largest difference relative to the larger magnitude, or absolute below
  /// `absolute`; 0: the same bits.
  double tolerance = 0, absolute = 0;
  uint64_t elements() const;
  unsigned elementBytes() const;
};

struct LaunchArgument {
  enum Kind { Bytes, Buffer, Map } kind = Bytes;
  std::vector<uint8_t> bytes;
  unsigned buffer = 0;
  uint64_t offset = 0;
  TensorMap map; ///< its address is filled in from the buffer
};

struct LaunchFile {
  std::string kernel;
  LaunchConfig config;
  std::vector<LaunchBuffer> buffers;
  std::vector<LaunchArgument> arguments;
  LaunchOptions options;
};

/// `directory`: where the .npy files of the description lie.
llvm::Expected<LaunchFile> parseLaunchFile(llvm::StringRef text,
                                           llvm::StringRef name,
                                           llvm::StringRef directory);

struct LaunchResult {
  Report report;
  /// Contents of the output buffers after the launch, by buffer index.
  std::vector<std::vector<uint8_t>> outputs;
};

/// Allocates the buffers, launches, reads the outputs back.
llvm::Expected<LaunchResult> runLaunchFile(Simulator &simulator, Module &module,
                                           const LaunchFile &launch);

/// {"name": {"type": .., "shape": .., "bits": hex}} of the outputs.
llvm::json::Value outputsToJSON(const LaunchFile &launch,
                                const LaunchResult &result);
/// An error that names the first difference beyond the buffer's tolerance.
llvm::Error compareOutputs(const LaunchFile &launch, const LaunchResult &result,
                           const llvm::json::Value &expected);
/// An element as a number.
double elementValue(llvm::StringRef type, const uint8_t *bytes);
/// A .npy file; bf16 is written as its bits, uint16.
std::string toNpy(llvm::StringRef type, llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<uint8_t> bytes);

} // namespace linattn::sim

#endif // LINATTN_SIMULATOR_LAUNCHFILE_H
