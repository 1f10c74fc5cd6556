// The gated delta rule, token after token: one block a head, a thread per value
// channel, the state in registers.
#include <cuda_bf16.h>
extern "C" __global__ void delta(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                                 const float *g, const float *beta, __nv_bfloat16 *o, float *state, int tokens) {
  constexpr int K = 16, V = 32;
  __shared__ float sq[K], sk[K];
  int h = blockIdx.x, heads = gridDim.x, c = threadIdx.x;
  float s[K];
  for (int i = 0; i < K; i++)
    s[i] = 0;
  for (int t = 0; t < tokens; t++) {
    size_t at = size_t(t) * heads + h;
    if (c < K) {
      sq[c] = __bfloat162float(q[at * K + c]);
      sk[c] = __bfloat162float(k[at * K + c]);
    }
    __syncthreads();
    float decay = exp2f(g[at]), r = 0, y = 0;
    for (int i = 0; i < K; i++) {
      s[i] *= decay;
      r += s[i] * sk[i];
    }
    float u = beta[at] * (__bfloat162float(v[at * V + c]) - r);
    for (int i = 0; i < K; i++) {
      s[i] += sk[i] * u;
      y += s[i] * sq[i];
    }
    o[at * V + c] = __float2bfloat16(y);
    __syncthreads();
  }
  for (int i = 0; i < K; i++)
    state[(h * K + i) * V + c] = s[i];
}
