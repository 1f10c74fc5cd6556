//===- Binding.h - the tensors of a call, checked ---------------*- C++ -*-===//

#ifndef LINATTN_RUNTIME_BINDING_H
#define LINATTN_RUNTIME_BINDING_H

#include "linattn/Runtime/Description.h"

namespace linattn::runtime {

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
/// Bytes from the lowest to behind the highest element, and where the lowest
/// is; nothing if that is beyond 2^63.
struct Extent {
  int64_t low = 0, high = 0;
};
std::optional<Extent> extentOf(const linattn_tensor &tensor);
bool isEmpty(const linattn_tensor &tensor);

} // namespace linattn::runtime

#endif // LINATTN_RUNTIME_BINDING_H
