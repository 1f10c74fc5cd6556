//===- ScalarTest.cpp - conversions against llvm::APFloat -----------------===//

#include "linattn/Runner/Scalar.h"
#include "Testing.h"

#include "linattn/Runner/Random.h"
#include "llvm/ADT/APFloat.h"

#include <limits>

using namespace linattn::runner;
using llvm::APFloat;

/// The bits of `value` rounded by APFloat.
static uint64_t rounded(APFloat value, const llvm::fltSemantics &semantics) {
  bool lost;
  value.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return value.bitcastToAPInt().getZExtValue();
}

static bool isNaN(uint16_t bits, const llvm::fltSemantics &semantics) {
  return APFloat(semantics, llvm::APInt(16, bits)).isNaN();
}

template <typename T>
static void checkBoth(T value, uint16_t bf16, uint16_t f16) {
  uint16_t wantBF16 = rounded(APFloat(value), APFloat::BFloat());
  uint16_t wantF16 = rounded(APFloat(value), APFloat::IEEEhalf());
  if (value != value) {
    EXPECT(isNaN(bf16, APFloat::BFloat()) && isNaN(f16, APFloat::IEEEhalf()));
    return;
  }
  EXPECT_EQ(bf16, wantBF16);
  EXPECT_EQ(f16, wantF16);
}

static void checkFloat(float value) {
  checkBoth(value, floatToBF16(value), floatToF16(value));
}

static void checkDouble(double value) {
  checkBoth(value, doubleToBF16(value), doubleToF16(value));
}

TEST(ScalarWidensEvery16BitValue) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    APFloat half(APFloat::IEEEhalf(), llvm::APInt(16, bits));
    APFloat brain(APFloat::BFloat(), llvm::APInt(16, bits));
    float f = f16ToFloat(bits), b = bf16ToFloat(bits);
    if (half.isNaN())
      EXPECT(f != f);
    else
      EXPECT_EQ(llvm::bit_cast<uint32_t>(f),
                rounded(half, APFloat::IEEEsingle()));
    if (brain.isNaN())
      EXPECT(b != b);
    else
      EXPECT_EQ(llvm::bit_cast<uint32_t>(b),
                rounded(brain, APFloat::IEEEsingle()));
    // And back: no value of the type changes.
    if (!half.isNaN())
      EXPECT_EQ(floatToF16(f), bits);
    if (!brain.isNaN())
      EXPECT_EQ(floatToBF16(b), bits);
  }
}

TEST(ScalarRoundsAtTiesAndEdges) {
  // Around every 16-bit value: the halfway points and their neighbours.
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    for (double x : {double(f16ToFloat(bits)), double(bf16ToFloat(bits))}) {
      if (!std::isfinite(x))
        continue;
      for (double next :
           {double(f16ToFloat(bits + 1)), double(bf16ToFloat(bits + 1))}) {
        double middle = x + (next - x) / 2;
        for (double y : {middle, std::nextafter(middle, 1e300),
                         std::nextafter(middle, -1e300)})
          checkDouble(y);
        checkFloat(float(middle));
      }
    }
  }
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (double x :
       {inf,         -inf,       std::nan(""), 0.0,       -0.0,
        65519.999,   65520.0,    65536.0,      3.3895e38, 3.3962e38,
        1e39,        -1e300,     1e-300,       0x1p-24,   0x1p-25,
        0x1.8p-25,   0x1p-26,    0x1p-133,     0x1p-134,  0x1.000001p-134,
        0x1.ffep-15, 0x1.ffcp-15}) {
    checkDouble(x);
    checkFloat(float(x));
  }
}

TEST(ScalarRoundsRandomBits) {
  RandomStream stream(1, "scalars");
  for (int i = 0; i < 200000; ++i) {
    checkFloat(llvm::bit_cast<float>(uint32_t(stream.bits(2 * i))));
    checkDouble(llvm::bit_cast<double>(stream.bits(2 * i + 1)));
    // Most random doubles are far out of range: these are not.
    checkDouble((stream.uniform(i) - 0.5) *
                std::pow(2.0, int(stream.below(i, 60)) - 40));
  }
}

TEST(ScalarRoundTo) {
  EXPECT_EQ(roundTo(DType::BF16, 1.00390625), 1.0);      // tie to even
  EXPECT_EQ(roundTo(DType::BF16, 1.01171875), 1.015625); // tie to even, up
  EXPECT_EQ(roundTo(DType::F16, 70000.0),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(roundTo(DType::F32, 0.1), double(0.1f));
  EXPECT_EQ(roundTo(DType::F64, 0.1), 0.1);
}
