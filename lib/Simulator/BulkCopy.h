//===- BulkCopy.h - What bulk copies share --------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_BULKCOPY_H
#define LINATTN_LIB_SIMULATOR_BULKCOPY_H

#include "Access.h"

namespace linattn::sim {

enum class Reduce : uint8_t { None, Add, Min, Max, Inc, Dec, And, Or, Xor };

/// The reduction that a word of an opcode names; None if it names none.
Reduce reduceOf(llvm::StringRef word);
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
