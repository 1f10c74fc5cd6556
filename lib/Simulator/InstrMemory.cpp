//===- InstrMemory.cpp - Loads and stores ---------------------------------===//

#include "Access.h"
#include "Exec.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace linattn::sim {
namespace {

enum MemoryBits {
  MemStrong = 1,   ///< relaxed, acquire, release, volatile, mmio
  MemAcquire = 2,
  MemRelease = 4,
  MemSignExtend = 8,
};

uint64_t loadBits(const uint8_t *from, unsigned bytes) {
  switch (bytes) {
  case 1:
    return *from;
  case 2: {
    uint16_t v;
    std::memcpy(&v, from, 2);
    return v;
  }
  case 4: {
    uint32_t v;
    std::memcpy(&v, from, 4);
    return v;
  }
  default: {
    uint64_t v;
    std::memcpy(&v, from, 8);
    return v;
  }
  }
}

uint64_t extendTo(uint64_t v, unsigned bytes, const Op &to) {
  uint64_t s = uint64_t(int64_t(v << (64 - 8 * bytes)) >> (64 - 8 * bytes));
  return typeBits(to.type) == 16 ? s & 0xffff : s;
}

void countConflicts(const Instr &i, const uint64_t *at, uint32_t active,
                    unsigned bytes) {
  if (active)
    countBankConflicts(i, at, active, bytes);
}

Step load(Warp &w, const Instr &i, uint32_t active) {
  const Op &base = i.arg(1);
  unsigned element = typeBytes(i.type()), total = element * i.vec;
  uint8_t flags = i.detail & MemStrong ? AccessAtomic : 0;
  uint64_t at[32];
  uint32_t shared = 0;
  uint64_t moved[8] = {};
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    uint64_t address = addressOf(w, base, lane);
    Place place = locate(w, i, lane, i.space, address, total, flags);
    at[lane] = place.offset;
    if (!place.data) {
      for (unsigned k = 0; k < i.vec; ++k)
        w.write(i.op[k], lane, 0);
      continue;
    }
    noteAccess({&w, &i, lane}, place, address, total, flags);
    if (i.detail & MemStrong)
      acquireAt(w, lane, place, address, i.detail & MemAcquire);
    moved[size_t(place.space)] += total;
    shared |= uint32_t(place.space == StateSpace::Shared) << lane;
    for (unsigned k = 0; k < i.vec; ++k) {
      uint64_t v = loadBits(place.data + k * element, element);
      if (i.detail & MemSignExtend)
        v = extendTo(v, element, i.op[k]);
      w.write(i.op[k], lane, v);
    }
  }
  for (unsigned s = 0; s < 8; ++s)
    counters().readBytes[s] += moved[s];
  countConflicts(i, at, shared, total);
  return i.detail & MemStrong ? Step::Poll : Step::Next;
}

Step store(Warp &w, const Instr &i, uint32_t active) {
  const Op &base = i.arg(0);
  const Op *values = &i.op[i.args[1].first];
  unsigned element = typeBytes(i.type()), total = element * i.vec;
  uint8_t flags = AccessWrite | (i.detail & MemStrong ? AccessAtomic : 0);
  uint64_t at[32];
  uint32_t shared = 0;
  uint64_t moved[8] = {};
  w.cluster().pollsSinceProgress = 0;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = __builtin_ctz(rest);
    uint64_t address = addressOf(w, base, lane);
    Place place = locate(w, i, lane, i.space, address, total, flags);
    at[lane] = place.offset;
    if (!place.data)
      continue;
    if (i.detail & MemStrong)
      releaseAt(w, lane, place, address, i.detail & MemRelease);
    noteAccess({&w, &i, lane}, place, address, total, flags);
    moved[size_t(place.space)] += total;
    shared |= uint32_t(place.space == StateSpace::Shared) << lane;
    for (unsigned k = 0; k < i.vec; ++k) {
      uint64_t v = w.read(values[k], lane);
      std::memcpy(place.data + k * element, &v, element);
    }
  }
  for (unsigned s = 0; s < 8; ++s)
    counters().writtenBytes[s] += moved[s];
  countConflicts(i, at, shared, total);
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
      .Cases({"weak", "cta", "cluster", "gpu", "sys", "v2", "v4", "v8", "unified"},
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
      return createStringError("unknown modifier '." + word + "' of " + words[0]);
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
    return createStringError("a vector of " + Twine(i.vec) +
                             " elements is needed, got " + Twine(values.count));
  if (!isLoad && i.space == StateSpace::Const)
    return createStringError("constant memory cannot be written");
  if (i.detail & MemStrong && (i.space == StateSpace::Local ||
                               i.space == StateSpace::Param))
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
  t.add("createpolicy.fractional.*", "=b64 <f32?", [](Warp &w, const Instr &i, uint32_t active) {
          for (unsigned l = 0; l < 32; ++l)
            if (active >> l & 1)
              w.write(i.op[0], l, 0);
          return Step::Next;
        }, InstrKind::Other);
}

} // namespace linattn::sim
