//===- ProductRegion.cpp - products of a region, ready for a CPU ----------===//

#include "ProductRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace linattn;

static Value widenOperand(RewriterBase &rewriter, Value operand, Type element,
                          bool keepRounding) {
  auto type = cast<RankedTensorType>(operand.getType());
  if (type.getElementType() == element)
    return operand;
  Location loc = operand.getLoc();
  if (!keepRounding) {
    if (auto rounding = operand.getDefiningOp<arith::TruncFOp>())
      if (getElementTypeOrSelf(rounding.getIn().getType()) == element)
        return rounding.getIn();
    if (auto transpose = operand.getDefiningOp<linalg::TransposeOp>()) {
      Value source =
          widenOperand(rewriter, transpose.getInput(), element, keepRounding);
      Value init =
          tensor::EmptyOp::create(rewriter, loc, type.getShape(), element);
      return linalg::TransposeOp::create(rewriter, loc, source, init,
                                         transpose.getPermutation())
          ->getResult(0);
    }
  }
  return arith::ExtFOp::create(rewriter, loc, type.clone(element), operand);
}

/// The second term of an operand in two: what rounding the first one took away.
static bool isRest(Value operand) {
  while (auto transpose = operand.getDefiningOp<linalg::TransposeOp>())
    operand = transpose.getInput();
  auto rounding = operand.getDefiningOp<arith::TruncFOp>();
  auto rest =
      rounding ? rounding.getIn().getDefiningOp<arith::SubFOp>() : nullptr;
  auto first = rest ? rest.getRhs().getDefiningOp<arith::ExtFOp>() : nullptr;
  auto rounded =
      first ? first.getIn().getDefiningOp<arith::TruncFOp>() : nullptr;
  return rounded && rounded.getIn() == rest.getLhs();
}

void linattn::widenProducts(RewriterBase &rewriter, Operation *op,
                            bool keepRounding) {
  SmallVector<linalg::MatmulOp> products;
  op->walk([&](linalg::MatmulOp product) { products.push_back(product); });
  for (linalg::MatmulOp product : products) {
    // The first term is the whole operand where it is not rounded.
    if (!keepRounding && llvm::any_of(product.getInputs(), isRest)) {
      rewriter.replaceOp(product, product.getOutputs());
      continue;
    }
    Type element = getElementTypeOrSelf(product.getResult(0).getType());
    rewriter.setInsertionPoint(product);
    SmallVector<Value> inputs;
    for (Value input : product.getInputs())
      inputs.push_back(widenOperand(rewriter, input, element, keepRounding));
    if (!llvm::equal(inputs, product.getInputs()))
      rewriter.replaceOpWithNewOp<linalg::MatmulOp>(
          product, product->getResultTypes(), inputs, product.getOutputs());
  }
}

void linattn::fillConstants(RewriterBase &rewriter, Operation *op) {
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
