// Vector loads and stores of every width, signed narrow types.
extern "C" __global__ void vectors(const int4 *x, const short2 *s, const char4 *c, const double2 *d, float4 *y, double2 *z) {
  int t = threadIdx.x;
  int4 a = x[t];
  short2 b = s[t];
  char4 e = c[t];
  double2 f = d[t];
  __shared__ float4 tile[64];
  tile[t] = make_float4(a.x % 1000 + b.x, a.y % 1000 - b.y, a.z % 1000 * e.x, a.w % 1000 + e.y * e.z - e.w);
  __syncthreads();
  y[t] = tile[(t * 7 + 3) % 64];
  z[t] = make_double2(f.y + tile[t].x, f.x - tile[63 - t].y);
}
