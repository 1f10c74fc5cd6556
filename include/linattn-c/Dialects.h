/*===- Dialects.h - C API of the linattn dialect ------------------*- C -*-===*\
|*                                                                            *|
|* Part of linattn. The dialect, its type and its attribute, in the style of  *|
|* MLIR's own C API: handles are values, a null handle means failure, and     *|
|* what is wrong is reported as a diagnostic of the context.                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef LINATTN_C_DIALECTS_H
#define LINATTN_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/** mlirGetDialectHandle__linattn__(): to register or load the dialect in a
 * context of one's own. */
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(LinAttn, linattn);

/** A context with every dialect of MLIR, linattn's, and what compiling to the
 * CPU and to NVIDIA GPUs needs; passes are registered too. It has no threads of
 * its own. Release it with mlirContextDestroy. */
MLIR_CAPI_EXPORTED MlirContext linattnContextCreate(void);

/*===- !linattn.state<KxVxelt> --------------------------------------------===*/

MLIR_CAPI_EXPORTED bool linattnTypeIsAState(MlirType type);

/** The state of one head, [keys, values]. Null, with a diagnostic at
 * `location`, where there is no such type. */
MLIR_CAPI_EXPORTED MlirType linattnStateTypeGetChecked(MlirLocation location,
                                                       int64_t keys,
                                                       int64_t values,
                                                       MlirType elementType);
MLIR_CAPI_EXPORTED int64_t linattnStateTypeGetKeys(MlirType type);
MLIR_CAPI_EXPORTED int64_t linattnStateTypeGetValues(MlirType type);
MLIR_CAPI_EXPORTED MlirType linattnStateTypeGetElementType(MlirType type);

/*===- #linattn.precision<mma = .., solve = ..> ---------------------------===*/

/** What the operands of a matrix product are rounded to. */
typedef enum {
  LINATTN_MMA_F32 = 0,
  LINATTN_MMA_TF32X3 = 1,
  LINATTN_MMA_BF16 = 2,
  LINATTN_MMA_F16 = 3,
  LINATTN_MMA_BF16X2 = 4
} LinAttnMmaPrecision;

MLIR_CAPI_EXPORTED bool linattnAttributeIsAPrecision(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirAttribute linattnPrecisionAttrGet(
    MlirContext context, LinAttnMmaPrecision mma, LinAttnMmaPrecision solve);
MLIR_CAPI_EXPORTED LinAttnMmaPrecision
linattnPrecisionAttrGetMma(MlirAttribute attribute);
MLIR_CAPI_EXPORTED LinAttnMmaPrecision
linattnPrecisionAttrGetSolve(MlirAttribute attribute);

#ifdef __cplusplus
}
#endif

#endif /* LINATTN_C_DIALECTS_H */
