//===- KernelCompiler.h - The compiler's state ----------------------------===//
//
// Compiler.cpp goes through the functions of a kernel, CompilerValues.cpp makes
// registers and constants, CompilerInstr.cpp decodes an instruction.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_KERNELCOMPILER_H
#define LINATTN_LIB_SIMULATOR_KERNELCOMPILER_H

#include "Compiler.h"
#include "State.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace linattn::sim {

/// One operand of InstrDef::operands; InstrTable.h explains them.
struct OperandSpec {
  char role = '<';
  bool vector = false, wide = false, any = false, pair = false, passed = false,
       optional = false;
  Type type = Type::None;
};

class Compiler {
public:
  Compiler(const Ast &ast, const Function &kernel, const GlobalPlaces &globals)
      : ast(ast), kernel(kernel), globals(globals),
        program(std::make_unique<Program>()) {}

  llvm::Expected<std::unique_ptr<Program>> run();

private:
  const Ast &ast;
  const Function &kernel;
  const GlobalPlaces &globals;
  std::unique_ptr<Program> program;
  std::vector<const Function *> pending; ///< by index in program->functions
  llvm::DenseMap<const Function *, uint32_t> functionIndex;
  std::map<std::pair<uint64_t, bool>, uint32_t> constantAt;
  llvm::StringMap<Op> specials;
  llvm::StringMap<uint32_t> sharedAt;
  /// Offsets in the constant pool that need the dynamic shared base.
  std::vector<uint32_t> dynamicFixups;
  std::vector<std::pair<uint32_t, uint32_t>> callEdges;
  uint32_t sharedEnd = sharedBase;
  uint32_t externAlign = 16;

  // Of the function being compiled.
  const Function *function = nullptr;
  uint32_t functionId = 0;
  std::vector<Op> registerOps;
  std::vector<bool> registerKnown;
  llvm::StringMap<std::pair<uint32_t, uint32_t>>
      frameVariables; ///< offset, bytes
  const Statement *statement = nullptr;
  bool sawClock = false; ///< among the operands of the statement

  llvm::Error failAt(unsigned line, const llvm::Twine &message) {
    return llvm::createStringError(ast.fileName + ":" + llvm::Twine(line) +
                                   ": " + message);
  }
  llvm::Error fail(const llvm::Twine &message) {
    return failAt(statement->line, message);
  }

  //===--- Functions ------------------------------------------------------===//

  llvm::Error addFunction(const Function &f);
  uint32_t placeInFrame(uint64_t bytes, uint32_t align);
  llvm::Error compileFunction(uint32_t id);
  llvm::Error placeVariables();
  llvm::Error resolveLabels(uint32_t first);
  /// Frames are laid out once per function, so recursion cannot run.
  llvm::Error checkRecursion();
  void finish();
  /// wgmma.fence must stand between a write of a register and the wgmma that
  /// uses it: the scheduler notes such writes.
  void markWgmmaRegisters();

  //===--- Values ---------------------------------------------------------===//

  void patchConstant(uint32_t at, uint64_t add);
  Op constant(uint64_t bits, bool wide, bool unique = false);
  Op newRegister(llvm::StringRef name, Type type);
  Op registerOp(uint32_t index);
  llvm::Expected<Op> special(llvm::StringRef name);
  const Variable *findShared(llvm::StringRef name);
  /// The address of a variable within its own space.
  llvm::Expected<Op> symbolAddress(llvm::StringRef name, int64_t offset,
                                   bool wide, StateSpace &space);
  llvm::Expected<Op> immediate(const Operand &o, Type type);

  //===--- Instructions ---------------------------------------------------===//

  static bool parseSpec(llvm::StringRef text, const Instr &instr,
                        OperandSpec &spec);
  llvm::Expected<Op> value(const Operand &o, const OperandSpec &spec);
  llvm::Error address(Instr &instr, const Operand &o,
                      llvm::SmallVectorImpl<Op> &ops,
                      llvm::SmallVectorImpl<uint32_t> &sources);
  llvm::Error decode(Instr &instr);
  llvm::Error operands(Instr &instr, const Words &words);
  llvm::Error decodeCall(Instr &instr);
};

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_KERNELCOMPILER_H
