//===- SimulatedDriver.cpp - the CUDA driver over the simulator -----------===//
//
// Compiled twice: into a library for linattn-run, and with
// LINATTN_SIMULATED_LIBCUDA into a shared library that stands in for libcuda in
// tests, whose device the environment describes:
//   LINATTN_SIM_CAPABILITY  9.0
//   LINATTN_SIM_SHARED      bytes of shared memory per block
//   LINATTN_SIM_DEVICES     how many there are
//   LINATTN_SIM_LOG         a file that gets the name of each call
//
//===----------------------------------------------------------------------===//

#include "linattn/Simulator/SimulatedDriver.h"
#include "linattn/Runtime/DriverTypes.h"
#include "linattn/Simulator/Simulator.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

using namespace linattn;
using namespace linattn::cuda;

#ifdef LINATTN_SIMULATED_LIBCUDA
#define LINATTN_DRIVER(name)                                                   \
  extern "C" __attribute__((visibility("default"))) Result name
#else
#define LINATTN_DRIVER(name) static Result name
#endif

namespace linattn::cuda {
struct ContextObject {
  int device = 0;
};
struct ModuleObject {
  sim::Module *module = nullptr;
};
struct FunctionObject {
  sim::Module *module = nullptr;
  std::string name;
  sim::KernelInfo info;
  int maxDynamicShared = 48 * 1024;
};
struct EventObject {
  std::chrono::steady_clock::time_point time;
};
} // namespace linattn::cuda

namespace {
/// All that the process has on its simulated devices.
struct State {
  std::mutex mutex;
  sim::SimulatedDevice device;
  sim::Simulator simulator;
  std::map<uint64_t, uint64_t> allocations; ///< address to bytes
  std::map<int, ContextObject> contexts;
  std::map<std::pair<sim::Module *, std::string>, FunctionObject> functions;
  std::string nextName, lastFault;
  std::FILE *log = nullptr;

  void enter(const char *name) {
    if (log) {
      std::fprintf(log, "%s\n", name);
      std::fflush(log);
    }
  }

  /// The allocation that holds an address.
  bool isDevice(uint64_t address) const {
    auto it = allocations.upper_bound(address);
    return it != allocations.begin() &&
           address - std::prev(it)->first < std::prev(it)->second;
  }

  Result fault(llvm::Error error, Result code) {
    lastFault = llvm::toString(std::move(error));
    return code;
  }
};
} // namespace

static State &state() {
  static State instance;
  return instance;
}

static thread_local ContextObject *currentContext;

/// One call at a time, and its name in the log.
#define LINATTN_ENTER()                                                        \
  State &s = state();                                                          \
  std::lock_guard<std::mutex> lock(s.mutex);                                   \
  s.enter(__func__)

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

LINATTN_DRIVER(cuInit)(unsigned) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (const char *text = std::getenv("LINATTN_SIM_MAX_INSTRUCTIONS"))
    if (llvm::StringRef(text).getAsInteger(10, s.device.maxWarpInstructions))
      return InvalidValue;
#ifdef LINATTN_SIMULATED_LIBCUDA
  if (const char *text = std::getenv("LINATTN_SIM_CAPABILITY"))
    std::sscanf(text, "%d.%d", &s.device.major, &s.device.minor);
  if (const char *text = std::getenv("LINATTN_SIM_SHARED"))
    s.device.sharedBytes = std::atoi(text);
  if (const char *text = std::getenv("LINATTN_SIM_DEVICES"))
    s.device.count = std::atoi(text);
  if (const char *text = std::getenv("LINATTN_SIM_LOG"))
    s.log = std::fopen(text, "w");
#endif
  return s.device.count ? Success : NoDevice;
}

LINATTN_DRIVER(cuDriverGetVersion)(int *version) {
  *version = 13000;
  return Success;
}

LINATTN_DRIVER(cuGetErrorName)(Result error, const char **text) {
  switch (error) {
  case InvalidValue:
    *text = "CUDA_ERROR_INVALID_VALUE";
    return Success;
  case OutOfMemory:
    *text = "CUDA_ERROR_OUT_OF_MEMORY";
    return Success;
  case NoDevice:
    *text = "CUDA_ERROR_NO_DEVICE";
    return Success;
  case NoBinaryForGPU:
    *text = "CUDA_ERROR_NO_BINARY_FOR_GPU";
    return Success;
  case InvalidPTX:
    *text = "CUDA_ERROR_INVALID_PTX";
    return Success;
  case NotFound:
    *text = "CUDA_ERROR_NOT_FOUND";
    return Success;
  case LaunchFailed:
    *text = "CUDA_ERROR_LAUNCH_FAILED";
    return Success;
  default:
    *text = nullptr;
    return InvalidValue;
  }
}

LINATTN_DRIVER(cuGetErrorString)(Result error, const char **text) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  *text = error == NoDevice ? "no CUDA-capable device is detected"
                            : s.lastFault.c_str();
  return Success;
}

LINATTN_DRIVER(cuDeviceGetCount)(int *count) {
  *count = state().device.count;
  return Success;
}

LINATTN_DRIVER(cuDeviceGet)(Device *device, int ordinal) {
  if (ordinal < 0 || ordinal >= state().device.count)
    return InvalidDevice;
  *device = ordinal;
  return Success;
}

LINATTN_DRIVER(cuDeviceGetName)(char *name, int bytes, Device) {
  std::snprintf(name, bytes, "%s", state().device.name.c_str());
  return Success;
}

LINATTN_DRIVER(cuDeviceGetAttribute)
(int *value, DeviceAttribute what, Device) {
  const sim::SimulatedDevice &device = state().device;
  switch (what) {
  case MaxThreadsPerBlock:
    *value = 1024;
    return Success;
  case MaxGridX:
    *value = INT32_MAX;
    return Success;
  case MaxGridY:
  case MaxGridZ:
    *value = 65535;
    return Success;
  case MaxSharedPerBlock:
    *value = 48 * 1024;
    return Success;
  case MultiprocessorCount:
    *value = device.multiprocessors;
    return Success;
  case ComputeMajor:
    *value = device.major;
    return Success;
  case ComputeMinor:
    *value = device.minor;
    return Success;
  case MaxSharedPerBlockOptin:
    *value = device.sharedBytes;
    return Success;
  case ClusterLaunch:
    *value = device.major >= 9;
    return Success;
  }
  return InvalidValue;
}

LINATTN_DRIVER(cuDevicePrimaryCtxRetain)(Context *context, Device device) {
  LINATTN_ENTER();
  *context = &s.contexts[device];
  (*context)->device = device;
  return Success;
}

LINATTN_DRIVER(cuCtxGetCurrent)(Context *context) {
  *context = currentContext;
  return Success;
}

LINATTN_DRIVER(cuCtxSetCurrent)(Context context) {
  currentContext = context;
  return Success;
}

LINATTN_DRIVER(cuCtxGetDevice)(Device *device) {
  if (!currentContext)
    return InvalidContext;
  *device = currentContext->device;
  return Success;
}

LINATTN_DRIVER(cuCtxGetId)(Context context, unsigned long long *id) {
  *id = context->device + 1;
  return Success;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

LINATTN_DRIVER(cuModuleLoadDataEx)
(CodeModule *module, const void *image, unsigned numOptions, JitOption *options,
 void **values) {
  LINATTN_ENTER();
  llvm::StringRef text(static_cast<const char *>(image));
  if (text.starts_with("\x7f"
                       "ELF"))
    return NoBinaryForGPU;
  llvm::Expected<sim::Module *> loaded = s.simulator.load(text, "module.ptx");
  if (!loaded) {
    Result code = s.fault(loaded.takeError(), InvalidPTX);
    char *log = nullptr;
    size_t bytes = 0;
    for (unsigned i = 0; i < numOptions; ++i) {
      if (options[i] == JitErrorLog)
        log = static_cast<char *>(values[i]);
      if (options[i] == JitErrorLogBytes)
        bytes = reinterpret_cast<size_t>(values[i]);
    }
    if (log && bytes)
      std::snprintf(log, bytes, "%s", s.lastFault.c_str());
    return code;
  }
  *module = new ModuleObject{*loaded};
  return Success;
}

LINATTN_DRIVER(cuModuleUnload)(CodeModule module) {
  LINATTN_ENTER();
  delete module; // The code itself lives as long as the simulator.
  return Success;
}

LINATTN_DRIVER(cuModuleGetFunction)
(Function *function, CodeModule module, const char *name) {
  LINATTN_ENTER();
  llvm::Expected<sim::KernelInfo> info =
      s.simulator.kernelInfo(*module->module, name);
  if (!info)
    return s.fault(info.takeError(), NotFound);
  FunctionObject &object = s.functions[{module->module, name}];
  object = {module->module, name, std::move(*info)};
  *function = &object;
  return Success;
}

LINATTN_DRIVER(cuFuncGetAttribute)
(int *value, FunctionAttribute what, Function function) {
  LINATTN_ENTER();
  switch (what) {
  case FunctionMaxThreads: {
    uint64_t required = function->info.requiredBlock.count();
    *value = required ? int(required) : 1024;
    return Success;
  }
  case FunctionSharedBytes:
    *value = int(function->info.staticSharedBytes);
    return Success;
  case FunctionRegisters:
    *value = 0;
    return Success;
  case FunctionMaxDynamicShared:
    *value = function->maxDynamicShared;
    return Success;
  case FunctionNonPortableCluster:
    *value = 0;
    return Success;
  }
  return InvalidValue;
}

LINATTN_DRIVER(cuFuncGetParamInfo)
(Function function, size_t index, size_t *offset, size_t *bytes) {
  LINATTN_ENTER();
  const auto &parameters = function->info.parameters;
  if (index >= parameters.size())
    return InvalidValue;
  size_t end = 0;
  for (size_t i = 0; i <= index; ++i) {
    *offset = (end + parameters[i].align - 1) / parameters[i].align *
              parameters[i].align;
    end = *offset + parameters[i].bytes;
  }
  *bytes = parameters[index].bytes;
  return Success;
}

LINATTN_DRIVER(cuFuncSetAttribute)
(Function function, FunctionAttribute what, int value) {
  LINATTN_ENTER();
  if (what == FunctionMaxDynamicShared) {
    if (value + int(function->info.staticSharedBytes) > s.device.sharedBytes)
      return InvalidValue;
    function->maxDynamicShared = value;
  }
  return Success;
}

LINATTN_DRIVER(cuLaunchKernelEx)
(const LaunchConfig *config, Function function, void **parameters, void **) {
  LINATTN_ENTER();
  if (int64_t(config->sharedBytes) > function->maxDynamicShared) {
    s.lastFault = "more dynamic shared memory than the function's attribute";
    return InvalidValue;
  }
  std::vector<sim::Argument> arguments;
  for (const sim::ParameterInfo &info : function->info.parameters) {
    const auto *bytes = static_cast<const uint8_t *>(*parameters++);
    arguments.push_back({{bytes, bytes + info.bytes}});
  }
  sim::LaunchConfig launch;
  launch.grid = {config->gridX, config->gridY, config->gridZ};
  launch.block = {config->blockX, config->blockY, config->blockZ};
  launch.dynamicSharedBytes = config->sharedBytes;
  for (unsigned i = 0; i < config->numAttributes; ++i)
    if (config->attributes[i].id == LaunchAttribute::ClusterDimension) {
      const auto &cluster = config->attributes[i].value.cluster;
      launch.cluster = {cluster.x, cluster.y, cluster.z};
    }
  sim::LaunchOptions options;
  options.threads = s.device.threads;
  options.maxWarpInstructions = s.device.maxWarpInstructions;
  llvm::Expected<sim::Report> report = s.simulator.launch(
      *function->module, function->name, launch, arguments, options);
  if (!report)
    return s.fault(report.takeError(), InvalidValue);
  if (!report->clean()) {
    s.lastFault = "the simulator found in '" + function->name + "':\n";
    llvm::raw_string_ostream stream(s.lastFault);
    report->printFindings(stream);
    return LaunchFailed;
  }
  return Success;
}

LINATTN_DRIVER(cuTensorMapEncodeTiled)
(TensorMap *result, TensorMapType type, uint32_t rank, void *address,
 const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
 const uint32_t *elementStrides, int interleave, int swizzle, int, int fill) {
  LINATTN_ENTER();
  sim::TensorMap map;
  map.type = sim::TensorMapType(type);
  map.interleave = sim::TensorMapInterleave(interleave);
  map.swizzle = sim::TensorMapSwizzle(swizzle);
  map.fill = sim::TensorMapFill(fill);
  map.rank = uint8_t(rank);
  map.address = reinterpret_cast<uint64_t>(address);
  for (uint32_t i = 0; i < rank && i < 5; ++i) {
    map.dims[i] = sizes[i];
    map.box[i] = box[i];
    map.elementStrides[i] = elementStrides[i];
    if (i > 0)
      map.strides[i - 1] = strides[i - 1];
  }
  llvm::Expected<sim::TensorMapHandle> handle = sim::encodeTensorMap(map);
  if (!handle)
    return s.fault(handle.takeError(), InvalidValue);
  static_assert(sizeof(*handle) == sizeof(*result));
  std::memcpy(static_cast<void *>(result), handle->data(), sizeof(*result));
  return Success;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LINATTN_DRIVER(cuPointerGetAttribute)
(void *value, PointerAttribute what, DevicePtr address) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  if (!s.isDevice(address))
    return InvalidValue;
  if (what == PointerMemoryType)
    *static_cast<unsigned *>(value) = DeviceMemory;
  else
    *static_cast<int *>(value) = 0;
  return Success;
}

static Result allocate(State &s, DevicePtr *address, size_t bytes) {
  if (bytes == 0)
    return InvalidValue;
  std::string name = std::move(s.nextName);
  s.nextName.clear();
  if (name.empty())
    name = "an allocation of " + std::to_string(bytes) + " bytes";
  llvm::Expected<uint64_t> allocated = s.simulator.allocate(bytes, name);
  if (!allocated)
    return s.fault(allocated.takeError(), OutOfMemory);
  s.allocations[*allocated] = bytes;
  *address = *allocated;
  return Success;
}

static Result release(State &s, DevicePtr address) {
  if (!s.allocations.erase(address))
    return InvalidValue;
  if (llvm::Error error = s.simulator.release(address))
    return s.fault(std::move(error), InvalidValue);
  return Success;
}

LINATTN_DRIVER(cuMemAlloc_v2)(DevicePtr *address, size_t bytes) {
  LINATTN_ENTER();
  return allocate(s, address, bytes);
}

LINATTN_DRIVER(cuMemFree_v2)(DevicePtr address) {
  LINATTN_ENTER();
  return release(s, address);
}

LINATTN_DRIVER(cuMemAllocAsync)(DevicePtr *address, size_t bytes, Stream) {
  LINATTN_ENTER();
  return allocate(s, address, bytes);
}

LINATTN_DRIVER(cuMemFreeAsync)(DevicePtr address, Stream) {
  LINATTN_ENTER();
  return release(s, address);
}

LINATTN_DRIVER(cuMemcpyHtoDAsync_v2)
(DevicePtr target, const void *source, size_t bytes, Stream) {
  LINATTN_ENTER();
  if (llvm::Error error = s.simulator.upload(
          target, {static_cast<const uint8_t *>(source), bytes}))
    return s.fault(std::move(error), InvalidValue);
  return Success;
}

LINATTN_DRIVER(cuMemcpyDtoHAsync_v2)
(void *target, DevicePtr source, size_t bytes, Stream) {
  LINATTN_ENTER();
  if (llvm::Error error =
          s.simulator.download(source, {static_cast<uint8_t *>(target), bytes}))
    return s.fault(std::move(error), InvalidValue);
  return Success;
}

//===----------------------------------------------------------------------===//
// Streams and events: everything is done already
//===----------------------------------------------------------------------===//

LINATTN_DRIVER(cuStreamSynchronize)(Stream) {
  LINATTN_ENTER();
  return Success;
}

LINATTN_DRIVER(cuEventCreate)(Event *event, unsigned) {
  LINATTN_ENTER();
  *event = new EventObject;
  return Success;
}

LINATTN_DRIVER(cuEventRecord)(Event event, Stream) {
  LINATTN_ENTER();
  event->time = std::chrono::steady_clock::now();
  return Success;
}

LINATTN_DRIVER(cuEventSynchronize)(Event) {
  LINATTN_ENTER();
  return Success;
}

LINATTN_DRIVER(cuEventElapsedTime)
(float *milliseconds, Event start, Event stop) {
  LINATTN_ENTER();
  std::chrono::duration<float, std::milli> time = stop->time - start->time;
  *milliseconds = time.count();
  return Success;
}

LINATTN_DRIVER(cuEventDestroy_v2)(Event event) {
  LINATTN_ENTER();
  delete event;
  return Success;
}

//===----------------------------------------------------------------------===//
// For linattn-run
//===----------------------------------------------------------------------===//

#ifndef LINATTN_SIMULATED_LIBCUDA
void sim::setSimulatedDevice(const SimulatedDevice &device) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.device = device;
}

void sim::nameNextAllocation(const std::string &name) {
  State &s = state();
  std::lock_guard<std::mutex> lock(s.mutex);
  s.nextName = name;
}

void *sim::lookUpSimulatedDriver(const char *name) {
  static const std::map<std::string, void *> table = {
#define LINATTN_ENTRY(name, parameters)                                        \
  {#name, reinterpret_cast<void *>(&name)},
      LINATTN_DRIVER_FUNCTIONS(LINATTN_ENTRY)
          LINATTN_DRIVER_OPTIONAL_FUNCTIONS(LINATTN_ENTRY)
#undef LINATTN_ENTRY
  };
  auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}
#endif
