//===- CompilerValues.cpp - Registers, constants, addresses -------------===//

#include "KernelCompiler.h"
#include "Specials.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace linattn::sim {

void Compiler::patchConstant(uint32_t at, uint64_t add) {
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

Op Compiler::constant(uint64_t bits, bool wide, bool unique) {
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

Op Compiler::newRegister(StringRef name, Type type) {
  Op op;
  op.type = type;
  op.bits = std::min(typeBits(type), 64u);
  op.reg = program->numRegisters++;
  program->registerNames.push_back(name.str());
  if (type != Type::Pred) {
    op.isWide = typeBits(type) == 64;
    op.offset = program->registerBytes;
    program->registerBytes += op.isWide ? 256 : 128;
  }
  return op;
}

Op Compiler::registerOp(uint32_t index) {
  if (!registerKnown[index]) {
    registerOps[index] = newRegister(function->registers[index].name,
                                     function->registers[index].type);
    registerKnown[index] = true;
  }
  return registerOps[index];
}

Expected<Op> Compiler::special(StringRef name) {
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

const Variable *Compiler::findShared(StringRef name) {
  for (const Variable &v : function->variables)
    if (v.name == name && v.space == StateSpace::Shared)
      return &v;
  for (const Variable &v : ast.variables)
    if (v.name == name && v.space == StateSpace::Shared)
      return &v;
  return nullptr;
}

Expected<Op> Compiler::symbolAddress(StringRef name, int64_t offset, bool wide,
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

Expected<Op> Compiler::immediate(const Operand &o, Type type) {
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

} // namespace linattn::sim
