//===- Artifact.h - one compiled function in memory -------------*- C++ -*-===//
//
// What linattn-compile writes to files and the C API hands out: code for a
// target, and a description of it.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_COMPILE_ARTIFACT_H
#define LINATTN_COMPILE_ARTIFACT_H

#include "linattn/Compile/Compile.h"
#include "linattn/Target/NVPTX.h"

#include <optional>

namespace linattn {

/// The code of one function. For a GPU `ptx` and, where it was assembled,
/// `cubin`; for the CPU `object`; for both `header`.
struct Artifact {
  std::string name;
  std::string form; ///< what it was lowered to, for people
  std::string object, header, ptx;
  std::optional<Cubin> cubin;
  llvm::json::Object description;
};

/// Compiles the function `name` of `module` by `options`. `ptxas` assembles; a
/// null pointer leaves it at PTX. What is wrong with the module is reported as
/// diagnostics.
llvm::Expected<Artifact> compileFunction(mlir::ModuleOp module,
                                         llvm::StringRef name,
                                         const CompileOptions &options,
                                         const Ptxas *ptxas);

/// The public functions of a module that have a body, and for a GPU its modules
/// of kernels on tiles; or the one that the options name.
llvm::Expected<std::vector<std::string>>
selectFunctions(mlir::ModuleOp module, const CompileOptions &options);

/// Arguments and results of a function as an object file for the CPU has them.
llvm::json::Object describeForCPU(mlir::func::FuncOp func);

} // namespace linattn

#endif // LINATTN_COMPILE_ARTIFACT_H
