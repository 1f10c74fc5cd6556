//===- Sizes.h - values of the dynamic dimensions ---------------*- C++ -*-===//
//
// Part of linattn. Collects the sizes that the command line, offsets, slots and
// files give, and tells contradictions and gaps by name.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_SIZES_H
#define LINATTN_RUNNER_SIZES_H

#include "linattn/Runner/Signature.h"

#include <map>

namespace linattn {
namespace runner {

class Sizes {
public:
  explicit Sizes(const Signature &signature) : signature(signature) {}

  /// Gives a size; an error if it is negative, or another one was given before.
  /// `source` says where the value comes from.
  llvm::Error set(llvm::StringRef name, int64_t value,
                  const llvm::Twine &source);

  /// "NAME=VALUE" of the command line; the name must be a dimension's.
  llvm::Error parse(llvm::StringRef assignment);

  /// Takes the sizes from an array given for an argument.
  llvm::Error setFrom(const Argument &argument, llvm::ArrayRef<int64_t> shape,
                      const llvm::Twine &source);

  /// A value for a size that nothing else gave.
  void setDefault(llvm::StringRef name, int64_t value);

  std::optional<int64_t> get(llvm::StringRef name) const;

  /// The shape of an argument; an error naming a dimension without a size.
  llvm::Expected<Shape> shapeOf(const Argument &argument) const;

  /// Every size by name.
  const std::map<std::string, int64_t> &all() const { return values; }

private:
  llvm::Error unknown(llvm::StringRef assignment, llvm::StringRef name,
                      llvm::StringRef text) const;
  /// The offsets of packed sequences, or null.
  const Argument *findPacked() const;

  const Signature &signature;
  std::map<std::string, int64_t> values;
  llvm::StringMap<std::string> sources;
};

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_SIZES_H
