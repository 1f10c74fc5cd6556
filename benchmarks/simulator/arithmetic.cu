// Fused multiply-adds and integer hashing in registers.
extern "C" __global__ void arithmetic(float *y, int n) {
  float a[8];
  unsigned h = threadIdx.x + 1;
  for (int i = 0; i < 8; i++)
    a[i] = threadIdx.x + i;
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 8; i++)
      a[i] = a[i] * 0.999f + 0.5f;
    h ^= h << 13;
    h ^= h >> 17;
    h ^= h << 5;
  }
  float s = h;
  for (int i = 0; i < 8; i++)
    s += a[i];
  y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
