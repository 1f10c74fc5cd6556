//===- InstrHalf.cpp - f16 and bf16, single and packed --------------------===//
//
// Sums, products and quotients of 16-bit numbers are rounded right when
// computed in double and rounded once more. A fused multiply-add needs more
// than 53 bits; its sum is rounded to odd first.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include "HalfFloat.h"

using namespace llvm;

namespace linattn::sim {
namespace {

struct F16 {
  static constexpr FloatFormat format = formatF16;
  static double widen(uint16_t b) { return halfToFloat(b); }
};
struct BF16 {
  static constexpr FloatFormat format = formatBF16;
  static double widen(uint16_t b) { return bf16ToFloat(b); }
};

template <typename H> uint16_t narrow(double x) {
  if (x != x)
    return uint16_t(nanOf(H::format));
  return uint16_t(roundTo(H::format, x, Rounding::RN));
}

/// a + b, to odd: the last bit is set when the sum is inexact.
double addToOdd(double a, double b) {
  double s = a + b;
  if (!std::isfinite(s))
    return s;
  double bb = s - a, error = (a - (s - bb)) + (b - bb);
  if (error == 0)
    return s;
  uint64_t bits = toBits(s);
  if (bits & 1)
    return s;
  // Rounded to even: step to the odd neighbour on the side of the error.
  bool away = (error > 0) == (s > 0);
  return fromBits<double>(away ? bits + 1 : bits - 1);
}

template <typename H> bool isSubnormal(uint16_t b) {
  return !(b &
           (((1u << H::format.exponentBits) - 1) << H::format.mantissaBits));
}
template <typename H> uint16_t flushHalf(uint16_t b) {
  return isSubnormal<H>(b) ? b & 0x8000 : b;
}
template <typename H> bool isNan(uint16_t b) {
  return (b & 0x7fff) >
         (((1u << H::format.exponentBits) - 1) << H::format.mantissaBits);
}

template <typename H> uint16_t finish(const Instr &i, double r) {
  uint16_t bits = narrow<H>(r);
  if (i.ftz)
    bits = flushHalf<H>(bits);
  if (i.sat) {
    double v = H::widen(bits);
    if (!(v > 0))
      bits = 0;
    else if (v > 1)
      bits = narrow<H>(1.0);
  }
  if (i.relu && !isNan<H>(bits) && (bits & 0x8000))
    bits = 0;
  return bits;
}

template <typename H> uint16_t operand(const Instr &i, uint16_t b) {
  return i.ftz ? flushHalf<H>(b) : b;
}

struct Add {
  static double apply(double a, double b) { return a + b; }
};
struct Sub {
  static double apply(double a, double b) { return a - b; }
};
struct Mul {
  static double apply(double a, double b) { return a * b; }
};

template <typename H, typename Op> struct Arith2 {
  static uint16_t apply(const Instr &i, uint16_t a, uint16_t b) {
    return finish<H>(
        i, Op::apply(H::widen(operand<H>(i, a)), H::widen(operand<H>(i, b))));
  }
};
template <typename H> struct FusedMulAdd {
  static uint16_t apply(const Instr &i, uint16_t a, uint16_t b, uint16_t c) {
    double p = H::widen(operand<H>(i, a)) * H::widen(operand<H>(i, b));
    return finish<H>(i, addToOdd(p, H::widen(operand<H>(i, c))));
  }
};

enum MinMaxBits { MinMaxNan = 1, MinMaxXorSign = 2, MinMaxIsMax = 4 };
Error decodeMinMax(Instr &i, const Words &words) {
  for (StringRef word : words)
    i.detail |= word == "NaN"       ? MinMaxNan
                : word == "xorsign" ? MinMaxXorSign
                                    : 0;
  i.detail |= words[0] == "max" ? MinMaxIsMax : 0;
  return Error::success();
}
template <typename H> struct MinMax {
  static uint16_t apply(const Instr &i, uint16_t a, uint16_t b) {
    a = operand<H>(i, a);
    b = operand<H>(i, b);
    uint16_t sign = 0;
    bool xorSign = i.detail & MinMaxXorSign;
    if (xorSign) {
      sign = (a ^ b) & 0x8000;
      a &= 0x7fff;
      b &= 0x7fff;
    }
    bool nanA = isNan<H>(a), nanB = isNan<H>(b);
    if (nanA || nanB) {
      if ((i.detail & MinMaxNan) || (nanA && nanB))
        return uint16_t(nanOf(H::format));
      return (nanA ? b : a) | sign;
    }
    // As signed integers the patterns order as the numbers do.
    auto key = [](uint16_t x) {
      return x & 0x8000 ? -int(x & 0x7fff) - 1 : int(x);
    };
    bool takeA = i.detail & MinMaxIsMax ? key(a) > key(b) : key(a) < key(b);
    return (takeA ? a : b) | sign;
  }
};

struct NegBits {
  static uint16_t apply(const Instr &, uint16_t a) { return a ^ 0x8000; }
};
struct AbsBits {
  static uint16_t apply(const Instr &, uint16_t a) { return a & 0x7fff; }
};
template <typename H, typename F> struct SignOf {
  static uint16_t apply(const Instr &i, uint16_t a) {
    return F::apply(i, operand<H>(i, a));
  }
};
template <typename H> struct Ex2 {
  static uint16_t apply(const Instr &i, uint16_t a) {
    return finish<H>(i, std::exp2(H::widen(operand<H>(i, a))));
  }
};
template <typename H> struct Tanh {
  static uint16_t apply(const Instr &i, uint16_t a) {
    return finish<H>(i, std::tanh(H::widen(operand<H>(i, a))));
  }
};

/// Runs F on the low halves, and on the high ones too when packed.
template <typename F, bool Packed>
Step half1(Warp &w, const Instr &i, uint32_t active) {
  return map1<uint32_t, uint32_t>(w, i, active, [&](uint32_t a) -> uint32_t {
    uint32_t r = F::apply(i, uint16_t(a));
    if (Packed)
      r |= uint32_t(F::apply(i, uint16_t(a >> 16))) << 16;
    return r;
  });
}
template <typename F, bool Packed>
Step half2(Warp &w, const Instr &i, uint32_t active) {
  return map2<uint32_t, uint32_t, uint32_t>(
      w, i, active, [&](uint32_t a, uint32_t b) -> uint32_t {
        uint32_t r = F::apply(i, uint16_t(a), uint16_t(b));
        if (Packed)
          r |= uint32_t(F::apply(i, uint16_t(a >> 16), uint16_t(b >> 16)))
               << 16;
        return r;
      });
}
template <typename F, bool Packed>
Step half3(Warp &w, const Instr &i, uint32_t active) {
  return map3<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, i, active, [&](uint32_t a, uint32_t b, uint32_t c) -> uint32_t {
        uint32_t r = F::apply(i, uint16_t(a), uint16_t(b), uint16_t(c));
        if (Packed)
          r |= uint32_t(F::apply(i, uint16_t(a >> 16), uint16_t(b >> 16),
                                 uint16_t(c >> 16)))
               << 16;
        return r;
      });
}

template <typename H>
void registerFormat(InstrTable &t, StringRef one, StringRef two) {
  constexpr InstrKind K = InstrKind::FP16;
  auto both = [&](StringRef head, StringRef operands, ExecFn single,
                  ExecFn packed, DecodeFn decode = nullptr) {
    t.add((head + "." + one).str(), operands, single, K, 0, decode);
    t.add((head + "." + two).str(), operands, packed, K, 0, decode);
  };
#define LINATTN_BOTH(TEMPLATE, ...)                                            \
  TEMPLATE<__VA_ARGS__, false>, TEMPLATE<__VA_ARGS__, true>
  both("add[.rn][.ftz][.sat]", "= < <", LINATTN_BOTH(half2, Arith2<H, Add>));
  both("sub[.rn][.ftz][.sat]", "= < <", LINATTN_BOTH(half2, Arith2<H, Sub>));
  both("mul[.rn][.ftz][.sat]", "= < <", LINATTN_BOTH(half2, Arith2<H, Mul>));
  both("fma.rn[.ftz][.sat][.relu]", "= < < <",
       LINATTN_BOTH(half3, FusedMulAdd<H>));
  both("min[.ftz][.NaN][.xorsign][.abs]", "= < <",
       LINATTN_BOTH(half2, MinMax<H>), decodeMinMax);
  both("max[.ftz][.NaN][.xorsign][.abs]", "= < <",
       LINATTN_BOTH(half2, MinMax<H>), decodeMinMax);
  both("neg[.ftz]", "= <", half1<SignOf<H, NegBits>, false>,
       half1<SignOf<H, NegBits>, true>);
  both("abs[.ftz]", "= <", half1<SignOf<H, AbsBits>, false>,
       half1<SignOf<H, AbsBits>, true>);
  both("ex2.approx[.ftz]", "= <", LINATTN_BOTH(half1, Ex2<H>));
  both("tanh.approx", "= <", LINATTN_BOTH(half1, Tanh<H>));
#undef LINATTN_BOTH
}

} // namespace

void registerHalf(InstrTable &t) {
  registerFormat<F16>(t, "f16", "f16x2");
  registerFormat<BF16>(t, "bf16", "bf16x2");
}

} // namespace linattn::sim
