//===- ExpandMath.cpp - math functions as f32 arithmetic ------------------===//
//
// See the description of the pass in Passes.td.
//
//   e^x = 2^n e^r,  n = round(x log2 e),  r = x - n ln 2 in two parts,
//   e^r = 1 + (r + r^2 q(r)),  |r| <= ln 2 / 2
//
// q is the minimax polynomial of degree 4 (relative error of e^r 3e-9, a
// twentieth of half an ulp), so that only the last addition rounds: errors have
// no preferred sign, and a decay that is applied thousands of times does not
// drift as it does with the hardware's ex2.approx.
//
//===----------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace linattn {
#define GEN_PASS_DEF_EXPANDMATH
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

/// Short names for f32 and i32 arithmetic at one place, on numbers or on
/// vectors of the type of `like`.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;
  Type like;

  Type withElement(Type element) {
    if (auto vector = dyn_cast<VectorType>(like))
      return vector.clone(element);
    return element;
  }
  Value constant(TypedAttr number) {
    if (auto vector = dyn_cast<VectorType>(withElement(number.getType())))
      number = DenseElementsAttr::get(vector, number);
    return arith::ConstantOp::create(builder, loc, number);
  }
  Value f(float number) { return constant(builder.getF32FloatAttr(number)); }
  Value i(int32_t number) {
    return constant(builder.getI32IntegerAttr(number));
  }
  Value fma(Value a, Value b, Value c) {
    return math::FmaOp::create(builder, loc, a, b, c);
  }
  Value mul(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return arith::SubFOp::create(builder, loc, a, b);
  }
  Value bits(Value x) {
    return arith::BitcastOp::create(builder, loc,
                                    withElement(builder.getI32Type()), x);
  }
};

/// Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
constexpr float kRound = 12582912.0f;
constexpr int32_t kRoundBits = 0x4b400000;

/// x within [low, high]; NaN stays NaN.
Value clampKeepingNaN(Arithmetic a, Value x, float low, float high) {
  x = arith::MaximumFOp::create(a.builder, a.loc, x, a.f(low));
  return arith::MinimumFOp::create(a.builder, a.loc, x, a.f(high));
}

/// 2^n e^r; `shifted` is n + kRound.
Value scaledExp(Arithmetic a, Value shifted, Value r) {
  Value q = a.f(0.0013814539415761828f);
  for (float c : {0.00836874544620514f, 0.04166838899254799f,
                  0.1666652113199234f, 0.4999999403953552f})
    q = a.fma(q, r, a.f(c));
  Value square = a.mul(r, r);
  Value rest = a.fma(square, q, r);
  Value result = arith::AddFOp::create(a.builder, a.loc, rest, a.f(1.0f));
  // Two factors, since 2^n alone may be too large or too small for f32.
  auto power = [&](Value n) {
    Value biased = arith::AddIOp::create(a.builder, a.loc, n, a.i(127));
    Value bits = arith::ShLIOp::create(a.builder, a.loc, biased, a.i(23));
    return arith::BitcastOp::create(
        a.builder, a.loc, a.withElement(a.builder.getF32Type()), bits);
  };
  Value n =
      arith::SubIOp::create(a.builder, a.loc, a.bits(shifted), a.i(kRoundBits));
  Value half = arith::ShRSIOp::create(a.builder, a.loc, n, a.i(1));
  Value other = arith::SubIOp::create(a.builder, a.loc, n, half);
  return a.mul(a.mul(result, power(half)), power(other));
}

struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Arithmetic a{rewriter, op.getLoc(), op.getType()};
    // Beyond, the result is 0 or inf already.
    Value x = clampKeepingNaN(a, op.getOperand(), -104.0f, 89.0f);
    Value shifted = a.fma(x, a.f(1.44269504f), a.f(kRound));
    Value n = a.sub(shifted, a.f(kRound));
    // ln 2 = 0.693145752 + 1.42860677e-6: n times the first part is exact.
    Value r = a.fma(n, a.f(-0.693145752f), x);
    r = a.fma(n, a.f(-1.42860677e-6f), r);
    rewriter.replaceOp(op, scaledExp(a, shifted, r));
    return success();
  }
};

struct ExpandExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Arithmetic a{rewriter, op.getLoc(), op.getType()};
    Value x = clampKeepingNaN(a, op.getOperand(), -151.0f, 129.0f);
    Value shifted = arith::AddFOp::create(rewriter, a.loc, x, a.f(kRound));
    Value n = a.sub(shifted, a.f(kRound));
    Value r = a.mul(a.sub(x, n), a.f(0.693147181f));
    rewriter.replaceOp(op, scaledExp(a, shifted, r));
    return success();
  }
};

/// 1 / sqrt(x), both rounded to nearest; rsqrt.approx is off by two ulp.
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Arithmetic a{rewriter, op.getLoc(), op.getType()};
    Value root = math::SqrtOp::create(rewriter, a.loc, op.getOperand());
    rewriter.replaceOpWithNewOp<arith::DivFOp>(op, a.f(1.0f), root);
    return success();
  }
};

/// What the targets have instructions for, or LLVM expands without a library.
bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp,
             math::TruncOp, math::RoundEvenOp, math::RoundOp, math::FmaOp,
             math::SqrtOp, math::CopySignOp, math::CtPopOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp,
             math::ClampFOp>(op);
}

struct ExpandMathPass : linattn::impl::ExpandMathBase<ExpandMathPass> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto countMath = [&] {
      unsigned count = 0;
      getOperation()->walk([&](Operation *op) {
        count += isa<math::MathDialect>(op->getDialect()) && !isNative(op);
      });
      return count;
    };
    numExpanded += countMath();
    RewritePatternSet patterns(context);
    patterns.add<ExpandExp, ExpandExp2, ExpandRsqrt>(context, /*benefit=*/2);
    math::populateExpansionPatterns(
        patterns,
        {"sinh", "cosh", "tan", "asinh", "acosh", "atanh", "powf", "fpowi"});
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return name != math::ExpOp::getOperationName();
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (keepOthers)
      return;
    WalkResult left = getOperation()->walk([&](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()) || isNative(op))
        return WalkResult::advance();
      op->emitOpError("has no expansion in arithmetic, got ")
          << op->getOperand(0).getType();
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
