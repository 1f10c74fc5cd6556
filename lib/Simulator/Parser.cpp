//===- Parser.cpp - From PTX text to the AST ------------------------------===//
//
// A recursive-descent parser straight over the characters. Every parse function
// returns false after it has set the one error.
//
//===----------------------------------------------------------------------===//

#include "Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace linattn::sim {
namespace {

/// Limits that keep a hostile text from exhausting the machine.
constexpr uint64_t maxRegisters = 1u << 20;
constexpr uint64_t maxVariableBytes = uint64_t(1) << 32;
constexpr unsigned maxNesting = 64;

class Parser {
public:
  Parser(StringRef text, StringRef name)
      : lex(text), ast(std::make_unique<Ast>()) {
    ast->fileName = name.str();
    SmallVector<StringRef> lines;
    text.split(lines, '\n');
    for (StringRef line : lines)
      ast->lines.push_back(line.str());
  }

  Expected<std::unique_ptr<Ast>> run() {
    while (lex.skipSpace(), !lex.atEnd())
      if (!parseTopLevel())
        break;
    if (lex.error.empty() && ast->version.empty())
      lex.fail("not a PTX module: there is no .version directive");
    if (!lex.error.empty())
      return createStringError(ast->fileName + ":" +
                               std::to_string(lex.errorLine) + ": " +
                               lex.error);
    return std::move(ast);
  }

private:
  Lexer lex;
  std::unique_ptr<Ast> ast;
  Function *function = nullptr;

  struct Scope {
    uint32_t id;
    StringMap<uint32_t> registers;
    StringMap<std::pair<uint64_t, Type>> families; ///< %r<100>
  };
  std::vector<Scope> scopes;
  unsigned currentLoc = 0;

  bool fail(const Twine &message) { return lex.fail(message); }

  //===--- Module level ---------------------------------------------------===//

  bool parseTopLevel() {
    if (lex.eat(';'))
      return true;
    if (lex.peek() != '.')
      return fail("expected a directive at module level");
    std::string word = lex.directive();
    if (word == ".version" || word == ".target" || word == ".address_size") {
      std::string rest = lex.restOfLine();
      if (word == ".version")
        ast->version = rest;
      if (word == ".target")
        ast->target = rest;
      if (word == ".address_size" && rest != "64")
        return fail("only 64-bit addresses are supported, got " + rest);
      return true;
    }
    if (word == ".file")
      return parseFile();
    if (word == ".section")
      return skipBraces();
    if (word == ".pragma" || word == ".alias")
      return lex.skipTo(';');
    if (word == ".loc")
      return parseLoc();
    bool isExtern = false;
    while (word == ".visible" || word == ".weak" || word == ".extern" ||
           word == ".common") {
      isExtern |= word == ".extern";
      word = lex.directive();
    }
    if (word == ".entry" || word == ".func")
      return parseFunction(word == ".entry", isExtern);
    if (word == ".global" || word == ".shared" || word == ".const")
      return parseVariables(word, isExtern, ast->variables);
    return fail("unknown directive '" + word + "'");
  }

  bool parseFile() {
    uint64_t index;
    std::string path;
    if (!lex.unsignedInteger(index))
      return false;
    if (index > 1u << 16)
      return fail("file number " + Twine(index) + " is too large");
    if (!lex.quoted(path))
      return false;
    if (ast->files.size() <= index)
      ast->files.resize(index + 1);
    ast->files[index] = path;
    uint64_t ignored;
    while (lex.eat(','))
      if (!lex.unsignedInteger(ignored))
        return false;
    return true;
  }

  bool parseLoc() {
    uint64_t file, line;
    if (!lex.unsignedInteger(file) || !lex.unsignedInteger(line))
      return false;
    lex.restOfLine(); // column, inlined-at
    ast->locations.push_back({uint32_t(file), uint32_t(line)});
    currentLoc = ast->locations.size() - 1;
    return true;
  }

  bool skipBraces() {
    if (!lex.skipTo('{'))
      return false;
    for (unsigned depth = 1; depth;) {
      if (lex.atEnd())
        return fail("unbalanced braces in a section");
      char c = lex.next();
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    }
    return true;
  }

  //===--- Variables ------------------------------------------------------===//

  bool parseAlign(uint32_t &align) {
    uint64_t value;
    if (!lex.unsignedInteger(value))
      return false;
    if (!isPowerOf2_64(value) || value > 1u << 16)
      return fail("alignment must be a power of two up to 65536, got " +
                  Twine(value));
    align = value;
    return true;
  }

  static StateSpace spaceOf(StringRef word) {
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

  /// The type words of a declaration, up to the name.
  bool parseDeclType(Variable &var, bool &hasAlign, uint64_t &vector) {
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

  bool parsePointerHints(Variable &var) {
    while (lex.peek() == '.') {
      std::string word = lex.directive();
      uint32_t ignored;
      if (word == ".align" && !parseAlign(ignored))
        return false;
    }
    return true;
  }

  bool parseArray(Variable &var) {
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

  bool parseVariables(StringRef space, bool isExtern,
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

  bool parseInitialiser(Variable &var, unsigned depth) {
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

  //===--- Functions ------------------------------------------------------===//

  bool parseParameters(std::vector<Variable> &out) {
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

  bool parseFunction(bool isKernel, bool isExtern) {
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

  bool parseTriple(uint32_t (&out)[3]) {
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

  bool parseFunctionDirectives(Function &f) {
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

  void pushScope() {
    uint32_t id = function->scopeParent.size();
    function->scopeParent.push_back(scopes.empty() ? 0 : scopes.back().id);
    scopes.emplace_back();
    scopes.back().id = id;
  }

  bool parseBody() {
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

  bool parseBodyDirective() {
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

  bool parseRegisters() {
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

  /// The register's index, or -1.
  int64_t findRegister(StringRef name) {
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

  //===--- Statements -----------------------------------------------------===//

  bool parseStatement() {
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

  bool parseLabel(StringRef name) {
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

  bool parseNumber(Operand &out) {
    if (!lex.number(out))
      return false;
    return true;
  }

  bool parseOperand(Operand &out, unsigned depth) {
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

  bool parseAddress(Operand &out, unsigned depth) {
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
};

} // namespace

Expected<std::unique_ptr<Ast>> parsePTX(StringRef text, StringRef name) {
  return Parser(text, name).run();
}

} // namespace linattn::sim
