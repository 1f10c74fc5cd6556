//===- ParserFunctions.cpp - Functions, bodies, registers ---------------===//

#include "Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace linattn::sim {

bool Parser::parseParameters(std::vector<Variable> &out) {
  if (!lex.expect('('))
    return false;
  if (lex.eat(')'))
    return true;
  do {
    Variable var;
    var.space = StateSpace::Param;
    var.line = lex.line();
    std::string word = lex.directive();
    if (word == ".reg")
      return fail("register parameters are not supported");
    if (word != ".param")
      return fail("expected .param, got '" + word + "'");
    bool hasAlign = false;
    uint64_t vector;
    if (!parseDeclType(var, hasAlign, vector))
      return false;
    if (!lex.identifier(var.name))
      return fail("expected a parameter name");
    var.count = vector;
    if (!hasAlign)
      var.align = std::max(1u, typeBytes(var.type));
    if (!parseArray(var))
      return false;
    out.push_back(std::move(var));
  } while (lex.eat(','));
  return lex.expect(')');
}

bool Parser::parseFunction(bool isKernel, bool isExtern) {
  Function parsed;
  parsed.isKernel = isKernel;
  parsed.line = lex.line();
  if (lex.peek() == '(' && !parseParameters(parsed.results))
    return false;
  if (!lex.identifier(parsed.name))
    return fail("expected a function name");
  if (lex.peek() == '(' && !parseParameters(parsed.parameters))
    return false;
  if (!parseFunctionDirectives(parsed))
    return false;
  if (lex.eat(';')) {
    if (ast->functionByName.count(parsed.name))
      return true;
    parsed.isDeclaration = true;
  }
  auto it = ast->functionByName.find(parsed.name);
  if (it != ast->functionByName.end()) {
    if (!it->second->isDeclaration)
      return fail("function '" + parsed.name + "' is defined twice");
    *it->second = std::move(parsed);
    function = it->second;
  } else {
    ast->functions.push_back(std::move(parsed));
    function = &ast->functions.back();
    ast->functionByName[function->name] = function;
  }
  if (function->isDeclaration || isExtern)
    return true;
  currentLoc = 0;
  if (!lex.expect('{'))
    return false;
  scopes.clear();
  pushScope();
  bool ok = parseBody();
  scopes.clear();
  return ok;
}

bool Parser::parseTriple(uint32_t (&out)[3]) {
  out[0] = out[1] = out[2] = 1;
  unsigned i = 0;
  do {
    uint64_t value;
    if (i == 3)
      return fail("more than three dimensions");
    if (!lex.unsignedInteger(value))
      return false;
    if (value == 0 || value > 1u << 20)
      return fail("dimension out of range: " + Twine(value));
    out[i++] = value;
  } while (lex.eat(','));
  return true;
}

bool Parser::parseFunctionDirectives(Function &f) {
  while (lex.peek() == '.') {
    std::string word = lex.directive();
    uint32_t ignored[3];
    uint64_t value;
    bool ok = true;
    if (word == ".reqntid")
      ok = parseTriple(f.reqntid);
    else if (word == ".maxntid")
      ok = parseTriple(f.maxntid);
    else if (word == ".reqnctapercluster")
      ok = parseTriple(f.cluster);
    else if (word == ".explicitcluster")
      f.explicitCluster = true;
    else if (word == ".minnctapersm" || word == ".maxnctapersm" ||
             word == ".maxnreg" || word == ".maxclusterrank")
      ok = lex.unsignedInteger(value);
    else if (word == ".blocksareclusters" || word == ".noreturn" ||
             word == ".abi_preserve" || word == ".abi_preserve_control")
      ;
    else if (word == ".pragma")
      ok = lex.skipTo(';');
    else
      return fail("unknown function directive '" + word + "'");
    (void)ignored;
    if (!ok)
      return false;
  }
  return true;
}

void Parser::pushScope() {
  uint32_t id = function->scopeParent.size();
  function->scopeParent.push_back(scopes.empty() ? 0 : scopes.back().id);
  scopes.emplace_back();
  scopes.back().id = id;
}

bool Parser::parseBody() {
  while (true) {
    lex.skipSpace();
    if (lex.atEnd())
      return fail("the body of '" + function->name + "' is not closed");
    if (lex.eat('}')) {
      scopes.pop_back();
      if (scopes.empty())
        return true;
      continue;
    }
    if (lex.eat('{')) {
      if (scopes.size() > maxNesting)
        return fail("scopes nested too deeply");
      pushScope();
      continue;
    }
    if (lex.eat(';'))
      continue;
    if (lex.peek() == '.') {
      if (!parseBodyDirective())
        return false;
      continue;
    }
    if (!parseStatement())
      return false;
  }
}

bool Parser::parseBodyDirective() {
  std::string word = lex.directive();
  if (word == ".reg")
    return parseRegisters();
  if (word == ".loc")
    return parseLoc();
  if (word == ".pragma")
    return lex.skipTo(';');
  if (word == ".shared" || word == ".local" || word == ".param" ||
      word == ".global" || word == ".const")
    return parseVariables(word, false, function->variables);
  if (word == ".extern") {
    word = lex.directive();
    return parseVariables(word, true, function->variables);
  }
  if (word == ".file")
    return parseFile();
  return fail("unknown directive '" + word + "' in a function");
}

bool Parser::parseRegisters() {
  std::string word = lex.directive();
  if (word == ".v2" || word == ".v4")
    return fail("vector registers are not supported");
  Type type = parseType(StringRef(word).drop_front());
  if (type == Type::None || type == Type::B8 || type == Type::B128)
    return fail("registers of type '" + word + "' are not supported");
  do {
    std::string name;
    if (!lex.identifier(name))
      return fail("expected a register name");
    if (lex.eat('<')) {
      uint64_t n;
      if (!lex.unsignedInteger(n) || !lex.expect('>'))
        return false;
      if (n > maxRegisters)
        return fail("too many registers: " + Twine(n));
      scopes.back().families[name] = {n, type};
    } else {
      if (!scopes.back()
               .registers.try_emplace(name, function->registers.size())
               .second)
        return fail("register '" + name + "' is declared twice");
      function->registers.push_back({name, type});
    }
  } while (lex.eat(','));
  return lex.expect(';');
}

int64_t Parser::findRegister(StringRef name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    auto it = scope->registers.find(name);
    if (it != scope->registers.end())
      return it->second;
    StringRef family = name.rtrim("0123456789");
    uint64_t number;
    if (family.size() == name.size() ||
        name.drop_front(family.size()).getAsInteger(10, number))
      continue;
    auto member = scope->families.find(family);
    if (member == scope->families.end() || number >= member->second.first)
      continue;
    uint32_t index = function->registers.size();
    function->registers.push_back({name.str(), member->second.second});
    scope->registers[name] = index;
    return index;
  }
  return -1;
}

} // namespace linattn::sim
