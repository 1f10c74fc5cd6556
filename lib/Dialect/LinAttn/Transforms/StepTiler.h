//===- StepTiler.h - values of a step, for a chunk of tokens ----*- C++ -*-===//
//
// A scalar of a step becomes a tensor<Cx..>, a vector<Dx..> a tensor<CxDx..>:
// the same arithmetic on all tokens of a chunk at once.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_STEPTILER_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_STEPTILER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace linattn {

class StepTiler {
public:
  /// Emits at the builder's position, which only moves down.
  StepTiler(mlir::OpBuilder &builder, int64_t chunk)
      : builder(builder), chunk(chunk) {}

  void map(mlir::Value value, mlir::Value tile) { tiles[value] = tile; }

  /// The tile of a value of the step; null where an operation has no form for
  /// many tokens, which `getObstacle` then names.
  mlir::Value get(mlir::Value value);
  mlir::Operation *getObstacle() const { return obstacle; }

  /// A tensor that is the same for all tokens, repeated for each.
  mlir::Value repeat(mlir::Location loc, mlir::Value perHead);

  /// `tile` with `dimensions` new dimensions that make it `shape`; they are the
  /// dimensions of the result.
  mlir::Value broadcast(mlir::Location loc, mlir::Value tile,
                        llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dimensions);

private:
  mlir::RankedTensorType tileType(mlir::Type type);
  mlir::Value tileOperation(mlir::Operation *op);
  mlir::Value tileElementwise(mlir::Operation *op);
  mlir::Value tileBroadcast(mlir::Operation *op);
  mlir::Value tileReduction(mlir::Operation *op);
  mlir::Value tileConstant(mlir::Operation *op);
  mlir::Value tileSlice(mlir::Operation *op);
  mlir::Value tileReshape(mlir::Operation *op);

  mlir::OpBuilder &builder;
  int64_t chunk;
  llvm::DenseMap<mlir::Value, mlir::Value> tiles;
  mlir::Operation *obstacle = nullptr;
};

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_STEPTILER_H
