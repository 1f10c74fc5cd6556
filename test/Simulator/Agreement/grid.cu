// Where a thread is: three-dimensional grids and blocks, lane masks.
extern "C" __global__ void grid(unsigned *y) {
  unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z), lt, ge, lane;
  asm("mov.u32 %0, %lanemask_lt;" : "=r"(lt));
  asm("mov.u32 %0, %lanemask_ge;" : "=r"(ge));
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  unsigned at = (b * blockDim.x * blockDim.y * blockDim.z + t) * 4;
  y[at] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
  y[at + 1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
  y[at + 2] = lt ^ ge * 3;
  y[at + 3] = lane + 100 * (t / 32);
}
