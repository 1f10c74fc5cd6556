/* The C API from C: types and attributes, errors with their places, a pipeline,
 * code for the CPU that is called in this process, PTX.
 */
// RUN: linattn-capi-test | FileCheck %s
// CHECK: bad.mlir:2:21: error: use of value '%x' expects different type
// CHECK: error: no pipeline 'builtin.module(no-such-pass)'
// CHECK: serial: right
// CHECK: chunkwise: right
// CHECK: error: 'add' was not compiled for the CPU
// CHECK: error: target 'sm_10' is none of sm_80, {{.*}}, cpu
// CHECK: done

#include "linattn-c/Compiler.h"
#include "linattn-c/Dialects.h"
#include "linattn-c/Passes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("line %d: %s\n", __LINE__, #condition);                           \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* S += k v^T; o = S^T k, one head, K = 2, V = 3 */
static const char source[] =
    "func.func @add(%k: tensor<?x?x1x2xf32> {linattn.name = \"k\"},\n"
    "               %v: tensor<?x?x1x3xf32>, %s0: tensor<?x1x2x3xf32>)\n"
    "    -> (tensor<?x?x1x3xf32>, tensor<?x1x2x3xf32>) {\n"
    "  %o, %sT = linattn.recurrence\n"
    "      tokens(%k : tensor<?x?x1x2xf32>, %v : tensor<?x?x1x3xf32>)\n"
    "      state(%s0 : tensor<?x1x2x3xf32>)\n"
    "      -> (tensor<?x?x1x3xf32>, tensor<?x1x2x3xf32>) {\n"
    "  ^step(%kt: vector<2xf32>, %vt: vector<3xf32>, %s: "
    "!linattn.state<2x3xf32>):\n"
    "    %s1 = linattn.write %s, %kt, %vt : !linattn.state<2x3xf32>, "
    "vector<2xf32>, vector<3xf32>\n"
    "    %ot = linattn.read %s1, %kt : !linattn.state<2x3xf32>, "
    "vector<2xf32>\n"
    "    linattn.yield %ot, %s1 : vector<3xf32>, !linattn.state<2x3xf32>\n"
    "  }\n"
    "  return %o, %sT : tensor<?x?x1x3xf32>, tensor<?x1x2x3xf32>\n"
    "}\n";

typedef struct {
  void *allocated, *data;
  int64_t offset, numbers[8]; /* sizes, then strides */
} Memref;

static Memref dense(float *data, int rank, const int64_t *sizes) {
  Memref memref = {data, data, 0, {0}};
  int64_t stride = 1;
  for (int i = rank; i-- > 0;) {
    memref.numbers[i] = sizes[i];
    memref.numbers[rank + i] = stride;
    stride *= sizes[i];
  }
  return memref;
}

static void testTypes(MlirContext context) {
  MlirLocation here = mlirLocationUnknownGet(context);
  MlirType f32 = mlirF32TypeGet(context);
  MlirType state = linattnStateTypeGetChecked(here, 128, 64, f32);
  CHECK(linattnTypeIsAState(state) && !linattnTypeIsAState(f32));
  CHECK(linattnStateTypeGetKeys(state) == 128);
  CHECK(linattnStateTypeGetValues(state) == 64);
  CHECK(mlirTypeEqual(linattnStateTypeGetElementType(state), f32));
  CHECK(mlirTypeIsNull(linattnStateTypeGetChecked(here, 0, 64, f32)));
  CHECK(mlirTypeIsNull(
      linattnStateTypeGetChecked(here, 8, 8, mlirIntegerTypeGet(context, 32))));
  mlirTypeDump(state);

  MlirAttribute precision =
      linattnPrecisionAttrGet(context, LINATTN_MMA_BF16, LINATTN_MMA_F32);
  CHECK(linattnAttributeIsAPrecision(precision));
  CHECK(linattnPrecisionAttrGetMma(precision) == LINATTN_MMA_BF16);
  CHECK(linattnPrecisionAttrGetSolve(precision) == LINATTN_MMA_F32);
}

static void testErrors(MlirContext context) {
  char *error = NULL;
  const char bad[] = "func.func @f(%x: f32) {\n  %y = linattn.silu %x : f64\n}";
  MlirModule module =
      linattnParseModule(context, bad, strlen(bad), "bad.mlir", &error);
  CHECK(mlirModuleIsNull(module));
  printf("%s\n", error);
  linattnStringFree(error);
}

static void testPipeline(MlirModule module) {
  char *error = NULL;
  MlirModule copy = mlirModuleFromOperation(
      mlirOperationClone(mlirModuleGetOperation(module)));
  CHECK(linattnRunPipeline(copy, "builtin.module(linattn-chunkwise)", &error));
  CHECK(!linattnRunPipeline(copy, "builtin.module(no-such-pass)", &error));
  printf("%s\n", error);
  linattnStringFree(error);
  mlirModuleDestroy(copy);
}

/* Two tokens: k = (1, 0), (1, 2); v = (1, 2, 3) and 10 times that. */
static void testCall(MlirModule module, const char *lowering) {
  char *error = NULL;
  LinAttnCompileOptions options = linattnCompileOptionsDefault();
  options.lowering = lowering;
  options.chunk = 16;
  LinAttnArtifact *artifact = linattnCompile(module, &options, &error);
  if (!artifact)
    printf("%s\n", error);
  CHECK(artifact);
  CHECK(!strcmp(linattnArtifactGetName(artifact), "add"));
  size_t size = 0;
  CHECK(linattnArtifactGetPart(artifact, LINATTN_PART_OBJECT, &size) && size);
  CHECK(linattnArtifactGetPart(artifact, LINATTN_PART_HEADER, &size));
  CHECK(!linattnArtifactGetPart(artifact, LINATTN_PART_PTX, &size));
  const char *json =
      linattnArtifactGetPart(artifact, LINATTN_PART_DESCRIPTION, &size);
  CHECK(strstr(json, "\"name\": \"k\""));
  LinAttnKernel *kernel = linattnKernelLoad(artifact, &error);
  if (!kernel)
    printf("%s\n", error);
  CHECK(kernel);
  linattnArtifactDestroy(artifact);

  float k[] = {1, 0, 1, 2}, v[] = {1, 2, 3, 10, 20, 30};
  float s0[6] = {0}, o[6], sT[6];
  Memref memrefs[] = {dense(k, 4, (int64_t[]){1, 2, 1, 2}),
                      dense(v, 4, (int64_t[]){1, 2, 1, 3}),
                      dense(s0, 4, (int64_t[]){1, 1, 2, 3}),
                      dense(o, 4, (int64_t[]){1, 2, 1, 3}),
                      dense(sT, 4, (int64_t[]){1, 1, 2, 3})};
  int64_t all[8] = {0};
  Memref sizesMemref = dense((float *)all, 1, (int64_t[]){8});
  void *pointers[] = {&memrefs[0], &memrefs[1], &memrefs[2], &sizesMemref};
  linattnInvoke(linattnKernelGetSizesEntry(kernel), pointers, 4);
  int64_t expectedSizes[] = {1, 2, 1, 3, 1, 1, 2, 3};
  for (int i = 0; i < 8; ++i)
    CHECK(all[i] == expectedSizes[i]);
  void *all5[] = {&memrefs[0], &memrefs[1], &memrefs[2], &memrefs[3],
                  &memrefs[4]};
  linattnInvoke(linattnKernelGetEntry(kernel), all5, 5);
  /* S after both: row 0 is v0 + v1, row 1 is 2 v1; o1 = row 0 + 2 row 1. */
  float expectedO[] = {1, 2, 3, 51, 102, 153};
  float expectedS[] = {11, 22, 33, 20, 40, 60};
  for (int i = 0; i < 6; ++i)
    CHECK(fabsf(o[i] - expectedO[i]) < 1e-4f &&
          fabsf(sT[i] - expectedS[i]) < 1e-4f);
  linattnKernelDestroy(kernel);
  printf("%s: right\n", lowering);
}

static void testPTX(MlirModule module) {
  char *error = NULL;
  LinAttnCompileOptions options = linattnCompileOptionsDefault();
  options.target = "sm_90a";
  options.assemble = false;
  LinAttnArtifact *artifact = linattnCompile(module, &options, &error);
  CHECK(artifact);
  size_t size = 0;
  const char *ptx = linattnArtifactGetPart(artifact, LINATTN_PART_PTX, &size);
  CHECK(ptx && strstr(ptx, ".target sm_90a"));
  CHECK(!linattnKernelLoad(artifact, &error));
  printf("%s\n", error);
  linattnStringFree(error);
  linattnArtifactDestroy(artifact);
  options.target = "sm_10";
  CHECK(!linattnCompile(module, &options, &error));
  printf("%s\n", error);
  linattnStringFree(error);
}

int main(void) {
  MlirContext context = linattnContextCreate(), other = linattnContextCreate();
  linattnRegisterPasses();
  testTypes(context);
  testErrors(other);
  char *error = NULL;
  MlirModule module =
      linattnParseModule(context, source, strlen(source), "add.mlir", &error);
  CHECK(!mlirModuleIsNull(module));
  testPipeline(module);
  testCall(module, "serial");
  testCall(module, "chunkwise");
  testPTX(module);
  mlirModuleDestroy(module);
  mlirContextDestroy(other);
  mlirContextDestroy(context);
  printf("done\n");
  return 0;
}
