//===- Passes.h - conversions between levels --------------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_PASSES_H
#define LINATTN_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
}
namespace gpu {
class GPUModuleOp;
}
} // namespace mlir

namespace linattn {

/// Attribute of a kernel: what a launcher needs to know (--linattn-recurrence-
/// to-simt). A dictionary that reads as JSON.
constexpr llvm::StringLiteral kKernelAttr = "linattn.kernel";

#define GEN_PASS_DECL
#include "linattn/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

#endif // LINATTN_CONVERSION_PASSES_H
