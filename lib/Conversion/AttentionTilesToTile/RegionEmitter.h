//===- RegionEmitter.h - values of attention's regions as tiles -*- C++ -*-===//
//
// Every value of a region is made on demand, in the form that its user needs:
//
//   fragment   a matrix in registers, in `acc`, a row per query
//   shared     a tile of queries or keys in shared memory: what the right
//              operand of a product is read from
//   vector     a number per query (`row`) or per column (`col`)
//   scalar     a number
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_REGIONEMITTER_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_REGIONEMITTER_H

#include "AttentionPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace linattn::attention_to_tile {

/// Which pairs of a key tile are allowed: of query row i and key column j those
/// with lower <= j - i <= upper and j < columns (indices; null: any). With
/// several heads to a token, i is the row's token.
struct AllowedPairs {
  mlir::Value lower, upper, columns;
  /// An i1, the same in all threads: some pair is not allowed. Null: never.
  mlir::Value partial;

  bool isAll() const { return !lower && !upper && !columns; }
};

class RegionEmitter {
public:
  RegionEmitter(AttentionTilesOp op, const AttentionPlan &plan,
                mlir::OpBuilder &builder);

  /// Refuses, with an error at the operation, what the emitter has no tile form
  /// for. What passes is emitted without failure.
  static mlir::LogicalResult check(AttentionTilesOp op);

  // What the kernel around the regions gives.
  void bindFragment(mlir::Value value, mlir::Value fragment) {
    bound.fragments[value] = fragment;
  }
  void bindShared(mlir::Value value, mlir::Value tile) {
    bound.shareds[value] = tile;
  }
  void bindVector(mlir::Value value, bool alongRows, mlir::Value vector) {
    bound.vectors[alongRows][value] = vector;
  }
  void bindScalar(mlir::Value value, mlir::Value scalar) {
    bound.scalars[value] = scalar;
  }
  /// A tensor from outside the operation, in memory.
  void bindMemory(mlir::Value tensor, mlir::Value memref) {
    memories[tensor] = memref;
  }
  void setAllowed(AllowedPairs pairs) { allowed = pairs; }
  /// Rows of queries and of keys that exist from the tile's first ones on:
  /// indices, which may exceed the tile.
  void setLimits(mlir::Value queries, mlir::Value keys) {
    queryLimit = queries;
    keyLimit = keys;
  }
  /// What products are made beside each other: those of `inner`.
  void setPass(const llvm::DenseSet<mlir::Operation *> &inner) {
    wanted = &inner;
  }
  /// From now on matrices are made in slices of so many columns: what a thread
  /// holds of them at a time. A sum over columns goes over all slices.
  void setSlices(int64_t width) { sliceWidth = width; }
  /// What follows `make` in each slice of matrices of `columns` columns:
  /// fragments and vectors over columns are those of the slice, from `first`
  /// on. Without slices that is once, from 0 on.
  void forEachSlice(int64_t columns,
                    llvm::function_ref<void(int64_t first)> make);
  /// Forgets what was made, but not what was given: it is not seen from where
  /// the builder goes next.
  void forget() { made = Forms(); }

  // What it asks for.
  mlir::Value getFragment(mlir::Value value);
  mlir::Value getVector(mlir::Value value, bool alongRows);
  mlir::Value getScalar(mlir::Value value);
  /// Of a tile of keys or its transpose, of queries.
  mlir::Value getShared(mlir::Value value);

private:
  using Value = mlir::Value;

  mlir::RankedTensorType fragmentTypeOf(mlir::Value value);
  mlir::RankedTensorType vectorTypeOf(mlir::Value value, bool alongRows);
  /// The first element that is made of a vector.
  int64_t firstOf(bool alongRows) const {
    return slice && !alongRows ? slice->first : 0;
  }
  Value sliceOf(Value fragment);
  Value findFragment(Value value) const;
  Value findShared(Value value) const;
  Value constant(mlir::Type type, double value);
  Value splat(Value scalar, mlir::RankedTensorType type);
  Value cloneElementwise(mlir::Operation *op, llvm::ArrayRef<Value> operands,
                         mlir::RankedTensorType type);
  Value binary(llvm::StringRef name, Value a, Value b);
  /// An operation on tensors, its operands made by `get`.
  Value elementwise(mlir::Operation *op, mlir::RankedTensorType type,
                    llvm::function_ref<Value(Value)> get);
  Value makeFragment(Value value);
  Value makeVector(Value value, bool alongRows);
  Value makeScalar(Value value);
  Value rescale(Value matrix, Value factors);
  /// e^x, by the hardware's power of two.
  Value exponential(mlir::math::ExpOp op);
  /// The matrix y and the vector v of `factor` y - v, made fit to be computed
  /// by one multiply-add.
  std::pair<Value, Value> shiftLargeRows(Value matrix, Value vector,
                                         double factor);
  Value selectAllowed(mlir::arith::SelectOp op);
  Value allowedMask(mlir::RankedTensorType type);
  Value groupedMask(mlir::RankedTensorType type);
  Value broadcast(mlir::linalg::BroadcastOp op);
  Value reduceRows(mlir::linalg::ReduceOp op);
  Value reduceColumns(mlir::linalg::ReduceOp op);
  /// A vector that the region reads from outside.
  Value loadVector(Value tensor, bool alongRows);
  Value loadSlice(mlir::tensor::ExtractSliceOp op, bool alongRows);
  /// Makes the product and all others that can go with it.
  void makeProducts(mlir::linalg::MatmulOp op);

  // Bodies of linalg.generic (ElementBody.cpp).
  class ElementBody;
  Value generic(mlir::linalg::GenericOp op);

  AttentionTilesOp op;
  const AttentionPlan &plan;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::MLIRContext *context;
  AllowedPairs allowed;
  Value queryLimit, keyLimit;
  const llvm::DenseSet<mlir::Operation *> *wanted = nullptr;
  int64_t sliceWidth = 0;
  /// The slice that is made.
  struct Columns {
    int64_t first, width;
  };
  std::optional<Columns> slice;
  struct Forms {
    llvm::DenseMap<Value, Value> fragments, shareds, scalars;
    /// Over columns, along rows.
    llvm::DenseMap<Value, Value> vectors[2];
  };
  Forms bound, made;
  llvm::DenseMap<Value, Value> memories;
};

/// The vector that all columns of a matrix are, or null.
mlir::Value perRow(mlir::Value matrix);
/// The number that all elements are, if it is known.
std::optional<double> numberOf(mlir::Value value);
/// Refuses an operation that has no tile form.
mlir::LogicalResult refuse(mlir::Operation *inner, const llvm::Twine &why);
/// Refuses what the body of a linalg.generic has no tile form for.
mlir::LogicalResult checkBody(AttentionTilesOp op,
                              mlir::linalg::GenericOp generic);
/// Whether operations that give floats, integers or indices have a form on
/// fragments element by element.
bool isElementwise(mlir::Operation *inner);

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_REGIONEMITTER_H
