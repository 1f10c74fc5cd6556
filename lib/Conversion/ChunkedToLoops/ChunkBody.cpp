//===- ChunkBody.cpp - the region of a chunk, made ready for a CPU --------===//

#include "ChunkBody.h"

#include "../Common/ProductRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace linattn;

/// T R with T = (I - A)^{-1} that nothing else uses is solved for R: on a CPU
/// the triangular solve costs half of the inverse and its product.
static void applyInverses(RewriterBase &rewriter, ChunkedOp op) {
  SmallVector<linalg::MatmulOp> products;
  op.getBody().walk(
      [&](linalg::MatmulOp product) { products.push_back(product); });
  for (linalg::MatmulOp product : products) {
    auto inverse = product.getInputs()[0].getDefiningOp<UnitLowerSolveOp>();
    if (!inverse || !inverse.isInverse() || !inverse.getResult().hasOneUse() ||
        !matchPattern(product.getOutputs()[0], m_AnyZeroFloat()))
      continue;
    rewriter.setInsertionPoint(product);
    auto type = cast<RankedTensorType>(product.getResult(0).getType());
    Value init = tensor::EmptyOp::create(
        rewriter, product.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<UnitLowerSolveOp>(
        product, type, product.getInputs()[1], inverse.getMatrices(),
        ValueRange{}, init, inverse.getTransposed());
    rewriter.eraseOp(inverse);
  }
}

/// P U where P is 0 for later tokens: a block of 16 tokens at a time takes the
/// tokens up to it.
static void shortenProducts(RewriterBase &rewriter, ChunkedOp op) {
  constexpr int64_t kBlock = 16;
  SmallVector<linalg::MatmulOp> products;
  op.getBody().walk(
      [&](linalg::MatmulOp product) { products.push_back(product); });
  for (linalg::MatmulOp product : products) {
    Value p = product.getInputs()[0], u = product.getInputs()[1];
    Value rounded = p;
    while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(
        rounded.getDefiningOp()))
      rounded = rounded.getDefiningOp()->getOperand(0);
    auto decayed = rounded.getDefiningOp<DecayProductOp>();
    if (!decayed || op.getChunk() <= kBlock)
      continue;
    Location loc = product.getLoc();
    rewriter.setInsertionPoint(product);
    int64_t rows = kBlock * decayed.getXPositions().size();
    int64_t depth = kBlock * decayed.getYPositions().size();
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    auto times = [&](Value i, int64_t factor) -> Value {
      return arith::MulIOp::create(rewriter, loc, i, index(factor));
    };
    OpFoldResult zero = rewriter.getIndexAttr(0),
                 one = rewriter.getIndexAttr(1);
    OpFoldResult height = rewriter.getIndexAttr(rows);
    OpFoldResult width = rewriter.getIndexAttr(
        cast<RankedTensorType>(u.getType()).getDimSize(1));
    SmallVector<OpFoldResult> strides = {one, one};
    auto loop = scf::ForOp::create(rewriter, loc, index(0),
                                   index(op.getChunk() / kBlock), index(1),
                                   product.getOutputs());
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      Value i = loop.getInductionVar(), sums = loop.getRegionIterArg(0);
      OpFoldResult at = times(i, rows);
      OpFoldResult count =
          times(arith::AddIOp::create(rewriter, loc, i, index(1)), depth);
      auto slice = [&](Value from, ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes) -> Value {
        return tensor::ExtractSliceOp::create(rewriter, loc, from, offsets,
                                              sizes, strides);
      };
      Value block = slice(sums, {at, zero}, {height, width});
      Value inputs[] = {slice(p, {at, zero}, {height, count}),
                        slice(u, {zero, zero}, {count, width})};
      block = linalg::MatmulOp::create(rewriter, loc, block.getType(), inputs,
                                       block)
                  .getResult(0);
      Value next = tensor::InsertSliceOp::create(
          rewriter, loc, block, sums, ArrayRef<OpFoldResult>{at, zero},
          ArrayRef<OpFoldResult>{height, width}, strides);
      scf::YieldOp::create(rewriter, loc, next);
    }
    rewriter.replaceOp(product, loop.getResults());
  }
}

static LogicalResult decompose(RewriterBase &rewriter, ChunkedOp op) {
  SmallVector<linalg::AggregatedOpInterface> ops;
  op.getBody().walk([&](Operation *inner) {
    if (isa<DecayProductOp, DecayScanOp, UnitLowerSolveOp>(inner))
      ops.push_back(cast<linalg::AggregatedOpInterface>(inner));
  });
  for (linalg::AggregatedOpInterface inner : ops) {
    rewriter.setInsertionPoint(inner);
    FailureOr<SmallVector<Value>> values = inner.decomposeOperation(rewriter);
    if (failed(values))
      return inner->emitOpError("cannot be decomposed for a CPU");
    rewriter.replaceOp(inner, *values);
  }
  return success();
}

/// Whether the value is the mask of valid rows, in any shape.
static bool isValidMask(Value value, ChunkedOp op) {
  while (auto broadcast = value.getDefiningOp<linalg::BroadcastOp>())
    value = broadcast.getInput();
  return value == op.getValidArg();
}

/// Whether rows beyond the end are 0 because those of the tokens are.
static bool isZeroBehindEnd(Value value, ChunkedOp op) {
  if (llvm::is_contained(op.getTokenArgs(), value))
    return true;
  Operation *def = value.getDefiningOp();
  if (auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(def))
    return !llvm::is_contained(broadcast.getDimensions(), 0) &&
           isZeroBehindEnd(broadcast.getInput(), op);
  // 0 * 0: with a factor that may be inf or NaN there it would not be 0.
  return isa_and_nonnull<arith::ExtFOp, arith::TruncFOp, arith::NegFOp,
                         arith::MulFOp, arith::AddFOp, arith::SubFOp>(def) &&
         llvm::all_of(def->getOperands(), [&](Value operand) {
           return isZeroBehindEnd(operand, op);
         });
}

/// The loops pad the tokens with zeros: what is 0 there already needs no mask.
static void dropMasks(RewriterBase &rewriter, ChunkedOp op) {
  SmallVector<arith::SelectOp> selects;
  op.getBody().walk([&](arith::SelectOp select) {
    if (isValidMask(select.getCondition(), op) &&
        matchPattern(select.getFalseValue(), m_AnyZeroFloat()) &&
        isZeroBehindEnd(select.getTrueValue(), op))
      selects.push_back(select);
  });
  for (arith::SelectOp select : selects)
    rewriter.replaceOp(select, select.getTrueValue());
}

/// A broadcast for each use, as an operation that fuses with the elementwise
/// operation which uses it: none is ever stored.
static LogicalResult separateBroadcasts(RewriterBase &rewriter, ChunkedOp op) {
  SmallVector<linalg::BroadcastOp> broadcasts;
  op.getBody().walk(
      [&](linalg::BroadcastOp broadcast) { broadcasts.push_back(broadcast); });
  for (linalg::BroadcastOp broadcast : broadcasts) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : broadcast->getResult(0).getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses) {
      rewriter.setInsertionPoint(use->getOwner());
      auto copy =
          cast<linalg::BroadcastOp>(rewriter.clone(*broadcast.getOperation()));
      use->set(copy->getResult(0));
      if (failed(linalg::generalizeNamedOp(rewriter, copy)))
        return failure();
    }
    rewriter.eraseOp(broadcast);
  }
  return success();
}

LogicalResult linattn::prepareChunkBody(ChunkedOp op, bool keepRounding) {
  IRRewriter rewriter(op.getContext());
  auto simplify = [&] {
    DominanceInfo dominance(op);
    eliminateCommonSubExpressions(rewriter, dominance, op);
    for (Operation &inner :
         llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
      if (isOpTriviallyDead(&inner))
        rewriter.eraseOp(&inner);
  };
  dropMasks(rewriter, op);
  simplify();
  widenProducts(rewriter, op, keepRounding);
  if (!keepRounding)
    op.getBody().walk(
        [](DecayProductOp product) { product.setMma(MmaPrecision::F32); });
  simplify();
  applyInverses(rewriter, op);
  shortenProducts(rewriter, op);
  if (failed(decompose(rewriter, op)))
    return failure();
  simplify();
  fillConstants(rewriter, op);
  return separateBroadcasts(rewriter, op);
}
