// A block's sum and maximum by shared memory and shuffles.
extern "C" __global__ void reduce(const float *x, float *out, int n) {
  __shared__ float part[8];
  float s = 0, m = -1e30f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    s += x[i];
    m = fmaxf(m, x[i]);
  }
  for (int k = 16; k; k >>= 1) {
    s += __shfl_xor_sync(~0u, s, k);
    m = fmaxf(m, __shfl_xor_sync(~0u, m, k));
  }
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0;
    for (int w = 0; w < blockDim.x / 32; w++)
      t += part[w];
    out[2 * blockIdx.x] = t;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = part[0];
    for (int w = 1; w < blockDim.x / 32; w++)
      t = fmaxf(t, part[w]);
    out[2 * blockIdx.x + 1] = t;
  }
}
