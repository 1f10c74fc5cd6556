// Shared and global atomics whose order does not matter.
extern "C" __global__ void histogram(const unsigned *x, unsigned *bins, unsigned *extremes, int n) {
  __shared__ unsigned local[32];
  if (threadIdx.x < 32)
    local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[x[i] % 32], 1u);
    atomicMax(&extremes[0], x[i]);
    atomicMin(&extremes[1], x[i]);
    atomicXor(&extremes[2], x[i]);
    atomicOr((unsigned *)&extremes[3], 1u << (x[i] % 7));
    atomicAdd((unsigned long long *)(extremes + 4), (unsigned long long)x[i]);
    atomicInc(&extremes[6], 1000000u);
  }
  __syncthreads();
  if (threadIdx.x < 32)
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
