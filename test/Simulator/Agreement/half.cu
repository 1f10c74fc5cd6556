// 16-bit types through CUDA's own headers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void half_ops(const float *x, __half2 *y, __nv_bfloat162 *z) {
  int t = threadIdx.x;
  __half2 a = __floats2half2_rn(x[2 * t], x[2 * t + 1]), b = __half2half2(__float2half(x[t] * 0.5f));
  __half2 r = __hfma2(a, b, __hmul2(a, a));
  r = __hadd2(__hmin2(r, b), __hneg2(a));
  y[t] = __hgt(__low2half(r), __high2half(r)) ? r : __lowhigh2highlow(r);
  __nv_bfloat162 p = __floats2bfloat162_rn(x[2 * t], x[2 * t + 1]), q = __float2bfloat162_rn(x[t]);
  z[t] = __hfma2(p, q, __hmax2(p, __hsub2(q, p)));
}
