//===- Buffer.h - typed host arrays -----------------------------*- C++ -*-===//
//
// Part of linattn. What a compiled function reads and writes: an array of one
// element type with a shape and strides, aligned to 64 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_BUFFER_H
#define LINATTN_RUNNER_BUFFER_H

#include "linattn/Runner/Scalar.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace linattn {
namespace runner {

using Shape = llvm::SmallVector<int64_t, 5>;

/// "2x64x128", or "scalar".
std::string toString(llvm::ArrayRef<int64_t> shape);

/// An error in what the user gave; ends in exit code 2.
llvm::Error usageError(const llvm::Twine &message);

class Buffer {
public:
  Buffer() = default;

  /// A contiguous array of zeros. `what` names it where it does not fit.
  static llvm::Expected<Buffer>
  allocate(DType type, llvm::ArrayRef<int64_t> shape, const llvm::Twine &what);

  DType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  /// In elements.
  llvm::ArrayRef<int64_t> getStrides() const { return strides; }
  int64_t getRank() const { return shape.size(); }
  int64_t getNumElements() const;
  size_t getNumBytes() const { return getNumElements() * sizeInBytes(type); }
  bool isContiguous() const;

  char *getData() { return data; }
  const char *getData() const { return data; }
  template <typename T> T *as() { return reinterpret_cast<T *>(data); }
  template <typename T> const T *as() const {
    return reinterpret_cast<const T *>(data);
  }

  /// Other sizes and strides over the same memory, `offset` elements in.
  Buffer view(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
              int64_t offset = 0) const;

  /// Element `i` in row-major order of a contiguous array.
  double getFloat(int64_t i) const;
  int64_t getInt(int64_t i) const;

  /// Elements [begin, begin + count) of a contiguous array of floats.
  void read(int64_t begin, int64_t count, double *out) const;
  void write(int64_t begin, int64_t count, const double *values);

  /// A contiguous copy of another float type, each element rounded once to
  /// nearest even.
  llvm::Expected<Buffer> convertedTo(DType other,
                                     const llvm::Twine &what) const;
  llvm::Expected<Buffer> contiguousCopy(const llvm::Twine &what) const;

  /// Sets every byte of a contiguous array.
  void fillBytes(unsigned char byte);

private:
  DType type = DType::F32;
  Shape shape, strides;
  std::shared_ptr<char> storage;
  char *data = nullptr;
};

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_BUFFER_H
