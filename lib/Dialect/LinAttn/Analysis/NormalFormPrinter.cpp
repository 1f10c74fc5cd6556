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

/// c + sum_j b_j r_j.
static InfixText printWritten(StepPrinter &printer, const NormalForm &form,
                              const StepEvent &event) {
  InfixText text;
  if (event.constant)
    text = printer.print(event.constant);
  for (const StepEvent::Term &term : event.terms) {
    InfixText read =
        printer.print(form.getEvents()[term.read].getRead().getResult());
    InfixText scaled = printer.print(term.coefficient);
    if (term.coefficient->isConstant(1))
      scaled = read;
    else if (term.coefficient->isConstant(-1))
      scaled = {"-" + read.text, InfixText::Negative};
    else
      scaled = StepPrinter::product(scaled, read);
    text = text.text.empty() ? scaled : StepPrinter::sum(text, scaled);
  }
  return text;
}

void NormalForm::print(llvm::raw_ostream &os, bool positions) const {
  printRecurrenceTitle(os, recurrence);
  StepPrinter printer(recurrence);
  unsigned numReads = 0, numOutputReads = 0;

  for (const StepEvent &event : events) {
    std::string state = printer.getStateName(event.state);
    os << "  " << state;
    if (positions)
      os << "@" << event.version << "," << event.position;
    os << ": ";
    switch (event.kind) {
    case Kind::Decay: {
      InfixText gate = printer.printWhole(event.getDecay().getGate());
      std::string factor =
          event.getDecay().getLinear() ? gate.text : "exp(" + gate.text + ")";
      os << "decay  " << (event.perKey ? "Diag(" + factor + ")" : factor);
      break;
    }
    case Kind::Read: {
      ReadOp read = event.getRead();
      std::string name = printer.setName(
          read.getResult(), event.feedsWrite
                                ? "r" + std::to_string(numReads++)
                                : "o" + std::to_string(numOutputReads++));
      os << name << " = " << printScale(read) << state << "^T "
         << printer.printWhole(read.getKey()).in(InfixText::Atom);
      break;
    }
    case Kind::Write: {
      InfixText value = printer.printWhole(
          [&] { return printWritten(printer, *this, event); });
      std::string key =
          printer.printWhole(event.getWrite().getKey()).in(InfixText::Atom);
      os << "write  " << key << " " << value.in(InfixText::Atom) << "^T";
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
    os << "  o";
    if (numOutputs > 1)
      os << "#" << i;
    os << " = " << printer.printWhole(yield->getOperand(i)).text << "\n";
  }
}
