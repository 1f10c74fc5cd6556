//===- MathCalls.cpp - functions of the C library -------------------------===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "linattn/Conversion/Passes.h"

#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace linattn {
#define GEN_PASS_DEF_MATHCALLS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {
struct MathCallsPass : linattn::impl::MathCallsBase<MathCallsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect, func::FuncDialect,
                           vector::VectorDialect, BuiltinDialect>();
    // LLVM has no intrinsic for these; MLIR would write log1p as log(1 + x).
    target.addIllegalOp<math::Log1pOp, math::ExpM1Op, math::ErfOp, math::ErfcOp,
                        math::CbrtOp, math::AcoshOp, math::AsinhOp,
                        math::AtanhOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
