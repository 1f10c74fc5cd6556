//===- StepVerifier.cpp - what may stand in a step ------------------------===//

#include "StepVerifier.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

using namespace mlir;
using namespace linattn;

/// Whether a value of this type is a number or a vector that fits.
static bool isPerTokenType(Type type) {
  if (type.isIntOrIndexOrFloat())
    return true;
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.isScalable())
    return false;
  // The product of the sizes may not fit in 64 bits.
  int64_t elements = 1;
  for (int64_t size : vector.getShape()) {
    if (size > kMaxVectorElements / elements)
      return false;
    elements *= size;
  }
  return true;
}

bool linattn::isFiniteIn(const APFloat &number, Type type) {
  if (type.isF64())
    return number.isFinite();
  APFloat rounded = number;
  bool losesInfo;
  rounded.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.isFinite();
}

LogicalResult linattn::verifyStepOperations(Block &block, StringRef label,
                                            StringRef where, bool allowStates) {
  for (Operation &op : block.without_terminator()) {
    if (op.getNumRegions() != 0 || op.getNumSuccessors() != 0 || !isPure(&op))
      return op.emitOpError()
             << "(" << label << ") is not allowed in a " << where
             << ": its operations are pure and have no region";
    if (!allowStates &&
        llvm::any_of(op.getOperandTypes(), llvm::IsaPred<StateType>))
      return op.emitOpError()
             << "(" << label << ") there are no states in a " << where;
    for (Type type : op.getResultTypes())
      if (!isPerTokenType(type) && !(allowStates && isa<StateType>(type)))
        return op.emitOpError()
               << "(" << label << ") operations of a " << where << " give "
               << (allowStates ? "states, " : "")
               << "numbers and vectors of fixed size of at most "
               << kMaxVectorElements << " numbers, got " << type;
  }
  return success();
}
