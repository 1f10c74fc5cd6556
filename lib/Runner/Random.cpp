//===- Random.cpp - random numbers that are the same everywhere -*- C++ -*-===//
//
// Compiled without contraction to fused multiply-adds (see CMakeLists.txt),
// which would change last bits between targets.
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/Random.h"

#include "llvm/ADT/bit.h"

#include <cassert>
#include <cmath>
#include <limits>

using namespace linattn;
using namespace linattn::runner;

RandomStream::RandomStream(uint64_t seed, llvm::StringRef name) {
  // FNV-1a over the name; SplitMix64's mixing then separates close seeds.
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3u;
  key = seed;
  key = bits(0) ^ hash;
  key = bits(0);
}

/// ln 2 in two parts; products of the first with integers below 2^20 are exact.
static constexpr double kLn2High = 0x1.62e42feep-1;
static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

double runner::portableLog(double x) {
  // x = 2^e m with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh((m-1)/(m+1)).
  uint64_t bits = llvm::bit_cast<uint64_t>(x);
  uint64_t offset = bits - 0x3fe6a09e667f3bcdu; // sqrt(1/2)
  double e = double(int64_t(offset) >> 52);
  double m = llvm::bit_cast<double>(bits - (offset & 0xfff0000000000000u));
  double s = (m - 1) / (m + 1);
  double z = s * s;
  double sum = 1.0 / 21;
  for (int n = 19; n >= 3; n -= 2)
    sum = sum * z + 1.0 / n;
  return e * kLn2High + (e * kLn2Low + 2 * s * (z * sum) + 2 * s);
}

/// e^r for |r| <= ln(2) / 2, without its leading 1.
static double expm1Small(double r) {
  double sum = 1;
  for (int n = 14; n >= 2; --n)
    sum = sum * r * (1.0 / n) + 1;
  return sum * r;
}

double runner::portableExp(double x) {
  if (x != x)
    return x;
  if (x > 709.7)
    return std::numeric_limits<double>::infinity();
  if (x < -745.2)
    return 0;
  // Adding and taking away 1.5 * 2^52 rounds to an integer.
  double shifted = x * 1.4426950408889634 + 0x1.8p52;
  double k = shifted - 0x1.8p52;
  double r = (x - k * kLn2High) - k * kLn2Low;
  double y = 1 + expm1Small(r);
  // In two steps, since the power alone may be below the normal numbers.
  int half = int(k) / 2, rest = int(k) - half;
  auto power = [](int e) {
    return llvm::bit_cast<double>(uint64_t(e + 1023) << 52);
  };
  return y * power(half) * power(rest);
}

/// cos and sin of 2 pi u for u in [0, 1).
static void cosSinTurn(double u, double &cosine, double &sine) {
  double quadrant = (u * 4 + 0x1.8p52) - 0x1.8p52;
  double a = (u * 4 - quadrant) * 1.5707963267948966;
  double z = a * a;
  double c = 1, s = 1;
  for (int n = 16; n >= 2; n -= 2) {
    c = 1 - c * z * (1.0 / (n * (n - 1)));
    s = 1 - s * z * (1.0 / (n * (n + 1)));
  }
  s *= a;
  unsigned q = unsigned(quadrant) & 3;
  double x = q & 1 ? s : c, y = q & 1 ? c : s;
  cosine = q == 1 || q == 2 ? -x : x;
  sine = q & 2 ? -y : y;
}

void RandomStream::normals(uint64_t begin, uint64_t count, double *out) const {
  assert(begin % 2 == 0 && "normals come in pairs");
  for (uint64_t i = 0; i < count; i += 2) {
    // 1 - u is in (0, 1], so that its logarithm is finite.
    double radius = std::sqrt(-2 * portableLog(1 - uniform(begin + i)));
    double cosine, sine;
    cosSinTurn(uniform(begin + i + 1), cosine, sine);
    out[i] = radius * cosine;
    if (i + 1 < count)
      out[i + 1] = radius * sine;
  }
}

double runner::portableSigmoid(double x) {
  double z = portableExp(-std::fabs(x));
  return (x >= 0 ? 1 : z) / (1 + z);
}

double runner::portableLogSigmoid(double x) {
  double z = portableExp(-std::fabs(x));
  return std::fmin(x, 0) - portableLog(1 + z);
}

double runner::portableInverseSoftplus(double y) {
  if (y == 0)
    return -1e4;
  // ln(e^y - 1), by the part of it that does not cancel.
  if (y > 0.5)
    return y + portableLog(1 - portableExp(-y));
  // Halving keeps expm1Small's argument small: e^y - 1 = d (d + 2).
  double d = expm1Small(y / 2);
  return portableLog(d * (d + 2));
}
