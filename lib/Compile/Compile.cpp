//===- Compile.cpp - functions to files -----------------------------------===//

#include "linattn/Compile/Compile.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/Tile/IR/Tile.h"
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
  registry.insert<LinAttnDialect, tile::TileDialect>();
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

llvm::Expected<CompiledKernel> linattn::compileTileKernel(Operation *gpuModule,
                                                          StringRef chip) {
  auto source = cast<gpu::GPUModuleOp>(gpuModule);
  OwningOpRef<ModuleOp> module = ModuleOp::create(gpuModule->getLoc());
  module->push_back(gpuModule->clone());
  PassManager passes(gpuModule->getContext());
  (void)applyPassManagerCLOptions(passes);
  NVVMPipelineOptions pipeline;
  pipeline.chip = chip.str();
  buildTileToNVVMPipeline(passes, pipeline);
  if (failed(passes.run(*module)))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "does not compile for " + chip);
  auto kernels = *module->getOps<gpu::GPUModuleOp>().begin();
  CompiledKernel result;
  result.name = source.getName().str();
  if (Operation *kernel = kernels.lookupSymbol(result.name))
    if (auto description = kernel->getAttrOfType<DictionaryAttr>(kKernelAttr))
      result.description = toJSON(description);
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
  LogicalResult compileForGPU(Operation *unit);
  LogicalResult compileForCPU(func::FuncOp func);
  llvm::json::Object describeTools();

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
                            {"notes", std::move(notes)}};
}

/// A function, or the gpu.module of a kernel on tiles.
LogicalResult Compilation::compileForGPU(Operation *unit) {
  StringRef name = SymbolTable::getSymbolName(unit);
  llvm::Expected<CompiledKernel> kernel =
      isa<gpu::GPUModuleOp>(unit) ? compileTileKernel(unit, options.target)
                                  : compileKernel(module, name, options.target);
  if (!kernel)
    return fail(name, kernel.takeError());
  if (failed(write(name, ".ptx", kernel->ptx)))
    return failure();
  llvm::json::Object &description = kernel->description;
  description["name"] = name;
  description["kernel"] = name;
  description["target"] = options.target;
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

CompileResult Compilation::run() {
  if (options.lowering != "serial")
    return badUsage("--lowering is serial, got '" + options.lowering + "'");
  if (!isCPU()) {
    llvm::Expected<std::string> feature = getPTXFeature(options.target);
    if (!feature)
      return badUsage(llvm::toString(feature.takeError()) + ", cpu");
  }
  SmallVector<Operation *> functions;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration() && func.isPublic() &&
        (options.function.empty() || func.getName() == options.function))
      functions.push_back(func);
  if (!isCPU())
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      if (options.function.empty() || kernels.getName() == options.function)
        functions.push_back(kernels);
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
  for (Operation *unit : functions) {
    auto func = dyn_cast<func::FuncOp>(unit);
    progress << SymbolTable::getSymbolName(unit) << ": " << options.target
             << ", "
             << (!func     ? "kernel on tiles"
                 : isCPU() ? "token-serial loops"
                           : "token-serial SIMT")
             << "\n";
    auto start = std::chrono::steady_clock::now();
    LogicalResult result = isCPU() ? compileForCPU(func) : compileForGPU(unit);
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
