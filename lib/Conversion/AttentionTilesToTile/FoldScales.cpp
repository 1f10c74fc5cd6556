//===- FoldScales.cpp - scales of scores, off the elements ----------------===//

#include "FoldScales.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace linattn;

static std::optional<double> splatOf(Value value) {
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat())
    return std::nullopt;
  auto number = dyn_cast<FloatAttr>(dense.getSplatValue<Attribute>());
  return number ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

static Value makeSplat(OpBuilder &builder, Location loc, Type type,
                       double value) {
  auto tensor = cast<RankedTensorType>(type);
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(tensor, Attribute(builder.getFloatAttr(
                                         tensor.getElementType(), value))));
}

/// x and c of a matrix c x with a positive, finite constant c.
static std::optional<std::pair<Value, double>> scaled(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  for (auto [x, c] : {std::pair(product.getLhs(), product.getRhs()),
                      std::pair(product.getRhs(), product.getLhs())})
    if (std::optional<double> factor = splatOf(c);
        factor && *factor > 0 && std::isfinite(*factor))
      return std::pair(x, *factor);
  return std::nullopt;
}

static void foldSelect(arith::SelectOp select, Value allowed) {
  std::optional<double> other = splatOf(select.getFalseValue());
  auto inner = scaled(select.getTrueValue());
  if (select.getCondition() != allowed || !inner || !other ||
      *other != -std::numeric_limits<double>::infinity())
    return;
  OpBuilder builder(select);
  Location loc = select.getLoc();
  Value x = arith::SelectOp::create(builder, loc, allowed, inner->first,
                                    select.getFalseValue());
  Value c = makeSplat(builder, loc, x.getType(), inner->second);
  Value result = arith::MulFOp::create(builder, loc, x, c);
  select.replaceAllUsesWith(result);
  select.erase();
}

static void foldMaximum(linalg::ReduceOp reduce) {
  Block &combiner = reduce.getCombiner().front();
  if (reduce.getInputs().size() != 1 || combiner.getOperations().size() != 2 ||
      !isa<arith::MaximumFOp>(combiner.front()))
    return;
  auto inner = scaled(reduce.getInputs()[0]);
  if (!inner)
    return;
  OpBuilder builder(reduce);
  Location loc = reduce.getLoc();
  Value init = reduce.getInits()[0];
  Type type = init.getType();
  Value none =
      makeSplat(builder, loc, type, -std::numeric_limits<double>::infinity());
  Value factor = makeSplat(builder, loc, type, inner->second);
  auto maxima = cast<linalg::ReduceOp>(builder.clone(*reduce));
  maxima.getInputsMutable().assign(inner->first);
  maxima.getInitsMutable().assign(none);
  Value result =
      arith::MulFOp::create(builder, loc, maxima->getResult(0), factor);
  result = arith::MaximumFOp::create(builder, loc, result, init);
  reduce->getResult(0).replaceAllUsesWith(result);
  reduce->erase();
}

void linattn::attention_to_tile::foldScales(AttentionTilesOp op) {
  Block *step = op.getStepBlock();
  Value allowed = step->getArgument(AttentionTilesOp::kStepLeading - 1);
  for (Operation &inner : llvm::make_early_inc_range(*step)) {
    if (auto select = dyn_cast<arith::SelectOp>(inner))
      foldSelect(select, allowed);
    else if (auto reduce = dyn_cast<linalg::ReduceOp>(inner))
      foldMaximum(reduce);
  }
}
