//===- TileKernel.h - the frame of a kernel on tiles ------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_COMMON_TILEKERNEL_H
#define LINATTN_CONVERSION_COMMON_TILEKERNEL_H

#include "KernelSignature.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace linattn {

/// A kernel of blocks of `warps`, at the builder's place. Its arguments are the
/// tensors of the signature, `buffers`, and `sizes` numbers.
mlir::gpu::GPUFuncOp createTileKernel(mlir::OpBuilder &builder,
                                      mlir::Location loc, llvm::StringRef name,
                                      const KernelSignature &signature,
                                      llvm::ArrayRef<Workspace> buffers,
                                      int64_t sizes, int64_t warps);

/// Moves the builder to the end of its body.
void enterTileKernel(mlir::OpBuilder &builder, mlir::gpu::GPUFuncOp func);

/// A state that begins as a constant, as a fragment; null if it is an argument.
mlir::Value makeConstantState(mlir::OpBuilder &builder, mlir::Location loc,
                              const KernelSignature &signature,
                              mlir::Value state, mlir::RankedTensorType type);

/// An error at `op` if the shape of some value has no such layout. Types made
/// by passes are verified in builds with assertions alone, and a layout that
/// does not divide leaves elements that no thread holds.
mlir::LogicalResult verifyLayouts(mlir::gpu::GPUModuleOp module,
                                  mlir::Operation *op);

} // namespace linattn

#endif // LINATTN_CONVERSION_COMMON_TILEKERNEL_H
