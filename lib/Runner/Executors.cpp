//===- Executors.cpp - the executors by name --------------------*- C++ -*-===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Pipelines/Pipelines.h"
#include "linattn/Runner/Executor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace linattn;
using namespace linattn::runner;

static std::unique_ptr<Executor> makeSerial(const Target &target) {
  CPUOptions options;
  options.threads = target.threads;
  options.pipeline = buildSerialCPUPipeline;
  return makeCPUExecutor(options);
}

/// The oracle: the same loop with every float widened.
static std::unique_ptr<Executor> makeOracle(const Target &target) {
  CPUOptions options;
  options.threads = target.threads;
  options.widens = true;
  options.pipeline = [](mlir::OpPassManager &passes) {
    passes.addPass(createWiden());
    buildSerialCPUPipeline(passes);
  };
  return makeCPUExecutor(options);
}

/// A kernel on a GPU, or on the simulator.
static std::unique_ptr<Executor> makeDevice(const Target &target) {
  DeviceOptions options;
  options.simulate = target.device == "sim";
  options.threads = target.threads;
  options.compile.lowering = target.lowering;
  options.compile.chunk = target.chunk;
  options.compile.mma = target.mma;
  options.compile.plan = target.plan;
  return makeDeviceExecutor(options);
}

/// The chunk form, in f32 or widened: the algebra alone, or with roundings kept
/// the model of what a device errs.
static std::unique_ptr<Executor> makeChunkwise(const Target &target) {
  CPUOptions options;
  options.threads = target.threads;
  options.widens = target.precision == "fp64";
  options.pipeline = [target](mlir::OpPassManager &passes) {
    ChunkwiseCPUOptions chunkwise;
    chunkwise.chunk = target.chunk;
    chunkwise.mma = target.mma;
    chunkwise.keepRounding = target.keepRounding;
    chunkwise.hoist = target.hoist;
    if (target.precision == "fp64")
      passes.addPass(createWiden());
    buildChunkwiseCPUPipeline(passes, chunkwise);
  };
  return makeCPUExecutor(options);
}

namespace {
struct Entry {
  llvm::StringLiteral device, lowering, precision;
  std::unique_ptr<Executor> (*make)(const Target &);
};
} // namespace

static constexpr Entry kExecutors[] = {
    {"cpu", "serial", "fp32", makeSerial},
    {"cpu", "serial", "fp64", makeOracle},
    {"cpu", "chunkwise", "fp32", makeChunkwise},
    {"cpu", "chunkwise", "fp64", makeChunkwise},
    {"sim", "serial", "fp32", makeDevice},
    {"sim", "chunkwise", "fp32", makeDevice},
    {"cuda", "serial", "fp32", makeDevice},
    {"cuda", "chunkwise", "fp32", makeDevice},
};

llvm::Expected<std::unique_ptr<Executor>>
runner::makeExecutor(const Target &target) {
  std::vector<std::string> names;
  for (const Entry &entry : kExecutors) {
    if (entry.device == target.device && entry.lowering == target.lowering &&
        entry.precision == target.precision)
      return entry.make(target);
    names.push_back(("--device=" + entry.device + " --lowering=" +
                     entry.lowering + " --precision=" + entry.precision)
                        .str());
  }
  return usageError("nothing here runs --device=" + target.device +
                    " --lowering=" + target.lowering +
                    " --precision=" + target.precision +
                    "; there are: " + llvm::join(names, "; "));
}
