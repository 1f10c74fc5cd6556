//===- Lexer.cpp - Characters and words of PTX text -----------------------===//

#include "Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace llvm;

namespace linattn::sim {

static bool isIdentStart(char c) {
  return isAlpha(c) || c == '_' || c == '$' || c == '%';
}
static bool isIdentChar(char c) { return isAlnum(c) || c == '_' || c == '$'; }

bool Lexer::fail(const Twine &message) {
  if (error.empty()) {
    error = message.str();
    errorLine = lineNumber;
  }
  pos = text.size();
  return false;
}

char Lexer::next() {
  if (atEnd())
    return 0;
  char c = text[pos++];
  if (c == '\n')
    ++lineNumber;
  return c;
}

void Lexer::skipSpace() {
  while (!atEnd()) {
    char c = text[pos];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' ||
        c == '\v') {
      next();
    } else if (c == '/' && pos + 1 < text.size() && text[pos + 1] == '/') {
      while (!atEnd() && text[pos] != '\n')
        ++pos;
    } else if (c == '/' && pos + 1 < text.size() && text[pos + 1] == '*') {
      pos += 2;
      while (!atEnd() && !(text[pos] == '*' && pos + 1 < text.size() &&
                           text[pos + 1] == '/'))
        next();
      pos = std::min(pos + 2, text.size());
    } else {
      return;
    }
  }
}

char Lexer::peek() {
  skipSpace();
  return peekRaw();
}

bool Lexer::eat(char c) {
  if (peek() != c || atEnd())
    return false;
  next();
  return true;
}

bool Lexer::expect(char c) {
  if (eat(c))
    return true;
  if (atEnd())
    return fail("expected '" + Twine(c) + "' before the end of the text");
  return fail("expected '" + Twine(c) + "', got '" + Twine(peekRaw()) + "'");
}

std::string Lexer::directive() {
  skipSpace();
  size_t start = pos;
  if (!atEnd() && text[pos] == '.')
    ++pos;
  while (!atEnd() && isIdentChar(text[pos]))
    ++pos;
  return text.slice(start, pos).str();
}

std::string Lexer::restOfLine() {
  size_t start = pos;
  while (!atEnd() && text[pos] != '\n')
    ++pos;
  StringRef line = text.slice(start, pos);
  return line.split("//").first.trim().str();
}

bool Lexer::skipTo(char c) {
  while (!atEnd())
    if (next() == c)
      return true;
  return fail("expected '" + Twine(c) + "' before the end of the text");
}

bool Lexer::identifier(std::string &out) {
  skipSpace();
  size_t start = pos;
  if (atEnd() || !isIdentStart(text[pos]))
    return fail("expected a name");
  ++pos;
  while (!atEnd() && isIdentChar(text[pos]))
    ++pos;
  out = text.slice(start, pos).str();
  return true;
}

bool Lexer::opcode(std::string &out) {
  skipSpace();
  size_t start = pos;
  if (atEnd() || !isIdentStart(text[pos]))
    return false;
  while (!atEnd()) {
    char c = text[pos];
    if (c == ':' && pos + 1 < text.size() && text[pos + 1] == ':')
      pos += 2;
    else if (isIdentChar(c) || c == '%' || c == '.')
      ++pos;
    else
      break;
  }
  out = text.slice(start, pos).str();
  return true;
}

bool Lexer::quoted(std::string &out) {
  if (!expect('"'))
    return false;
  size_t start = pos;
  while (!atEnd() && text[pos] != '"' && text[pos] != '\n')
    ++pos;
  out = text.slice(start, pos).str();
  return expect('"');
}

bool Lexer::unsignedInteger(uint64_t &out) {
  Operand value;
  char c = peek();
  if (!isDigit(c))
    return fail("expected a number");
  if (!number(value))
    return false;
  if (value.kind != Operand::Imm)
    return fail("expected an integer");
  out = value.bits;
  return true;
}

bool Lexer::number(Operand &out) {
  bool minus = false;
  while (peek() == '-' || peekRaw() == '+')
    minus ^= next() == '-';
  skipSpace();
  size_t start = pos;
  while (!atEnd() && (isAlnum(text[pos]) || text[pos] == '.' ||
                      ((text[pos] == '-' || text[pos] == '+') && pos > start &&
                       (text[pos - 1] == 'e' || text[pos - 1] == 'E') &&
                       !text.slice(start, pos).starts_with_insensitive("0x"))))
    ++pos;
  StringRef word = text.slice(start, pos);
  uint64_t bits;
  if (word.starts_with_insensitive("0f") && word.size() == 10) {
    if (word.drop_front(2).getAsInteger(16, bits))
      return fail("bad number '" + word + "'");
    out.kind = Operand::Float;
    out.is32 = true;
    out.bits = minus ? bits ^ 0x80000000u : bits;
    return true;
  }
  if (word.starts_with_insensitive("0d") && word.size() == 18) {
    if (word.drop_front(2).getAsInteger(16, bits))
      return fail("bad number '" + word + "'");
    out.kind = Operand::Float;
    out.bits = minus ? bits ^ (uint64_t(1) << 63) : bits;
    return true;
  }
  bool hex = word.starts_with_insensitive("0x");
  if (!hex && (word.contains('.') || word.contains_insensitive("e"))) {
    double value;
    if (word.getAsDouble(value, /*AllowInexact=*/true))
      return fail("bad number '" + word + "'");
    value = minus ? -value : value;
    out.kind = Operand::Float;
    std::memcpy(&out.bits, &value, sizeof(value));
    return true;
  }
  StringRef digits = word;
  digits.consume_back("U") || digits.consume_back("u");
  if (digits.empty() || digits.getAsInteger(0, bits))
    return fail("bad number '" + word + "'");
  out.kind = Operand::Imm;
  out.bits = minus ? -bits : bits;
  return true;
}

} // namespace linattn::sim
