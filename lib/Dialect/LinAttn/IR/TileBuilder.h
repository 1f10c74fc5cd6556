//===- TileBuilder.h - tensor code of a chunk -------------------*- C++ -*-===//
//
// Short names for the tensor operations that decompositions emit.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_IR_TILEBUILDER_H
#define LINATTN_DIALECT_LINATTN_IR_TILEBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace linattn {

struct TileBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value empty(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return mlir::tensor::EmptyOp::create(b, loc, shape, element);
  }
  mlir::Value zeros(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// outs += a b.
  mlir::Value matmul(mlir::Value a, mlir::Value bb, mlir::Value outs) {
    return mlir::linalg::MatmulOp::create(b, loc, outs.getType(),
                                          mlir::ValueRange{a, bb}, outs)
        .getResult(0);
  }
  mlir::Value transpose(mlir::Value matrix);
  /// Rows [at, at + rows) and columns [column, column + columns).
  mlir::Value slice(mlir::Value matrix, mlir::OpFoldResult at,
                    mlir::OpFoldResult rows, mlir::OpFoldResult column,
                    mlir::OpFoldResult columns);
  mlir::Value slice(mlir::Value matrix, mlir::OpFoldResult at, int64_t rows,
                    mlir::OpFoldResult column, int64_t columns) {
    return slice(matrix, at, attr(rows), column, attr(columns));
  }
  mlir::Value insert(mlir::Value part, mlir::Value matrix,
                     mlir::OpFoldResult at, mlir::OpFoldResult column);
  /// `width` numbers of a row as a vector, and back.
  mlir::Value readRow(mlir::Value matrix, mlir::Value row, mlir::Value column,
                      int64_t width);
  mlir::Value writeRow(mlir::Value vector, mlir::Value matrix, mlir::Value row,
                       mlir::Value column);
  mlir::Value splat(mlir::Value scalar, mlir::Type vector) {
    return mlir::vector::BroadcastOp::create(b, loc, vector, scalar);
  }
  mlir::OpFoldResult attr(int64_t value) { return b.getIndexAttr(value); }
  /// A loop from 0 to `count` (backwards from count - 1 with `reverse`) that
  /// carries values.
  llvm::SmallVector<mlir::Value>
  loop(int64_t count, mlir::ValueRange init, bool reverse,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);
  /// The same over pieces of [0, size): `body` gets the first index of a piece,
  /// the piece's size and the carried value. All whole pieces share one body.
  mlir::Value pieces(
      int64_t size, int64_t piece, mlir::Value init, bool reverse,
      llvm::function_ref<mlir::Value(mlir::Value, int64_t, mlir::Value)> body);
};

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_IR_TILEBUILDER_H
