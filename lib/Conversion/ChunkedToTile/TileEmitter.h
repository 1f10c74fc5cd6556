//===- TileEmitter.h - values of a chunk as tiles ---------------*- C++ -*-===//
//
// Every value of a chunk region is made on demand, in the form that its user
// needs, once per form:
//
//   fragment   a matrix in registers, in `acc`. Matrices whose second dimension
//              are value columns are held transposed: their columns are rows,
//              which the warps share, so that each warp carries its own part of
//              the state and products of the chain take it from registers.
//   shared     a matrix in shared memory, row by row as the region has it: what
//              the right operand of a product is read from.
//   vector     in `strided` (every warp has all of it), `row` or `col`.
//   scalar     a number.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_TILEEMITTER_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_TILEEMITTER_H

#include "ChunkPlan.h"

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

#include <functional>

namespace linattn::chunked_to_tile {

/// What the operands of a product are rounded to.
mlir::Type operandType(MmaPrecision precision, mlir::MLIRContext *context);

/// Whether a value is a constant of zeros, none of them negative.
bool isZero(mlir::Value value);

class TileEmitter {
public:
  TileEmitter(ChunkedOp op, DimClasses &classes, const ChunkPlan &plan,
              mlir::OpBuilder &builder);

  /// Refuses, with an error at the operation, what the emitter has no tile form
  /// for. What passes is emitted without failure.
  static mlir::LogicalResult check(ChunkedOp op);

  // What the kernel around the chunk gives.
  void bindFragment(mlir::Value value, mlir::Value fragment);
  void bindShared(mlir::Value value, mlir::Value tile) {
    shareds[value] = tile;
  }
  /// A matrix that `make` gives as a fragment, transposed or not, when it is
  /// asked for.
  void bindMaker(mlir::Value value, std::function<mlir::Value(bool)> make) {
    makers[value] = std::move(make);
  }
  void bindVector(mlir::Value value, mlir::Value vector) {
    vectors[{value, layoutOf(vector)}] = vector;
  }
  void bindScalar(mlir::Value value, mlir::Value scalar) {
    scalars[value] = scalar;
  }
  /// Tokens of the chunk that exist, an index that may exceed the chunk.
  void setRows(mlir::Value index) { rows = index; }

  // What it asks for.
  mlir::Value getFragment(mlir::Value value, bool transposed);
  mlir::Value getShared(mlir::Value value);
  mlir::Value getVector(mlir::Value value, mlir::Attribute layout);
  mlir::Value getScalar(mlir::Value value);
  /// Whether a matrix is held transposed.
  bool isTransposed(mlir::Value value);
  /// What `shared` of the value would be.
  tile::SmemType getSharedType(mlir::Value value);
  mlir::RankedTensorType getFragmentType(mlir::Value value, bool transposed,
                                         mlir::Type element = {});
  mlir::RankedTensorType getVectorType(mlir::Value value,
                                       mlir::Attribute layout);
  /// The layout that spreads a vector over the lanes of every warp.
  mlir::Attribute getLanes(mlir::Value vector);
  int64_t getTileSize(mlir::Value value, unsigned dim) const {
    return plan.getTileSize(classes, value, dim);
  }
  /// A tile made transposed or not, in shared memory.
  mlir::Value transposedView(mlir::Value tile);
  // The layouts of matrices and of vectors along their rows and columns.
  tile::AccAttr getAcc() const {
    return tile::AccAttr::get(context, plan.warps, plan.columnParts);
  }
  tile::RowAttr getRow() const {
    return tile::RowAttr::get(context, plan.warps, plan.columnParts);
  }
  tile::ColAttr getCol() const {
    if (plan.columnParts == 1)
      return tile::ColAttr::get(context);
    return tile::ColAttr::get(context, plan.warps, plan.columnParts);
  }
  /// Without selects that only zero rows beyond the end that are zero already.
  mlir::Value strip(mlir::Value value);
  /// What does not depend on the states and is read from shared memory by what
  /// does, but tiles of tokens.
  llvm::SmallVector<mlir::Value> getOffChain();

private:
  static mlir::Attribute layoutOf(mlir::Value vector);
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value splat(mlir::Value scalar, mlir::RankedTensorType type);
  mlir::Value binary(llvm::StringRef name, mlir::Value a, mlir::Value b);
  mlir::Value cloneElementwise(mlir::Operation *op,
                               llvm::ArrayRef<mlir::Value> operands,
                               mlir::RankedTensorType type);
  bool isZeroBeyond(mlir::Value value);

  /// Whether elements beyond the size of a dimension, up to its tile's, are 0.
  bool isZeroPadded(mlir::Value value, unsigned dim);
  /// `filler` beyond the size of a dimension of `value`.
  mlir::Value fillPadding(mlir::Value value, mlir::Value fragment,
                          bool transposed, unsigned dim, double filler);
  mlir::Value maskPadding(mlir::Value value, mlir::Value fragment,
                          bool transposed);
  mlir::Value makeFragment(mlir::Value value, bool transposed);
  mlir::Value makeUnmasked(mlir::Value value, bool transposed);
  /// The fragment with all columns of a row in one warp, and back.
  mlir::Value gatherColumns(mlir::Value fragment);
  /// The layout of a matrix in registers: what comes from a solved system has
  /// all columns of a row in one warp, and stays so.
  tile::AccAttr accOf(mlir::Value value);
  mlir::Value inLayout(mlir::Value fragment, mlir::Attribute layout);
  mlir::Value moveThroughShared(mlir::Value fragment, mlir::Attribute layout);
  mlir::Value broadcastFragment(mlir::linalg::BroadcastOp op, bool transposed);
  mlir::Value matmulFragment(mlir::linalg::MatmulOp op, bool transposed);
  mlir::Value productFragment(DecayProductOp op);
  mlir::Value solveFragment(UnitLowerSolveOp op);
  /// The unknowns of a system for each value column.
  llvm::SmallVector<mlir::Value> solveColumns(UnitLowerSolveOp op);
  mlir::Value multiply(mlir::Value a, bool aTransposed, mlir::Value b,
                       bool bTransposed, mlir::Value acc, int64_t terms);
  mlir::Value makeVector(mlir::Value value, mlir::Attribute layout);
  mlir::Attribute naturalLayout(mlir::Value value);
  mlir::Value convertVector(mlir::Value vector, mlir::Attribute layout);
  mlir::Value validVector(mlir::Value value, mlir::Attribute layout);
  mlir::Value reduceVector(mlir::linalg::ReduceOp op);
  mlir::Value sumRows(tile::Combine kind, mlir::Value fragment);
  mlir::Value columnVector(mlir::Value matrix, int64_t column);
  mlir::Value iota(mlir::Attribute layout, int64_t size);
  mlir::Value makeScalar(mlir::Value value);

  // Decays (TileDecays.cpp).
  struct TwoFloat {
    mlir::Value sum, error;
  };
  mlir::Value decayLanes(mlir::Value decay);
  /// Sums of log decays before the event at a position of each token.
  TwoFloat prefix(mlir::Value gate, int64_t position);
  TwoFloat total(mlir::Value gate);
  mlir::Value decayVector(DecayScanOp op);
  // Of decays over K: a matrix, a vector over K, a product of rows.
  mlir::Value decayRows(DecayScanOp op);
  mlir::Value makeDecayRows(DecayScanOp op);
  mlir::Value decayColumns(DecayScanOp op);
  mlir::Value vectorProductFragment(DecayProductOp op);
  mlir::Value loadGates(mlir::Value gate);
  void forgetLoads();
  std::optional<int64_t> findTarget(llvm::ArrayRef<DecayProductOp> products,
                                    mlir::Value value);
  /// Whether the value stands in shared memory after the product that makes it
  /// on its way, if one does.
  bool makeWithProducts(mlir::Value value);
  /// The rows before they were widened, in shared memory.
  mlir::Value getRows(mlir::Value value);
  mlir::Value gamma(DecayProductOp op, mlir::RankedTensorType type,
                    mlir::Value product);
  /// A matrix rounded to `element` as an operand of a product.
  mlir::Value narrow(mlir::Value value, mlir::Type element);

  ChunkedOp op;
  DimClasses &classes;
  const ChunkPlan &plan;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::MLIRContext *context;
  mlir::Value rows;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> fragments;
  llvm::DenseMap<mlir::Value, mlir::Value> shareds, scalars, gateSums;
  llvm::DenseMap<mlir::Value, std::function<mlir::Value(bool)>> makers;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> solved;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Attribute>, mlir::Value> vectors;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, TwoFloat> prefixes;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> decays;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> narrowed;
};

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_TILEEMITTER_H
