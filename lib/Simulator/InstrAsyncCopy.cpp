//===- InstrAsyncCopy.cpp - cp.async and its groups -----------------------===//
//
// cp.async works in the generic proxy. One piece of work stands for the copies
// of a warp's instruction; the groups are kept per lane.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Exec.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {
namespace {

struct LaneCopy {
  uint32_t lane;
  uint64_t to, from;
  uint32_t bytes; ///< read; the rest is zeros
  ClockRef clock;
};

void copyLanes(AsyncWork &work, const std::vector<LaneCopy> &copies,
               uint32_t size) {
  Warp &w = *work.issuer;
  const Instr &i = *work.instr;
  Traffic &source = counters().asyncTraffic["cp.async global"];
  Traffic &destination = counters().asyncTraffic["cp.async shared"];
  AsyncOrigin mine = work;
  for (const LaneCopy &copy : copies) {
    mine.lane = copy.lane;
    mine.clock = copy.clock;
    mine.issuerThread = w.threadId(copy.lane);
    Accessor who{&w, &i, copy.lane, &mine};
    Place to =
        locate(w, i, copy.lane, StateSpace::Shared, copy.to, size, AccessWrite);
    Place from;
    if (copy.bytes)
      from = locate(w, i, copy.lane, StateSpace::Global, copy.from, copy.bytes,
                    0, size);
    if (!to.data)
      continue;
    if (from.data)
      noteAccess(who, from, copy.from, copy.bytes, 0);
    noteAccess(who, to, copy.to, size, AccessWrite);
    if (from.data)
      std::memcpy(to.data, from.data, copy.bytes);
    std::memset(to.data + copy.bytes, 0, size - copy.bytes);
    source.read += copy.bytes;
    destination.written += size;
  }
}

/// Operands: destination, source, size [, bytes to read] [, cache policy].
Step copy(Warp &w, const Instr &i, uint32_t active) {
  uint32_t size = i.arg(2).imm;
  bool partial = i.numArgs > 3 && !(i.detail && i.numArgs == 4);
  std::vector<LaneCopy> copies;
  AsyncRef work = makeWork(w, countr_zero(active), i);
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    uint64_t bytes = partial ? uint32_t(w.read(i.arg(3), lane)) : size;
    if (bytes > size) {
      report(FindingKind::AsyncCopy, w, i, lane,
             "the source size is " + Twine(bytes) + ", more than the " +
                 Twine(size) + " bytes of the copy");
      bytes = size;
    }
    copies.push_back({lane, addressOf(w, i.arg(0), lane),
                      addressOf(w, i.arg(1), lane), uint32_t(bytes),
                      w.clocks[lane]});
    w.async[lane].open.push_back(work);
  }
  work->perform = [copies = std::move(copies), size](AsyncWork &work) {
    copyLanes(work, copies, size);
  };
  w.cluster().asyncQueue.issue(w.cluster(), work);
  return Step::Next;
}

Error decodeCopy(Instr &i, const Words &words) {
  i.detail = is_contained(words, "L2::cache_hint");
  int64_t size = i.arg(2).imm;
  if (size != 16 && (words[2] == "cg" || (size != 4 && size != 8)))
    return createStringError("cp.async." + words[2] + " cannot copy " +
                             Twine(size) + " bytes");
  if (i.numArgs > (i.detail ? 5u : 4u))
    return createStringError("too many operands");
  return Error::success();
}

Step commit(Warp &w, const Instr &, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    LaneAsync &async = w.async[countr_zero(rest)];
    async.groups.push_back(std::move(async.open));
    async.open.clear();
  }
  return Step::Next;
}

/// Lanes that wait for the same work learn of it together.
class WaitBatch {
public:
  explicit WaitBatch(Warp &w) : w(w) {}
  void add(unsigned lane, std::vector<AsyncRef> &&work) {
    if (lanes && work != pending)
      flush();
    pending = std::move(work);
    lanes |= 1u << lane;
  }
  void flush() {
    for (const AsyncRef &work : pending)
      w.cluster().asyncQueue.finish(*work);
    acquireWork(w, lanes, pending);
    lanes = 0;
    pending.clear();
  }

private:
  Warp &w;
  uint32_t lanes = 0;
  std::vector<AsyncRef> pending;
};

void waitGroups(Warp &w, uint32_t active, uint64_t keep) {
  WaitBatch batch(w);
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    auto &groups = w.async[lane].groups;
    std::vector<AsyncRef> work;
    for (; groups.size() > keep; groups.pop_front())
      work.insert(work.end(), groups.front().begin(), groups.front().end());
    batch.add(lane, std::move(work));
  }
  batch.flush();
}

Step waitGroup(Warp &w, const Instr &i, uint32_t active) {
  ++counters().waits["cp.async groups"];
  waitGroups(w, active, i.arg(0).imm);
  return Step::Next;
}

Step waitAll(Warp &w, const Instr &i, uint32_t active) {
  commit(w, i, active);
  ++counters().waits["cp.async groups"];
  waitGroups(w, active, 0);
  return Step::Next;
}

} // namespace

void registerAsyncCopy(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Async;
  constexpr uint32_t A = TraitAsync | TraitOwnSpaces;
  for (StringRef to : {"shared", "shared::cta"}) {
    std::string name = ("cp.async.<ca|cg>." + to + ".global").str();
    std::string hints = "[.L2::64B|.L2::128B|.L2::256B]";
    t.add(name + hints, "@ @ # <u32?", copy, K, A, decodeCopy);
    t.add(name + ".L2::cache_hint" + hints, "@ @ # <au32? <b64?", copy, K, A,
          decodeCopy);
  }
  t.add("cp.async.commit_group", "", commit, K, A);
  t.add("cp.async.wait_group", "#", waitGroup, K, A);
  t.add("cp.async.wait_all", "", waitAll, K, A);
}

} // namespace linattn::sim
