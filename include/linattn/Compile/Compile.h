//===- Compile.h - functions to files -------------------------*- C++ -*-===//
//
// What linattn-compile does: for each function of a module the code for a
// target, and a description of it.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_COMPILE_COMPILE_H
#define LINATTN_COMPILE_COMPILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace llvm {
class raw_ostream;
}
namespace mlir {
class DialectRegistry;
class DictionaryAttr;
class MLIRContext;
class ModuleOp;
class Operation;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace linattn {

struct CompileOptions {
  std::string target;         ///< a GPU such as sm_90a, or cpu
  std::string lowering;       ///< serial
  std::string function;       ///< empty: every public function with a body
  std::string folder;         ///< where the files go
  std::string toolPath;       ///< the running program, to find ptxas from
  std::string cpu = "native"; ///< the processor, for target cpu
  bool cubin = true;          ///< also assemble
};

enum class CompileResult { Done = 0, Failed = 1, BadUsage = 2 };

/// Registers what compileModule needs.
void registerCompileDialects(mlir::DialectRegistry &registry);

/// Compiles the functions of a module, one after another; says on `progress`
/// what it does, and what is wrong.
CompileResult compileModule(mlir::ModuleOp module,
                            const CompileOptions &options,
                            llvm::raw_ostream &progress);

/// A kernel as text, and all that a launcher needs to know of it.
struct CompiledKernel {
  std::string name;
  std::string ptx;
  llvm::json::Object description;
};

/// Lowers one function of `module` to PTX, token-serially. What is wrong with
/// the function is reported as diagnostics.
llvm::Expected<CompiledKernel> compileKernel(mlir::ModuleOp module,
                                             llvm::StringRef function,
                                             llvm::StringRef chip);

/// Lowers a gpu.module with one kernel on tiles, of its name, to PTX.
llvm::Expected<CompiledKernel> compileTileKernel(mlir::Operation *gpuModule,
                                                 llvm::StringRef chip);

/// An attribute of dictionaries, arrays, strings, integers and booleans as
/// JSON.
llvm::json::Object toJSON(mlir::DictionaryAttr attr);

/// A C header for the object file of a function that the pipelines to the CPU
/// made.
std::string makeCHeader(mlir::func::FuncOp func);

} // namespace linattn

#endif // LINATTN_COMPILE_COMPILE_H
