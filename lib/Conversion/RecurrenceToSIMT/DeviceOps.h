//===- DeviceOps.h - what only a GPU can do ---------------------*- C++ -*-===//
//
// The few NVVM operations of the SIMT kernel, behind functions: the dialect's
// header costs ten seconds per file that includes it.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_DEVICEOPS_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_DEVICEOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace linattn::simt {

constexpr int64_t kWarpSize = 32;

/// threadIdx.x, blockIdx.x as i32.
mlir::Value emitThreadIndex(mlir::OpBuilder &builder, mlir::Location loc);
mlir::Value emitBlockIndex(mlir::OpBuilder &builder, mlir::Location loc);

/// All threads of the block wait for each other; memory before is seen after.
mlir::Operation *emitBarrier(mlir::OpBuilder &builder, mlir::Location loc);

/// The f32 or i32 value of the thread whose lane number differs in `mask`.
mlir::Value emitShuffleXor(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value, int32_t mask);

/// The 64-bit pointer, as a value that LLVM knows nothing about. An address in
/// a loop over tokens that is affine in the token would get a register pair of
/// its own, incremented every token: 64 registers for the 32 rows of a state.
mlir::Value emitOpaque(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value pointer);

/// The dialects of these operations.
void insertDeviceDialects(mlir::DialectRegistry &registry);

/// Marks an llvm.func as a kernel of blocks of `threads`.
void markKernel(mlir::Operation *func, int32_t threads);

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_DEVICEOPS_H
