// The gated delta rule, token after token, 128 x 128 state in registers and shared
// vectors: what a token-serial kernel of the compiler does.
#include <cuda_bf16.h>
extern "C" __global__ void __launch_bounds__(128) serial(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                                                         const float *g, const float *beta, __nv_bfloat16 *o, int tokens) {
  __shared__ float sq[128], sk[128];
  int h = blockIdx.x, heads = gridDim.x, c = threadIdx.x;
  float s[128];
#pragma unroll
  for (int i = 0; i < 128; i++)
    s[i] = 0;
  for (int t = 0; t < tokens; t++) {
    size_t at = size_t(t) * heads + h;
    sq[c] = __bfloat162float(q[at * 128 + c]);
    sk[c] = __bfloat162float(k[at * 128 + c]);
    __syncthreads();
    float decay = exp2f(g[at]), r = 0, y = 0;
#pragma unroll
    for (int i = 0; i < 128; i++) {
      s[i] *= decay;
      r += s[i] * sk[i];
    }
    float u = beta[at] * (__bfloat162float(v[at * 128 + c]) - r);
#pragma unroll
    for (int i = 0; i < 128; i++) {
      s[i] += sk[i] * u;
      y += s[i] * sq[i];
    }
    o[at * 128 + c] = __float2bfloat16(y);
    __syncthreads();
  }
}
