//===- Exponentials.cpp - weights of scores, and their rescaling ----------===//

#include "RegionEmitter.h"

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

static constexpr double kLog2E = 1.4426950408889634;
/// From where on a row's shift is taken off its rounded scores. Below, what the
/// shift's own rounding does to weights is less than 3e-4: rounding the scores
/// of such rows to f32 costs as much.
static constexpr double kLargeShift = 1024;
/// Scales between this and its inverse have inverses that f32 holds well, and
/// so are scores divided by them.
static constexpr double kLeastFactor = 0x1p-64;

Value linattn::attention_to_tile::perRow(Value value) {
  auto broadcast = value.getDefiningOp<linalg::BroadcastOp>();
  bool isRow =
      broadcast &&
      cast<RankedTensorType>(broadcast.getInput().getType()).getRank() == 1 &&
      broadcast.getDimensions() == ArrayRef<int64_t>{1};
  return isRow ? broadcast.getInput() : Value();
}

/// Rows times factors that are 1 in most steps: how much maxima have grown.
Value RegionEmitter::rescale(Value matrix, Value factors) {
  Value one = constant(factors.getType(), 1);
  Value changed = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                        factors, one);
  Value any =
      tile::WarpAnyOp::create(builder, loc, builder.getI1Type(), changed);
  auto branch = scf::IfOp::create(builder, loc, TypeRange{matrix.getType()},
                                  any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value splats =
      tile::SplatRowOp::create(builder, loc, matrix.getType(), factors);
  Value product = arith::MulFOp::create(builder, loc, matrix, splats);
  scf::YieldOp::create(builder, loc, product);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, matrix);
  return branch.getResult(0);
}

/// x - v of each row with x = c y: 2^(c' y - v'), one multiply-add an element,
/// where c' = c log2 e and v' = v log2 e. What rounding c' and v' takes off is
/// a factor that all elements of a row share, 2^(2^-22 v') at most, as products
/// of a multiply-add are exact: see shiftLargeRows.
Value RegionEmitter::exponential(math::ExpOp exp) {
  RankedTensorType type = fragmentTypeOf(exp.getResult());
  Value x = exp.getOperand();
  Value exponent;
  if (auto difference = x.getDefiningOp<arith::SubFOp>())
    if (Value subtrahend = perRow(difference.getRhs())) {
      Value y = difference.getLhs();
      double factor = 1;
      if (auto product = y.getDefiningOp<arith::MulFOp>())
        if (std::optional<double> c = numberOf(product.getRhs());
            c && *c >= kLeastFactor && *c <= 1 / kLeastFactor) {
          y = product.getLhs();
          factor = *c;
        }
      Value matrix = getFragment(y);
      Value vector = getVector(subtrahend, /*alongRows=*/true);
      std::tie(matrix, vector) = shiftLargeRows(matrix, vector, factor);
      vector = arith::MulFOp::create(builder, loc, vector,
                                     constant(vector.getType(), -kLog2E));
      exponent = math::FmaOp::create(
          builder, loc, matrix, constant(type, factor * kLog2E),
          tile::SplatRowOp::create(builder, loc, type, vector));
    }
  if (!exponent)
    exponent = arith::MulFOp::create(builder, loc, getFragment(x),
                                     constant(type, kLog2E));
  return math::Exp2Op::create(builder, loc, exponent,
                              arith::FastMathFlags::afn);
}

/// Rows whose v is large become y' = (c y - v) / c and v = 0, where c y is
/// rounded as it was for v: the element that v is of gives 0, however large.
/// Such rows are rare, so that others pay a comparison per row and a branch.
std::pair<Value, Value>
RegionEmitter::shiftLargeRows(Value matrix, Value vector, double factor) {
  Type type = matrix.getType(), rows = vector.getType();
  auto isLarge = [&](Value of) -> Value {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                                 math::AbsFOp::create(builder, loc, of),
                                 constant(of.getType(), kLargeShift));
  };
  Value any = tile::WarpAnyOp::create(builder, loc, builder.getI1Type(),
                                      isLarge(vector));
  auto branch = scf::IfOp::create(builder, loc, TypeRange{type, rows}, any,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, ValueRange{matrix, vector});
  builder.setInsertionPointToStart(branch.thenBlock());
  Value splats = tile::SplatRowOp::create(builder, loc, type, vector);
  Value scaled =
      arith::MulFOp::create(builder, loc, matrix, constant(type, factor));
  Value shifted = arith::MulFOp::create(
      builder, loc, arith::SubFOp::create(builder, loc, scaled, splats),
      constant(type, 1 / factor));
  Value elements =
      arith::SelectOp::create(builder, loc, isLarge(splats), shifted, matrix);
  Value rest = arith::SelectOp::create(builder, loc, isLarge(vector),
                                       constant(rows, 0), vector);
  scf::YieldOp::create(builder, loc, ValueRange{elements, rest});
  return {branch.getResult(0), branch.getResult(1)};
}
