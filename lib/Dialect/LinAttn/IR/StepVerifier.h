//===- StepVerifier.h - what may stand in a step --------------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_STEPVERIFIER_H
#define LINATTN_DIALECT_LINATTN_IR_STEPVERIFIER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"

#include "llvm/ADT/APFloat.h"

namespace linattn {

/// The widest window of attention: places of queries and keys plus a window fit
/// 32 bits, in which kernels compare them.
constexpr int64_t kMaxWindow = int64_t(1) << 30;

/// Whether a number is finite in the arithmetic of `type`: f64, else f32.
bool isFiniteIn(const llvm::APFloat &number, mlir::Type type);

/// The operations of a step or of a score region are pure, have no region, and
/// give numbers, vectors of fixed, bounded size and, in a step, states: what a
/// lowering can hold per token.
llvm::LogicalResult verifyStepOperations(mlir::Block &block,
                                         llvm::StringRef label,
                                         llvm::StringRef where,
                                         bool allowStates);

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_IR_STEPVERIFIER_H
