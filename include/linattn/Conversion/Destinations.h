//===- Destinations.h - where lowered operations read and write -*- C++ -*-===//
//
// The lowerings to loops and kernels work on memory: inputs as memrefs with
// free strides, results straight into the caller's destination where one is
// given.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_DESTINATIONS_H
#define LINATTN_CONVERSION_DESTINATIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace linattn {

/// The memref type of a tensor with free strides and offset. The last
/// dimension is contiguous if `contiguousInner`.
mlir::MemRefType getStridedMemRef(mlir::RankedTensorType type,
                                  bool contiguousInner);

/// The memory of a tensor operand, only read. Vectors of a token are contiguous
/// if `contiguousInner`.
mlir::Value getInputBuffer(mlir::OpBuilder &builder, mlir::Value tensor,
                           bool contiguousInner);

/// The memory of a pool of states that is updated in place.
mlir::Value getInPlaceBuffer(mlir::OpBuilder &builder, mlir::Value tensor);

/// Where a result goes. If its only use writes it to a destination that
/// dominates `op`, that is the memory and the use is erased by
/// `replaceWithBuffer`; otherwise a new allocation of the sizes `sizes`.
mlir::Value getResultBuffer(mlir::OpBuilder &builder, mlir::OpResult result,
                            llvm::ArrayRef<mlir::OpFoldResult> sizes,
                            bool contiguousInner);

/// Replaces a result by the contents of the buffer that getResultBuffer gave.
void replaceWithBuffer(mlir::OpBuilder &builder, mlir::OpResult result,
                       mlir::Value buffer);

/// The function argument that holds this result in place: a pool of states of a
/// recurrence with `slots`; null if there is none.
mlir::BlockArgument getInPlaceArgument(mlir::Value result);

} // namespace linattn

#endif // LINATTN_CONVERSION_DESTINATIONS_H
