//===- InstrDirected.cpp - Arithmetic with directed rounding --------------===//
//
// Compiled with -frounding-math: the host's rounding mode is set around the
// loop over the lanes.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include <cfenv>

using namespace llvm;

namespace linattn::sim {
namespace {

class HostRounding {
public:
  explicit HostRounding(Rounding mode) : saved(std::fegetround()) {
    std::fesetround(mode == Rounding::RZ   ? FE_TOWARDZERO
                    : mode == Rounding::RM ? FE_DOWNWARD
                                           : FE_UPWARD);
  }
  ~HostRounding() { std::fesetround(saved); }

private:
  int saved;
};

template <typename T> T in(const Instr &i, T x) {
  if constexpr (sizeof(T) == 4)
    return i.ftz ? flush(x) : x;
  return x;
}
template <typename T> T out(const Instr &i, T x) {
  if constexpr (sizeof(T) == 4)
    return finishFloat(i, x);
  return x;
}

enum class Arith { Add, Sub, Mul, Div, Fma, Sqrt, Rcp };

template <typename T, Arith O>
Step directed(Warp &w, const Instr &i, uint32_t active) {
  HostRounding mode(i.rounding);
  auto *d = w.out<Stored<T>>(i.op[0]);
  auto *pa = w.in<Stored<T>>(i.op[1]);
  constexpr bool two = O != Arith::Sqrt && O != Arith::Rcp;
  auto *pb = two ? w.in<Stored<T>>(i.op[2]) : pa;
  auto *pc = O == Arith::Fma ? w.in<Stored<T>>(i.op[3]) : pa;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned l = __builtin_ctz(rest);
    T a = in(i, fromBits<T>(pa[l])), b = in(i, fromBits<T>(pb[l])),
      c = in(i, fromBits<T>(pc[l])), r;
    if (O == Arith::Add)
      r = a + b;
    else if (O == Arith::Sub)
      r = a - b;
    else if (O == Arith::Mul)
      r = a * b;
    else if (O == Arith::Div)
      r = a / b;
    else if (O == Arith::Fma)
      r = std::fma(a, b, c);
    else if (O == Arith::Sqrt)
      r = std::sqrt(a);
    else
      r = T(1) / a;
    d[l] = toBits<T>(out(i, r));
  }
  return Step::Next;
}

} // namespace

void registerDirectedRounding(InstrTable &t) {
  constexpr InstrKind F = InstrKind::FP32, D = InstrKind::FP64;
  t.add("add.<rz|rm|rp>[.ftz][.sat].f32", "= < <", directed<float, Arith::Add>,
        F);
  t.add("sub.<rz|rm|rp>[.ftz][.sat].f32", "= < <", directed<float, Arith::Sub>,
        F);
  t.add("mul.<rz|rm|rp>[.ftz][.sat].f32", "= < <", directed<float, Arith::Mul>,
        F);
  t.add("div.<rz|rm|rp>[.ftz].f32", "= < <", directed<float, Arith::Div>, F);
  t.add("fma.<rz|rm|rp>[.ftz][.sat].f32", "= < < <",
        directed<float, Arith::Fma>, F);
  t.add("sqrt.<rz|rm|rp>[.ftz].f32", "= <", directed<float, Arith::Sqrt>, F);
  t.add("rcp.<rz|rm|rp>[.ftz].f32", "= <", directed<float, Arith::Rcp>, F);
  t.add("add.<rz|rm|rp>.f64", "= < <", directed<double, Arith::Add>, D);
  t.add("sub.<rz|rm|rp>.f64", "= < <", directed<double, Arith::Sub>, D);
  t.add("mul.<rz|rm|rp>.f64", "= < <", directed<double, Arith::Mul>, D);
  t.add("div.<rz|rm|rp>.f64", "= < <", directed<double, Arith::Div>, D);
  t.add("fma.<rz|rm|rp>.f64", "= < < <", directed<double, Arith::Fma>, D);
  t.add("sqrt.<rz|rm|rp>.f64", "= <", directed<double, Arith::Sqrt>, D);
  t.add("rcp.<rz|rm|rp>.f64", "= <", directed<double, Arith::Rcp>, D);
}

} // namespace linattn::sim
