//===- Artifacts.h - small artifacts for the tests of the runtime ---------===//

#ifndef LINATTN_UNITTESTS_RUNTIME_ARTIFACTS_H
#define LINATTN_UNITTESTS_RUNTIME_ARTIFACTS_H

#include "linattn-c/Runtime.h"
#include "linattn/Simulator/SimulatedDriver.h"

#include <cstring>
#include <string>
#include <vector>

namespace linattn::testing {

/// Puts a simulated device behind the runtime.
inline void useDevice(const sim::SimulatedDevice &device = {}) {
  sim::setSimulatedDevice(device);
  linattn_use_driver(sim::lookUpSimulatedDriver);
}

/// "" or what is wrong.
inline std::string message(linattn_status status) {
  return status == LINATTN_OK ? "" : linattn_last_error();
}

/// One function from memory.
class Loaded {
public:
  Loaded(const std::string &json, const std::string &ptx,
         const std::string &cubin = "")
      : error(message(linattn_load_memory(json.data(), json.size(),
                                          cubin.data(), cubin.size(),
                                          ptx.data(), ptx.size(), &artifact))) {
  }
  Loaded(const Loaded &) = delete;
  ~Loaded() { linattn_release(artifact); }
  linattn_function *function() const {
    return linattn_function_at(artifact, 0);
  }

private:
  linattn_artifact *artifact = nullptr;

public:
  std::string error;
};

/// Device memory of some elements.
class Memory {
public:
  explicit Memory(size_t bytes) : bytes(bytes) {
    linattn_allocate(bytes, &data);
  }
  template <typename T>
  explicit Memory(const std::vector<T> &values)
      : Memory(values.size() * sizeof(T)) {
    linattn_upload(data, values.data(), bytes, nullptr);
  }
  Memory(const Memory &) = delete;
  ~Memory() { linattn_free(data); }
  template <typename T> std::vector<T> read() const {
    std::vector<T> values(bytes / sizeof(T));
    linattn_download(values.data(), data, bytes, nullptr);
    return values;
  }

  void *data = nullptr;
  size_t bytes;
};

inline linattn_tensor tensor(void *data, linattn_dtype dtype,
                             const std::vector<int64_t> &sizes) {
  return linattn_make_tensor(data, dtype, int32_t(sizes.size()), sizes.data());
}

/// `text` with its first `from` replaced.
inline std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  return at == std::string::npos ? "no '" + from + "' here"
                                 : text.replace(at, from.size(), to);
}

} // namespace linattn::testing

#endif // LINATTN_UNITTESTS_RUNTIME_ARTIFACTS_H
