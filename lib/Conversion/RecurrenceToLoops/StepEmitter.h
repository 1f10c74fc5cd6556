//===- StepEmitter.h - one token's step as loops over the state -*- C++ -*-===//

#ifndef LINATTN_CONVERSION_RECURRENCETOLOOPS_STEPEMITTER_H
#define LINATTN_CONVERSION_RECURRENCETOLOOPS_STEPEMITTER_H

#include "linattn/Conversion/StepValues.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace linattn {

/// What the lowering did, for the statistics of the pass.
struct SweepCounts {
  unsigned sweeps = 0;
  unsigned copies = 0;
};

/// Emits the step of a recurrence on states in memory. Operations on one state
/// are collected until a result of theirs is needed, and then done in one sweep
/// over the rows of the state.
class StepEmitter {
public:
  /// `homes`: where each state lies before the token and must lie after it,
  /// [K, V] in the state's compute type. Scratch memory is allocated at the
  /// builder's position, which must be outside the token loop.
  StepEmitter(RecurrenceOp op, mlir::OpBuilder &builder,
              llvm::ArrayRef<mlir::Value> homes, SweepCounts &counts);

  void map(mlir::Value from, mlir::Value to) { mapping.map(from, to); }

  /// Emits the step at the builder's position, inside `tokenLoop`, and returns
  /// the outputs.
  llvm::SmallVector<mlir::Value> emit(mlir::Operation *tokenLoop);

private:
  /// A buffer that holds one chain of versions of a state, and the operations
  /// on it that wait for the next sweep.
  struct Chain {
    mlir::Value buffer;
    mlir::Value version;
    llvm::SmallVector<mlir::Operation *> pending;
  };

  void emitStateOp(mlir::Operation *op);
  /// Runs the sweeps whose results `op` needs.
  void flushOperands(mlir::Operation *op);
  void flush(unsigned chain);
  void emitSweep(Chain &chain);
  void emitPiece(Chain &chain, int64_t at, int64_t width,
                 llvm::SmallVectorImpl<mlir::Value> &sums);
  void moveHome();
  /// Memory outside the token loop.
  mlir::Value makeScratch(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// A vector over K in memory, in the compute type, so that a loop over rows
  /// can read its elements.
  mlir::Value rowsInMemory(mlir::Value vector, mlir::Type element,
                           bool exponential);
  void copy(mlir::Value from, mlir::Value to, StateType type);

  RecurrenceOp op;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  SweepCounts &counts;
  mlir::IRMapping mapping;
  llvm::SmallVector<mlir::Value> homes;
  llvm::SmallVector<Chain> chains;
  /// The chain that holds a version of a state.
  llvm::DenseMap<mlir::Value, unsigned> chainOf;
  /// Waiting reads and the chain they wait in.
  llvm::DenseMap<mlir::Operation *, unsigned> waiting;
  mlir::Operation *tokenLoop = nullptr;
  /// (vector, is a log decay) to its copy in memory.
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Type, int>, mlir::Value>
      inMemory;
};

} // namespace linattn

#endif // LINATTN_CONVERSION_RECURRENCETOLOOPS_STEPEMITTER_H
