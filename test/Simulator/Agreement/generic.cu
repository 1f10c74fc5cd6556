// Generic pointers into shared, local and global memory; a pointer picked by data.
__device__ __noinline__ float take(const float *p, int i) { return p[i] * 2; }
extern "C" __global__ void generic(const float *x, float *y) {
  __shared__ float s[64];
  float l[8];
  int t = threadIdx.x;
  s[t] = x[t] + 1;
  for (int i = 0; i < 8; i++)
    l[i] = x[(t + i) % 64] * i;
  __syncthreads();
  const float *p = t % 3 == 0 ? x : t % 3 == 1 ? s : l;
  y[t] = take(p, t % 8) + (__isShared(p) ? 100 : 0) + (__isLocal(p) ? 1000 : 0) + (__isGlobal(p) ? 10000 : 0);
}
