//===- DeviceExecutor.cpp - runs kernels through the runtime ----*- C++ -*-===//
//
// On a GPU, or on the PTX simulator behind the same driver interface. What the
// simulator finds (a race, an access outside an array, an uninitialised read)
// is an error, whatever the numbers say.
//
//===----------------------------------------------------------------------===//

#include "linattn-c/Runtime.h"
#include "linattn/Compile/Artifact.h"
#include "linattn/Runner/Executor.h"
#include "linattn/Simulator/SimulatedDriver.h"
#include "linattn/Target/NVPTX.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace linattn;
using namespace linattn::runner;

/// An error if a call of the runtime failed.
static llvm::Error toError(linattn_status status) {
  return status == LINATTN_OK ? llvm::Error::success()
                              : usageError(linattn_last_error());
}

static linattn_dtype toRuntime(DType type) {
  switch (type) {
  case DType::F16:
    return LINATTN_F16;
  case DType::BF16:
    return LINATTN_BF16;
  case DType::F32:
    return LINATTN_F32;
  case DType::F64:
    return LINATTN_F64;
  case DType::I32:
    return LINATTN_I32;
  case DType::I64:
    return LINATTN_I64;
  }
  return LINATTN_ABSENT;
}

/// A host array as the runtime sees it, without memory.
static linattn_tensor describe(const Buffer &buffer) {
  linattn_tensor tensor = {};
  tensor.dtype = toRuntime(buffer.getType());
  tensor.rank = int32_t(buffer.getRank());
  llvm::copy(buffer.getShape(), tensor.sizes);
  llvm::copy(buffer.getStrides(), tensor.strides);
  return tensor;
}

namespace {
/// A copy of an array on the device, gone with the object.
class DeviceArray {
public:
  DeviceArray(Buffer host, std::string name)
      : host(std::move(host)), name(std::move(name)),
        tensor(describe(this->host)) {}
  DeviceArray(DeviceArray &&other)
      : host(std::move(other.host)), name(std::move(other.name)),
        tensor(other.tensor) {
    other.tensor.data = nullptr;
  }
  ~DeviceArray() { linattn_free(tensor.data); }

  llvm::Error upload() {
    sim::nameNextAllocation(name);
    size_t bytes = linattn_tensor_bytes(&tensor);
    if (llvm::Error error = toError(linattn_allocate(bytes, &tensor.data)))
      return error;
    return toError(linattn_upload(tensor.data, host.getData(), bytes, nullptr));
  }
  llvm::Error download() {
    return toError(linattn_download(host.getData(), tensor.data,
                                    linattn_tensor_bytes(&tensor), nullptr));
  }
  const linattn_tensor &getTensor() const { return tensor; }

private:
  Buffer host;
  std::string name;
  linattn_tensor tensor;
};

struct Timer {
  Timer() = default;
  Timer(const Timer &) = delete;
  ~Timer() { linattn_timer_destroy(handle); }
  linattn_timer *handle = nullptr;
};

class DeviceExecutor : public Executor {
public:
  explicit DeviceExecutor(DeviceOptions options)
      : options(std::move(options)) {}
  ~DeviceExecutor() override { linattn_release(artifact); }

  llvm::Error compile(mlir::ModuleOp module,
                      const Signature &signature) override {
    this->signature = &signature;
    if (options.simulate) {
      sim::SimulatedDevice device;
      device.threads = options.threads;
      sim::setSimulatedDevice(device);
      linattn_use_driver(sim::lookUpSimulatedDriver);
    }
    llvm::Expected<std::string> chip = findChip();
    if (!chip)
      return chip.takeError();
    options.compile.target = *chip;
    std::optional<Ptxas> ptxas = findAssembler();
    llvm::Expected<Artifact> made = compileFunction(
        module, signature.function, options.compile, ptxas ? &*ptxas : nullptr);
    if (!made)
      return usageError("'" + signature.function +
                        "': " + llvm::toString(made.takeError()));
    std::string json =
        llvm::formatv("{0}", llvm::json::Value(std::move(made->description)))
            .str();
    std::string cubin = made->cubin ? std::move(made->cubin->bytes) : "";
    if (llvm::Error error = toError(linattn_load_memory(
            json.data(), json.size(), cubin.data(), cubin.size(),
            made->ptx.data(), made->ptx.size(), &artifact)))
      return error;
    function = linattn_function_at(artifact, 0);
    return toError(linattn_prepare(function));
  }

  llvm::Expected<std::vector<Shape>>
  resultShapes(llvm::ArrayRef<Buffer> inputs) override {
    std::vector<linattn_tensor> arguments;
    for (const Buffer &input : inputs)
      arguments.push_back(describe(input));
    std::vector<linattn_tensor> results(linattn_num_results(function));
    if (llvm::Error error = toError(
            linattn_infer_results(function, arguments.data(), arguments.size(),
                                  results.data(), results.size())))
      return error;
    std::vector<Shape> shapes;
    for (const linattn_tensor &result : results)
      shapes.emplace_back(result.sizes, result.sizes + result.rank);
    return shapes;
  }

  llvm::Expected<double> run(llvm::MutableArrayRef<Buffer> inputs,
                             llvm::MutableArrayRef<Buffer> results) override {
    std::vector<DeviceArray> arrays;
    auto add = [&](const Buffer &host, const char *name) {
      arrays.emplace_back(host, name);
      return arrays.back().upload();
    };
    for (size_t i = 0; i < inputs.size(); ++i)
      if (llvm::Error error =
              add(inputs[i], linattn_argument_info(function, i).name))
        return error;
    int32_t numResults = linattn_num_results(function);
    std::vector<linattn_tensor> outputs(numResults);
    std::vector<size_t> changed;
    for (int32_t i = 0; i < numResults; ++i) {
      linattn_tensor_info info = linattn_result_info(function, i);
      if (info.in_place >= 0) {
        changed.push_back(info.in_place);
        continue;
      }
      changed.push_back(arrays.size());
      // What was there shows which rows are not written.
      if (llvm::Error error = add(results.consume_front(), info.name))
        return error;
      outputs[i] = arrays.back().getTensor();
    }
    std::vector<linattn_tensor> arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments.push_back(arrays[i].getTensor());
    llvm::Expected<double> time = launch(arguments, outputs);
    if (!time)
      return time;
    for (size_t i : changed)
      if (llvm::Error error = arrays[i].download())
        return error;
    return time;
  }

private:
  /// The newest target that the device runs.
  llvm::Expected<std::string> findChip() {
    if (options.simulate)
      return "sm_90a";
    linattn_device_info device;
    if (llvm::Error error = toError(linattn_get_device(&device)))
      return error;
    std::string last;
    for (int minor = device.minor; minor >= 0; --minor)
      for (const char *suffix : {"a", ""}) {
        if (*suffix && minor != device.minor)
          continue;
        std::string chip =
            "sm_" + std::to_string(device.major * 10 + minor) + suffix;
        llvm::Expected<std::string> known = getPTXFeature(chip);
        if (known)
          return chip;
        last = llvm::toString(known.takeError());
      }
    return usageError(std::string(device.name) + ": " + last);
  }

  /// Where there is none the driver compiles the PTX.
  std::optional<Ptxas> findAssembler() const {
    if (options.simulate)
      return std::nullopt;
    static int anchor;
    llvm::Expected<Ptxas> ptxas =
        findPtxas(llvm::sys::fs::getMainExecutable(nullptr, &anchor));
    if (ptxas)
      return std::move(*ptxas);
    llvm::consumeError(ptxas.takeError());
    return std::nullopt;
  }

  llvm::Expected<double> launch(llvm::ArrayRef<linattn_tensor> arguments,
                                llvm::ArrayRef<linattn_tensor> results) {
    Timer timer;
    double milliseconds = 0;
    if (llvm::Error error = toError(linattn_timer_create(&timer.handle)))
      return error;
    if (llvm::Error error = toError(linattn_timer_start(timer.handle, nullptr)))
      return error;
    if (llvm::Error error = toError(
            linattn_call(function, arguments.data(), arguments.size(),
                         results.data(), results.size(), nullptr, nullptr)))
      return error;
    if (llvm::Error error = toError(linattn_timer_stop(timer.handle, nullptr)))
      return error;
    if (llvm::Error error =
            toError(linattn_timer_elapsed(timer.handle, &milliseconds)))
      return error;
    return milliseconds;
  }

  DeviceOptions options;
  const Signature *signature = nullptr;
  linattn_artifact *artifact = nullptr;
  linattn_function *function = nullptr;
};
} // namespace

std::unique_ptr<Executor> runner::makeDeviceExecutor(DeviceOptions options) {
  return std::make_unique<DeviceExecutor>(std::move(options));
}
