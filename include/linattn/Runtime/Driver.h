//===- Driver.h - libcuda, opened at run time -------------------*- C++ -*-===//

#ifndef LINATTN_RUNTIME_DRIVER_H
#define LINATTN_RUNTIME_DRIVER_H

#include "linattn/Runtime/DriverTypes.h"
#include "linattn/Runtime/Error.h"

#include <map>
#include <memory>
#include <mutex>

namespace linattn::runtime {

/// What a launch needs to know of a device.
struct DeviceLimits {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  int sharedBytes = 0; ///< per block, at most
  int threads = 0;     ///< per block
  int grid[3] = {0, 0, 0};
  bool clusters = false;
};

/// The context in which a call happens.
struct CurrentDevice {
  int ordinal = 0;
  /// Of the context, never used twice.
  uint64_t context = 0;
  const DeviceLimits *limits = nullptr;
};

class Driver : public cuda::DriverFunctions {
public:
  /// Opens it at the first call. Throws an Error of status NO_DEVICE.
  static Driver &get();
  /// See linattn_use_driver.
  static void use(void *(*lookup)(const char *name));

  /// The current context, after making the primary one of device 0 current if
  /// there is none.
  CurrentDevice current();

  /// Throws unless `code` is success; `what` is the call.
  void check(cuda::Result code, const char *what) const;
  std::string describe(cuda::Result code) const;
  int version() const { return driverVersion; }
  int numDevices() const { return deviceCount; }

private:
  using Lookup = void *(*)(const char *name);

  explicit Driver(Lookup lookup);
  void bind(Lookup lookup, void *library, const std::string &origin);
  const DeviceLimits &limitsOf(int ordinal);

  int driverVersion = 0, deviceCount = 0;
  std::mutex mutex;
  std::map<int, std::unique_ptr<DeviceLimits>> limits; ///< by ordinal
};

} // namespace linattn::runtime

#define LINATTN_DRIVER_CALL(driver, name, ...)                                 \
  (driver).check((driver).name(__VA_ARGS__), #name)

#endif // LINATTN_RUNTIME_DRIVER_H
