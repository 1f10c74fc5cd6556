//===- Buffer.cpp - typed host arrays ---------------------------*- C++ -*-===//

#include "linattn/Runner/Buffer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

using namespace linattn;
using namespace linattn::runner;

/// Elements that one task converts: a few hundred microseconds of work.
static constexpr int64_t kBlock = 1 << 16;

/// What a vector load of any target likes, and a cache line.
static constexpr size_t kAlignment = 64;

std::string runner::toString(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  return llvm::join(
      llvm::map_range(shape, [](int64_t n) { return std::to_string(n); }), "x");
}

llvm::Error runner::usageError(const llvm::Twine &message) {
  return llvm::createStringError(
      std::make_error_code(std::errc::invalid_argument), message);
}

static Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

llvm::Expected<Buffer> Buffer::allocate(DType type,
                                        llvm::ArrayRef<int64_t> shape,
                                        const llvm::Twine &what) {
  // The product with zeros left out bounds the strides as well.
  int64_t bytes = sizeInBytes(type);
  bool empty = false, overflow = false;
  for (int64_t size : shape) {
    empty |= size == 0;
    overflow |=
        size < 0 || llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes);
  }
  auto tooLarge = [&] {
    return usageError(what + ": " + toString(shape) + " of " + nameOf(type) +
                      " does not fit in memory");
  };
  if (overflow || bytes > std::numeric_limits<int64_t>::max() / 2)
    return tooLarge();
  size_t size = empty ? kAlignment : llvm::alignTo(bytes, kAlignment);

  Buffer buffer;
  buffer.type = type;
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.strides = rowMajorStrides(shape);
  // calloc hands out fresh pages without touching them; the start is aligned
  // by hand, since aligned_alloc would need a memset.
  char *raw = static_cast<char *>(std::calloc(size + kAlignment, 1));
  if (!raw)
    return tooLarge();
  buffer.storage = std::shared_ptr<char>(raw, std::free);
  buffer.data = reinterpret_cast<char *>(
      llvm::alignTo(reinterpret_cast<uintptr_t>(raw), kAlignment));
  return buffer;
}

int64_t Buffer::getNumElements() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

bool Buffer::isContiguous() const {
  return getNumElements() == 0 || strides == rowMajorStrides(shape);
}

Buffer Buffer::view(llvm::ArrayRef<int64_t> newShape,
                    llvm::ArrayRef<int64_t> newStrides, int64_t offset) const {
  assert(newShape.size() == newStrides.size() && "one stride per dimension");
  Buffer other = *this;
  other.shape.assign(newShape.begin(), newShape.end());
  other.strides.assign(newStrides.begin(), newStrides.end());
  other.data += offset * int64_t(sizeInBytes(type));
  return other;
}

double Buffer::getFloat(int64_t i) const {
  double value;
  read(i, 1, &value);
  return value;
}

int64_t Buffer::getInt(int64_t i) const {
  assert(!isFloat(type) && "not an array of integers");
  return type == DType::I32 ? as<int32_t>()[i] : as<int64_t>()[i];
}

void Buffer::read(int64_t begin, int64_t count, double *out) const {
  auto convert = [&](auto *values, auto widen) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = widen(values[begin + i]);
  };
  switch (type) {
  case DType::F16:
    return convert(as<uint16_t>(), f16ToFloat);
  case DType::BF16:
    return convert(as<uint16_t>(), bf16ToFloat);
  case DType::F32:
    return convert(as<float>(), [](float x) { return x; });
  case DType::F64:
    return convert(as<double>(), [](double x) { return x; });
  case DType::I32:
  case DType::I64:
    llvm_unreachable("not an array of floats");
  }
}

void Buffer::write(int64_t begin, int64_t count, const double *values) {
  auto convert = [&](auto *out, auto round) {
    for (int64_t i = 0; i < count; ++i)
      out[begin + i] = round(values[i]);
  };
  switch (type) {
  case DType::F16:
    return convert(as<uint16_t>(), doubleToF16);
  case DType::BF16:
    return convert(as<uint16_t>(), doubleToBF16);
  case DType::F32:
    return convert(as<float>(), [](double x) { return float(x); });
  case DType::F64:
    return convert(as<double>(), [](double x) { return x; });
  case DType::I32:
  case DType::I64:
    llvm_unreachable("not an array of floats");
  }
}

llvm::Expected<Buffer> Buffer::convertedTo(DType other,
                                           const llvm::Twine &what) const {
  assert(isFloat(type) && isFloat(other) && isContiguous());
  llvm::Expected<Buffer> result = allocate(other, shape, what);
  if (!result)
    return result;
  int64_t count = getNumElements();
  llvm::parallelFor(0, llvm::divideCeil(count, kBlock), [&](size_t block) {
    int64_t first = int64_t(block) * kBlock;
    int64_t last = std::min(first + kBlock, count);
    double values[256];
    for (int64_t i = first; i < last; i += 256) {
      int64_t n = std::min<int64_t>(256, last - i);
      read(i, n, values);
      result->write(i, n, values);
    }
  });
  return result;
}

llvm::Expected<Buffer> Buffer::contiguousCopy(const llvm::Twine &what) const {
  llvm::Expected<Buffer> result = allocate(type, shape, what);
  if (!result)
    return result;
  size_t bytes = sizeInBytes(type);
  if (isContiguous()) {
    std::memcpy(result->getData(), data, getNumBytes());
    return result;
  }
  Shape index(shape.size());
  for (int64_t i = 0, count = getNumElements(); i < count; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      offset += index[d] * strides[d];
    std::memcpy(result->getData() + i * bytes, data + offset * int64_t(bytes),
                bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
  return result;
}

void Buffer::fillBytes(unsigned char byte) {
  assert(isContiguous() && "a view would be overrun");
  std::memset(data, byte, getNumBytes());
}
