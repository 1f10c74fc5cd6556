//===- StepPrinter.h - values of a step as infix text -----------*- C++ -*-===//

#ifndef LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_STEPPRINTER_H
#define LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_STEPPRINTER_H

#include "linattn/Dialect/LinAttn/Analysis/Coefficient.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

/// Text and how tightly its outermost operator binds.
struct InfixText {
  enum Binding { Sum, Product, Atom };
  std::string text;
  Binding binding = Atom;

  /// The text, in parentheses where it binds looser than `wanted`.
  std::string in(Binding wanted) const {
    return binding < wanted ? "(" + text + ")" : text;
  }
};

/// Prints values of a step in the names of the recurrence's operands. Rounding,
/// broadcasts and reshapes do not show.
class StepPrinter {
public:
  explicit StepPrinter(RecurrenceOp recurrence);

  void setName(mlir::Value value, std::string name) {
    names[value] = std::move(name);
  }
  std::string getStateName(unsigned state) const { return stateNames[state]; }

  InfixText print(mlir::Value value);
  InfixText print(const Coefficient *coefficient);

  /// A new expression may be as long as any other.
  void startExpression() { budget = kLongest; }

  static InfixText sum(InfixText x, InfixText y);
  static InfixText difference(InfixText x, InfixText y);
  static InfixText product(InfixText x, InfixText y);

private:
  /// Operations of one expression: a step can be written so that its text
  /// doubles with each line.
  static constexpr unsigned kLongest = 200;

  InfixText printOp(mlir::Operation *op);
  InfixText call(llvm::StringRef function, mlir::ValueRange arguments);
  std::string makeUnique(std::string name);

  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::SmallVector<std::string> stateNames;
  unsigned budget = kLongest;
};

} // namespace linattn

#endif // LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_STEPPRINTER_H
