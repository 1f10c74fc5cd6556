//===- Ast.h - A parsed PTX module ----------------------------------------===//
//
// What the parser makes of the text: declarations and instructions with their
// operands, names of registers and labels resolved, opcodes still as text.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_AST_H
#define LINATTN_LIB_SIMULATOR_AST_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace linattn::sim {

enum class Type : uint8_t {
  None,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F64,
  TF32,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  Pred
};

unsigned typeBits(Type type);
inline unsigned typeBytes(Type type) { return (typeBits(type) + 7) / 8; }
bool isSigned(Type type);
bool isFloat(Type type);
/// Type::None when the name is no type.
Type parseType(llvm::StringRef name);
llvm::StringRef typeName(Type type);

enum class StateSpace : uint8_t {
  Generic,
  Global,
  Shared,
  SharedCluster,
  Local,
  Param,
  Const
};

struct Variable {
  std::string name;
  StateSpace space = StateSpace::Global;
  Type type = Type::B8;
  uint64_t count = 1; ///< elements; 0: sized at launch
  bool isArray = false;
  uint32_t align = 1;
  bool isExtern = false;
  unsigned line = 0;
  struct Init {
    uint64_t bits = 0;
    std::string symbol; ///< address of a variable, plus `bits`
    bool generic = false;
    Type type = Type::None; ///< F32/F64 when written as a float
  };
  std::vector<Init> init;
  uint64_t bytes() const { return count * typeBytes(type); }
};

struct Register {
  std::string name;
  Type type;
};

struct Operand {
  enum Kind : uint8_t {
    Reg,     ///< index: register of the function
    Special, ///< text: "%tid.x"
    Imm,     ///< bits
    Float,   ///< bits of a double, or of a float when is32
    Symbol,  ///< text: variable, function or label
    Vector,  ///< elems
    Address, ///< elems[0] base, offset; elems[1], if there, coordinates
    Sink,    ///< _
    Pair,    ///< p|q
    List     ///< (a, b) of a call
  } kind = Imm;
  bool negated = false; ///< !p
  bool is32 = false;
  uint32_t index = 0;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::string text;
  std::vector<Operand> elems;
};

struct Statement {
  std::string opcode;
  int32_t guard = -1; ///< register index
  bool guardNegated = false;
  unsigned line = 0;
  unsigned loc = 0; ///< index into Module locations, 0: none
  uint32_t scope = 0;
  std::vector<Operand> operands;
};

struct Function {
  std::string name;
  bool isKernel = false;
  bool isDeclaration = false;
  unsigned line = 0;
  std::vector<Variable> parameters, results, variables;
  std::vector<Register> registers;
  std::vector<Statement> body;
  /// Labels by scope-qualified name: statement index.
  llvm::StringMap<uint32_t> labels;
  /// Enclosing scope of each scope; scope 0 is the body.
  std::vector<uint32_t> scopeParent;
  /// .branchtargets lists by scope-qualified label.
  llvm::StringMap<std::vector<std::string>> branchTargets;
  uint32_t reqntid[3] = {0, 0, 0}, maxntid[3] = {0, 0, 0};
  uint32_t cluster[3] = {0, 0, 0};
  bool explicitCluster = false;

  /// The statement a label names, seen from a scope; -1 if there is none.
  int64_t findLabel(llvm::StringRef name, uint32_t scope) const;
  const std::vector<std::string> *findTargets(llvm::StringRef name,
                                              uint32_t scope) const;
};

struct Location {
  uint32_t file = 0, line = 0;
};

struct Ast {
  std::string fileName;
  std::vector<std::string> lines; ///< the text, for messages
  std::string version, target;
  std::vector<Variable> variables;
  std::deque<Function> functions;
  llvm::StringMap<Function *> functionByName;
  std::vector<Location> locations{Location()};
  std::vector<std::string> files; ///< by .file number

  std::string sourceOf(unsigned loc) const;
  std::string lineText(unsigned line) const;
};

/// An error is "name:line: message".
llvm::Expected<std::unique_ptr<Ast>> parsePTX(llvm::StringRef text,
                                              llvm::StringRef name);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_AST_H
