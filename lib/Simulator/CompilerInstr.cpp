//===- CompilerInstr.cpp - Decoding an instruction ----------------------===//

#include "KernelCompiler.h"
#include "Specials.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace linattn::sim {

Step callFunction(Warp &warp, const Instr &instr, uint32_t active);
Step trap(Warp &warp, const Instr &instr, uint32_t active);
ExecFn clockMove();

bool Compiler::parseSpec(StringRef text, const Instr &instr,
                         OperandSpec &spec) {
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
    else if (text.consume_front("d"))
      spec.passed = true;
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

Expected<Op> Compiler::value(const Operand &o, const OperandSpec &spec) {
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
    op.isPassed = spec.passed;
    if (spec.role == '<' && want && !spec.any)
      op.bits = std::min(have, want);
    if (!isPred && want && have != want && !spec.any &&
        !(spec.wide && have > want))
      return fail("register " + function->registers[o.index].name + " has " +
                  Twine(have) + " bits, the instruction needs " + Twine(want));
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
      return fail("special register " + o.text + " has " +
                  Twine(typeBits(op->type)) + " bits, the instruction needs " +
                  Twine(typeBits(spec.type)));
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

Error Compiler::address(Instr &instr, const Operand &o,
                        SmallVectorImpl<Op> &ops,
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

Error Compiler::decode(Instr &instr) {
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
                    ? "this form of " + words.front() + " is not supported: '" +
                          opcode + "'"
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

Error Compiler::operands(Instr &instr, const Words &words) {
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
    if (spec.passed)
      instr.traits |= TraitPassesBits;
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
Error Compiler::decodeCall(Instr &instr) {
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
    instr.fn = trap;
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
                  (in ? " parameters" : " results") + ", the call " + Twine(n));
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
  if (Error e =
          match(results, f.results, compiled.resultOffset, info.results, false))
    return e;
  instr.detail = program->calls.size();
  program->calls.push_back(std::move(info));
  instr.fn = callFunction;
  return Error::success();
}

} // namespace linattn::sim
