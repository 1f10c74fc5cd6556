//===- CAPI.cpp - the C functions -----------------------------------------===//

#include "linattn/Runtime/Function.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

using namespace linattn;
using namespace linattn::runtime;

struct linattn_function : Function {
  using Function::Function;
};
struct linattn_artifact {
  std::vector<std::unique_ptr<linattn_function>> functions;
};
struct linattn_timer {
  cuda::Event start = nullptr, stop = nullptr;
};

static thread_local std::string lastError;

/// Runs `body`; what it throws becomes a status.
template <typename Body> static linattn_status guarded(Body body) noexcept {
  try {
    body();
    return LINATTN_OK;
  } catch (const Error &error) {
    lastError = error.what();
    return error.status;
  } catch (const std::bad_alloc &) {
    lastError = "out of host memory";
  } catch (const std::exception &error) {
    lastError = error.what();
  }
  return LINATTN_ERROR_INTERNAL;
}

const char *linattn_last_error(void) { return lastError.c_str(); }

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

linattn_tensor linattn_make_tensor(void *data, linattn_dtype dtype,
                                   int32_t rank, const int64_t *sizes) {
  linattn_tensor tensor = {};
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = rank;
  int64_t stride = 1;
  for (int32_t i = std::min(rank, LINATTN_MAX_RANK) - 1; i >= 0; --i) {
    tensor.sizes[i] = sizes[i];
    tensor.strides[i] = stride;
    // A product beyond 64 bits is refused when the tensor is used.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[i], 1), &stride))
      stride = INT64_MAX;
  }
  return tensor;
}

size_t linattn_tensor_bytes(const linattn_tensor *tensor) {
  std::optional<Extent> extent = extentOf(*tensor);
  return extent ? size_t(extent->high - extent->low) : SIZE_MAX;
}

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

static std::string readFile(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::string bytes;
  if (stream)
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  if (!stream || stream.bad())
    throw Error(LINATTN_ERROR_ARTIFACT,
                path.string() + ": cannot be read: " + std::strerror(errno));
  return bytes;
}

/// Null if `optional` and the file is something else.
static std::unique_ptr<linattn_function>
loadFunction(const std::filesystem::path &path, bool optional) {
  std::string json = readFile(path);
  if (optional && !isDescription(json))
    return nullptr;
  std::unique_ptr<Description> description =
      parseDescription(std::move(json), path.string());
  std::string cubin, ptx;
  if (!description->cubinFile.empty())
    cubin = readFile(path.parent_path() / description->cubinFile);
  if (!description->ptxFile.empty()) {
    // With a cubin the PTX is for other devices only: it may be left away.
    std::filesystem::path file = path.parent_path() / description->ptxFile;
    if (cubin.empty() || std::filesystem::exists(file))
      ptx = readFile(file);
  }
  if (cubin.empty() && ptx.empty())
    throw Error(LINATTN_ERROR_ARTIFACT,
                path.string() + ": names a cubin or PTX, got neither");
  return std::make_unique<linattn_function>(std::move(description),
                                            std::move(cubin), std::move(ptx));
}

linattn_status linattn_load(const char *path, linattn_artifact **artifact) {
  return guarded([&] {
    auto result = std::make_unique<linattn_artifact>();
    bool isFolder = std::filesystem::is_directory(path);
    std::vector<std::filesystem::path> files = {path};
    if (isFolder) {
      files.clear();
      for (const auto &entry : std::filesystem::directory_iterator(path))
        if (entry.path().extension() == ".json")
          files.push_back(entry.path());
      std::sort(files.begin(), files.end());
    }
    for (const std::filesystem::path &file : files)
      if (auto function = loadFunction(file, /*optional=*/isFolder))
        result->functions.push_back(std::move(function));
    if (result->functions.empty())
      throw Error(LINATTN_ERROR_ARTIFACT,
                  std::string(path) +
                      ": has a NAME.json of linattn-compile, got none");
    *artifact = result.release();
  });
}

linattn_status linattn_load_memory(const char *json, size_t jsonBytes,
                                   const void *cubin, size_t cubinBytes,
                                   const char *ptx, size_t ptxBytes,
                                   linattn_artifact **artifact) {
  return guarded([&] {
    auto copy = [](const void *data, size_t bytes) {
      return data ? std::string(static_cast<const char *>(data), bytes)
                  : std::string();
    };
    std::unique_ptr<Description> description =
        parseDescription(copy(json, jsonBytes), "the description");
    std::string code = copy(cubin, cubinBytes), text = copy(ptx, ptxBytes);
    while (!text.empty() && text.back() == '\0')
      text.pop_back();
    if (code.empty() && text.empty())
      throw Error(LINATTN_ERROR_ARTIFACT,
                  description->name + ": has a cubin or PTX, got neither");
    auto result = std::make_unique<linattn_artifact>();
    result->functions.push_back(std::make_unique<linattn_function>(
        std::move(description), std::move(code), std::move(text)));
    *artifact = result.release();
  });
}

void linattn_release(linattn_artifact *artifact) { delete artifact; }

int32_t linattn_num_functions(const linattn_artifact *artifact) {
  return int32_t(artifact->functions.size());
}

linattn_function *linattn_function_at(const linattn_artifact *artifact,
                                      int32_t i) {
  return i >= 0 && size_t(i) < artifact->functions.size()
             ? artifact->functions[i].get()
             : nullptr;
}

linattn_function *linattn_find(const linattn_artifact *artifact,
                               const char *name) {
  std::string names;
  for (const auto &function : artifact->functions) {
    const std::string &each = function->getDescription().name;
    if (each == name)
      return function.get();
    names += (names.empty() ? "" : ", ") + each;
  }
  lastError = text("the artifact has ", names, "; got '", name, "'");
  return nullptr;
}

const char *linattn_function_name(const linattn_function *function) {
  return function->getDescription().name.c_str();
}

const char *linattn_function_target(const linattn_function *function) {
  return function->getDescription().target.c_str();
}

const char *linattn_function_json(const linattn_function *function) {
  return function->getDescription().json.c_str();
}

int32_t linattn_num_arguments(const linattn_function *function) {
  return int32_t(function->getDescription().arguments.size());
}

int32_t linattn_num_results(const linattn_function *function) {
  return int32_t(function->getDescription().results.size());
}

static linattn_tensor_info infoOf(const std::vector<TensorDescription> &tensors,
                                  int32_t i) {
  linattn_tensor_info info = {};
  if (i < 0 || size_t(i) >= tensors.size())
    return info;
  const TensorDescription &tensor = tensors[i];
  info.name = tensor.name.c_str();
  info.role = tensor.role.c_str();
  info.shape = tensor.shapeText.c_str();
  info.dtype = tensor.dtype;
  info.rank = int32_t(tensor.shape.size());
  info.alignment = int32_t(tensor.alignment);
  info.optional = tensor.optional;
  info.in_place = tensor.inPlace;
  return info;
}

linattn_tensor_info linattn_argument_info(const linattn_function *function,
                                          int32_t i) {
  return infoOf(function->getDescription().arguments, i);
}

linattn_tensor_info linattn_result_info(const linattn_function *function,
                                        int32_t i) {
  return infoOf(function->getDescription().results, i);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

linattn_status linattn_infer_results(const linattn_function *function,
                                     const linattn_tensor *arguments,
                                     int32_t numArguments,
                                     linattn_tensor *results,
                                     int32_t numResults) {
  return guarded([&] {
    Binding binding(function->getDescription());
    binding.bindArguments(arguments, numArguments);
    binding.inferResults(results, numResults);
  });
}

linattn_status linattn_workspace_bytes(const linattn_function *function,
                                       const linattn_tensor *arguments,
                                       int32_t numArguments, size_t *bytes) {
  return guarded([&] {
    Binding binding(function->getDescription());
    binding.bindArguments(arguments, numArguments);
    const auto &names = function->getDescription().sizes;
    if (std::find(names.begin(), names.end(), kMultiprocessors) != names.end())
      binding.setMultiprocessors(
          Driver::get().current().limits->multiprocessors);
    *bytes = binding.layOutWorkspace();
  });
}

linattn_status linattn_call(linattn_function *function,
                            const linattn_tensor *arguments,
                            int32_t numArguments, const linattn_tensor *results,
                            int32_t numResults,
                            const linattn_workspace *workspace, void *stream) {
  return guarded([&] {
    function->call(arguments, numArguments, results, numResults, workspace,
                   static_cast<cuda::Stream>(stream));
  });
}

linattn_status linattn_prepare(linattn_function *function) {
  return guarded([&] { function->prepare(); });
}

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

/// Runs `body` on the driver with a current context.
template <typename Body> static linattn_status onDevice(Body body) noexcept {
  return guarded([&] {
    Driver &driver = Driver::get();
    driver.current();
    body(driver);
  });
}

static cuda::DevicePtr addressOf(const void *data) {
  return reinterpret_cast<cuda::DevicePtr>(data);
}

linattn_status linattn_get_device(linattn_device_info *info) {
  return guarded([&] {
    Driver &driver = Driver::get();
    const DeviceLimits &limits = *driver.current().limits;
    *info = {};
    limits.name.copy(info->name, sizeof(info->name) - 1);
    info->major = limits.major;
    info->minor = limits.minor;
    info->multiprocessors = limits.multiprocessors;
    info->shared_bytes = limits.sharedBytes;
    info->driver_version = driver.version();
  });
}

linattn_status linattn_allocate(size_t bytes, void **data) {
  return onDevice([&](Driver &driver) {
    cuda::DevicePtr address = 0;
    LINATTN_DRIVER_CALL(driver, cuMemAlloc_v2, &address,
                        std::max<size_t>(bytes, 1));
    *data = reinterpret_cast<void *>(address);
  });
}

linattn_status linattn_free(void *data) {
  if (!data)
    return LINATTN_OK;
  return onDevice([&](Driver &driver) {
    LINATTN_DRIVER_CALL(driver, cuMemFree_v2, addressOf(data));
  });
}

linattn_status linattn_upload(void *device, const void *host, size_t bytes,
                              void *stream) {
  return onDevice([&](Driver &driver) {
    auto on = static_cast<cuda::Stream>(stream);
    if (bytes)
      LINATTN_DRIVER_CALL(driver, cuMemcpyHtoDAsync_v2, addressOf(device), host,
                          bytes, on);
    LINATTN_DRIVER_CALL(driver, cuStreamSynchronize, on);
  });
}

linattn_status linattn_download(void *host, const void *device, size_t bytes,
                                void *stream) {
  return onDevice([&](Driver &driver) {
    auto on = static_cast<cuda::Stream>(stream);
    if (bytes)
      LINATTN_DRIVER_CALL(driver, cuMemcpyDtoHAsync_v2, host, addressOf(device),
                          bytes, on);
    LINATTN_DRIVER_CALL(driver, cuStreamSynchronize, on);
  });
}

linattn_status linattn_synchronize(void *stream) {
  return onDevice([&](Driver &driver) {
    LINATTN_DRIVER_CALL(driver, cuStreamSynchronize,
                        static_cast<cuda::Stream>(stream));
  });
}

linattn_status linattn_timer_create(linattn_timer **timer) {
  return onDevice([&](Driver &driver) {
    auto result = std::make_unique<linattn_timer>();
    LINATTN_DRIVER_CALL(driver, cuEventCreate, &result->start, 0);
    LINATTN_DRIVER_CALL(driver, cuEventCreate, &result->stop, 0);
    *timer = result.release();
  });
}

linattn_status linattn_timer_start(linattn_timer *timer, void *stream) {
  return onDevice([&](Driver &driver) {
    LINATTN_DRIVER_CALL(driver, cuEventRecord, timer->start,
                        static_cast<cuda::Stream>(stream));
  });
}

linattn_status linattn_timer_stop(linattn_timer *timer, void *stream) {
  return onDevice([&](Driver &driver) {
    LINATTN_DRIVER_CALL(driver, cuEventRecord, timer->stop,
                        static_cast<cuda::Stream>(stream));
  });
}

linattn_status linattn_timer_elapsed(linattn_timer *timer,
                                     double *milliseconds) {
  return onDevice([&](Driver &driver) {
    LINATTN_DRIVER_CALL(driver, cuEventSynchronize, timer->stop);
    float time = 0;
    LINATTN_DRIVER_CALL(driver, cuEventElapsedTime, &time, timer->start,
                        timer->stop);
    *milliseconds = time;
  });
}

void linattn_timer_destroy(linattn_timer *timer) {
  if (!timer)
    return;
  onDevice([&](Driver &driver) {
    driver.cuEventDestroy_v2(timer->start);
    driver.cuEventDestroy_v2(timer->stop);
  });
  delete timer;
}

void linattn_use_driver(void *(*lookup)(const char *name)) {
  Driver::use(lookup);
}
