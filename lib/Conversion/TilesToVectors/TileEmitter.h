//===- TileEmitter.h - loops over a tile ------------------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_TILESTOVECTORS_TILEEMITTER_H
#define LINATTN_CONVERSION_TILESTOVECTORS_TILEEMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace linattn {

/// Where code is emitted, and short names for it.
struct TileEmitter {
  mlir::OpBuilder builder;
  mlir::Location loc;

  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, loc, value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(builder, loc, x, y);
  }
  /// A loop from 0 to `count`; a single round needs none.
  void loop(int64_t count, int64_t step,
            llvm::function_ref<void(mlir::Value)> body) {
    if (count <= 0)
      return;
    if (count == step)
      return body(index(0));
    loop(index(count), step, body);
  }
  void loop(mlir::Value count, int64_t step,
            llvm::function_ref<void(mlir::Value)> body) {
    auto loop =
        mlir::scf::ForOp::create(builder, loc, index(0), count, index(step));
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
};

/// Emits an operation on tiles whose last dimension is contiguous, elementwise
/// or a reduction of that dimension, as loops over vectors of it, and says
/// whether it could. The operation itself stays.
bool emitRows(mlir::linalg::LinalgOp op);

/// Lets buffers inside `root` share memory, and updates in place what would be
/// made elsewhere and copied.
void reduceTileMemory(mlir::Operation *root);

} // namespace linattn

#endif // LINATTN_CONVERSION_TILESTOVECTORS_TILEEMITTER_H
