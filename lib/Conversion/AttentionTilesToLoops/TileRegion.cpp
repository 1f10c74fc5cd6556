//===- TileRegion.cpp - regions on tiles, made ready for a CPU ------------===//

#include "TileRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace linattn;

/// The value of a 16-bit operand of a product in the arithmetic type: rounded
/// if its rounding counts, else what was rounded.
static Value widenOperand(RewriterBase &rewriter, Value operand, Type element,
                          bool keepRounding) {
  if (!keepRounding)
    if (auto rounding = operand.getDefiningOp<arith::TruncFOp>())
      if (getElementTypeOrSelf(rounding.getIn().getType()) == element)
        return rounding.getIn();
  auto type = cast<RankedTensorType>(operand.getType());
  if (type.getElementType() == element)
    return operand;
  return arith::ExtFOp::create(rewriter, operand.getLoc(), type.clone(element),
                               operand);
}

static void widenProducts(RewriterBase &rewriter, Operation *op,
                          bool keepRounding) {
  SmallVector<linalg::MatmulOp> products;
  op->walk([&](linalg::MatmulOp product) { products.push_back(product); });
  for (linalg::MatmulOp product : products) {
    Type element = getElementTypeOrSelf(product.getResult(0).getType());
    rewriter.setInsertionPoint(product);
    SmallVector<Value> inputs;
    for (Value input : product.getInputs())
      inputs.push_back(widenOperand(rewriter, input, element, keepRounding));
    rewriter.replaceOpWithNewOp<linalg::MatmulOp>(
        product, product->getResultTypes(), inputs, product.getOutputs());
  }
}

/// Constants that an operation adds to would be copied from memory each time.
static void fillConstants(RewriterBase &rewriter, Operation *op) {
  SmallVector<OpOperand *> inits;
  op->walk([&](DestinationStyleOpInterface inner) {
    for (OpOperand &init : inner.getDpsInitsMutable())
      inits.push_back(&init);
  });
  for (OpOperand *init : inits) {
    DenseElementsAttr value;
    if (!matchPattern(init->get(), m_Constant(&value)) || !value.isSplat())
      continue;
    Operation *user = init->getOwner();
    rewriter.setInsertionPoint(user);
    Location loc = user->getLoc();
    Value number = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(value.getSplatValue<Attribute>()));
    Value empty = tensor::EmptyOp::create(
        rewriter, loc, value.getType().getShape(), value.getElementType());
    init->set(
        linalg::FillOp::create(rewriter, loc, number, empty).getResult(0));
  }
}

LogicalResult linattn::prepareTileRegions(Operation *op, bool keepRounding) {
  IRRewriter rewriter(op->getContext());
  widenProducts(rewriter, op, keepRounding);
  DominanceInfo dominance(op);
  eliminateCommonSubExpressions(rewriter, dominance, op);
  fillConstants(rewriter, op);
  SmallVector<linalg::BroadcastOp> broadcasts;
  op->walk(
      [&](linalg::BroadcastOp broadcast) { broadcasts.push_back(broadcast); });
  for (linalg::BroadcastOp broadcast : broadcasts) {
    rewriter.setInsertionPoint(broadcast);
    if (failed(linalg::generalizeNamedOp(rewriter, broadcast)))
      return failure();
  }
  return success();
}
