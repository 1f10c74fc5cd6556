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

/// Before the name of a type whose bytes are not in this machine's order.
static constexpr const char *kOtherOrder =
    PY_LITTLE_ENDIAN ? "big-endian " : "little-endian ";

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

/// Whether a format of the buffer protocol is in this machine's byte order; the
/// mark of the order goes away.
static bool takeOrder(const char *&format) {
  char mark = *format;
  if (mark == '@' || mark == '=' || mark == '<' || mark == '>' || mark == '!')
    ++format;
  else
    return true;
  if (format[0] != 0 && format[1] == 0 && std::strchr("bB?c", format[0]))
    return true; // One byte has no order.
  bool little = PY_LITTLE_ENDIAN;
  return mark == '@' || mark == '=' || (mark == '<') == little;
}

/// Of a format without a mark.
static DType dtypeOfFormat(const char *format, Py_ssize_t size) {
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

/// What numpy calls it, for messages: bool, complex64, ..
static std::string wordsOfFormat(const char *format, Py_ssize_t size) {
  std::string bits = std::to_string(size * 8);
  if (format[0] == 'Z')
    return "complex" + bits;
  if (format[0] == 'T')
    return "a structure";
  switch (format[std::strlen(format) - 1]) { // behind a length, as in "4s"
  case '?':
    return "bool";
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return "int" + bits;
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
    return "uint" + bits;
  case 'g':
    return "float" + bits;
  case 'O':
    return "object";
  case 'c':
  case 's':
    return "bytes";
  case 'w':
    return "text";
  case 'x':
    return "void";
  default:
    return format;
  }
}

bool Array::importBuffer(PyObject *object) {
  if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) != 0)
    return false;
  hasBuffer = true;
  const char *format = buffer.format ? buffer.format : "B";
  bool native = takeOrder(format);
  dtype = dtypeOfFormat(format, buffer.itemsize);
  otherType = dtype == DType::Other ? wordsOfFormat(format, buffer.itemsize)
                                    : nameOf(dtype);
  if (!native) {
    // Its bytes would be read in the wrong order.
    otherType = kOtherOrder + otherType;
    dtype = DType::Other;
  }
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

/// For types that numpy's buffers cannot say. bfloat16, which packages add to
/// it, as integers of the same size; others are named in the error.
bool Array::importNamed(PyObject *object) {
  nanobind::python_error said; // by the buffer
  nanobind::object type = nanobind::getattr(object, "dtype", nanobind::none());
  if (!nanobind::hasattr(type, "name")) {
    said.restore();
    return false;
  }
  std::string name = nanobind::str(type.attr("name")).c_str();
  bool native =
      nanobind::cast<bool>(nanobind::getattr(type, "isnative", Py_True));
  if (name == "bfloat16") {
    nanobind::object view = nanobind::handle(object).attr("view")("int16");
    bool done = importBuffer(view.ptr()); // The buffer holds the view.
    dtype = native ? DType::BF16 : DType::Other;
    otherType = std::string(kOtherOrder) + "bf16";
    return done;
  }
  PyErr_Format(PyExc_TypeError,
               "elements are bf16, f16, f32, f64, i32 or i64, got %s",
               name.c_str());
  return false;
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

/// What numpy calls it, for messages.
static std::string wordsOf(dlpack::dtype type) {
  std::string bits = std::to_string(type.bits);
  if (type.lanes != 1)
    return "vectors of " + std::to_string(type.lanes);
  switch (int(type.code)) {
  case int(dlpack::dtype_code::Int):
    return "int" + bits;
  case int(dlpack::dtype_code::UInt):
    return "uint" + bits;
  case int(dlpack::dtype_code::Float):
    return "float" + bits;
  case int(dlpack::dtype_code::Complex):
    return "complex" + bits;
  case int(dlpack::dtype_code::Bool):
    return "bool";
  default:
    return "type code " + std::to_string(type.code) + " of " + bits + " bits";
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
    otherType = wordsOf(tensor->dtype);
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
  if (!PyObject_CheckBuffer(object)) {
    if (importDLPack(object))
      return true;
  } else {
    if (importBuffer(object))
      return true;
    bool unsaid = !hasBuffer && PyErr_ExceptionMatches(PyExc_ValueError);
    release();
    if (unsaid && importNamed(object))
      return true;
  }
  release();
  return false;
}
