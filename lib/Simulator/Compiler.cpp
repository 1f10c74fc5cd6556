//===- Compiler.cpp - From the AST to executable form ---------------------===//

#include "Compiler.h"
#include "Specials.h"
#include "State.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace linattn::sim {

Step callFunction(Warp &warp, const Instr &instr, uint32_t active);
ExecFn clockMove();

uint32_t layOutParameters(const std::vector<Variable> &parameters,
                          std::vector<uint32_t> &offsets) {
  uint32_t at = 0;
  offsets.clear();
  for (const Variable &p : parameters) {
    at = alignTo(at, std::max(1u, p.align));
    offsets.push_back(at);
    at += p.bytes();
  }
  return at;
}

namespace {

/// One operand of InstrDef::operands.
struct OperandSpec {
  char role = '<';
  bool vector = false, wide = false, any = false, pair = false,
       optional = false;
  Type type = Type::None;
};

class Compiler {
public:
  Compiler(const Ast &ast, const Function &kernel, const GlobalPlaces &globals)
      : ast(ast), kernel(kernel), globals(globals),
        program(std::make_unique<Program>()) {}

  Expected<std::unique_ptr<Program>> run() {
    program->ast = &ast;
    program->kernel = &kernel;
    program->registerNames = {"(constant)", "_"};
    program->numRegisters = 2;
    program->registerBytes = 32 * 8; // the sink
    program->paramBytes =
        layOutParameters(kernel.parameters, program->parameterOffset);
    if (Error e = addFunction(kernel))
      return std::move(e);
    for (size_t i = 0; i < pending.size(); ++i)
      if (Error e = compileFunction(i))
        return std::move(e);
    if (Error e = checkRecursion())
      return std::move(e);
    finish();
    return std::move(program);
  }

private:
  const Ast &ast;
  const Function &kernel;
  const GlobalPlaces &globals;
  std::unique_ptr<Program> program;
  std::vector<const Function *> pending; ///< by index in program->functions
  DenseMap<const Function *, uint32_t> functionIndex;
  std::map<std::pair<uint64_t, bool>, uint32_t> constantAt;
  StringMap<Op> specials;
  StringMap<uint32_t> sharedAt;
  /// Offsets in the constant pool that need the dynamic shared base.
  std::vector<uint32_t> dynamicFixups;
  std::vector<SmallVector<uint32_t>> opIds;
  std::vector<std::pair<uint32_t, uint32_t>> callEdges;
  uint32_t sharedEnd = sharedBase;
  uint32_t externAlign = 16;

  // Of the function being compiled.
  const Function *function = nullptr;
  uint32_t functionId = 0;
  std::vector<Op> registerOps;
  std::vector<bool> registerKnown;
  StringMap<std::pair<uint32_t, uint32_t>> frameVariables; ///< offset, bytes
  const Statement *statement = nullptr;
  bool sawClock = false; ///< among the operands of the statement

  Error failAt(unsigned line, const Twine &message) {
    return createStringError(ast.fileName + ":" + Twine(line) + ": " + message);
  }
  Error fail(const Twine &message) { return failAt(statement->line, message); }

  //===--- Functions ------------------------------------------------------===//

  Error addFunction(const Function &f) {
    if (functionIndex.count(&f))
      return Error::success();
    if (f.isDeclaration)
      return fail("function '" + f.name + "' has no body");
    functionIndex[&f] = pending.size();
    pending.push_back(&f);
    CompiledFunction compiled;
    compiled.source = &f;
    if (&f != &kernel) {
      auto place = [&](const std::vector<Variable> &vars,
                       std::vector<uint32_t> &out) {
        for (const Variable &v : vars)
          out.push_back(placeInFrame(v.bytes(), v.align));
      };
      place(f.parameters, compiled.parameterOffset);
      place(f.results, compiled.resultOffset);
    }
    program->functions.push_back(std::move(compiled));
    return Error::success();
  }

  uint32_t placeInFrame(uint64_t bytes, uint32_t align) {
    uint32_t at = alignTo(program->frameBytes, std::max(1u, align));
    program->frameBytes = at + std::max<uint64_t>(bytes, 1);
    return at;
  }

  Error compileFunction(uint32_t id) {
    function = pending[id];
    functionId = id;
    registerOps.assign(function->registers.size(), Op());
    registerKnown.assign(function->registers.size(), false);
    frameVariables.clear();
    CompiledFunction &compiled = program->functions[id];
    compiled.entry = program->code.size();
    for (unsigned i = 0; i < compiled.parameterOffset.size(); ++i)
      frameVariables[function->parameters[i].name] = {
          compiled.parameterOffset[i], function->parameters[i].bytes()};
    for (unsigned i = 0; i < compiled.resultOffset.size(); ++i)
      frameVariables[function->results[i].name] = {
          compiled.resultOffset[i], function->results[i].bytes()};
    if (Error e = placeVariables())
      return e;
    uint32_t first = program->code.size();
    for (const Statement &st : function->body) {
      statement = &st;
      program->code.emplace_back();
      Instr &instr = program->code.back();
      instr.statement = &st;
      instr.line = st.line;
      instr.loc = st.loc;
      instr.pc = program->code.size() - 1;
      if (Error e = decode(instr))
        return e;
    }
    // Falling off the end returns; labels may stand there.
    static const Statement endStatement = [] {
      Statement s;
      s.opcode = "ret";
      return s;
    }();
    statement = &endStatement;
    program->code.emplace_back();
    Instr &end = program->code.back();
    end.statement = &endStatement;
    end.line =
        function->body.empty() ? function->line : function->body.back().line;
    end.pc = program->code.size() - 1;
    if (Error e = decode(end))
      return e;
    return resolveLabels(first);
  }

  Error placeVariables() {
    for (const Variable &v : function->variables) {
      if (v.space == StateSpace::Local || v.space == StateSpace::Param) {
        if (program->frameBytes + v.bytes() > 512 * 1024)
          return failAt(v.line, "more than 512 KiB of local memory a thread");
        auto it = frameVariables.find(v.name);
        if (it == frameVariables.end() || it->second.second < v.bytes())
          frameVariables[v.name] = {placeInFrame(v.bytes(), v.align),
                                    uint32_t(v.bytes())};
      } else if (v.space == StateSpace::Global ||
                 v.space == StateSpace::Const) {
        return failAt(v.line, "global variable '" + v.name +
                                  "' must stand at module level");
      }
    }
    return Error::success();
  }

  Error resolveLabels(uint32_t first) {
    uint32_t entry = program->functions[functionId].entry;
    for (uint32_t i = first; i < program->code.size(); ++i) {
      Instr &instr = program->code[i];
      statement = instr.statement;
      for (const Operand &o : statement->operands) {
        if (!instr.def || o.kind != Operand::Symbol)
          continue;
        if (StringRef(instr.def->operands).contains('L')) {
          if (StringRef(statement->opcode).starts_with("brx")) {
            const std::vector<std::string> *list =
                function->findTargets(o.text, statement->scope);
            if (!list)
              return fail("unknown list of branch targets '" + o.text + "'");
            for (const std::string &name : *list) {
              int64_t at = function->findLabel(name, statement->scope);
              if (at < 0)
                return fail("unknown label '" + name + "'");
              instr.targets.push_back(entry + at);
            }
            continue;
          }
          int64_t at = function->findLabel(o.text, statement->scope);
          if (at < 0)
            return fail("unknown label '" + o.text + "'");
          instr.target = entry + at;
        }
      }
    }
    return Error::success();
  }

  /// Frames are laid out once per function, so recursion cannot run.
  Error checkRecursion() {
    std::vector<uint8_t> state(pending.size(), 0);
    std::function<bool(uint32_t)> cyclic = [&](uint32_t f) {
      if (state[f])
        return state[f] == 1;
      state[f] = 1;
      for (auto [from, to] : callEdges)
        if (from == f && cyclic(to))
          return true;
      state[f] = 2;
      return false;
    };
    if (cyclic(0))
      return failAt(kernel.line, "recursive calls are not supported");
    return Error::success();
  }

  void finish() {
    program->staticShared = sharedEnd - sharedBase;
    program->dynamicSharedOffset = alignTo(sharedEnd, externAlign);
    for (uint32_t at : dynamicFixups)
      patchConstant(at, program->dynamicSharedOffset);
    for (Instr &instr : program->code) {
      program->usesGlobalSync |= (instr.traits & TraitGlobalSync) != 0;
      program->usesAtomics |= (instr.traits & TraitStrong) != 0;
      program->usesAsync |=
          (instr.traits & TraitAsync) ||
          StringRef(instr.statement->opcode).starts_with("cp.");
    }
    markWgmmaRegisters();
  }

  /// wgmma.fence must stand between a write of a register and the wgmma that
  /// uses it: the scheduler notes such writes.
  void markWgmmaRegisters() {
    std::vector<bool> used;
    for (const Instr &instr : program->code)
      if (instr.traits & TraitOwnFlightCheck) {
        used.resize(program->numRegisters);
        for (unsigned a = 0; a < instr.numArgs; ++a)
          for (unsigned k = 0; k < instr.args[a].count; ++k)
            if (const Op &op = instr.op[instr.args[a].first + k]; !op.isWide)
              used[op.reg] = true;
      }
    if (used.empty())
      return;
    for (Instr &instr : program->code)
      if (!(instr.traits & TraitOwnFlightCheck))
        for (unsigned d = 0; d < instr.numDests; ++d)
          if (used[instr.dests[d]])
            instr.traits |= TraitWritesWgmma;
  }

  //===--- Values ---------------------------------------------------------===//

  void patchConstant(uint32_t at, uint64_t add) {
    // Fixups are made with 8-byte or 4-byte lanes; the low bit of `at` tells.
    bool wide = at & 1;
    at &= ~1u;
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint8_t *p = program->constants.data() + at + lane * (wide ? 8 : 4);
      uint64_t value = 0;
      std::memcpy(&value, p, wide ? 8 : 4);
      value += add;
      std::memcpy(p, &value, wide ? 8 : 4);
    }
  }

  Op constant(uint64_t bits, bool wide, bool unique = false) {
    if (!wide)
      bits = uint32_t(bits);
    Op op;
    op.isConst = true;
    op.isWide = wide;
    op.reg = constantRegister;
    op.imm = int64_t(bits);
    auto key = std::make_pair(bits, wide);
    auto it = constantAt.find(key);
    if (!unique && it != constantAt.end()) {
      op.offset = it->second;
      return op;
    }
    op.offset = program->constants.size();
    if (!unique)
      constantAt[key] = op.offset;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned byte = 0; byte < (wide ? 8u : 4u); ++byte)
        program->constants.push_back(uint8_t(bits >> (8 * byte)));
    return op;
  }

  Op newRegister(StringRef name, Type type) {
    Op op;
    op.type = type;
    op.reg = program->numRegisters++;
    program->registerNames.push_back(name.str());
    if (type != Type::Pred) {
      op.isWide = typeBits(type) == 64;
      op.offset = program->registerBytes;
      program->registerBytes += op.isWide ? 256 : 128;
    }
    return op;
  }

  Op registerOp(uint32_t index) {
    if (!registerKnown[index]) {
      registerOps[index] = newRegister(function->registers[index].name,
                                       function->registers[index].type);
      registerKnown[index] = true;
    }
    return registerOps[index];
  }

  Expected<Op> special(StringRef name) {
    auto it = specials.find(name);
    if (it != specials.end())
      return it->second;
    Type type = specialRegisterType(name);
    if (type == Type::None)
      return fail("unknown special register '" + name + "'");
    Op op = newRegister(name, type);
    program->specials.push_back({name.str(), op});
    specials[name] = op;
    return op;
  }

  const Variable *findShared(StringRef name) {
    for (const Variable &v : function->variables)
      if (v.name == name && v.space == StateSpace::Shared)
        return &v;
    for (const Variable &v : ast.variables)
      if (v.name == name && v.space == StateSpace::Shared)
        return &v;
    return nullptr;
  }

  /// The address of a variable within its own space.
  Expected<Op> symbolAddress(StringRef name, int64_t offset, bool wide,
                             StateSpace &space) {
    auto frame = frameVariables.find(name);
    if (frame != frameVariables.end()) {
      space = StateSpace::Local;
      return constant(frame->second.first + offset, wide);
    }
    if (function == &kernel)
      for (unsigned i = 0; i < kernel.parameters.size(); ++i)
        if (kernel.parameters[i].name == name) {
          space = StateSpace::Param;
          return constant(program->parameterOffset[i] + offset, wide);
        }
    if (const Variable *v = findShared(name)) {
      space = StateSpace::Shared;
      if (v->count == 0 || v->isExtern) {
        externAlign = std::max(externAlign, v->align);
        Op op = constant(offset, wide, /*unique=*/true);
        dynamicFixups.push_back(op.offset | (wide ? 1 : 0));
        return op;
      }
      std::string key = name.str();
      if (is_contained(make_pointer_range(function->variables), v))
        key += "@" + std::to_string(functionId);
      auto [it, fresh] = sharedAt.try_emplace(key, 0);
      if (fresh) {
        sharedEnd = alignTo(sharedEnd, std::max(1u, v->align));
        it->second = sharedEnd;
        program->placed.push_back(
            {name.str(), StateSpace::Shared, sharedEnd, uint32_t(v->bytes())});
        if (v->bytes() > maxSharedBytes)
          return failAt(v->line, "shared variable '" + name + "' has " +
                                     Twine(v->bytes()) + " bytes, a block " +
                                     Twine(maxSharedBytes));
        sharedEnd += v->bytes();
      }
      return constant(it->second + offset, wide);
    }
    auto global = globals.find(name);
    if (global != globals.end()) {
      space = global->second.space;
      return constant(global->second.address + offset, wide);
    }
    return fail("unknown name '" + name + "'");
  }

  Expected<Op> immediate(const Operand &o, Type type) {
    bool wide = typeBits(type) == 64;
    if (type == Type::Pred) {
      Op op;
      op.isConst = true;
      op.imm = o.bits != 0;
      op.negated = o.negated;
      return op;
    }
    if (o.kind == Operand::Imm) {
      if (isFloat(type) && typeBits(type) >= 32 && type != Type::F16x2 &&
          type != Type::BF16x2 && o.bits != 0)
        return fail("an integer constant stands where ." + typeName(type) +
                    " is expected");
      uint64_t bits = o.bits;
      if (typeBits(type) < 32 && typeBits(type))
        bits &= (uint64_t(1) << typeBits(type)) - 1;
      return constant(bits, wide);
    }
    double value;
    if (o.is32) {
      float f;
      uint32_t low = o.bits;
      std::memcpy(&f, &low, 4);
      if (!wide)
        return constant(low, false);
      value = f;
    } else {
      std::memcpy(&value, &o.bits, 8);
    }
    uint64_t bits = 0;
    if (wide) {
      std::memcpy(&bits, &value, 8);
    } else {
      float f = float(value);
      std::memcpy(&bits, &f, 4);
    }
    return constant(bits, wide);
  }

  //===--- Operands -------------------------------------------------------===//

  static bool parseSpec(StringRef text, const Instr &instr, OperandSpec &spec) {
    spec.role = text.front();
    text = text.drop_front();
    spec.optional = text.consume_back("?");
    while (true) {
      if (text.consume_front("v"))
        spec.vector = true;
      else if (text.consume_front("w"))
        spec.wide = true;
      else if (text.consume_front("a"))
        spec.any = spec.wide = true;
      else if (text.starts_with("p") && !text.starts_with("pred"))
        spec.pair = text.consume_front("p");
      else
        break;
    }
    if (text.empty())
      spec.type = instr.type();
    else if (text.consume_front("$"))
      spec.type = text.front() - '0' < instr.numTypes
                      ? instr.types[text.front() - '0']
                      : Type::None;
    else
      spec.type = parseType(text);
    return true;
  }

  Expected<Op> value(const Operand &o, const OperandSpec &spec) {
    switch (o.kind) {
    case Operand::Reg: {
      Op op = registerOp(o.index);
      op.negated = o.negated;
      bool isPred = op.type == Type::Pred;
      if (isPred != (spec.type == Type::Pred))
        return fail("register " + function->registers[o.index].name + " is " +
                    (isPred ? "a" : "no") + " predicate");
      if (o.negated && !isPred)
        return fail("'!' before a register that is no predicate");
      unsigned have = typeBits(op.type), want = typeBits(spec.type);
      if (!isPred && want && have != want && !spec.any &&
          !(spec.wide && have > want))
        return fail("register " + function->registers[o.index].name + " has " +
                    Twine(have) + " bits, the instruction needs " +
                    Twine(want));
      return op;
    }
    case Operand::Special: {
      if (isClockRegister(o.text)) {
        sawClock = true;
        return constant(0, typeBits(spec.type) == 64);
      }
      Expected<Op> op = special(o.text);
      if (!op)
        return op.takeError();
      if ((op->type == Type::Pred) != (spec.type == Type::Pred))
        return fail("special register " + o.text + " has the wrong type here");
      if (spec.role != '<')
        return fail("special register " + o.text + " cannot be written");
      // A narrower or wider read takes the low lanes; both are stored apart.
      if (op->isWide != (typeBits(spec.type) == 64) && !spec.wide &&
          spec.type != Type::Pred)
        return fail(
            "special register " + o.text + " has " + Twine(typeBits(op->type)) +
            " bits, the instruction needs " + Twine(typeBits(spec.type)));
      return op;
    }
    case Operand::Imm:
    case Operand::Float:
      if (spec.role != '<')
        return fail("a constant cannot be written");
      return immediate(o, spec.type);
    case Operand::Symbol: {
      if (spec.role != '<' ||
          (typeBits(spec.type) != 64 && typeBits(spec.type) != 32))
        return fail("name '" + o.text + "' cannot stand here");
      StateSpace space;
      return symbolAddress(o.text, o.offset, typeBits(spec.type) == 64, space);
    }
    case Operand::Sink: {
      Op op;
      op.reg = sinkRegister;
      op.isSink = true;
      op.isWide = typeBits(spec.type) == 64;
      op.type = spec.type;
      if (spec.role != '=')
        return fail("'_' cannot be read");
      return op;
    }
    default:
      return fail("an operand of the wrong form");
    }
  }

  Error address(Instr &instr, const Operand &o, SmallVectorImpl<Op> &ops,
                SmallVectorImpl<uint32_t> &sources) {
    const Operand &base = o.elems[0];
    Op op;
    StateSpace symbolSpace = StateSpace::Generic;
    if (base.kind == Operand::Reg) {
      op = registerOp(base.index);
      if (op.type == Type::Pred || typeBits(op.type) < 32)
        return fail("register " + function->registers[base.index].name +
                    " cannot hold an address");
    } else if (base.kind == Operand::Imm) {
      op = constant(base.bits, true);
    } else {
      Expected<Op> at = symbolAddress(base.text, 0, true, symbolSpace);
      if (!at)
        return at.takeError();
      op = *at;
      // .param variables of calls, and parameters of functions, live in the
      // frame.
      if (instr.space == StateSpace::Param && symbolSpace == StateSpace::Local)
        instr.space = StateSpace::Local;
      else if (instr.traits & TraitOwnSpaces)
        ; // The instruction says for each address where it lies.
      else if (instr.space == StateSpace::Generic)
        instr.space = symbolSpace;
      else if (symbolSpace != instr.space &&
               !(instr.space == StateSpace::SharedCluster &&
                 symbolSpace == StateSpace::Shared))
        return fail("variable '" + base.text + "' lies in another state space");
    }
    op.imm = o.offset;
    ops.push_back(op);
    if (!op.isConst)
      sources.push_back(op.reg);
    if (o.elems.size() > 1)
      for (const Operand &c : o.elems[1].elems) {
        OperandSpec spec;
        spec.type = Type::B32;
        Expected<Op> coordinate = value(c, spec);
        if (!coordinate)
          return coordinate.takeError();
        if (!coordinate->isConst)
          sources.push_back(coordinate->reg);
        ops.push_back(*coordinate);
      }
    return Error::success();
  }

  //===--- Instructions ---------------------------------------------------===//

  Error decode(Instr &instr) {
    StringRef opcode = statement->opcode;
    Words words;
    opcode.split(words, '.');
    if (statement->guard >= 0) {
      instr.guard = registerOp(statement->guard).reg;
      instr.guardNegated = statement->guardNegated;
    }
    if (words.front() == "call")
      return decodeCall(instr);
    const InstrTable &table = InstrTable::get();
    const InstrDef *def = table.find(words);
    if (!def)
      return fail(table.knows(words.front())
                      ? "this form of " + words.front() +
                            " is not supported: '" + opcode + "'"
                      : "unknown instruction '" + opcode + "'");
    instr.def = def;
    instr.fn = def->fn;
    instr.kind = def->kind;
    instr.traits = def->traits;
    decodeModifiers(instr, words);
    sawClock = false;
    if (Error e = operands(instr, words))
      return e;
    if (def->decode)
      if (Error e = def->decode(instr, words))
        return fail(toString(std::move(e)));
    if (sawClock) {
      if (words.front() != "mov")
        return fail("clocks can only be read by mov");
      instr.fn = clockMove();
    }
    // A collective without a member mask operand would read nonsense.
    if ((instr.traits & TraitCollective) && instr.maskArg >= instr.numArgs)
      return fail("the member mask is missing");
    return Error::success();
  }

  Error operands(Instr &instr, const Words &words) {
    SmallVector<StringRef> specs;
    StringRef(instr.def->operands).split(specs, ' ', -1, /*KeepEmpty=*/false);
    SmallVector<Op, 8> ops;
    SmallVector<uint32_t> sources, dests;
    unsigned next = 0;
    const std::vector<Operand> &given = statement->operands;
    unsigned needed =
        count_if(specs, [](StringRef t) { return !t.ends_with("?"); });
    for (StringRef text : specs) {
      OperandSpec spec;
      parseSpec(text, instr, spec);
      // An optional operand is there when more are left than the others need.
      if (spec.optional && given.size() - next <= needed)
        continue;
      needed -= !spec.optional;
      if (next == given.size()) {
        return fail("'" + statement->opcode + "' needs more than " +
                    Twine(given.size()) + " operands");
      }
      const Operand &o = given[next++];
      if (instr.numArgs == 12)
        return fail("too many operands");
      Arg &arg = instr.args[instr.numArgs++];
      arg.first = ops.size();
      switch (spec.role) {
      case 'L':
        if (o.kind != Operand::Symbol)
          return fail("expected a label");
        continue;
      case 'F':
        continue;
      case '@':
        if (o.kind != Operand::Address)
          return fail("expected an address in brackets");
        if (Error e = address(instr, o, ops, sources))
          return e;
        break;
      case '#':
        if (o.kind != Operand::Imm)
          return fail("expected a constant integer");
        ops.push_back(constant(o.bits, true));
        break;
      default: {
        SmallVector<const Operand *> list;
        if (o.kind == Operand::Vector && spec.vector)
          for (const Operand &e : o.elems)
            list.push_back(&e);
        else if (o.kind == Operand::Pair && spec.pair)
          list = {&o.elems[0], &o.elems[1]};
        else
          list.push_back(&o);
        if (list.size() > 255 || ops.size() > 1000)
          return fail("too many registers in one instruction");
        for (const Operand *e : list) {
          OperandSpec one = spec;
          if (o.kind == Operand::Pair && e == list[1])
            one.type = Type::Pred;
          Expected<Op> op = value(*e, one);
          if (!op)
            return op.takeError();
          bool counted = !op->isConst && !op->isSink;
          if (counted && spec.role != '=')
            sources.push_back(op->reg);
          if (counted && spec.role != '<')
            dests.push_back(op->reg);
          ops.push_back(*op);
        }
      }
      }
      arg.count = ops.size() - arg.first;
    }
    if (next != given.size())
      return fail("'" + statement->opcode + "' takes " + Twine(next) +
                  " operands, got " + Twine(given.size()));
    auto copyOps = std::make_unique<Op[]>(ops.size() + 1);
    std::copy(ops.begin(), ops.end(), copyOps.get());
    instr.op = copyOps.get();
    program->opPool.push_back(std::move(copyOps));
    auto keep = [&](ArrayRef<uint32_t> ids, const uint32_t *&at,
                    uint16_t &count) {
      auto copy = std::make_unique<uint32_t[]>(ids.size() + 1);
      std::copy(ids.begin(), ids.end(), copy.get());
      at = copy.get();
      count = ids.size();
      program->idPool.push_back(std::move(copy));
    };
    keep(sources, instr.sources, instr.numSources);
    keep(dests, instr.dests, instr.numDests);
    return Error::success();
  }

  /// call (results), function, (arguments);
  Error decodeCall(Instr &instr) {
    const std::vector<Operand> &given = statement->operands;
    const Operand *results = nullptr, *callee = nullptr, *arguments = nullptr;
    for (const Operand &o : given) {
      if (o.kind == Operand::List)
        (callee ? arguments : results) = &o;
      else if (!callee)
        callee = &o;
    }
    if (!callee || callee->kind != Operand::Symbol)
      return fail("calls through registers are not supported");
    auto it = ast.functionByName.find(callee->text);
    if (it == ast.functionByName.end())
      return fail("unknown function '" + callee->text + "'");
    const Function &f = *it->second;
    if (f.isKernel)
      return fail("a kernel cannot be called");
    instr.kind = InstrKind::Control;
    static const InstrDef callDef{"call", "",     nullptr, InstrKind::Control,
                                  0,      nullptr};
    instr.def = &callDef;
    if (f.name == "__assertfail") {
      instr.fn = [](Warp &w, const Instr &i, uint32_t active) {
        return assertFailed(w, i, active);
      };
      return Error::success();
    }
    if (Error e = addFunction(f))
      return e;
    uint32_t id = functionIndex[&f];
    callEdges.push_back({functionId, id});
    CallInfo info;
    info.callee = id;
    const CompiledFunction &compiled = program->functions[id];
    auto match = [&](const Operand *list, const std::vector<Variable> &formals,
                     const std::vector<uint32_t> &offsets,
                     std::vector<CallInfo::Copy> &copies, bool in) -> Error {
      unsigned n = list ? list->elems.size() : 0;
      if (n != formals.size())
        return fail("function '" + f.name + "' has " + Twine(formals.size()) +
                    (in ? " parameters" : " results") + ", the call " +
                    Twine(n));
      for (unsigned i = 0; i < n; ++i) {
        const Operand &o = list->elems[i];
        auto var = frameVariables.find(o.text);
        if (o.kind != Operand::Symbol || var == frameVariables.end())
          return fail("arguments of a call must be .param variables");
        uint32_t bytes = formals[i].bytes();
        if (var->second.second < bytes)
          return fail("argument '" + o.text + "' is too small");
        if (in)
          copies.push_back({var->second.first, offsets[i], bytes});
        else
          copies.push_back({offsets[i], var->second.first, bytes});
      }
      return Error::success();
    };
    if (Error e = match(arguments, f.parameters, compiled.parameterOffset,
                        info.arguments, true))
      return e;
    if (Error e = match(results, f.results, compiled.resultOffset, info.results,
                        false))
      return e;
    instr.detail = program->calls.size();
    program->calls.push_back(std::move(info));
    instr.fn = callFunction;
    return Error::success();
  }

  static Step assertFailed(Warp &warp, const Instr &instr, uint32_t active);
};

} // namespace

Step trap(Warp &warp, const Instr &instr, uint32_t active);
Step Compiler::assertFailed(Warp &warp, const Instr &instr, uint32_t active) {
  return trap(warp, instr, active);
}

Expected<std::unique_ptr<Program>> compileKernel(const Ast &ast,
                                                 const Function &kernel,
                                                 const GlobalPlaces &globals) {
  return Compiler(ast, kernel, globals).run();
}

} // namespace linattn::sim
