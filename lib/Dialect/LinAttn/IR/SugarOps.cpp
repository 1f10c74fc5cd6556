//===- SugarOps.cpp - shorthand operations --------------------------------===//

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/CommonFolders.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>

using namespace mlir;
using namespace linattn;

LogicalResult DeltaUpdateOp::verify() {
  StateType state = getState().getType();
  int64_t keys = cast<VectorType>(getKey().getType()).getNumElements();
  int64_t values = cast<VectorType>(getValue().getType()).getNumElements();
  if (keys != state.getKeys())
    return emitOpError() << "(delta_update_c1) the key has K = "
                         << state.getKeys() << " elements, got " << keys;
  if (values != state.getValues())
    return emitOpError() << "(delta_update_c2) the value has V = "
                         << state.getValues() << " elements, got " << values;
  if (auto rate = dyn_cast<VectorType>(getRate().getType()))
    if (rate.getNumElements() != state.getValues())
      return emitOpError()
             << "(delta_update_c3) the rate is a scalar or has V = "
             << state.getValues() << " elements, got " << rate.getNumElements();
  return success();
}

LogicalResult L2NormOp::verify() {
  auto from = cast<VectorType>(getOperand().getType());
  auto to = cast<VectorType>(getResult().getType());
  Type element = from.getElementType();
  if (!element.isF64())
    element = Float32Type::get(getContext());
  Type want = VectorType::get(from.getShape(), element);
  if (to != want)
    return emitOpError() << "(l2norm_c1) the result is " << want << ", got "
                         << to;
  double eps = getEps().convertToDouble();
  if (!std::isfinite(eps) || eps < 0)
    return emitOpError() << "(l2norm_c2) eps is finite and not negative, got "
                         << eps;
  return success();
}

/// Folds an elementwise function of one float, computed in double and rounded
/// once.
template <typename Fn> static Attribute foldUnary(Attribute operand, Fn fn) {
  return constFoldUnaryOp<FloatAttr>(
      {operand}, [&](const APFloat &value) -> std::optional<APFloat> {
        // A NaN stays as it is, sign and payload.
        if (value.isNaN())
          return value;
        bool lost = false;
        APFloat wide = value;
        wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                     &lost);
        APFloat result(fn(wide.convertToDouble()));
        result.convert(value.getSemantics(), APFloat::rmNearestTiesToEven,
                       &lost);
        return result;
      });
}

static double sigmoid(double x) {
  double z = std::exp(-std::fabs(x));
  return (x >= 0 ? 1.0 : z) / (1.0 + z);
}

OpFoldResult SigmoidOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperand(), sigmoid);
}

OpFoldResult SoftplusOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperand(), [](double x) {
    return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  });
}

OpFoldResult SiLUOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getOperand(), [](double x) {
    // The limit at -inf is 0, where the product would be NaN.
    return x == -HUGE_VAL ? 0.0 : x * sigmoid(x);
  });
}
