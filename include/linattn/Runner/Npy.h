//===- Npy.h - arrays in .npy files -----------------------------*- C++ -*-===//
//
// Part of linattn. Reads and writes numpy's .npy format (versions 1 to 3).
// Types: <f2 <f4 <f8 <i4 <i8, row-major. numpy has no bf16: such an array is
// written as <f4, which holds every bf16 exactly.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_NPY_H
#define LINATTN_RUNNER_NPY_H

#include "linattn/Runner/Buffer.h"

namespace linattn {
namespace runner {

/// Errors name the file, the rule and what stands in the file instead.
llvm::Expected<Buffer> readNpy(llvm::StringRef path);

/// 16-bit floats are widened to <f4.
llvm::Error writeNpy(llvm::StringRef path, const Buffer &buffer);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_NPY_H
