//===- Mbarrier.h - Barriers in shared memory -----------------------------===//
//
// The state of an mbarrier is kept beside shared memory; the 8 bytes themselves
// hold a pattern that shows when something else writes over them.
//
// A phase is complete when no arrivals are pending and no bytes are expected.
// The completed phases are counted from 0; a wait for parity p passes when the
// phase that runs now has the other parity.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_MBARRIER_H
#define LINATTN_LIB_SIMULATOR_MBARRIER_H

#include "Access.h"
#include <unordered_map>

namespace linattn::sim {

struct Mbarrier {
  uint32_t expected = 0, pending = 0; ///< arrivals
  int64_t tx = 0;                     ///< bytes still to come
  uint64_t phase = 0;                 ///< phases completed
  uint64_t address = 0;               ///< as the initialiser named it
  /// What arrivals have published, and what the completed phases published.
  ClockRef gathering, released;
  uint32_t initThread = 0, initClock = 0;
  const Instr *init = nullptr;
  /// The last expect_tx, for the report at exit.
  Warp *expectWarp = nullptr;
  const Instr *expect = nullptr;
  uint32_t expectLane = 0;

  bool parityDone(uint32_t parity) const { return (phase & 1) != parity; }
};

struct MbarrierTable {
  std::unordered_map<uint64_t, Mbarrier> at; ///< by offset in shared memory
};

/// The limits of the object.
constexpr uint32_t maxMbarrierCount = (1u << 20) - 1;
constexpr int64_t maxMbarrierTx = (1 << 20) - 1;

/// The mbarrier at an address, or null with a report. `who` may be asynchronous
/// work. `block` receives the block that holds it.
Mbarrier *findMbarrier(const Accessor &who, StateSpace space, uint64_t address,
                       Block **block = nullptr);

void initMbarrier(const Accessor &who, StateSpace space, uint64_t address,
                  uint32_t count);
void invalidateMbarrier(const Accessor &who, StateSpace space,
                        uint64_t address);
void expectTx(const Accessor &who, Mbarrier &bar, uint64_t bytes);
/// Bytes have come; completes the phase if they were the last thing missing.
void completeTx(const Accessor &who, Mbarrier &bar, uint64_t bytes);
/// `drop`: later phases expect that many fewer.
void arriveOn(const Accessor &who, Mbarrier &bar, uint32_t count, bool drop);
/// The bytes of asynchronous work have come: publishes its end as well.
void signalBytes(const Accessor &who, StateSpace space, uint64_t address,
                 uint64_t bytes);

/// After the cluster has run: barriers that still expect bytes.
void checkMbarriersAtExit(Cluster &cluster);
/// The state of the mbarrier that a warp has asked last, for reports of
/// deadlocks.
std::string describeMbarrier(const Warp &warp);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_MBARRIER_H
