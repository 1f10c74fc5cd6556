/*===- Compiler.h - C API of the compiler -------------------------*- C -*-===*\
|*                                                                            *|
|* Part of linattn. From a module to code for a target, and on the CPU to a   *|
|* function that can be called in this process:                               *|
|*                                                                            *|
|*   MlirContext context = linattnContextCreate();                            *|
|*   MlirModule module =                                                      *|
|*       linattnParseModule(context, text, size, "gla.mlir", &error);         *|
|*   LinAttnCompileOptions options = linattnCompileOptionsDefault();          *|
|*   LinAttnArtifact *artifact = linattnCompile(module, &options, &error);    *|
|*   LinAttnKernel *kernel = linattnKernelLoad(artifact, &error);             *|
|*   linattnInvoke(linattnKernelGetEntry(kernel), memrefs, count);            *|
|*                                                                            *|
|* Functions that can fail return null or false and write a text to `*error`  *|
|* if `error` is not null: one line "FILE:LINE:COLUMN: error: MESSAGE" per    *|
|* diagnostic. Release it with linattnStringFree. Compiling from several      *|
|* threads is safe in contexts of their own; calling a kernel is always safe. *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef LINATTN_C_COMPILER_H
#define LINATTN_C_COMPILER_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_CAPI_EXPORTED void linattnStringFree(char *text);

/** Parses text or bytecode and verifies it. `fileName` stands in locations.
 * Null module on failure. */
MLIR_CAPI_EXPORTED MlirModule linattnParseModule(MlirContext context,
                                                 const char *source,
                                                 size_t size,
                                                 const char *fileName,
                                                 char **error);

typedef struct {
  /** "cpu", or a GPU such as "sm_90a". */
  const char *target;
  /** "serial": token by token. "chunkwise": in chunks, refused where there is
   * no form of it. "auto": in chunks where there is. */
  const char *lowering;
  /** The function; null: the only public one with a body. */
  const char *function;
  /** The processor for target "cpu": "native", or as in clang's -mcpu. */
  const char *cpu;
  /** What products of the chunk form round to; null: what the inputs say. */
  const char *mma;
  /** Of kernels in chunks for a GPU: options of the pipeline linattn-to-tile
   * instead of what the compiler chooses; null: none. */
  const char *plan;
  /** Of those too: sequences of a call and tokens of each, to choose for, as
   * far as they are known; 0: not. The kernel takes all others as well. */
  int64_t sequences, tokens;
  /** Tokens per chunk of the chunk form. */
  int64_t chunk;
  /** The chunk form on the CPU rounds operands of products as a GPU would. */
  bool keepRounding;
  /** Turn every float into f64 first: the oracle. */
  bool widen;
  /** Also assemble PTX to a cubin. */
  bool assemble;
  /** A file of the Python environment or installation to look for ptxas from;
   * null: only LINATTN_PTXAS, CUDA_HOME and PATH. */
  const char *toolPath;
} LinAttnCompileOptions;

/** The CPU, token by token, for this machine. */
MLIR_CAPI_EXPORTED LinAttnCompileOptions linattnCompileOptionsDefault(void);

/** Code of one function and a description of it. */
typedef struct LinAttnArtifact LinAttnArtifact;

/** Compiles a function of `module`, which stays as it is. */
MLIR_CAPI_EXPORTED LinAttnArtifact *
linattnCompile(MlirModule module, const LinAttnCompileOptions *options,
               char **error);
MLIR_CAPI_EXPORTED void linattnArtifactDestroy(LinAttnArtifact *artifact);

typedef enum {
  LINATTN_PART_DESCRIPTION, /**< JSON: arguments, results, launch, tools */
  LINATTN_PART_OBJECT,      /**< CPU: an object file */
  LINATTN_PART_HEADER,      /**< CPU: a C header for it */
  LINATTN_PART_PTX,         /**< GPU */
  LINATTN_PART_CUBIN        /**< GPU, where it was assembled */
} LinAttnPart;

/** The name of the function. */
MLIR_CAPI_EXPORTED const char *
linattnArtifactGetName(const LinAttnArtifact *artifact);

/** The bytes of a part, which live as long as the artifact; null where it has
 * no such part. Equal modules and options give equal bytes. */
MLIR_CAPI_EXPORTED const char *
linattnArtifactGetPart(const LinAttnArtifact *artifact, LinAttnPart part,
                       size_t *size);

/** Code for the CPU, loaded into this process. */
typedef struct LinAttnKernel LinAttnKernel;

MLIR_CAPI_EXPORTED LinAttnKernel *
linattnKernelLoad(const LinAttnArtifact *artifact, char **error);
/** The same from the bytes of an object file that was compiled before. */
MLIR_CAPI_EXPORTED LinAttnKernel *linattnKernelLoadObject(const char *object,
                                                          size_t size,
                                                          const char *function,
                                                          char **error);
MLIR_CAPI_EXPORTED void linattnKernelDestroy(LinAttnKernel *kernel);

/** The addresses of the two functions of the object: they take pointers to
 * memref descriptors as the C header of the artifact declares. */
MLIR_CAPI_EXPORTED void *linattnKernelGetEntry(const LinAttnKernel *kernel);
MLIR_CAPI_EXPORTED void *
linattnKernelGetSizesEntry(const LinAttnKernel *kernel);

/** Calls one of these with `count` (at most 64) pointers to descriptors. */
MLIR_CAPI_EXPORTED void linattnInvoke(void *entry, void **memrefs,
                                      size_t count);

#ifdef __cplusplus
}
#endif

#endif /* LINATTN_C_COMPILER_H */
