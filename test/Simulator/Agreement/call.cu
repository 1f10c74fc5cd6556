// Functions that are not inlined, with scalars and structures.
struct Pair { float a; int b; double c; };
__device__ __noinline__ Pair mix(Pair p, int k) {
  Pair r;
  r.a = p.a * k + 1;
  r.b = p.b ^ (k << 3);
  r.c = p.c / (k + 1);
  return r;
}
__device__ __noinline__ int twice(int x) { return x * 2 + 1; }
__device__ __noinline__ int often(int x) { return x & 1 ? twice(x) : twice(twice(x)); }
extern "C" __global__ void call(const int *x, double *y) {
  int t = threadIdx.x;
  Pair p{1.0f / (t + 1), x[t], t * 0.25};
  for (int k = 1; k < 5; k++)
    p = mix(p, k + often(t % 3));
  y[t] = p.a + p.b % 1000 + p.c;
}
