//===- RemoveConversions.cpp - fewer and smaller layout conversions -------===//

#include "linattn/Dialect/Tile/IR/Layouts.h"
#include "linattn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace linattn::tile {
#define GEN_PASS_DEF_REMOVECONVERSIONSPASS
#include "linattn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace linattn::tile

using namespace mlir;
using namespace linattn::tile;

static RankedTensorType withLayout(Type type, Attribute layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                               layout);
}

/// The value in another layout if all of its elements are one; else none.
static Value remakeSplat(PatternRewriter &rewriter, Value value,
                         Attribute layout) {
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return tensor::SplatOp::create(rewriter, splat.getLoc(),
                                   withLayout(value.getType(), layout),
                                   splat.getInput(), ValueRange());
  SplatElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(
        rewriter, value.getLoc(),
        constant.resizeSplat(withLayout(value.getType(), layout)));
  return {};
}

static bool isSplat(Value value) {
  return value.getDefiningOp<tensor::SplatOp>() ||
         matchPattern(value, m_Constant<SplatElementsAttr>(nullptr));
}

static unsigned bitsOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
}

/// Elementwise arithmetic with one result, and operands of its shape.
static bool isElementwise(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || !isPure(op) ||
      op->getNumResults() != 1 || !isFragment(op->getResult(0).getType()))
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return llvm::all_of(op->getOperandTypes(), [&](Type operand) {
    return isFragment(operand) &&
           cast<RankedTensorType>(operand).getShape() == type.getShape();
  });
}

static Operation *cloneInLayout(PatternRewriter &rewriter, Operation *op,
                                ValueRange operands, Attribute layout) {
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *clone = rewriter.clone(*op, mapping);
  Value result = clone->getResult(0);
  result.setType(withLayout(result.getType(), layout));
  return clone;
}

namespace {
/// convert(splat) is a splat.
struct ConvertOfSplat : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getType());
    Value splat = remakeSplat(rewriter, op.getSource(), type.getEncoding());
    if (!splat)
      return failure();
    rewriter.replaceOp(op, splat);
    return success();
  }
};

/// convert(extf x) moves more bits than extf(convert x).
struct ConvertOfWidening : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op,
                                PatternRewriter &rewriter) const override {
    Operation *cast = op.getSource().getDefiningOp();
    if (!cast || !cast->hasOneUse() || cast->getNumOperands() != 1 ||
        !isElementwise(cast) ||
        bitsOf(cast->getOperand(0).getType()) >= bitsOf(op.getType()))
      return failure();
    Attribute layout = mlir::cast<RankedTensorType>(op.getType()).getEncoding();
    Value narrow = cast->getOperand(0);
    Value converted = ConvertOp::create(
        rewriter, op.getLoc(), withLayout(narrow.getType(), layout), narrow);
    rewriter.replaceOp(
        op, cloneInLayout(rewriter, cast, converted, layout)->getResults());
    return success();
  }
};

/// Arithmetic on converted values is done before the conversion where it is
/// cheaper there: where lanes hold fewer elements, or where several conversions
/// become one.
struct ElementwiseOfConverts : RewritePattern {
  explicit ElementwiseOfConverts(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    RankedTensorType source;
    SmallPtrSet<Operation *, 4> converts;
    unsigned bits = 0;
    for (Value operand : op->getOperands()) {
      bits = std::max(bits, bitsOf(operand.getType()));
      if (isSplat(operand))
        continue;
      auto convert = operand.getDefiningOp<ConvertOp>();
      if (!convert)
        return failure();
      auto type = cast<RankedTensorType>(convert.getSource().getType());
      if (source && source.getEncoding() != type.getEncoding())
        return failure();
      source = type;
      converts.insert(convert);
    }
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    // A widening would be undone by the pattern above.
    if (!source || bitsOf(type) > bits)
      return failure();
    // Conversions that others use too would stay.
    bool go = llvm::all_of(
        converts, [](Operation *convert) { return convert->hasOneUse(); });
    int64_t before = getElementsPerLane(type),
            after = getElementsPerLane(source);
    if (!(after < before && (go || converts.size() == 1)) &&
        !(after == before && go &&
          (converts.size() > 1 || bitsOf(type) < bits)))
      return failure();

    Attribute layout = source.getEncoding();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      if (auto convert = operand.getDefiningOp<ConvertOp>())
        operands.push_back(convert.getSource());
      else
        operands.push_back(remakeSplat(rewriter, operand, layout));
    Value result = cloneInLayout(rewriter, op, operands, layout)->getResult(0);
    rewriter.replaceOpWithNewOp<ConvertOp>(op, type, result);
    return success();
  }
};

struct RemoveConversionsPass
    : linattn::tile::impl::RemoveConversionsPassBase<RemoveConversionsPass> {
  using RemoveConversionsPassBase::RemoveConversionsPassBase;

  void runOnOperation() override {
    auto count = [&] {
      int64_t number = 0;
      getOperation()->walk([&](ConvertOp) { ++number; });
      return number;
    };
    int64_t before = count();
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertOfSplat, ConvertOfWidening, ElementwiseOfConverts>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    numRemoved += std::max<int64_t>(0, before - count());
  }
};
} // namespace
