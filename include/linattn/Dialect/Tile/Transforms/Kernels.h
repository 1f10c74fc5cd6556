//===- Kernels.h - what passes do with each kernel --------------*- C++ -*-===//

#ifndef LINATTN_DIALECT_TILE_TRANSFORMS_KERNELS_H
#define LINATTN_DIALECT_TILE_TRANSFORMS_KERNELS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace linattn::tile {

/// Calls `run` for the kernels of a pass's operation, itself maybe, up to the
/// first that fails.
inline llvm::LogicalResult forEachKernel(
    mlir::Operation *op,
    llvm::function_ref<llvm::LogicalResult(mlir::gpu::GPUFuncOp)> run) {
  return llvm::failure(op->walk([&](mlir::gpu::GPUFuncOp func) {
                           return mlir::WalkResult(run(func));
                         }).wasInterrupted());
}

} // namespace linattn::tile

#endif // LINATTN_DIALECT_TILE_TRANSFORMS_KERNELS_H
