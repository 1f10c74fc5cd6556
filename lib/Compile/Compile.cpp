//===- Compile.cpp - functions to files -----------------------------------===//

#include "linattn/Compile/Artifact.h"
#include "linattn/Compile/Cache.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/Tile/IR/Tile.h"
#include "linattn/Target/CPU.h"
#include "linattn/Target/NVPTX.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
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

/// Milliseconds.
static double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
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
  LogicalResult write(StringRef function, const CachedFiles &files);
  LogicalResult compile(StringRef name);
  /// Compiles, says what came out, and gives the files.
  llvm::Expected<CachedFiles> makeFiles(StringRef name);
  void report(const Artifact &artifact);

  ModuleOp module;
  const CompileOptions &options;
  llvm::raw_ostream &progress;
  std::optional<Ptxas> ptxas;
};

LogicalResult Compilation::write(StringRef function, const CachedFiles &files) {
  for (const auto &[suffix, bytes] : files) {
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
      continue;
    stream.clear_error();
    return fail(function,
                llvm::createStringError(error, "cannot write " + path));
  }
  return success();
}

void Compilation::report(const Artifact &artifact) {
  progress << artifact.name << ": " << options.target << ", " << artifact.form
           << "\n";
  if (!artifact.cubin)
    return;
  const Resources &used = artifact.cubin->resources;
  progress << llvm::formatv(
      "  {0} registers, {1} bytes spilled, {2} bytes of stack, {3} bytes of "
      "shared memory\n",
      used.registers, used.spillStoreBytes, used.stackBytes, used.sharedBytes);
  for (const std::string &note : used.notes)
    progress << "  " << note << "\n";
}

llvm::Expected<CachedFiles> Compilation::makeFiles(StringRef name) {
  llvm::Expected<Artifact> artifact =
      compileFunction(module, name, options, ptxas ? &*ptxas : nullptr);
  if (!artifact)
    return artifact.takeError();
  report(*artifact);
  CachedFiles files;
  if (isCPU())
    files.push_back({".o", std::move(artifact->object)});
  else
    files.push_back({".ptx", std::move(artifact->ptx)});
  if (artifact->cubin)
    files.push_back({".cubin", std::move(artifact->cubin->bytes)});
  if (!artifact->header.empty())
    files.push_back({".h", std::move(artifact->header)});
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}",
                       llvm::json::Value(std::move(artifact->description)))
      << "\n";
  files.push_back({".json", std::move(text)});
  return files;
}

/// From the cache if it is there, else compiled and put there.
LogicalResult Compilation::compile(StringRef name) {
  auto start = std::chrono::steady_clock::now();
  std::string key;
  if (!options.cache.empty()) {
    key = makeCacheKey(*isolateFunction(module, name), options,
                       ptxas ? ptxas->version : "");
    if (std::optional<CachedFiles> files = loadCached(options.cache, key)) {
      if (failed(write(name, *files)))
        return failure();
      progress << name << ": " << options.target
               << llvm::formatv(", from the cache in {0:f1} ms\n",
                                since(start));
      return success();
    }
  }
  llvm::Expected<CachedFiles> files = makeFiles(name);
  if (!files)
    return fail(name, files.takeError());
  if (failed(write(name, *files)))
    return failure();
  if (options.cache.empty())
    return success();
  if (llvm::Error error = storeCached(options.cache, key, *files))
    progress << "  warning: cache: " << llvm::toString(std::move(error))
             << "\n";
  return success();
}

CompileResult Compilation::run() {
  if (!llvm::is_contained({"auto", "chunkwise", "serial"}, options.lowering))
    return badUsage("--lowering is auto, chunkwise or serial, got '" +
                    options.lowering + "'");
  if (llvm::Error error = checkPlan(options.plan))
    return badUsage("--" + llvm::toString(std::move(error)));
  if (!isCPU()) {
    llvm::Expected<std::string> feature = getPTXFeature(options.target);
    if (!feature)
      return badUsage(llvm::toString(feature.takeError()) + ", cpu");
  }
  auto functions = selectFunctions(module, options);
  if (!functions)
    return badUsage(llvm::toString(functions.takeError()));
  if (options.printPlans && (isCPU() || options.lowering == "serial"))
    return badUsage("--print-plans is of kernels in chunks, on a GPU, got " +
                    Twine(isCPU() ? "--target=cpu" : "--lowering=serial"));
  std::error_code error =
      options.printPlans ? std::error_code() : makeFolder(options.folder);
  if (error)
    return badUsage("-o names a folder for the files: cannot write into '" +
                    options.folder + "': " + error.message());
  if (!isCPU() && options.cubin && !options.printPlans) {
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
  for (StringRef name : *functions) {
    if (options.printPlans) {
      progress << name << ": " << options.target << "\n";
      if (llvm::Error error =
              printPlans(module, name,
                         {options.target, options.lowering, options.chunk,
                          options.mma, options.plan, options.sizes},
                         progress))
        allDone &= succeeded(fail(name, std::move(error)));
      continue;
    }
    auto start = std::chrono::steady_clock::now();
    LogicalResult result = compile(name);
    progress << llvm::formatv("  {0} in {1:f2} s\n",
                              succeeded(result) ? "compiled" : "failed",
                              since(start) / 1000);
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
