//===- InstrBulkCopy.cpp - cp.async.bulk, cp.reduce.async.bulk, st.async --===//
//
// Copies by the async proxy. Those into shared memory signal an mbarrier; those
// into global memory are waited for by bulk groups, in two steps: the source
// has been read (.read), the destination is written.
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Exec.h"
#include "Findings.h"
#include "HalfFloat.h"
#include "Mbarrier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {

//===----------------------------------------------------------------------===//
// Shared with tensor copies
//===----------------------------------------------------------------------===//

static Reduce reduceOf(StringRef word) {
  return StringSwitch<Reduce>(word)
      .Case("add", Reduce::Add)
      .Case("min", Reduce::Min)
      .Case("max", Reduce::Max)
      .Case("inc", Reduce::Inc)
      .Case("dec", Reduce::Dec)
      .Case("and", Reduce::And)
      .Case("or", Reduce::Or)
      .Case("xor", Reduce::Xor)
      .Default(Reduce::None);
}

uint32_t reductionIn(const Words &words) {
  if (words[0] == "red" || words[1] == "reduce")
    for (StringRef word : words)
      if (Reduce op = reduceOf(word); op != Reduce::None)
        return uint32_t(op) << reduceShift;
  return 0;
}

Error needsOperands(const Instr &i, unsigned count) {
  if (i.numArgs == count)
    return Error::success();
  return createStringError("needs " + Twine(count) + " operands, got " +
                           Twine(unsigned(i.numArgs)));
}

template <typename T> static T combine(Reduce op, T a, T b) {
  switch (op) {
  case Reduce::Add:
    return T(a + b);
  case Reduce::Min:
    return b < a ? b : a;
  case Reduce::Max:
    return a < b ? b : a;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
    case Reduce::Inc:
      return a >= b ? T(0) : T(a + 1);
    case Reduce::Dec:
      return a == 0 || a > b ? b : T(a - 1);
    case Reduce::And:
      return a & b;
    case Reduce::Or:
      return a | b;
    case Reduce::Xor:
      return a ^ b;
    default:
      break;
    }
  }
  return b;
}

template <typename T>
static void reduceAs(Reduce op, uint8_t *to, const uint8_t *from,
                     uint64_t bytes) {
  for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof(T));
    std::memcpy(&b, from + at, sizeof(T));
    a = combine<T>(op, a, b);
    std::memcpy(to + at, &a, sizeof(T));
  }
}

template <float (*Widen)(uint16_t), uint16_t (*Narrow)(float)>
static void reduceHalves(Reduce op, uint8_t *to, const uint8_t *from,
                         uint64_t bytes) {
  for (uint64_t at = 0; at + 2 <= bytes; at += 2) {
    uint16_t a, b;
    std::memcpy(&a, to + at, 2);
    std::memcpy(&b, from + at, 2);
    a = Narrow(combine(op, Widen(a), Widen(b)));
    std::memcpy(to + at, &a, 2);
  }
}

void reduceElements(Reduce op, Type type, uint8_t *to, const uint8_t *from,
                    uint64_t bytes) {
  switch (type) {
  case Type::F16:
    return reduceHalves<halfToFloat, floatToHalf>(op, to, from, bytes);
  case Type::BF16:
    return reduceHalves<bf16ToFloat, floatToBF16>(op, to, from, bytes);
  case Type::F32:
    return reduceAs<float>(op, to, from, bytes);
  case Type::F64:
    return reduceAs<double>(op, to, from, bytes);
  case Type::S32:
    return reduceAs<int32_t>(op, to, from, bytes);
  case Type::S64:
    return reduceAs<int64_t>(op, to, from, bytes);
  case Type::U64:
  case Type::B64:
    return reduceAs<uint64_t>(op, to, from, bytes);
  default:
    return reduceAs<uint32_t>(op, to, from, bytes);
  }
}

SmallVector<uint64_t, 16> multicast(Warp &warp, uint64_t address, bool hasMask,
                                    uint32_t mask) {
  if (!hasMask)
    return {address};
  SmallVector<uint64_t, 16> result;
  uint64_t offset =
      address - sharedWindow < windowBytes ? address - sharedWindow : address;
  offset &= (1u << clusterRankShift) - 1;
  for (uint32_t rest = mask & 0xffff; rest; rest &= rest - 1)
    result.push_back(uint64_t(countr_zero(rest) + 1) << clusterRankShift |
                     offset);
  return result;
}

void issueBulk(AsyncRef work, bool inGroup) {
  if (inGroup)
    work->issuer->async[work->lane].bulkOpen.push_back(work);
  Cluster &cluster = work->issuer->cluster();
  cluster.asyncQueue.issue(cluster, std::move(work));
}

namespace {

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

enum BulkBits {
  BulkToGlobal = 1,
  BulkFromShared = 2,
  BulkMulticast = 4,
  BulkHint = 8,
  BulkByteMask = 16,
};

struct BulkCopy {
  StateSpace toSpace, fromSpace;
  uint64_t to, from, bytes, mbarrier;
  uint32_t mask;
};

void performBulk(AsyncWork &work, const BulkCopy &c) {
  Warp &w = *work.issuer;
  const Instr &i = *work.instr;
  Reduce op = reductionOf(i);
  bool toGlobal = i.detail & BulkToGlobal;
  constexpr uint8_t P = AccessAsyncProxy;
  Accessor reader{&w, &i, work.lane, &work};
  Accessor writer{&w, &i, work.lane, work.writes ? work.writes.get() : &work};
  Place from = locate(w, i, work.lane, c.fromSpace, c.from, c.bytes, P, 16);
  if (from.data)
    noteAccess(reader, from, c.from, c.bytes, P);
  bool hasMask = i.detail & BulkMulticast;
  auto &traffic = counters().asyncTraffic;
  traffic[toGlobal || (i.detail & BulkFromShared) ? "bulk shared"
                                                  : "bulk global"]
      .read += c.bytes;
  for (uint64_t at : multicast(w, c.to, hasMask, c.mask)) {
    StateSpace space = hasMask ? StateSpace::SharedCluster : c.toSpace;
    uint8_t flags = AccessWrite | P | (op != Reduce::None ? AccessAtomic : 0);
    Place to = locate(w, i, work.lane, space, at, c.bytes, flags, 16);
    traffic[toGlobal ? "bulk global" : "bulk shared"].written += c.bytes;
    if (!to.data || !from.data)
      continue;
    noteAccess(writer, to, at, c.bytes, flags);
    if (op != Reduce::None) {
      reduceElements(op, i.type(), to.data, from.data, c.bytes);
    } else if (i.detail & BulkByteMask) {
      for (uint64_t b = 0; b < c.bytes; ++b)
        if (c.mask >> (b % 16) & 1)
          to.data[b] = from.data[b];
    } else {
      std::memmove(to.data, from.data, c.bytes);
    }
  }
  if (toGlobal)
    return;
  for (uint64_t at : multicast(w, c.mbarrier, hasMask, c.mask))
    signalBytes(reader, StateSpace::SharedCluster, at, c.bytes);
}

/// Operands: destination, source, size, then for shared memory the mbarrier and
/// the block mask of a multicast; a cache policy; a byte mask.
Step copy(Warp &w, const Instr &i, uint32_t active) {
  bool toGlobal = i.detail & BulkToGlobal;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    BulkCopy c{};
    c.to = addressOf(w, i.arg(0), lane);
    c.from = addressOf(w, i.arg(1), lane);
    c.bytes = uint32_t(w.read(i.arg(2), lane));
    c.toSpace = toGlobal ? StateSpace::Global : StateSpace::SharedCluster;
    c.fromSpace = toGlobal || (i.detail & BulkFromShared) ? StateSpace::Shared
                                                          : StateSpace::Global;
    if (!toGlobal)
      c.mbarrier = addressOf(w, i.arg(3), lane);
    if (i.detail & BulkMulticast)
      c.mask = w.read(i.arg(4), lane);
    if (i.detail & BulkByteMask)
      c.mask = w.read(i.arg(i.numArgs - 1), lane);
    if (c.bytes % 16) {
      report(FindingKind::AsyncCopy, w, i, lane,
             "the size of a bulk copy must be a multiple of 16, got " +
                 Twine(c.bytes));
      c.bytes &= ~uint64_t(15);
    }
    if (!c.bytes)
      continue;
    AsyncRef work = makeWork(w, lane, i);
    if (toGlobal)
      work->writes = makeWork(w, lane, i);
    work->perform = [c](AsyncWork &work) { performBulk(work, c); };
    issueBulk(std::move(work), toGlobal);
  }
  return Step::Next;
}

Error decode(Instr &i, const Words &words) {
  bool toGlobal = is_contained(words, "bulk_group");
  i.detail |= toGlobal ? BulkToGlobal : 0;
  if (!toGlobal &&
      words[words[0] == "cp" && words[1] == "reduce" ? 5 : 4] == "shared::cta")
    i.detail |= BulkFromShared;
  for (StringRef word : words) {
    i.detail |= word == "multicast::cluster" ? BulkMulticast : 0;
    i.detail |= word == "L2::cache_hint" ? BulkHint : 0;
    i.detail |= word == "cp_mask" ? BulkByteMask : 0;
  }
  unsigned want = (toGlobal ? 3 : 4) + !!(i.detail & BulkMulticast) +
                  !!(i.detail & BulkHint) + !!(i.detail & BulkByteMask);
  i.detail |= reductionIn(words);
  return needsOperands(i, want);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

Step commit(Warp &w, const Instr &, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    LaneAsync &async = w.async[countr_zero(rest)];
    async.bulkGroups.push_back(std::move(async.bulkOpen));
    async.bulkOpen.clear();
  }
  return Step::Next;
}

/// .read waits until the sources have been read; the groups stay until a wait
/// without it.
Step waitGroup(Warp &w, const Instr &i, uint32_t active) {
  ++counters().waits["bulk groups"];
  uint64_t keep = i.arg(0).imm;
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    auto &groups = w.async[lane].bulkGroups;
    size_t end = groups.size() > keep ? groups.size() - keep : 0;
    std::vector<AsyncRef> work;
    for (size_t g = 0; g < end; ++g)
      for (AsyncRef &copy : groups[g]) {
        w.cluster().asyncQueue.finish(*copy);
        work.push_back(copy);
        if (!i.detail && copy->writes)
          work.push_back(copy->writes);
      }
    if (!i.detail)
      groups.erase(groups.begin(), groups.begin() + end);
    acquireWork(w, 1u << lane, work);
  }
  return Step::Next;
}
Error decodeWait(Instr &i, const Words &words) {
  i.detail = words.back() == "read";
  return Error::success();
}

//===----------------------------------------------------------------------===//
// st.async, red.async
//===----------------------------------------------------------------------===//

/// Operands: destination, value or vector, mbarrier.
Step storeAsync(Warp &w, const Instr &i, uint32_t active) {
  unsigned element = typeBytes(i.type()), bytes = element * i.args[1].count;
  Reduce op = reductionOf(i);
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    std::array<uint8_t, 32> value{};
    for (unsigned k = 0; k < i.args[1].count; ++k) {
      uint64_t bits = w.read(i.op[i.args[1].first + k], lane);
      std::memcpy(value.data() + k * element, &bits, element);
    }
    uint64_t to = addressOf(w, i.arg(0), lane);
    uint64_t mbarrier = addressOf(w, i.arg(2), lane);
    AsyncRef work = makeWork(w, lane, i);
    work->perform = [=](AsyncWork &work) {
      Warp &w = *work.issuer;
      Accessor who{&w, work.instr, work.lane, &work};
      // Not by the async proxy.
      uint8_t flags = AccessWrite | (op != Reduce::None ? AccessAtomic : 0);
      Place place = locate(w, *work.instr, work.lane, StateSpace::SharedCluster,
                           to, bytes, flags, element);
      if (place.data) {
        noteAccess(who, place, to, bytes, flags);
        if (op == Reduce::None)
          std::memcpy(place.data, value.data(), bytes);
        else
          reduceElements(op, work.instr->type(), place.data, value.data(),
                         bytes);
      }
      signalBytes(who, StateSpace::SharedCluster, mbarrier, bytes);
    };
    issueBulk(std::move(work), false);
  }
  return Step::Next;
}
Error decodeStoreAsync(Instr &i, const Words &words) {
  unsigned count = std::max<unsigned>(1, i.vec);
  if (i.args[1].count != count)
    return createStringError("a vector of " + Twine(count) + " is needed");
  i.detail |= reductionIn(words);
  return Error::success();
}

Step nothing(Warp &, const Instr &, uint32_t) { return Step::Next; }

} // namespace

void registerBulkCopy(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Async;
  constexpr uint32_t A = TraitAsync | TraitOwnSpaces;
  t.add("cp.async.bulk.<shared::cluster|shared::cta>.global."
        "mbarrier::complete_tx::bytes",
        "@ @ <u32 @", copy, K, A, decode);
  t.add("cp.async.bulk.<shared::cluster|shared::cta>.global."
        "mbarrier::complete_tx::bytes.L2::cache_hint",
        "@ @ <u32 @ <b64", copy, K, A, decode);
  t.add("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes."
        "multicast::cluster[.L2::cache_hint]",
        "@ @ <u32 @ <b16 <b64?", copy, K, A, decode);
  t.add(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
      "@ @ <u32 @", copy, K, A, decode);
  t.add("cp.async.bulk.global.shared::cta.bulk_group[.L2::cache_hint]",
        "@ @ <u32 <b64?", copy, K, A, decode);
  t.add("cp.async.bulk.global.shared::cta.bulk_group.cp_mask", "@ @ <u32 <b16",
        copy, K, A, decode);
  t.add("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask",
        "@ @ <u32 <b64 <b16", copy, K, A, decode);
  t.add("cp.async.bulk.prefetch.L2.global[.L2::cache_hint]", "@ <u32 <b64?",
        nothing, K, A);
  t.add("cp.reduce.async.bulk.shared::cluster.shared::cta."
        "mbarrier::complete_tx::bytes.<add|min|max|inc|dec|and|or|xor>"
        ".<s32|u32|u64|b32|b64>",
        "@ @ <u32 @", copy, K, A, decode);
  t.add("cp.reduce.async.bulk.global.shared::cta.bulk_group[.L2::cache_hint]"
        ".<add|min|max|inc|dec|and|or|xor>[.noftz]"
        ".<f16|bf16|f32|f64|s32|u32|s64|u64|b32|b64>",
        "@ @ <u32 <b64?", copy, K, A, decode);
  t.add("cp.async.bulk.commit_group", "", commit, K, A);
  t.add("cp.async.bulk.wait_group[.read]", "#", waitGroup, K, A, decodeWait);
  t.add("st.async[.weak].shared::cluster.mbarrier::complete_tx::bytes[.v2|.v4]"
        ".<b32|b64|u32|u64|s32|s64|f32|f64>",
        "@ <v @", storeAsync, K, A, decodeStoreAsync);
  t.add("red.async[.relaxed][.cluster].shared::cluster."
        "mbarrier::complete_tx::bytes.<add|min|max|inc|dec|and|or|xor>"
        ".<u32|s32|u64|b32>",
        "@ < @", storeAsync, K, A, decodeStoreAsync);
}

} // namespace linattn::sim
