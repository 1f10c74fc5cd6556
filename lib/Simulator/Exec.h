//===- Exec.h - Helpers to write instructions with ------------------------===//
//
// An instruction sees 32 lanes at once. Registers of up to 32 bits lie as 32
// uint32_t, those of 64 bits as 32 uint64_t. `lanes` runs a function for the
// active ones, and without a test for each when all are.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_EXEC_H
#define LINATTN_LIB_SIMULATOR_EXEC_H

#include "InstrTable.h"
#include "State.h"
#include <cmath>
#include <cstring>
#include <type_traits>

namespace linattn::sim {

/// How a value of type T lies in a register.
template <typename T>
using Stored = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T> T fromBits(Stored<T> bits) {
  if constexpr (std::is_integral_v<T>) {
    return T(bits);
  } else {
    T value;
    std::memcpy(&value, &bits, sizeof(T));
    return value;
  }
}

/// Signed values narrower than their register are not sign-extended in it.
template <typename T> Stored<T> toBits(T value) {
  if constexpr (std::is_integral_v<T>) {
    return std::make_unsigned_t<T>(value);
  } else {
    Stored<T> bits;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
  }
}

inline constexpr uint32_t allLanes = ~0u;

template <typename F> inline void lanes(uint32_t active, F f) {
  if (active == allLanes) {
#pragma clang loop vectorize(assume_safety)
    for (unsigned lane = 0; lane < 32; ++lane)
      f(lane);
    return;
  }
  for (uint32_t rest = active; rest; rest &= rest - 1)
    f(unsigned(__builtin_ctz(rest)));
}

/// d = f(a)
template <typename D, typename A, typename F>
inline Step map1(Warp &w, const Instr &i, uint32_t active, F f) {
  auto *d = w.out<Stored<D>>(i.op[0]);
  auto *a = w.in<Stored<A>>(i.op[1]);
  lanes(active, [=](unsigned l) { d[l] = toBits<D>(f(fromBits<A>(a[l]))); });
  return Step::Next;
}

/// d = f(a, b)
template <typename D, typename A, typename B, typename F>
inline Step map2(Warp &w, const Instr &i, uint32_t active, F f) {
  auto *d = w.out<Stored<D>>(i.op[0]);
  auto *a = w.in<Stored<A>>(i.op[1]);
  auto *b = w.in<Stored<B>>(i.op[2]);
  lanes(active, [=](unsigned l) {
    d[l] = toBits<D>(f(fromBits<A>(a[l]), fromBits<B>(b[l])));
  });
  return Step::Next;
}

/// d = f(a, b, c)
template <typename D, typename A, typename B, typename C, typename F>
inline Step map3(Warp &w, const Instr &i, uint32_t active, F f) {
  auto *d = w.out<Stored<D>>(i.op[0]);
  auto *a = w.in<Stored<A>>(i.op[1]);
  auto *b = w.in<Stored<B>>(i.op[2]);
  auto *c = w.in<Stored<C>>(i.op[3]);
  lanes(active, [=](unsigned l) {
    d[l] =
        toBits<D>(f(fromBits<A>(a[l]), fromBits<B>(b[l]), fromBits<C>(c[l])));
  });
  return Step::Next;
}

/// A predicate from lanes.
template <typename F> inline uint32_t predicateOf(uint32_t active, F f) {
  uint32_t mask = 0;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    mask |= uint32_t(bool(f(lane))) << lane;
  }
  return mask;
}

/// Function objects of an operation as template arguments.
template <typename T, typename Op>
Step unary(Warp &w, const Instr &i, uint32_t active) {
  return map1<T, T>(w, i, active, [](T a) { return Op::apply(a); });
}
template <typename T, typename Op>
Step binary(Warp &w, const Instr &i, uint32_t active) {
  return map2<T, T, T>(w, i, active, [](T a, T b) { return Op::apply(a, b); });
}
template <typename T, typename Op>
Step ternary(Warp &w, const Instr &i, uint32_t active) {
  return map3<T, T, T, T>(w, i, active,
                          [](T a, T b, T c) { return Op::apply(a, b, c); });
}

//===--- Floating point
//-----------------------------------------------------===//

constexpr uint32_t canonicalNan = 0x7fffffff;

/// Subnormals become zeros of their sign.
inline float flush(float x) {
  uint32_t bits = toBits(x);
  return (bits & 0x7f800000) ? x : fromBits<float>(bits & 0x80000000);
}
/// The GPU's one NaN of single precision.
inline float canonical(float x) {
  return x != x ? fromBits<float>(canonicalNan) : x;
}
inline float saturate(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
inline double saturate(double x) { return x > 0 ? (x < 1 ? x : 1.0) : 0.0; }

/// What a single-precision result goes through.
inline float finishFloat(const Instr &i, float x) {
  if (i.ftz)
    x = flush(x);
  if (i.sat)
    x = saturate(x);
  return canonical(x);
}

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_EXEC_H
