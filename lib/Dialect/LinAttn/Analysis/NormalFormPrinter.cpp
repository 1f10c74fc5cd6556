//===- NormalFormPrinter.cpp - a normal form as text ----------------------===//

#include "linattn/Dialect/LinAttn/Analysis/NormalForm.h"

#include "StepPrinter.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace linattn;

using Kind = StepEvent::Kind;

void linattn::printRecurrenceTitle(llvm::raw_ostream &os,
                                   RecurrenceOp recurrence) {
  os << "recurrence";
  for (Operation *parent = recurrence->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<FunctionOpInterface>(parent)) {
      os << " in @" << SymbolTable::getSymbolName(parent).getValue();
      break;
    }
  os << ":";
  StepPrinter names(recurrence);
  for (unsigned i = 0; i < recurrence.getNumStates(); ++i) {
    StateType type = recurrence.getStateType(i);
    os << " " << names.getStateName(i) << " " << type.getKeys() << "x"
       << type.getValues() << ",";
  }
  os << " " << recurrence.getNumHeads() << " heads\n";
}

static std::string printScale(ReadOp read) {
  double scale = read.getScale() ? read.getScale()->convertToDouble() : 1.0;
  if (scale == 1.0)
    return {};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", scale) << " * ";
  return text;
}

/// c + sum_j b_j r_j, as a sum or difference for each sign.
static std::string
printWritten(StepPrinter &printer, const StepEvent &event,
             llvm::function_ref<std::string(unsigned)> getRead) {
  InfixText text;
  if (event.constant)
    text = printer.print(event.constant);
  for (const StepEvent::Term &term : event.terms) {
    const Coefficient *b = term.coefficient;
    InfixText read{getRead(term.read)};
    bool isNegative = b->kind == Coefficient::Kind::Neg || b->isConstant(-1);
    auto scaled = [&](const Coefficient *factor) {
      return factor->isConstant(1)
                 ? read
                 : StepPrinter::product(printer.print(factor), read);
    };
    if (text.text.empty() && !isNegative)
      text = scaled(b);
    else if (b->isConstant(-1))
      text = text.text.empty() ? InfixText{"-" + read.text, InfixText::Sum}
                               : StepPrinter::difference(text, read);
    else if (text.text.empty())
      text = {"-" + scaled(b->lhs).in(InfixText::Product), InfixText::Sum};
    else if (isNegative)
      text = StepPrinter::difference(text, scaled(b->lhs));
    else
      text = StepPrinter::sum(text, scaled(b));
  }
  return text.in(InfixText::Atom);
}

void NormalForm::print(llvm::raw_ostream &os, bool positions) const {
  printRecurrenceTitle(os, recurrence);
  StepPrinter printer(recurrence);
  unsigned numReads = 0, numOutputReads = 0;
  llvm::DenseMap<unsigned, std::string> readNames;

  for (auto [index, event] : llvm::enumerate(events)) {
    printer.startExpression();
    std::string state = printer.getStateName(event.state);
    os << "  " << state;
    if (positions)
      os << "@" << event.version << "," << event.position;
    os << ": ";
    switch (event.kind) {
    case Kind::Decay: {
      InfixText gate = printer.print(event.getDecay().getGate());
      std::string factor =
          event.getDecay().getLinear() ? gate.text : "exp(" + gate.text + ")";
      os << "decay  " << (event.perKey ? "Diag(" + factor + ")" : factor);
      break;
    }
    case Kind::Read: {
      ReadOp read = event.getRead();
      std::string name = event.feedsWrite
                             ? "r" + std::to_string(numReads++)
                             : "o" + std::to_string(numOutputReads++);
      os << name << " = " << printScale(read) << state << "^T "
         << printer.print(read.getKey()).in(InfixText::Atom);
      printer.setName(read.getResult(), name);
      readNames[index] = name;
      break;
    }
    case Kind::Write: {
      std::string key =
          printer.print(event.getWrite().getKey()).in(InfixText::Atom);
      printer.startExpression();
      os << "write  " << key << " "
         << printWritten(printer, event,
                         [&](unsigned read) { return readNames[read]; })
         << "^T";
      break;
    }
    }
    os << "\n";
  }

  // Generated accessors are not const.
  RecurrenceOp op = recurrence;
  Operation *yield = op.getBody()->getTerminator();
  unsigned numOutputs = yield->getNumOperands() - op.getNumStates();
  for (unsigned i = 0; i < numOutputs; ++i) {
    printer.startExpression();
    os << "  o";
    if (numOutputs > 1)
      os << "#" << i;
    os << " = " << printer.print(yield->getOperand(i)).text << "\n";
  }
}
