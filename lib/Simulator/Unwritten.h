//===- Unwritten.h - Bits of registers that nobody wrote ------------------===//
//
// Code is full of pairs of 16-bit values of which one is never used, nor
// written. Warp::available knows the lanes whose register is written whole; of
// the others Warp::unwritten knows which bits are missing. Instructions that
// only put bits elsewhere (operands with the flag d, see InstrTable.h) pass the
// missing ones on; all others need every bit that they read.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_UNWRITTEN_H
#define LINATTN_LIB_SIMULATOR_UNWRITTEN_H

#include "State.h"

namespace linattn::sim {

/// Before an instruction runs of which some active lane lacks a source: reports
/// what it uses of that, and marks it as there, since once is enough. Marks
/// also the results of an instruction that passes on.
void checkUnwritten(Warp &warp, const Instr &instr, uint32_t active);

/// How a message about a register that a lane lacks goes on.
std::string unwrittenText(const Warp &warp, uint32_t reg, unsigned lane);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_UNWRITTEN_H
