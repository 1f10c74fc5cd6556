//===- Sizes.cpp - values of the dynamic dimensions -------------*- C++ -*-===//

#include "linattn/Runner/Sizes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <limits>
#include <set>

using namespace linattn;
using namespace linattn::runner;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error outOfRange(StringRef dimension, const Twine &got,
                              const Twine &source) {
  return usageError("dimension " + dimension + " is from 0 to " +
                    Twine(std::numeric_limits<int64_t>::max()) + ", got " +
                    got + " from " + source);
}

llvm::Error Sizes::set(StringRef name, int64_t value, const Twine &source) {
  StringRef key = signature.canonicalName(name);
  if (value < 0)
    return outOfRange(key, Twine(value), source);
  auto [it, inserted] = values.try_emplace(key.str(), value);
  if (!inserted && it->second != value)
    return usageError("dimension " + key + " is " + Twine(it->second) + " by " +
                      sources[key] + ", but " + Twine(value) + " by " + source);
  if (inserted)
    sources[key] = source.str();
  return llvm::Error::success();
}

/// Every name of a dimension, for messages.
static std::string listNames(const Signature &signature) {
  std::set<std::string> names;
  for (const Argument &argument : signature.arguments)
    for (const Dimension &dim : argument.dims)
      if (!dim.isStatic())
        names.insert(dim.name);
  return names.empty() ? "none" : llvm::join(names, ", ");
}

llvm::Error Sizes::parse(StringRef assignment) {
  auto [name, text] = assignment.split('=');
  StringRef digits = text;
  digits.consume_front("-");
  if (name.empty() || digits.empty() || !llvm::all_of(digits, llvm::isDigit))
    return usageError("--size takes NAME=NUMBER, got '" + assignment + "'");
  bool known = false;
  for (const Argument &argument : signature.arguments)
    for (const Dimension &dim : argument.dims)
      known |= !dim.isStatic() && dim.name == name;
  if (!known)
    return unknown(assignment, name, text);
  int64_t value;
  if (text.getAsInteger(10, value))
    return outOfRange(name, text, "--size");
  return set(name, value, "--size");
}

/// A size for a name that no dynamic dimension has. Saying again what the types
/// say is no mistake.
llvm::Error Sizes::unknown(StringRef assignment, StringRef name,
                           StringRef text) const {
  for (const Argument &argument : signature.arguments)
    for (auto [i, dim] : llvm::enumerate(argument.dims))
      if (dim.name == name) {
        int64_t size = dim.size - dim.plus;
        if (text == std::to_string(size))
          return llvm::Error::success();
        return usageError("dimension " + name + " (dimension " + Twine(i) +
                          " of argument '" + argument.name + "') is static, " +
                          Twine(size) + ", got " + text + " from --size");
      }
  return usageError(
      "--size " + assignment +
      ": no dimension has this name; there are: " + listNames(signature) +
      (findPacked() ? "; the sequences are packed: --seqlens=0,.. gives offsets"
                    : ""));
}

const Argument *Sizes::findPacked() const {
  for (const Argument &argument : signature.arguments)
    if (argument.sample == SampleKind::Seqlens)
      return &argument;
  return nullptr;
}

llvm::Error Sizes::setFrom(const Argument &argument,
                           llvm::ArrayRef<int64_t> shape, const Twine &source) {
  if (shape.size() != argument.dims.size())
    return usageError("argument '" + argument.name + "' has " +
                      Twine(argument.dims.size()) + " dimension(s), got " +
                      Twine(shape.size()) + " (" + toString(shape) + ") from " +
                      source);
  for (auto [i, dim] : llvm::enumerate(argument.dims)) {
    if (!dim.isStatic()) {
      if (llvm::Error error = set(dim.name, shape[i] - dim.plus, source))
        return error;
    } else if (dim.size != shape[i]) {
      return usageError("dimension " + Twine(i) + " of argument '" +
                        argument.name + "' is " + Twine(dim.size) + ", got " +
                        Twine(shape[i]) + " from " + source);
    }
  }
  return llvm::Error::success();
}

void Sizes::setDefault(StringRef name, int64_t value) {
  StringRef key = signature.canonicalName(name);
  if (values.try_emplace(key.str(), value).second)
    sources[key] = "default";
}

std::optional<int64_t> Sizes::get(StringRef name) const {
  auto it = values.find(signature.canonicalName(name).str());
  return it == values.end() ? std::nullopt : std::optional(it->second);
}

/// What the command line lacks, for messages.
static std::string howToGive(const Argument &argument, const Dimension &dim) {
  std::string size = "--size " + dim.name + "=NUMBER";
  if (argument.sample == SampleKind::Seqlens)
    return "the sequences are packed: give their offsets with --seqlens=0,.., "
           "or how many there are with " +
           size + " to have offsets drawn";
  return "give it with " + size + " or an --input";
}

llvm::Expected<Shape> Sizes::shapeOf(const Argument &argument) const {
  Shape shape;
  for (auto [i, dim] : llvm::enumerate(argument.dims)) {
    std::optional<int64_t> size = dim.size;
    if (!dim.isStatic()) {
      size = get(dim.name);
      if (!size)
        return usageError("dimension " + dim.name + " (dimension " + Twine(i) +
                          " of argument '" + argument.name +
                          "') has no size; " + howToGive(argument, dim));
      *size += dim.plus;
    }
    shape.push_back(*size);
  }
  return shape;
}
