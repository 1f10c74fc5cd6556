//===- Array.cpp - arrays of other libraries, without copies --------------===//

#include "Array.h"

#include <nanobind/ndarray.h>

#include <cstdlib>
#include <cstring>

using namespace linattn::python;
namespace dlpack = nanobind::dlpack;

static constexpr struct {
  DType type;
  const char *name;
  size_t size;
} kTypes[] = {{DType::F16, "f16", 2},    {DType::BF16, "bf16", 2},
              {DType::F32, "f32", 4},    {DType::F64, "f64", 8},
              {DType::I32, "i32", 4},    {DType::I64, "i64", 8},
              {DType::Other, "other", 0}};

const char *linattn::python::nameOf(DType type) {
  return kTypes[int(type)].name;
}

size_t linattn::python::sizeOf(DType type) { return kTypes[int(type)].size; }

DType linattn::python::dtypeNamed(const std::string &name) {
  for (const auto &entry : kTypes)
    if (name == entry.name)
      return entry.type;
  return DType::Other;
}

void Array::release() {
  if (hasBuffer)
    PyBuffer_Release(&buffer);
  hasBuffer = false;
  Py_CLEAR(capsule);
  std::free(own);
  own = nullptr;
}

bool Array::allocateZeros(DType type, int newRank, const int64_t *newShape) {
  size_t count = 1;
  dtype = type;
  rank = newRank;
  for (int i = rank; i-- > 0;) {
    shape[i] = newShape[i];
    strides[i] = int64_t(count);
    count *= size_t(newShape[i]);
  }
  // The kernel system zeroes large blocks when they are first touched.
  own = std::calloc(count ? count : 1, sizeOf(type));
  data = static_cast<char *>(own);
  if (!own)
    PyErr_NoMemory();
  return own != nullptr;
}

/// Of a format of the buffer protocol in this machine's byte order.
static DType dtypeOfFormat(const char *format, Py_ssize_t size) {
  if (*format == '@' || *format == '=')
    ++format;
  if (format[0] == 0 || format[1] != 0)
    return DType::Other;
  switch (format[0]) {
  case 'e':
    return DType::F16;
  case 'f':
    return DType::F32;
  case 'd':
    return DType::F64;
  case 'i':
  case 'l':
  case 'q':
    return size == 4 ? DType::I32 : DType::I64;
  default:
    return DType::Other;
  }
}

bool Array::importBuffer(PyObject *object) {
  if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) != 0)
    return false;
  hasBuffer = true;
  const char *format = buffer.format ? buffer.format : "B";
  dtype = dtypeOfFormat(format, buffer.itemsize);
  if (dtype == DType::Other)
    otherType = format;
  data = static_cast<char *>(buffer.buf);
  readOnly = buffer.readonly;
  rank = buffer.ndim;
  if (rank > kMaxRank) {
    PyErr_Format(PyExc_ValueError, "an array has at most %d dimensions, got %d",
                 kMaxRank, rank);
    return false;
  }
  for (int i = 0; i < rank; ++i) {
    shape[i] = buffer.shape[i];
    if (buffer.strides[i] % buffer.itemsize) {
      PyErr_SetString(PyExc_ValueError,
                      "the strides of an array are multiples of its elements");
      return false;
    }
    strides[i] = buffer.strides[i] / buffer.itemsize;
  }
  return true;
}

/// numpy's buffers cannot say bfloat16, which packages add to it: as integers
/// of the same size.
bool Array::importBFloat(PyObject *object) {
  PyObject *type = PyObject_GetAttrString(object, "dtype");
  PyObject *name = type ? PyObject_GetAttrString(type, "name") : nullptr;
  bool isBFloat = name && PyUnicode_Check(name) &&
                  PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
  Py_XDECREF(name);
  Py_XDECREF(type);
  PyErr_Clear();
  if (!isBFloat)
    return false;
  PyObject *view = PyObject_CallMethod(object, "view", "s", "int16");
  if (!view) {
    PyErr_Clear();
    return false;
  }
  bool done = importBuffer(view);
  Py_DECREF(view); // The buffer holds it.
  dtype = DType::BF16;
  return done;
}

static DType dtypeOf(dlpack::dtype type) {
  if (type.lanes != 1)
    return DType::Other;
  switch (dlpack::dtype_code(type.code)) {
  case dlpack::dtype_code::Float:
    return type.bits == 16   ? DType::F16
           : type.bits == 32 ? DType::F32
           : type.bits == 64 ? DType::F64
                             : DType::Other;
  case dlpack::dtype_code::Bfloat:
    return type.bits == 16 ? DType::BF16 : DType::Other;
  case dlpack::dtype_code::Int:
    return type.bits == 32   ? DType::I32
           : type.bits == 64 ? DType::I64
                             : DType::Other;
  default:
    return DType::Other;
  }
}

namespace {
// The two forms of a tensor in a capsule, as DLPack defines them.
struct ManagedTensor {
  dlpack::dltensor tensor;
  void *context;
  void (*deleter)(ManagedTensor *);
};
struct VersionedTensor {
  struct {
    uint32_t major, minor;
  } version;
  void *context;
  void (*deleter)(VersionedTensor *);
  uint64_t flags;
  dlpack::dltensor tensor;
};
} // namespace

bool Array::importDLPack(PyObject *object) {
  capsule = PyObject_CallMethod(object, "__dlpack__", nullptr);
  if (!capsule)
    return false;
  // The capsule is not consumed: its owner frees the tensor with it.
  const dlpack::dltensor *tensor = nullptr;
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    tensor =
        &static_cast<ManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"))
             ->tensor;
  } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto *versioned = static_cast<VersionedTensor *>(
        PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    tensor = &versioned->tensor;
    readOnly = versioned->flags & 1;
  }
  if (!tensor) {
    PyErr_SetString(PyExc_TypeError, "__dlpack__ did not give a tensor");
    return false;
  }
  if (tensor->ndim > kMaxRank) {
    PyErr_Format(PyExc_ValueError, "an array has at most %d dimensions, got %d",
                 kMaxRank, int(tensor->ndim));
    return false;
  }
  dtype = dtypeOf(tensor->dtype);
  if (dtype == DType::Other)
    otherType = "type code " + std::to_string(tensor->dtype.code) + " of " +
                std::to_string(tensor->dtype.bits) + " bits";
  data = static_cast<char *>(tensor->data) + tensor->byte_offset;
  deviceType = tensor->device.device_type;
  deviceId = tensor->device.device_id;
  rank = tensor->ndim;
  int64_t dense = 1;
  for (int i = rank; i-- > 0;) {
    shape[i] = tensor->shape[i];
    strides[i] = tensor->strides ? tensor->strides[i] : dense;
    dense *= shape[i];
  }
  return true;
}

bool Array::import(PyObject *object) {
  if (PyObject_CheckBuffer(object)) {
    if (importBuffer(object))
      return true;
    release();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (importBFloat(object)) {
      Py_XDECREF(type);
      Py_XDECREF(value);
      Py_XDECREF(trace);
      return true;
    }
    PyErr_Restore(type, value, trace);
  } else if (importDLPack(object)) {
    return true;
  }
  release();
  return false;
}
