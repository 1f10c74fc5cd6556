//===- Overlap.h - whether two tensors share memory -------------*- C++ -*-===//

#ifndef LINATTN_RUNTIME_OVERLAP_H
#define LINATTN_RUNTIME_OVERLAP_H

#include "linattn-c/Runtime.h"

#include <optional>

namespace linattn::runtime {

/// Whether a byte of an element of one belongs to an element of the other;
/// views of one buffer may interleave without. Nothing where the strides are
/// such that this takes too many steps. Both have elements, and extents in 64
/// bits.
std::optional<bool> shareMemory(const linattn_tensor &a,
                                const linattn_tensor &b);

} // namespace linattn::runtime

#endif // LINATTN_RUNTIME_OVERLAP_H
