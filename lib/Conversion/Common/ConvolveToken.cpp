//===- ConvolveToken.cpp - one element of a convolution -------------------===//

#include "ConvolveToken.h"

#include "DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

/// x / (1 + e^-x), by approximations of two ulp: nothing is carried on from
/// token to token, so that they do not add up.
static Value silu(KernelCode &code, Value x) {
  OpBuilder &builder = code.builder;
  Location loc = code.loc;
  // -inf times 0 is NaN.
  Value lowest = arith::ConstantOp::create(
      builder, loc,
      builder.getFloatAttr(builder.getF32Type(),
                           APFloat::getLargest(APFloat::IEEEsingle(),
                                               /*Negative=*/true)));
  Value finite = arith::MaximumFOp::create(builder, loc, x, lowest);
  Value scaled =
      arith::MulFOp::create(builder, loc, x, code.f32(-1.4426950408889634));
  Value sum = arith::AddFOp::create(builder, loc, code.f32(1.0),
                                    emitExp2Approx(builder, loc, scaled));
  return arith::MulFOp::create(builder, loc, finite,
                               emitReciprocalApprox(builder, loc, sum));
}

Value simt::emitConvolution(KernelCode &code, ArrayRef<Value> weights,
                            ArrayRef<Value> inputs, Value bias,
                            Activation activation) {
  Value sum = bias;
  for (auto [weight, input] : llvm::zip_equal(weights, inputs))
    if (sum)
      sum = math::FmaOp::create(code.builder, code.loc, weight, input, sum);
    else
      sum = arith::MulFOp::create(code.builder, code.loc, weight, input);
  return activation == Activation::SiLU ? silu(code, sum) : sum;
}
