//===- linattn-c/Runtime.h - run compiled functions ---------------*- C -*-===//
//
// Runs on NVIDIA GPUs what linattn-compile wrote: NAME.json with NAME.cubin or
// NAME.ptx (docs/Artifacts.md). The library is all that a program needs beside
// the driver, which it opens when it is first called.
//
// Every function may be called from any thread. A function that can fail gives
// a status; linattn_last_error() says what was wrong: the operand, the rule,
// and what it got.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_C_RUNTIME_H
#define LINATTN_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(LINATTN_RUNTIME_BUILD)
#define LINATTN_API __attribute__((visibility("default")))
#else
#define LINATTN_API
#endif

/** Of the descriptions that this library reads ("version" in NAME.json). */
#define LINATTN_ARTIFACT_VERSION 1
#define LINATTN_MAX_RANK 8

typedef enum {
  LINATTN_OK = 0,
  LINATTN_ERROR_ARTIFACT = 1,    /**< a file is missing or malformed */
  LINATTN_ERROR_ARGUMENT = 2,    /**< an operand breaks a rule */
  LINATTN_ERROR_NO_DEVICE = 3,   /**< no driver or no GPU */
  LINATTN_ERROR_UNSUPPORTED = 4, /**< this GPU cannot run it */
  LINATTN_ERROR_DRIVER = 5,      /**< a call of the driver failed */
  LINATTN_ERROR_INTERNAL = 6     /**< out of host memory and the like */
} linattn_status;

/** What the last call of this thread that failed has to say. */
LINATTN_API const char *linattn_last_error(void);

//===- Tensors ----------------------------------------------------------===//

/** A number, not an enum, so that what a C program hands over may be checked.
 */
typedef int32_t linattn_dtype;
enum {
  LINATTN_ABSENT = 0, /**< an optional operand that is not given */
  LINATTN_F16 = 1,
  LINATTN_BF16 = 2,
  LINATTN_F32 = 3,
  LINATTN_F64 = 4,
  LINATTN_I32 = 5,
  LINATTN_I64 = 6,
  LINATTN_I8 = 7,
  LINATTN_U8 = 8
};

LINATTN_API size_t linattn_dtype_bytes(linattn_dtype dtype);
/** f16, bf16, f32, .. */
LINATTN_API const char *linattn_dtype_name(linattn_dtype dtype);

/** Device memory. Strides count elements; those of dimensions of size 1 do not
 * matter. All zeros: absent. */
typedef struct {
  void *data;
  linattn_dtype dtype;
  int32_t rank;
  int64_t sizes[LINATTN_MAX_RANK];
  int64_t strides[LINATTN_MAX_RANK];
} linattn_tensor;

/** A row-major tensor. */
LINATTN_API linattn_tensor linattn_make_tensor(void *data, linattn_dtype dtype,
                                               int32_t rank,
                                               const int64_t *sizes);
/** From the first to the last byte of the elements; SIZE_MAX if beyond. */
LINATTN_API size_t linattn_tensor_bytes(const linattn_tensor *tensor);

//===- Artifacts --------------------------------------------------------===//

/** Functions that were loaded together. */
typedef struct linattn_artifact linattn_artifact;
/** One of them; lives as long as its artifact. */
typedef struct linattn_function linattn_function;

/** A NAME.json, or a folder: all functions described in it; other files may lie
 * there too. Needs no GPU. */
LINATTN_API linattn_status linattn_load(const char *path,
                                        linattn_artifact **artifact);
/** One function from memory, which is copied. Of `cubin` and `ptx` one may be
 * NULL; `ptx` ends with a zero byte, that `ptx_bytes` may or may not count. */
LINATTN_API linattn_status linattn_load_memory(
    const char *json, size_t json_bytes, const void *cubin, size_t cubin_bytes,
    const char *ptx, size_t ptx_bytes, linattn_artifact **artifact);
/** No call of the artifact's functions may be under way. */
LINATTN_API void linattn_release(linattn_artifact *artifact);

LINATTN_API int32_t linattn_num_functions(const linattn_artifact *artifact);
LINATTN_API linattn_function *
linattn_function_at(const linattn_artifact *artifact, int32_t i);
/** NULL, and an error that lists the names, if there is none. */
LINATTN_API linattn_function *linattn_find(const linattn_artifact *artifact,
                                           const char *name);

LINATTN_API const char *linattn_function_name(const linattn_function *function);
/** sm_90a, .. */
LINATTN_API const char *
linattn_function_target(const linattn_function *function);
/** The whole description, as it was read. */
LINATTN_API const char *linattn_function_json(const linattn_function *function);

typedef struct {
  const char *name;
  const char *role;  /**< token, state, output, .. */
  const char *shape; /**< such as "[B, T, 16, 128]" */
  linattn_dtype dtype;
  int32_t rank;
  int32_t alignment; /**< of the memory and of rows, in bytes */
  int32_t optional;  /**< 1: may be absent */
  int32_t in_place;  /**< of a result: the argument that holds it, or -1 */
} linattn_tensor_info;

LINATTN_API int32_t linattn_num_arguments(const linattn_function *function);
LINATTN_API int32_t linattn_num_results(const linattn_function *function);
LINATTN_API linattn_tensor_info
linattn_argument_info(const linattn_function *function, int32_t i);
LINATTN_API linattn_tensor_info
linattn_result_info(const linattn_function *function, int32_t i);

//===- Calls ------------------------------------------------------------===//

/** Checks the arguments, and fills in dtype, rank, sizes and row-major strides
 * of each result; its memory is the caller's to give. Needs no GPU. */
LINATTN_API linattn_status linattn_infer_results(
    const linattn_function *function, const linattn_tensor *arguments,
    int32_t num_arguments, linattn_tensor *results, int32_t num_results);

/** Bytes of scratch memory that a call with these arguments takes. */
LINATTN_API linattn_status linattn_workspace_bytes(
    const linattn_function *function, const linattn_tensor *arguments,
    int32_t num_arguments, size_t *bytes);

typedef struct {
  void *data; /**< aligned to 256 bytes, as the driver's allocations are */
  size_t bytes;
} linattn_workspace;

/** Checks every operand, then launches on `stream` (a CUstream; NULL is the
 * default one) in the current context, or in the primary one of device 0. Does
 * not wait. A result that is `in_place` is the argument; its entry of `results`
 * is not read. What is written (other results, arguments that are updated in
 * place, the workspace) shares no byte with another operand: a final state has
 * other memory than the initial one; views of one buffer may interleave.
 * Without a workspace the call allocates one in the order of the
 * stream; with one (or where none is needed) it may be captured in a graph,
 * once a call before it has loaded the code. */
LINATTN_API linattn_status linattn_call(
    linattn_function *function, const linattn_tensor *arguments,
    int32_t num_arguments, const linattn_tensor *results, int32_t num_results,
    const linattn_workspace *workspace, void *stream);

/** Loads the code and checks that the device can run it, without a launch. */
LINATTN_API linattn_status linattn_prepare(linattn_function *function);

//===- The device, for programs without another CUDA library ------------===//

typedef struct {
  char name[128];
  int32_t major, minor; /**< compute capability */
  int32_t multiprocessors;
  int32_t shared_bytes;   /**< per block, at most */
  int32_t driver_version; /**< 13000 is CUDA 13.0 */
} linattn_device_info;

/** Of the current context. */
LINATTN_API linattn_status linattn_get_device(linattn_device_info *info);

LINATTN_API linattn_status linattn_allocate(size_t bytes, void **data);
LINATTN_API linattn_status linattn_free(void *data);
/** Both wait for the stream. */
LINATTN_API linattn_status linattn_upload(void *device, const void *host,
                                          size_t bytes, void *stream);
LINATTN_API linattn_status linattn_download(void *host, const void *device,
                                            size_t bytes, void *stream);
LINATTN_API linattn_status linattn_synchronize(void *stream);

typedef struct linattn_timer linattn_timer;
/** Two events: start and stop put them on a stream, elapsed waits for both. */
LINATTN_API linattn_status linattn_timer_create(linattn_timer **timer);
LINATTN_API linattn_status linattn_timer_start(linattn_timer *timer,
                                               void *stream);
LINATTN_API linattn_status linattn_timer_stop(linattn_timer *timer,
                                              void *stream);
LINATTN_API linattn_status linattn_timer_elapsed(linattn_timer *timer,
                                                 double *milliseconds);
LINATTN_API void linattn_timer_destroy(linattn_timer *timer);

/** Takes the driver's functions from `lookup` (which gives NULL for what it has
 * not) instead of LINATTN_LIBCUDA or libcuda.so.1. Before anything else that
 * needs a device; linattn-run --device=sim puts its simulator there. */
LINATTN_API void linattn_use_driver(void *(*lookup)(const char *name));

#ifdef __cplusplus
}
#endif

#endif /* LINATTN_C_RUNTIME_H */
