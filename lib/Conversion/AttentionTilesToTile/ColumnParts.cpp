//===- ColumnParts.cpp - values too wide for registers --------------------===//

#include "ColumnParts.h"

#include "RegionEmitter.h"

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

static bool isMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2;
}

static int64_t widthOf(Value matrix) {
  return cast<RankedTensorType>(matrix.getType()).getDimSize(1);
}

/// What is made of nothing with columns: it is made again, as other values may
/// have the same one.
static bool isMade(Value value) {
  return isa_and_nonnull<arith::ConstantOp, tensor::EmptyOp, linalg::FillOp,
                         linalg::BroadcastOp>(value.getDefiningOp());
}

namespace {
/// Values of the regions with a column for each column of the values.
class ValueColumns {
public:
  explicit ValueColumns(AttentionTilesOp op) : op(op) {}

  /// Fails, with the reason in `why`, where columns meet each other.
  LogicalResult find();
  void narrow(int64_t width);

  std::string why;

private:
  LogicalResult fail(const Twine &reason) {
    why = reason.str();
    return failure();
  }
  void mark(Value value) {
    if (isMatrix(value) && !isMade(value))
      columns.insert(value);
  }
  LogicalResult visit(Operation *inner, Value value);
  LogicalResult checkMade(Value value);
  Value makeAgain(OpBuilder &builder, Value value, int64_t width);

  AttentionTilesOp op;
  llvm::SetVector<Value> columns;
};
} // namespace

LogicalResult ValueColumns::checkMade(Value value) {
  auto broadcast = value.getDefiningOp<linalg::BroadcastOp>();
  if (!broadcast ||
      cast<RankedTensorType>(broadcast.getInput().getType()).getRank() == 0 ||
      broadcast.getDimensions() == ArrayRef<int64_t>{1})
    return success();
  return fail("a vector over the value columns, as a norm's weight is");
}

/// Marks what has the columns of `value`, an operand or a result.
LogicalResult ValueColumns::visit(Operation *inner, Value value) {
  if (auto product = dyn_cast<linalg::MatmulOp>(inner)) {
    if (value == product.getInputs()[0])
      return fail("a product over the value columns");
    mark(product.getInputs()[1]);
    mark(product.getOutputs()[0]);
    mark(product->getResult(0));
    return checkMade(product.getOutputs()[0]);
  }
  if (isa<YieldOp>(inner))
    return success();
  if (isa<linalg::ReduceOp>(inner))
    return fail("a sum or maximum over the value columns, as a norm is");
  if (!isElementwise(inner))
    return fail("'" + inner->getName().getStringRef() +
                "' on the value columns");
  for (Value operand : inner->getOperands()) {
    mark(operand);
    if (isMatrix(operand) && failed(checkMade(operand)))
      return failure();
  }
  for (Value result : inner->getResults())
    mark(result);
  return success();
}

LogicalResult ValueColumns::find() {
  Block *step = op.getStepBlock(), *finish = op.getFinishBlock();
  auto yielded = step->getTerminator()->getOperands();
  for (auto [arg, next] : llvm::zip(op.getCarriedArgs(step), yielded)) {
    mark(arg);
    mark(next);
  }
  for (BlockArgument arg : op.getCarriedArgs(finish))
    mark(arg);
  for (size_t i = 0; i < columns.size(); ++i) {
    Value value = columns[i];
    if (Operation *inner = value.getDefiningOp()) {
      if (failed(visit(inner, value)))
        return failure();
    } else {
      auto args = cast<BlockArgument>(value).getOwner()->getArguments();
      unsigned first = AttentionTilesOp::kStepLeading + op.getQueries().size();
      unsigned number = cast<BlockArgument>(value).getArgNumber();
      if (value.getParentBlock() == step
              ? number < first
              : number < args.size() - op.getNumCarried())
        return fail("an operand of queries with the value columns");
    }
    for (Operation *user : value.getUsers())
      if (failed(visit(user, value)))
        return failure();
  }
  for (Value output : finish->getTerminator()->getOperands())
    if (isMatrix(output) && !columns.contains(output))
      return fail("an output without the value columns");
  for (Value value : columns)
    if (widthOf(value) != widthOf(columns.front()))
      return fail("values of several widths");
  return success();
}

Value ValueColumns::makeAgain(OpBuilder &builder, Value value, int64_t width) {
  auto type = cast<RankedTensorType>(value.getType());
  type = type.clone({type.getDimSize(0), width});
  Operation *inner = value.getDefiningOp();
  Location loc = inner->getLoc();
  if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
    auto dense = cast<DenseElementsAttr>(constant.getValue());
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, dense.getSplatValue<Attribute>()));
  }
  if (isa<tensor::EmptyOp>(inner))
    return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                   type.getElementType());
  if (auto fill = dyn_cast<linalg::FillOp>(inner))
    return linalg::FillOp::create(
               builder, loc, fill.getInputs()[0],
               makeAgain(builder, fill.getOutputs()[0], width))
        .getResult(0);
  auto broadcast = cast<linalg::BroadcastOp>(inner);
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  return linalg::BroadcastOp::create(builder, loc, broadcast.getInput(), init,
                                     broadcast.getDimensions())
      ->getResult(0);
}

void ValueColumns::narrow(int64_t width) {
  for (Value value : columns) {
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(type.clone({type.getDimSize(0), width}));
  }
  auto remake = [&](OpOperand &operand) {
    if (!isMatrix(operand.get()) || !isMade(operand.get()))
      return;
    OpBuilder builder(operand.getOwner());
    operand.set(makeAgain(builder, operand.get(), width));
  };
  for (Value value : columns) {
    Operation *inner = value.getDefiningOp();
    if (auto product = dyn_cast_or_null<linalg::MatmulOp>(inner))
      remake(product.getOutputsMutable()[0]);
    else if (inner)
      for (OpOperand &operand : inner->getOpOperands())
        remake(operand);
  }
}

/// Blocks that share a query tile at most: each makes all of its scores.
static constexpr int64_t kMaxParts = 4;

/// Parts of the value columns for blocks of their own, and narrows the regions
/// to one of them. Null, with the reason in `why`, if there are none.
static std::optional<int64_t> cutColumns(AttentionTilesOp op,
                                         std::string &why) {
  ValueColumns columns(op);
  if (failed(columns.find())) {
    why = "the regions have " + columns.why +
          " (compute it after the operation, or narrow the values)";
    return std::nullopt;
  }
  int64_t width = 0;
  for (BlockArgument arg : op.getCarriedArgs(op.getStepBlock()))
    if (isMatrix(arg))
      width = widthOf(arg);
  for (int64_t parts = 2; parts <= kMaxParts; parts *= 2)
    if (width % (parts * tile::kRowTile) == 0 &&
        countLeastRegisters(op, {parts, false}) <= kMaxRegisters) {
      columns.narrow(width / parts);
      return parts;
    }
  why = ("no 2 or 4 parts of " + Twine(width) +
         " columns are few enough multiples of 16 (pad the values to a "
         "multiple of 32 or 64, of at most 512)")
            .str();
  return std::nullopt;
}

FailureOr<WideValues>
linattn::attention_to_tile::shareWideValues(AttentionTilesOp op,
                                            bool splitKeys) {
  int64_t whole = countLeastRegisters(op, {}),
          inTurn = countLeastRegisters(op, {1, true});
  if (whole <= kMaxRegisters)
    return WideValues();
  std::string why = "keys come in parts (split-keys=0)";
  if (!splitKeys)
    if (std::optional<int64_t> parts = cutColumns(op, why))
      return WideValues{*parts, false};
  if (inTurn <= kMaxRegisters)
    return WideValues{1, true};
  InFlightDiagnostic error =
      op.emitOpError("is not lowered to tiles: the smallest ones need about ")
      << whole << " registers of a thread, which has " << kMaxRegisters
      << ", for a row of values";
  if (inTurn < whole)
    error << ", " << inTurn
          << " if carried values go over the keys one after another";
  return error << ", and the columns of these have no parts: " << why;
}
