//===- BulkCopy.h - What bulk copies share --------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_BULKCOPY_H
#define LINATTN_LIB_SIMULATOR_BULKCOPY_H

#include "Access.h"
#include "InstrTable.h"

namespace linattn::sim {

enum class Reduce : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Where Instr::detail holds the reduction, below the bits of each instruction.
constexpr unsigned reduceShift = 8;
/// These bits for the reduction that an opcode names; 0 if it names none.
uint32_t reductionIn(const Words &words);
inline Reduce reductionOf(const Instr &i) {
  return Reduce(i.detail >> reduceShift);
}
/// An error unless the instruction has so many operands.
llvm::Error needsOperands(const Instr &i, unsigned count);

/// Combines elements of a type: to = op(to, from).
void reduceElements(Reduce op, Type type, uint8_t *to, const uint8_t *from,
                    uint64_t bytes);

/// Where the copies of a multicast go: the addresses of `address` in the shared
/// memory of the blocks of `mask`; without one, `address` itself.
llvm::SmallVector<uint64_t, 16> multicast(Warp &warp, uint64_t address,
                                          bool hasMask, uint32_t mask);

/// Queues the work into the lane's open bulk group, or just issues it.
void issueBulk(AsyncRef work, bool inGroup);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_BULKCOPY_H
