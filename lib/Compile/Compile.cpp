//===- Compile.cpp - functions to files -----------------------------------===//

#include "linattn/Compile/Compile.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/Tile/IR/Tile.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/Target/CPU.h"
#include "linattn/Target/NVPTX.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
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

/// Makes the folder where there is none, and a file in it: permissions do not
/// tell whether that works (root, and file systems that are read-only).
static std::error_code makeFolder(StringRef folder) {
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return error;
  SmallString<128> pattern(folder), probe;
  llvm::sys::path::append(pattern, ".linattn-%%%%%%%%");
  int file;
  if (std::error_code error =
          llvm::sys::fs::createUniqueFile(pattern, file, probe))
    return error;
  llvm::sys::fs::closeFile(file);
  return llvm::sys::fs::remove(probe);
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
  LogicalResult writeJSON(StringRef function, llvm::json::Object description);
  LogicalResult compileForGPU(func::FuncOp func);
  LogicalResult compileForCPU(func::FuncOp func, StringRef lowering);
  /// What `auto` means for a function: chunkwise where there is a chunk form.
  StringRef chooseLowering(func::FuncOp func);
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

LogicalResult Compilation::writeJSON(StringRef function,
                                     llvm::json::Object description) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}", llvm::json::Value(std::move(description)))
      << "\n";
  return write(function, ".json", text);
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

LogicalResult Compilation::compileForGPU(func::FuncOp func) {
  StringRef name = func.getName();
  llvm::Expected<CompiledKernel> kernel =
      compileKernel(module, name, options.target);
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
  return writeJSON(name, std::move(description));
}

/// A copy of the module for the CPU pipelines.
static OwningOpRef<ModuleOp> isolateForCPU(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> copy = isolate(module, name);
  for (auto inner : copy->getOps<func::FuncOp>())
    inner.removeArgAttrsAttr(); // LLVM knows none of ours and would warn.
  return copy;
}

StringRef Compilation::chooseLowering(func::FuncOp func) {
  if (options.lowering != "auto")
    return options.lowering;
  if (!isCPU())
    return "serial";
  OwningOpRef<ModuleOp> copy = isolateForCPU(module, func.getName());
  PassManager passes(module.getContext());
  passes.addPass(createInlinerPass());
  passes.addPass(createSymbolDCEPass());
  passes.addPass(createChunkwisePass());
  // The reasons against a chunk form are no errors here.
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(passes.run(*copy)))
    return "serial";
  WalkResult found =
      copy->walk([](ChunkedOp) { return WalkResult::interrupt(); });
  return found.wasInterrupted() ? "chunkwise" : "serial";
}

LogicalResult Compilation::compileForCPU(func::FuncOp func,
                                         StringRef lowering) {
  StringRef name = func.getName();
  OwningOpRef<ModuleOp> copy = isolateForCPU(module, name);
  PassManager passes(module.getContext());
  (void)applyPassManagerCLOptions(passes);
  ChunkwiseCPUOptions chunkwise;
  if (lowering == "serial")
    buildSerialCPUPipeline(passes);
  else
    buildChunkwiseCPUPipeline(passes, chunkwise);
  if (failed(passes.run(*copy)))
    return failure();
  llvm::Expected<std::string> object = emitObject(*copy, options.cpu);
  if (!object)
    return fail(name, object.takeError());
  if (failed(write(name, ".o", *object)) ||
      failed(write(name, ".h", makeCHeader(func))))
    return failure();
  llvm::json::Object description{{"name", name},
                                 {"target", "cpu"},
                                 {"cpu", options.cpu},
                                 {"lowering", lowering},
                                 {"object", (name + ".o").str()},
                                 {"header", (name + ".h").str()},
                                 {"entry", ("_mlir_ciface_" + name).str()},
                                 {"tools", describeTools()}};
  if (lowering == "chunkwise")
    description["chunk"] = int64_t(chunkwise.chunk);
  return writeJSON(name, std::move(description));
}

CompileResult Compilation::run() {
  if (options.lowering != "auto" && options.lowering != "serial" &&
      !(isCPU() && options.lowering == "chunkwise"))
    return badUsage(Twine("--lowering is auto") +
                    (isCPU() ? ", chunkwise or serial" : " or serial") +
                    ", got '" + options.lowering + "'");
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
  if (std::error_code error = makeFolder(options.folder))
    return badUsage("-o names a folder for the files: cannot write into '" +
                    options.folder + "': " + error.message());
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
  bool allDone = true;
  for (func::FuncOp func : functions) {
    auto start = std::chrono::steady_clock::now();
    StringRef lowering = chooseLowering(func);
    StringRef form = "token-serial SIMT";
    if (isCPU())
      form = lowering == "serial" ? "token-serial loops" : "chunks of tokens";
    progress << func.getName() << ": " << options.target << ", " << form
             << "\n";
    LogicalResult result =
        isCPU() ? compileForCPU(func, lowering) : compileForGPU(func);
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
