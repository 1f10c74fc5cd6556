// An inclusive scan of integers: within warps by shuffles, then over the warps.
extern "C" __global__ void scan(const int *x, int *out) {
  __shared__ int sums[8];
  int t = threadIdx.x, lane = t % 32, w = t / 32, v = x[blockIdx.x * 256 + t];
  for (int k = 1; k < 32; k <<= 1) {
    int u = __shfl_up_sync(~0u, v, k);
    if (lane >= k)
      v += u;
  }
  if (lane == 31)
    sums[w] = v;
  __syncthreads();
  for (int k = 0; k < w; k++)
    v += sums[k];
  out[blockIdx.x * 256 + t] = v;
}
