//===- Access.h - Checked access to memory --------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_ACCESS_H
#define LINATTN_LIB_SIMULATOR_ACCESS_H

#include "State.h"

namespace linattn::sim {

/// A checked piece of memory.
struct Place {
  uint8_t *data = nullptr; ///< null: the access was wrong and is reported
  Shadow *shadow = nullptr;
  uint64_t offset = 0; ///< into the shadow
  StateSpace space = StateSpace::Generic;
  const Block *owner = nullptr; ///< of shared memory
};

/// Finds the memory behind an address: window, bounds, alignment. Reports what
/// is wrong with it and returns a null place then.
Place locate(Warp &warp, const Instr &instr, unsigned lane, StateSpace space,
             uint64_t address, uint32_t bytes, uint8_t flags,
             uint32_t alignment = 0);

struct Accessor {
  Warp *warp;
  const Instr *instr;
  uint32_t lane;
  /// Of asynchronous work; null: the lane itself accesses.
  const AsyncOrigin *work = nullptr;
};

/// Updates the shadow: initialisation and races. Reads of memory never written
/// are reported.
void noteAccess(const Accessor &who, const Place &place, uint64_t address,
                uint32_t bytes, uint8_t flags);

/// The same for words of pages (numbers, and a bit for each 4 bytes) of a
/// block's shared memory that asynchronous work reads.
void noteSharedReads(const Accessor &who, Block &block,
                     llvm::ArrayRef<std::pair<uint32_t, uint64_t>> pages,
                     uint8_t flags);

/// Notes that a lane, or asynchronous work, uses a block's shared memory: the
/// block must have started before, and know of it when it exits.
void noteOutsideUse(const Accessor &who, const Block &owner, uint64_t address);
/// After the cluster has run: uses that a block does not know to have ended.
void checkExits(Cluster &cluster);

/// locate and noteAccess for a lane.
uint8_t *access(Warp &warp, const Instr &instr, unsigned lane, StateSpace space,
                uint64_t address, uint32_t bytes, uint8_t flags,
                StateSpace *actual = nullptr);

/// locate and noteAccess for all active lanes of an instruction; also counts
/// bytes and bank conflicts. Fills `data` and returns the lanes whose access is
/// right.
uint32_t accessWarp(Warp &warp, const Instr &instr, uint32_t active,
                    StateSpace space, const uint64_t *address, uint32_t bytes,
                    uint8_t flags, uint8_t **data);

/// The address of an address operand for a lane.
inline uint64_t addressOf(const Warp &warp, const Op &op, unsigned lane) {
  return warp.read(op, lane) + op.imm;
}

/// Counts the wavefronts of one shared-memory instruction; `addresses` of the
/// active lanes, each `bytes` wide.
void countBankConflicts(const Instr &instr, const uint64_t *addresses,
                        uint32_t active, unsigned bytes);

/// A strong write at an address: publishes what the lane has done, or, when it
/// is relaxed, what it had done at its last fence.
void releaseAt(Warp &warp, uint32_t lane, const Place &place, uint64_t address,
               bool isRelease);
/// A strong read: learns what was published there, a relaxed one not before the
/// lane's next fence.
void acquireAt(Warp &warp, uint32_t lane, const Place &place, uint64_t address,
               bool isAcquire);
/// Learns what was published under a key of Launch::globalSync.
void acquireKey(Warp &warp, uint32_t lane, uint64_t key);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_ACCESS_H
