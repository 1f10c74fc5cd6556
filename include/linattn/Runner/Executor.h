//===- Executor.h - what runs a function ------------------------*- C++ -*-===//
//
// Part of linattn. An executor compiles one function for one device by one
// lowering and runs it on host arrays.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_EXECUTOR_H
#define LINATTN_RUNNER_EXECUTOR_H

#include "linattn/Compile/Compile.h"
#include "linattn/Runner/Signature.h"

#include "mlir/Pass/PassManager.h"

#include <functional>

namespace linattn {
namespace runner {

class Executor {
public:
  virtual ~Executor();

  /// The executor takes its own copy of the module.
  virtual llvm::Error compile(mlir::ModuleOp module,
                              const Signature &signature) = 0;

  /// The element type of an argument or result of `type` as the compiled
  /// function has it.
  virtual DType adapt(DType type) const { return type; }

  /// The shapes of all results for these arguments.
  virtual llvm::Expected<std::vector<Shape>>
  resultShapes(llvm::ArrayRef<Buffer> inputs) = 0;

  /// Runs once and gives the milliseconds of the computation alone. `results`
  /// holds the results that are not an argument updated in place, in order;
  /// such arguments are updated in `inputs`.
  virtual llvm::Expected<double> run(llvm::MutableArrayRef<Buffer> inputs,
                                     llvm::MutableArrayRef<Buffer> results) = 0;
};

/// Adds the passes that lower a module to the LLVM dialect.
using PipelineBuilder = std::function<void(mlir::OpPassManager &)>;

struct CPUOptions {
  PipelineBuilder pipeline;
  /// The pipeline turns every float into f64.
  bool widens = false;
  /// Of parallel loops; 0 leaves it to OpenMP.
  unsigned threads = 0;
};

/// Compiles for this machine and runs in this process.
std::unique_ptr<Executor> makeCPUExecutor(CPUOptions options);

struct DeviceOptions {
  /// Its target is that of the device.
  CompileOptions compile;
  /// The PTX simulator instead of a GPU.
  bool simulate = false;
  /// Of the simulator; 0: one per core.
  unsigned threads = 0;
};

/// Compiles for the GPU that is there, or for the simulator, and runs through
/// the runtime.
std::unique_ptr<Executor> makeDeviceExecutor(DeviceOptions options);

/// What `--device`, `--lowering` and `--precision` name.
struct Target {
  std::string device = "cpu";
  std::string lowering = "serial";
  std::string precision = "fp32";
  unsigned threads = 0;
  /// Of the chunk form: tokens per chunk, what products round to (empty: what
  /// the inputs say), and whether the CPU rounds them.
  int64_t chunk = 64;
  std::string mma;
  bool keepRounding = false;
  /// Of kernels on tiles, as of linattn-compile.
  std::string plan;
  /// One product less on the chain from state to state.
  bool hoist = false;
};

/// An error that lists what there is, if there is no such executor.
llvm::Expected<std::unique_ptr<Executor>> makeExecutor(const Target &target);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_EXECUTOR_H
