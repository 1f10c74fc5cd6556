//===- Inputs.h - the arguments of a run ------------------------*- C++ -*-===//
//
// Part of linattn. Makes one array per argument from files, offsets, slots and
// seeded samples, and checks what the operations require of them.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_INPUTS_H
#define LINATTN_RUNNER_INPUTS_H

#include "linattn/Runner/Samples.h"
#include "linattn/Runner/Sizes.h"

namespace linattn {
namespace runner {

struct InputOptions {
  /// "NAME=NUMBER".
  std::vector<std::string> sizes;
  /// "ARGUMENT=FILE.npy".
  std::vector<std::string> files;
  std::optional<std::vector<int64_t>> seqlens, slots;
  SampleOptions samples;
  /// Files of wider floats than their arguments are rounded, not refused.
  bool roundFiles = false;
};

struct Inputs {
  std::vector<Buffer> buffers;
  /// Whether the array came from a file.
  std::vector<bool> given;
  std::map<std::string, int64_t> sizes;
};

llvm::Expected<Inputs> makeInputs(const Signature &signature,
                                  const InputOptions &options);

/// Arguments of a gate's kind that leave its domain, one sentence each: they
/// are computed as they stand, and lie outside the promises.
std::vector<std::string> describeGatesOutOfRange(const Signature &signature,
                                                 const Inputs &inputs);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_INPUTS_H
