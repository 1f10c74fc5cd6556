// Named barriers between producer and consumer warps, and barriers that count.
extern "C" __global__ void barriers(const int *x, int *y) {
  extern __shared__ int box[];
  int t = threadIdx.x, total = 0;
  if (t < 64) {
    for (int k = 0; k < 4; k++) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      box[t] = x[k * 64 + t] + k;
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  } else {
    asm volatile("bar.arrive 1, 128;" ::: "memory");
    for (int k = 0; k < 4; k++) {
      asm volatile("bar.sync 2, 128;" ::: "memory");
      total += box[(t * 5) % 64];
      if (k < 3)
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
  }
  int odd = __syncthreads_count(total & 1), all = __syncthreads_and(total >= 0), any = __syncthreads_or(total == 7);
  y[blockIdx.x * 128 + t] = total * 8 + odd * 1000 + all * 2 + any;
}
