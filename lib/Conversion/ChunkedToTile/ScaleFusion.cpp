//===- ScaleFusion.cpp - one scale instead of two -------------------------===//
//
// A rate and a decay often scale the same rows one after the other. Their
// product is a vector, cheaper by a factor of the columns, and one vector less
// lives in registers.
//
//===----------------------------------------------------------------------===//

#include "DimClasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;

/// The operand of a product that is a broadcast vector, and the other one.
static std::pair<linalg::BroadcastOp, Value> findScale(arith::MulFOp product) {
  for (auto [a, b] : {std::pair(product.getLhs(), product.getRhs()),
                      std::pair(product.getRhs(), product.getLhs())})
    if (auto scale = a.getDefiningOp<linalg::BroadcastOp>())
      if (cast<RankedTensorType>(scale.getInput().getType()).getRank() == 1)
        return {scale, b};
  return {};
}

void linattn::chunked_to_tile::fuseScales(ChunkedOp op) {
  for (Operation &inner : llvm::make_early_inc_range(*op.getBlock())) {
    auto outer = dyn_cast<arith::MulFOp>(inner);
    if (!outer || cast<RankedTensorType>(outer.getType()).getRank() != 2)
      continue;
    auto [first, rest] = findScale(outer);
    auto product = first ? rest.getDefiningOp<arith::MulFOp>() : nullptr;
    if (!product || !product->hasOneUse())
      continue;
    auto [second, matrix] = findScale(product);
    if (!second || first.getDimensions() != second.getDimensions() ||
        first.getInput().getType() != second.getInput().getType())
      continue;
    OpBuilder builder(outer);
    Location loc = outer.getLoc();
    Value both = arith::MulFOp::create(builder, loc, first.getInput(),
                                       second.getInput());
    auto type = cast<RankedTensorType>(outer.getType());
    Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                         type.getElementType());
    Value scale = linalg::BroadcastOp::create(builder, loc, both, init,
                                              first.getDimensions())
                      ->getResult(0);
    outer.getLhsMutable().assign(scale);
    outer.getRhsMutable().assign(matrix);
    product.erase();
  }
}
