//===- OutputTail.h - what of outputs mixes value columns -------*- C++ -*-===//
//
// A norm over the values of an output, and what is computed from it, keeps
// value columns together that the states themselves would let go to different
// blocks. No state needs it: it can be a kernel of its own, a block for each
// chunk and head, which takes what it needs of the states' reads from a scratch
// buffer.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_OUTPUTTAIL_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_OUTPUTTAIL_H

#include "DimClasses.h"

#include "llvm/ADT/SetVector.h"

namespace linattn::chunked_to_tile {

class OutputTail {
public:
  /// Empty where nothing mixes the value columns of outputs alone, or where
  /// that needs more of the chunk than matrices of value columns and tokens.
  OutputTail(ChunkedOp op, const DimClasses &classes);

  bool empty() const { return tail.empty(); }
  /// Whether the operation depends on values of different columns.
  bool contains(mlir::Operation *inner) const { return tail.contains(inner); }
  bool contains(mlir::Value value) const {
    return value.getDefiningOp() && contains(value.getDefiningOp());
  }
  /// The matrices that the tail takes from the rest, apart from tokens and
  /// parameters and what is quickly made of them.
  llvm::ArrayRef<mlir::Value> getCrossing() const {
    return crossing.getArrayRef();
  }

private:
  void findTail(const DimClasses &classes);
  bool findCrossing(const DimClasses &classes);
  bool isCheap(mlir::Value value);
  bool isMadeOfOthers(mlir::Value value);

  ChunkedOp op;
  llvm::DenseSet<mlir::Operation *> tail;
  llvm::DenseMap<mlir::Value, bool> cheap;
  llvm::SetVector<mlir::Value> crossing;
};

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_OUTPUTTAIL_H
