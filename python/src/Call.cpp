//===- Call.cpp - calls of compiled functions from Python -----------------===//
//
// Part of linattn. Knows no compiler: the address of a function, what its
// arguments and results are, and how to make arrays. This is the path of every
// call, so it makes no Python objects but the results.
//
//===----------------------------------------------------------------------===//

#include "Array.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace linattn::python;

namespace {

/// A size: a number, or a symbol such as T, plus a constant.
struct Dim {
  int64_t size = -1;
  int symbol = -1;
  int64_t plus = 0;
};

enum class Role : uint8_t { Plain, State, Offsets, Slots };

struct Argument {
  std::string name;
  DType dtype = DType::Other;
  std::vector<Dim> shape;
  Role role = Role::Plain;
  bool innerContiguous = false;
  bool written = false; ///< updated in place
  /// Of offsets: the symbol of the rows that they count. Of slots: the symbol
  /// of the pool's rows.
  int counted = -1;
  int64_t padding = -1;
};

struct Result {
  DType dtype = DType::Other;
  int rank = 0;
  int inPlace = -1; ///< the argument that holds it
};

/// A memref descriptor; sizes and strides stand behind one another.
struct Descriptor {
  void *allocated, *aligned;
  int64_t offset;
  int64_t numbers[2 * kMaxRank];

  void set(void *data, int rank, const int64_t *shape, const int64_t *strides) {
    allocated = aligned = data;
    offset = 0;
    for (int i = 0; i < rank; ++i) {
      numbers[i] = shape[i];
      numbers[rank + i] = strides[i];
    }
  }
};

constexpr size_t kMaxArguments = 64;

template <size_t> using Pointer = void *;

template <size_t... i>
void callWith(void *entry, void **arguments, std::index_sequence<i...>) {
  reinterpret_cast<void (*)(Pointer<i>...)>(entry)(arguments[i]...);
}

template <size_t count> void callCount(void *entry, void **arguments) {
  callWith(entry, arguments, std::make_index_sequence<count>());
}

template <size_t... counts>
void dispatch(void *entry, void **arguments, size_t count,
              std::index_sequence<counts...>) {
  using Caller = void (*)(void *, void **);
  static constexpr Caller callers[] = {callCount<counts>...};
  callers[count](entry, arguments);
}

void invoke(void *entry, void **arguments, size_t count) {
  dispatch(entry, arguments, count,
           std::make_index_sequence<kMaxArguments + 1>());
}

/// How a library makes arrays: `make(shape, dtype)` gives memory to write,
/// `finish(array, dtype)` what the caller gets.
struct Library {
  nb::object make, finish;
};

class Kernel {
public:
  Kernel(uintptr_t entry, uintptr_t sizes, nb::list arguments, nb::list results,
         int symbols, nb::object keep)
      : entry(reinterpret_cast<void *>(entry)),
        sizes(reinterpret_cast<void *>(sizes)), symbols(symbols),
        keep(std::move(keep)) {
    for (nb::handle item : arguments)
      readArgument(nb::cast<nb::dict>(item));
    for (nb::handle item : results)
      readResult(nb::cast<nb::dict>(item));
    if (this->arguments.size() + this->results.size() > kMaxArguments)
      throw nb::value_error("a function has at most 64 arguments and results");
  }

  nb::object call(nb::args given, nb::handle make, nb::handle finish);

private:
  static Dim readDim(nb::handle item) {
    Dim dim;
    if (nb::isinstance<nb::int_>(item)) {
      dim.size = nb::cast<int64_t>(item);
    } else {
      nb::tuple pair = nb::cast<nb::tuple>(item);
      dim.symbol = nb::cast<int>(pair[0]);
      dim.plus = nb::cast<int64_t>(pair[1]);
    }
    return dim;
  }

  void readArgument(nb::dict fields) {
    Argument argument;
    argument.name = nb::cast<std::string>(fields["name"]);
    argument.dtype = dtypeNamed(nb::cast<std::string>(fields["dtype"]));
    for (nb::handle item : nb::cast<nb::list>(fields["shape"]))
      argument.shape.push_back(readDim(item));
    std::string role = nb::cast<std::string>(fields["role"]);
    argument.role = role == "state"     ? Role::State
                    : role == "seqlens" ? Role::Offsets
                    : role == "slots"   ? Role::Slots
                                        : Role::Plain;
    argument.innerContiguous = nb::cast<bool>(fields["inner_contiguous"]);
    argument.written = nb::cast<bool>(fields["written"]);
    argument.counted = nb::cast<int>(fields["counted"]);
    argument.padding = nb::cast<int64_t>(fields["padding"]);
    arguments.push_back(std::move(argument));
  }

  void readResult(nb::dict fields) {
    Result result;
    result.dtype = dtypeNamed(nb::cast<std::string>(fields["dtype"]));
    result.rank = nb::cast<int>(fields["rank"]);
    result.inPlace = nb::cast<int>(fields["in_place"]);
    results.push_back(result);
  }

  bool fits(const Argument &argument, const Array &array) const;
  void checkSizes(const std::vector<Array *> &arrays,
                  std::vector<int64_t> &values) const;
  void checkNumbers(const Argument &argument, const Array &array,
                    const std::vector<int64_t> &values) const;

  void *entry, *sizes;
  int symbols;
  nb::object keep;
  std::vector<Argument> arguments;
  std::vector<Result> results;
};

std::string shapeOf(const Array &array) {
  std::string text = "[";
  for (int i = 0; i < array.rank; ++i)
    text += (i ? ", " : "") + std::to_string(array.shape[i]);
  return text + "]";
}

[[noreturn]] void refuse(const Argument &argument, const std::string &what) {
  throw nb::value_error(("argument '" + argument.name + "' " + what).c_str());
}

/// What this function was compiled for: types and sizes that are fixed.
bool Kernel::fits(const Argument &argument, const Array &array) const {
  if (array.dtype != argument.dtype ||
      array.rank != int(argument.shape.size()) || array.deviceType != 1)
    return false;
  for (int i = 0; i < array.rank; ++i)
    if (argument.shape[i].symbol < 0 &&
        argument.shape[i].size != array.shape[i])
      return false;
  return true;
}

/// Sizes that are known at the call only, and what lies in memory.
void Kernel::checkSizes(const std::vector<Array *> &arrays,
                        std::vector<int64_t> &values) const {
  std::vector<int> first(symbols, -1);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Argument &argument = arguments[i];
    if (!arrays[i])
      continue;
    const Array &array = *arrays[i];
    for (int d = 0; d < array.rank; ++d) {
      const Dim &dim = argument.shape[d];
      if (dim.symbol < 0)
        continue;
      int64_t value = array.shape[d] - dim.plus;
      if (value < 0)
        refuse(argument, "has at least " + std::to_string(dim.plus) +
                             " elements, got " +
                             std::to_string(array.shape[d]));
      int &seen = first[dim.symbol];
      if (seen < 0) {
        seen = int(i);
        values[dim.symbol] = value;
      } else if (values[dim.symbol] != value) {
        refuse(argument, "of shape " + shapeOf(array) + " does not go with '" +
                             arguments[seen].name + "' of shape " +
                             shapeOf(*arrays[seen]) + ": dimension " +
                             std::to_string(d) + " is " +
                             std::to_string(values[dim.symbol] + dim.plus) +
                             ", got " + std::to_string(array.shape[d]));
      }
    }
    if (argument.innerContiguous && array.rank &&
        array.shape[array.rank - 1] > 1 && array.strides[array.rank - 1] != 1)
      refuse(argument, "has contiguous vectors (stride 1 in its last "
                       "dimension), got stride " +
                           std::to_string(array.strides[array.rank - 1]));
    if (argument.written && array.readOnly)
      refuse(argument, "is updated in place, got a read-only array");
  }
}

template <typename T, typename F> void forEach(const Array &array, F function) {
  for (int64_t i = 0; i < array.shape[0]; ++i)
    function(i, int64_t(reinterpret_cast<const T *>(
                    array.data)[i * array.strides[0]]));
}

template <typename F> void forEachInteger(const Array &array, F function) {
  if (array.dtype == DType::I32)
    forEach<int32_t>(array, function);
  else
    forEach<int64_t>(array, function);
}

/// Offsets do not decrease and stay inside; slots name rows of the pool, each
/// once.
void Kernel::checkNumbers(const Argument &argument, const Array &array,
                          const std::vector<int64_t> &values) const {
  int64_t rows = argument.counted < 0 ? 0 : values[argument.counted];
  if (argument.role == Role::Offsets) {
    int64_t last = 0;
    forEachInteger(array, [&](int64_t i, int64_t value) {
      if (i == 0 && value < 0)
        refuse(argument, "has offsets >= 0, got " + std::to_string(value));
      if (i && value < last)
        refuse(argument, "has offsets that do not decrease, got " +
                             std::to_string(last) + " before " +
                             std::to_string(value));
      last = value;
    });
    if (last > rows)
      refuse(argument, "ends at most at the number of tokens " +
                           std::to_string(rows) + ", got " +
                           std::to_string(last));
  } else if (argument.role == Role::Slots) {
    std::vector<bool> taken(size_t(rows), false);
    forEachInteger(array, [&](int64_t i, int64_t value) {
      if (value == argument.padding)
        return;
      if (value < 0 || value >= rows)
        refuse(argument, "names rows of a pool of " + std::to_string(rows) +
                             " or is " + std::to_string(argument.padding) +
                             ", got " + std::to_string(value) + " at " +
                             std::to_string(i));
      if (taken[size_t(value)])
        refuse(argument,
               "names each row once, got " + std::to_string(value) + " twice");
      taken[size_t(value)] = true;
    });
  }
}

/// NotImplemented where the arrays are of other types or fixed sizes than the
/// function was compiled for.
nb::object Kernel::call(nb::args given, nb::handle make, nb::handle finish) {
  if (given.size() != arguments.size())
    return nb::borrow(nb::handle(Py_NotImplemented));
  // On the stack: calls are small.
  std::array<Array, kMaxArguments> storage;
  std::vector<Array *> arrays(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    nb::handle object = given[i];
    if (object.is_none() && arguments[i].role == Role::State)
      continue;
    if (!storage[i].import(object.ptr())) {
      // No array, or one of no type of ours: describing it says which.
      for (PyObject *kind : {PyExc_AttributeError, PyExc_TypeError,
                             PyExc_ValueError, PyExc_BufferError})
        if (PyErr_ExceptionMatches(kind)) {
          PyErr_Clear();
          return nb::borrow(nb::handle(Py_NotImplemented));
        }
      throw nb::python_error();
    }
    if (!fits(arguments[i], storage[i]))
      return nb::borrow(nb::handle(Py_NotImplemented));
    arrays[i] = &storage[i];
  }
  std::vector<int64_t> values(symbols, 0);
  checkSizes(arrays, values);
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arrays[i] && (arguments[i].role == Role::Offsets ||
                      arguments[i].role == Role::Slots))
      checkNumbers(arguments[i], *arrays[i], values);
  // States that are not given begin at zero.
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arrays[i])
      continue;
    int64_t shape[kMaxRank];
    const Argument &argument = arguments[i];
    for (size_t d = 0; d < argument.shape.size(); ++d) {
      const Dim &dim = argument.shape[d];
      shape[d] = dim.symbol < 0 ? dim.size : values[dim.symbol] + dim.plus;
    }
    if (!storage[i].allocateZeros(argument.dtype, int(argument.shape.size()),
                                  shape))
      throw nb::python_error();
    arrays[i] = &storage[i];
  }

  std::array<Descriptor, kMaxArguments> descriptors;
  std::array<void *, kMaxArguments + 1> pointers;
  size_t count = 0;
  for (Array *array : arrays) {
    descriptors[count].set(array->data, array->rank, array->shape,
                           array->strides);
    pointers[count] = &descriptors[count];
    ++count;
  }
  // The sizes of all results, as the function itself says.
  size_t total = 0;
  for (const Result &result : results)
    total += size_t(result.rank);
  std::vector<int64_t> shapes(total);
  Descriptor shapesDescriptor;
  int64_t length = int64_t(total), one = 1;
  shapesDescriptor.set(shapes.data(), 1, &length, &one);
  pointers[count] = &shapesDescriptor;
  if (total)
    invoke(sizes, pointers.data(), count + 1);

  std::vector<nb::object> made(results.size());
  std::array<Array, kMaxArguments> outputs;
  const int64_t *next = shapes.data();
  for (size_t r = 0; r < results.size(); ++r) {
    const Result &result = results[r];
    if (result.inPlace >= 0) {
      made[r] = nb::borrow(given[size_t(result.inPlace)]);
      next += result.rank;
      continue;
    }
    nb::object shape = nb::steal(PyTuple_New(result.rank));
    for (int d = 0; d < result.rank; ++d)
      PyTuple_SET_ITEM(shape.ptr(), d, PyLong_FromLongLong(*next++));
    made[r] = make(shape, nameOf(result.dtype));
    if (!outputs[r].import(made[r].ptr()))
      throw nb::python_error();
    descriptors[count].set(outputs[r].data, outputs[r].rank, outputs[r].shape,
                           outputs[r].strides);
    pointers[count] = &descriptors[count];
    ++count;
  }
  {
    nb::gil_scoped_release release;
    invoke(entry, pointers.data(), count);
  }
  for (size_t r = 0; r < results.size(); ++r)
    if (results[r].inPlace < 0 && !finish.is_none())
      made[r] = finish(made[r], nameOf(results[r].dtype));
  if (made.size() == 1)
    return std::move(made[0]);
  nb::object tuple = nb::steal(PyTuple_New(Py_ssize_t(made.size())));
  for (size_t r = 0; r < made.size(); ++r)
    PyTuple_SET_ITEM(tuple.ptr(), Py_ssize_t(r), made[r].release().ptr());
  return tuple;
}

/// (shape, strides, dtype, device) of an array, for choosing a function.
nb::tuple describe(nb::handle object) {
  Array array;
  if (!array.import(object.ptr()))
    throw nb::python_error();
  nb::list shape, strides;
  for (int i = 0; i < array.rank; ++i) {
    shape.append(array.shape[i]);
    strides.append(array.strides[i]);
  }
  std::string dtype =
      array.dtype == DType::Other ? array.otherType : nameOf(array.dtype);
  return nb::make_tuple(nb::tuple(shape), nb::tuple(strides), dtype,
                        array.deviceType, array.deviceId);
}

} // namespace

NB_MODULE(_call, m) {
  m.doc() = "Calls of compiled functions; no compiler inside.";
  nb::class_<Kernel>(m, "Kernel", "A compiled function for the CPU.")
      .def(
          nb::init<uintptr_t, uintptr_t, nb::list, nb::list, int, nb::object>(),
          "entry"_a, "sizes"_a, "arguments"_a, "results"_a, "symbols"_a,
          "keep"_a,
          "Addresses of the function and of the one that gives the sizes of "
          "its results; `keep` holds their code.")
      .def("call", &Kernel::call, "args"_a, "make"_a, "finish"_a.none(),
           "Runs on arrays. NotImplemented if they are of other types or fixed "
           "sizes than the function was compiled for.");
  m.def("describe", &describe, "array"_a.none(),
        "(shape, strides, dtype, device type, device number) of an array.");
}
