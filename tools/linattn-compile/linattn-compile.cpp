//===- linattn-compile.cpp - modules to PTX, cubin, object files ----------===//

#include "linattn/Compile/Cache.h"
#include "linattn/Compile/Compile.h"
#include "linattn/Compile/ReadModule.h"
#include "linattn/Support/CommandLine.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using namespace linattn;

static cl::OptionCategory category("linattn-compile");
static cl::opt<std::string> input(cl::Positional, cl::desc("FILE.mlir"),
                                  cl::init("-"), cl::cat(category));
static cl::opt<std::string>
    target("target", cl::Required, cl::value_desc("CHIP"),
           cl::desc("a GPU such as sm_80, sm_90a, sm_100a, sm_120a; or cpu"),
           cl::cat(category));
static cl::opt<std::string> lowering(
    "lowering", cl::init("auto"), cl::value_desc("NAME"),
    cl::desc("auto (default): chunkwise where there is a form of it, else "
             "serial; chunkwise: chunks of tokens by matrix products; "
             "serial: token after token, any recurrence"),
    cl::cat(category));
static cl::opt<std::string>
    function("function", cl::value_desc("NAME"),
             cl::desc("default: every public function with a body"),
             cl::cat(category));
static cl::opt<std::string>
    folder("o", cl::init("."), cl::value_desc("DIR"),
           cl::desc("folder for the files, which is made if there is "
                    "none; default: the current folder"),
           cl::cat(category));
static cl::opt<bool> noCubin("no-cubin", cl::desc("PTX only, without ptxas"),
                             cl::cat(category));
static cl::opt<std::string>
    cpu("cpu", cl::init("native"), cl::value_desc("PROCESSOR"),
        cl::desc("for --target=cpu: native (default), or as in clang's -mcpu"),
        cl::cat(category));
static cl::opt<std::string>
    plan("plan", cl::value_desc("OPTIONS"),
         cl::desc("of kernels in chunks: what shall stand instead of what the "
                  "compiler chooses, as 'slice=128 column-parts=1 stages=3' "
                  "(linattn-opt --linattn-to-tile, of attention "
                  "--linattn-attention-to-tile)"),
         cl::cat(category));
static cl::list<std::string>
    sizes("size", cl::value_desc("NAME=NUMBER"), cl::CommaSeparated,
          cl::desc("B (or N) sequences of T tokens, as far as it is known: the "
                   "plan is chosen for them, and any others run too"),
          cl::cat(category));
static cl::opt<bool>
    showPlans("print-plans",
              cl::desc("compiles nothing, but says what each plan would take "
                       "by the cost model (docs/Plans.md)"),
              cl::cat(category));
static cl::opt<std::string> cache(
    "cache", cl::ValueOptional, cl::value_desc("DIR"),
    cl::desc("keeps what was compiled, by its content, and takes it from "
             "there; default folder: LINATTN_CACHE_DIR, which alone has the "
             "same effect, or ~/.cache/linattn"),
    cl::cat(category));
static cl::extrahelp more(R"(
Writes for each function NAME
  GPU   NAME.ptx, NAME.cubin, NAME.json (docs/Artifacts.md), and NAME.h
  cpu   NAME.o, NAME.h, and NAME.json: arguments, and which lowering it is
The same input gives the same bytes. ptxas is LINATTN_PTXAS, or the newest of
those in the virtual environment, CUDA_HOME and PATH.

Example:
  linattn-compile examples/gated_deltanet.mlir --target=sm_90a -o out

Exit code: 0 all compiled, 1 some function did not, 2 bad usage or input
)");

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(
          argc, argv, "linattn-compile: functions to code for a target\n",
          &llvm::errs()))
    return 2;
  if (llvm::Error error = checkGivenOnce(argc, argv, category, {"size"})) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 2;
  }

  mlir::DialectRegistry registry;
  registerCompileDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = readModule(input, sources, context);
  if (!module)
    return 2;

  CompileOptions options;
  options.target = target;
  options.lowering = lowering;
  options.plan = plan;
  for (const std::string &size : sizes)
    if (llvm::Error error = setSize(options.sizes, size)) {
      llvm::errs() << "error: --" << llvm::toString(std::move(error)) << "\n";
      return 2;
    }
  options.printPlans = showPlans;
  options.function = function;
  options.folder = folder;
  options.cpu = cpu;
  options.cubin = !noCubin;
  if (cache.getNumOccurrences() || findCacheFolder(/*byDefault=*/false))
    options.cache =
        cache.empty() ? *findCacheFolder(/*byDefault=*/true) : cache;
  options.toolPath = llvm::sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&main));
  return static_cast<int>(compileModule(*module, options, llvm::errs()));
}
