//===- Specials.h - Special registers -------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_SPECIALS_H
#define LINATTN_LIB_SIMULATOR_SPECIALS_H

#include "State.h"

namespace linattn::sim {

/// Type::None if there is no such register, or it needs a clock.
Type specialRegisterType(llvm::StringRef name);
/// Registers whose value changes while a thread runs: only mov reads them.
bool isClockRegister(llvm::StringRef name);
uint64_t specialRegisterValue(llvm::StringRef name, const Warp &warp,
                              unsigned lane);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_SPECIALS_H
