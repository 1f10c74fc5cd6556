//===- Binding.h - the tensors of a call, checked ---------------*- C++ -*-===//

#ifndef LINATTN_RUNTIME_BINDING_H
#define LINATTN_RUNTIME_BINDING_H

#include "linattn/Runtime/Description.h"

namespace linattn::runtime {

/// Bytes from the lowest element to behind the highest one, counted from a
/// tensor's address.
struct Extent {
  int64_t low = 0, high = 0;
};

/// The operands of one call. Each step throws an Error that names the operand,
/// the rule and what it got.
class Binding {
public:
  explicit Binding(const Description &description);

  /// Checks dtypes, shapes, strides and alignment of the arguments, and finds
  /// the named sizes.
  void bindArguments(const linattn_tensor *tensors, int32_t count);
  /// Row-major results, without memory.
  void inferResults(linattn_tensor *tensors, int32_t count) const;
  /// Checks the results too, and that no two operands share memory that one of
  /// them is written to.
  void bindResults(const linattn_tensor *tensors, int32_t count);
  /// Where operands have elements, they have an address.
  void checkPointers() const;

  void setMultiprocessors(int64_t count);

  /// Offsets of the scratch buffers, and their bytes together.
  size_t layOutWorkspace();
  /// Checks that the caller's scratch memory has so many bytes of its own.
  void checkWorkspace(const linattn_workspace &given, size_t bytes) const;
  void bindWorkspace(void *data) { workspace = static_cast<char *>(data); }

  int64_t evaluate(const Expr &expr) const;
  /// As arguments and results were given.
  const linattn_tensor &tensor(Operand operand) const;
  uint64_t address(Operand operand) const;
  bool isAbsent(Operand operand) const;

  /// "NAME: " and the message.
  [[noreturn]] void refuse(const std::string &message) const;

  const Description &description;

private:
  struct Bound {
    int64_t value = 0;
    bool known = false;
    std::string source; ///< the operand that gave it
  };

  /// What an operand with elements takes.
  struct Memory {
    std::string name;
    linattn_tensor tensor;
    Extent extent;
    bool written;

    /// Whether the extents do; views of one buffer may interleave in them.
    bool meets(const Memory &other) const {
      auto base = reinterpret_cast<uint64_t>(tensor.data);
      auto its = reinterpret_cast<uint64_t>(other.tensor.data);
      return base + extent.low < its + other.extent.high &&
             its + other.extent.low < base + extent.high;
    }
  };
  std::vector<Memory> listMemory() const;
  void checkMemory() const;

  void checkLayout(const TensorDescription &rule, const linattn_tensor &given);
  void checkStrides(const TensorDescription &rule, const linattn_tensor &given,
                    bool written) const;
  void bindShape(const TensorDescription &rule, const linattn_tensor &given);
  void checkShape(const TensorDescription &rule,
                  const linattn_tensor &given) const;
  [[noreturn]] void refuseSize(const TensorDescription &rule, int dimension,
                               int64_t wanted,
                               const linattn_tensor &given) const;
  bool isKnown(const Expr &expr) const;

  std::vector<Bound> sizes;
  std::vector<linattn_tensor> arguments, results;
  std::vector<size_t> offsets;
  char *workspace = nullptr;
};

/// "[2, 64, 16, 128]"
std::string toString(const linattn_tensor &tensor);
/// Nothing if it is beyond 2^63.
std::optional<Extent> extentOf(const linattn_tensor &tensor);
bool isEmpty(const linattn_tensor &tensor);

} // namespace linattn::runtime

#endif // LINATTN_RUNTIME_BINDING_H
