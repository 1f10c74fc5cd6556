//===- LoweredKernels.h - a function's kernels before LLVM ------*- C++ -*-===//
//
// The step between a function and PTX: here plans have been chosen, kernels are
// known by name, and what takes longest, LLVM and ptxas, is still to come.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_COMPILE_LOWEREDKERNELS_H
#define LINATTN_LIB_COMPILE_LOWEREDKERNELS_H

#include "linattn/Compile/Compile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace linattn {

/// The kernels of one function in the LLVM dialect, and all that a launcher
/// needs to know of them.
struct LoweredKernels {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::json::Object description;
  /// Kernels that hold more at once than a thread has registers.
  std::vector<std::string> crowded;

  mlir::gpu::GPUModuleOp getKernels() const;
};

/// A kernel by its name and its text, of which equal ones become equal code.
struct KernelText {
  std::string name;
  uint64_t hash;
};

/// Lowers one function of `module`, or a gpu.module of kernels on tiles of that
/// name. What is wrong with it is reported as diagnostics.
llvm::Expected<LoweredKernels> lowerKernels(mlir::ModuleOp module,
                                            llvm::StringRef function,
                                            const KernelOptions &options);

std::vector<KernelText> getKernelTexts(const LoweredKernels &lowered);

/// PTX of all kernels, or of those that `keeps` says.
llvm::Expected<std::string>
emitPTX(const LoweredKernels &lowered, llvm::StringRef chip,
        llvm::function_ref<bool(llvm::StringRef kernel)> keeps = nullptr);

} // namespace linattn

#endif // LINATTN_LIB_COMPILE_LOWEREDKERNELS_H
