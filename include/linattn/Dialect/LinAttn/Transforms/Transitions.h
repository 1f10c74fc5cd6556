//===- Transitions.h - from a segment's start to its end --------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_TRANSITIONS_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_TRANSITIONS_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

/// For each state of a recurrence, or of its chunk form, the number of the
/// state that is its transition; -1 for transitions. Made by
/// --linattn-add-transitions.
constexpr llvm::StringLiteral kTransitionsAttr = "linattn.transitions";

/// Empty where the operation has none.
inline llvm::ArrayRef<int64_t> getTransitions(mlir::Operation *op) {
  auto attr = op->getAttrOfType<mlir::DenseI64ArrayAttr>(kTransitionsAttr);
  return attr ? attr.asArrayRef() : llvm::ArrayRef<int64_t>();
}

/// Whether the state is the transition of another one.
inline bool isTransition(mlir::Operation *op, unsigned state) {
  llvm::ArrayRef<int64_t> transitions = getTransitions(op);
  return !transitions.empty() && transitions[state] < 0;
}

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_TRANSITIONS_H
