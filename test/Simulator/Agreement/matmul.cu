// A tiled product of 64 x 64 matrices with small integers as entries: exact.
extern "C" __global__ void matmul(const float *a, const float *b, float *c) {
  __shared__ float sa[16][17], sb[16][17];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
  float s = 0;
  for (int k = 0; k < 64; k += 16) {
    sa[y][x] = a[row * 64 + k + x];
    sb[y][x] = b[(k + y) * 64 + col];
    __syncthreads();
    for (int i = 0; i < 16; i++)
      s += sa[y][i] * sb[i][x];
    __syncthreads();
  }
  c[row * 64 + col] = s;
}
