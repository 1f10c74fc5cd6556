//===- DriverTypes.h - the part of the CUDA driver API in use ---*- C++ -*-===//
//
// Declared here, so that neither building nor running needs a CUDA toolkit.
// Names and numbers are the driver's.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNTIME_DRIVERTYPES_H
#define LINATTN_RUNTIME_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

namespace linattn::cuda {

using Result = int;
using Device = int;
using Context = struct ContextObject *;
using CodeModule = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using DevicePtr = uint64_t;

enum : Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGPU = 209,
  InvalidPTX = 218,
  UnsupportedPTXVersion = 222,
  InvalidHandle = 400,
  NotFound = 500,
  LaunchFailed = 719,
};

enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxGridX = 5,
  MaxGridY = 6,
  MaxGridZ = 7,
  MaxSharedPerBlock = 8,
  MultiprocessorCount = 16,
  ComputeMajor = 75,
  ComputeMinor = 76,
  MaxSharedPerBlockOptin = 97,
  ClusterLaunch = 120,
};

enum FunctionAttribute : int {
  FunctionMaxThreads = 0,
  FunctionSharedBytes = 1,
  FunctionRegisters = 4,
  FunctionMaxDynamicShared = 8,
  FunctionNonPortableCluster = 14,
};

enum PointerAttribute : int {
  PointerMemoryType = 2,
  PointerDeviceOrdinal = 9,
};

enum MemoryType : unsigned { HostMemory = 1, DeviceMemory = 2 };

enum JitOption : int { JitErrorLog = 5, JitErrorLogBytes = 6 };

struct LaunchAttribute {
  enum : int { ClusterDimension = 4 };
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};

struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ;
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

enum TensorMapType : int {
  MapU8 = 0,
  MapI32 = 3,
  MapI64 = 5,
  MapF16 = 6,
  MapF32 = 7,
  MapF64 = 8,
  MapBF16 = 9,
  MapTF32 = 11,
};

/// Name in the library, parameters.
#define LINATTN_DRIVER_FUNCTIONS(X)                                            \
  X(cuInit, (unsigned flags))                                                  \
  X(cuDriverGetVersion, (int *version))                                        \
  X(cuGetErrorName, (Result error, const char **text))                         \
  X(cuGetErrorString, (Result error, const char **text))                       \
  X(cuDeviceGetCount, (int *count))                                            \
  X(cuDeviceGet, (Device * device, int ordinal))                               \
  X(cuDeviceGetName, (char *name, int bytes, Device device))                   \
  X(cuDeviceGetAttribute, (int *value, DeviceAttribute what, Device device))   \
  X(cuDevicePrimaryCtxRetain, (Context * context, Device device))              \
  X(cuCtxGetCurrent, (Context * context))                                      \
  X(cuCtxSetCurrent, (Context context))                                        \
  X(cuCtxGetDevice, (Device * device))                                         \
  X(cuModuleLoadDataEx,                                                        \
    (CodeModule * module, const void *image, unsigned numOptions,              \
     JitOption *options, void **values))                                       \
  X(cuModuleUnload, (CodeModule module))                                       \
  X(cuModuleGetFunction,                                                       \
    (Function * function, CodeModule module, const char *name))                \
  X(cuFuncGetAttribute,                                                        \
    (int *value, FunctionAttribute what, Function function))                   \
  X(cuFuncSetAttribute,                                                        \
    (Function function, FunctionAttribute what, int value))                    \
  X(cuLaunchKernelEx, (const LaunchConfig *config, Function function,          \
                       void **parameters, void **extra))                       \
  X(cuPointerGetAttribute,                                                     \
    (void *value, PointerAttribute what, DevicePtr address))                   \
  X(cuMemAlloc_v2, (DevicePtr * address, size_t bytes))                        \
  X(cuMemFree_v2, (DevicePtr address))                                         \
  X(cuMemAllocAsync, (DevicePtr * address, size_t bytes, Stream stream))       \
  X(cuMemFreeAsync, (DevicePtr address, Stream stream))                        \
  X(cuMemcpyHtoDAsync_v2,                                                      \
    (DevicePtr target, const void *source, size_t bytes, Stream stream))       \
  X(cuMemcpyDtoHAsync_v2,                                                      \
    (void *target, DevicePtr source, size_t bytes, Stream stream))             \
  X(cuStreamSynchronize, (Stream stream))                                      \
  X(cuEventCreate, (Event * event, unsigned flags))                            \
  X(cuEventRecord, (Event event, Stream stream))                               \
  X(cuEventSynchronize, (Event event))                                         \
  X(cuEventElapsedTime, (float *milliseconds, Event start, Event stop))        \
  X(cuEventDestroy_v2, (Event event))

/// Of newer drivers: missing ones are null.
#define LINATTN_DRIVER_OPTIONAL_FUNCTIONS(X)                                   \
  X(cuCtxGetId, (Context context, unsigned long long *id))                     \
  X(cuFuncGetParamInfo,                                                        \
    (Function function, size_t index, size_t *offset, size_t *bytes))          \
  X(cuTensorMapEncodeTiled,                                                    \
    (TensorMap * map, TensorMapType type, uint32_t rank, void *address,        \
     const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,      \
     const uint32_t *elementStrides, int interleave, int swizzle,              \
     int promotion, int fill))

struct DriverFunctions {
#define LINATTN_DECLARE(name, parameters) Result(*name) parameters;
  LINATTN_DRIVER_FUNCTIONS(LINATTN_DECLARE)
  LINATTN_DRIVER_OPTIONAL_FUNCTIONS(LINATTN_DECLARE)
#undef LINATTN_DECLARE
};

} // namespace linattn::cuda

#endif // LINATTN_RUNTIME_DRIVERTYPES_H
