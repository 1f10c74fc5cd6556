//===- DeviceOps.h - instructions of a GPU, by name -------------*- C++ -*-===//
//
// The NVVM operations of the kernels, behind functions: the dialect's header
// costs ten seconds per file that includes it.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_COMMON_DEVICEOPS_H
#define LINATTN_CONVERSION_COMMON_DEVICEOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace linattn::device {

/// threadIdx.x, as i32.
mlir::Value emitThreadIndex(mlir::OpBuilder &builder, mlir::Location loc);
/// blockIdx along dimension 0, 1 or 2, as i32.
mlir::Value emitBlockIndex(mlir::OpBuilder &builder, mlir::Location loc,
                           unsigned dimension = 0);

/// All threads of the block wait for each other; memory before is seen after.
mlir::Operation *emitBarrier(mlir::OpBuilder &builder, mlir::Location loc);
/// The lanes of a warp wait for each other; memory before is seen after.
void emitWarpBarrier(mlir::OpBuilder &builder, mlir::Location loc);

enum class Shuffle { Index, Up, Xor };
/// The i32 or f32 of another lane. `segment` lanes, a power of two, stand apart
/// from the others of the warp.
mlir::Value emitShuffle(mlir::OpBuilder &builder, mlir::Location loc,
                        Shuffle kind, mlir::Value value, mlir::Value lane,
                        int64_t segment = 32);
/// The i32 or f32 of the lane whose number differs in `mask`.
mlir::Value emitShuffleXor(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value, int32_t mask);

/// Whether an i1 is true in some lane of the warp.
mlir::Value emitVoteAny(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value);

/// 1, 2 or 4 matrices of 8 x 8 16-bit elements, an i32 each.
llvm::SmallVector<mlir::Value, 4> emitLdMatrix(mlir::OpBuilder &builder,
                                               mlir::Location loc,
                                               mlir::Value pointer,
                                               unsigned count, bool transposed);
void emitStMatrix(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value pointer, mlir::ValueRange values,
                  bool transposed);

/// acc + a b by one instruction: m16n8k16 for bf16 and f16 (a: 4 registers of
/// two elements, b: 2, as i32), m16n8k8 for tf32 (`element` is f32).
void emitMma(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type element,
             mlir::ValueRange a, mlir::ValueRange b,
             llvm::MutableArrayRef<mlir::Value> acc);
/// An f32 rounded to tf32, as i32.
mlir::Value emitToTF32(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value);

/// Copies `bytes` (16, 8 or 4) from global to shared memory in the background,
/// `valid` (i32; null: all) of them, and zeros after.
void emitCopyAsync(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value shared, mlir::Value global, unsigned bytes,
                   mlir::Value valid);
void emitCommitGroup(mlir::OpBuilder &builder, mlir::Location loc);
void emitWaitGroup(mlir::OpBuilder &builder, mlir::Location loc,
                   unsigned pending);

/// 2^x by the hardware's approximation; denormals are 0.
mlir::Value emitExp2Approx(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value);

/// 1/x by the hardware's approximation, off by one ulp; denormals are 0.
mlir::Value emitReciprocalApprox(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value value);

/// The 64-bit pointer, as a value that LLVM knows nothing about. An address in
/// a loop over tokens that is affine in the token would get a register pair of
/// its own, incremented every token: 64 registers for the 32 rows of a state.
mlir::Value emitOpaque(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value pointer);
/// The thread's number, which neither LLVM nor ptxas knows to be what it was
/// elsewhere: what is computed from it takes no registers before. All lanes of
/// the warp are there.
mlir::Value emitThreadIndexHere(mlir::OpBuilder &builder, mlir::Location loc);

/// The dialects of these operations.
void insertDeviceDialects(mlir::DialectRegistry &registry);

/// Marks an llvm.func as a kernel of blocks of `threads`, whose registers leave
/// room for `blocks` of them on a multiprocessor.
void markKernel(mlir::Operation *func, int32_t threads, int32_t blocks = 1);

} // namespace linattn::device

#endif // LINATTN_CONVERSION_COMMON_DEVICEOPS_H
