//===- PackedTiles.h - tiles of packed sequences ----------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_COMMON_PACKEDTILES_H
#define LINATTN_CONVERSION_COMMON_PACKEDTILES_H

#include "mlir/IR/Builders.h"

namespace linattn {

/// The last sequence n (an index) whose first slot is not behind `slot`, found
/// by halves. `firstSlot` rises with n, and is 0 for n = 0.
mlir::Value
findSequence(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value slot,
             mlir::Value numSequences,
             llvm::function_ref<mlir::Value(mlir::Value)> firstSlot);

} // namespace linattn

#endif // LINATTN_CONVERSION_COMMON_PACKEDTILES_H
