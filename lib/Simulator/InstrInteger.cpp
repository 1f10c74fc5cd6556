//===- InstrInteger.cpp - Integer arithmetic and bits ---------------------===//

#include "Exec.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {
namespace {

template <typename T> using U = std::make_unsigned_t<T>;
template <typename T> constexpr unsigned bitsOf = sizeof(T) * 8;

struct Add {
  template <typename T> static T apply(T a, T b) {
    return T(U<T>(a) + U<T>(b));
  }
};
struct Sub {
  template <typename T> static T apply(T a, T b) {
    return T(U<T>(a) - U<T>(b));
  }
};
struct And {
  template <typename T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <typename T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <typename T> static T apply(T a, T b) { return a ^ b; }
};
struct Min {
  template <typename T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <typename T> static T apply(T a, T b) { return a > b ? a : b; }
};
struct Not {
  template <typename T> static T apply(T a) { return T(~a); }
};
struct Neg {
  template <typename T> static T apply(T a) { return T(U<T>(0) - U<T>(a)); }
};
struct Abs {
  template <typename T> static T apply(T a) {
    return a < 0 ? Neg::apply(a) : a;
  }
};
struct CNot {
  template <typename T> static T apply(T a) { return a == 0; }
};

struct AddSat {
  static int32_t apply(int32_t a, int32_t b) {
    return int32_t(std::clamp<int64_t>(int64_t(a) + b, INT32_MIN, INT32_MAX));
  }
};
struct SubSat {
  static int32_t apply(int32_t a, int32_t b) {
    return int32_t(std::clamp<int64_t>(int64_t(a) - b, INT32_MIN, INT32_MAX));
  }
};

struct MulLo {
  template <typename T> static T apply(T a, T b) {
    return T(uint64_t(U<T>(a)) * uint64_t(U<T>(b)));
  }
};
struct MulHi {
  template <typename T> static T apply(T a, T b) {
    using W =
        std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return T((W(a) * W(b)) >> bitsOf<T>);
  }
};
struct MadLo {
  template <typename T> static T apply(T a, T b, T c) {
    return Add::apply(MulLo::apply(a, b), c);
  }
};
struct MadHi {
  template <typename T> static T apply(T a, T b, T c) {
    return Add::apply(MulHi::apply(a, b), c);
  }
};

// Division by zero gives all bits set, as the hardware does; the remainder is
// the dividend.
struct Div {
  template <typename T> static T apply(T a, T b) {
    if (b == 0)
      return T(~T(0));
    if (std::is_signed_v<T> && b == T(-1))
      return Neg::apply(a);
    return a / b;
  }
};
struct Rem {
  template <typename T> static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed_v<T> && b == T(-1))
      return 0;
    return a % b;
  }
};

struct PopC {
  template <typename T> static uint32_t apply(T a) { return popcount(a); }
};
struct Clz {
  template <typename T> static uint32_t apply(T a) { return countl_zero(a); }
};
struct BRev {
  template <typename T> static T apply(T a) {
    T r = 0;
    for (unsigned i = 0; i < bitsOf<T>; ++i)
      r |= (a >> i & 1) << (bitsOf<T> - 1 - i);
    return r;
  }
};
template <bool ShiftAmount> struct FindTop {
  template <typename T> static uint32_t apply(T a) {
    U<T> u = std::is_signed_v<T> && a < 0 ? U<T>(~a) : U<T>(a);
    if (u == 0)
      return ~0u;
    uint32_t top = bitsOf<T> - 1 - countl_zero(u);
    return ShiftAmount ? bitsOf<T> - 1 - top : top;
  }
};

template <typename T, typename F>
Step count(Warp &w, const Instr &i, uint32_t active) {
  return map1<uint32_t, T>(w, i, active, [](T a) { return F::apply(a); });
}

/// Shifts clamp their amount at the width.
struct Shl {
  template <typename T> static T apply(T a, uint32_t n) {
    return n >= bitsOf<T> ? T(0) : T(U<T>(a) << n);
  }
};
struct Shr {
  template <typename T> static T apply(T a, uint32_t n) {
    if (n >= bitsOf<T>)
      return a < 0 ? T(-1) : T(0);
    return a >> n;
  }
};
template <typename T, typename F>
Step shift(Warp &w, const Instr &i, uint32_t active) {
  return map2<T, T, uint32_t>(w, i, active,
                              [](T a, uint32_t n) { return F::apply(a, n); });
}

template <typename W, typename T>
Step mulWide(Warp &w, const Instr &i, uint32_t active) {
  return map2<W, T, T>(w, i, active,
                       [](T a, T b) { return MulLo::apply(W(a), W(b)); });
}
template <typename W, typename T>
Step madWide(Warp &w, const Instr &i, uint32_t active) {
  return map3<W, T, T, W>(w, i, active, [](T a, T b, W c) {
    return Add::apply(MulLo::apply(W(a), W(b)), c);
  });
}

template <typename T> Step bfe(Warp &w, const Instr &i, uint32_t active) {
  return map3<T, T, uint32_t, uint32_t>(
      w, i, active, [](T a, uint32_t pos, uint32_t len) -> T {
        pos &= 0xff;
        len &= 0xff;
        unsigned top = bitsOf<T> - 1;
        if (len == 0)
          return 0;
        bool sign = std::is_signed_v<T> &&
                    (U<T>(a) >> std::min(pos + len - 1, top) & 1);
        U<T> field = pos > top ? 0 : U<T>(a) >> pos;
        if (len <= top)
          field &= (U<T>(1) << len) - 1;
        unsigned valid = std::min(len, pos > top ? 0 : top + 1 - pos);
        if (sign && valid <= top)
          field |= ~U<T>(0) << valid;
        return T(field);
      });
}

/// Inserts the low bits of a into b.
template <typename T> Step bfi(Warp &w, const Instr &i, uint32_t active) {
  auto *d = w.out<T>(i.op[0]);
  auto *a = w.in<T>(i.op[1]), *b = w.in<T>(i.op[2]);
  auto *pos = w.in<uint32_t>(i.op[3]), *len = w.in<uint32_t>(i.op[4]);
  lanes(active, [=](unsigned l) {
    uint32_t p = pos[l] & 0xff, n = len[l] & 0xff;
    T mask = p >= bitsOf<T> || n == 0 ? 0
             : n >= bitsOf<T>         ? ~T(0)
                                      : (T(1) << n) - 1;
    mask = p >= bitsOf<T> ? 0 : T(mask << p);
    d[l] = (b[l] & ~mask) | (p >= bitsOf<T> ? 0 : (T(a[l] << p) & mask));
  });
  return Step::Next;
}

Step bmsk(Warp &w, const Instr &i, uint32_t active) {
  bool wrap = i.detail;
  return map2<uint32_t, uint32_t, uint32_t>(
      w, i, active, [=](uint32_t a, uint32_t b) -> uint32_t {
        if (wrap) {
          a &= 31;
          b &= 31;
        }
        if (a >= 32 || b == 0)
          return 0;
        uint32_t mask = b >= 32 ? ~0u : (1u << b) - 1;
        return mask << a;
      });
}
Error decodeBmsk(Instr &i, const Words &words) {
  i.detail = words[1] == "wrap";
  return Error::success();
}

Step szext(Warp &w, const Instr &i, uint32_t active) {
  bool wrap = i.detail & 1, sign = i.detail & 2;
  return map2<uint32_t, uint32_t, uint32_t>(
      w, i, active, [=](uint32_t a, uint32_t n) -> uint32_t {
        if (wrap)
          n &= 31;
        if (n >= 32)
          return a;
        uint32_t low = n ? a & ((1u << n) - 1) : 0;
        bool top = n && (a >> (n - 1) & 1);
        return sign && top ? low | ~0u << n : low;
      });
}
Error decodeSzext(Instr &i, const Words &words) {
  i.detail = (words[1] == "wrap") | (isSigned(i.type()) ? 2 : 0);
  return Error::success();
}

Step lop3(Warp &w, const Instr &i, uint32_t active) {
  uint32_t table = i.op[4].imm;
  return map3<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, i, active, [=](uint32_t a, uint32_t b, uint32_t c) {
        uint32_t r = 0;
        r |= table & 0x01 ? ~a & ~b & ~c : 0;
        r |= table & 0x02 ? ~a & ~b & c : 0;
        r |= table & 0x04 ? ~a & b & ~c : 0;
        r |= table & 0x08 ? ~a & b & c : 0;
        r |= table & 0x10 ? a & ~b & ~c : 0;
        r |= table & 0x20 ? a & ~b & c : 0;
        r |= table & 0x40 ? a & b & ~c : 0;
        r |= table & 0x80 ? a & b & c : 0;
        return r;
      });
}

/// A funnel shift of {b, a}.
template <bool Left, bool Clamp>
Step shf(Warp &w, const Instr &i, uint32_t active) {
  return map3<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, i, active, [](uint32_t a, uint32_t b, uint32_t n) {
        n = Clamp ? std::min(n, 32u) : n & 31;
        uint64_t both = uint64_t(b) << 32 | a;
        return uint32_t(Left ? both << n >> 32 : both >> n);
      });
}

Step prmt(Warp &w, const Instr &i, uint32_t active) {
  unsigned mode = i.detail;
  return map3<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, i, active, [=](uint32_t a, uint32_t b, uint32_t c) {
        uint64_t bytes = uint64_t(b) << 32 | a;
        uint32_t result = 0;
        for (unsigned k = 0; k < 4; ++k) {
          unsigned sel = c >> (4 * k) & 0xf;
          bool replicate = mode == 0 && (sel & 8);
          unsigned s = c & 3;
          switch (mode) {
          case 1:
            sel = s + k;
            break; // f4e
          case 2:
            sel = (s - k) & 7;
            break; // b4e
          case 3:
            sel = s;
            break; // rc8
          case 4:
            sel = std::max(s, k);
            break; // ecl
          case 5:
            sel = std::min(s, k);
            break; // ecr
          case 6:
            sel = (s & 1) * 2 + (k & 1);
            break; // rc16
          default:
            sel &= 7;
          }
          uint32_t byte = bytes >> (8 * sel) & 0xff;
          if (replicate)
            byte = byte & 0x80 ? 0xff : 0;
          result |= byte << (8 * k);
        }
        return result;
      });
}
Error decodePrmt(Instr &i, const Words &words) {
  static constexpr StringLiteral modes[] = {"b32", "f4e", "b4e", "rc8",
                                            "ecl", "ecr", "rc16"};
  for (unsigned m = 0; m < 7; ++m)
    if (words.back() == modes[m] || words[words.size() - 1] == modes[m])
      i.detail = m;
  return Error::success();
}

template <typename T> Step sad(Warp &w, const Instr &i, uint32_t active) {
  return map3<T, T, T, T>(w, i, active, [](T a, T b, T c) {
    return Add::apply(c, a < b ? Sub::apply(b, a) : Sub::apply(a, b));
  });
}

template <bool SignA, bool SignB>
Step dp4a(Warp &w, const Instr &i, uint32_t active) {
  return map3<uint32_t, uint32_t, uint32_t, uint32_t>(
      w, i, active, [](uint32_t a, uint32_t b, uint32_t c) {
        for (unsigned k = 0; k < 4; ++k) {
          int x = SignA ? int(int8_t(a >> 8 * k)) : int(uint8_t(a >> 8 * k));
          int y = SignB ? int(int8_t(b >> 8 * k)) : int(uint8_t(b >> 8 * k));
          c += uint32_t(x * y);
        }
        return c;
      });
}

/// Two 16-bit numbers in a register.
template <typename T, typename Op>
Step packed16(Warp &w, const Instr &i, uint32_t active) {
  bool relu = i.relu;
  return map2<uint32_t, uint32_t, uint32_t>(
      w, i, active, [=](uint32_t a, uint32_t b) {
        T low = Op::template apply<T>(T(a), T(b));
        T high = Op::template apply<T>(T(a >> 16), T(b >> 16));
        if (relu) {
          low = std::max<T>(low, 0);
          high = std::max<T>(high, 0);
        }
        return uint32_t(uint16_t(high)) << 16 | uint16_t(low);
      });
}

template <typename Op>
Step minMaxRelu(Warp &w, const Instr &i, uint32_t active) {
  return map2<int32_t, int32_t, int32_t>(
      w, i, active, [](int32_t a, int32_t b) {
        return std::max(Op::template apply<int32_t>(a, b), 0);
      });
}

//===--- Add and subtract with carry
//----------------------------------------===//
// The carry flag is a predicate of the warp.

enum CarryBits { CarryIn = 1, CarryOut = 2, CarrySub = 4 };

template <typename T> Step carryOp(Warp &w, const Instr &i, uint32_t active) {
  auto *d = w.out<T>(i.op[0]);
  auto *a = w.in<T>(i.op[1]), *b = w.in<T>(i.op[2]);
  uint32_t carry = w.carry, result = 0;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned l = countr_zero(rest);
    bool in = (i.detail & CarryIn) && (carry >> l & 1);
    unsigned __int128 x = a[l], y = b[l], s;
    if (i.detail & CarrySub)
      s = x - y - in;
    else
      s = x + y + in;
    d[l] = T(s);
    result |= uint32_t(s >> bitsOf<T> & 1) << l;
  }
  if (i.detail & CarryOut)
    w.carry = (carry & ~active) | result;
  return Step::Next;
}
Error decodeCarry(Instr &i, const Words &words) {
  StringRef name = words[0];
  i.detail = (name == "addc" || name == "subc" ? CarryIn : 0) |
             (words[1] == "cc" ? CarryOut : 0) |
             (name.starts_with("sub") ? CarrySub : 0);
  return Error::success();
}

template <bool High> Step madCarry(Warp &w, const Instr &i, uint32_t active) {
  auto *d = w.out<uint32_t>(i.op[0]);
  auto *a = w.in<uint32_t>(i.op[1]), *b = w.in<uint32_t>(i.op[2]),
       *c = w.in<uint32_t>(i.op[3]);
  uint32_t carry = w.carry, result = 0;
  bool sign = isSigned(i.type());
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned l = countr_zero(rest);
    uint64_t p = sign ? uint64_t(int64_t(int32_t(a[l])) * int32_t(b[l]))
                      : uint64_t(a[l]) * b[l];
    uint64_t s = uint64_t(uint32_t(High ? p >> 32 : p)) + c[l] +
                 ((i.detail & CarryIn) && (carry >> l & 1));
    d[l] = uint32_t(s);
    result |= uint32_t(s >> 32 & 1) << l;
  }
  if (i.detail & CarryOut)
    w.carry = (carry & ~active) | result;
  return Step::Next;
}
Error decodeMadCarry(Instr &i, const Words &words) {
  i.detail = (words[0] == "madc" ? CarryIn : 0) |
             (is_contained(words, "cc") ? CarryOut : 0);
  return Error::success();
}

} // namespace

void registerInteger(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Integer;
  // One line per width where signs do not matter, else one per type.
#define LINATTN_BITS(NAME, OPERANDS, TEMPLATE, OP)                             \
  t.add(NAME ".<b16|u16|s16>", OPERANDS, TEMPLATE<uint16_t, OP>, K);           \
  t.add(NAME ".<b32|u32|s32>", OPERANDS, TEMPLATE<uint32_t, OP>, K);           \
  t.add(NAME ".<b64|u64|s64>", OPERANDS, TEMPLATE<uint64_t, OP>, K);
#define LINATTN_SIGNS(NAME, OPERANDS, TEMPLATE, OP)                            \
  t.add(NAME ".u16", OPERANDS, TEMPLATE<uint16_t, OP>, K);                     \
  t.add(NAME ".s16", OPERANDS, TEMPLATE<int16_t, OP>, K);                      \
  t.add(NAME ".u32", OPERANDS, TEMPLATE<uint32_t, OP>, K);                     \
  t.add(NAME ".s32", OPERANDS, TEMPLATE<int32_t, OP>, K);                      \
  t.add(NAME ".u64", OPERANDS, TEMPLATE<uint64_t, OP>, K);                     \
  t.add(NAME ".s64", OPERANDS, TEMPLATE<int64_t, OP>, K);
  LINATTN_BITS("add", "= < <", binary, Add)
  LINATTN_BITS("sub", "= < <", binary, Sub)
  LINATTN_BITS("and", "= <d <d", binary, And)
  LINATTN_BITS("or", "= <d <d", binary, Or)
  LINATTN_BITS("xor", "= <d <d", binary, Xor)
  LINATTN_BITS("not", "= <d", unary, Not)
  LINATTN_BITS("neg", "= <", unary, Neg)
  LINATTN_BITS("cnot", "= <", unary, CNot)
  LINATTN_BITS("mul.lo", "= < <", binary, MulLo)
  LINATTN_BITS("mad.lo", "= < < <", ternary, MadLo)
  LINATTN_BITS("shl", "= <d <u32", shift, Shl)
  LINATTN_SIGNS("mul.hi", "= < <", binary, MulHi)
  LINATTN_SIGNS("mad.hi", "= < < <", ternary, MadHi)
  LINATTN_SIGNS("div", "= < <", binary, Div)
  LINATTN_SIGNS("rem", "= < <", binary, Rem)
  LINATTN_SIGNS("min", "= < <", binary, Min)
  LINATTN_SIGNS("max", "= < <", binary, Max)
  LINATTN_SIGNS("shr", "= <d <u32", shift, Shr)
  t.add("shr.b16", "= <d <u32", shift<uint16_t, Shr>, K);
  t.add("shr.b32", "= <d <u32", shift<uint32_t, Shr>, K);
  t.add("shr.b64", "= <d <u32", shift<uint64_t, Shr>, K);
  t.add("add.<u16x2|s16x2>", "=b32 <b32 <b32", packed16<uint16_t, Add>, K);
  t.add("min.u16x2", "=b32 <b32 <b32", packed16<uint16_t, Min>, K);
  t.add("max.u16x2", "=b32 <b32 <b32", packed16<uint16_t, Max>, K);
  t.add("min[.relu].s16x2", "=b32 <b32 <b32", packed16<int16_t, Min>, K);
  t.add("max[.relu].s16x2", "=b32 <b32 <b32", packed16<int16_t, Max>, K);
  t.add("min.relu.s32", "= < <", minMaxRelu<Min>, K);
  t.add("max.relu.s32", "= < <", minMaxRelu<Max>, K);
  t.add("abs.s16", "= <", unary<int16_t, Abs>, K);
  t.add("abs.s32", "= <", unary<int32_t, Abs>, K);
  t.add("abs.s64", "= <", unary<int64_t, Abs>, K);
  t.add("add.sat.s32", "= < <", binary<int32_t, AddSat>, K);
  t.add("sub.sat.s32", "= < <", binary<int32_t, SubSat>, K);
  t.add("mul.wide.u16", "=u32 < <", mulWide<uint32_t, uint16_t>, K);
  t.add("mul.wide.s16", "=s32 < <", mulWide<int32_t, int16_t>, K);
  t.add("mul.wide.u32", "=u64 < <", mulWide<uint64_t, uint32_t>, K);
  t.add("mul.wide.s32", "=s64 < <", mulWide<int64_t, int32_t>, K);
  t.add("mad.wide.u16", "=u32 < < <u32", madWide<uint32_t, uint16_t>, K);
  t.add("mad.wide.s16", "=s32 < < <s32", madWide<int32_t, int16_t>, K);
  t.add("mad.wide.u32", "=u64 < < <u64", madWide<uint64_t, uint32_t>, K);
  t.add("mad.wide.s32", "=s64 < < <s64", madWide<int64_t, int32_t>, K);
  t.add("popc.b32", "=u32 <", count<uint32_t, PopC>, K);
  t.add("popc.b64", "=u32 <", count<uint64_t, PopC>, K);
  t.add("clz.b32", "=u32 <", count<uint32_t, Clz>, K);
  t.add("clz.b64", "=u32 <", count<uint64_t, Clz>, K);
  t.add("bfind.u32", "=u32 <", count<uint32_t, FindTop<false>>, K);
  t.add("bfind.s32", "=u32 <", count<int32_t, FindTop<false>>, K);
  t.add("bfind.u64", "=u32 <", count<uint64_t, FindTop<false>>, K);
  t.add("bfind.s64", "=u32 <", count<int64_t, FindTop<false>>, K);
  t.add("bfind.shiftamt.u32", "=u32 <", count<uint32_t, FindTop<true>>, K);
  t.add("bfind.shiftamt.s32", "=u32 <", count<int32_t, FindTop<true>>, K);
  t.add("bfind.shiftamt.u64", "=u32 <", count<uint64_t, FindTop<true>>, K);
  t.add("bfind.shiftamt.s64", "=u32 <", count<int64_t, FindTop<true>>, K);
  t.add("brev.b32", "= <d", unary<uint32_t, BRev>, K);
  t.add("brev.b64", "= <d", unary<uint64_t, BRev>, K);
  t.add("bfe.u32", "= <d <u32 <u32", bfe<uint32_t>, K);
  t.add("bfe.s32", "= <d <u32 <u32", bfe<int32_t>, K);
  t.add("bfe.u64", "= <d <u32 <u32", bfe<uint64_t>, K);
  t.add("bfe.s64", "= <d <u32 <u32", bfe<int64_t>, K);
  t.add("bfi.b32", "= <d <d <u32 <u32", bfi<uint32_t>, K);
  t.add("bfi.b64", "= <d <d <u32 <u32", bfi<uint64_t>, K);
  t.add("bmsk.<clamp|wrap>.b32", "= < <", bmsk, K, 0, decodeBmsk);
  t.add("szext.<clamp|wrap>.<u32|s32>", "= < <u32", szext, K, 0, decodeSzext);
  t.add("lop3.b32", "= <d <d <d #", lop3, K);
  t.add("shf.l.clamp.b32", "= <d <d <", shf<true, true>, K);
  t.add("shf.l.wrap.b32", "= <d <d <", shf<true, false>, K);
  t.add("shf.r.clamp.b32", "= <d <d <", shf<false, true>, K);
  t.add("shf.r.wrap.b32", "= <d <d <", shf<false, false>, K);
  t.add("prmt.b32[.f4e|.b4e|.rc8|.ecl|.ecr|.rc16]", "=b32 <db32 <db32 <b32",
        prmt, K, 0, decodePrmt);
  t.add("sad.u32", "= < < <", sad<uint32_t>, K);
  t.add("sad.s32", "= < < <", sad<int32_t>, K);
  t.add("dp4a.u32.u32", "=u32 <u32 <u32 <u32", dp4a<false, false>, K);
  t.add("dp4a.s32.s32", "=u32 <u32 <u32 <u32", dp4a<true, true>, K);
  t.add("dp4a.u32.s32", "=u32 <u32 <u32 <u32", dp4a<false, true>, K);
  t.add("dp4a.s32.u32", "=u32 <u32 <u32 <u32", dp4a<true, false>, K);
  for (StringRef name : {"add.cc", "addc[.cc]", "sub.cc", "subc[.cc]"}) {
    t.add((name + ".<u32|s32>").str(), "= < <", carryOp<uint32_t>, K, 0,
          decodeCarry);
    t.add((name + ".<u64|s64>").str(), "= < <", carryOp<uint64_t>, K, 0,
          decodeCarry);
  }
  for (StringRef name : {"mad", "madc"}) {
    StringRef cc = name == "mad" ? ".cc" : "[.cc]";
    t.add((name + ".lo" + cc + ".<u32|s32>").str(), "= < < <", madCarry<false>,
          K, 0, decodeMadCarry);
    t.add((name + ".hi" + cc + ".<u32|s32>").str(), "= < < <", madCarry<true>,
          K, 0, decodeMadCarry);
  }
#undef LINATTN_BITS
#undef LINATTN_SIGNS
}

} // namespace linattn::sim
