//===- ExpandSugar.cpp - expands the shorthand operations -----------------===//
//
// Part of linattn. With z = e^-|x|, which does not overflow:
//   sigmoid(x)  = (x >= 0 ? 1 : z) / (1 + z)
//   softplus(x) = max(x, 0) + log1p(z)
//   silu(x)     = max(x, lowest) sigmoid(x), as -inf * 0 is NaN
//   l2norm(x)   = x rsqrt(sum x^2 + eps)
//   delta       = S + k (beta (v - S^T k))^T
// in f32 for 16-bit operands, else in the operands' type.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/LinAttn/Transforms/ExpandSugar.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/StepBuilders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace linattn {
#define GEN_PASS_DEF_EXPANDSUGARPASS
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

/// z = e^-|x|, in (0, 1].
static Value expOfMinusAbs(OpBuilder &builder, Location loc, Value x) {
  Value abs = math::AbsFOp::create(builder, loc, x);
  Value minus = arith::NegFOp::create(builder, loc, abs);
  return math::ExpOp::create(builder, loc, minus);
}

static Value expandSigmoid(OpBuilder &builder, Location loc, Value x) {
  Value z = expOfMinusAbs(builder, loc, x);
  Value zero = constantLike(builder, loc, x.getType(), 0.0);
  Value one = constantLike(builder, loc, x.getType(), 1.0);
  Value isPositive =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGE, x, zero);
  Value numerator = arith::SelectOp::create(builder, loc, isPositive, one, z);
  Value denominator = arith::AddFOp::create(builder, loc, one, z);
  return arith::DivFOp::create(builder, loc, numerator, denominator);
}

static Value expandSoftplus(OpBuilder &builder, Location loc, Value x) {
  Value z = expOfMinusAbs(builder, loc, x);
  Value zero = constantLike(builder, loc, x.getType(), 0.0);
  // maximumf, not maxnumf: NaN stays NaN.
  Value linear = arith::MaximumFOp::create(builder, loc, x, zero);
  Value rest = math::Log1pOp::create(builder, loc, z);
  return arith::AddFOp::create(builder, loc, linear, rest);
}

static Value expandSiLU(OpBuilder &builder, Location loc, Value x) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(getElementTypeOrSelf(x.getType())).getFloatSemantics();
  Value lowest =
      constantLike(builder, loc, x.getType(),
                   APFloat::getLargest(semantics, /*Negative=*/true));
  Value finite = arith::MaximumFOp::create(builder, loc, x, lowest);
  Value sigmoid = expandSigmoid(builder, loc, x);
  return arith::MulFOp::create(builder, loc, finite, sigmoid);
}

namespace {
/// An elementwise operation through `expand`, which sees f32 or f64.
template <typename OpTy, Value (*expand)(OpBuilder &, Location, Value)>
struct ExpandUnary : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type own = getElementTypeOrSelf(op.getOperand().getType());
    Type compute = own.isF64() ? own : Type(rewriter.getF32Type());
    Value x = convertElements(rewriter, loc, op.getOperand(), compute);
    Value y = expand(rewriter, loc, x);
    rewriter.replaceOp(op, convertElements(rewriter, loc, y, own));
    return success();
  }
};

struct ExpandL2Norm : OpRewritePattern<L2NormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(L2NormOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type compute = getElementTypeOrSelf(op.getType());
    Value x = convertElements(rewriter, loc, op.getOperand(), compute);
    Value square = arith::MulFOp::create(rewriter, loc, x, x);
    // The order of the sum is no part of the equation.
    Value sum =
        vector::ReductionOp::create(rewriter, loc, vector::CombiningKind::ADD,
                                    square, arith::FastMathFlags::reassoc);
    Value eps = constantLike(rewriter, loc, compute, op.getEps());
    Value shifted = arith::AddFOp::create(rewriter, loc, sum, eps);
    Value inverse = math::RsqrtOp::create(rewriter, loc, shifted);
    Value factor =
        vector::BroadcastOp::create(rewriter, loc, op.getType(), inverse);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, x, factor);
    return success();
  }
};

struct ExpandDeltaUpdate : OpRewritePattern<DeltaUpdateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DeltaUpdateOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    StateType state = op.getState().getType();
    Type compute = state.getComputeType();
    Value read = ReadOp::create(rewriter, loc, op.getState(), op.getKey(),
                                /*scale=*/FloatAttr());
    Value value = convertElements(rewriter, loc, op.getValue(), compute);
    Value error = arith::SubFOp::create(rewriter, loc, value, read);
    Value rate = convertElements(rewriter, loc, op.getRate(), compute);
    if (!isa<VectorType>(rate.getType()))
      rate =
          vector::BroadcastOp::create(rewriter, loc, state.getReadType(), rate);
    Value update = arith::MulFOp::create(rewriter, loc, rate, error);
    rewriter.replaceOpWithNewOp<WriteOp>(op, state, op.getState(), op.getKey(),
                                         update);
    return success();
  }
};

struct ExpandSugarPass : linattn::impl::ExpandSugarPassBase<ExpandSugarPass> {
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) { numExpanded += isSugar(op); });
    RewritePatternSet patterns(&getContext());
    populateExpandSugarPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

/// A number that is written with more digits than it is used with: the folder
/// of upstream leaves it where digits are lost.
struct RoundConstant : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr number;
    auto type = dyn_cast<FloatType>(op.getType());
    if (!type || !matchPattern(op.getIn(), m_Constant(&number)))
      return failure();
    APFloat value = number.getValue();
    bool losesInfo;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    Operation *constant = op.getIn().getDefiningOp();
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, rewriter.getFloatAttr(type, value));
    if (constant->use_empty())
      rewriter.eraseOp(constant);
    return success();
  }
};
} // namespace

bool linattn::isSugar(Operation *op) {
  return isa<DeltaUpdateOp, SigmoidOp, SoftplusOp, SiLUOp, L2NormOp>(op);
}

void linattn::populateExpandDeltaUpdatePatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandDeltaUpdate>(patterns.getContext());
}

void linattn::populateExpandSugarPatterns(RewritePatternSet &patterns) {
  populateExpandDeltaUpdatePatterns(patterns);
  patterns.add<ExpandUnary<SigmoidOp, expandSigmoid>,
               ExpandUnary<SoftplusOp, expandSoftplus>,
               ExpandUnary<SiLUOp, expandSiLU>, ExpandL2Norm, RoundConstant>(
      patterns.getContext());
}
