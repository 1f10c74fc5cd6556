//===- Array.h - arrays of other libraries, without copies ------*- C++ -*-===//
//
// Part of linattn. A view of an array that Python holds: through the buffer
// protocol (numpy) or DLPack (torch, jax, cupy, ..).
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_PYTHON_ARRAY_H
#define LINATTN_PYTHON_ARRAY_H

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace linattn::python {

enum class DType : uint8_t { F16, BF16, F32, F64, I32, I64, Other };

const char *nameOf(DType type);
/// By the names that MLIR has; Other for any other name.
DType dtypeNamed(const std::string &name);
size_t sizeOf(DType type);

constexpr int kMaxRank = 8;

/// Holds what keeps the memory alive while it exists.
class Array {
public:
  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { release(); }

  /// False, with an error set in Python, where `object` is no array.
  bool import(PyObject *object);
  /// Memory of our own: zeros.
  bool allocateZeros(DType type, int rank, const int64_t *shape);
  void release();

  char *data = nullptr;
  DType dtype = DType::Other;
  int rank = 0;
  int64_t shape[kMaxRank], strides[kMaxRank]; ///< strides count elements
  int32_t deviceType = 1;                     ///< of DLPack; 1 is the CPU
  int32_t deviceId = 0;
  bool readOnly = false;
  std::string otherType; ///< of DType::Other, for messages

private:
  bool importBuffer(PyObject *object);
  bool importNamed(PyObject *object);
  bool importDLPack(PyObject *object);

  Py_buffer buffer{};
  bool hasBuffer = false;
  PyObject *capsule = nullptr;
  void *own = nullptr;
};

} // namespace linattn::python

#endif // LINATTN_PYTHON_ARRAY_H
