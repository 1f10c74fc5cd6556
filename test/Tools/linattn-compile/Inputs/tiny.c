/* Calls the object file through its header, on 200 tokens with padded rows of
 * v, and holds every output and the state against the token loop. */
#include "tiny.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { T = 200, K = 2, V = 3, STRIDE = 5 };

static int wrong;

static void check(const char *what, int at, double got, double want) {
  if (fabs(got - want) <= 1e-5 * (1 + fabs(want)))
    return;
  printf("%s %d: %g, want %g\n", what, at, got, want);
  wrong = 1;
}

int main(void) {
  static float q[T * K], k[T * K], v[T * STRIDE], g[T], s0[K * V];
  static float out[T * V], final[K * V];
  double S[K][V];
  for (int t = 0; t < T; ++t) {
    for (int i = 0; i < K; ++i) {
      q[t * K + i] = sinf(t + i);
      k[t * K + i] = cosf(2 * t + 3 * i);
    }
    for (int j = 0; j < STRIDE; ++j)
      v[t * STRIDE + j] = j < V ? sinf(5 * t + j) : NAN;
    g[t] = t % 7 == 0 ? -1000 : -0.01f * (t % 5);
  }
  for (int i = 0; i < K; ++i)
    for (int j = 0; j < V; ++j)
      S[i][j] = s0[i * V + j] = i - j;

  linattn_memref4 mq = {q, q, 0, {1, T, 1, K}, {T * K, K, K, 1}};
  linattn_memref4 mk = {k, k, 0, {1, T, 1, K}, {T * K, K, K, 1}};
  linattn_memref4 mv = {v, v, 0, {1, T, 1, V}, {T * STRIDE, STRIDE, STRIDE, 1}};
  linattn_memref3 mg = {g, g, 0, {1, T, 1}, {T, 1, 1}};
  linattn_memref4 ms = {s0, s0, 0, {1, 1, K, V}, {K * V, K * V, V, 1}};
  int64_t sizes[8];
  linattn_memref1 msizes = {sizes, sizes, 0, {8}, {1}};
  _mlir_ciface_tiny_result_shapes(&mq, &mk, &mv, &mg, &ms, &msizes);
  const int64_t want[8] = {1, T, 1, V, 1, 1, K, V};
  for (int i = 0; i < 8; ++i)
    check("size", i, sizes[i], want[i]);

  linattn_memref4 mo = {out, out, 0, {1, T, 1, V}, {T * V, V, V, 1}};
  linattn_memref4 mf = {final, final, 0, {1, 1, K, V}, {K * V, K * V, V, 1}};
  _mlir_ciface_tiny(&mq, &mk, &mv, &mg, &ms, &mo, &mf);
  for (int t = 0; t < T; ++t)
    for (int j = 0; j < V; ++j) {
      double read = 0;
      for (int i = 0; i < K; ++i) {
        S[i][j] = exp(g[t]) * S[i][j] + k[t * K + i] * v[t * STRIDE + j];
        read += S[i][j] * q[t * K + i];
      }
      check("output", t * V + j, out[t * V + j], read);
    }
  for (int i = 0; i < K; ++i)
    for (int j = 0; j < V; ++j)
      check("state", i * V + j, final[i * V + j], S[i][j]);
  puts(wrong ? "wrong" : "right");
  return wrong;
}
