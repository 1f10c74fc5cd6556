//===- InstrConvert.cpp - cvt ---------------------------------------------===//

#include "Exec.h"
#include "HalfFloat.h"

using namespace llvm;

namespace linattn::sim {
namespace {

const FloatFormat &formatOf(Type type) {
  switch (type) {
  case Type::F16:
  case Type::F16x2:
    return formatF16;
  case Type::BF16:
  case Type::BF16x2:
    return formatBF16;
  case Type::E4M3:
  case Type::E4M3x2:
    return formatE4M3;
  case Type::E5M2:
  case Type::E5M2x2:
    return formatE5M2;
  case Type::TF32:
    return formatTF32;
  default:
    return formatF32;
  }
}

//===--- Integer to integer
//-------------------------------------------------===//

int64_t signExtend(uint64_t value, unsigned bits) {
  return int64_t(value << (64 - bits)) >> (64 - bits);
}

Step intToInt(Warp &w, const Instr &i, uint32_t active) {
  Type to = i.types[0], from = i.types[1];
  unsigned toBits = typeBits(to), fromBits = typeBits(from);
  bool sat = i.sat;
  lanes(active, [&](unsigned l) {
    uint64_t v = w.read(i.op[1], l);
    v = isSigned(from) ? uint64_t(signExtend(v, fromBits))
                       : v << (64 - fromBits) >> (64 - fromBits);
    if (sat) {
      if (isSigned(to)) {
        int64_t high = int64_t((uint64_t(1) << (toBits - 1)) - 1);
        if (isSigned(from))
          v = std::clamp<int64_t>(int64_t(v), -high - 1, high);
        else
          v = std::min<uint64_t>(v, high);
      } else {
        uint64_t high = ~uint64_t(0) >> (64 - toBits);
        v = isSigned(from) && int64_t(v) < 0 ? 0 : std::min(v, high);
      }
    }
    // A wider register gets the value extended by the kind of the result.
    v = isSigned(to) ? uint64_t(signExtend(v, toBits))
                     : v << (64 - toBits) >> (64 - toBits);
    if (typeBits(i.op[0].type) == 16)
      v &= 0xffff;
    w.write(i.op[0], l, v);
  });
  return Step::Next;
}

/// The widths that address arithmetic uses, without a test in the loop.
template <typename D, typename S>
Step extend(Warp &w, const Instr &i, uint32_t active) {
  return map1<D, S>(w, i, active, [](S a) { return D(a); });
}

//===--- Between floating point
//---------------------------------------------===//

double readFloat(const Warp &w, const Op &op, Type type, unsigned lane) {
  uint64_t bits = w.read(op, lane);
  switch (type) {
  case Type::F64:
    return fromBits<double>(bits);
  case Type::F32:
    return fromBits<float>(uint32_t(bits));
  case Type::F16:
    return halfToFloat(bits);
  case Type::BF16:
    return bf16ToFloat(bits);
  default:
    return toDouble(formatOf(type), bits);
  }
}

bool isIntegerMode(Rounding r) { return r >= Rounding::RNI; }

double roundToInteger(double x, Rounding mode) {
  switch (mode) {
  case Rounding::RZI:
  case Rounding::RZ:
    return std::trunc(x);
  case Rounding::RMI:
  case Rounding::RM:
    return std::floor(x);
  case Rounding::RPI:
  case Rounding::RP:
    return std::ceil(x);
  default:
    return std::nearbyint(x);
  }
}

uint64_t encodeFloat(const Instr &i, Type to, double x) {
  bool finite8 = to == Type::E4M3 || to == Type::E5M2 || to == Type::E4M3x2 ||
                 to == Type::E5M2x2;
  Rounding mode = i.rounding == Rounding::None ? Rounding::RN : i.rounding;
  if (i.relu && x <= 0)
    x = 0; // -0 too
  uint64_t bits;
  if (x != x) {
    bits = i.sat              ? 0
           : to == Type::F32  ? canonicalNan
           : to == Type::TF32 ? nanOf(formatTF32) << 13
                              : nanOf(formatOf(to));
  } else if (to == Type::F32) {
    bits = isIntegerMode(mode) ? toBits(float(x)) : roundTo(formatF32, x, mode);
    if (i.ftz)
      bits = toBits(flush(fromBits<float>(uint32_t(bits))));
    if (i.sat)
      bits = toBits(saturate(fromBits<float>(uint32_t(bits))));
  } else if (to == Type::TF32) {
    bits = roundTo(formatTF32, x, mode, i.detail & 1) << 13;
  } else {
    bits = roundTo(formatOf(to), x, isIntegerMode(mode) ? Rounding::RN : mode,
                   finite8 || (i.detail & 1));
    if (i.sat && (to == Type::F16 || to == Type::BF16)) {
      double v = toDouble(formatOf(to), bits);
      bits =
          v > 0 ? (v < 1 ? bits : roundTo(formatOf(to), 1, Rounding::RN)) : 0;
    }
  }
  return bits;
}

/// A double's NaN in single precision: quiet, with its sign and the upper bits
/// of its payload.
uint32_t narrowNan(uint64_t bits) {
  return uint32_t(bits >> 63 << 31) | 0x7fc00000 |
         uint32_t(bits >> 29 & 0x3fffff);
}

Step floatToFloat(Warp &w, const Instr &i, uint32_t active) {
  Type to = i.types[0], from = i.types[1];
  bool narrows = from == Type::F64 && to == Type::F32 && !i.sat;
  // Only rounding half away cuts a NaN off instead of making a new one.
  bool cuts = to == Type::TF32 && i.rounding == Rounding::RNA;
  lanes(active, [&](unsigned l) {
    // From the register's bits: to convert a signalling NaN would quiet it.
    uint64_t source = w.read(i.op[1], l);
    if (narrows && (source & ~(uint64_t(1) << 63)) > uint64_t(0x7ff) << 52) {
      w.write(i.op[0], l, narrowNan(source));
      return;
    }
    if (cuts && (source & 0x7fffffff) > 0x7f800000) {
      w.write(i.op[0], l, source & 0xffffe000);
      return;
    }
    double x = readFloat(w, i.op[1], from, l);
    if (i.ftz && from == Type::F32)
      x = flush(float(x));
    if (isIntegerMode(i.rounding))
      x = roundToInteger(x, i.rounding);
    if (to == Type::F64) {
      w.write(i.op[0], l, toBits(i.sat ? saturate(x) : x));
      return;
    }
    w.write(i.op[0], l, encodeFloat(i, to, x));
  });
  return Step::Next;
}

Step f16ToF32(Warp &w, const Instr &i, uint32_t active) {
  return map1<float, uint32_t>(w, i, active, [](uint32_t a) {
    return canonical(halfToFloat(uint16_t(a)));
  });
}
Step bf16ToF32(Warp &w, const Instr &i, uint32_t active) {
  // Moves bits: a bfloat16 is the upper half of a float, its NaNs too.
  return map1<uint32_t, uint32_t>(w, i, active,
                                  [](uint32_t a) { return a << 16; });
}
Step f32ToBF16(Warp &w, const Instr &i, uint32_t active) {
  return map1<uint32_t, float>(
      w, i, active, [](float a) { return uint32_t(floatToBF16(a)); });
}
/// d = {high: a, low: b}
Step f32ToBF16x2(Warp &w, const Instr &i, uint32_t active) {
  return map2<uint32_t, float, float>(w, i, active, [](float a, float b) {
    return uint32_t(floatToBF16(a)) << 16 | floatToBF16(b);
  });
}

/// Two floats into one packed register.
Step packFloats(Warp &w, const Instr &i, uint32_t active) {
  Type to = i.types[0];
  unsigned half = typeBits(to) / 2;
  lanes(active, [&](unsigned l) {
    double high = readFloat(w, i.op[1], Type::F32, l);
    double low = readFloat(w, i.op[2], Type::F32, l);
    w.write(i.op[0], l,
            encodeFloat(i, to, high) << half | encodeFloat(i, to, low));
  });
  return Step::Next;
}
/// A packed pair of one format into another: f16x2 <-> e4m3x2, e5m2x2.
Step packedToPacked(Warp &w, const Instr &i, uint32_t active) {
  Type to = i.types[0], from = i.types[1];
  unsigned toHalf = typeBits(to) / 2, fromHalf = typeBits(from) / 2;
  uint64_t mask = (uint64_t(1) << fromHalf) - 1;
  lanes(active, [&](unsigned l) {
    uint64_t bits = w.read(i.op[1], l);
    uint64_t low = encodeFloat(i, to, toDouble(formatOf(from), bits & mask));
    uint64_t high =
        encodeFloat(i, to, toDouble(formatOf(from), bits >> fromHalf & mask));
    w.write(i.op[0], l, high << toHalf | low);
  });
  return Step::Next;
}

Error decodeSatFinite(Instr &i, const Words &words) {
  for (StringRef word : words)
    if (word == "satfinite")
      i.detail |= 1;
  return Error::success();
}

//===--- Float and integer
//--------------------------------------------------===//

Step floatToInt(Warp &w, const Instr &i, uint32_t active) {
  Type to = i.types[0], from = i.types[1];
  unsigned bits = typeBits(to);
  lanes(active, [&](unsigned l) {
    double x = readFloat(w, i.op[1], from, l);
    if (i.ftz && from == Type::F32)
      x = flush(float(x));
    x = roundToInteger(x, i.rounding);
    uint64_t v;
    if (x != x) {
      // PTX: the top bit if a side has 64 bits, else zero.
      bool top = bits == 64 || from == Type::F64;
      v = !top           ? 0
          : isSigned(to) ? ~uint64_t(0) << (bits - 1)
                         : uint64_t(1) << (bits - 1);
    } else if (isSigned(to)) {
      double limit = std::ldexp(1.0, bits - 1);
      if (x >= limit)
        v = (uint64_t(1) << (bits - 1)) - 1;
      else if (x < -limit)
        v = ~uint64_t(0) << (bits - 1);
      else
        v = uint64_t(int64_t(x));
    } else {
      if (x >= std::ldexp(1.0, bits))
        v = ~uint64_t(0) >> (64 - bits);
      else
        v = x <= 0 ? 0 : uint64_t(x);
    }
    if (typeBits(i.op[0].type) == 16)
      v &= 0xffff;
    w.write(i.op[0], l, v);
  });
  return Step::Next;
}

/// An integer as a double and whether bits beyond it were cut off; rounding to
/// odd there keeps the next rounding right.
double integerToOdd(uint64_t magnitude) {
  unsigned top = magnitude ? 64 - __builtin_clzll(magnitude) : 0;
  if (top <= 53)
    return double(magnitude);
  unsigned drop = top - 53;
  uint64_t kept = magnitude >> drop << drop;
  if (kept != magnitude)
    kept |= uint64_t(1) << drop;
  return double(kept);
}

Step intToFloat(Warp &w, const Instr &i, uint32_t active) {
  Type to = i.types[0], from = i.types[1];
  unsigned bits = typeBits(from);
  lanes(active, [&](unsigned l) {
    uint64_t v = w.read(i.op[1], l);
    bool negative = false;
    if (isSigned(from)) {
      int64_t s = signExtend(v, bits);
      negative = s < 0;
      v = negative ? uint64_t(0) - uint64_t(s) : uint64_t(s);
    } else {
      v = v << (64 - bits) >> (64 - bits);
    }
    if (to == Type::F64) {
      double x = double(v); // to nearest, as the host does
      if (i.rounding != Rounding::RN && v >> 53) {
        bool up = (i.rounding == Rounding::RP && !negative) ||
                  (i.rounding == Rounding::RM && negative);
        unsigned drop = 64 - __builtin_clzll(v) - 53;
        uint64_t kept = v >> drop << drop;
        x = double(kept);
        if (up && kept != v)
          x = std::nextafter(x, HUGE_VAL);
      }
      w.write(i.op[0], l, toBits(negative ? -x : x));
      return;
    }
    double x = integerToOdd(v);
    w.write(i.op[0], l, encodeFloat(i, to, negative ? -x : x));
  });
  return Step::Next;
}

template <typename D, typename S>
Step exactToFloat(Warp &w, const Instr &i, uint32_t active) {
  return map1<D, S>(w, i, active, [](S a) { return D(a); });
}

} // namespace

void registerConvert(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Convert;
  t.add("cvt.u64.u32", "=$0 <d$1", extend<uint64_t, uint32_t>, K);
  t.add("cvt.s64.s32", "=$0 <d$1", extend<int64_t, int32_t>, K);
  t.add("cvt.rn.f32.s32", "=$0 <$1", exactToFloat<float, int32_t>, K);
  t.add("cvt.rn.f32.u32", "=$0 <$1", exactToFloat<float, uint32_t>, K);
  t.add("cvt.rn.f64.s32", "=$0 <$1", exactToFloat<double, int32_t>, K);
  t.add("cvt.f32.f16", "=$0 <$1", f16ToF32, K);
  t.add("cvt.f32.bf16", "=$0 <$1", bf16ToF32, K);
  t.add("cvt.rn.bf16.f32", "=$0 <$1", f32ToBF16, K);
  t.add("cvt.rn.bf16x2.f32", "=$0 <$1 <$1", f32ToBF16x2, K);

  StringRef ints = "<u8|u16|u32|u64|s8|s16|s32|s64>";
  StringRef floats = "<f16|bf16|f32|f64>";
  auto join = [](std::initializer_list<StringRef> parts) {
    std::string all;
    for (StringRef p : parts)
      all += p.str();
    return all;
  };
  t.add(join({"cvt.", ints, ".", ints}), "=w$0 <dw$1", intToInt, K);
  t.add(join({"cvt.sat.", ints, ".", ints}), "=w$0 <w$1", intToInt, K);
  t.add(join({"cvt[.rn|.rz|.rm|.rp][.ftz][.sat].", floats, ".", ints}),
        "=w$0 <w$1", intToFloat, K);
  t.add(join({"cvt[.rni|.rzi|.rmi|.rpi][.ftz][.sat].", ints, ".", floats}),
        "=w$0 <w$1", floatToInt, K);
  t.add(join({"cvt[.rn|.rz|.rm|.rp|.rni|.rzi|.rmi|.rpi|.rna][.ftz][.sat]"
              "[.relu][.satfinite].",
              floats, ".", floats}),
        "=w$0 <w$1", floatToFloat, K, 0, decodeSatFinite);
  t.add("cvt.<rn|rz|rna>[.satfinite][.relu][.satfinite].tf32.f32", "=b32 <f32",
        floatToFloat, K, 0, decodeSatFinite);
  t.add("cvt.<rn|rz>[.relu][.satfinite].<f16x2|bf16x2>.f32", "=$0 <f32 <f32",
        packFloats, K, 0, decodeSatFinite);
  t.add("cvt.rn.satfinite[.relu].<e4m3x2|e5m2x2>.f32", "=b16 <f32 <f32",
        packFloats, K, 0, decodeSatFinite);
  t.add("cvt.rn.satfinite[.relu].<e4m3x2|e5m2x2>.f16x2", "=b16 <b32",
        packedToPacked, K, 0, decodeSatFinite);
  t.add("cvt.rn[.relu].f16x2.<e4m3x2|e5m2x2>", "=b32 <b16", packedToPacked, K,
        0, decodeSatFinite);
}

} // namespace linattn::sim
