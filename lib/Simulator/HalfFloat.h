//===- HalfFloat.h - 16- and 8-bit floating point -------------------------===//
//
// Conversions with one rounding, in every mode PTX has.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_HALFFLOAT_H
#define LINATTN_LIB_SIMULATOR_HALFFLOAT_H

#include "Program.h"
#include <cmath>
#include <cstdint>
#include <cstring>

namespace linattn::sim {

/// A small floating-point format: exponent and mantissa bits.
struct FloatFormat {
  unsigned exponentBits, mantissaBits;
  bool hasInf = true; ///< e4m3: no infinities, one NaN pattern
  unsigned bias() const { return (1u << (exponentBits - 1)) - 1; }
  unsigned signShift() const { return exponentBits + mantissaBits; }
};
constexpr FloatFormat formatF16{5, 10}, formatBF16{8, 7},
    formatE4M3{4, 3, false}, formatE5M2{5, 2}, formatF32{8, 23},
    formatTF32{8, 10};

inline uint64_t nanOf(const FloatFormat &f) {
  // The GPU's NaN has every bit but the sign set.
  return (uint64_t(1) << f.signShift()) - 1;
}

/// Rounds a double to the format. `sticky`: the true value lies a little
/// further from zero than `x`. `saturate`: values beyond the largest become the
/// largest.
inline uint64_t roundTo(const FloatFormat &f, double x, Rounding mode,
                        bool saturate = false, bool sticky = false) {
  uint64_t bits;
  std::memcpy(&bits, &x, 8);
  uint64_t sign = bits >> 63 << f.signShift();
  bool negative = bits >> 63;
  int exponent = int(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  uint64_t maxFinite =
      f.hasInf ? ((((uint64_t(1) << f.exponentBits) - 1) << f.mantissaBits) - 1)
               : nanOf(f) - 1;
  uint64_t inf = f.hasInf ? maxFinite + 1 : nanOf(f);
  if (exponent == 0x7ff) {
    if (mantissa)
      return nanOf(f);
    return sign | (saturate ? maxFinite : inf);
  }
  if (exponent == 0 && mantissa == 0 && !sticky)
    return sign;
  // value = significand * 2^(e - 52)
  uint64_t significand = exponent ? mantissa | uint64_t(1) << 52 : mantissa;
  int e = exponent ? exponent - 1023 : -1022;
  int minExponent = 1 - int(f.bias());
  int drop = 52 - int(f.mantissaBits);
  if (e < minExponent)
    drop += minExponent - e;
  uint64_t kept, rest, half;
  if (drop > 62) {
    kept = 0;
    rest = 1;
    half = 2;
  } else {
    kept = significand >> drop;
    rest = significand & ((uint64_t(1) << drop) - 1);
    half = uint64_t(1) << (drop - 1);
  }
  bool inexact = rest || sticky, up = false;
  switch (mode) {
  case Rounding::RZ:
  case Rounding::RZI:
    break;
  case Rounding::RM:
  case Rounding::RMI:
    up = negative && inexact;
    break;
  case Rounding::RP:
  case Rounding::RPI:
    up = !negative && inexact;
    break;
  case Rounding::RNA:
    up = rest >= half;
    break;
  default:
    up = rest > half || (rest == half && (sticky || (kept & 1)));
  }
  uint64_t result;
  int biased = e < minExponent ? 0 : e + int(f.bias());
  if (biased == 0)
    result = kept; // subnormal, or the smallest normal after carry
  else
    result = (uint64_t(biased) << f.mantissaBits) +
             (kept - (uint64_t(1) << f.mantissaBits));
  result += up;
  if (result > maxFinite || (biased > 0 && biased >= (1 << f.exponentBits))) {
    bool towardsZero = mode == Rounding::RZ ||
                       (mode == Rounding::RM && !negative) ||
                       (mode == Rounding::RP && negative);
    result = saturate || towardsZero ? maxFinite : inf;
  }
  return sign | result;
}

inline double toDouble(const FloatFormat &f, uint64_t bits) {
  bool negative = bits >> f.signShift() & 1;
  uint64_t magnitude = bits & ((uint64_t(1) << f.signShift()) - 1);
  uint64_t exponent = magnitude >> f.mantissaBits;
  uint64_t mantissa = magnitude & ((uint64_t(1) << f.mantissaBits) - 1);
  double value;
  if (f.hasInf ? exponent == (uint64_t(1) << f.exponentBits) - 1
               : magnitude == nanOf(f))
    value = f.hasInf && !mantissa ? HUGE_VAL : NAN;
  else if (exponent == 0)
    value =
        std::ldexp(double(mantissa), 1 - int(f.bias()) - int(f.mantissaBits));
  else
    value = std::ldexp(double(mantissa | uint64_t(1) << f.mantissaBits),
                       int(exponent) - int(f.bias()) - int(f.mantissaBits));
  return negative ? -value : value;
}

inline float bf16ToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
inline float halfToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16, rest = h & 0x7fff, bits;
  if (rest >= 0x7c00) {
    bits = sign | 0x7f800000 | (rest & 0x3ff) << 13;
  } else if (rest >= 0x400) {
    bits = sign | ((rest << 13) + (112u << 23));
  } else {
    float value = float(rest) * 0x1p-24f;
    std::memcpy(&bits, &value, 4);
    bits |= sign;
  }
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline uint16_t floatToBF16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return 0x7fff;
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline uint16_t floatToHalf(float x) {
  return uint16_t(roundTo(formatF16, x, Rounding::RN));
}

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_HALFFLOAT_H
