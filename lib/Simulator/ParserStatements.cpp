//===- ParserStatements.cpp - Labels, instructions, operands ------------===//

#include "Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace linattn::sim {

bool Parser::parseStatement() {
  Statement st;
  st.scope = scopes.back().id;
  lex.skipSpace();
  st.line = lex.line();
  if (lex.eat('@')) {
    st.guardNegated = lex.eat('!');
    std::string name;
    if (!lex.identifier(name))
      return fail("expected a predicate after '@'");
    st.guard = findRegister(name);
    if (st.guard < 0)
      return fail("unknown predicate '" + name + "'");
    if (function->registers[st.guard].type != Type::Pred)
      return fail("guard '" + name + "' is not a predicate");
  }
  if (!lex.opcode(st.opcode))
    return fail("expected an instruction");
  if (st.guard < 0 && lex.peek() == ':') {
    lex.next();
    return parseLabel(st.opcode);
  }
  st.loc = currentLoc;
  if (lex.peek() != ';') {
    do {
      st.operands.emplace_back();
      if (!parseOperand(st.operands.back(), 0))
        return false;
    } while (lex.eat(','));
  }
  if (!lex.expect(';'))
    return false;
  function->body.push_back(std::move(st));
  return true;
}

bool Parser::parseLabel(StringRef name) {
  std::string key = (name + "@" + Twine(scopes.back().id)).str();
  unsigned line = lex.line();
  if (lex.peek() == '.') {
    // A list of branch targets or a call prototype.
    Lexer saved = lex;
    std::string word = lex.directive();
    if (word == ".branchtargets") {
      std::vector<std::string> &targets = function->branchTargets[key];
      do {
        std::string target;
        if (!lex.identifier(target))
          return fail("expected a label");
        targets.push_back(target);
      } while (lex.eat(','));
      return lex.expect(';');
    }
    if (word == ".callprototype" || word == ".calltargets")
      return lex.skipTo(';');
    lex = saved;
  }
  if (function->labels.try_emplace(key, function->body.size()).second)
    return true;
  fail("label '" + name + "' is defined twice");
  lex.errorLine = line;
  return false;
}

bool Parser::parseNumber(Operand &out) {
  if (!lex.number(out))
    return false;
  return true;
}

bool Parser::parseOperand(Operand &out, unsigned depth) {
  if (depth > 8)
    return fail("operand nested too deeply");
  char c = lex.peek();
  if (c == '!') {
    lex.next();
    if (!parseOperand(out, depth + 1))
      return false;
    out.negated = !out.negated;
    return true;
  }
  if (c == '{' || c == '(') {
    lex.next();
    out.kind = c == '{' ? Operand::Vector : Operand::List;
    char close = c == '{' ? '}' : ')';
    if (lex.eat(close))
      return true;
    do {
      out.elems.emplace_back();
      if (!parseOperand(out.elems.back(), depth + 1))
        return false;
    } while (lex.eat(','));
    return lex.expect(close);
  }
  if (c == '[')
    return parseAddress(out, depth);
  if (isDigit(c) || c == '-' || c == '+')
    return parseNumber(out);
  std::string name;
  if (!lex.identifier(name))
    return fail("expected an operand");
  if (name == "_") {
    out.kind = Operand::Sink;
  } else if (int64_t reg = findRegister(name); reg >= 0) {
    out.kind = Operand::Reg;
    out.index = reg;
  } else if (name == "WARP_SZ") {
    out.kind = Operand::Imm;
    out.bits = 32;
  } else if (name[0] == '%') {
    // %tid.x and its kin: the suffix belongs to the name.
    if (lex.peekRaw() == '.') {
      lex.next();
      std::string suffix;
      if (!lex.identifier(suffix))
        return fail("expected a component after '" + name + ".'");
      name += "." + suffix;
    }
    out.kind = Operand::Special;
    out.text = name;
  } else {
    out.kind = Operand::Symbol;
    out.text = name;
    if (lex.peek() == '+' || lex.peek() == '-') {
      bool minus = lex.next() == '-';
      uint64_t offset;
      if (!lex.unsignedInteger(offset))
        return false;
      out.offset = minus ? -offset : offset;
    }
  }
  if (lex.peek() == '|') {
    lex.next();
    Operand first = std::move(out);
    out = Operand();
    out.kind = Operand::Pair;
    out.elems.push_back(std::move(first));
    out.elems.emplace_back();
    return parseOperand(out.elems[1], depth + 1);
  }
  return true;
}

bool Parser::parseAddress(Operand &out, unsigned depth) {
  lex.expect('[');
  out.kind = Operand::Address;
  out.elems.emplace_back();
  Operand &base = out.elems[0];
  if (!parseOperand(base, depth + 1))
    return false;
  if (base.kind == Operand::Symbol) {
    out.offset = base.offset;
    base.offset = 0;
  } else if (base.kind != Operand::Reg && base.kind != Operand::Imm) {
    return fail("expected a register, a variable or a number as address");
  }
  while (lex.peek() == '+' || lex.peek() == '-') {
    bool minus = lex.next() == '-';
    bool minus2 = lex.eat('-');
    uint64_t offset;
    if (!lex.unsignedInteger(offset))
      return false;
    out.offset += minus != minus2 ? -offset : offset;
  }
  if (lex.eat(',')) {
    out.elems.emplace_back();
    if (!parseOperand(out.elems[1], depth + 1))
      return false;
    if (out.elems[1].kind != Operand::Vector)
      return fail("expected the coordinates of a tensor in braces");
  }
  return lex.expect(']');
}

} // namespace linattn::sim
