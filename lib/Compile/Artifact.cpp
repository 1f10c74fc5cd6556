//===- Artifact.cpp - one compiled function in memory ---------------------===//

#include "linattn/Compile/Artifact.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/Target/CPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
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
  return copy;
}

llvm::Expected<std::vector<std::string>>
linattn::selectFunctions(ModuleOp module, StringRef name) {
  std::vector<std::string> names;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isDeclaration() && func.isPublic() &&
        (name.empty() || func.getName() == name))
      names.push_back(func.getName().str());
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

static llvm::Expected<Artifact> compileForGPU(ModuleOp module, StringRef name,
                                              const CompileOptions &options,
                                              const Ptxas *ptxas) {
  llvm::Expected<CompiledKernel> kernel =
      compileKernel(module, name, options.target);
  if (!kernel)
    return kernel.takeError();
  Artifact artifact;
  artifact.ptx = std::move(kernel->ptx);
  artifact.description = std::move(kernel->description);
  artifact.description["ptx"] = (name + ".ptx").str();
  if (!ptxas)
    return artifact;
  llvm::Expected<Cubin> cubin = assemble(*ptxas, artifact.ptx, options.target);
  if (!cubin)
    return cubin.takeError();
  artifact.cubin = std::move(*cubin);
  artifact.description["cubin"] = (name + ".cubin").str();
  artifact.description["resources"] = describe(artifact.cubin->resources);
  return artifact;
}

static void buildCPUPipeline(OpPassManager &passes,
                             const CompileOptions &options) {
  if (options.lowering == "serial") {
    buildSerialCPUPipeline(passes);
    return;
  }
  ChunkwiseCPUOptions chunkwise;
  chunkwise.chunk = options.chunk;
  chunkwise.mma = options.mma;
  chunkwise.keepRounding = options.keepRounding;
  buildChunkwiseCPUPipeline(passes, chunkwise);
}

static llvm::Expected<Artifact> compileForCPU(ModuleOp module, StringRef name,
                                              const CompileOptions &options) {
  OwningOpRef<ModuleOp> copy = isolateFunction(module, name);
  for (auto inner : copy->getOps<func::FuncOp>())
    inner.removeArgAttrsAttr(); // LLVM knows none of ours and would warn.
  PassManager passes(module.getContext());
  (void)applyPassManagerCLOptions(passes);
  buildCPUPipeline(passes, options);
  if (failed(passes.run(*copy)))
    return makeError("does not compile for the CPU");
  llvm::Expected<std::string> object = emitObject(*copy, options.cpu);
  if (!object)
    return object.takeError();
  auto func = module.lookupSymbol<func::FuncOp>(name);
  Artifact artifact;
  artifact.object = std::move(*object);
  artifact.header = makeCHeader(func);
  artifact.description = describeForCPU(func);
  artifact.description["lowering"] = options.lowering;
  artifact.description["object"] = (name + ".o").str();
  artifact.description["header"] = (name + ".h").str();
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
  description["name"] = name;
  if (!isCPU)
    description["kernel"] = name;
  description["target"] = options.target;
  description["tools"] = describeTools(artifact->cubin ? ptxas : nullptr);
  return artifact;
}
