//===- StepVerifier.h - what may stand in a step --------------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_STEPVERIFIER_H
#define LINATTN_DIALECT_LINATTN_IR_STEPVERIFIER_H

#include "mlir/IR/Block.h"
#include "mlir/Support/LLVM.h"

namespace linattn {

/// The operations of a step or of a score region are pure, have no region, and
/// give states, numbers and vectors of fixed, bounded size: what a lowering can
/// hold per token.
llvm::LogicalResult verifyStepOperations(mlir::Block &block,
                                         llvm::StringRef label,
                                         llvm::StringRef where);

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_IR_STEPVERIFIER_H
