//===- Artifact.cpp - one compiled function in memory ---------------------===//

#include "linattn/Compile/Artifact.h"
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

/// Tokens of the shortest chunks, keys of the smallest tiles.
static constexpr int64_t kLeastChunk = 16, kLeastKeyTile = 16;

/// What ptxas sees, and what the launches add to it: the most of a kernel.
static void addDynamicShared(Resources &resources,
                             const llvm::json::Object &description) {
  const llvm::json::Array *launches = description.getArray("launches");
  if (!launches)
    return;
  for (const llvm::json::Value &value : *launches) {
    const llvm::json::Object &launch = *value.getAsObject();
    auto kernel =
        resources.sharedBytesOf.find(launch.getString("kernel").value_or(""));
    unsigned declared =
        kernel == resources.sharedBytesOf.end() ? 0 : kernel->second;
    unsigned dynamic = launch.getInteger("dynamic_shared_bytes").value_or(0);
    resources.sharedBytes = std::max(resources.sharedBytes, declared + dynamic);
  }
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

//===----------------------------------------------------------------------===//
// GPU
//===----------------------------------------------------------------------===//

static llvm::Expected<Artifact> compileUnder(StringRef plan, ModuleOp module,
                                             StringRef name,
                                             const CompileOptions &options,
                                             const Ptxas *ptxas) {
  KernelOptions kernelOptions{options.target, options.lowering, options.chunk,
                              options.mma,    plan.str(),       options.sizes};
  llvm::Expected<CompiledKernel> kernel =
      compileKernel(module, name, kernelOptions);
  if (!kernel)
    return kernel.takeError();
  Artifact artifact;
  artifact.ptx = std::move(kernel->ptx);
  artifact.description = std::move(kernel->description);
  llvm::json::Object &description = artifact.description;
  if (llvm::json::Object *plan = description.getObject("plan"))
    artifact.form = plan->getString("name").value_or("").str();
  description["ptx"] = (name + ".ptx").str();
  if (ptxas) {
    llvm::Expected<Cubin> cubin =
        assemble(*ptxas, artifact.ptx, options.target);
    if (!cubin)
      return cubin.takeError();
    artifact.cubin = std::move(*cubin);
    addDynamicShared(artifact.cubin->resources, description);
    description["cubin"] = (name + ".cubin").str();
    description["resources"] = describe(artifact.cubin->resources);
  }
  // A kernel from text on tiles need not say how it is called.
  if (description.get("arguments")) {
    artifact.header = makeRuntimeHeader(description);
    description["header"] = (name + ".h").str();
  }
  return artifact;
}

/// Plans of a kernel in chunks that ask for fewer registers than the one that
/// it has, from fast to slow: twice the warps, shorter chunks; norms of outputs
/// elsewhere, if there are any.
static SmallVector<std::string>
getLeanerChunkPlans(const llvm::json::Object &plan) {
  auto number = [&](StringRef field) {
    return plan.getInteger(field).value_or(0);
  };
  std::string rest = " outputs=1";
  for (auto [option, field] :
       {std::pair("slice", "columns"), std::pair("segments", "segments")})
    if (number(field) > 0)
      rest += (" " + Twine(option) + "=" + Twine(number(field))).str();
  int64_t chunk = number("chunk");
  SmallVector<std::string> plans;
  // Two parts of columns pad the shortest chunk.
  if (chunk / 2 < kLeastChunk)
    plans.push_back(("stages=1 chunk=" + Twine(chunk) + rest).str());
  if (number("parts") == 1)
    plans.push_back(("chunk=" + Twine(chunk) + " column-parts=2" + rest).str());
  if (chunk / 2 >= kLeastChunk) {
    plans.push_back(("chunk=" + Twine(chunk / 2) + rest).str());
    plans.push_back(("stages=1 chunk=" + Twine(chunk / 2) + rest).str());
  }
  return plans;
}

/// Of attention: fewer scores of a thread at once.
static SmallVector<std::string>
getLeanerAttentionPlans(const llvm::json::Object &plan) {
  std::string rest;
  if (int64_t keys = plan.getInteger("split_keys").value_or(0))
    rest = (" split-keys=" + Twine(keys)).str();
  SmallVector<std::string> plans;
  int64_t keys = *plan.getInteger("key_tile") / 2;
  for (StringRef more : {"", " stages=1", " stages=1 query-tile=32"})
    if (keys >= kLeastKeyTile)
      plans.push_back(("key-tile=" + Twine(keys) + more + rest).str());
  return plans;
}

static SmallVector<std::string>
getLeanerPlans(const llvm::json::Object &description) {
  const llvm::json::Object *plan = description.getObject("plan");
  if (plan && plan->getInteger("chunk") && plan->getInteger("parts"))
    return getLeanerChunkPlans(*plan);
  if (plan && plan->getInteger("key_tile"))
    return getLeanerAttentionPlans(*plan);
  return {};
}

static int64_t countSpills(const Artifact &artifact) {
  return artifact.cubin ? artifact.cubin->resources.spillStoreBytes : 0;
}

/// Where the plan was the compiler's own choice and ptxas ran out of registers
/// under it, the first leaner one that does not, or the one that spills least.
static llvm::Expected<Artifact> compileForGPU(ModuleOp module, StringRef name,
                                              const CompileOptions &options,
                                              const Ptxas *ptxas) {
  llvm::Expected<Artifact> chosen =
      compileUnder(options.plan, module, name, options, ptxas);
  if (!chosen || !countSpills(*chosen) || !options.plan.empty())
    return chosen;
  // A plan that does not fit is no error here.
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  for (StringRef plan : getLeanerPlans(chosen->description)) {
    llvm::Expected<Artifact> leaner =
        compileUnder(plan, module, name, options, ptxas);
    if (!leaner)
      llvm::consumeError(leaner.takeError());
    else if (countSpills(*leaner) < countSpills(*chosen))
      chosen = std::move(leaner);
    if (!countSpills(*chosen))
      break;
  }
  return chosen;
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
