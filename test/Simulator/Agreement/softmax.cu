// Row-wise softmax with one warp a row.
extern "C" __global__ void softmax(const float *x, float *y, int columns) {
  const float *row = x + blockIdx.x * columns;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < columns; i += 32)
    m = fmaxf(m, row[i]);
  for (int k = 16; k; k >>= 1)
    m = fmaxf(m, __shfl_xor_sync(~0u, m, k));
  for (int i = threadIdx.x; i < columns; i += 32)
    s += __expf(row[i] - m);
  for (int k = 16; k; k >>= 1)
    s += __shfl_xor_sync(~0u, s, k);
  for (int i = threadIdx.x; i < columns; i += 32)
    y[blockIdx.x * columns + i] = __fdividef(__expf(row[i] - m), s);
}
