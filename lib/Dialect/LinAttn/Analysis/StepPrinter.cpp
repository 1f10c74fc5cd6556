//===- StepPrinter.cpp - values of a step as infix text -------------------===//

#include "StepPrinter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace linattn;

static std::string formatNumber(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

/// The `linattn.name` behind an operand; empty where there is none.
static std::string findName(Value operand) {
  if (Operation *op = operand.getDefiningOp()) {
    if (auto conv = dyn_cast<ShortConvOp>(op)) {
      std::string input = findName(conv.getInput());
      return input.empty() ? input : "conv(" + input + ")";
    }
    if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      return findName(op->getOperand(0));
    return {};
  }
  auto arg = cast<BlockArgument>(operand);
  auto function =
      dyn_cast_or_null<FunctionOpInterface>(arg.getOwner()->getParentOp());
  if (!function || !arg.getOwner()->isEntryBlock())
    return {};
  auto name =
      function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kArgNameAttr);
  return name ? name.str() : std::string();
}

StepPrinter::StepPrinter(RecurrenceOp recurrence) {
  auto nameAll = [&](ValueRange operands, Block::BlockArgListType args,
                     StringRef fallback) {
    for (auto [i, operand, arg] : llvm::enumerate(operands, args)) {
      std::string name = findName(operand);
      if (name.empty())
        name = fallback.str() + std::to_string(i);
      names[arg] = makeUnique(name);
    }
  };
  nameAll(recurrence.getTokens(), recurrence.getTokenArgs(), "token");
  nameAll(recurrence.getParams(), recurrence.getParamArgs(), "param");
  for (auto [i, state] : llvm::enumerate(recurrence.getStates())) {
    // One state is S, as everywhere; of several, the initial value s0 names s.
    std::string name = "S";
    if (recurrence.getNumStates() > 1) {
      name = findName(state);
      if (name.size() > 1 && name.back() == '0')
        name.pop_back();
      if (name.empty())
        name = "S" + std::to_string(i);
    }
    stateNames.push_back(makeUnique(name));
  }
}

std::string StepPrinter::makeUnique(std::string name) {
  auto isTaken = [&](const std::string &candidate) {
    return llvm::is_contained(stateNames, candidate) ||
           llvm::any_of(names,
                        [&](auto &entry) { return entry.second == candidate; });
  };
  std::string candidate = name;
  for (unsigned i = 1; isTaken(candidate); ++i)
    candidate = name + "_" + std::to_string(i);
  return candidate;
}

InfixText StepPrinter::sum(InfixText x, InfixText y) {
  return {x.text + " + " + y.text, InfixText::Sum};
}
InfixText StepPrinter::difference(InfixText x, InfixText y) {
  return {x.text + " - " + y.in(InfixText::Product), InfixText::Sum};
}
InfixText StepPrinter::product(InfixText x, InfixText y) {
  return {x.in(InfixText::Product) + " * " + y.in(InfixText::Product),
          InfixText::Product};
}
static InfixText quotient(InfixText x, InfixText y) {
  return {x.in(InfixText::Product) + " / " + y.in(InfixText::Atom),
          InfixText::Product};
}
static InfixText negative(InfixText x) {
  // Looser than a product, so that a factor gets parentheses.
  return {"-" + x.in(InfixText::Product), InfixText::Sum};
}

static InfixText choice(InfixText condition, InfixText x, InfixText y) {
  return {"(" + condition.text + " ? " + x.text + " : " + y.text + ")",
          InfixText::Atom};
}

InfixText StepPrinter::print(const Coefficient *coefficient) {
  if (!coefficient)
    return {"0"};
  if (budget == 0)
    return {"..."};
  --budget;
  auto lhs = [&] { return print(coefficient->lhs); };
  auto rhs = [&] { return print(coefficient->rhs); };
  switch (coefficient->kind) {
  case Coefficient::Kind::Value:
    return print(coefficient->value);
  case Coefficient::Kind::Constant:
    return {formatNumber(coefficient->constant),
            coefficient->constant < 0 ? InfixText::Sum : InfixText::Atom};
  case Coefficient::Kind::Neg:
    return negative(lhs());
  case Coefficient::Kind::Add: {
    InfixText x = lhs();
    if (coefficient->rhs->kind == Coefficient::Kind::Neg)
      return difference(x, print(coefficient->rhs->lhs));
    return sum(x, rhs());
  }
  case Coefficient::Kind::Mul: {
    InfixText x = lhs();
    return product(x, rhs());
  }
  case Coefficient::Kind::Div: {
    InfixText x = lhs();
    return quotient(x, rhs());
  }
  case Coefficient::Kind::Select: {
    InfixText condition = print(coefficient->value);
    InfixText x = lhs();
    return choice(condition, x, rhs());
  }
  }
  return {};
}

InfixText StepPrinter::print(Value value) {
  if (auto name = names.find(value); name != names.end())
    return {name->second};
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    if (auto number = dyn_cast<FloatAttr>(constant)) {
      double x = number.getValueAsDouble();
      return {formatNumber(x), x < 0 ? InfixText::Sum : InfixText::Atom};
    }
    if (auto number = dyn_cast<IntegerAttr>(constant)) {
      SmallString<16> digits;
      number.getValue().toStringSigned(digits);
      return {digits.str().str()};
    }
    return {"constant"};
  }
  Operation *op = value.getDefiningOp();
  if (!op || budget == 0)
    return {"..."};
  --budget;
  return printOp(op);
}

InfixText StepPrinter::call(StringRef function, ValueRange arguments) {
  std::string text = function.str() + "(";
  llvm::ListSeparator separator;
  for (Value argument : arguments) {
    text += StringRef(separator).str();
    text += print(argument).text;
  }
  return {text + ")"};
}

static StringRef getSymbol(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OEQ:
  case P::UEQ:
    return " == ";
  case P::OGT:
  case P::UGT:
    return " > ";
  case P::OGE:
  case P::UGE:
    return " >= ";
  case P::OLT:
  case P::ULT:
    return " < ";
  case P::OLE:
  case P::ULE:
    return " <= ";
  case P::ONE:
  case P::UNE:
    return " != ";
  default:
    return {};
  }
}

InfixText StepPrinter::printOp(Operation *op) {
  auto operand = [&](unsigned i) { return print(op->getOperand(i)); };
  auto binary = [&](auto combine) {
    InfixText x = operand(0);
    return combine(x, operand(1));
  };
  return TypeSwitch<Operation *, InfixText>(op)
      .Case<arith::AddFOp>([&](Operation *) { return binary(sum); })
      .Case<arith::SubFOp>([&](Operation *) { return binary(difference); })
      .Case<arith::MulFOp>([&](Operation *) { return binary(product); })
      .Case<arith::DivFOp>([&](Operation *) { return binary(quotient); })
      .Case<arith::NegFOp>([&](Operation *) { return negative(operand(0)); })
      .Case<math::FmaOp, vector::FMAOp>([&](Operation *) {
        InfixText x = binary(product);
        return sum(x, operand(2));
      })
      .Case<arith::ExtFOp, arith::TruncFOp, vector::BroadcastOp,
            vector::ShapeCastOp>([&](Operation *) { return operand(0); })
      .Case([&](arith::SelectOp) {
        InfixText condition = operand(0);
        InfixText x = operand(1);
        return choice(condition, x, operand(2));
      })
      .Case([&](arith::CmpFOp cmp) {
        StringRef symbol = getSymbol(cmp.getPredicate());
        if (symbol.empty())
          return call("cmp", op->getOperands());
        InfixText x = operand(0);
        return InfixText{x.text + symbol.str() + operand(1).text,
                         InfixText::Sum};
      })
      .Case([&](vector::ExtractOp extract) {
        InfixText source = operand(0);
        if (extract.getSourceVectorType().getNumElements() == 1)
          return source;
        std::string text = source.in(InfixText::Atom) + "[";
        llvm::ListSeparator separator;
        for (OpFoldResult position : extract.getMixedPosition()) {
          text += StringRef(separator).str();
          if (auto index = dyn_cast<Attribute>(position))
            text += std::to_string(cast<IntegerAttr>(index).getInt());
          else
            text += print(cast<Value>(position)).text;
        }
        return InfixText{text + "]"};
      })
      .Case([&](vector::ReductionOp reduction) {
        using K = vector::CombiningKind;
        K kind = reduction.getKind();
        StringRef name = kind == K::ADD                              ? "sum"
                         : kind == K::MUL                            ? "prod"
                         : kind == K::MAXIMUMF || kind == K::MAXNUMF ? "max"
                         : kind == K::MINIMUMF || kind == K::MINNUMF ? "min"
                                                                     : "reduce";
        return call(name, op->getOperands());
      })
      .Case([&](ReadOp read) {
        return InfixText{"read(" + print(read.getKey()).text + ")"};
      })
      .Default([&](Operation *) {
        StringRef name = op->getName().stripDialect();
        name = llvm::StringSwitch<StringRef>(name)
                   .Cases({"maximumf", "maxnumf"}, "max")
                   .Cases({"minimumf", "minnumf"}, "min")
                   .Case("absf", "abs")
                   .Case("powf", "pow")
                   .Default(name);
        return call(name, op->getOperands());
      });
}
