//===- Program.h - A kernel in executable form ----------------------------===//
//
// PTX is decoded once: registers become offsets into a warp's register file,
// constants and addresses become lane-replicated entries of a constant pool
// that is addressed the same way, labels become indices. An instruction is a
// function pointer with its operands.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_PROGRAM_H
#define LINATTN_LIB_SIMULATOR_PROGRAM_H

#include "Ast.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace linattn::sim {

class Warp;
struct Instr;
struct InstrDef;

/// What the scheduler does after an instruction.
enum class Step : uint8_t {
  Next,    ///< go on
  Branch,  ///< the active lanes go to Instr::target
  Exit,    ///< the active lanes end
  Block,   ///< not done: run it again when something has changed
  Poll,    ///< done, but it asked for something that had not happened yet
  Diverted ///< the function has moved the lanes itself
};

using ExecFn = Step (*)(Warp &, const Instr &, uint32_t active);

/// Groups of the report.
enum class InstrKind : uint8_t {
  Integer,
  FP32,
  FP64,
  FP16,
  SpecialFunction,
  Convert,
  Move,
  Predicate,
  Global,
  Shared,
  Local,
  Param,
  Generic,
  Atomic,
  WarpComm,
  Barrier,
  Control,
  Fence,
  Async,
  Tensor,
  Other,
  Count
};
llvm::StringRef instrKindName(InstrKind kind);

enum InstrTraits : uint32_t {
  TraitNone = 0,
  /// Waits for all lanes that its member-mask operand names.
  TraitCollective = 1,
  /// All live lanes of the warp must execute it together.
  TraitAligned = 2,
  /// May return Step::Block, so partly guarded lanes are split off first.
  TraitMayBlock = 4,
  /// Copies registers, also such that nobody wrote.
  TraitCopies = 8,
  /// Lanes that have exited make an aligned instruction wrong.
  TraitWholeWarp = 16,
  /// Blocks that use it depend on one another through global memory.
  TraitGlobalSync = 32,
  /// Checks itself whether its registers are in flight (wgmma).
  TraitOwnFlightCheck = 64,
  /// Lanes may wait for one another at different places (bar.warp.sync).
  TraitAnyPlace = 128,
  /// An atomic or otherwise strong access.
  TraitStrong = 256,
  /// Its addresses lie in several state spaces, or none that its name tells.
  TraitOwnSpaces = 512,
  /// Asynchronous, or reaches the shared memory of other blocks.
  TraitAsync = 1024,
  /// Writes a register that a wgmma of the kernel uses.
  TraitWritesWgmma = 2048,
  /// Only puts bits elsewhere, so its results may lack some (Unwritten.h): has
  /// operands with Op::isPassed.
  TraitPassesBits = 4096,
};

/// Register 0 stands for all constants; it is always initialised.
constexpr uint32_t constantRegister = 0;
/// Register 1 takes what is written to `_`.
constexpr uint32_t sinkRegister = 1;

struct Op {
  uint32_t offset = 0; ///< bytes into the register file or constant pool
  uint32_t reg = 0;    ///< index of its status; predicates: of its mask
  bool isConst = false;
  bool isWide = false; ///< lanes are 8 bytes apart
  bool negated = false;
  bool isSink = false;
  bool isPassed = false;  ///< flag d of its operand, see InstrTable.h
  uint8_t bits = 0;       ///< that are read or written, from the lowest
  Type type = Type::None; ///< as declared
  int64_t imm = 0;        ///< value of a constant; offset of an address
};

/// One written operand: a register, or the registers of a vector.
struct Arg {
  uint16_t first = 0; ///< into Instr::op
  uint8_t count = 0;
};

enum class Rounding : uint8_t { None, RN, RZ, RM, RP, RNA, RNI, RZI, RMI, RPI };
enum class Compare : uint8_t {
  EQ,
  NE,
  LT,
  LE,
  GT,
  GE,
  LO,
  LS,
  HI,
  HS,
  EQU,
  NEU,
  LTU,
  LEU,
  GTU,
  GEU,
  NUM,
  NAN_,
  None
};
enum class BoolOp : uint8_t { None, And, Or, Xor };

struct Instr {
  ExecFn fn = nullptr;
  const Op *op = nullptr;
  const uint32_t *sources = nullptr, *dests = nullptr;
  uint16_t numSources = 0, numDests = 0;
  uint32_t traits = 0;
  uint32_t guard = 0; ///< register index of the guard; 0: none
  bool guardNegated = false;

  // Common modifiers, decoded for every instruction.
  bool ftz = false, sat = false, isVolatile = false, relu = false;
  Rounding rounding = Rounding::None;
  Compare compare = Compare::None;
  BoolOp boolOp = BoolOp::None;
  StateSpace space = StateSpace::Generic;
  uint8_t maskArg = 0; ///< of TraitCollective: the operand with the members
  uint8_t vec = 1;     ///< elements of a vector access
  uint8_t numTypes = 0;
  Type types[5] = {}; ///< type modifiers in order
  Type type() const { return numTypes ? types[numTypes - 1] : Type::None; }
  /// Free for the instruction's decode function.
  uint32_t detail = 0;
  uint64_t detail64 = 0;

  Arg args[12];
  uint8_t numArgs = 0;
  uint32_t target = 0;
  std::vector<uint32_t> targets; ///< of brx.idx

  const InstrDef *def = nullptr;
  const Statement *statement = nullptr;
  InstrKind kind = InstrKind::Other;
  unsigned line = 0, loc = 0;
  uint32_t pc = 0;

  const Op &arg(unsigned i) const { return op[args[i].first]; }
};

/// What the registers must hold when a warp starts.
struct SpecialRegister {
  std::string name;
  Op op;
};

/// A function laid out in Program::code.
struct CompiledFunction {
  const Function *source = nullptr;
  uint32_t entry = 0;
  /// Offsets in the thread's frame.
  std::vector<uint32_t> parameterOffset, resultOffset;
};

/// Bytes that a call moves between the frames' parameter variables.
struct CallInfo {
  struct Copy {
    uint32_t from, to, bytes;
  };
  uint32_t callee = 0; ///< index into Program::functions
  std::vector<Copy> arguments, results;
};

struct Program {
  const Ast *ast = nullptr;
  const Function *kernel = nullptr;
  std::vector<Instr> code;
  std::vector<std::unique_ptr<Op[]>> opPool;
  std::vector<std::unique_ptr<uint32_t[]>> idPool;
  std::vector<uint8_t> constants; ///< 32 lanes of 4 or 8 bytes each
  uint32_t registerBytes = 0;     ///< of a warp's register file
  uint32_t numRegisters = 0;
  std::vector<std::string> registerNames;
  std::vector<SpecialRegister> specials;
  std::vector<CompiledFunction> functions;
  std::vector<CallInfo> calls;

  uint32_t staticShared = 0; ///< bytes, from the start of the window
  uint32_t dynamicSharedOffset = 0;
  uint32_t frameBytes = 0; ///< local memory of a thread
  uint32_t paramBytes = 0;
  std::vector<uint32_t> parameterOffset;
  bool usesGlobalSync = false;
  bool usesAsync = false;   ///< asynchronous work, or memory of other blocks
  bool usesAtomics = false; ///< or other strong accesses, in any space
  /// Named variables, for messages: space, offset, size.
  struct Placed {
    std::string name;
    StateSpace space;
    uint32_t offset, bytes;
  };
  std::vector<Placed> placed;
};

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_PROGRAM_H
