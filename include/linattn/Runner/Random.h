//===- Random.h - random numbers that are the same everywhere ---*- C++ -*-===//
//
// Part of linattn. A counter-based generator: number i of a stream depends on
// the stream's key and on i alone, so that parts can be drawn in any order. The
// functions that shape the numbers use IEEE additions, products, divisions and
// square roots only, and no library's exp or log: every platform gets the same
// bits.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_RANDOM_H
#define LINATTN_RUNNER_RANDOM_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace linattn {
namespace runner {

class RandomStream {
public:
  /// Streams of different names are independent.
  RandomStream(uint64_t seed, llvm::StringRef name);

  /// 64 random bits: SplitMix64's output for position i.
  uint64_t bits(uint64_t i) const {
    uint64_t z = key + (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// In [0, 1), a multiple of 2^-53.
  double uniform(uint64_t i) const { return (bits(i) >> 11) * 0x1p-53; }

  /// Below `bound`.
  uint64_t below(uint64_t i, uint64_t bound) const {
    return (unsigned __int128)bits(i) * bound >> 64;
  }

  /// Numbers begin .. begin + count of a stream of standard normals (Box and
  /// Muller). `begin` is even. Uses the same positions as `bits`.
  void normals(uint64_t begin, uint64_t count, double *out) const;

private:
  uint64_t key;
};

/// Accurate to a few units in the last place of a double.
double portableExp(double x);
/// Of x > 0.
double portableLog(double x);
double portableSigmoid(double x);
double portableLogSigmoid(double x);
/// The x with softplus(x) = y, for y >= 0; -1e4, where softplus is 0, for 0.
double portableInverseSoftplus(double y);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_RANDOM_H
