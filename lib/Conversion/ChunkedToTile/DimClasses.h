//===- DimClasses.h - which dimensions of a chunk are the same --*- C++ -*-===//
//
// Two dimensions of values in a chunk region are of one class if every
// operation that relates them keeps element i of one beside element i of the
// other. Value columns are the classes of the states' second dimension; a class
// that nothing mixes may be cut into slices, each computed by another block.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_DIMCLASSES_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_DIMCLASSES_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "llvm/ADT/IntEqClasses.h"

namespace linattn::chunked_to_tile {

/// Gives every use of a constant, an empty tensor or a broadcast a value of its
/// own: one value that serves a matrix of keys and a matrix of value columns
/// would make their dimensions the same.
void separateUses(ChunkedOp op);

/// Makes constants of what is filled with one.
void foldFills(ChunkedOp op);

/// Scales rows (or columns) once where the region does it twice.
void fuseScales(ChunkedOp op);

class DimClasses {
public:
  explicit DimClasses(ChunkedOp op);

  /// The class of a dimension of a value of the region.
  unsigned get(mlir::Value value, unsigned dim) const;
  /// Gives a new value the dimensions of another one.
  void alias(mlir::Value made, mlir::Value like) {
    first[made] = number(like, 0);
  }
  /// Whether the class is that of a state's value columns.
  bool isColumns(unsigned dimClass) const { return columns.contains(dimClass); }
  bool isColumns(mlir::Value value, unsigned dim) const {
    return isColumns(get(value, dim));
  }
  /// What combines elements of the class, and so forbids cutting it.
  llvm::ArrayRef<mlir::Operation *> getMixers(unsigned dimClass) const {
    auto it = mixers.find(dimClass);
    return it == mixers.end() ? llvm::ArrayRef<mlir::Operation *>()
                              : llvm::ArrayRef(it->second);
  }

private:
  void relate(mlir::Operation &op);
  void join(mlir::Value a, unsigned dimA, mlir::Value b, unsigned dimB);
  void mix(mlir::Value value, unsigned dim, mlir::Operation *by);
  unsigned number(mlir::Value value, unsigned dim) const;

  mutable llvm::DenseMap<mlir::Value, unsigned> first;
  mutable llvm::IntEqClasses classes;
  mutable unsigned count = 0;
  llvm::DenseMap<unsigned, llvm::SmallVector<mlir::Operation *, 2>> mixers;
  llvm::SmallVector<std::pair<unsigned, mlir::Operation *>> mixed;
  llvm::DenseSet<unsigned> columns;
};

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_DIMCLASSES_H
