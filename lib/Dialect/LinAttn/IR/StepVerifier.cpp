//===- StepVerifier.cpp - what may stand in a step ------------------------===//

#include "StepVerifier.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

using namespace mlir;
using namespace linattn;

/// Whether a step can hold a value of this type.
static bool isStepType(Type type) {
  if (isa<StateType>(type) || type.isIntOrIndexOrFloat())
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

LogicalResult linattn::verifyStepOperations(Block &block, StringRef label,
                                            StringRef where) {
  for (Operation &op : block.without_terminator()) {
    if (op.getNumRegions() != 0 || op.getNumSuccessors() != 0 || !isPure(&op))
      return op.emitOpError()
             << "(" << label << ") is not allowed in a " << where
             << ": its operations are pure and have no region";
    for (Type type : op.getResultTypes())
      if (!isStepType(type))
        return op.emitOpError()
               << "(" << label << ") operations of a " << where
               << " give states, numbers and vectors of fixed size of at most "
               << kMaxVectorElements << " numbers, got " << type;
  }
  return success();
}
