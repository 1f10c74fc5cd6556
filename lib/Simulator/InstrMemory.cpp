//===- InstrMemory.cpp - Loads and stores ---------------------------------===//

#include "Access.h"
#include "Exec.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace linattn::sim {
namespace {

enum MemoryBits {
  MemStrong = 1, ///< relaxed, acquire, release, volatile, mmio
  MemAcquire = 2,
  MemRelease = 4,
  MemSignExtend = 8,
};

uint64_t extendTo(uint64_t v, unsigned bytes, const Op &to) {
  uint64_t s = uint64_t(int64_t(v << (64 - 8 * bytes)) >> (64 - 8 * bytes));
  return typeBits(to.type) == 16 ? s & 0xffff : s;
}

void addressesOf(const Warp &w, const Op &base, uint32_t active,
                 uint64_t *address) {
  int64_t offset = base.imm;
  if (base.isWide) {
    auto *a = w.in<uint64_t>(base);
    for (unsigned l = 0; l < 32; ++l)
      address[l] = a[l] + offset;
  } else {
    auto *a = w.in<uint32_t>(base);
    for (unsigned l = 0; l < 32; ++l)
      address[l] = a[l] + offset;
  }
}

template <unsigned Bytes>
void loadElements(Warp &w, const Op &to, uint32_t good, uint8_t *const *data,
                  unsigned offset, bool sign) {
  using T = std::conditional_t<
      Bytes == 1, uint8_t,
      std::conditional_t<Bytes == 2, uint16_t,
                         std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;
  if (!sign && to.isWide == (Bytes == 8)) {
    auto *d = w.out<Stored<T>>(to);
    lanes(good, [=](unsigned l) {
      T v;
      std::memcpy(&v, data[l] + offset, Bytes);
      d[l] = v;
    });
    return;
  }
  lanes(good, [&](unsigned l) {
    T v;
    std::memcpy(&v, data[l] + offset, Bytes);
    w.write(to, l, sign ? extendTo(v, Bytes, to) : v);
  });
}

void loadElement(Warp &w, const Op &to, uint32_t good, uint8_t *const *data,
                 unsigned offset, unsigned bytes, bool sign) {
  switch (bytes) {
  case 1:
    return loadElements<1>(w, to, good, data, offset, sign);
  case 2:
    return loadElements<2>(w, to, good, data, offset, sign);
  case 4:
    return loadElements<4>(w, to, good, data, offset, sign);
  default:
    return loadElements<8>(w, to, good, data, offset, sign);
  }
}

Step load(Warp &w, const Instr &i, uint32_t active) {
  const Op &base = i.arg(1);
  unsigned element = typeBytes(i.type()), total = element * i.vec;
  uint8_t flags = i.detail & MemStrong ? AccessAtomic : 0;
  uint64_t address[32];
  uint8_t *data[32];
  addressesOf(w, base, active, address);
  uint32_t good =
      accessWarp(w, i, active, i.space, address, total, flags, data);
  for (unsigned k = 0; k < i.vec; ++k)
    loadElement(w, i.op[k], good, data, k * element, element,
                i.detail & MemSignExtend);
  if (good != active)
    for (unsigned k = 0; k < i.vec; ++k)
      lanes(active & ~good, [&](unsigned l) { w.write(i.op[k], l, 0); });
  if (!(i.detail & MemStrong))
    return Step::Next;
  for (uint32_t rest = good; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    Place place = locate(w, i, lane, i.space, address[lane], total, flags);
    acquireAt(w, lane, place, address[lane], i.detail & MemAcquire);
  }
  return Step::Poll;
}

Step store(Warp &w, const Instr &i, uint32_t active) {
  const Op &base = i.arg(0);
  const Op *values = &i.op[i.args[1].first];
  unsigned element = typeBytes(i.type()), total = element * i.vec;
  uint8_t flags = AccessWrite | (i.detail & MemStrong ? AccessAtomic : 0);
  uint64_t address[32];
  uint8_t *data[32];
  addressesOf(w, base, active, address);
  w.cluster().worked();
  if (i.detail & MemStrong)
    for (uint32_t rest = active; rest; rest &= rest - 1) {
      unsigned lane = __builtin_ctz(rest);
      Place place = locate(w, i, lane, i.space, address[lane], total, flags);
      if (place.data)
        releaseAt(w, lane, place, address[lane], i.detail & MemRelease);
    }
  uint32_t good =
      accessWarp(w, i, active, i.space, address, total, flags, data);
  for (unsigned k = 0; k < i.vec; ++k)
    for (uint32_t rest = good; rest; rest &= rest - 1) {
      unsigned lane = __builtin_ctz(rest);
      uint64_t v = w.read(values[k], lane);
      std::memcpy(data[lane] + k * element, &v, element);
    }
  return Step::Next;
}

/// Modifiers that only say how to cache.
bool isHint(StringRef word) {
  return StringSwitch<bool>(word)
      .Cases({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"}, true)
      .Cases({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
              "L1::evict_last", "L1::no_allocate"},
             true)
      .Cases({"L2::cache_hint", "L2::64B", "L2::128B", "L2::256B",
              "L2::evict_first", "L2::evict_last", "L2::evict_normal"},
             true)
      .Cases(
          {"weak", "cta", "cluster", "gpu", "sys", "v2", "v4", "v8", "unified"},
          true)
      .Default(false);
}

Error decodeAccess(Instr &i, const Words &words) {
  bool isLoad = words[0] == "ld" || words[0] == "ldu";
  for (StringRef word : ArrayRef(words).drop_front()) {
    if (word == "volatile" || word == "relaxed" || word == "mmio")
      i.detail |= MemStrong;
    else if (word == "acquire" && isLoad)
      i.detail |= MemStrong | MemAcquire;
    else if (word == "release" && !isLoad)
      i.detail |= MemStrong | MemRelease;
    else if (!isHint(word) && parseType(word) == Type::None &&
             !StringSwitch<bool>(word)
                  .Cases({"global", "shared", "local", "param", "const",
                          "shared::cta", "shared::cluster", "param::entry",
                          "param::func"},
                         true)
                  .Default(false))
      return createStringError("unknown modifier '." + word + "' of " +
                               words[0]);
  }
  Type type = i.type();
  if (i.numTypes != 1 || type == Type::Pred || typeBits(type) > 64 ||
      typeBits(type) < 8 || type == Type::F16x2 || type == Type::BF16x2)
    return createStringError("bad type of a " +
                             StringRef(isLoad ? "load" : "store"));
  if (typeBytes(type) * i.vec > 32)
    return createStringError("a vector of more than 32 bytes");
  const Arg &values = i.args[isLoad ? 0 : 1];
  if (values.count != i.vec)
    return createStringError("a vector of " + Twine(unsigned(i.vec)) +
                             " elements is needed, got " +
                             Twine(unsigned(values.count)));
  if (!isLoad && i.space == StateSpace::Const)
    return createStringError("constant memory cannot be written");
  if (i.detail & MemStrong &&
      (i.space == StateSpace::Local || i.space == StateSpace::Param))
    i.detail &= ~(MemStrong | MemAcquire | MemRelease);
  if (isLoad && isSigned(type))
    i.detail |= MemSignExtend;
  if (i.detail & MemStrong)
    i.traits |= TraitStrong;
  if ((i.detail & MemStrong) &&
      (i.space == StateSpace::Global || i.space == StateSpace::Generic))
    i.traits |= TraitGlobalSync;
  switch (i.space) {
  case StateSpace::Shared:
  case StateSpace::SharedCluster:
    i.kind = InstrKind::Shared;
    break;
  case StateSpace::Local:
    i.kind = InstrKind::Local;
    break;
  case StateSpace::Param:
  case StateSpace::Const:
    i.kind = InstrKind::Param;
    break;
  case StateSpace::Global:
    i.kind = InstrKind::Global;
    break;
  case StateSpace::Generic:
    i.kind = InstrKind::Generic;
    break;
  }
  return Error::success();
}

Step nothing(Warp &, const Instr &, uint32_t) { return Step::Next; }

Error decodePrefetch(Instr &, const Words &) { return Error::success(); }

} // namespace

void registerMemory(InstrTable &t) {
  t.add("ld.*", "=vw @ <u64?", load, InstrKind::Generic, 0, decodeAccess);
  t.add("ldu.*", "=vw @", load, InstrKind::Generic, 0, decodeAccess);
  t.add("st.*", "@ <vw <u64?", store, InstrKind::Generic, 0, decodeAccess);
  t.add("prefetch.*", "@", nothing, InstrKind::Other, 0, decodePrefetch);
  t.add("prefetchu.*", "@", nothing, InstrKind::Other, 0, decodePrefetch);
  t.add("discard.*", "@ #", nothing, InstrKind::Other);
  t.add("applypriority.*", "@ #", nothing, InstrKind::Other);
  t.add(
      "createpolicy.fractional.*", "=b64 <f32?",
      [](Warp &w, const Instr &i, uint32_t active) {
        for (unsigned l = 0; l < 32; ++l)
          if (active >> l & 1)
            w.write(i.op[0], l, 0);
        return Step::Next;
      },
      InstrKind::Other);
}

} // namespace linattn::sim
