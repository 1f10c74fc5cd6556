//===- GPUArtifact.cpp - one function compiled for a GPU ------------------===//
//
// LLVM and ptxas take most of the time, and only ptxas knows what is spilled.
// So of a leaner plan first the kernels that spilled are assembled, alone; the
// others follow where these spill no more, or of the plan that spills least.
//
//===----------------------------------------------------------------------===//

#include "GPUArtifact.h"
#include "LoweredKernels.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace linattn;

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
// Leaner plans
//===----------------------------------------------------------------------===//

/// Tokens of the shortest chunks, keys of the smallest tiles.
static constexpr int64_t kLeastChunk = 16, kLeastKeyTile = 16;

/// Bytes of spills up to which addresses of copies make a difference.
static constexpr int64_t kAddressBytes = 128;

/// Plans of a kernel in chunks that ask for fewer registers than the one that
/// it has and that spills so much: twice the warps, shorter chunks; norms of
/// outputs elsewhere, if there are any.
static SmallVector<std::string>
getLeanerChunkPlans(const llvm::json::Object &plan, int64_t spills) {
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
  auto add = [&](const Twine &options) {
    plans.push_back((options + rest).str());
  };
  // Two parts of columns pad the shortest chunk.
  if (chunk / 2 < kLeastChunk)
    add("stages=1 chunk=" + Twine(chunk));
  if (number("parts") == 1)
    add("chunk=" + Twine(chunk) + " column-parts=2");
  if (chunk / 2 > kLeastChunk)
    add("chunk=" + Twine(chunk / 2) + " column-parts=2");
  if (chunk / 2 >= kLeastChunk) {
    add("chunk=" + Twine(chunk / 2));
    if (spills <= kAddressBytes)
      add("stages=1 chunk=" + Twine(chunk / 2));
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
getLeanerPlans(const llvm::json::Object &description, int64_t spills) {
  const llvm::json::Object *plan = description.getObject("plan");
  if (plan && plan->getInteger("chunk") && plan->getInteger("parts"))
    return getLeanerChunkPlans(*plan, spills);
  if (plan && plan->getInteger("key_tile"))
    return getLeanerAttentionPlans(*plan);
  return {};
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

namespace {
class GPUCompilation {
public:
  GPUCompilation(ModuleOp module, StringRef name, const CompileOptions &options,
                 const Ptxas *ptxas)
      : module(module), name(name), options(options), ptxas(ptxas) {}

  llvm::Expected<Artifact> run();

private:
  /// `isLeaner`: what is wrong with the plan is of no interest.
  llvm::Expected<LoweredKernels> lower(StringRef plan, bool isLeaner);
  llvm::Expected<Artifact> finish(LoweredKernels lowered);
  /// What a plan spills at least: what is known of its kernels, and what those
  /// that spilled before do.
  /// Stops at `enough`.
  int64_t countLeast(const LoweredKernels &lowered, int64_t enough);
  llvm::Expected<Resources> assembleSome(const LoweredKernels &lowered,
                                         ArrayRef<KernelText> some);
  llvm::Expected<Artifact> finishCrowded(LoweredKernels first);
  Artifact findLeaner(Artifact chosen);
  void remember(ArrayRef<KernelText> texts, const Resources &resources);

  ModuleOp module;
  StringRef name;
  const CompileOptions &options;
  const Ptxas *ptxas;
  /// Bytes of spills by the hash of a kernel's text.
  llvm::DenseMap<uint64_t, int64_t> known;
  /// Kernels that spilled, and how much.
  llvm::StringMap<int64_t> risky;
};
} // namespace

llvm::Expected<LoweredKernels> GPUCompilation::lower(StringRef plan,
                                                     bool isLeaner) {
  KernelOptions kernelOptions{options.target, options.lowering, options.chunk,
                              options.mma,    plan.str(),       options.sizes};
  if (!isLeaner)
    return lowerKernels(module, name, kernelOptions);
  kernelOptions.suggests = false;
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  return lowerKernels(module, name, kernelOptions);
}

void GPUCompilation::remember(ArrayRef<KernelText> texts,
                              const Resources &resources) {
  for (const KernelText &kernel : texts) {
    auto spills = resources.spillsOf.find(kernel.name);
    if (spills == resources.spillsOf.end())
      continue;
    known[kernel.hash] = spills->second;
    if (spills->second)
      risky[kernel.name] = spills->second;
  }
}

llvm::Expected<Artifact> GPUCompilation::finish(LoweredKernels lowered) {
  Artifact artifact;
  llvm::Expected<std::string> ptx = emitPTX(lowered, options.target);
  if (!ptx)
    return ptx.takeError();
  artifact.ptx = std::move(*ptx);
  artifact.description = std::move(lowered.description);
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
    Resources &resources = artifact.cubin->resources;
    // Where nothing spills nobody asks.
    if (resources.spillStoreBytes)
      remember(getKernelTexts(lowered), resources);
    addDynamicShared(resources, description);
    description["cubin"] = (name + ".cubin").str();
    description["resources"] = describe(resources);
  }
  // A kernel from text on tiles need not say how it is called.
  if (description.get("arguments")) {
    artifact.header = makeRuntimeHeader(description);
    description["header"] = (name + ".h").str();
  }
  return artifact;
}

llvm::Expected<Resources>
GPUCompilation::assembleSome(const LoweredKernels &lowered,
                             ArrayRef<KernelText> some) {
  llvm::Expected<std::string> ptx =
      emitPTX(lowered, options.target, [&](StringRef kernel) {
        return llvm::any_of(
            some, [&](const KernelText &text) { return text.name == kernel; });
      });
  if (!ptx)
    return ptx.takeError();
  llvm::Expected<Cubin> cubin = assemble(*ptxas, *ptx, options.target);
  if (!cubin)
    return cubin.takeError();
  remember(some, cubin->resources);
  return std::move(cubin->resources);
}

int64_t GPUCompilation::countLeast(const LoweredKernels &lowered,
                                   int64_t enough) {
  int64_t sum = 0;
  bool hasOthers = false;
  SmallVector<KernelText> unknown;
  for (const KernelText &kernel : getKernelTexts(lowered)) {
    if (auto spills = known.find(kernel.hash); spills != known.end())
      sum += spills->second;
    else if (risky.contains(kernel.name))
      unknown.push_back(kernel);
    else
      hasOthers = true;
  }
  // Alone they would take no less than all.
  if (unknown.empty() || !hasOthers)
    return sum;
  llvm::sort(unknown, [&](const KernelText &a, const KernelText &b) {
    return std::pair(risky.lookup(b.name), StringRef(a.name)) <
           std::pair(risky.lookup(a.name), StringRef(b.name));
  });
  for (const KernelText &kernel : unknown) {
    if (sum >= enough)
      break;
    llvm::Expected<Resources> resources = assembleSome(lowered, kernel);
    if (resources)
      sum += resources->spillStoreBytes;
    else
      llvm::consumeError(resources.takeError());
  }
  return sum;
}

static int64_t countSpills(const Artifact &artifact) {
  return artifact.cubin ? artifact.cubin->resources.spillStoreBytes : 0;
}

/// A plan that spills too has to save one part of so many, or it is not worth
/// its compilation.
static constexpr int64_t kWorthwhile = 4;

/// The first leaner plan that does not spill, or the one that spills least;
/// `chosen` if none spills less than it.
Artifact GPUCompilation::findLeaner(Artifact chosen) {
  std::optional<LoweredKernels> best;
  int64_t least = countSpills(chosen);
  auto tryToFinish = [&](LoweredKernels lowered) {
    llvm::Expected<Artifact> artifact = finish(std::move(lowered));
    if (!artifact)
      llvm::consumeError(artifact.takeError());
    else if (countSpills(*artifact) < countSpills(chosen))
      chosen = std::move(*artifact);
  };
  for (StringRef plan : getLeanerPlans(chosen.description, least)) {
    llvm::Expected<LoweredKernels> lowered = lower(plan, /*isLeaner=*/true);
    if (!lowered) {
      llvm::consumeError(lowered.takeError());
      continue;
    }
    int64_t enough = std::min(
        least, countSpills(chosen) * (kWorthwhile - 1) / kWorthwhile + 1);
    int64_t spills = countLeast(*lowered, enough);
    if (spills >= enough)
      continue;
    if (spills > 0) {
      least = spills;
      best = std::move(*lowered);
      continue;
    }
    tryToFinish(std::move(*lowered));
    if (!countSpills(chosen))
      return chosen;
    least = std::min(least, countSpills(chosen));
  }
  if (best)
    tryToFinish(std::move(*best));
  return chosen;
}

/// Where the kernels of the first plan will hardly do without spills: the first
/// leaner one whose do, or the first of all.
llvm::Expected<Artifact> GPUCompilation::finishCrowded(LoweredKernels first) {
  for (StringRef kernel : first.crowded)
    risky[kernel] = 1;
  for (StringRef plan : getLeanerPlans(first.description, INT64_MAX)) {
    llvm::Expected<LoweredKernels> lowered = lower(plan, /*isLeaner=*/true);
    if (!lowered)
      llvm::consumeError(lowered.takeError());
    else if (lowered->crowded.empty() && countLeast(*lowered, 1) == 0)
      return finish(std::move(*lowered));
  }
  return finish(std::move(first));
}

llvm::Expected<Artifact> GPUCompilation::run() {
  llvm::Expected<LoweredKernels> lowered =
      lower(options.plan, /*isLeaner=*/false);
  if (!lowered)
    return lowered.takeError();
  // A plan that was asked for stands.
  if (!options.plan.empty() || !ptxas)
    return finish(std::move(*lowered));
  llvm::Expected<Artifact> chosen = lowered->crowded.empty()
                                        ? finish(std::move(*lowered))
                                        : finishCrowded(std::move(*lowered));
  if (!chosen || !countSpills(*chosen))
    return chosen;
  return findLeaner(std::move(*chosen));
}

llvm::Expected<Artifact> linattn::compileForGPU(ModuleOp module, StringRef name,
                                                const CompileOptions &options,
                                                const Ptxas *ptxas) {
  return GPUCompilation(module, name, options, ptxas).run();
}
