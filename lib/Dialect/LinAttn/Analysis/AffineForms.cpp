//===- AffineForms.cpp - values of a step as c + sum_j b_j r_j ------------===//
//
// Part of linattn. A value that depends on the state is affine in reads while
// it is made from them by sums, by products and quotients with values free of
// the state, by selections with such a condition, by rounding, and by reshapes
// that keep the order of the value columns.
//
//===----------------------------------------------------------------------===//

#include "AffineForms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;
using Ref = CoefficientPool::Ref;

static constexpr StringLiteral kCouplesColumns =
    "it couples value columns, and each column of a write may use only its own "
    "column of a read";
static constexpr StringLiteral kNotAffine =
    "it is no affine function of a value that depends on the state";
static constexpr StringLiteral kMovesColumns =
    "it moves value columns, and each column of a write may use only its own "
    "column of a read";

const StateDependence *AffineForms::lookup(Value value) const {
  auto it = forms.find(value);
  return it == forms.end() ? nullptr : &it->second;
}

const StateDependence *AffineForms::lookupOperands(Operation *op) const {
  for (Value operand : op->getOperands())
    if (const StateDependence *found = lookup(operand))
      return found;
  return nullptr;
}

void AffineForms::addRead(Operation *read, unsigned event) {
  Form form;
  form.read = read;
  form.terms.push_back({event, pool.constant(1.0)});
  forms[read->getResult(0)] = std::move(form);
}

void AffineForms::addResults(Operation *op) {
  if (!lookupOperands(op))
    return;
  Form form = transfer(op);
  for (Value result : op->getResults())
    forms[result] = form;
}

Ref AffineForms::getFree(Value value) {
  FloatAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return pool.constant(scalar.getValueAsDouble());
  DenseFPElementsAttr vector;
  if (matchPattern(value, m_Constant(&vector)) && vector.isSplat())
    return pool.constant(
        cast<FloatAttr>(vector.getSplatValue<Attribute>()).getValueAsDouble());
  return pool.value(value, !uniform.isUniform(value));
}

AffineForms::Form AffineForms::get(Value value) {
  if (const StateDependence *known = lookup(value))
    return *known;
  Form form;
  form.constant = getFree(value);
  return form;
}

AffineForms::Form AffineForms::broken(Operation *op, StringRef reason) const {
  Form form;
  form.read = lookupOperands(op)->read;
  form.breaker = op;
  form.reason = reason;
  return form;
}

AffineForms::Form AffineForms::map(const Form &x, function_ref<Ref(Ref)> fn) {
  Form form;
  form.read = x.read;
  form.constant = fn(x.constant);
  for (StepEvent::Term term : x.terms)
    form.terms.push_back({term.read, fn(term.coefficient)});
  return form;
}

AffineForms::Form AffineForms::combine(const Form &x, const Form &y,
                                       function_ref<Ref(Ref, Ref)> fn) {
  Form form;
  form.read = x.read ? x.read : y.read;
  form.constant = fn(x.constant, y.constant);
  // Both lists are in the order of the reads.
  auto left = x.terms.begin(), right = y.terms.begin();
  while (left != x.terms.end() || right != y.terms.end()) {
    bool takeLeft = right == y.terms.end() ||
                    (left != x.terms.end() && left->read <= right->read);
    bool takeRight = left == x.terms.end() ||
                     (right != y.terms.end() && right->read <= left->read);
    unsigned read = takeLeft ? left->read : right->read;
    Ref a = takeLeft ? (left++)->coefficient : nullptr;
    Ref b = takeRight ? (right++)->coefficient : nullptr;
    form.terms.push_back({read, fn(a, b)});
  }
  return form;
}

AffineForms::Form AffineForms::mul(Operation *op, Value x, Value y) {
  if (lookup(x) && lookup(y))
    return broken(op, "it multiplies two values that depend on the state");
  if (!lookup(x) && !lookup(y)) {
    Form form;
    form.constant = pool.mul(getFree(x), getFree(y));
    return form;
  }
  // The factors keep their order, for those who read the result.
  bool dependsLeft = lookup(x);
  Ref factor = getFree(dependsLeft ? y : x);
  return map(get(dependsLeft ? x : y), [&](Ref part) {
    return dependsLeft ? pool.mul(part, factor) : pool.mul(factor, part);
  });
}

/// Elements of a scalar or fixed vector; none for other types.
static std::optional<int64_t> countElements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return isa<FloatType>(type) ? std::optional<int64_t>(1) : std::nullopt;
  if (vector.isScalable() || !isa<FloatType>(vector.getElementType()))
    return std::nullopt;
  return vector.getNumElements();
}

/// An operation on one source that keeps every element and their order, or
/// breaks the form for the given reason.
AffineForms::Form AffineForms::reshape(Operation *op, StringRef reason) {
  const StateDependence *source = lookup(op->getOperand(0));
  std::optional<int64_t> from = countElements(op->getOperand(0).getType());
  std::optional<int64_t> to = countElements(op->getResult(0).getType());
  if (!source || !from || from != to)
    return broken(op, reason);
  return *source;
}

static bool hasOneLongDimension(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && llvm::count_if(vector.getShape(),
                                  [](int64_t size) { return size != 1; }) <= 1;
}

AffineForms::Form AffineForms::transfer(Operation *op) {
  // A broken form stays as it was broken first.
  for (Value operand : op->getOperands())
    if (const StateDependence *form = lookup(operand); form && form->breaker)
      return *form;
  if (op->getNumResults() != 1 || !countElements(op->getResult(0).getType())) {
    if (isa<arith::CmpFOp>(op))
      return broken(op, "it compares a value that depends on the state");
    return broken(op, kNotAffine);
  }

  auto add = [&](Ref x, Ref y) { return pool.add(x, y); };
  return TypeSwitch<Operation *, Form>(op)
      .Case([&](arith::AddFOp op) {
        return combine(get(op.getLhs()), get(op.getRhs()), add);
      })
      .Case([&](arith::SubFOp op) {
        return combine(get(op.getLhs()), get(op.getRhs()),
                       [&](Ref x, Ref y) { return pool.sub(x, y); });
      })
      .Case([&](arith::NegFOp op) {
        return map(get(op.getOperand()), [&](Ref x) { return pool.neg(x); });
      })
      .Case([&](arith::MulFOp op) { return mul(op, op.getLhs(), op.getRhs()); })
      .Case([&](arith::DivFOp op) {
        if (lookup(op.getRhs()))
          return broken(op, "it divides by a value that depends on the state");
        Ref divisor = getFree(op.getRhs());
        return map(get(op.getLhs()),
                   [&](Ref x) { return pool.div(x, divisor); });
      })
      .Case<math::FmaOp>([&](math::FmaOp op) {
        Form product = mul(op, op.getA(), op.getB());
        return product.breaker ? product
                               : combine(product, get(op.getC()), add);
      })
      .Case<vector::FMAOp>([&](vector::FMAOp op) {
        Form product = mul(op, op.getLhs(), op.getRhs());
        return product.breaker ? product
                               : combine(product, get(op.getAcc()), add);
      })
      // Rounding is transparent: the normal form is what was meant before it.
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](Operation *op) { return get(op->getOperand(0)); })
      .Case([&](arith::SelectOp op) {
        Value condition = op.getCondition();
        if (lookup(condition))
          return broken(op, "its condition depends on the state");
        bool perColumn = !uniform.isUniform(condition);
        return combine(get(op.getTrueValue()), get(op.getFalseValue()),
                       [&](Ref x, Ref y) {
                         return pool.select(condition, perColumn, x, y);
                       });
      })
      .Case<vector::ShapeCastOp, vector::ExtractOp, vector::FromElementsOp,
            vector::ExtractStridedSliceOp>(
          [&](Operation *op) { return reshape(op, kMovesColumns); })
      .Case([&](vector::TransposeOp op) {
        if (!hasOneLongDimension(op.getType()))
          return broken(op, kMovesColumns);
        return reshape(op, kMovesColumns);
      })
      .Case([&](vector::BroadcastOp op) {
        return reshape(op, "it spreads a value that depends on the state over "
                           "value columns");
      })
      .Case<vector::InsertOp, vector::InsertStridedSliceOp, vector::ShuffleOp,
            vector::InterleaveOp, vector::DeinterleaveOp>(
          [&](Operation *op) { return broken(op, kMovesColumns); })
      .Case<vector::ReductionOp, vector::MultiDimReductionOp,
            vector::ContractionOp, vector::OuterProductOp, vector::ScanOp,
            L2NormOp>(
          [&](Operation *op) { return broken(op, kCouplesColumns); })
      .Default([&](Operation *op) { return broken(op, kNotAffine); });
}
