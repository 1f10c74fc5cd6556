//===- InstrTable.h - PTX names beside their functions --------------------===//
//
// An instruction is added by one line in a register function:
//
//   table.add("add.<f32>", "= < <", addF32, InstrKind::FP32);
//
// Pattern: the words of the opcode. "[.a|.b]" is optional, "<a|b>" one of
// several, "*" takes all that follows.
//
// Operands, in order, separated by blanks. First a role:
//   =  written   <  read   +  read and written   @  address, in brackets
//   #  constant integer    L  label   F  function or list of a call (left
//   alone)
// then flags: v, a vector in braces may stand here; w, registers wider than the
// type may; a, registers of any width may; d, each bit of a result takes at
// most one bit of it, so bits that nobody wrote pass on (Unwritten.h); p, a
// pair p|q may (its second half may be missing); then the type: a type's name,
// "$n" for the n-th type word of the opcode (from 0), or nothing for the last
// one; "?" at the end marks an operand that may be left out.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_INSTRTABLE_H
#define LINATTN_LIB_SIMULATOR_INSTRTABLE_H

#include "Program.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace linattn::sim {

using Words = llvm::SmallVector<llvm::StringRef, 12>;

/// Further decoding, after operands and common modifiers. The error text is
/// completed with file and line by the caller.
using DecodeFn = llvm::Error (*)(Instr &instr, const Words &words);

struct InstrDef {
  std::string pattern, operands;
  ExecFn fn = nullptr;
  InstrKind kind = InstrKind::Other;
  uint32_t traits = TraitNone;
  DecodeFn decode = nullptr;
};

class InstrTable {
public:
  InstrTable();
  static const InstrTable &get();

  void add(llvm::StringRef pattern, llvm::StringRef operands, ExecFn fn,
           InstrKind kind, uint32_t traits = TraitNone,
           DecodeFn decode = nullptr);
  /// Null if there is no such instruction.
  const InstrDef *find(const Words &words) const;
  /// Whether the first word is known at all.
  bool knows(llvm::StringRef firstWord) const {
    return byName.count(firstWord);
  }

private:
  llvm::StringMap<std::vector<InstrDef>> byName;
};

/// Fills in types, rounding, space and the like from the words of an opcode.
void decodeModifiers(Instr &instr, const Words &words);

// One function per file of instructions.
void registerInteger(InstrTable &table);
void registerFloat(InstrTable &table);
void registerDirectedRounding(InstrTable &table);
void registerHalf(InstrTable &table);
void registerConvert(InstrTable &table);
void registerMove(InstrTable &table);
void registerCompare(InstrTable &table);
void registerMemory(InstrTable &table);
void registerAtomic(InstrTable &table);
void registerWarp(InstrTable &table);
void registerBarrier(InstrTable &table);
void registerControl(InstrTable &table);
void registerMbarrier(InstrTable &table);
void registerMatrix(InstrTable &table);
void registerMma(InstrTable &table);
void registerWgmma(InstrTable &table);
void registerAsyncCopy(InstrTable &table);
void registerBulkCopy(InstrTable &table);
void registerTensorCopy(InstrTable &table);
void registerCluster(InstrTable &table);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_INSTRTABLE_H
