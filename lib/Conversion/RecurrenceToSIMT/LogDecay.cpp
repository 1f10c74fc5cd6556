//===- LogDecay.cpp - the factor of a scalar log decay --------------------===//

#include "LogDecay.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::simt;

static Value add(KernelCode &code, Value a, Value b) {
  return arith::AddFOp::create(code.builder, code.loc, a, b);
}

static Value sub(KernelCode &code, Value a, Value b) {
  return arith::SubFOp::create(code.builder, code.loc, a, b);
}

/// e^g - 1 on [-ln 2, 0] to 0.62 units in the last place: g + g^2 q(g), where q
/// is of degree 5.
static Value emitShortExpM1(KernelCode &code, Value g) {
  OpBuilder &builder = code.builder;
  const double coefficients[] = {1.3556118e-3, 8.321659e-3, 4.1664798e-2,
                                 0.16666655, 0.5};
  Value q = code.f32(1.5361118e-4);
  for (double coefficient : coefficients)
    q = math::FmaOp::create(builder, code.loc, q, g, code.f32(coefficient));
  Value square = arith::MulFOp::create(builder, code.loc, g, g);
  return math::FmaOp::create(builder, code.loc, q, square, g);
}

LogDecay simt::emitLogDecay(KernelCode &code, Value gate) {
  OpBuilder &builder = code.builder;
  auto compare = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    return arith::CmpFOp::create(builder, code.loc, predicate, gate,
                                 code.f32(bound));
  };
  LogDecay decay;
  // Just above -ln 2.
  decay.lasting = arith::AndIOp::create(
      builder, code.loc, compare(arith::CmpFPredicate::OGE, -0.693147),
      compare(arith::CmpFPredicate::OLE, 0.0));
  Value minusOne = emitShortExpM1(code, gate);
  decay.factor = add(code, minusOne, code.f32(1));
  // factor - 1 is exact here, so this is what rounding e^g lost.
  decay.rest = sub(code, minusOne, sub(code, decay.factor, code.f32(1)));
  decay.otherwise = math::ExpOp::create(builder, code.loc, gate);
  return decay;
}

LogDecay simt::emitJoined(KernelCode &code, const LogDecay &decay) {
  LogDecay joined;
  joined.lasting = decay.lasting;
  joined.factor = code.select(decay.lasting, decay.factor, decay.otherwise);
  joined.rest = code.select(decay.lasting, decay.rest, code.f32(0));
  return joined;
}

Value simt::emitCompensated(KernelCode &code, const LogDecay &decay,
                            Value &carry) {
  Value zero = code.f32(0), before = carry;
  // What was lost at a factor near 1 is not small beside one near 0.
  if (!decay.otherwise)
    before = code.select(decay.lasting, carry, zero);
  Value rest = add(code, decay.rest, before);
  Value corrected = add(code, decay.factor, rest);
  Value left = add(code, sub(code, decay.factor, corrected), rest);
  // Not of an infinite factor.
  carry = code.select(decay.lasting, left, zero);
  if (!decay.otherwise)
    return corrected;
  return code.select(decay.lasting, corrected, decay.otherwise);
}
