//===- StateRows.h - a thread's part of a state -----------------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_STATEROWS_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_STATEROWS_H

#include "KernelFrame.h"

namespace linattn::simt {

/// The elements of one state that a thread holds, in f32: groups(K) * 4 rows of
/// plan.vector columns, row by row, null for those that no lane has. Rows that
/// other lanes have and this one has not stay 0. Versions of a state are SSA
/// values, so an old one costs nothing until it is read.
using StateRows = llvm::SmallVector<mlir::Value>;

/// What the operations of a step do to the rows of states with K x V elements.
class StateRowsBuilder {
public:
  StateRowsBuilder(KernelFrame &frame, StateType type);

  StateRows fill(mlir::FloatAttr value);
  /// From and to a [K, V] matrix of memory at `base`, rows `stride` apart.
  StateRows load(mlir::Value base, mlir::Value stride, mlir::Type element);
  void store(const StateRows &rows, mlir::Value base, mlir::Value stride,
             mlir::Type element);

  /// S' = factor S
  StateRows scale(const StateRows &rows, mlir::Value factor);
  /// S' = Diag(factors) S
  StateRows scale(const StateRows &rows, llvm::ArrayRef<mlir::Value> factors);
  /// S' = S + k u^T for these columns' u
  StateRows addOuter(const StateRows &rows, llvm::ArrayRef<mlir::Value> key,
                     llvm::ArrayRef<mlir::Value> values);
  /// What the rows of this thread add to its columns' elements of S^T x.
  llvm::SmallVector<mlir::Value, 4> dot(const StateRows &rows,
                                        llvm::ArrayRef<mlir::Value> key);

  /// Rows with a value, in order, and back from them.
  static void append(const StateRows &rows,
                     llvm::SmallVectorImpl<mlir::Value> &values);
  StateRows take(mlir::ValueRange values, unsigned &next);

private:
  /// The first row of slot `i` (lane 0) and that of the last lane.
  int64_t firstRow(unsigned i) const;
  int64_t lastRow(unsigned i) const;
  bool exists(unsigned i) const { return firstRow(i) < type.getKeys(); }
  /// Rows of a thread.
  unsigned size() const;
  /// Whether this lane has row `i`; null: every lane has.
  mlir::Value hasRow(unsigned i);
  /// `value`, 0 in lanes that have no row `i`.
  mlir::Value masked(unsigned i, mlir::Value value);
  StateRows
  forEach(llvm::function_ref<mlir::Value(unsigned row, unsigned part)> build);
  /// Where the rows lie in a [K, V] matrix; those that this lane has not, at
  /// the last row.
  llvm::SmallVector<mlir::Value> addresses(mlir::Value base, mlir::Value stride,
                                           mlir::Type element);
  /// The rows as they lie in memory, elements or, with several parts, vectors.
  llvm::SmallVector<mlir::Value> loadBy(mlir::Value base, mlir::Value stride,
                                        mlir::Type element, bool whole);
  void storeBy(const StateRows &rows, mlir::Value base, mlir::Value stride,
               mlir::Type element, bool whole);
  /// Whether rows lie beside each other, their parts at multiples of their
  /// size.
  mlir::Value isContiguous(mlir::Value base, mlir::Value stride,
                           mlir::Type element);

  KernelFrame &frame;
  StateType type;
};

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_STATEROWS_H
