//===- Kernels.cpp - functions to kernels, and to PTX ---------------------===//

#include "ChoosePlan.h"
#include "FusedConvolutions.h"
#include "LoweredKernels.h"
#include "Stages.h"

#include "linattn-c/Runtime.h"
#include "linattn/Conversion/Fronts.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/Target/NVPTX.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace linattn;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Whether the function is a short convolution, which has one form of kernel.
static bool isShortConv(ModuleOp isolated) {
  return isolated
      .walk([](ShortConvOp conv) {
        return isPartOfFront(conv) ? WalkResult::advance()
                                   : WalkResult::interrupt();
      })
      .wasInterrupted();
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

/// Registers of a thread, and from how many that are counted on a kernel may
/// spill: operands of products and addresses need some too.
static constexpr int64_t kMaxRegisters = 255, kManyRegisters = 192;

/// What a kernel on tiles counts on; 0 where it does not say so.
static int64_t countRegisters(gpu::GPUFuncOp func) {
  auto registers = func->getAttrOfType<IntegerAttr>("tile.registers");
  return registers ? registers.getInt() : 0;
}

/// The kernels that count on more registers than there are.
static void findCrowded(ModuleOp tiles, std::vector<std::string> &crowded) {
  tiles.walk([&](gpu::GPUFuncOp func) {
    if (countRegisters(func) > kMaxRegisters)
      crowded.push_back(func.getName().str());
  });
}

namespace {
struct FoundPlan {
  std::string plan;
  /// The most that a kernel counts on.
  int64_t registers = 0;
};
} // namespace

/// The first of the chosen plans that there is a kernel by, with what `given`
/// says instead; one that leaves registers free before others.
static std::optional<FoundPlan>
findPlan(ModuleOp isolated, const KernelOptions &options, StringRef given) {
  ScopedDiagnosticHandler quiet(isolated.getContext(),
                                [](Diagnostic &) { return success(); });
  KernelOptions open = options;
  open.plan.clear();
  std::vector<std::string> plans = choosePlans(isolated, open);
  // Half the registers of each, after them.
  if (!isAttention(isolated))
    for (size_t i : llvm::seq(plans.size()))
      plans.push_back(completePlan("column-parts=2", plans[i]));
  std::optional<FoundPlan> found;
  for (StringRef other : plans) {
    std::string plan = completePlan(given, other);
    OwningOpRef<ModuleOp> tiles;
    if (plan != options.plan)
      tiles = makeTiles(isolated, options, plan);
    if (!tiles)
      continue;
    int64_t most = 0;
    tiles->walk([&](gpu::GPUFuncOp func) {
      most = std::max(most, countRegisters(func));
    });
    if (most < kManyRegisters)
      return FoundPlan{plan, most};
    if (!found)
      found = FoundPlan{plan, most};
  }
  return found;
}

/// Says what else to add to a plan that there is no kernel by, or what to leave
/// out of it, if that helps.
static void suggestPlan(ModuleOp isolated, const KernelOptions &options) {
  std::string without;
  std::optional<FoundPlan> found = findPlan(isolated, options, options.plan);
  if (!found) {
    // Other plans are no help where there is none at all.
    found = findPlan(isolated, options, "");
    if (!found)
      return;
    SmallVector<StringRef> words;
    llvm::SplitString(options.plan, words);
    without = options.plan;
    for (StringRef word : words) {
      SmallVector<StringRef> others(words);
      llvm::erase(others, word);
      if (others.empty())
        continue;
      auto plan = findPlan(isolated, options, llvm::join(others, " "));
      if (!plan)
        continue;
      found = plan;
      without = word.str();
      break;
    }
  }
  Location loc = isolated.getLoc();
  isolated.walk([&](Operation *op) {
    if (isa<RecurrenceOp, SoftmaxAttentionOp, DiffAttentionOp>(op))
      loc = op->getLoc();
  });
  InFlightDiagnostic remark = emitRemark(loc) << "there is a kernel by ";
  if (found->plan.empty())
    remark << "the default plan";
  else
    remark << "the plan '" << found->plan << "'";
  if (!without.empty())
    remark << ", without '" << without << "'";
  if (found->registers >= kManyRegisters)
    remark << ", which counts on " << found->registers << " of the "
           << kMaxRegisters << " registers of a thread and may spill";
}

/// The same under the given plan, or under the first that fits the device.
/// Where a plan of attention leaves tiles open, their sizes are chosen still.
static OwningOpRef<ModuleOp> makeTiles(ModuleOp isolated,
                                       const KernelOptions &options) {
  bool attention = isAttention(isolated);
  if (llvm::Error error = checkPlanKind(options.plan, attention)) {
    isolated->emitError() << llvm::toString(std::move(error));
    return {};
  }
  std::vector<std::string> plans = listPlans(isolated, options);
  {
    // What goes wrong under the last plan is reported.
    ScopedDiagnosticHandler quiet(isolated.getContext(),
                                  [](Diagnostic &) { return success(); });
    for (StringRef plan : ArrayRef(plans).drop_back())
      if (OwningOpRef<ModuleOp> tiles = makeTiles(isolated, options, plan))
        return tiles;
  }
  OwningOpRef<ModuleOp> tiles = makeTiles(isolated, options, plans.back());
  if (!tiles && !options.plan.empty() && options.suggests)
    suggestPlan(isolated, options);
  return tiles;
}

LogicalResult linattn::checkTiles(ModuleOp isolated,
                                  const KernelOptions &options) {
  OwningOpRef<ModuleOp> tiles = makeTiles(isolated, options);
  return success(bool(tiles));
}

/// Whether the function has a token-serial kernel.
static bool hasSerialKernel(ModuleOp isolated, const KernelOptions &options) {
  ScopedDiagnosticHandler quiet(isolated.getContext(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> copy(isolated.clone());
  NVVMPipelineOptions pipeline;
  pipeline.chip = options.chip;
  PassManager passes(isolated.getContext());
  buildSerialNVVMPipeline(passes, pipeline);
  return succeeded(passes.run(*copy));
}

/// The function in chunks or tiles, where it has to be; else says what there is
/// instead.
static OwningOpRef<ModuleOp> needTiles(ModuleOp isolated,
                                       const KernelOptions &options) {
  OwningOpRef<ModuleOp> tiles = makeTiles(isolated, options);
  if (!tiles && options.plan.empty() && !isAttention(isolated) &&
      hasSerialKernel(isolated, options))
    isolated.walk([&](RecurrenceOp op) {
      emitRemark(op.getLoc())
          << "there is a token-serial kernel (--lowering=serial, auto)";
    });
  return tiles;
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
  if (isShortConv(*isolated)) {
    onTiles = false;
    return isolated;
  }
  // Attention has no token-serial kernel; whoever gives a plan wants to know
  // why there is no kernel by it.
  if (options.lowering == "chunkwise" ||
      (options.lowering == "auto" &&
       (isAttention(*isolated) || !options.plan.empty())))
    return needTiles(*isolated, options);
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

/// The gpu.module of a function, in the LLVM dialect, and whether it is of
/// kernels on tiles; null if it does not compile.
static OwningOpRef<ModuleOp> lowerToLLVM(ModuleOp module, StringRef function,
                                         const KernelOptions &options,
                                         bool &onTiles,
                                         std::vector<std::string> &crowded) {
  OwningOpRef<ModuleOp> copy = prepare(module, function, options, onTiles);
  if (copy)
    findCrowded(*copy, crowded);
  NVVMPipelineOptions pipeline;
  pipeline.chip = options.chip;
  PassManager passes(module.getContext());
  (void)applyPassManagerCLOptions(passes);
  if (onTiles)
    buildTileToNVVMPipeline(passes, pipeline);
  else
    buildSerialNVVMPipeline(passes, pipeline);
  if (!copy || failed(passes.run(*copy)))
    return {};
  return copy;
}

/// What the lowerings have written down of the kernels of a function.
static llvm::json::Object describe(gpu::GPUModuleOp kernels,
                                   StringRef function) {
  // A plan of several kernels describes them all at once.
  auto attr = kernels->getAttrOfType<DictionaryAttr>(kKernelAttr);
  Operation *kernel = kernels.lookupSymbol(function);
  if (!attr && kernel)
    attr = kernel->getAttrOfType<DictionaryAttr>(kKernelAttr);
  return attr ? toJSON(attr) : llvm::json::Object();
}

/// The kernels of all stages in one gpu.module, and their description. Says
/// whether a recurrence among them runs token by token.
static llvm::Expected<LoweredKernels>
lowerStages(Stages &stages, const KernelOptions &options, bool &isSerial) {
  isSerial = false;
  LoweredKernels all;
  OwningOpRef<ModuleOp> &result = all.module;
  SmallVector<llvm::json::Object> descriptions;
  for (const Stage &stage : stages.stages) {
    bool onTiles;
    OwningOpRef<ModuleOp> lowered =
        lowerToLLVM(*stage.module, stage.name, options, onTiles, all.crowded);
    isSerial |= !onTiles && !isShortConv(*stage.module);
    if (!lowered)
      return makeError("does not compile for " + options.chip);
    auto kernels = *lowered->getOps<gpu::GPUModuleOp>().begin();
    descriptions.push_back(describe(kernels, stage.name));
    if (!result) {
      kernels.setName(stages.function.getName());
      result = std::move(lowered);
      continue;
    }
    auto target = *result->getOps<gpu::GPUModuleOp>().begin();
    // The names of a stage's kernels and variables begin with its own.
    for (Operation &op : llvm::make_early_inc_range(*kernels.getBody()))
      op.moveBefore(target.getBody(), target.getBody()->end());
  }
  llvm::Expected<llvm::json::Object> joined =
      joinDescriptions(stages, descriptions);
  if (!joined)
    return joined.takeError();
  all.description = std::move(*joined);
  return all;
}

/// A function of several kernels; no module if it has at most one.
static llvm::Expected<LoweredKernels>
lowerInStages(ModuleOp module, StringRef function, const KernelOptions &options,
              std::optional<FuseConv> fuse) {
  OwningOpRef<ModuleOp> isolated = isolateFunction(module, function);
  FrontChoice choice(fuse, options.lowering == "serial", options.sizes);
  while (true) {
    FailureOr<Stages> stages =
        cutIntoStages(*isolated, function,
                      [&](ShortConvOp conv) { return choice.take(conv); });
    if (failed(stages) || failed(choice.check()))
      return makeError("does not compile for " + options.chip);
    if (choice.asksForNone())
      return makeError("plan: fuse-conv=" + Twine(int(*fuse)) +
                       " is for convolutions that a recurrence reads, and '" +
                       function + "' has none: leave fuse-conv out");
    if (stages->stages.empty())
      return LoweredKernels();
    bool isSerial;
    auto lowered = lowerStages(*stages, options, isSerial);
    // Only now is known that the recurrences have no chunk form.
    if (lowered && isSerial && choice.setSerial())
      continue;
    return lowered;
  }
}

/// Names go into PTX, C headers and files.
static llvm::Error checkName(StringRef function) {
  bool fits = !function.empty() && !llvm::isDigit(function.front()) &&
              llvm::all_of(function,
                           [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (fits)
    return llvm::Error::success();
  return makeError("the name of a function that becomes a kernel has letters, "
                   "digits and '_', and begins with no digit, got '" +
                   function + "'");
}

llvm::Expected<LoweredKernels>
linattn::lowerKernels(ModuleOp module, StringRef function,
                      const KernelOptions &given) {
  if (llvm::Error error = checkName(function))
    return std::move(error);
  if (llvm::Error error = checkPlan(given.plan))
    return std::move(error);
  KernelOptions options = given;
  std::optional<FuseConv> fuse = takeFuseConv(options.plan);
  LoweredKernels result;
  OwningOpRef<ModuleOp> &lowered = result.module;
  if (module.lookupSymbol<func::FuncOp>(function)) {
    auto joined = lowerInStages(module, function, options, fuse);
    if (!joined)
      return joined.takeError();
    result = std::move(*joined);
  }
  if (!lowered) {
    bool onTiles;
    lowered = lowerToLLVM(module, function, options, onTiles, result.crowded);
    if (!lowered)
      return makeError("does not compile for " + options.chip);
    result.description = describe(result.getKernels(), function);
  }
  result.description["format"] = "linattn";
  result.description["version"] = LINATTN_ARTIFACT_VERSION;
  result.description["name"] = function.str();
  result.description["target"] = options.chip;
  return result;
}

gpu::GPUModuleOp LoweredKernels::getKernels() const {
  return *(*module).getOps<gpu::GPUModuleOp>().begin();
}

static bool isKernel(LLVM::LLVMFuncOp func) {
  return func->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
}

std::vector<KernelText> linattn::getKernelTexts(const LoweredKernels &lowered) {
  std::vector<KernelText> texts;
  for (auto func : lowered.getKernels().getOps<LLVM::LLVMFuncOp>())
    if (isKernel(func)) {
      std::string text;
      llvm::raw_string_ostream os(text);
      func->print(os, OpPrintingFlags().useLocalScope());
      texts.push_back({func.getName().str(), llvm::xxh3_64bits(text)});
    }
  return texts;
}

llvm::Expected<std::string>
linattn::emitPTX(const LoweredKernels &lowered, StringRef chip,
                 llvm::function_ref<bool(StringRef)> keeps) {
  gpu::GPUModuleOp kernels = lowered.getKernels();
  if (!keeps)
    return translateToPTX(kernels, chip);
  OwningOpRef<gpu::GPUModuleOp> some(kernels.clone());
  for (auto func : llvm::make_early_inc_range(some->getOps<LLVM::LLVMFuncOp>()))
    if (isKernel(func) && !keeps(func.getName()))
      func.erase();
  return translateToPTX(*some, chip);
}
