//===- InstrAtomic.cpp - atom and red -------------------------------------===//
//
// Lanes of one instruction take their turns in lane order. Kernels with global
// atomics run on one host thread (TraitGlobalSync), so no host atomics are
// needed.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Exec.h"
#include "HalfFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace linattn::sim {
namespace {

enum class AtomicOp : uint8_t {
  Add,
  Min,
  Max,
  Inc,
  Dec,
  And,
  Or,
  Xor,
  Exch,
  Cas
};
enum AtomicBits { AtomAcquire = 0x100, AtomRelease = 0x200, AtomRed = 0x400 };

uint16_t addHalf(Type t, uint16_t a, uint16_t b) {
  bool f16 = t == Type::F16 || t == Type::F16x2;
  double s = f16 ? double(halfToFloat(a)) + halfToFloat(b)
                 : double(bf16ToFloat(a)) + bf16ToFloat(b);
  const FloatFormat &f = f16 ? formatF16 : formatBF16;
  return s != s ? uint16_t(nanOf(f)) : uint16_t(roundTo(f, s, Rounding::RN));
}

template <typename T> T integerOp(AtomicOp op, T a, T b) {
  switch (op) {
  case AtomicOp::Add:
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  case AtomicOp::Min:
    return std::min(a, b);
  case AtomicOp::Max:
    return std::max(a, b);
  case AtomicOp::Inc:
    return a >= b ? 0 : a + 1;
  case AtomicOp::Dec:
    return a == 0 || a > b ? b : a - 1;
  case AtomicOp::And:
    return a & b;
  case AtomicOp::Or:
    return a | b;
  case AtomicOp::Xor:
    return a ^ b;
  default:
    return b;
  }
}

uint64_t apply(AtomicOp op, Type type, uint64_t old, uint64_t b, uint64_t c) {
  if (op == AtomicOp::Exch)
    return b;
  if (op == AtomicOp::Cas)
    return old == b ? c : old;
  switch (type) {
  case Type::F32:
    return toBits(canonical(fromBits<float>(old) + fromBits<float>(b)));
  case Type::F64:
    return toBits(fromBits<double>(old) + fromBits<double>(b));
  case Type::F16:
  case Type::BF16:
    return addHalf(type, old, b);
  case Type::F16x2:
  case Type::BF16x2:
    return addHalf(type, old, b) | uint32_t(addHalf(type, old >> 16, b >> 16))
                                       << 16;
  case Type::S32:
    return uint32_t(integerOp<int32_t>(op, old, b));
  case Type::S64:
    return uint64_t(integerOp<int64_t>(op, old, b));
  case Type::U64:
  case Type::B64:
    return integerOp<uint64_t>(op, old, b);
  default:
    return integerOp<uint32_t>(op, old, b);
  }
}

/// The instruction's operands: [d,] address, b [, c]; vectors element-wise.
Step atomic(Warp &w, const Instr &i, uint32_t active) {
  AtomicOp op = AtomicOp(i.detail & 0xff);
  bool isRed = i.detail & AtomRed;
  const Op &address = i.arg(isRed ? 0 : 1);
  const Arg &bArg = i.args[isRed ? 1 : 2];
  const Op *dest = isRed ? nullptr : &i.op[i.args[0].first];
  unsigned bytes = typeBytes(i.type()), total = bytes * i.vec;
  bool changed = false;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    uint64_t at = addressOf(w, address, lane);
    uint8_t flags = AccessWrite | AccessAtomic;
    Place place = locate(w, i, lane, i.space, at, total, flags);
    if (!place.data)
      continue;
    releaseAt(w, lane, place, at, i.detail & AtomRelease);
    noteAccess({&w, &i, lane}, place, at, total, flags);
    acquireAt(w, lane, place, at, i.detail & AtomAcquire);
    counters().readBytes[size_t(place.space)] += total;
    counters().writtenBytes[size_t(place.space)] += total;
    for (unsigned k = 0; k < i.vec; ++k) {
      uint64_t old = 0;
      std::memcpy(&old, place.data + k * bytes, bytes);
      uint64_t b = w.read(i.op[bArg.first + k], lane);
      uint64_t c = op == AtomicOp::Cas ? w.read(i.arg(isRed ? 2 : 3), lane) : 0;
      if (bytes < 8) {
        uint64_t mask = (uint64_t(1) << (8 * bytes)) - 1;
        b &= mask;
        c &= mask;
      }
      uint64_t now = apply(op, i.type(), old, b, c);
      changed |= now != old;
      std::memcpy(place.data + k * bytes, &now, bytes);
      if (dest)
        w.write(dest[k], lane, old);
    }
  }
  if (!changed)
    return Step::Poll;
  w.cluster().progress();
  return Step::Next;
}

Error decodeAtomic(Instr &i, const Words &words) {
  bool isRed = words[0] == "red";
  unsigned op = ~0u;
  i.detail = isRed ? AtomRed : 0;
  for (StringRef word : ArrayRef(words).drop_front()) {
    unsigned named = StringSwitch<unsigned>(word)
                         .Case("add", unsigned(AtomicOp::Add))
                         .Case("min", unsigned(AtomicOp::Min))
                         .Case("max", unsigned(AtomicOp::Max))
                         .Case("inc", unsigned(AtomicOp::Inc))
                         .Case("dec", unsigned(AtomicOp::Dec))
                         .Case("and", unsigned(AtomicOp::And))
                         .Case("or", unsigned(AtomicOp::Or))
                         .Case("xor", unsigned(AtomicOp::Xor))
                         .Case("exch", unsigned(AtomicOp::Exch))
                         .Case("cas", unsigned(AtomicOp::Cas))
                         .Default(~0u);
    if (named != ~0u)
      op = named;
    if (word == "acquire" || word == "acq_rel")
      i.detail |= AtomAcquire;
    if (word == "release" || word == "acq_rel")
      i.detail |= AtomRelease;
    if (word == "b128")
      return createStringError("128-bit atomics are not supported");
  }
  if (op == ~0u)
    return createStringError("no operation in '" + words[0] + "'");
  if (i.numTypes != 1 || typeBits(i.type()) < 16)
    return createStringError("bad type of an atomic operation");
  if (isFloat(i.type()) && op != unsigned(AtomicOp::Add))
    return createStringError("only .add exists for floating point");
  unsigned bIndex = isRed ? 1 : 2;
  if (i.args[bIndex].count != i.vec || (!isRed && i.args[0].count != i.vec))
    return createStringError("vectors of " + Twine(unsigned(i.vec)) +
                             " elements are needed");
  if ((op == unsigned(AtomicOp::Cas)) != (i.numArgs > bIndex + 1))
    return createStringError("wrong number of operands");
  i.detail |= op;
  i.traits |= TraitStrong;
  if (i.space != StateSpace::Shared)
    i.traits |= TraitGlobalSync;
  return Error::success();
}

} // namespace

void registerAtomic(InstrTable &t) {
  t.add("atom.*", "=v @ <v <?", atomic, InstrKind::Atomic, 0, decodeAtomic);
  t.add("red.*", "@ <v <?", atomic, InstrKind::Atomic, 0, decodeAtomic);
}

} // namespace linattn::sim
