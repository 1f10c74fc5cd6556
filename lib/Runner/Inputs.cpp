//===- Inputs.cpp - the arguments of a run ----------------------*- C++ -*-===//

#include "linattn/Runner/Inputs.h"
#include "linattn/Runner/Npy.h"
#include "linattn/Runner/Rows.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace linattn;
using namespace linattn::runner;
using llvm::StringRef;
using llvm::Twine;

/// Whether a file of type `from` is what was meant for an argument of type
/// `to`: no digit is lost, or there are no .npy files of the type itself.
static bool holds(DType to, DType from) {
  switch (to) {
  case DType::F64:
    return true;
  case DType::F32:
    return from != DType::F64;
  case DType::BF16:
    return from == DType::F32;
  default:
    return to == from;
  }
}

namespace {
class InputMaker {
public:
  InputMaker(const Signature &signature, const InputOptions &options)
      : signature(signature), options(options), sizes(signature) {
    inputs.buffers.resize(signature.arguments.size());
    inputs.given.resize(signature.arguments.size());
  }

  llvm::Expected<Inputs> make() {
    for (StringRef size : options.sizes)
      if (llvm::Error error = sizes.parse(size))
        return error;
    for (StringRef file : options.files)
      if (llvm::Error error = readFile(file))
        return error;
    if (llvm::Error error =
            setIntegers(options.seqlens, SampleKind::Seqlens, "--seqlens"))
      return error;
    if (llvm::Error error =
            setIntegers(options.slots, SampleKind::Slots, "--slots"))
      return error;
    setDefaultSizes();
    // Seqlens and slots first: they say which rows of the others are drawn.
    for (bool integers : {true, false})
      for (const Argument &argument : signature.arguments)
        if (isFloat(argument.type) != integers)
          if (llvm::Error error = complete(argument))
            return error;
    inputs.sizes = sizes.all();
    return std::move(inputs);
  }

private:
  bool isSet(const Argument &argument) const {
    return inputs.buffers[argument.index].getData();
  }

  llvm::Error readFile(StringRef assignment) {
    auto [name, path] = assignment.split('=');
    if (name.empty() || path.empty())
      return usageError("--input takes ARGUMENT=FILE.npy, got '" + assignment +
                        "'");
    const Argument *argument = signature.find(name);
    if (!argument)
      return usageError(
          "--input " + assignment +
          ": no argument has this name; there are: " + listArguments());
    auto [first, isNew] = paths.try_emplace(argument->index, path);
    if (!isNew)
      return usageError("--input: argument '" + argument->name +
                        "' is given once, got '" + first->second + "' and '" +
                        path + "'");
    llvm::Expected<Buffer> array = readNpy(path);
    if (!array)
      return array.takeError();
    if (llvm::Error error = sizes.setFrom(*argument, array->getShape(), path))
      return error;
    array = convert(std::move(*array), *argument, path);
    if (!array)
      return array.takeError();
    inputs.buffers[argument->index] = std::move(*array);
    inputs.given[argument->index] = true;
    return llvm::Error::success();
  }

  llvm::Expected<Buffer> convert(Buffer array, const Argument &argument,
                                 StringRef path) {
    if (array.getType() == argument.type)
      return array;
    if (isFloat(array.getType()) && isFloat(argument.type)) {
      if (!options.roundFiles && !holds(argument.type, array.getType()))
        return usageError("argument '" + argument.name + "' is " +
                          nameOf(argument.type) + ", got " +
                          nameOf(array.getType()) + " from " + path +
                          "; give --round-inputs to have it rounded");
      return array.convertedTo(argument.type, argument.name);
    }
    if (isFloat(array.getType()) != isFloat(argument.type))
      return usageError("argument '" + argument.name + "' is " +
                        nameOf(argument.type) + ", got " +
                        nameOf(array.getType()) + " from " + path);
    std::vector<int64_t> values(array.getNumElements());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = array.getInt(i);
    return makeIntegers(argument, array.getShape(), values);
  }

  llvm::Expected<Buffer> makeIntegers(const Argument &argument,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<int64_t> values) {
    auto buffer = Buffer::allocate(argument.type, shape, argument.name);
    if (!buffer)
      return buffer;
    for (auto [i, value] : llvm::enumerate(values)) {
      if (argument.type == DType::I64)
        buffer->as<int64_t>()[i] = value;
      else if (value == int32_t(value))
        buffer->as<int32_t>()[i] = value;
      else
        return usageError("argument '" + argument.name + "' is i32, got " +
                          Twine(value) + " at element " + Twine(i));
    }
    return buffer;
  }

  llvm::Error setIntegers(const std::optional<std::vector<int64_t>> &values,
                          SampleKind kind, StringRef option) {
    if (!values)
      return llvm::Error::success();
    bool found = false;
    for (const Argument &argument : signature.arguments) {
      if (argument.sample != kind)
        continue;
      found = true;
      if (isSet(argument))
        return usageError("argument '" + argument.name +
                          "' is given twice: by --input and by " + option);
      int64_t count = values->size();
      if (llvm::Error error = sizes.setFrom(argument, count, option))
        return error;
      auto buffer = makeIntegers(argument, count, *values);
      if (!buffer)
        return buffer.takeError();
      inputs.buffers[argument.index] = std::move(*buffer);
      inputs.given[argument.index] = true;
    }
    if (!found)
      return usageError(option + ": @" + signature.function + " has no " +
                        nameOf(kind));
    return llvm::Error::success();
  }

  /// The array that seqlens or slots count into: its size where it is known.
  std::optional<int64_t> countedSize(const Argument &argument) const {
    if (argument.counted < 0)
      return std::nullopt;
    const Dimension &dim = signature.arguments[argument.counted].dims[0];
    return dim.isStatic() ? std::optional(dim.size) : sizes.get(dim.name);
  }

  void setDefaultSizes() {
    for (const Argument &argument : signature.arguments) {
      if (argument.counted < 0)
        continue;
      const Dimension &dim = signature.arguments[argument.counted].dims[0];
      if (dim.isStatic())
        continue;
      const Buffer &buffer = inputs.buffers[argument.index];
      if (argument.sample == SampleKind::Seqlens && isSet(argument) &&
          buffer.getNumElements() > 0)
        sizes.setDefault(dim.name, buffer.getInt(buffer.getNumElements() - 1));
      if (argument.sample == SampleKind::Slots)
        setDefaultPool(argument, dim.name);
    }
    // Keys stand beside queries unless said otherwise.
    std::optional<int64_t> tokens = sizes.get("T");
    for (const Argument &argument : signature.arguments)
      for (const Dimension &dim : argument.dims)
        if (tokens && !dim.isStatic() && dim.name == "S")
          sizes.setDefault(dim.name, *tokens);
  }

  /// A pool with a state per sequence, and every state that a slot names.
  void setDefaultPool(const Argument &slots, StringRef pool) {
    const Dimension &count = slots.dims[0];
    std::optional<int64_t> size =
        count.isStatic() ? count.size : sizes.get(count.name);
    if (!size)
      return;
    int64_t states = *size;
    if (isSet(slots))
      for (int64_t i = 0; i < *size; ++i)
        states = std::max(states, inputs.buffers[slots.index].getInt(i) + 1);
    sizes.setDefault(pool, states);
  }

  llvm::Error complete(const Argument &argument) {
    if (!isSet(argument))
      if (llvm::Error error = draw(argument))
        return error;
    const Buffer &buffer = inputs.buffers[argument.index];
    if (argument.sample == SampleKind::Seqlens)
      return checkSeqlens(buffer, argument.name, countedSize(argument));
    if (argument.sample == SampleKind::Slots)
      return checkSlots(buffer, argument.name, argument.padding,
                        countedSize(argument));
    return llvm::Error::success();
  }

  llvm::Error draw(const Argument &argument) {
    if (argument.sample == SampleKind::Index)
      return usageError("argument '" + argument.name + "' holds " +
                        nameOf(argument.type) +
                        " that are neither seqlens nor slots; give it with "
                        "--input " +
                        argument.name + "=FILE.npy");
    llvm::Expected<Shape> shape = sizes.shapeOf(argument);
    if (!shape)
      return shape.takeError();
    auto buffer = Buffer::allocate(argument.type, *shape,
                                   "argument '" + argument.name + "'");
    if (!buffer)
      return buffer.takeError();
    Buffer &target = inputs.buffers[argument.index] = std::move(*buffer);

    std::optional<int64_t> counted = countedSize(argument);
    if (argument.sample == SampleKind::Seqlens) {
      if (!counted)
        return usageError("seqlens '" + argument.name +
                          "' have no tokens to count; give offsets with "
                          "--seqlens=0,.. or the number of tokens with --size");
      sampleSeqlens(target, argument, *counted, options.samples);
    } else if (argument.sample == SampleKind::Slots) {
      return sampleSlots(target, argument,
                         counted.value_or(target.getNumElements()),
                         options.samples);
    } else {
      sample(target, argument, options.samples);
      poisonDeadRows(target, argument);
    }
    return llvm::Error::success();
  }

  /// Rows of no sequence hold NaN, which shows up where one is used. States of
  /// a pool stay: they must come out as they went in.
  void poisonDeadRows(Buffer &buffer, const Argument &argument) {
    if (!argument.getNumTokenDims())
      return;
    RowMap map = mapRows(argument.rows, buffer.getShape(), inputs.buffers);
    std::vector<double> nan(map.rowSize,
                            std::numeric_limits<double>::quiet_NaN());
    for (auto [row, sequence] : llvm::enumerate(map.sequence))
      if (sequence < 0)
        buffer.write(row * map.rowSize, map.rowSize, nan.data());
  }

  std::string listArguments() const {
    return llvm::join(
        llvm::map_range(signature.arguments,
                        [](const Argument &argument) { return argument.name; }),
        ", ");
  }

  const Signature &signature;
  const InputOptions &options;
  Sizes sizes;
  llvm::DenseMap<unsigned, StringRef> paths; ///< of files, by argument
  Inputs inputs;
};
} // namespace

llvm::Expected<Inputs> runner::makeInputs(const Signature &signature,
                                          const InputOptions &options) {
  return InputMaker(signature, options).make();
}

std::vector<std::string>
runner::describeGatesOutOfRange(const Signature &signature,
                                const Inputs &inputs) {
  std::vector<std::string> notes;
  for (const Argument &argument : signature.arguments) {
    bool isLog = argument.sample == SampleKind::LogGate;
    // What is drawn lies in the domain.
    if (!inputs.given[argument.index] ||
        (!isLog && argument.sample != SampleKind::LinearGate))
      continue;
    const Buffer &buffer = inputs.buffers[argument.index];
    int64_t outside = 0, first = -1;
    for (int64_t i = 0, n = buffer.getNumElements(); i < n; ++i) {
      double gate = buffer.getFloat(i);
      bool inside = isLog ? gate <= 0 : gate >= 0 && gate <= 1;
      // NaN is no gate of either kind, and is not hidden by calling it one.
      if (inside || std::isnan(gate))
        continue;
      first = outside++ == 0 ? i : first;
    }
    if (outside)
      notes.push_back(("argument '" + argument.name + "' has " +
                       Twine(outside) +
                       (isLog ? " log decay(s) above 0"
                              : " decay factor(s) outside [0, 1]") +
                       ", the first one " + toString(buffer.getFloat(first)) +
                       " at element " + Twine(first) +
                       ": computed as they stand, outside the promises")
                          .str());
  }
  return notes;
}
