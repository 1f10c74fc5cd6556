//===- TilePadding.cpp - rows and columns of tiles that do not exist ------===//

#include "TileEmitter.h"

#include "TokenRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Rows beyond the end
//===----------------------------------------------------------------------===//

bool linattn::chunked_to_tile::isZero(Value value) {
  DenseElementsAttr dense;
  if (!matchPattern(value, m_Constant(&dense)) || !dense.isSplat())
    return false;
  auto number = dyn_cast<FloatAttr>(dense.getSplatValue<Attribute>());
  return number && number.getValue().isPosZero();
}

/// Whether `mask` says, for each row, if the token exists.
static bool isValid(ChunkedOp op, Value mask) {
  if (auto broadcast = mask.getDefiningOp<linalg::BroadcastOp>())
    mask = broadcast.getInput();
  return mask == op.getValidArg();
}

bool TileEmitter::isZeroBeyond(Value value) {
  if (isa<BlockArgument>(value))
    return llvm::is_contained(op.getTokenArgs(), value);
  Operation *inner = value.getDefiningOp();
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp,
          tensor::ExtractSliceOp>(inner))
    return isZeroBeyond(inner->getOperand(0));
  if (auto broadcast = dyn_cast<linalg::BroadcastOp>(inner))
    return tensorOf(broadcast.getInput()).getRank() == 1 &&
           broadcast.getDimensions() == ArrayRef<int64_t>{1} &&
           isZeroBeyond(broadcast.getInput());
  // 0 * 0 and 0 + 0 are 0; 0 times what is beyond the end need not be.
  if (isa<arith::MulFOp, arith::AddFOp>(inner))
    return isZeroBeyond(inner->getOperand(0)) &&
           isZeroBeyond(inner->getOperand(1));
  auto select = dyn_cast<arith::SelectOp>(inner);
  return select && isValid(op, select.getCondition()) &&
         isZero(select.getFalseValue());
}

Value TileEmitter::strip(Value value) {
  while (true) {
    if (auto select = value.getDefiningOp<arith::SelectOp>()) {
      if (!isValid(op, select.getCondition()) ||
          !isZero(select.getFalseValue()) ||
          !isZeroBeyond(select.getTrueValue()))
        return value;
      value = select.getTrueValue();
      continue;
    }
    // What was widened for the mask alone, and is what it was.
    auto narrowed = value.getDefiningOp<arith::TruncFOp>();
    auto widened = narrowed
                       ? strip(narrowed.getIn()).getDefiningOp<arith::ExtFOp>()
                       : arith::ExtFOp();
    if (!widened || widened.getIn().getType() != value.getType())
      return value;
    value = widened.getIn();
  }
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

Value TileEmitter::iota(Attribute layout, int64_t size) {
  return tile::IotaOp::create(
      builder, loc, RankedTensorType::get({size}, builder.getI32Type(), layout),
      uint64_t(0));
}

bool TileEmitter::isZeroPadded(Value value, unsigned dim) {
  value = strip(value);
  RankedTensorType type = tensorOf(value);
  // A dimension that is cut combines with nothing.
  if (plan.cutClass == classes.get(value, dim) ||
      getTileSize(value, dim) == type.getDimSize(dim))
    return true;
  Operation *inner = value.getDefiningOp();
  if (!inner || isTokenTile(op, value))
    return true; // Tokens and states are filled with 0.
  if (isZero(value))
    return true;
  auto both = [&] {
    return llvm::all_of(inner->getOperands(), [&](Value operand) {
      return isZeroPadded(operand, dim);
    });
  };
  return llvm::TypeSwitch<Operation *, bool>(inner)
      .Case<arith::ExtFOp, arith::TruncFOp, arith::NegFOp, arith::AddFOp,
            arith::SubFOp, arith::MaximumFOp, arith::MinimumFOp>(
          [&](auto) { return both(); })
      .Case([&](arith::MulFOp product) {
        return isZeroPadded(product.getLhs(), dim) ||
               isZeroPadded(product.getRhs(), dim);
      })
      .Case([&](arith::SelectOp select) {
        return isZeroPadded(select.getTrueValue(), dim) &&
               isZeroPadded(select.getFalseValue(), dim);
      })
      .Case([&](linalg::TransposeOp transpose) {
        return isZeroPadded(transpose.getInput(),
                            transpose.getPermutation()[dim]);
      })
      .Case([&](linalg::MatmulOp matmul) {
        return isZeroPadded(matmul.getInputs()[dim], dim) &&
               isZeroPadded(matmul.getOutputs()[0], dim);
      })
      .Default([](Operation *) { return false; });
}

Value TileEmitter::fillPadding(Value value, Value fragment, bool transposed,
                               unsigned dim, double filler) {
  RankedTensorType type = tensorOf(fragment);
  bool alongRows = (dim == 0) != transposed;
  RankedTensorType integers = type.clone(builder.getI32Type());
  Value at;
  if (alongRows)
    at = tile::SplatRowOp::create(
        builder, loc, integers,
        iota(tile::getRowType(type).getEncoding(), type.getDimSize(0)));
  else
    at = tile::SplatColOp::create(
        builder, loc, integers,
        iota(tile::getColType(type).getEncoding(), type.getDimSize(1)));
  Value inside = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, at,
      constant(integers, tensorOf(value).getDimSize(dim)));
  return arith::SelectOp::create(builder, loc, inside, fragment,
                                 constant(type, filler));
}

/// 0 beyond the sizes of a matrix, so that sums over it see nothing there.
Value TileEmitter::maskPadding(Value value, Value fragment, bool transposed) {
  for (unsigned dim : {0u, 1u})
    if (!isZeroPadded(value, dim))
      fragment = fillPadding(value, fragment, transposed, dim, 0);
  return fragment;
}
