//===- KernelLaunch.h - a described kernel on arrays ------------*- C++ -*-===//
//
// Part of linattn. Reads the description that the compiler gives with a kernel
// (what linattn-compile writes as NAME.json) and says what to launch for given
// arrays. Knows no device.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_KERNELLAUNCH_H
#define LINATTN_RUNNER_KERNELLAUNCH_H

#include "linattn/Runner/Buffer.h"

#include "llvm/Support/JSON.h"

#include <map>

namespace linattn {
namespace runner {

class KernelLaunch {
public:
  explicit KernelLaunch(llvm::json::Object description)
      : description(std::move(description)) {}

  /// Names the arrays of the arguments, in the order of the function.
  llvm::Error bindInputs(llvm::ArrayRef<Buffer> inputs);
  /// Shapes of all results of the function, after bindInputs.
  llvm::Expected<std::vector<Shape>> resultShapes() const;
  /// Names the arrays of the results that are no argument updated in place.
  llvm::Error bindResults(llvm::ArrayRef<Buffer> results);

  /// One parameter of the kernel: 64 bits, or the device's address of an array.
  struct Parameter {
    int64_t number = 0;
    /// Of an array; empty for a number.
    std::string tensor;
    bool written = false;
  };
  llvm::Expected<std::vector<Parameter>> parameters() const;
  const Buffer &tensor(llvm::StringRef name) const {
    return tensors.find(name)->second;
  }

  llvm::Expected<int64_t> gridSize() const;
  int64_t blockSize() const;
  /// Bytes of shared memory that the launch gives beside what the code declares.
  int64_t sharedBytes() const;

private:
  llvm::Expected<int64_t> evaluate(const llvm::json::Value &dim) const;
  llvm::Expected<int64_t> sizeOf(llvm::StringRef name) const;
  llvm::Error bind(const llvm::json::Object &description, const Buffer &buffer);

  llvm::json::Object description;
  std::map<std::string, Buffer, std::less<>> tensors;
};

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_KERNELLAUNCH_H
