//===- KernelLaunch.cpp - a described kernel on arrays ----------*- C++ -*-===//

#include "linattn/Runner/KernelLaunch.h"

#include "llvm/ADT/Twine.h"

using namespace linattn;
using namespace linattn::runner;
using llvm::StringRef;
namespace json = llvm::json;

static llvm::Error malformed(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "description of the kernel: " + what);
}

/// A member that the compiler always writes.
static const json::Array &arrayOf(const json::Object &object, StringRef name) {
  static const json::Array none;
  const json::Array *array = object.getArray(name);
  return array ? *array : none;
}

static StringRef textOf(const json::Object &object, StringRef name) {
  return object.getString(name).value_or("");
}

llvm::Error KernelLaunch::bind(const json::Object &item, const Buffer &buffer) {
  StringRef name = textOf(item, "name");
  const json::Array &shape = arrayOf(item, "shape");
  const json::Array &strides = arrayOf(item, "strides");
  if (int64_t(shape.size()) != buffer.getRank())
    return usageError("'" + name + "' has rank " + llvm::Twine(shape.size()) +
                      ", got " + toString(buffer.getShape()));
  if (nameOf(buffer.getType()) != textOf(item, "dtype"))
    return usageError("'" + name + "' is " + textOf(item, "dtype") + ", got " +
                      nameOf(buffer.getType()));
  for (size_t i = 0; i < shape.size(); ++i) {
    std::optional<int64_t> size = shape[i].getAsInteger();
    if (size && *size != buffer.getShape()[i])
      return usageError("dimension " + llvm::Twine(i) + " of '" + name +
                        "' is " + llvm::Twine(*size) + ", got " +
                        toString(buffer.getShape()));
    std::optional<int64_t> stride = strides[i].getAsInteger();
    if (stride && *stride != buffer.getStrides()[i])
      return usageError("stride " + llvm::Twine(i) + " of '" + name + "' is " +
                        llvm::Twine(*stride) + ", got " +
                        llvm::Twine(buffer.getStrides()[i]));
  }
  tensors.insert_or_assign(name.str(), buffer);
  return llvm::Error::success();
}

llvm::Error KernelLaunch::bindInputs(llvm::ArrayRef<Buffer> inputs) {
  const json::Array &arguments = arrayOf(description, "arguments");
  if (arguments.size() != inputs.size())
    return malformed(llvm::Twine(arguments.size()) + " arguments, got " +
                     llvm::Twine(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (llvm::Error error = bind(*arguments[i].getAsObject(), inputs[i]))
      return error;
  return llvm::Error::success();
}

llvm::Error KernelLaunch::bindResults(llvm::ArrayRef<Buffer> results) {
  for (const json::Value &value : arrayOf(description, "results")) {
    const json::Object &item = *value.getAsObject();
    if (item.get("in_place"))
      continue;
    if (results.empty())
      return malformed("more results than arrays");
    if (llvm::Error error = bind(item, results.front()))
      return error;
    results = results.drop_front();
  }
  return llvm::Error::success();
}

/// T, N: where the description says that they stand; another name: where a
/// shape of an argument says it.
llvm::Expected<int64_t> KernelLaunch::sizeOf(StringRef name) const {
  if (const json::Object *sizes = description.getObject("sizes"))
    if (const json::Object *size = sizes->getObject(name)) {
      const Buffer &source = tensor(textOf(*size, "tensor"));
      int64_t dim = size->getInteger("dimension").value_or(0);
      return source.getShape()[dim] + size->getInteger("plus").value_or(0);
    }
  for (const json::Value &value : arrayOf(description, "arguments")) {
    const json::Object &item = *value.getAsObject();
    const json::Array &shape = arrayOf(item, "shape");
    for (size_t i = 0; i < shape.size(); ++i)
      if (shape[i].getAsString() == name)
        return tensor(textOf(item, "name")).getShape()[i];
  }
  return malformed("no argument has the size '" + name + "'");
}

/// A number, a name, or {of, plus} and {of, divide, round, plus}.
llvm::Expected<int64_t> KernelLaunch::evaluate(const json::Value &dim) const {
  if (std::optional<int64_t> number = dim.getAsInteger())
    return *number;
  if (std::optional<StringRef> name = dim.getAsString())
    return sizeOf(*name);
  const json::Object *formula = dim.getAsObject();
  if (!formula || !formula->get("of"))
    return malformed("a size is a number, a name or a formula");
  llvm::Expected<int64_t> size = evaluate(*formula->get("of"));
  if (!size)
    return size;
  if (std::optional<int64_t> by = formula->getInteger("divide"))
    *size = (*size + (textOf(*formula, "round") == "up" ? *by - 1 : 0)) / *by;
  if (const json::Value *plus = formula->get("plus")) {
    llvm::Expected<int64_t> more = evaluate(*plus);
    if (!more)
      return more;
    *size += *more;
  }
  return *size;
}

llvm::Expected<std::vector<Shape>> KernelLaunch::resultShapes() const {
  std::vector<Shape> shapes;
  for (const json::Value &value : arrayOf(description, "results")) {
    Shape shape;
    for (const json::Value &dim : arrayOf(*value.getAsObject(), "shape")) {
      llvm::Expected<int64_t> size = evaluate(dim);
      if (!size)
        return size.takeError();
      shape.push_back(*size);
    }
    shapes.push_back(shape);
  }
  return shapes;
}

llvm::Expected<std::vector<KernelLaunch::Parameter>>
KernelLaunch::parameters() const {
  std::vector<Parameter> all;
  for (const json::Value &value : arrayOf(description, "parameters")) {
    const json::Object &item = *value.getAsObject();
    Parameter parameter;
    if (textOf(item, "kind") == "size") {
      llvm::Expected<int64_t> size = sizeOf(textOf(item, "size"));
      if (!size)
        return size.takeError();
      parameter.number = *size;
    } else {
      auto it = tensors.find(textOf(item, "tensor"));
      if (it == tensors.end())
        return malformed("no array '" + textOf(item, "tensor") + "'");
      if (textOf(item, "kind") == "stride") {
        int64_t dim = item.getInteger("dimension").value_or(0);
        parameter.number = it->second.getStrides()[dim];
      } else {
        parameter.tensor = it->first;
        parameter.written = textOf(item, "access") == "write";
      }
    }
    all.push_back(std::move(parameter));
  }
  return all;
}

llvm::Expected<int64_t> KernelLaunch::gridSize() const {
  const json::Object *launch = description.getObject("launch");
  const json::Object *grid = launch ? launch->getObject("grid") : nullptr;
  if (!grid)
    return malformed("no grid");
  llvm::Expected<int64_t> size = sizeOf(textOf(*grid, "size"));
  if (!size)
    return size;
  int64_t blocks = *size * grid->getInteger("times").value_or(1);
  if (blocks > std::numeric_limits<int32_t>::max())
    return usageError("the grid has at most 2^31 - 1 blocks, got " +
                      llvm::Twine(blocks));
  return blocks;
}

int64_t KernelLaunch::blockSize() const {
  const json::Object *launch = description.getObject("launch");
  return launch ? launch->getInteger("block").value_or(0) : 0;
}

int64_t KernelLaunch::sharedBytes() const {
  const json::Object *launch = description.getObject("launch");
  return launch ? launch->getInteger("shared_bytes").value_or(0) : 0;
}
