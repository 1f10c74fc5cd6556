//===- Precision.cpp - what products of an operation round to ---*- C++ -*-===//

#include "linattn/Dialect/LinAttn/IR/Precision.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;

MmaPrecision linattn::getMmaPrecision(PrecisionAttr precision,
                                      ValueRange operands) {
  if (precision)
    return precision.getMma();
  for (Value operand : operands) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (element.isBF16())
      return MmaPrecision::BF16;
    if (element.isF16())
      return MmaPrecision::F16;
  }
  return MmaPrecision::F32;
}

std::optional<MmaPrecision> linattn::getMmaPrecision(Operation *op) {
  using Result = std::optional<MmaPrecision>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](RecurrenceOp recurrence) -> Result {
        return getMmaPrecision(recurrence.getPrecisionAttr(),
                               recurrence.getTokens());
      })
      .Case<SoftmaxAttentionOp, DiffAttentionOp>([](auto attention) -> Result {
        return getMmaPrecision(
            attention.getPrecisionAttr(),
            {attention.getQuery(), attention.getKey(), attention.getValue()});
      })
      .Default([](Operation *) { return Result(); });
}
