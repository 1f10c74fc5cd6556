//===- InstrCluster.cpp - Clusters, registers and dependent grids ---------===//

#include "Exec.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {
namespace {

/// A shared address without what says in which block and window it lies.
struct SharedAddress {
  uint64_t window, offset;
  uint32_t rank;
};
SharedAddress split(const Warp &w, uint64_t address) {
  SharedAddress a{};
  if (address - sharedWindow < windowBytes) {
    a.window = sharedWindow;
    address -= sharedWindow;
  }
  a.offset = address & ((1u << clusterRankShift) - 1);
  uint64_t block = address >> clusterRankShift;
  a.rank = block ? block - 1 : w.block.rank;
  return a;
}

/// mapa: the address of the same variable in another block of the cluster.
Step mapa(Warp &w, const Instr &i, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    SharedAddress a = split(w, w.read(i.arg(1), lane));
    uint32_t rank = w.read(i.arg(2), lane);
    if (rank >= w.cluster().blocks.size())
      report(FindingKind::ClusterMemory, w, i, lane,
             "block rank " + Twine(rank) + " of a cluster of " +
                 Twine(w.cluster().blocks.size()));
    w.write(i.op[0], lane,
            a.window | uint64_t(rank + 1) << clusterRankShift | a.offset);
  }
  return Step::Next;
}

Step getctarank(Warp &w, const Instr &i, uint32_t active) {
  lanes(active, [&](unsigned l) {
    w.write(i.op[0], l, split(w, w.read(i.arg(1), l)).rank);
  });
  return Step::Next;
}

Step nothing(Warp &, const Instr &, uint32_t) { return Step::Next; }

Error decodeMaxRegisters(Instr &i, const Words &) {
  int64_t count = i.arg(0).imm;
  if (count < 24 || count > 256 || count % 8)
    return createStringError(
        "the register count must be a multiple of 8 from 24 to 256, got " +
        Twine(count));
  return Error::success();
}

} // namespace

void registerCluster(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Integer;
  constexpr uint32_t A = TraitAsync;
  t.add("mapa[.shared::cluster].u32", "=u32 <u32 <u32", mapa, K, A);
  t.add("mapa[.shared::cluster].u64", "=u64 <u64 <u32", mapa, K, A);
  t.add("getctarank[.shared::cluster].u32", "=u32 <u32", getctarank, K);
  t.add("getctarank[.shared::cluster].u64", "=u32 <u64", getctarank, K);
  constexpr InstrKind C = InstrKind::Control;
  t.add("setmaxnreg.<inc|dec>.sync.aligned.u32", "#", nothing, C,
        TraitAligned | TraitWholeWarp, decodeMaxRegisters);
  t.add("griddepcontrol.<launch_dependents|wait>", "", nothing, C);
}

} // namespace linattn::sim
