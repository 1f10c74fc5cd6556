//===- Compile.cpp - functions to files -----------------------------------===//

#include "linattn/Compile/Artifact.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/Target/CPU.h"
#include "linattn/Target/NVPTX.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace linattn;

void linattn::registerCompileDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<LinAttnDialect>();
  registerNVPTXTranslations(registry);
  registerCPUTranslations(registry);
}

llvm::Expected<CompiledKernel>
linattn::compileKernel(ModuleOp module, StringRef function, StringRef chip) {
  OwningOpRef<ModuleOp> copy = isolateFunction(module, function);
  PassManager passes(module.getContext());
  (void)applyPassManagerCLOptions(passes);
  NVVMPipelineOptions pipeline;
  pipeline.chip = chip.str();
  buildSerialNVVMPipeline(passes, pipeline);
  if (failed(passes.run(*copy)))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "does not compile for " + chip);
  auto kernels = *copy->getOps<gpu::GPUModuleOp>().begin();
  Operation *kernel = kernels.lookupSymbol(function);
  CompiledKernel result;
  result.name = function.str();
  result.description =
      toJSON(kernel->getAttrOfType<DictionaryAttr>(kKernelAttr));
  llvm::Expected<std::string> ptx = translateToPTX(kernels, chip);
  if (!ptx)
    return ptx.takeError();
  result.ptx = std::move(*ptx);
  return result;
}

namespace {

class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options,
              llvm::raw_ostream &progress)
      : module(module), options(options), progress(progress) {}

  CompileResult run();

private:
  bool isCPU() const { return options.target == "cpu"; }
  CompileResult badUsage(const Twine &message) {
    progress << "error: " << message << "\n";
    return CompileResult::BadUsage;
  }
  LogicalResult fail(StringRef function, llvm::Error error) {
    progress << "error: " << function << ": "
             << llvm::toString(std::move(error)) << "\n";
    return failure();
  }
  LogicalResult write(StringRef function, StringRef suffix, StringRef bytes);
  LogicalResult compile(StringRef name);

  ModuleOp module;
  const CompileOptions &options;
  llvm::raw_ostream &progress;
  std::optional<Ptxas> ptxas;
};

LogicalResult Compilation::write(StringRef function, StringRef suffix,
                                 StringRef bytes) {
  SmallString<128> path(options.folder);
  llvm::sys::path::append(path, function + suffix);
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
  }
  if (!error)
    return success();
  stream.clear_error();
  return fail(function, llvm::createStringError(error, "cannot write " + path));
}

LogicalResult Compilation::compile(StringRef name) {
  llvm::Expected<Artifact> artifact =
      compileFunction(module, name, options, ptxas ? &*ptxas : nullptr);
  if (!artifact)
    return fail(name, artifact.takeError());
  if (isCPU())
    return success(succeeded(write(name, ".o", artifact->object)) &&
                   succeeded(write(name, ".h", artifact->header)));
  if (failed(write(name, ".ptx", artifact->ptx)))
    return failure();
  if (artifact->cubin) {
    if (failed(write(name, ".cubin", artifact->cubin->bytes)))
      return failure();
    const Resources &used = artifact->cubin->resources;
    progress << llvm::formatv(
        "  {0} registers, {1} bytes spilled, {2} bytes of stack, {3} bytes of "
        "shared memory\n",
        used.registers, used.spillStoreBytes, used.stackBytes,
        used.sharedBytes);
    for (const std::string &note : used.notes)
      progress << "  " << note << "\n";
  }
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}",
                       llvm::json::Value(std::move(artifact->description)))
      << "\n";
  return write(name, ".json", text);
}

CompileResult Compilation::run() {
  if (options.lowering != "serial")
    return badUsage("--lowering is serial, got '" + options.lowering + "'");
  if (!isCPU()) {
    llvm::Expected<std::string> feature = getPTXFeature(options.target);
    if (!feature)
      return badUsage(llvm::toString(feature.takeError()) + ", cpu");
  }
  auto functions = selectFunctions(module, options.function);
  if (!functions)
    return badUsage(llvm::toString(functions.takeError()));
  if (!isCPU() && options.cubin) {
    llvm::Expected<Ptxas> found = findPtxas(options.toolPath);
    if (!found) {
      progress << "error: " << llvm::toString(found.takeError()) << "\n";
      return CompileResult::Failed;
    }
    ptxas = *found;
    progress << "ptxas " << ptxas->version << " (" << ptxas->origin << ": "
             << ptxas->path << ")\n";
  }
  if (std::error_code error =
          llvm::sys::fs::create_directories(options.folder)) {
    progress << "error: cannot make the folder '" << options.folder
             << "': " << error.message() << "\n";
    return CompileResult::Failed;
  }
  bool allDone = true;
  for (StringRef name : *functions) {
    progress << name << ": " << options.target << ", "
             << (isCPU() ? "token-serial loops" : "token-serial SIMT") << "\n";
    auto start = std::chrono::steady_clock::now();
    LogicalResult result = compile(name);
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    progress << llvm::formatv("  {0} in {1:f2} s\n",
                              succeeded(result) ? "compiled" : "failed",
                              seconds.count());
    allDone &= succeeded(result);
  }
  return allDone ? CompileResult::Done : CompileResult::Failed;
}

} // namespace

CompileResult linattn::compileModule(ModuleOp module,
                                     const CompileOptions &options,
                                     llvm::raw_ostream &progress) {
  return Compilation(module, options, progress).run();
}
