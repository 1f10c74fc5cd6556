//===- ChunkDependences.h - what a chunk's state waits for ------*- C++ -*-===//
//
// Part of linattn. Each operation of a chunk's region is of one class:
//
//   off chain  does not depend on a carried state: may run ahead, for any chunk
//   on chain   depends on one, and a state after the chunk depends on it
//   output     depends on one, and only outputs depend on it
//
// A kernel repeats the chain once per chunk and can do no better than its
// length; everything else fits beside it.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_ANALYSIS_CHUNKDEPENDENCES_H
#define LINATTN_DIALECT_LINATTN_ANALYSIS_CHUNKDEPENDENCES_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

enum class ChunkClass { OffChain, OnChain, Output };
llvm::StringRef stringify(ChunkClass value);

/// Of a matrix product, a decay product or a triangular solve: additions and
/// multiplications, counted as if nothing were masked; 0 of anything else. A
/// solve of n rows and V columns counts n^2 V, an inverse n^3 / 3.
int64_t countProductFlops(mlir::Operation *op);

class ChunkDependences {
public:
  explicit ChunkDependences(ChunkedOp op);

  ChunkedOp getChunked() const { return chunked; }
  ChunkClass getClass(mlir::Operation *op) const { return classes.at(op); }
  bool dependsOnState(mlir::Value value) const {
    return carried.contains(value);
  }

  /// Whether a product depends on a carried state through what it adds to and
  /// through nothing that it multiplies: without the sum it would be off chain.
  bool onlyAccumulates(mlir::Operation *op) const;

  struct Summary {
    unsigned operations = 0, products = 0;
    int64_t flops = 0;
  };
  Summary summarize(ChunkClass value) const;

  /// Products on the longest way from a carried state to the next one, in
  /// order. Empty for a state that only decays.
  llvm::ArrayRef<mlir::Operation *> getChain() const { return chain; }

  /// Each operation with its class, the summary and the chain, for a person.
  void print(llvm::raw_ostream &os) const;

private:
  void findChain();

  ChunkedOp chunked;
  llvm::DenseMap<mlir::Operation *, ChunkClass> classes;
  llvm::DenseSet<mlir::Value> carried;
  llvm::SmallVector<mlir::Operation *> chain;
};

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_ANALYSIS_CHUNKDEPENDENCES_H
