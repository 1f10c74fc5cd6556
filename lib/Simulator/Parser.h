//===- Parser.h - From PTX text to the AST --------------------------------===//
//
// A recursive-descent parser straight over the characters. Every parse function
// returns false after it has set the one error.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_PARSER_H
#define LINATTN_LIB_SIMULATOR_PARSER_H

#include "Lexer.h"
#include "llvm/ADT/StringMap.h"

namespace linattn::sim {

/// Limits that keep a hostile text from exhausting the machine.
constexpr uint64_t maxRegisters = 1u << 20;
constexpr uint64_t maxVariableBytes = uint64_t(1) << 32;
constexpr unsigned maxNesting = 64;

class Parser {
public:
  Parser(llvm::StringRef text, llvm::StringRef name);
  llvm::Expected<std::unique_ptr<Ast>> run();

private:
  Lexer lex;
  std::unique_ptr<Ast> ast;
  Function *function = nullptr;

  struct Scope {
    uint32_t id;
    llvm::StringMap<uint32_t> registers;
    llvm::StringMap<std::pair<uint64_t, Type>> families; ///< %r<100>
  };
  std::vector<Scope> scopes;
  unsigned currentLoc = 0;

  bool fail(const llvm::Twine &message) { return lex.fail(message); }

  //===--- Parser.cpp ---------------------------------------------------===//

  bool parseTopLevel();
  bool parseFile();
  bool parseLoc();
  bool skipBraces();

  //===--- ParserVariables.cpp ------------------------------------------===//

  bool parseAlign(uint32_t &align);
  static StateSpace spaceOf(llvm::StringRef word);
  /// The type words of a declaration, up to the name.
  bool parseDeclType(Variable &var, bool &hasAlign, uint64_t &vector);
  bool parsePointerHints(Variable &var);
  bool parseArray(Variable &var);
  bool parseVariables(llvm::StringRef space, bool isExtern,
                      std::vector<Variable> &out);
  bool parseInitialiser(Variable &var, unsigned depth);

  //===--- ParserFunctions.cpp ------------------------------------------===//

  bool parseParameters(std::vector<Variable> &out);
  bool parseFunction(bool isKernel, bool isExtern);
  bool parseTriple(uint32_t (&out)[3]);
  bool parseFunctionDirectives(Function &f);
  void pushScope();
  bool parseBody();
  bool parseBodyDirective();
  bool parseRegisters();
  /// The register's index, or -1.
  int64_t findRegister(llvm::StringRef name);

  //===--- ParserStatements.cpp -----------------------------------------===//

  bool parseStatement();
  bool parseLabel(llvm::StringRef name);
  bool parseNumber(Operand &out);
  bool parseOperand(Operand &out, unsigned depth);
  bool parseAddress(Operand &out, unsigned depth);
};

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_PARSER_H
