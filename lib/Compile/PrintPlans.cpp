//===- PrintPlans.cpp - what plans would take, for people -----------------===//

#include "ChoosePlan.h"
#include "Stages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace linattn;

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// How messages name a plan.
static std::string quote(StringRef plan) {
  return plan.empty() ? "the default plan" : ("'" + plan + "'").str();
}

/// "4096", or "4096 (assumed)".
static std::string sizeText(int64_t size, bool isKnown) {
  return std::to_string(size) + (isKnown ? "" : " (assumed)");
}

/// The options with what a plan says of the chunk form.
static KernelOptions withPlan(const KernelOptions &options) {
  KernelOptions result = options;
  SmallVector<StringRef> words;
  llvm::SplitString(options.plan, words);
  for (StringRef word : words) {
    auto [name, value] = word.split('=');
    if (name == "chunk")
      (void)value.getAsInteger(10, result.chunk);
    else if (name == "mma")
      result.mma = value.str();
  }
  return result;
}

static void printWork(const ChunkWork &work, llvm::raw_ostream &os) {
  os << llvm::formatv(
      "  a chunk of {0} tokens: {1:f2} Mflop off the chain, {2:f2} for the "
      "next state; right operands of {3} KiB, {4} for the state; {5} thousand "
      "elementwise results, {6} for the state; {7} KiB of tokens, {8} KiB "
      "between kernels\n",
      work.chunk, work.run.offChainFlops / 1e6, work.ends.offChainFlops / 1e6,
      work.run.operandBytes / 1024, work.ends.operandBytes / 1024,
      work.run.elements / 1e3, work.ends.elements / 1e3, work.tokenBytes / 1024,
      work.scratchBytes / 1024);
}

static void printTimes(const PlanProblem &problem, StringRef given,
                       llvm::raw_ostream &os) {
  const ChunkWork &work = *problem.work;
  auto name = [&](const ChunkCandidate &candidate) {
    return given.empty()
               ? quote(joinPlan({problem.chunk, toPlan(candidate, work)}))
               : quote(given);
  };
  SmallVector<ChunkCandidate> candidates;
  std::string what;
  if (!given.empty()) {
    std::string unknown;
    candidates = {toCandidate(given, work, unknown)};
    what = "given " + name(candidates[0]);
    if (!unknown.empty())
      what += " (the model knows nothing of " + unknown + ")";
  } else {
    candidates = getCandidates(work);
    ChunkCandidate chosen = candidates.front();
    if (problem.knowsSizes())
      chosen = choose(work, problem.sizes, problem.device);
    else
      os << "  no size is told (--size B=1,T=8192): the default plan stands\n";
    what = "chosen " + name(chosen);
  }
  CallSizes sizes = assumeSizes(problem.sizes, work, problem.device);
  os << llvm::formatv(
      "  microseconds by the cost model, for {0} sequences of {1} tokens, "
      "{2}:\n",
      sizeText(sizes.sequences, problem.sizes.sequences),
      sizeText(sizes.tokens, problem.sizes.tokens), what);
  for (const ChunkCandidate &candidate : candidates)
    os << llvm::formatv(
        "  {0,10:f1}  {1}\n",
        estimate(work, candidate, problem.sizes, problem.device),
        name(candidate));
}

/// Of a function with at most one operation.
static llvm::Error printOne(ModuleOp isolated, const KernelOptions &options,
                            llvm::raw_ostream &os) {
  auto fail = [&] {
    return makeError("there is no kernel in chunks for " + options.chip);
  };
  bool attention = isAttention(isolated);
  bool isPlanned = !options.plan.empty();
  // What --plan asks for is refused as compiling would.
  if (isPlanned && failed(checkTiles(isolated, options)))
    return fail();
  if (attention) {
    os << "  plans, from fast to small; the first that fits is taken:\n";
    for (const std::string &plan : listPlans(isolated, options))
      os << "    " << quote(plan) << "\n";
    return llvm::Error::success();
  }
  PlanProblem problem = findPlanProblem(isolated, withPlan(options), isPlanned);
  if (problem.work) {
    printWork(*problem.work, os);
    printTimes(problem, options.plan, os);
    return llvm::Error::success();
  }
  if (options.lowering == "chunkwise" && failed(checkTiles(isolated, options)))
    return fail();
  os << "  no form in chunks, and so no plans (--lowering=chunkwise says "
        "why)\n";
  return llvm::Error::success();
}

llvm::Error linattn::printPlans(ModuleOp module, StringRef function,
                                const KernelOptions &given,
                                llvm::raw_ostream &os) {
  KernelOptions options = given;
  if (takeFuseConv(options.plan))
    os << "  (the model knows nothing of fuse-conv)\n";
  if (!module.lookupSymbol<func::FuncOp>(function)) {
    os << "  kernels on tiles, which have their plan\n";
    return llvm::Error::success();
  }
  OwningOpRef<ModuleOp> isolated = isolateFunction(module, function);
  FailureOr<Stages> stages =
      cutIntoStages(*isolated, function, [](ShortConvOp) { return false; });
  if (failed(stages))
    return makeError("does not compile for " + options.chip);
  if (stages->stages.empty())
    return printOne(*isolated, options, os);
  for (Stage &stage : stages->stages) {
    bool isConv =
        stage.module->walk([](ShortConvOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (isConv)
      continue;
    os << "  kernel " << stage.name << "\n";
    if (llvm::Error error = printOne(*stage.module, options, os))
      return error;
  }
  return llvm::Error::success();
}
