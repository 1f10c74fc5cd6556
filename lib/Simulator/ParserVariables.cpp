//===- ParserVariables.cpp - Declarations of variables ------------------===//

#include "Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace linattn::sim {

bool Parser::parseAlign(uint32_t &align) {
  uint64_t value;
  if (!lex.unsignedInteger(value))
    return false;
  if (!isPowerOf2_64(value) || value > 1u << 16)
    return fail("alignment must be a power of two up to 65536, got " +
                Twine(value));
  align = value;
  return true;
}

StateSpace Parser::spaceOf(StringRef word) {
  if (word == ".shared")
    return StateSpace::Shared;
  if (word == ".local")
    return StateSpace::Local;
  if (word == ".const")
    return StateSpace::Const;
  if (word == ".param")
    return StateSpace::Param;
  return StateSpace::Global;
}

bool Parser::parseDeclType(Variable &var, bool &hasAlign, uint64_t &vector) {
  vector = 1;
  while (lex.peek() == '.') {
    std::string word = lex.directive();
    if (word == ".align") {
      hasAlign = true;
      if (!parseAlign(var.align))
        return false;
    } else if (word == ".v2" || word == ".v4") {
      vector = word[2] - '0';
    } else if (word == ".ptr" || word == ".global" || word == ".shared" ||
               word == ".const" || word == ".local" || word == ".attribute" ||
               word == ".managed" || word == ".unified") {
      // Hints about what a pointer parameter points to.
      if (word == ".ptr")
        return parsePointerHints(var);
      if (word == ".attribute" && !lex.skipTo(')'))
        return false;
    } else {
      Type type = parseType(StringRef(word).drop_front());
      if (type == Type::None && word != ".texref" && word != ".samplerref" &&
          word != ".surfref")
        return fail("unknown type '" + word + "'");
      if (type == Type::None)
        return fail("textures and surfaces are not supported");
      var.type = type;
    }
  }
  return true;
}

bool Parser::parsePointerHints(Variable &var) {
  while (lex.peek() == '.') {
    std::string word = lex.directive();
    uint32_t ignored;
    if (word == ".align" && !parseAlign(ignored))
      return false;
  }
  return true;
}

bool Parser::parseArray(Variable &var) {
  while (lex.eat('[')) {
    uint64_t n = 0;
    var.isArray = true;
    if (lex.peek() != ']' && !lex.unsignedInteger(n))
      return false;
    if (!lex.expect(']'))
      return false;
    if (n && var.count > maxVariableBytes / n)
      return fail("variable '" + var.name + "' is too large");
    var.count *= n;
  }
  if (var.bytes() > maxVariableBytes)
    return fail("variable '" + var.name + "' is too large");
  return true;
}

bool Parser::parseVariables(StringRef space, bool isExtern,
                            std::vector<Variable> &out) {
  Variable proto;
  proto.space = spaceOf(space);
  proto.isExtern = isExtern;
  bool hasAlign = false;
  uint64_t vector;
  if (!parseDeclType(proto, hasAlign, vector))
    return false;
  if (proto.type == Type::Pred)
    return fail("a variable cannot be a predicate");
  if (!hasAlign)
    proto.align = typeBytes(proto.type) * vector;
  do {
    Variable var = proto;
    var.line = lex.line();
    if (!lex.identifier(var.name))
      return fail("expected a variable name");
    var.count = vector;
    if (!parseArray(var))
      return false;
    if (lex.eat('=') && !parseInitialiser(var, 0))
      return false;
    if (!var.init.empty() && var.count == 0)
      var.count = var.init.size();
    if (var.init.size() > var.count)
      return fail("initialiser of '" + var.name + "' has " +
                  Twine(var.init.size()) + " elements, the variable " +
                  Twine(var.count));
    out.push_back(std::move(var));
  } while (lex.eat(','));
  return lex.expect(';');
}

bool Parser::parseInitialiser(Variable &var, unsigned depth) {
  if (depth > maxNesting)
    return fail("initialiser nested too deeply");
  if (lex.eat('{')) {
    if (lex.eat('}'))
      return true;
    do {
      if (!parseInitialiser(var, depth + 1))
        return false;
    } while (lex.eat(','));
    return lex.expect('}');
  }
  Variable::Init init;
  bool isIdentifier = isAlpha(lex.peek()) || lex.peek() == '_' ||
                      lex.peek() == '$' || lex.peek() == '%';
  if (isIdentifier) {
    std::string name;
    lex.identifier(name);
    if (name == "generic") {
      init.generic = true;
      if (!lex.expect('(') || !lex.identifier(name) || !lex.expect(')'))
        return fail("expected generic(variable)");
    }
    init.symbol = name;
    if (lex.peek() == '+' || lex.peek() == '-') {
      bool minus = lex.next() == '-';
      uint64_t offset;
      if (!lex.unsignedInteger(offset))
        return false;
      init.bits = minus ? -offset : offset;
    }
  } else {
    Operand value;
    if (!parseNumber(value))
      return false;
    init.bits = value.bits;
    if (value.kind == Operand::Float)
      init.type = value.is32 ? Type::F32 : Type::F64;
  }
  var.init.push_back(init);
  return true;
}

} // namespace linattn::sim
