// Arrays in local memory, indexed by data; a switch; loops that lanes leave at
// different times.
extern "C" __global__ void local(const unsigned *x, unsigned *y) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x, v = x[t], a[24];
  for (int i = 0; i < 24; i++)
    a[i] = v * (i + 1);
  for (int i = 0; i < 40; i++) {
    unsigned j = (v >> (i % 27)) % 24, k = a[j] % 24;
    a[j] ^= a[k] + i;
    switch (a[k] % 9) {
    case 0: a[k] += 3; break;
    case 1: a[k] *= 5; break;
    case 2: a[k] ^= 0xff; break;
    case 3: a[j] = v; break;
    case 4: a[(j + 1) % 24] += a[k]; break;
    case 5: v = v * 1664525u + 1013904223u; break;
    case 6: a[k] = __brev(a[k]); break;
    case 7: a[0] += j; break;
    default: a[23] -= k;
    }
  }
  unsigned collatz = v % 1000 + 1, steps = 0;
  while (collatz != 1 && steps < 200) {
    collatz = collatz % 2 ? 3 * collatz + 1 : collatz / 2;
    steps++;
  }
  unsigned h = steps;
  for (int i = 0; i < 24; i++)
    h = h * 31 + a[i];
  y[t] = h;
}
