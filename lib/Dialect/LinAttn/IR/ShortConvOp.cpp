//===- ShortConvOp.cpp - depthwise causal convolution ---------------------===//

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;

LogicalResult ShortConvOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto weight = cast<RankedTensorType>(getWeight().getType());
  int64_t rank = isPacked() ? 2 : 3;
  if (input.getRank() != rank || input.isDynamicDim(rank - 1) ||
      input.getDimSize(rank - 1) < 1)
    return emitOpError()
           << "(short_conv_c1) the input has rank " << rank
           << (isPacked() ? " with" : " without")
           << " seqlens and a static, positive last dimension, got " << input;
  int64_t channels = input.getDimSize(rank - 1);
  if (weight.getRank() != 2 || weight.getDimSize(0) != channels ||
      weight.isDynamicDim(1) || weight.getDimSize(1) < 1 ||
      weight.getDimSize(1) > 4)
    return emitOpError() << "(short_conv_c2) the weight is [C, W] with C = "
                         << channels << " and W from 1 to 4, got " << weight;
  int64_t width = weight.getDimSize(1);
  if (Value bias = getBias()) {
    auto type = cast<RankedTensorType>(bias.getType());
    if (type.getRank() != 1 || type.getDimSize(0) != channels)
      return emitOpError() << "(short_conv_c3) the bias is [C] with C = "
                           << channels << ", got " << type;
  }
  if (Value window = getWindow()) {
    auto type = cast<RankedTensorType>(window.getType());
    if (width < 2 || type.getRank() != 3 || type.getDimSize(1) != channels ||
        type.getDimSize(2) != width - 1)
      return emitOpError()
             << "(short_conv_c4) the window is [N, C, W - 1] with C = "
             << channels << ", W = " << width << " > 1, got " << type;
    int64_t n = type.getDimSize(0);
    if (!isPacked() && !input.isDynamicDim(0) && !ShapedType::isDynamic(n) &&
        input.getDimSize(0) != n)
      return emitOpError()
             << "(short_conv_c4) the window holds one sequence per "
                "batch item, B = "
             << input.getDimSize(0) << ", got N = " << n;
  }
  if (Value seqlens = getSeqlens()) {
    auto type = cast<RankedTensorType>(seqlens.getType());
    int64_t n = ShapedType::kDynamic;
    if (getWindow())
      n = cast<RankedTensorType>(getWindow().getType()).getDimSize(0);
    bool wrongSize = type.getRank() == 1 && !type.isDynamicDim(0) &&
                     (type.getDimSize(0) < 1 || (!ShapedType::isDynamic(n) &&
                                                 type.getDimSize(0) - 1 != n));
    if (type.getRank() != 1 || wrongSize)
      return emitOpError() << "(short_conv_c5) seqlens is [N + 1], got "
                           << type;
  }
  if (getResult().getType() != input)
    return emitOpError() << "(short_conv_c6) the result has the input's type "
                         << input << ", got " << getResult().getType();
  if (bool(getWindow()) != bool(getFinalWindow()))
    return emitOpError()
           << "(short_conv_c6) the final window is returned with a "
              "window, and only then, got "
           << (getWindow() ? 1 : 2) << " result(s)";
  if (getWindow() && getWindow().getType() != getFinalWindow().getType())
    return emitOpError()
           << "(short_conv_c6) the final window has the window's type "
           << getWindow().getType() << ", got " << getFinalWindow().getType();
  return success();
}

LogicalResult
ShortConvOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(tensor::getMixedSizes(builder, getLoc(), getInput()));
  if (getWindow())
    reified.push_back(tensor::getMixedSizes(builder, getLoc(), getWindow()));
  return success();
}
