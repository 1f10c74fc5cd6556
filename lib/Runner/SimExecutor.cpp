//===- SimExecutor.cpp - runs a kernel in the PTX simulator -----*- C++ -*-===//
//
// What the simulator finds (a race, an access outside an array, an
// uninitialised read) is an error, whatever the numbers say.
//
//===----------------------------------------------------------------------===//

#include "linattn/Compile/Compile.h"
#include "linattn/Runner/Executor.h"
#include "linattn/Runner/KernelLaunch.h"
#include "linattn/Simulator/Simulator.h"

#include "llvm/Support/raw_ostream.h"

using namespace linattn;
using namespace linattn::runner;

namespace {
class SimExecutor : public Executor {
public:
  explicit SimExecutor(unsigned threads) : threads(threads) {}

  llvm::Error compile(mlir::ModuleOp module,
                      const Signature &signature) override {
    llvm::Expected<CompiledKernel> compiled =
        compileKernel(module, signature.function, "sm_90a");
    if (!compiled)
      return usageError("'" + signature.function +
                        "': " + llvm::toString(compiled.takeError()));
    kernel = std::move(*compiled);
    auto loaded = simulator.load(kernel.ptx, kernel.name + ".ptx");
    if (!loaded)
      return loaded.takeError();
    code = *loaded;
    return llvm::Error::success();
  }

  llvm::Expected<std::vector<Shape>>
  resultShapes(llvm::ArrayRef<Buffer> inputs) override {
    KernelLaunch launch(kernel.description);
    if (llvm::Error error = launch.bindInputs(inputs))
      return error;
    return launch.resultShapes();
  }

  llvm::Expected<double> run(llvm::MutableArrayRef<Buffer> inputs,
                             llvm::MutableArrayRef<Buffer> results) override {
    KernelLaunch launch(kernel.description);
    if (llvm::Error error = launch.bindInputs(inputs))
      return error;
    if (llvm::Error error = launch.bindResults(results))
      return error;
    auto parameters = launch.parameters();
    if (!parameters)
      return parameters.takeError();
    auto grid = launch.gridSize();
    if (!grid)
      return grid.takeError();
    if (*grid == 0)
      return 0.0;
    return launchOn(launch, *parameters, *grid);
  }

private:
  /// A device copy of an array, gone with the object.
  struct DeviceArray {
    DeviceArray(sim::Simulator &simulator, const Buffer &host, uint64_t address,
                bool written)
        : simulator(simulator), host(host), address(address), written(written) {
    }
    DeviceArray(const DeviceArray &) = delete;
    ~DeviceArray() { llvm::consumeError(simulator.release(address)); }

    sim::Simulator &simulator;
    const Buffer &host;
    uint64_t address;
    bool written;
  };

  llvm::Expected<double>
  launchOn(const KernelLaunch &launch,
           llvm::ArrayRef<KernelLaunch::Parameter> parameters, int64_t grid) {
    std::vector<std::unique_ptr<DeviceArray>> arrays;
    std::vector<sim::Argument> arguments;
    for (const KernelLaunch::Parameter &parameter : parameters) {
      if (parameter.tensor.empty()) {
        arguments.push_back(sim::argument(parameter.number));
        continue;
      }
      const Buffer &host = launch.tensor(parameter.tensor);
      auto address = simulator.allocate(host.getNumBytes(), parameter.tensor);
      if (!address)
        return address.takeError();
      arrays.push_back(std::make_unique<DeviceArray>(simulator, host, *address,
                                                     parameter.written));
      if (llvm::Error error = simulator.upload(
              *address, {reinterpret_cast<const uint8_t *>(host.getData()),
                         host.getNumBytes()}))
        return error;
      arguments.push_back(sim::argument(*address));
    }
    sim::LaunchConfig config;
    config.grid.x = grid;
    config.block.x = launch.blockSize();
    config.dynamicSharedBytes = launch.sharedBytes();
    sim::LaunchOptions options;
    options.threads = threads;
    auto report =
        simulator.launch(*code, kernel.name, config, arguments, options);
    if (!report)
      return report.takeError();
    if (!report->clean()) {
      std::string findings;
      llvm::raw_string_ostream stream(findings);
      report->printFindings(stream);
      return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                     "the simulator found in '" + kernel.name +
                                         "':\n" + findings);
    }
    for (const std::unique_ptr<DeviceArray> &array : arrays) {
      if (!array->written)
        continue;
      // A copy of the handle: the storage is the caller's.
      Buffer host = array->host;
      if (llvm::Error error = simulator.download(
              array->address, {reinterpret_cast<uint8_t *>(host.getData()),
                               host.getNumBytes()}))
        return error;
    }
    return report->seconds * 1000;
  }

  unsigned threads;
  CompiledKernel kernel;
  sim::Simulator simulator;
  sim::Module *code = nullptr;
};
} // namespace

std::unique_ptr<Executor> runner::makeSimExecutor(unsigned threads) {
  return std::make_unique<SimExecutor>(threads);
}
