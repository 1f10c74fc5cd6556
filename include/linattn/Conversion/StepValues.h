//===- StepValues.h - values of a token in memory ---------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_STEPVALUES_H
#define LINATTN_CONVERSION_STEPVALUES_H

#include "linattn/Dialect/LinAttn/Transforms/StepBuilders.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace linattn {

/// Columns that one pass over memory handles at once: 256 bytes of f32, half of
/// the vector registers of an AVX2 machine.
constexpr int64_t kPieceWidth = 64;

/// Calls `fn(first column, width)` for pieces of at most `width` columns.
void forEachPiece(int64_t columns, int64_t width,
                  llvm::function_ref<void(int64_t, int64_t)> fn);

/// Loads the scalar or vector of one token and head; `at` are the leading
/// indices of the buffer.
mlir::Value loadStepValue(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type type, mlir::Value buffer,
                          llvm::ArrayRef<mlir::Value> at);
void storeStepValue(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, mlir::Value buffer,
                    llvm::ArrayRef<mlir::Value> at);

} // namespace linattn

#endif // LINATTN_CONVERSION_STEPVALUES_H
