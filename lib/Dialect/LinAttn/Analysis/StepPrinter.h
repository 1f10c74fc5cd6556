//===- StepPrinter.h - values of a step as infix text -----------*- C++ -*-===//

#ifndef LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_STEPPRINTER_H
#define LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_STEPPRINTER_H

#include "linattn/Dialect/LinAttn/Analysis/Coefficient.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

/// Text and how tightly its outermost operator binds.
struct InfixText {
  /// A negative text begins with its sign, of the whole product.
  enum Binding { Sum, Negative, Product, Atom };
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

  /// Gives a value the name, or one with a number behind it where that is
  /// taken; returns it.
  std::string setName(mlir::Value value, const std::string &name) {
    std::string unique = makeUnique(name);
    names[value] = unique;
    return unique;
  }
  std::string getStateName(unsigned state) const { return stateNames[state]; }

  InfixText print(mlir::Value value);
  InfixText print(const Coefficient *coefficient);

  /// Prints one expression; "..." where it is too long to be read.
  InfixText printWhole(llvm::function_ref<InfixText()> print) {
    budget = kLongest;
    InfixText text = print();
    return budget == 0 ? InfixText{"..."} : text;
  }
  InfixText printWhole(mlir::Value value) {
    return printWhole([&] { return print(value); });
  }

  static InfixText sum(const InfixText &x, const InfixText &y);
  static InfixText product(const InfixText &x, const InfixText &y);

private:
  /// Operations of one expression: a step can be written so that its text
  /// doubles with each line.
  static constexpr unsigned kLongest = 200;

  std::string makeUnique(const std::string &name) const;
  InfixText printOp(mlir::Operation *op);
  InfixText call(llvm::StringRef function, mlir::ValueRange arguments);

  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::SmallVector<std::string> stateNames;
  unsigned budget = kLongest;
};

} // namespace linattn

#endif // LINATTN_LIB_DIALECT_LINATTN_ANALYSIS_STEPPRINTER_H
