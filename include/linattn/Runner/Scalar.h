//===- Scalar.h - element types and their conversions -----------*- C++ -*-===//
//
// Part of linattn. The element types of host arrays, and conversions between
// them that round once, to nearest even. They work on bits and have no branch
// in the common path, so that loops over them vectorize.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_SCALAR_H
#define LINATTN_RUNNER_SCALAR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstdint>
#include <optional>

namespace linattn {
namespace runner {

enum class DType : uint8_t { F16, BF16, F32, F64, I32, I64 };

inline size_t sizeInBytes(DType type) {
  switch (type) {
  case DType::F16:
  case DType::BF16:
    return 2;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::F64:
  case DType::I64:
    return 8;
  }
  return 0;
}

/// The name of the type in MLIR: f16, bf16, f32, f64, i32, i64.
llvm::StringRef nameOf(DType type);

inline bool isFloat(DType type) {
  return type != DType::I32 && type != DType::I64;
}

inline bool is16Bit(DType type) { return sizeInBytes(type) == 2; }

inline float bf16ToFloat(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

inline uint16_t floatToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  // Half of the last place that stays, less one where that place is even.
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
  // A NaN stays one: the addition could carry it into infinity or to -0.
  uint32_t quiet = (bits >> 16) | 0x40u;
  return value != value ? quiet : rounded;
}

inline float f16ToFloat(uint16_t bits) {
  uint32_t magnitude = uint32_t(bits & 0x7fff) << 13;
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  // The exponents' biases differ by 112; a product by 2^112 is exact and takes
  // the denormals along.
  float scaled = llvm::bit_cast<float>(magnitude) * 0x1p112f;
  uint32_t special = magnitude | 0x7f800000u;
  uint32_t finite = llvm::bit_cast<uint32_t>(scaled);
  return llvm::bit_cast<float>(sign |
                               (magnitude >= 0x0f800000u ? special : finite));
}

inline uint16_t floatToF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  // Below 2^-14 the result counts in units of 2^-24, the last place of a float
  // in [0.5, 1): the addition does the rounding.
  float shifted = llvm::bit_cast<float>(magnitude) + 0.5f;
  uint32_t denormal = llvm::bit_cast<uint32_t>(shifted) - 0x3f000000u;
  uint32_t normal =
      (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1)) >> 13;
  uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  uint32_t result = magnitude < 0x38800000u ? denormal : normal;
  return sign | (magnitude >= 0x47800000u ? special : result);
}

/// Rounds to odd: truncates, and sets the last bit where something was lost.
/// Rounding the result again, to two bits less or fewer, rounds `value` once.
inline float doubleToFloatOdd(double value) {
  float nearest = static_cast<float>(value);
  uint32_t bits = llvm::bit_cast<uint32_t>(nearest);
  bits -= std::fabs(double(nearest)) > std::fabs(value) ? 1 : 0;
  bits |= double(nearest) != value ? 1 : 0;
  return llvm::bit_cast<float>(bits);
}

inline uint16_t doubleToBF16(double value) {
  return floatToBF16(doubleToFloatOdd(value));
}

inline uint16_t doubleToF16(double value) {
  return floatToF16(doubleToFloatOdd(value));
}

/// `value` rounded to `type` and widened again.
double roundTo(DType type, double value);

/// Smallest positive normal number of a float type, in the arithmetic behind
/// it: products that feed bf16 and f32 values are made in f32.
double smallestNormal(DType type);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_SCALAR_H
