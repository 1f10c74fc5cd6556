//===- InstrWarp.cpp - Lanes of a warp exchange values --------------------===//

#include "Exec.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {
namespace {

enum ShuffleMode { Up, Down, Bfly, Idx };

/// shfl.sync d[|p], a, b, c, members
Step shfl(Warp &w, const Instr &i, uint32_t active) {
  const Op &d = i.op[0], &a = i.arg(1), &b = i.arg(2), &c = i.arg(3);
  uint32_t values[32], inRange = 0, result[32];
  for (unsigned l = 0; l < 32; ++l)
    values[l] = uint32_t(w.read(a, l));
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    uint32_t bv = w.read(b, lane) & 0x1f, cv = w.read(c, lane);
    uint32_t segment = cv >> 8 & 0x1f, clamp = cv & 0x1f;
    uint32_t maxLane = (lane & segment) | (clamp & ~segment);
    uint32_t minLane = lane & segment;
    int j = 0;
    bool ok = false;
    switch (i.detail) {
    case Up:
      j = int(lane) - int(bv);
      ok = j >= int(maxLane);
      break;
    case Down:
      j = int(lane + bv);
      ok = j <= int(maxLane);
      break;
    case Bfly:
      j = int(lane ^ bv);
      ok = j <= int(maxLane);
      break;
    case Idx:
      j = int(minLane | (bv & ~segment));
      ok = j <= int(maxLane);
      break;
    }
    if (!ok)
      j = lane;
    // A lane that takes no part has no defined value to give.
    if (!(active >> j & 1))
      report(FindingKind::BadOperand, w, i, lane,
             "reads lane " + Twine(j) + ", which does not take part");
    result[lane] = values[j & 31];
    inRange |= uint32_t(ok) << lane;
  }
  lanes(active, [&](unsigned l) { w.write(d, l, result[l]); });
  if (i.args[0].count > 1 && !i.op[1].isSink)
    w.setPred(i.op[1], active, inRange);
  return Step::Next;
}
Error decodeShfl(Instr &i, const Words &words) {
  i.detail = StringSwitch<unsigned>(words[2])
                 .Case("up", Up)
                 .Case("down", Down)
                 .Case("bfly", Bfly)
                 .Default(Idx);
  i.maskArg = 4;
  return Error::success();
}

/// Lanes vote within the members each of them names.
template <typename F>
void forEachMemberSet(Warp &w, const Instr &i, uint32_t active, F f) {
  uint32_t todo = active;
  while (todo) {
    uint32_t members = w.read(i.arg(i.maskArg), countr_zero(todo)) & active;
    members |= todo & -todo;
    f(members);
    todo &= ~members;
  }
}

enum VoteMode { All, Any, Uni, Ballot };
Step vote(Warp &w, const Instr &i, uint32_t active) {
  uint32_t p = w.pred(i.arg(1));
  forEachMemberSet(w, i, active, [&](uint32_t members) {
    uint32_t yes = p & members;
    if (i.detail == Ballot) {
      lanes(members, [&](unsigned l) { w.write(i.op[0], l, yes); });
      return;
    }
    bool r = i.detail == All   ? yes == members
             : i.detail == Any ? yes != 0
                               : yes == members || yes == 0;
    w.setPred(i.op[0], members, r ? ~0u : 0);
  });
  return Step::Next;
}
Error decodeVote(Instr &i, const Words &words) {
  i.detail = StringSwitch<unsigned>(words[2])
                 .Case("all", All)
                 .Case("any", Any)
                 .Case("uni", Uni)
                 .Default(Ballot);
  i.maskArg = 2;
  return Error::success();
}

/// match.any.sync d, a, members; match.all.sync d[|p], a, members
Step match(Warp &w, const Instr &i, uint32_t active) {
  bool all = i.detail;
  const Op &a = i.arg(1);
  forEachMemberSet(w, i, active, [&](uint32_t members) {
    uint32_t result[32], p = 0;
    for (uint32_t rest = members; rest; rest &= rest - 1) {
      unsigned lane = countr_zero(rest);
      uint32_t same = predicateOf(
          members, [&](unsigned l) { return w.read(a, l) == w.read(a, lane); });
      result[lane] = all ? (same == members ? members : 0) : same;
      p |= uint32_t(same == members) << lane;
    }
    lanes(members, [&](unsigned l) { w.write(i.op[0], l, result[l]); });
    if (i.args[0].count > 1 && !i.op[1].isSink)
      w.setPred(i.op[1], members, p);
  });
  return Step::Next;
}
Error decodeMatch(Instr &i, const Words &words) {
  i.detail = words[1] == "all";
  i.maskArg = 2;
  if (!i.detail && i.args[0].count > 1)
    return createStringError("match.any has no predicate");
  return Error::success();
}

template <typename T, typename F>
Step redux(Warp &w, const Instr &i, uint32_t active, F combine) {
  const Op &a = i.arg(1);
  forEachMemberSet(w, i, active, [&](uint32_t members) {
    bool first = true;
    T sum{};
    for (uint32_t rest = members; rest; rest &= rest - 1) {
      T v = fromBits<T>(uint32_t(w.read(a, countr_zero(rest))));
      sum = first ? v : combine(sum, v);
      first = false;
    }
    lanes(members, [&](unsigned l) { w.write(i.op[0], l, toBits(sum)); });
  });
  return Step::Next;
}
template <typename T> Step reduxAdd(Warp &w, const Instr &i, uint32_t active) {
  return redux<T>(w, i, active,
                  [](T a, T b) { return T(uint32_t(a) + uint32_t(b)); });
}
template <typename T> Step reduxMin(Warp &w, const Instr &i, uint32_t active) {
  return redux<T>(w, i, active, [](T a, T b) { return std::min(a, b); });
}
template <typename T> Step reduxMax(Warp &w, const Instr &i, uint32_t active) {
  return redux<T>(w, i, active, [](T a, T b) { return std::max(a, b); });
}
template <int Kind> Step reduxBits(Warp &w, const Instr &i, uint32_t active) {
  return redux<uint32_t>(w, i, active, [](uint32_t a, uint32_t b) {
    return Kind == 0 ? a & b : Kind == 1 ? a | b : a ^ b;
  });
}
Error decodeRedux(Instr &i, const Words &) {
  i.maskArg = 2;
  return Error::success();
}

/// elect.sync d|p, members: the lowest lane is elected.
Step elect(Warp &w, const Instr &i, uint32_t active) {
  forEachMemberSet(w, i, active, [&](uint32_t members) {
    unsigned leader = countr_zero(members);
    if (!i.op[0].isSink)
      lanes(members, [&](unsigned l) { w.write(i.op[0], l, leader); });
    w.setPred(i.op[1], members, 1u << leader);
  });
  return Step::Next;
}
Error decodeElect(Instr &i, const Words &) {
  i.maskArg = 1;
  if (i.args[0].count != 2)
    return createStringError("expected d|p");
  return Error::success();
}

Step activemask(Warp &w, const Instr &i, uint32_t active) {
  lanes(active, [&](unsigned l) { w.write(i.op[0], l, active); });
  return Step::Next;
}

/// bar.warp.sync members: memory accesses of the lanes are ordered as well.
Step warpSync(Warp &w, const Instr &i, uint32_t active) {
  w.acquire(active, w.release(active));
  return Step::Next;
}
Error decodeWarpSync(Instr &i, const Words &) {
  i.maskArg = 0;
  return Error::success();
}

} // namespace

void registerWarp(InstrTable &t) {
  constexpr InstrKind K = InstrKind::WarpComm;
  constexpr uint32_t C = TraitCollective;
  t.add("shfl.sync.<up|down|bfly|idx>.b32", "=p <b32 <u32 <u32 <u32", shfl, K,
        C, decodeShfl);
  t.add("vote.sync.<all|any|uni>.pred", "=pred <pred <u32", vote, K, C,
        decodeVote);
  t.add("vote.sync.ballot.b32", "=b32 <pred <u32", vote, K, C, decodeVote);
  t.add("match.<any|all>.sync.b32", "=p <b32 <u32", match, K, C, decodeMatch);
  t.add("match.<any|all>.sync.b64", "=pb32 <b64 <u32", match, K, C,
        decodeMatch);
  auto addRedux = [&](StringRef pattern, ExecFn fn) {
    t.add(pattern, "= < <u32", fn, K, C, decodeRedux);
  };
  addRedux("redux.sync.add.u32", reduxAdd<uint32_t>);
  addRedux("redux.sync.add.s32", reduxAdd<int32_t>);
  addRedux("redux.sync.min.u32", reduxMin<uint32_t>);
  addRedux("redux.sync.min.s32", reduxMin<int32_t>);
  addRedux("redux.sync.max.u32", reduxMax<uint32_t>);
  addRedux("redux.sync.max.s32", reduxMax<int32_t>);
  addRedux("redux.sync.and.b32", reduxBits<0>);
  addRedux("redux.sync.or.b32", reduxBits<1>);
  addRedux("redux.sync.xor.b32", reduxBits<2>);
  t.add("elect.sync", "=pb32 <u32", elect, K, C, decodeElect);
  t.add("activemask.b32", "=", activemask, K);
  t.add("bar.warp.sync", "<u32", warpSync, InstrKind::Barrier,
        C | TraitAnyPlace, decodeWarpSync);
}

} // namespace linattn::sim
