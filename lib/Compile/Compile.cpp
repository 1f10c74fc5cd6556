//===- Compile.cpp - functions to files -----------------------------------===//

#include "linattn/Compile/Compile.h"
#include "linattn-c/Runtime.h"
#include "linattn/Compile/Cache.h"
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

/// A copy of the module in which only `function` is public, so that what it
/// does not call goes away.
static OwningOpRef<ModuleOp> isolate(ModuleOp module, StringRef function) {
  OwningOpRef<ModuleOp> copy = module.clone();
  for (auto other : copy->getOps<func::FuncOp>())
    other.setVisibility(other.getName() == function
                            ? SymbolTable::Visibility::Public
                            : SymbolTable::Visibility::Private);
  return copy;
}

llvm::Expected<CompiledKernel>
linattn::compileKernel(ModuleOp module, StringRef function, StringRef chip) {
  OwningOpRef<ModuleOp> copy = isolate(module, function);
  PassManager passes(module.getContext());
  (void)applyPassManagerCLOptions(passes);
  NVVMPipelineOptions pipeline;
  pipeline.chip = chip.str();
  buildSerialNVVMPipeline(passes, pipeline);
  if (failed(passes.run(*copy)))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "does not compile for " + chip);
  auto kernels = *copy->getOps<gpu::GPUModuleOp>().begin();
  // A plan of several kernels describes them all at once.
  auto attr = kernels->getAttrOfType<DictionaryAttr>(kKernelAttr);
  if (!attr)
    attr = kernels.lookupSymbol(function)->getAttrOfType<DictionaryAttr>(
        kKernelAttr);
  CompiledKernel result;
  result.name = function.str();
  result.description = toJSON(attr);
  result.description["format"] = "linattn";
  result.description["version"] = LINATTN_ARTIFACT_VERSION;
  result.description["name"] = function;
  result.description["target"] = chip;
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
  LogicalResult compileForGPU(func::FuncOp func);
  LogicalResult compileForCPU(func::FuncOp func);
  LogicalResult compile(func::FuncOp func);
  llvm::json::Object describeTools();

  ModuleOp module;
  const CompileOptions &options;
  llvm::raw_ostream &progress;
  std::optional<Ptxas> ptxas;
  CachedFiles made; ///< of the function that is compiled
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
  if (!error) {
    if (!options.cache.empty())
      made.push_back({suffix.str(), bytes.str()});
    return success();
  }
  stream.clear_error();
  return fail(function, llvm::createStringError(error, "cannot write " + path));
}

llvm::json::Object Compilation::describeTools() {
  llvm::json::Object tools{{"llvm", getLLVMVersion()}};
  if (ptxas)
    tools["ptxas"] = ptxas->version;
  return tools;
}

static llvm::json::Object describe(const Resources &resources) {
  llvm::json::Array notes;
  for (const std::string &note : resources.notes)
    notes.push_back(note);
  return llvm::json::Object{{"registers", resources.registers},
                            {"stack_bytes", resources.stackBytes},
                            {"spill_store_bytes", resources.spillStoreBytes},
                            {"spill_load_bytes", resources.spillLoadBytes},
                            {"barriers", resources.barriers},
                            {"shared_bytes", resources.sharedBytes},
                            {"notes", std::move(notes)}};
}

LogicalResult Compilation::compileForGPU(func::FuncOp func) {
  StringRef name = func.getName();
  llvm::Expected<CompiledKernel> kernel =
      compileKernel(module, name, options.target);
  if (!kernel)
    return fail(name, kernel.takeError());
  if (failed(write(name, ".ptx", kernel->ptx)))
    return failure();
  llvm::json::Object &description = kernel->description;
  description["ptx"] = (name + ".ptx").str();
  description["tools"] = describeTools();
  if (ptxas) {
    llvm::Expected<Cubin> cubin = assemble(*ptxas, kernel->ptx, options.target);
    if (!cubin)
      return fail(name, cubin.takeError());
    if (failed(write(name, ".cubin", cubin->bytes)))
      return failure();
    description["cubin"] = (name + ".cubin").str();
    description["resources"] = describe(cubin->resources);
    const Resources &used = cubin->resources;
    progress << llvm::formatv(
        "  {0} registers, {1} bytes spilled, {2} bytes of stack, {3} bytes of "
        "shared memory\n",
        used.registers, used.spillStoreBytes, used.stackBytes,
        used.sharedBytes);
    for (const std::string &note : used.notes)
      progress << "  " << note << "\n";
  }
  if (failed(write(name, ".h", makeRuntimeHeader(description))))
    return failure();
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}", llvm::json::Value(std::move(description)))
      << "\n";
  return write(name, ".json", text);
}

LogicalResult Compilation::compileForCPU(func::FuncOp func) {
  StringRef name = func.getName();
  OwningOpRef<ModuleOp> copy = isolate(module, name);
  for (auto inner : copy->getOps<func::FuncOp>())
    inner.removeArgAttrsAttr(); // LLVM knows none of ours and would warn.
  PassManager passes(module.getContext());
  (void)applyPassManagerCLOptions(passes);
  buildSerialCPUPipeline(passes);
  if (failed(passes.run(*copy)))
    return failure();
  llvm::Expected<std::string> object = emitObject(*copy, options.cpu);
  if (!object)
    return fail(name, object.takeError());
  if (failed(write(name, ".o", *object)))
    return failure();
  return write(name, ".h", makeCHeader(func));
}

/// Milliseconds.
static double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

/// From the cache if it is there, else compiled and put there.
LogicalResult Compilation::compile(func::FuncOp func) {
  auto compileNow = [&] {
    return isCPU() ? compileForCPU(func) : compileForGPU(func);
  };
  if (options.cache.empty())
    return compileNow();
  auto start = std::chrono::steady_clock::now();
  std::string key = makeCacheKey(*isolate(module, func.getName()), options,
                                 ptxas ? ptxas->version : "");
  if (std::optional<CachedFiles> files = loadCached(options.cache, key)) {
    for (const auto &[suffix, bytes] : *files)
      if (failed(write(func.getName(), suffix, bytes)))
        return failure();
    progress << llvm::formatv("  from the cache in {0:f1} ms\n", since(start));
    return success();
  }
  made.clear();
  if (failed(compileNow()))
    return failure();
  if (llvm::Error error = storeCached(options.cache, key, made))
    progress << "  warning: cache: " << llvm::toString(std::move(error))
             << "\n";
  return success();
}

CompileResult Compilation::run() {
  if (options.lowering != "serial")
    return badUsage("--lowering is serial, got '" + options.lowering + "'");
  if (!isCPU()) {
    llvm::Expected<std::string> feature = getPTXFeature(options.target);
    if (!feature)
      return badUsage(llvm::toString(feature.takeError()) + ", cpu");
  }
  SmallVector<func::FuncOp> functions;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration() && func.isPublic() &&
        (options.function.empty() || func.getName() == options.function))
      functions.push_back(func);
  if (functions.empty())
    return badUsage(options.function.empty()
                        ? Twine("the module has no public function with a body")
                        : "the module has no public function '" +
                              options.function + "' with a body");
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
  for (func::FuncOp func : functions) {
    progress << func.getName() << ": " << options.target << ", "
             << (isCPU() ? "token-serial loops" : "token-serial SIMT") << "\n";
    auto start = std::chrono::steady_clock::now();
    LogicalResult result = compile(func);
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
