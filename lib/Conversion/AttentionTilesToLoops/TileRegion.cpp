//===- TileRegion.cpp - regions on tiles, made ready for a CPU ------------===//

#include "TileRegion.h"

#include "../Common/ProductRegion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace linattn;

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
