//===- InstrFloat.cpp - Single and double precision -----------------------===//
//
// The approximations (ex2, lg2, sin, ..) are computed in double precision and
// rounded once, which lies within the error that PTX documents for them.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"

using namespace llvm;

namespace linattn::sim {
namespace {

struct Add {
  template <typename T> static T apply(T a, T b) { return a + b; }
};
struct Sub {
  template <typename T> static T apply(T a, T b) { return a - b; }
};
struct Mul {
  template <typename T> static T apply(T a, T b) { return a * b; }
};
struct Div {
  template <typename T> static T apply(T a, T b) { return a / b; }
};
struct Fma {
  template <typename T> static T apply(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};

/// Minimum and maximum of numbers; -0 is less than +0.
struct Min {
  template <typename T> static T apply(T a, T b) {
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct Max {
  template <typename T> static T apply(T a, T b) {
    if (a == b)
      return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};
struct Neg {
  template <typename T> static T apply(T a) { return -a; }
};
struct Abs {
  template <typename T> static T apply(T a) { return std::fabs(a); }
};
struct Sqrt {
  template <typename T> static T apply(T a) { return std::sqrt(a); }
};
struct Rcp {
  template <typename T> static T apply(T a) { return 1 / a; }
};

// Single-precision approximations.
struct RcpApprox {
  static float apply(float a) { return float(1.0 / double(a)); }
};
struct RsqrtApprox {
  static float apply(float a) { return float(1.0 / std::sqrt(double(a))); }
};
struct SqrtApprox {
  static float apply(float a) { return float(std::sqrt(double(a))); }
};
struct Ex2 {
  static float apply(float a) { return float(std::exp2(double(a))); }
};
struct Lg2 {
  static float apply(float a) { return float(std::log2(double(a))); }
};
struct Sin {
  static float apply(float a) { return float(std::sin(double(a))); }
};
struct Cos {
  static float apply(float a) { return float(std::cos(double(a))); }
};
struct Tanh {
  static float apply(float a) { return float(std::tanh(double(a))); }
};

template <bool Ftz, typename Op>
Step f32Unary(Warp &w, const Instr &i, uint32_t active) {
  return map1<float, float>(w, i, active, [](float a) {
    if (Ftz)
      a = flush(a);
    float r = Op::apply(a);
    return canonical(Ftz ? flush(r) : r);
  });
}
template <bool Ftz, typename Op>
Step f32Binary(Warp &w, const Instr &i, uint32_t active) {
  bool sat = i.sat;
  return map2<float, float, float>(w, i, active, [=](float a, float b) {
    if (Ftz) {
      a = flush(a);
      b = flush(b);
    }
    float r = Op::apply(a, b);
    if (Ftz)
      r = flush(r);
    return sat ? saturate(r) : canonical(r);
  });
}
template <bool Ftz> Step f32Fma(Warp &w, const Instr &i, uint32_t active) {
  bool sat = i.sat;
  return map3<float, float, float, float>(
      w, i, active, [=](float a, float b, float c) {
        if (Ftz) {
          a = flush(a);
          b = flush(b);
          c = flush(c);
        }
        float r = std::fma(a, b, c);
        if (Ftz)
          r = flush(r);
        return sat ? saturate(r) : canonical(r);
      });
}

/// Neg and abs of single precision touch the sign alone, of NaNs too.
template <bool Ftz, bool IsAbs>
Step f32Sign(Warp &w, const Instr &i, uint32_t active) {
  return map1<float, float>(w, i, active, [](float a) {
    if (Ftz)
      a = flush(a);
    uint32_t bits = toBits(a);
    return fromBits<float>(IsAbs ? bits & 0x7fffffff : bits ^ 0x80000000);
  });
}

enum MinMaxBits { MinMaxNan = 1, MinMaxXorSign = 2 };
Error decodeMinMax(Instr &i, const Words &words) {
  for (StringRef word : words)
    i.detail |= word == "NaN"       ? MinMaxNan
                : word == "xorsign" ? MinMaxXorSign
                                    : 0;
  return Error::success();
}

template <typename T, typename Op> T minMax(T a, T b, bool nan) {
  if (a != a || b != b) {
    if (nan || (a != a && b != b))
      return std::numeric_limits<T>::quiet_NaN();
    return a != a ? b : a;
  }
  return Op::apply(a, b);
}

template <typename Op>
Step f32MinMax(Warp &w, const Instr &i, uint32_t active) {
  bool ftz = i.ftz, nan = i.detail & MinMaxNan,
       xorSign = i.detail & MinMaxXorSign;
  auto one = [=](float a, float b) {
    if (ftz) {
      a = flush(a);
      b = flush(b);
    }
    if (!xorSign)
      return canonical(minMax<float, Op>(a, b, nan));
    float r = minMax<float, Op>(std::fabs(a), std::fabs(b), nan);
    bool negative = std::signbit(a) != std::signbit(b);
    return canonical(negative ? -r : r);
  };
  if (i.numArgs == 4)
    return map3<float, float, float, float>(
        w, i, active,
        [=](float a, float b, float c) { return one(one(a, b), c); });
  return map2<float, float, float>(w, i, active, one);
}
template <typename Op>
Step f64MinMax(Warp &w, const Instr &i, uint32_t active) {
  return map2<double, double, double>(w, i, active, [](double a, double b) {
    return minMax<double, Op>(a, b, false);
  });
}

/// The hardware's fast division: a times an approximate reciprocal.
template <bool Ftz>
Step f32DivApprox(Warp &w, const Instr &i, uint32_t active) {
  return map2<float, float, float>(w, i, active, [](float a, float b) {
    if (Ftz) {
      a = flush(a);
      b = flush(b);
    }
    float r = float(double(a) / double(b));
    return canonical(Ftz ? flush(r) : r);
  });
}

/// rcp.approx.ftz.f64: 20 bits of mantissa, subnormals flushed.
template <bool Root> Step f64Approx(Warp &w, const Instr &i, uint32_t active) {
  return map1<double, double>(w, i, active, [](double a) {
    uint64_t bits = toBits(a);
    if (!(bits << 1 >> 53))
      a = std::copysign(0.0, a);
    double r = Root ? 1 / std::sqrt(a) : 1 / a;
    bits = toBits(r) & 0xffffffff00000000;
    if (r != r)
      bits = 0x7fffffff00000000;
    return fromBits<double>(bits);
  });
}

Step copysignF32(Warp &w, const Instr &i, uint32_t active) {
  return map2<uint32_t, uint32_t, uint32_t>(
      w, i, active, [](uint32_t a, uint32_t b) {
        return (a & 0x80000000) | (b & 0x7fffffff);
      });
}
Step copysignF64(Warp &w, const Instr &i, uint32_t active) {
  constexpr uint64_t sign = uint64_t(1) << 63;
  return map2<uint64_t, uint64_t, uint64_t>(
      w, i, active,
      [](uint64_t a, uint64_t b) { return (a & sign) | (b & ~sign); });
}

Step testp(Warp &w, const Instr &i, uint32_t active) {
  auto test = [&](auto type) {
    using T = decltype(type);
    auto *a = w.in<Stored<T>>(i.op[1]);
    return predicateOf(active, [&](unsigned l) -> bool {
      T x = fromBits<T>(a[l]);
      switch (i.detail) {
      case 0:
        return std::isfinite(x);
      case 1:
        return std::isinf(x);
      case 2:
        return !std::isnan(x);
      case 3:
        return std::isnan(x);
      case 4:
        return std::isnormal(x);
      default:
        return std::fpclassify(x) == FP_SUBNORMAL;
      }
    });
  };
  w.setPred(i.op[0], active, i.type() == Type::F64 ? test(0.0) : test(0.0f));
  return Step::Next;
}
Error decodeTestp(Instr &i, const Words &words) {
  static constexpr StringLiteral names[] = {
      "finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  for (unsigned n = 0; n < 6; ++n)
    if (words[1] == names[n])
      i.detail = n;
  return Error::success();
}

} // namespace

void registerFloat(InstrTable &t) {
  constexpr InstrKind F = InstrKind::FP32, D = InstrKind::FP64,
                      S = InstrKind::SpecialFunction;
  auto f32 = [&](StringRef head, StringRef tail, StringRef operands,
                 InstrKind kind, ExecFn plain, ExecFn ftz) {
    t.add((head + ".ftz" + tail).str(), operands, ftz, kind);
    t.add((head + tail).str(), operands, plain, kind);
  };
#define LINATTN_FTZ(FN, ...) FN<false, ##__VA_ARGS__>, FN<true, ##__VA_ARGS__>
  f32("add[.rn]", "[.sat].f32", "= < <", F, LINATTN_FTZ(f32Binary, Add));
  f32("sub[.rn]", "[.sat].f32", "= < <", F, LINATTN_FTZ(f32Binary, Sub));
  f32("mul[.rn]", "[.sat].f32", "= < <", F, LINATTN_FTZ(f32Binary, Mul));
  f32("fma.rn", "[.sat].f32", "= < < <", F, LINATTN_FTZ(f32Fma));
  f32("mad[.rn]", "[.sat].f32", "= < < <", F, LINATTN_FTZ(f32Fma));
  f32("div.rn", ".f32", "= < <", F, LINATTN_FTZ(f32Binary, Div));
  f32("div.<approx|full>", ".f32", "= < <", S, LINATTN_FTZ(f32DivApprox));
  f32("sqrt.rn", ".f32", "= <", F, LINATTN_FTZ(f32Unary, Sqrt));
  f32("rcp.rn", ".f32", "= <", F, LINATTN_FTZ(f32Unary, Rcp));
  f32("neg", ".f32", "= <", F, LINATTN_FTZ(f32Sign, false));
  f32("abs", ".f32", "= <", F, LINATTN_FTZ(f32Sign, true));
  f32("rcp.approx", ".f32", "= <", S, LINATTN_FTZ(f32Unary, RcpApprox));
  f32("sqrt.approx", ".f32", "= <", S, LINATTN_FTZ(f32Unary, SqrtApprox));
  f32("rsqrt.approx", ".f32", "= <", S, LINATTN_FTZ(f32Unary, RsqrtApprox));
  f32("ex2.approx", ".f32", "= <", S, LINATTN_FTZ(f32Unary, Ex2));
  f32("lg2.approx", ".f32", "= <", S, LINATTN_FTZ(f32Unary, Lg2));
  f32("sin.approx", ".f32", "= <", S, LINATTN_FTZ(f32Unary, Sin));
  f32("cos.approx", ".f32", "= <", S, LINATTN_FTZ(f32Unary, Cos));
  t.add("tanh.approx.f32", "= <", f32Unary<false, Tanh>, S);
#undef LINATTN_FTZ
  t.add("min[.ftz][.NaN][.xorsign][.abs].f32", "= < < <?", f32MinMax<Min>, F, 0,
        decodeMinMax);
  t.add("max[.ftz][.NaN][.xorsign][.abs].f32", "= < < <?", f32MinMax<Max>, F, 0,
        decodeMinMax);
  t.add("copysign.f32", "= < <", copysignF32, F);
  t.add("copysign.f64", "= < <", copysignF64, D);
  t.add("testp.<finite|infinite|number|notanumber|normal|subnormal>.<f32|f64>",
        "=pred <", testp, F, 0, decodeTestp);

  t.add("add[.rn].f64", "= < <", binary<double, Add>, D);
  t.add("sub[.rn].f64", "= < <", binary<double, Sub>, D);
  t.add("mul[.rn].f64", "= < <", binary<double, Mul>, D);
  t.add("fma.rn.f64", "= < < <", ternary<double, Fma>, D);
  t.add("mad.rn.f64", "= < < <", ternary<double, Fma>, D);
  t.add("div.rn.f64", "= < <", binary<double, Div>, D);
  t.add("sqrt.rn.f64", "= <", unary<double, Sqrt>, D);
  t.add("rcp.rn.f64", "= <", unary<double, Rcp>, D);
  t.add("neg.f64", "= <", unary<double, Neg>, D);
  t.add("abs.f64", "= <", unary<double, Abs>, D);
  t.add("min.f64", "= < <", f64MinMax<Min>, D);
  t.add("max.f64", "= < <", f64MinMax<Max>, D);
  t.add("rcp.approx.ftz.f64", "= <", f64Approx<false>, S);
  t.add("rsqrt.approx[.ftz].f64", "= <", f64Approx<true>, S);
}

} // namespace linattn::sim
