//===- Passes.h - passes over the linattn dialect ---------------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_PASSES_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_PASSES_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Pass/Pass.h"

#include <memory>

namespace linattn {

#define GEN_PASS_DECL
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_PASSES_H
