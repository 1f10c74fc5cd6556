// A product of matrices through tiles in shared memory: two loads an fma.
extern "C" __global__ void tile(const float *a, const float *b, float *c, int n) {
  __shared__ float sa[16][17], sb[16][17];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float s = 0;
  for (int k = 0; k < n; k += 16) {
    sa[y][x] = a[row * n + k + x];
    sb[y][x] = b[(k + y) * n + col];
    __syncthreads();
    for (int i = 0; i < 16; i++)
      s += sa[y][i] * sb[i][x];
    __syncthreads();
  }
  c[row * n + col] = s;
}
