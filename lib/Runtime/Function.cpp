//===- Function.cpp - loads kernels and launches them ---------------------===//

#include "linattn/Runtime/Function.h"

#include <cstring>

using namespace linattn;
using namespace linattn::runtime;

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

namespace {
/// sm_90a: 9, 0, 'a'.
struct Target {
  int major = 0, minor = 0;
  char suffix = 0;
};
} // namespace

static std::optional<Target> parseTarget(const std::string &name) {
  if (name.compare(0, 3, "sm_") != 0)
    return std::nullopt;
  size_t end = 3;
  while (end < name.size() &&
         std::isdigit(static_cast<unsigned char>(name[end])))
    ++end;
  if (end < 5 || end > 6 || name.size() > end + 1)
    return std::nullopt;
  int number = std::stoi(name.substr(3, end - 3));
  return Target{number / 10, number % 10, end < name.size() ? name[end] : '\0'};
}

/// 'a' is for exactly this architecture, 'f' for its family.
bool linattn::runtime::runsCubin(const std::string &name, int major,
                                 int minor) {
  std::optional<Target> target = parseTarget(name);
  if (!target || target->major != major)
    return false;
  return target->suffix == 'a' ? target->minor == minor
                               : target->minor <= minor;
}

bool linattn::runtime::runsPTX(const std::string &name, int major, int minor) {
  std::optional<Target> target = parseTarget(name);
  if (!target)
    return false;
  if (target->suffix)
    return runsCubin(name, major, minor);
  return std::make_pair(target->major, target->minor) <=
         std::make_pair(major, minor);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Function::~Function() {
  // Contexts may be gone by now; only those that are current are sure.
  try {
    if (loaded.empty())
      return;
    Driver &driver = Driver::get();
    auto it = loaded.find(driver.current().context);
    if (it != loaded.end())
      driver.cuModuleUnload(it->second.module);
  } catch (const Error &) {
  }
}

LoadedCode Function::loadModule(Driver &driver,
                                const DeviceLimits &limits) const {
  LoadedCode code;
  std::string device = text(limits.name, " (compute capability ", limits.major,
                            ".", limits.minor, ")");
  cuda::Result result = cuda::NoBinaryForGPU;
  char log[2048] = {};
  auto load = [&](const std::string &image) {
    cuda::JitOption options[] = {cuda::JitErrorLog, cuda::JitErrorLogBytes};
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
    result = driver.cuModuleLoadDataEx(&code.module, image.c_str(), 2, options,
                                       values);
  };
  if (!cubin.empty() &&
      runsCubin(description->target, limits.major, limits.minor))
    load(cubin);
  // The driver compiles PTX for devices that came after the cubin.
  if (result == cuda::NoBinaryForGPU && !ptx.empty() &&
      runsPTX(description->target, limits.major, limits.minor))
    load(ptx);
  if (result == cuda::NoBinaryForGPU && !*log)
    throw Error(LINATTN_ERROR_UNSUPPORTED,
                description->name + ": compiled for " + description->target +
                    (ptx.empty() ? " without PTX" : "") + ", got " + device);
  if (result != cuda::Success)
    throw Error(result == cuda::InvalidPTX ||
                        result == cuda::UnsupportedPTXVersion ||
                        result == cuda::NoBinaryForGPU
                    ? LINATTN_ERROR_UNSUPPORTED
                    : LINATTN_ERROR_DRIVER,
                description->name + ": loading for " + device + ": " +
                    driver.describe(result) + (*log ? "\n" : "") + log);
  try {
    findKernels(driver, limits, code);
  } catch (const Error &) {
    driver.cuModuleUnload(code.module);
    throw;
  }
  return code;
}

/// Those of all launches, checked against what the device has.
void Function::findKernels(Driver &driver, const DeviceLimits &limits,
                           LoadedCode &code) const {
  for (const Launch &launch : description->launches) {
    cuda::Function kernel = nullptr;
    cuda::Result result =
        driver.cuModuleGetFunction(&kernel, code.module, launch.kernel.c_str());
    if (result == cuda::NotFound)
      throw Error(LINATTN_ERROR_ARTIFACT, description->name +
                                              ": the code has no kernel '" +
                                              launch.kernel + "'");
    driver.check(result, "cuModuleGetFunction");
    checkParameters(driver, launch, kernel);
    checkKernel(driver, limits, launch, kernel);
    code.kernels.push_back(kernel);
  }
}

/// The driver would read what is not there, if the code took other parameters
/// than the description says.
void Function::checkParameters(Driver &driver, const Launch &launch,
                               cuda::Function kernel) const {
  if (!driver.cuFuncGetParamInfo) // Before CUDA 12.4.
    return;
  auto refuse = [&](const std::string &message) {
    throw Error(LINATTN_ERROR_ARTIFACT, description->name + ": kernel '" +
                                            launch.kernel + "' " + message);
  };
  size_t count = 0, offset = 0, bytes = 0;
  for (; driver.cuFuncGetParamInfo(kernel, count, &offset, &bytes) ==
         cuda::Success;
       ++count)
    if (count < launch.parameters.size() &&
        bytes != size_t(launch.parameters[count].bytes))
      refuse(text("takes ", bytes, " bytes as parameter ", count,
                  ", the description gives ", launch.parameters[count].bytes));
  // A driver that does not say is believed.
  if (count != 0 && count != launch.parameters.size())
    refuse(text("takes ", count, " parameters, the description gives ",
                launch.parameters.size()));
}

void Function::checkKernel(Driver &driver, const DeviceLimits &limits,
                           const Launch &launch, cuda::Function kernel) const {
  auto refuse = [&](const std::string &message) {
    throw Error(LINATTN_ERROR_UNSUPPORTED, description->name + ": kernel '" +
                                               launch.kernel + "' " + message);
  };
  auto get = [&](cuda::FunctionAttribute what) {
    int value = 0;
    LINATTN_DRIVER_CALL(driver, cuFuncGetAttribute, &value, what, kernel);
    return int64_t(value);
  };
  int64_t shared = get(cuda::FunctionSharedBytes) + launch.dynamicShared;
  if (shared > limits.sharedBytes)
    refuse(text("needs ", shared, " bytes of shared memory per block, ",
                limits.name, " allows ", limits.sharedBytes));
  int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads > limits.threads)
    refuse(text("has ", threads, " threads per block, ", limits.name,
                " allows ", limits.threads));
  int64_t most = get(cuda::FunctionMaxThreads);
  if (threads > most)
    refuse(text("has ", threads, " threads per block of ",
                get(cuda::FunctionRegisters), " registers, ", limits.name,
                " allows ", most, " such threads"));
  int64_t cluster = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  if (cluster > 1 && !limits.clusters)
    refuse(text("has clusters of ", cluster, " blocks, ", limits.name,
                " has no clusters"));
  if (launch.dynamicShared > 48 * 1024)
    LINATTN_DRIVER_CALL(driver, cuFuncSetAttribute, kernel,
                        cuda::FunctionMaxDynamicShared,
                        int(launch.dynamicShared));
  if (cluster > 8)
    LINATTN_DRIVER_CALL(driver, cuFuncSetAttribute, kernel,
                        cuda::FunctionNonPortableCluster, 1);
}

const LoadedCode &Function::load(Driver &driver, const CurrentDevice &device) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = loaded.find(device.context);
  if (it == loaded.end())
    it = loaded.emplace(device.context, loadModule(driver, *device.limits))
             .first;
  return it->second;
}

void Function::prepare() {
  Driver &driver = Driver::get();
  load(driver, driver.current());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Function::checkPointer(Driver &driver, const CurrentDevice &device,
                            const Binding &binding, const std::string &name,
                            const linattn_tensor &tensor) const {
  if (tensor.dtype == LINATTN_ABSENT || isEmpty(tensor))
    return;
  Extent extent = *extentOf(tensor);
  uint64_t base = reinterpret_cast<uint64_t>(tensor.data);
  // The first byte and the last one.
  for (uint64_t address : {base + extent.low, base + extent.high - 1}) {
    unsigned type = 0;
    bool known = driver.cuPointerGetAttribute(&type, cuda::PointerMemoryType,
                                              address) == cuda::Success &&
                 type != 0;
    bool first = address == base + extent.low;
    if (!known)
      binding.refuse(first ? text("'", name,
                                  "' lies in device memory, got the host's 0x",
                                  std::hex, address)
                           : text("'", name, "' lies in device memory, got 0x",
                                  std::hex, base + extent.low, " to 0x",
                                  address, " of which the end does not"));
    int ordinal = device.ordinal;
    if (driver.numDevices() > 1 && type == cuda::DeviceMemory &&
        driver.cuPointerGetAttribute(&ordinal, cuda::PointerDeviceOrdinal,
                                     address) == cuda::Success &&
        ordinal != device.ordinal)
      binding.refuse(text("'", name, "' lies on the device of the context, ",
                          device.ordinal, ", got device ", ordinal));
  }
}

void Function::checkPlacement(Driver &driver, const CurrentDevice &device,
                              const Binding &binding) const {
  binding.checkPointers();
  for (size_t i = 0; i < description->arguments.size(); ++i)
    checkPointer(driver, device, binding, description->arguments[i].name,
                 binding.tensor({Operand::Argument, int(i)}));
  for (size_t i = 0; i < description->results.size(); ++i)
    if (description->results[i].inPlace < 0)
      checkPointer(driver, device, binding, description->results[i].name,
                   binding.tensor({Operand::Result, int(i)}));
}

namespace {
/// Scratch memory of one call, in the order of its stream.
class StreamMemory {
public:
  StreamMemory(Driver &driver, cuda::Stream stream)
      : driver(driver), stream(stream) {}
  StreamMemory(const StreamMemory &) = delete;
  ~StreamMemory() {
    if (address)
      driver.cuMemFreeAsync(address, stream);
  }
  void *allocate(size_t bytes) {
    LINATTN_DRIVER_CALL(driver, cuMemAllocAsync, &address, bytes, stream);
    return reinterpret_cast<void *>(address);
  }

private:
  Driver &driver;
  cuda::Stream stream;
  cuda::DevicePtr address = 0;
};
} // namespace

/// The bits of one parameter other than a tensor map.
static uint64_t valueOf(const Binding &binding, const Parameter &parameter) {
  int64_t value = 0;
  std::string what;
  switch (parameter.kind) {
  case Parameter::Pointer:
    return binding.address(parameter.tensor);
  case Parameter::Constant:
    return parameter.constant;
  case Parameter::Stride: {
    if (binding.isAbsent(parameter.tensor))
      return 0;
    const linattn_tensor &tensor = binding.tensor(parameter.tensor);
    value = tensor.strides[parameter.dimension];
    if (parameter.inBytes)
      value *= int64_t(linattn_dtype_bytes(tensor.dtype));
    what = text("stride ", parameter.dimension, " of '",
                binding.description.nameOf(parameter.tensor), "'");
    break;
  }
  default:
    value = binding.evaluate(parameter.size);
    what = toString(parameter.size, binding.description.sizes);
  }
  if (parameter.bytes == 4) {
    bool fits = parameter.isSigned ? value == int32_t(value)
                                   : value == int64_t(uint32_t(value));
    if (!fits)
      binding.refuse(text(what, " fits 32 bits, got ", value));
  }
  return uint64_t(value);
}

void Function::launch(Driver &driver, const DeviceLimits &limits,
                      const Binding &binding, const Launch &launch,
                      cuda::Function kernel, cuda::Stream stream) const {
  int64_t grid[3];
  for (int i = 0; i < 3; ++i) {
    grid[i] = binding.evaluate(launch.grid[i]);
    if (grid[i] < 0 || grid[i] > limits.grid[i])
      binding.refuse(text("the grid of '", launch.kernel, "' has at most ",
                          limits.grid[i], " blocks along ", "xyz"[i], ", got ",
                          grid[i]));
    if (grid[i] % launch.cluster[i] != 0)
      binding.refuse(text(
          "the grid of '", launch.kernel, "' is a multiple of its cluster of ",
          launch.cluster[i], " along ", "xyz"[i], ", got ", grid[i]));
  }

  std::vector<uint64_t> words(launch.parameters.size());
  std::vector<cuda::TensorMap> maps(launch.maps.size());
  std::vector<void *> pointers(launch.parameters.size());
  for (size_t i = 0; i < launch.parameters.size(); ++i) {
    const Parameter &parameter = launch.parameters[i];
    if (parameter.kind == Parameter::TensorMap) {
      maps[parameter.map] =
          encodeTensorMap(driver, binding, launch.maps[parameter.map]);
      pointers[i] = &maps[parameter.map];
    } else {
      words[i] = valueOf(binding, parameter);
      pointers[i] = &words[i];
    }
  }
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return;

  cuda::LaunchAttribute cluster = {};
  cluster.id = cuda::LaunchAttribute::ClusterDimension;
  cluster.value.cluster = {unsigned(launch.cluster[0]),
                           unsigned(launch.cluster[1]),
                           unsigned(launch.cluster[2])};
  cuda::LaunchConfig config = {};
  config.gridX = unsigned(grid[0]);
  config.gridY = unsigned(grid[1]);
  config.gridZ = unsigned(grid[2]);
  config.blockX = unsigned(launch.block[0]);
  config.blockY = unsigned(launch.block[1]);
  config.blockZ = unsigned(launch.block[2]);
  config.sharedBytes = unsigned(launch.dynamicShared);
  config.stream = stream;
  if (launch.cluster != Triple{1, 1, 1}) {
    config.attributes = &cluster;
    config.numAttributes = 1;
  }
  cuda::Result result =
      driver.cuLaunchKernelEx(&config, kernel, pointers.data(), nullptr);
  if (result != cuda::Success)
    throw Error(LINATTN_ERROR_DRIVER, description->name + ": launching '" +
                                          launch.kernel +
                                          "': " + driver.describe(result));
}

void Function::call(const linattn_tensor *arguments, int32_t numArguments,
                    const linattn_tensor *results, int32_t numResults,
                    const linattn_workspace *workspace, cuda::Stream stream) {
  // What needs no device comes first.
  Binding binding(*description);
  binding.bindArguments(arguments, numArguments);
  binding.bindResults(results, numResults);

  Driver &driver = Driver::get();
  CurrentDevice device = driver.current();
  binding.setMultiprocessors(device.limits->multiprocessors);
  checkPlacement(driver, device, binding);
  size_t bytes = binding.layOutWorkspace();
  if (workspace) {
    binding.checkWorkspace(*workspace, bytes);
    binding.bindWorkspace(workspace->data);
  }
  const LoadedCode &code = load(driver, device);
  StreamMemory memory(driver, stream);
  if (bytes && !workspace)
    binding.bindWorkspace(memory.allocate(bytes));
  for (size_t i = 0; i < description->launches.size(); ++i)
    launch(driver, *device.limits, binding, description->launches[i],
           code.kernels[i], stream);
}
