//===- StepSlice.h - arithmetic that a step's loads need --------*- C++ -*-===//

#ifndef LINATTN_DIALECT_TILE_TRANSFORMS_STEPSLICE_H
#define LINATTN_DIALECT_TILE_TRANSFORMS_STEPSLICE_H

#include "linattn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace linattn::tile {

/// Collects in program order what the operands of `op` need of the body of
/// `loop`, without `op` itself; false if they depend on more than the loop's
/// variable and what is outside of the loop, or read memory.
bool getStepSlice(mlir::scf::ForOp loop, mlir::Operation *op,
                  llvm::SetVector<mlir::Operation *> &slice);

/// Whether an operation of the loop may write to this memref.
bool isWrittenIn(mlir::scf::ForOp loop, mlir::Value memref);

/// Loads vectors and scalars that depend on the loop's variable alone one step
/// ahead, in registers; the loop is replaced. Returns how many.
unsigned prefetchLoads(mlir::RewriterBase &rewriter, mlir::scf::ForOp &loop);

} // namespace linattn::tile

#endif // LINATTN_DIALECT_TILE_TRANSFORMS_STEPSLICE_H
