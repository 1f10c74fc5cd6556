//===- NVPTX.h - from LLVM dialect to PTX and cubin -------------*- C++ -*-===//
//
// Knows no dialect of linattn: takes a gpu.module in the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_TARGET_NVPTX_H
#define LINATTN_TARGET_NVPTX_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class Operation;
} // namespace mlir

namespace linattn {

/// What translateToPTX needs in the registry of its module's context.
void registerNVPTXTranslations(mlir::DialectRegistry &registry);

/// The PTX version (such as "ptx80") to ask for on `chip` (such as "sm_90a");
/// an error that lists the chips if it is none.
llvm::Expected<std::string> getPTXFeature(llvm::StringRef chip);

/// Translates a gpu.module to LLVM IR, optimises it, and emits PTX. Equal
/// modules give equal bytes.
llvm::Expected<std::string> translateToPTX(mlir::Operation *gpuModule,
                                           llvm::StringRef chip);

/// The version of LLVM that emits PTX.
std::string getLLVMVersion();

/// A ptxas that runs.
struct Ptxas {
  std::string path;
  std::string version; ///< such as 13.5.37
  std::string origin;  ///< where it was found: LINATTN_PTXAS, CUDA_HOME, ..
};

/// LINATTN_PTXAS if it is set; else the newest of those in the project's or the
/// active virtual environment (the nvidia-cuda-nvcc wheel), CUDA_HOME and PATH,
/// of equal ones the first in that order. `toolPath` is the running program.
llvm::Expected<Ptxas> findPtxas(llvm::StringRef toolPath);

/// What ptxas says about the kernels of a function: the most of what each has
/// for itself, and the sum of what is spilled.
struct Resources {
  unsigned registers = 0;
  unsigned stackBytes = 0;
  unsigned spillStoreBytes = 0;
  unsigned spillLoadBytes = 0;
  unsigned sharedBytes = 0; ///< as ptxas sees them: without dynamic ones
  /// By kernel: the same, and bytes of spill stores.
  std::map<std::string, unsigned, std::less<>> sharedBytesOf, spillsOf;
  unsigned barriers = 0;
  /// Notes on performance, such as C75xx, and other warnings.
  std::vector<std::string> notes;
};

struct Cubin {
  std::string bytes;
  Resources resources;
};

/// Assembles the PTX of one function's kernels.
llvm::Expected<Cubin> assemble(const Ptxas &ptxas, llvm::StringRef ptx,
                               llvm::StringRef chip);

/// Reads the output of `ptxas -v`.
Resources parsePtxasOutput(llvm::StringRef text);

} // namespace linattn

#endif // LINATTN_TARGET_NVPTX_H
