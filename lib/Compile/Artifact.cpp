//===- Artifact.cpp - one compiled function in memory ---------------------===//

#include "linattn/Compile/Artifact.h"
#include "GPUArtifact.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/Target/CPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace linattn;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

OwningOpRef<ModuleOp> linattn::isolateFunction(ModuleOp module,
                                               StringRef function) {
  OwningOpRef<ModuleOp> copy = module.clone();
  for (auto other : copy->getOps<func::FuncOp>())
    other.setVisibility(other.getName() == function
                            ? SymbolTable::Visibility::Public
                            : SymbolTable::Visibility::Private);
  // What it does not call must not decide on its plan.
  auto isUnused = [&](func::FuncOp func) {
    return func.isPrivate() && SymbolTable::symbolKnownUseEmpty(func, *copy);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto func : llvm::make_early_inc_range(copy->getOps<func::FuncOp>()))
      if (isUnused(func)) {
        func.erase();
        changed = true;
      }
  }
  return copy;
}

llvm::Expected<std::vector<std::string>>
linattn::selectFunctions(ModuleOp module, const CompileOptions &options) {
  StringRef name = options.function;
  std::vector<std::string> names;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration() && func.isPublic() &&
        (name.empty() || func.getName() == name))
      names.push_back(func.getName().str());
  if (options.target != "cpu")
    for (auto kernels : module.getOps<gpu::GPUModuleOp>())
      if (name.empty() || kernels.getName() == name)
        names.push_back(kernels.getName().str());
  if (!names.empty())
    return names;
  return makeError(name.empty()
                       ? Twine("the module has no public function with a body")
                       : "the module has no public function '" + name +
                             "' with a body");
}

static llvm::json::Object describeTools(const Ptxas *ptxas) {
  llvm::json::Object tools{{"llvm", getLLVMVersion()}};
  if (ptxas)
    tools["ptxas"] = ptxas->version;
  return tools;
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

/// A copy of the module for the CPU pipelines.
static OwningOpRef<ModuleOp> isolateForCPU(ModuleOp module, StringRef name) {
  OwningOpRef<ModuleOp> copy = isolateFunction(module, name);
  for (auto inner : copy->getOps<func::FuncOp>())
    inner.removeArgAttrsAttr(); // LLVM knows none of ours and would warn.
  return copy;
}

/// What `auto` means for a function: chunkwise where there is a chunk form.
static std::string chooseLowering(ModuleOp module, StringRef name,
                                  const CompileOptions &options) {
  if (options.lowering != "auto")
    return options.lowering;
  OwningOpRef<ModuleOp> copy = isolateForCPU(module, name);
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

static llvm::Expected<Artifact> compileForCPU(ModuleOp module, StringRef name,
                                              const CompileOptions &options) {
  std::string lowering = chooseLowering(module, name, options);
  OwningOpRef<ModuleOp> copy = isolateForCPU(module, name);
  PassManager passes(module.getContext());
  (void)applyPassManagerCLOptions(passes);
  if (lowering == "serial") {
    buildSerialCPUPipeline(passes);
  } else {
    ChunkwiseCPUOptions chunkwise;
    chunkwise.chunk = options.chunk;
    chunkwise.mma = options.mma;
    chunkwise.keepRounding = options.keepRounding;
    buildChunkwiseCPUPipeline(passes, chunkwise);
  }
  if (failed(passes.run(*copy)))
    return makeError("does not compile for the CPU");
  llvm::Expected<std::string> object = emitObject(*copy, options.cpu);
  if (!object)
    return object.takeError();
  auto func = module.lookupSymbol<func::FuncOp>(name);
  Artifact artifact;
  artifact.form =
      lowering == "serial" ? "token-serial loops" : "chunks of tokens";
  artifact.object = std::move(*object);
  artifact.header = makeCHeader(func);
  artifact.description = describeForCPU(func);
  llvm::json::Object &description = artifact.description;
  description["cpu"] = options.cpu;
  description["lowering"] = lowering;
  if (lowering == "chunkwise")
    description["chunk"] = options.chunk;
  description["entry"] = ("_mlir_ciface_" + name).str();
  description["object"] = (name + ".o").str();
  description["header"] = (name + ".h").str();
  return artifact;
}

llvm::Expected<Artifact> linattn::compileFunction(ModuleOp module,
                                                  StringRef name,
                                                  const CompileOptions &options,
                                                  const Ptxas *ptxas) {
  bool isCPU = options.target == "cpu";
  llvm::Expected<Artifact> artifact =
      isCPU ? compileForCPU(module, name, options)
            : compileForGPU(module, name, options, ptxas);
  if (!artifact)
    return artifact.takeError();
  artifact->name = name.str();
  llvm::json::Object &description = artifact->description;
  description["name"] = name.str(); // A StringRef would not be copied.
  description["target"] = options.target;
  description["tools"] = describeTools(artifact->cubin ? ptxas : nullptr);
  return artifact;
}
