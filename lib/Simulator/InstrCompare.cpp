//===- InstrCompare.cpp - setp and set ------------------------------------===//

#include "Exec.h"
#include "HalfFloat.h"

using namespace llvm;

namespace linattn::sim {
namespace {

/// Compares as the modifier says; float comparisons are false for NaNs unless
/// they are the unordered ones.
template <typename T> bool compare(Compare c, T a, T b) {
  constexpr bool isFloating = std::is_floating_point_v<T>;
  bool unordered = false;
  if constexpr (isFloating)
    unordered = a != a || b != b;
  switch (c) {
  case Compare::EQ:
    return a == b;
  case Compare::NE:
    return a != b && !unordered;
  case Compare::LT:
  case Compare::LO:
    return a < b;
  case Compare::LE:
  case Compare::LS:
    return a <= b;
  case Compare::GT:
  case Compare::HI:
    return a > b;
  case Compare::GE:
  case Compare::HS:
    return a >= b;
  case Compare::EQU:
    return unordered || a == b;
  case Compare::NEU:
    return unordered || a != b;
  case Compare::LTU:
    return unordered || a < b;
  case Compare::LEU:
    return unordered || a <= b;
  case Compare::GTU:
    return unordered || a > b;
  case Compare::GEU:
    return unordered || a >= b;
  case Compare::NUM:
    return !unordered;
  default:
    return unordered;
  }
}

template <typename T, typename F>
uint32_t compareLanes(const Warp &w, const Instr &i, uint32_t active,
                      const Op &opA, const Op &opB, F load) {
  auto *a = w.in<Stored<T>>(opA), *b = w.in<Stored<T>>(opB);
  // The comparison is picked once, not for every lane.
  auto with = [&](auto test) {
    uint32_t mask = 0;
    if (active == allLanes) {
      for (unsigned l = 0; l < 32; ++l)
        mask |= uint32_t(test(load(a[l]), load(b[l]))) << l;
      return mask;
    }
    return predicateOf(
        active, [&](unsigned l) { return test(load(a[l]), load(b[l])); });
  };
  switch (i.compare) {
  case Compare::EQ:
    return with([](auto x, auto y) { return x == y; });
  case Compare::LT:
    return with([](auto x, auto y) { return x < y; });
  case Compare::GE:
    return with([](auto x, auto y) { return x >= y; });
  case Compare::GT:
    return with([](auto x, auto y) { return x > y; });
  default:
    Compare c = i.compare;
    return with([c](auto x, auto y) { return compare(c, x, y); });
  }
}

uint32_t compareTyped(const Warp &w, const Instr &i, Type type, uint32_t active,
                      const Op &a, const Op &b, unsigned shift = 0) {
  bool ftz = i.ftz;
  auto integer = [&](auto t) {
    using T = decltype(t);
    return compareLanes<T>(w, i, active, a, b, [](auto x) { return T(x); });
  };
  switch (type) {
  case Type::S16:
    return integer(int16_t());
  case Type::U16:
  case Type::B16:
    return integer(uint16_t());
  case Type::S32:
    return integer(int32_t());
  case Type::U32:
  case Type::B32:
    return integer(uint32_t());
  case Type::S64:
    return integer(int64_t());
  case Type::U64:
  case Type::B64:
    return integer(uint64_t());
  case Type::F64:
    return compareLanes<double>(w, i, active, a, b,
                                [](uint64_t x) { return fromBits<double>(x); });
  case Type::F16:
  case Type::F16x2:
    return compareLanes<float>(w, i, active, a, b, [=](uint32_t x) {
      return halfToFloat(uint16_t(x >> shift));
    });
  case Type::BF16:
  case Type::BF16x2:
    return compareLanes<float>(w, i, active, a, b, [=](uint32_t x) {
      return bf16ToFloat(uint16_t(x >> shift));
    });
  default:
    if (ftz)
      return compareLanes<float>(w, i, active, a, b, [](uint32_t x) {
        return flush(fromBits<float>(x));
      });
    return compareLanes<float>(w, i, active, a, b,
                               [](uint32_t x) { return fromBits<float>(x); });
  }
}

uint32_t combine(const Instr &i, uint32_t value, uint32_t with) {
  switch (i.boolOp) {
  case BoolOp::And:
    return value & with;
  case BoolOp::Or:
    return value | with;
  case BoolOp::Xor:
    return value ^ with;
  default:
    return value;
  }
}

/// setp: p = (a cmp b) op c, and q = !(a cmp b) op c.
Step setp(Warp &w, const Instr &i, uint32_t active) {
  const Op &a = i.arg(1), &b = i.arg(2);
  uint32_t with = i.numArgs > 3 ? w.pred(i.arg(3)) : 0;
  uint32_t r = compareTyped(w, i, i.type(), active, a, b);
  if (i.args[0].count > 1) {
    bool packed = i.type() == Type::F16x2 || i.type() == Type::BF16x2;
    // Packed: p and q are the two halves.
    uint32_t q = packed ? compareTyped(w, i, i.type(), active, a, b, 16) : ~r;
    if (!i.op[1].isSink)
      w.setPred(i.op[1], active, combine(i, q, with));
  }
  if (!i.op[0].isSink)
    w.setPred(i.op[0], active, combine(i, r, with));
  return Step::Next;
}

Error decodeSetp(Instr &i, const Words &) {
  if (i.numArgs > 3 && i.boolOp == BoolOp::None)
    return createStringError("a fourth operand needs .and, .or or .xor");
  if (i.numArgs == 3 && i.boolOp != BoolOp::None)
    return createStringError("the predicate to combine with is missing");
  return Error::success();
}

/// set: all bits or 1.0 where the comparison holds.
Step set(Warp &w, const Instr &i, uint32_t active) {
  const Op &a = i.arg(1), &b = i.arg(2);
  uint32_t with = i.numArgs > 3 ? w.pred(i.arg(3)) : 0;
  Type to = i.types[0], from = i.types[1];
  uint32_t low = combine(i, compareTyped(w, i, from, active, a, b), with);
  bool packed = to == Type::F16x2 || to == Type::BF16x2 ||
                from == Type::F16x2 || from == Type::BF16x2;
  uint32_t high =
      packed ? combine(i, compareTyped(w, i, from, active, a, b, 16), with) : 0;
  uint32_t one = to == Type::F32                          ? 0x3f800000
                 : to == Type::F16 || to == Type::F16x2   ? 0x3c00
                 : to == Type::BF16 || to == Type::BF16x2 ? 0x3f80
                 : typeBits(to) == 16                     ? 0xffff
                                                          : ~0u;
  if (packed && !isFloat(to))
    one = 0xffff;
  lanes(active, [&](unsigned l) {
    uint32_t v = low >> l & 1 ? one : 0;
    if (packed && (high >> l & 1))
      v |= one << 16;
    w.write(i.op[0], l, v);
  });
  return Step::Next;
}

} // namespace

void registerCompare(InstrTable &t) {
  StringRef cmp =
      "<eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan>";
  StringRef from = "<b16|b32|b64|u16|u32|u64|s16|s32|s64|f16|f16x2|bf16|bf16x2|"
                   "f32|f64>";
  t.add(("setp." + cmp + "[.and|.or|.xor][.ftz]." + from).str(),
        "=ppred < < <pred?", setp, InstrKind::Predicate, 0, decodeSetp);
  t.add(("set." + cmp +
         "[.and|.or|.xor][.ftz].<u16|s16|u32|s32|b16|b32|f32|f16|f16x2|bf16|"
         "bf16x2>." +
         from)
            .str(),
        "=$0 <$1 <$1 <pred?", set, InstrKind::Predicate, 0, decodeSetp);
}

} // namespace linattn::sim
