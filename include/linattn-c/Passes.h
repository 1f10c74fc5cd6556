/*===- Passes.h - C API of linattn's passes -----------------------*- C -*-===*\
|*                                                                            *|
|* Part of linattn. Passes and pipelines are run by their textual names       *|
|* (docs/Passes.md), such as "builtin.module(linattn-normalize)".             *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef LINATTN_C_PASSES_H
#define LINATTN_C_PASSES_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Makes the passes and pipelines of linattn and of MLIR known by name. Further
 * calls do nothing. linattnContextCreate calls it. */
MLIR_CAPI_EXPORTED void linattnRegisterPasses(void);

/** Runs a textual pipeline on `module` in place. False where it fails; then
 * `*error`, if `error` is not null, is text with locations to be released with
 * linattnStringFree. */
MLIR_CAPI_EXPORTED bool linattnRunPipeline(MlirModule module,
                                           const char *pipeline, char **error);

#ifdef __cplusplus
}
#endif

#endif /* LINATTN_C_PASSES_H */
