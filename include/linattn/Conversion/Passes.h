//===- Passes.h - conversions between levels --------------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_PASSES_H
#define LINATTN_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace linattn {
#define GEN_PASS_DECL
#include "linattn/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

#endif // LINATTN_CONVERSION_PASSES_H
