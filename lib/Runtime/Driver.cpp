//===- Driver.cpp - libcuda, opened at run time ---------------------------===//

#include "linattn/Runtime/Driver.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace linattn;
using namespace linattn::runtime;

static std::mutex instanceMutex;
static std::unique_ptr<Driver> instance;
static void *(*givenLookup)(const char *name);

Driver &Driver::get() {
  std::lock_guard<std::mutex> lock(instanceMutex);
  if (!instance)
    instance.reset(new Driver(givenLookup));
  return *instance;
}

void Driver::use(void *(*lookup)(const char *name)) {
  std::lock_guard<std::mutex> lock(instanceMutex);
  givenLookup = lookup;
  instance.reset();
}

void Driver::bind(Lookup lookup, void *library, const std::string &origin) {
  auto find = [&](const char *name) {
    return lookup ? lookup(name) : dlsym(library, name);
  };
  auto assign = [&](auto &function, const char *name, bool needed) {
    void *address = find(name);
    if (!address && needed)
      throw Error(LINATTN_ERROR_NO_DEVICE,
                  origin + " has no " + name +
                      ": a driver of CUDA 12.0 or newer has it");
    std::memcpy(&function, &address, sizeof(address));
  };
#define LINATTN_NEEDED(name, parameters) assign(name, #name, true);
#define LINATTN_OPTIONAL(name, parameters) assign(name, #name, false);
  LINATTN_DRIVER_FUNCTIONS(LINATTN_NEEDED)
  LINATTN_DRIVER_OPTIONAL_FUNCTIONS(LINATTN_OPTIONAL)
#undef LINATTN_NEEDED
#undef LINATTN_OPTIONAL
}

Driver::Driver(Lookup lookup) {
  void *library = nullptr;
  std::string origin = "the driver in use";
  if (!lookup) {
    const char *named = std::getenv("LINATTN_LIBCUDA");
    origin = named && *named ? named : "libcuda.so.1";
    // Never closed: the driver does not like to be unloaded.
    library = dlopen(origin.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      throw Error(LINATTN_ERROR_NO_DEVICE,
                  std::string("no NVIDIA driver: ") + dlerror());
  }
  bind(lookup, library, origin);
  if (cuda::Result code = cuInit(0))
    throw Error(LINATTN_ERROR_NO_DEVICE,
                "the NVIDIA driver finds no GPU: " + describe(code));
  check(cuDeviceGetCount(&deviceCount), "cuDeviceGetCount");
  if (deviceCount == 0)
    throw Error(LINATTN_ERROR_NO_DEVICE, "the NVIDIA driver finds no GPU");
  check(cuDriverGetVersion(&driverVersion), "cuDriverGetVersion");
}

std::string Driver::describe(cuda::Result code) const {
  const char *name = nullptr, *what = nullptr;
  if (cuGetErrorName(code, &name) || !name)
    name = "unknown error";
  if (cuGetErrorString(code, &what) || !what)
    what = "";
  return text(name, " (", code, "), ", what);
}

void Driver::check(cuda::Result code, const char *what) const {
  if (code == cuda::Success)
    return;
  throw Error(code == cuda::NoDevice ? LINATTN_ERROR_NO_DEVICE
                                     : LINATTN_ERROR_DRIVER,
              text(what, ": ", describe(code)));
}

const DeviceLimits &Driver::limitsOf(int ordinal) {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<DeviceLimits> &known = limits[ordinal];
  if (known)
    return *known;
  cuda::Device device;
  check(cuDeviceGet(&device, ordinal), "cuDeviceGet");
  auto found = std::make_unique<DeviceLimits>();
  char name[128] = {};
  check(cuDeviceGetName(name, sizeof(name) - 1, device), "cuDeviceGetName");
  found->name = name;
  auto get = [&](cuda::DeviceAttribute what) {
    int value = 0;
    check(cuDeviceGetAttribute(&value, what, device), "cuDeviceGetAttribute");
    return value;
  };
  found->major = get(cuda::ComputeMajor);
  found->minor = get(cuda::ComputeMinor);
  found->multiprocessors = get(cuda::MultiprocessorCount);
  found->sharedBytes = get(cuda::MaxSharedPerBlockOptin);
  found->threads = get(cuda::MaxThreadsPerBlock);
  found->grid[0] = get(cuda::MaxGridX);
  found->grid[1] = get(cuda::MaxGridY);
  found->grid[2] = get(cuda::MaxGridZ);
  found->clusters = found->major >= 9 && get(cuda::ClusterLaunch);
  known = std::move(found);
  return *known;
}

CurrentDevice Driver::current() {
  cuda::Context context = nullptr;
  check(cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (!context) {
    cuda::Device first;
    check(cuDeviceGet(&first, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, first),
          "cuDevicePrimaryCtxRetain");
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  }
  CurrentDevice result;
  check(cuCtxGetDevice(&result.ordinal), "cuCtxGetDevice");
  unsigned long long id = reinterpret_cast<uintptr_t>(context);
  if (cuCtxGetId)
    check(cuCtxGetId(context, &id), "cuCtxGetId");
  result.context = id;
  result.limits = &limitsOf(result.ordinal);
  return result;
}
