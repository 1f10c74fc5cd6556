// Integer division of every width, which the compiler expands or calls.
extern "C" __global__ void divide(const unsigned long long *x, unsigned long long *y) {
  unsigned t = threadIdx.x;
  unsigned long long a = x[2 * t], b = x[2 * t + 1] >> (t % 60) | 1;
  long long sa = (long long)a, sb = (long long)b;
  y[t] = a / b + a % b * 3 + (unsigned long long)(sa / sb) * 5 + (unsigned long long)(sa % sb) * 7 +
         (unsigned)a / ((unsigned)b | 1) + (unsigned)((int)a % ((int)b | 1)) + (unsigned short)a / ((unsigned short)b | 1) + a / 7 + sa % 10;
}
