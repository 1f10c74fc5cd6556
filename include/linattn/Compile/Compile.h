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
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}
namespace mlir {
template <typename OpTy> class OwningOpRef;
class DialectRegistry;
class DictionaryAttr;
class MLIRContext;
class ModuleOp;
namespace func {
class FuncOp;
}
} // namespace mlir

namespace linattn {

/// What is known of the calls of a kernel, to choose a plan for them: 0 where
/// nothing is. Kernels take any sizes all the same.
struct CallSizes {
  int64_t sequences = 0;
  int64_t tokens = 0; ///< of a sequence
};

struct CompileOptions {
  std::string target; ///< a GPU such as sm_90a, or cpu
  /// serial; chunkwise; auto: chunkwise where there is a form of it.
  std::string lowering = "auto";
  std::string function;       ///< empty: every public function with a body
  std::string folder;         ///< where the files go
  std::string toolPath;       ///< the running program, to find ptxas from
  std::string cpu = "native"; ///< the processor, for target cpu
  bool cubin = true;          ///< also assemble
  /// Of the chunk form: tokens per chunk, what products round to (empty: what
  /// the inputs say), and whether the CPU rounds them.
  int64_t chunk = 64;
  std::string mma;
  bool keepRounding = false;
  /// Of kernels on tiles: options of the pipeline linattn-to-tile, of attention
  /// linattn-attention-to-tile, instead of what the compiler chooses, as
  /// "slice=128 stages=3".
  std::string plan;
  CallSizes sizes;
  /// Only says what each plan would take by the cost model.
  bool printPlans = false;
  std::string cache; ///< a folder that keeps what was compiled; empty: none
};

enum class CompileResult { Done = 0, Failed = 1, BadUsage = 2 };

/// Registers what compileModule needs.
void registerCompileDialects(mlir::DialectRegistry &registry);

/// Compiles the functions of a module, one after another; says on `progress`
/// what it does, and what is wrong.
CompileResult compileModule(mlir::ModuleOp module,
                            const CompileOptions &options,
                            llvm::raw_ostream &progress);

/// What a kernel is made for, and how.
struct KernelOptions {
  std::string chip;
  std::string lowering = "auto"; ///< as in CompileOptions
  int64_t chunk = 64;
  std::string mma;
  std::string plan; ///< as in CompileOptions
  CallSizes sizes;
  /// Whether a remark says what to add to a plan that there is no kernel by.
  bool suggests = true;
};

/// An error that names the option of a plan that there is not, or its rule and
/// value.
llvm::Error checkPlan(llvm::StringRef plan);
/// Whether attention, or a recurrence, has all options of a plan.
llvm::Error checkPlanKind(llvm::StringRef plan, bool attention);
/// Which convolutions the kernel of the recurrence computes that reads them.
enum class FuseConv { None = 0, All = 1, Columns = 2 };
/// Takes fuse-conv, the option that token-serial kernels have too, out of a
/// plan: none where it is to be chosen.
std::optional<FuseConv> takeFuseConv(std::string &plan);
/// The value of an option of a plan, where it is given.
std::optional<llvm::StringRef> getPlanOption(llvm::StringRef plan,
                                             llvm::StringRef name);

/// Takes "B=1" (or N) or "T=8192"; an error that names what it is not.
llvm::Error setSize(CallSizes &sizes, llvm::StringRef text);

/// Whether the function is attention, not a recurrence.
bool isAttention(mlir::ModuleOp isolated);

/// Plans of a function in chunks or tiles, the best first: the choice of the
/// cost model (CostModel.h), then what needs less shared memory.
std::vector<std::string> choosePlans(mlir::ModuleOp isolated,
                                     const KernelOptions &options);

/// What each candidate, or the plan that is given, would take by the cost
/// model, for people. What there is no kernel by is reported as compiling
/// would.
llvm::Error printPlans(mlir::ModuleOp module, llvm::StringRef function,
                       const KernelOptions &options, llvm::raw_ostream &os);

/// An attribute of dictionaries, arrays, strings, integers and booleans as
/// JSON.
llvm::json::Object toJSON(mlir::DictionaryAttr attr);

/// A copy of the module in which only `function` is public, so that what it
/// does not call goes away.
mlir::OwningOpRef<mlir::ModuleOp> isolateFunction(mlir::ModuleOp module,
                                                  llvm::StringRef function);
/// A C header that calls a function of a GPU artifact through the runtime, from
/// its description.
std::string makeRuntimeHeader(const llvm::json::Object &description);

/// A C header for the object file of a function that the pipelines to the CPU
/// made.
std::string makeCHeader(mlir::func::FuncOp func);

} // namespace linattn

#endif // LINATTN_COMPILE_COMPILE_H
