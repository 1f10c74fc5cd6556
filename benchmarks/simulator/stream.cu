// Reads and writes of global memory.
extern "C" __global__ void stream(const float *x, float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = 2.0f * x[i] + 1.0f;
}
