//===- Lexer.h - Characters and words of PTX text -------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_LEXER_H
#define LINATTN_LIB_SIMULATOR_LEXER_H

#include "Ast.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace linattn::sim {

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : text(text) {}

  std::string error; ///< the first error; empty: none
  unsigned errorLine = 0;

  bool fail(const llvm::Twine &message);
  unsigned line() const { return lineNumber; }
  bool atEnd() const { return pos >= text.size(); }
  /// Skips blanks and comments.
  void skipSpace();
  /// The next character after blanks; 0 at the end.
  char peek();
  char peekRaw() const { return atEnd() ? 0 : text[pos]; }
  /// Takes one character, whatever it is.
  char next();
  bool eat(char c);
  bool expect(char c);

  /// ".word"
  std::string directive();
  std::string restOfLine();
  bool skipTo(char c);
  bool identifier(std::string &out);
  /// A word with dots and double colons, such as ld.shared::cta.b32.
  bool opcode(std::string &out);
  bool quoted(std::string &out);
  bool unsignedInteger(uint64_t &out);
  /// An integer or floating-point literal with its sign.
  bool number(Operand &out);

private:
  llvm::StringRef text;
  size_t pos = 0;
  unsigned lineNumber = 1;
};

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_LEXER_H
