//===- GPUArtifact.h - one function compiled for a GPU ----------*- C++ -*-===//

#ifndef LINATTN_LIB_COMPILE_GPUARTIFACT_H
#define LINATTN_LIB_COMPILE_GPUARTIFACT_H

#include "linattn/Compile/Artifact.h"

namespace linattn {

/// The function under the plan of the options; where that is the compiler's own
/// choice and ptxas runs out of registers under it, under a leaner one.
llvm::Expected<Artifact> compileForGPU(mlir::ModuleOp module,
                                       llvm::StringRef name,
                                       const CompileOptions &options,
                                       const Ptxas *ptxas);

} // namespace linattn

#endif // LINATTN_LIB_COMPILE_GPUARTIFACT_H
