//===- Modifiers.cpp - The words of an opcode that all instructions share -===//

#include "InstrTable.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace linattn::sim {

void decodeModifiers(Instr &instr, const Words &words) {
  bool hasSpace = false;
  for (StringRef word : ArrayRef(words).drop_front()) {
    if (Type t = parseType(word); t != Type::None && instr.numTypes < 5)
      instr.types[instr.numTypes++] = t;
    if (word == "ftz")
      instr.ftz = true;
    if (word == "sat")
      instr.sat = true;
    if (word == "relu")
      instr.relu = true;
    if (word == "volatile")
      instr.isVolatile = true;
    if (word == "v2" || word == "v4" || word == "v8")
      instr.vec = word[1] - '0';
    instr.rounding = StringSwitch<Rounding>(word)
                         .Case("rn", Rounding::RN)
                         .Case("rz", Rounding::RZ)
                         .Case("rm", Rounding::RM)
                         .Case("rp", Rounding::RP)
                         .Case("rna", Rounding::RNA)
                         .Case("rni", Rounding::RNI)
                         .Case("rzi", Rounding::RZI)
                         .Case("rmi", Rounding::RMI)
                         .Case("rpi", Rounding::RPI)
                         .Default(instr.rounding);
    instr.compare = StringSwitch<Compare>(word)
                        .Case("eq", Compare::EQ)
                        .Case("ne", Compare::NE)
                        .Case("lt", Compare::LT)
                        .Case("le", Compare::LE)
                        .Case("gt", Compare::GT)
                        .Case("ge", Compare::GE)
                        .Case("lo", Compare::LO)
                        .Case("ls", Compare::LS)
                        .Case("hi", Compare::HI)
                        .Case("hs", Compare::HS)
                        .Case("equ", Compare::EQU)
                        .Case("neu", Compare::NEU)
                        .Case("ltu", Compare::LTU)
                        .Case("leu", Compare::LEU)
                        .Case("gtu", Compare::GTU)
                        .Case("geu", Compare::GEU)
                        .Case("num", Compare::NUM)
                        .Case("nan", Compare::NAN_)
                        .Default(instr.compare);
    instr.boolOp = StringSwitch<BoolOp>(word)
                       .Case("and", BoolOp::And)
                       .Case("or", BoolOp::Or)
                       .Case("xor", BoolOp::Xor)
                       .Default(instr.boolOp);
    StateSpace space =
        StringSwitch<StateSpace>(word)
            .Case("global", StateSpace::Global)
            .Cases({"shared", "shared::cta"}, StateSpace::Shared)
            .Case("shared::cluster", StateSpace::SharedCluster)
            .Case("local", StateSpace::Local)
            .Cases({"param", "param::entry", "param::func"}, StateSpace::Param)
            .Case("const", StateSpace::Const)
            .Default(StateSpace::Generic);
    if (space != StateSpace::Generic && !hasSpace) {
      instr.space = space;
      hasSpace = true;
    }
  }
}

} // namespace linattn::sim
