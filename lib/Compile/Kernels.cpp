//===- Kernels.cpp - functions to PTX -------------------------------------===//

#include "linattn-c/Runtime.h"
#include "linattn/Compile/Compile.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/Target/NVPTX.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace linattn;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Adds the pipeline of the function to a kernel on tiles; fails if the plan is
/// no text of its options.
template <typename Options>
static LogicalResult
addPipeline(OpPassManager &passes, const KernelOptions &options, StringRef plan,
            void (*build)(OpPassManager &, const Options &),
            llvm::function_ref<void(Options &)> set = nullptr) {
  Options pipeline;
  pipeline.chip = options.chip;
  pipeline.mma = options.mma;
  if (set)
    set(pipeline);
  if (failed(pipeline.parseFromString(plan)))
    return failure();
  build(passes, pipeline);
  return success();
}

/// The function as a kernel on tiles, planned; null if it has none.
static OwningOpRef<ModuleOp>
makeTiles(ModuleOp isolated, const KernelOptions &options, StringRef plan) {
  OwningOpRef<ModuleOp> copy(isolated.clone());
  PassManager passes(isolated.getContext());
  (void)applyPassManagerCLOptions(passes);
  LogicalResult added =
      isAttention(isolated)
          ? addPipeline<AttentionNVVMOptions>(passes, options, plan,
                                              buildAttentionToTilePipeline)
          : addPipeline<ChunkwiseNVVMOptions>(
                passes, options, plan, buildChunkwiseToTilePipeline,
                [&](ChunkwiseNVVMOptions &pipeline) {
                  pipeline.chunk = options.chunk;
                });
  if (failed(added) || failed(passes.run(*copy)))
    return {};
  return copy;
}

/// The same under the given plan, or under the first that fits the device.
static OwningOpRef<ModuleOp> makeTiles(ModuleOp isolated,
                                       const KernelOptions &options) {
  if (!options.plan.empty())
    return makeTiles(isolated, options, options.plan);
  std::vector<std::string> plans = choosePlans(isolated, options);
  {
    // What goes wrong under the last plan is reported.
    ScopedDiagnosticHandler quiet(isolated.getContext(),
                                  [](Diagnostic &) { return success(); });
    for (StringRef plan : ArrayRef(plans).drop_back())
      if (OwningOpRef<ModuleOp> tiles = makeTiles(isolated, options, plan))
        return tiles;
  }
  return makeTiles(isolated, options, plans.back());
}

/// A module with what is to become code: of kernels on tiles in the text, of
/// the function in chunks, or of the function token by token.
static OwningOpRef<ModuleOp> prepare(ModuleOp module, StringRef function,
                                     const KernelOptions &options,
                                     bool &onTiles) {
  onTiles = true;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    if (kernels.getName() == function) {
      OwningOpRef<ModuleOp> copy = ModuleOp::create(kernels.getLoc());
      copy->push_back(kernels->clone());
      return copy;
    }
  OwningOpRef<ModuleOp> isolated = isolateFunction(module, function);
  // Attention has no token-serial kernel; whoever gives a plan wants to know
  // why there is no kernel by it.
  if (options.lowering == "chunkwise" ||
      (options.lowering == "auto" &&
       (isAttention(*isolated) || !options.plan.empty())))
    return makeTiles(*isolated, options);
  if (options.lowering == "auto") {
    // The reasons against a chunk form are no errors here.
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    if (OwningOpRef<ModuleOp> tiles = makeTiles(*isolated, options))
      return tiles;
  }
  if (isAttention(*isolated)) {
    isolated->emitError() << "'" << function
                          << "' is attention, which has no token-serial "
                             "kernel (--lowering=chunkwise, auto)";
    return {};
  }
  onTiles = false;
  return isolated;
}

llvm::Expected<CompiledKernel>
linattn::compileKernel(ModuleOp module, StringRef function,
                       const KernelOptions &options) {
  if (llvm::Error error = checkPlan(options.plan))
    return std::move(error);
  bool onTiles;
  OwningOpRef<ModuleOp> copy = prepare(module, function, options, onTiles);
  NVVMPipelineOptions pipeline;
  pipeline.chip = options.chip;
  PassManager passes(module.getContext());
  (void)applyPassManagerCLOptions(passes);
  if (onTiles)
    buildTileToNVVMPipeline(passes, pipeline);
  else
    buildSerialNVVMPipeline(passes, pipeline);
  if (!copy || failed(passes.run(*copy)))
    return makeError("does not compile for " + options.chip);
  auto kernels = *copy->getOps<gpu::GPUModuleOp>().begin();
  // A plan of several kernels describes them all at once.
  auto attr = kernels->getAttrOfType<DictionaryAttr>(kKernelAttr);
  Operation *kernel = kernels.lookupSymbol(function);
  if (!attr && kernel)
    attr = kernel->getAttrOfType<DictionaryAttr>(kKernelAttr);
  CompiledKernel result;
  result.name = function.str();
  if (attr)
    result.description = toJSON(attr);
  result.description["format"] = "linattn";
  result.description["version"] = LINATTN_ARTIFACT_VERSION;
  result.description["name"] = function.str();
  result.description["target"] = options.chip;
  llvm::Expected<std::string> ptx = translateToPTX(kernels, options.chip);
  if (!ptx)
    return ptx.takeError();
  result.ptx = std::move(*ptx);
  return result;
}
