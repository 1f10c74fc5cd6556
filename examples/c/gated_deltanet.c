//===- gated_deltanet.c - a compiled kernel from C ------------------------===//
//
//   linattn-compile examples/gated_deltanet.mlir --target=sm_90a -o out
//   cc -O2 -Iout -Iinclude examples/c/gated_deltanet.c -Lbuild/lib
//      -llinattn_runtime -lm -o gated_deltanet
//   LD_LIBRARY_PATH=build/lib ./gated_deltanet out 64
//
// Runs T tokens of Gated DeltaNet on the GPU and holds them against the token
// loop below, in double precision:
//
//   S = e^g S;  S = S + k (beta (v - S^T k))^T;  o = S^T q / sqrt(K)
//
//===----------------------------------------------------------------------===//

#include "gated_deltanet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_HEADS = 16, HEADS = 32, K = 128, V = 128 };

static void check(linattn_status status) {
  if (status == LINATTN_OK)
    return;
  fprintf(stderr, "error: %s\n", linattn_last_error());
  exit(1);
}

/* Uniform in [-1, 1). */
static double draw(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / (double)(1ull << 52) - 1;
}

static uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static float from_bf16(uint16_t value) {
  uint32_t bits = (uint32_t)value << 16;
  float result;
  memcpy(&result, &bits, 4);
  return result;
}

/* A device tensor with a copy of `host`, or with room only. */
static linattn_tensor on_device(const void *host, linattn_tensor tensor) {
  size_t bytes = linattn_tensor_bytes(&tensor);
  check(linattn_allocate(bytes, &tensor.data));
  if (host)
    check(linattn_upload(tensor.data, host, bytes, NULL));
  return tensor;
}

static void *fetch(linattn_tensor tensor) {
  size_t bytes = linattn_tensor_bytes(&tensor);
  void *host = malloc(bytes);
  check(linattn_download(host, tensor.data, bytes, NULL));
  return host;
}

/* bf16 rows of `size`, of length 1 if `unit`. */
static uint16_t *draw_rows(int64_t rows, int size, int unit) {
  uint16_t *values = malloc((size_t)rows * size * 2);
  double row[K];
  for (int64_t r = 0; r < rows; ++r) {
    double square = 0;
    for (int i = 0; i < size; ++i) {
      row[i] = draw();
      square += row[i] * row[i];
    }
    double scale = unit ? 1 / sqrt(square) : 1;
    for (int i = 0; i < size; ++i)
      values[r * size + i] = to_bf16((float)(row[i] * scale));
  }
  return values;
}

/* The token loop of one head; S is K x V. Adds up squares of errors. */
static void compare_head(int64_t T, int head, const uint16_t *q,
                         const uint16_t *k, const uint16_t *v, const float *g,
                         const float *beta, const float *s0, const uint16_t *o,
                         const float *last, double sums[4]) {
  double *S = malloc(sizeof(double) * K * V), read[V], out[V];
  int key_head = head / (HEADS / KEY_HEADS);
  for (int i = 0; i < K * V; ++i)
    S[i] = s0[(int64_t)head * K * V + i];
  for (int64_t t = 0; t < T; ++t) {
    const uint16_t *qt = q + (t * KEY_HEADS + key_head) * K;
    const uint16_t *kt = k + (t * KEY_HEADS + key_head) * K;
    const uint16_t *vt = v + (t * HEADS + head) * V;
    double decay = exp(g[t * HEADS + head]), rate = beta[t * HEADS + head];
    memset(read, 0, sizeof(read));
    memset(out, 0, sizeof(out));
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < V; ++j) {
        S[i * V + j] *= decay;
        read[j] += from_bf16(kt[i]) * S[i * V + j];
      }
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < V; ++j) {
        S[i * V + j] += from_bf16(kt[i]) * rate * (from_bf16(vt[j]) - read[j]);
        out[j] += from_bf16(qt[i]) * S[i * V + j];
      }
    for (int j = 0; j < V; ++j) {
      double right = out[j] / sqrt(K);
      double error = from_bf16(o[(t * HEADS + head) * V + j]) - right;
      sums[0] += error * error;
      sums[1] += right * right;
    }
  }
  for (int i = 0; i < K * V; ++i) {
    double error = last[(int64_t)head * K * V + i] - S[i];
    sums[2] += error * error;
    sums[3] += S[i] * S[i];
  }
  free(S);
}

int main(int argc, char **argv) {
  if (argc != 3 || atoll(argv[2]) < 1) {
    fprintf(stderr, "usage: gated_deltanet FOLDER TOKENS\n");
    return 2;
  }
  int64_t T = atoll(argv[2]);
  linattn_artifact *artifact;
  check(linattn_load(argv[1], &artifact));
  linattn_function *function = linattn_find(artifact, "gated_deltanet");
  if (!function) {
    fprintf(stderr, "error: %s\n", linattn_last_error());
    return 1;
  }
  linattn_device_info device;
  check(linattn_get_device(&device));
  printf("%s, compute capability %d.%d\n", device.name, device.major,
         device.minor);

  uint16_t *q = draw_rows(T * KEY_HEADS, K, 1);
  uint16_t *k = draw_rows(T * KEY_HEADS, K, 1);
  uint16_t *v = draw_rows(T * HEADS, V, 0);
  float *g = malloc(sizeof(float) * T * HEADS);
  float *beta = malloc(sizeof(float) * T * HEADS);
  float *s0 = malloc(sizeof(float) * HEADS * K * V);
  for (int64_t i = 0; i < T * HEADS; ++i) {
    g[i] = (float)-fabs(draw());
    beta[i] = (float)fabs(draw());
  }
  for (int64_t i = 0; i < (int64_t)HEADS * K * V; ++i)
    s0[i] = (float)draw();

  int64_t keys[] = {1, T, KEY_HEADS, K}, values[] = {1, T, HEADS, V};
  int64_t gates[] = {1, T, HEADS}, state[] = {1, HEADS, K, V};
  linattn_tensor dq =
      on_device(q, linattn_make_tensor(NULL, LINATTN_BF16, 4, keys));
  linattn_tensor dk =
      on_device(k, linattn_make_tensor(NULL, LINATTN_BF16, 4, keys));
  linattn_tensor dv =
      on_device(v, linattn_make_tensor(NULL, LINATTN_BF16, 4, values));
  linattn_tensor dg =
      on_device(g, linattn_make_tensor(NULL, LINATTN_F32, 3, gates));
  linattn_tensor dbeta =
      on_device(beta, linattn_make_tensor(NULL, LINATTN_F32, 3, gates));
  linattn_tensor ds0 =
      on_device(s0, linattn_make_tensor(NULL, LINATTN_F32, 4, state));
  linattn_tensor out, last;
  check(gated_deltanet_results(function, &dq, &dk, &dv, &dg, &dbeta, &ds0, &out,
                               &last));
  out = on_device(NULL, out);
  last = on_device(NULL, last);

  linattn_timer *timer;
  double milliseconds;
  check(linattn_prepare(function));
  check(linattn_timer_create(&timer));
  check(linattn_timer_start(timer, NULL));
  check(gated_deltanet(function, &dq, &dk, &dv, &dg, &dbeta, &ds0, &out, &last,
                       NULL, NULL));
  check(linattn_timer_stop(timer, NULL));
  check(linattn_timer_elapsed(timer, &milliseconds));
  linattn_timer_destroy(timer);

  uint16_t *o = fetch(out);
  float *sT = fetch(last);
  double sums[4] = {0, 0, 0, 0};
  for (int head = 0; head < HEADS; ++head)
    compare_head(T, head, q, k, v, g, beta, s0, o, sT, sums);
  double error = sqrt(sums[0] / sums[1]), state_error = sqrt(sums[2] / sums[3]);
  int ok = error < 5e-3 && state_error < 5e-3;
  printf("%lld tokens in %.3f ms; relative errors: outputs %.1e, state %.1e; "
         "%s\n",
         (long long)T, milliseconds, error, state_error, ok ? "ok" : "WRONG");

  linattn_tensor *all[] = {&dq, &dk, &dv, &dg, &dbeta, &ds0, &out, &last};
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i)
    check(linattn_free(all[i]->data));
  void *hosts[] = {q, k, v, g, beta, s0, o, sT};
  for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); ++i)
    free(hosts[i]);
  linattn_release(artifact);
  return ok ? 0 : 1;
}
