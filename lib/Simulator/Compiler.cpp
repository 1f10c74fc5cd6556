//===- Compiler.cpp - From the AST to executable form -------------------===//

#include "KernelCompiler.h"
#include "llvm/Support/MathExtras.h"
#include <functional>

using namespace llvm;

namespace linattn::sim {

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

Expected<std::unique_ptr<Program>> Compiler::run() {
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

Error Compiler::addFunction(const Function &f) {
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

uint32_t Compiler::placeInFrame(uint64_t bytes, uint32_t align) {
  uint32_t at = alignTo(program->frameBytes, std::max(1u, align));
  program->frameBytes = at + std::max<uint64_t>(bytes, 1);
  return at;
}

Error Compiler::compileFunction(uint32_t id) {
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
    frameVariables[function->results[i].name] = {compiled.resultOffset[i],
                                                 function->results[i].bytes()};
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

Error Compiler::placeVariables() {
  for (const Variable &v : function->variables) {
    if (v.space == StateSpace::Local || v.space == StateSpace::Param) {
      if (program->frameBytes + v.bytes() > 512 * 1024)
        return failAt(v.line, "more than 512 KiB of local memory a thread");
      auto it = frameVariables.find(v.name);
      if (it == frameVariables.end() || it->second.second < v.bytes())
        frameVariables[v.name] = {placeInFrame(v.bytes(), v.align),
                                  uint32_t(v.bytes())};
    } else if (v.space == StateSpace::Global || v.space == StateSpace::Const) {
      return failAt(v.line, "global variable '" + v.name +
                                "' must stand at module level");
    }
  }
  return Error::success();
}

Error Compiler::resolveLabels(uint32_t first) {
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

Error Compiler::checkRecursion() {
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

void Compiler::finish() {
  program->staticShared = sharedEnd - sharedBase;
  program->dynamicSharedOffset = alignTo(sharedEnd, externAlign);
  for (uint32_t at : dynamicFixups)
    patchConstant(at, program->dynamicSharedOffset);
  for (Instr &instr : program->code) {
    program->usesGlobalSync |= (instr.traits & TraitGlobalSync) != 0;
    program->usesAtomics |= (instr.traits & TraitStrong) != 0;
    program->usesAsync |= (instr.traits & TraitAsync) ||
                          StringRef(instr.statement->opcode).starts_with("cp.");
  }
  markWgmmaRegisters();
}

void Compiler::markWgmmaRegisters() {
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

Expected<std::unique_ptr<Program>> compileKernel(const Ast &ast,
                                                 const Function &kernel,
                                                 const GlobalPlaces &globals) {
  return Compiler(ast, kernel, globals).run();
}

} // namespace linattn::sim
