//===- InstrMove.cpp - Moves, selection, address spaces -------------------===//

#include "Exec.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace linattn::sim {
namespace {

template <typename T> Step mov(Warp &w, const Instr &i, uint32_t active) {
  return map1<T, T>(w, i, active, [](T a) { return a; });
}
/// A special register is narrower or wider than the destination.
Step movAny(Warp &w, const Instr &i, uint32_t active) {
  lanes(active, [&](unsigned l) { w.write(i.op[0], l, w.read(i.op[1], l)); });
  return Step::Next;
}
Step movPred(Warp &w, const Instr &i, uint32_t active) {
  w.setPred(i.op[0], active, w.pred(i.op[1]));
  return Step::Next;
}

/// {a, b, ..} into one register, or one register into {a, b, ..}.
Step pack(Warp &w, const Instr &i, uint32_t active) {
  unsigned n = i.args[1].count, bits = typeBits(i.type()) / n;
  uint64_t mask = (uint64_t(1) << bits) - 1;
  const Op *from = &i.op[i.args[1].first];
  lanes(active, [&](unsigned l) {
    uint64_t v = 0;
    for (unsigned k = 0; k < n; ++k)
      v |= (w.read(from[k], l) & mask) << (bits * k);
    w.write(i.op[0], l, v);
  });
  return Step::Next;
}
Step unpack(Warp &w, const Instr &i, uint32_t active) {
  unsigned n = i.args[0].count, bits = typeBits(i.type()) / n;
  uint64_t mask = (uint64_t(1) << bits) - 1;
  const Op &from = i.arg(1);
  lanes(active, [&](unsigned l) {
    uint64_t v = w.read(from, l);
    for (unsigned k = 0; k < n; ++k)
      w.write(i.op[k], l, v >> (bits * k) & mask);
  });
  return Step::Next;
}

Error decodeMov(Instr &i, const Words &) {
  unsigned to = i.args[0].count, from = i.args[1].count;
  if (to == 1 && from == 1) {
    if (typeBits(i.op[0].type) != typeBits(i.type()) && !i.op[0].isSink)
      return createStringError(
          "the destination has " + Twine(typeBits(i.op[0].type)) +
          " bits, the instruction moves " + Twine(typeBits(i.type())));
    if (i.op[0].isWide != i.op[1].isWide)
      i.fn = movAny;
    return Error::success();
  }
  unsigned n = std::max(to, from);
  if ((to != 1 && from != 1) || (n != 2 && n != 4) ||
      typeBits(i.type()) < 8 * n)
    return createStringError("mov cannot pack or unpack " + Twine(n) +
                             " parts of ." + typeName(i.type()));
  unsigned bits = typeBits(i.type()) / n;
  const Op *parts = &i.op[i.args[from > 1 ? 1 : 0].first];
  for (unsigned k = 0; k < n; ++k)
    if (!parts[k].isConst && !parts[k].isSink &&
        typeBits(parts[k].type) != bits)
      return createStringError(
          "part " + Twine(k) + " of ." + typeName(i.type()) + " must have " +
          Twine(bits) + " bits, got " + Twine(typeBits(parts[k].type)));
  if (typeBits(i.arg(from > 1 ? 0 : 1).type) != typeBits(i.type()) &&
      !i.arg(from > 1 ? 0 : 1).isConst)
    return createStringError("the whole must have " +
                             Twine(typeBits(i.type())) + " bits");
  i.fn = from > 1 ? pack : unpack;
  return Error::success();
}

/// %clock and its kin: a count of the instructions of this host thread.
Step clockValue(Warp &w, const Instr &i, uint32_t active) {
  uint64_t now = ++w.cluster().clockTicks;
  lanes(active, [&](unsigned l) { w.write(i.op[0], l, now); });
  return Step::Next;
}

template <typename T> Step selp(Warp &w, const Instr &i, uint32_t active) {
  auto *d = w.out<T>(i.op[0]);
  auto *a = w.in<T>(i.op[1]), *b = w.in<T>(i.op[2]);
  uint32_t p = w.pred(i.op[3]);
  lanes(active, [=](unsigned l) { d[l] = p >> l & 1 ? a[l] : b[l]; });
  return Step::Next;
}

template <typename T, typename C>
Step slct(Warp &w, const Instr &i, uint32_t active) {
  return map3<T, T, T, C>(w, i, active,
                          [](T a, T b, C c) { return c >= 0 ? a : b; });
}

//===--- Address spaces
//-----------------------------------------------------===//

uint64_t windowOf(StateSpace space) {
  switch (space) {
  case StateSpace::Shared:
  case StateSpace::SharedCluster:
    return sharedWindow;
  case StateSpace::Local:
    return localWindow;
  case StateSpace::Param:
    return paramWindow;
  default:
    return 0;
  }
}

Step toGeneric(Warp &w, const Instr &i, uint32_t active) {
  uint64_t window = windowOf(i.space);
  bool shared = window == sharedWindow;
  uint64_t own = uint64_t(w.block.rank + 1) << clusterRankShift;
  lanes(active, [&](unsigned l) {
    uint64_t a = w.read(i.op[1], l);
    if (shared && !(a >> clusterRankShift))
      a |= own;
    w.write(i.op[0], l, window + a);
  });
  return Step::Next;
}

Step fromGeneric(Warp &w, const Instr &i, uint32_t active) {
  uint64_t window = windowOf(i.space);
  bool shared = window == sharedWindow;
  uint64_t rank = w.block.rank + 1;
  lanes(active, [&](unsigned l) {
    uint64_t a = w.read(i.op[1], l) - window;
    if (shared && a >> clusterRankShift == rank)
      a &= (uint64_t(1) << clusterRankShift) - 1;
    w.write(i.op[0], l, a);
  });
  return Step::Next;
}

Error decodeCvta(Instr &i, const Words &words) {
  // A symbol's address is taken in its own space, whatever the operand says.
  i.fn = words[1] == "to" ? fromGeneric : toGeneric;
  return Error::success();
}

Step isSpace(Warp &w, const Instr &i, uint32_t active) {
  StateSpace space = i.space;
  uint64_t rank = w.block.rank + 1;
  w.setPred(i.op[0], active, predicateOf(active, [&](unsigned l) {
              uint64_t a = w.read(i.op[1], l);
              uint64_t window = windowOf(space);
              if (!window)
                return a >= DeviceMemory::firstAddress;
              if (a - window >= windowBytes)
                return false;
              return space != StateSpace::Shared ||
                     (a - window) >> clusterRankShift == rank;
            }));
  return Step::Next;
}

//===--- Predicates
//---------------------------------------------------------===//

template <int Kind> Step logic(Warp &w, const Instr &i, uint32_t active) {
  uint32_t a = w.pred(i.op[1]), b = w.pred(i.op[2]);
  w.setPred(i.op[0], active, Kind == 0 ? a & b : Kind == 1 ? a | b : a ^ b);
  return Step::Next;
}
Step logicNot(Warp &w, const Instr &i, uint32_t active) {
  w.setPred(i.op[0], active, ~w.pred(i.op[1]));
  return Step::Next;
}

} // namespace

void registerMove(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Move;
  constexpr uint32_t C = TraitCopies;
  t.add("mov.pred", "=pred <dpred", movPred, K, C);
  t.add("mov.<b16|u16|s16|f16|bf16>", "=va <dva", mov<uint32_t>, K, C,
        decodeMov);
  t.add("mov.<b32|u32|s32|f32|f16x2|bf16x2>", "=va <dva", mov<uint32_t>, K, C,
        decodeMov);
  t.add("mov.<b64|u64|s64|f64>", "=va <dva", mov<uint64_t>, K, C, decodeMov);
  t.add("selp.<b16|u16|s16|f16|bf16>", "=b16 <db16 <db16 <pred", selp<uint32_t>,
        K);
  t.add("selp.<b32|u32|s32|f32|f16x2|bf16x2>", "=b32 <d <d <pred",
        selp<uint32_t>, K);
  t.add("selp.<b64|u64|s64|f64>", "=b64 <d <d <pred", selp<uint64_t>, K);
  t.add("slct[.ftz].<b32|u32|s32|f32>.s32", "=$0 <$0 <$0 <s32",
        slct<uint32_t, int32_t>, K);
  t.add("slct[.ftz].<b64|u64|s64|f64>.s32", "=$0 <$0 <$0 <s32",
        slct<uint64_t, int32_t>, K);
  t.add("slct[.ftz].<b32|u32|s32|f32>.f32", "=$0 <$0 <$0 <f32",
        slct<uint32_t, float>, K);
  t.add("slct[.ftz].<b64|u64|s64|f64>.f32", "=$0 <$0 <$0 <f32",
        slct<uint64_t, float>, K);
  t.add("cvta[.to].<global|shared|shared::cta|shared::cluster|local|param|"
        "param::entry|const>.<u32|u64>",
        "= <", nullptr, K, 0, decodeCvta);
  t.add("isspacep.<global|shared|shared::cta|shared::cluster|local|param|"
        "param::entry|const>",
        "=pred <u64", isSpace, K);
  t.add("and.pred", "= < <", logic<0>, InstrKind::Predicate);
  t.add("or.pred", "= < <", logic<1>, InstrKind::Predicate);
  t.add("xor.pred", "= < <", logic<2>, InstrKind::Predicate);
  t.add("not.pred", "= <", logicNot, InstrKind::Predicate);
}

/// mov of a clock register; the compiler calls it instead of reading a special.
ExecFn clockMove() { return clockValue; }

} // namespace linattn::sim
