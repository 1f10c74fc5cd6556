//===- KernelBuilder.h - builds the kernel of a recurrence ------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELBUILDER_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELBUILDER_H

#include "../Common/KernelSignature.h"
#include "KernelPlan.h"
#include "StateRows.h"
#include "TokensAhead.h"

namespace linattn::simt {

/// Builds one kernel into a gpu.module; see KernelFrame.h for its form.
class KernelBuilder {
public:
  KernelBuilder(const KernelSignature &signature, const KernelPlan &plan,
                const llvm::DenseSet<mlir::Value> &dependent,
                mlir::OpBuilder &builder);

  mlir::LogicalResult run(mlir::Operation *module, llvm::StringRef name);
  int64_t getSharedBytes() const { return shared.getBytes(); }

private:
  void bindFronts();
  void bindArguments(StepEvaluator &to);
  void emitPosition();
  void emitBounds();
  /// Windows that remain where no token is: those before.
  void storeWindows();
  /// The sequence, if its slot is not padding.
  void emitSlot();
  void emitSequence();
  llvm::SmallVector<mlir::Value>
  emitTokens(llvm::ArrayRef<mlir::Value> initial);
  void emitToken();
  void emitStateOp(mlir::Operation *op);
  void publishKeys(llvm::ArrayRef<mlir::Operation *> order);
  llvm::SmallVector<mlir::Value, 4>
  sumOverLanes(llvm::SmallVector<mlir::Value, 4> sums);
  /// Results that are a state's end, besides the pool it lives in.
  llvm::ArrayRef<unsigned> resultsOf(unsigned state);
  StateRows loadState(unsigned state);
  void storeState(unsigned state, const StateRows &rows,
                  llvm::ArrayRef<unsigned> targets);
  LogDecay logDecay(mlir::Value gate);
  mlir::Value scalarFactor(DecayOp decay);
  /// Whether scalar decays wait for the end of the call. Not where states are
  /// stored on the way: their rows with and without the factor take registers.
  bool decaysWait() { return plan.decoding && !op.getSnapshots(); }
  /// Whether scalar decays of the state wait, so that a factor goes from token
  /// to token with its rows.
  bool hasPending(unsigned state);
  void decayLater(DecayOp decay, mlir::Value factor);
  /// The rows of a version with its pending factor.
  StateRows settled(mlir::Value version);
  void storeOutputs();
  void storeSnapshots();
  /// The matrix [K, V] of this head in row `row` of [.., H, K, V]; with
  /// `second`, in row (row, second).
  mlir::Value stateBase(const GlobalTensor &tensor, mlir::Value row,
                        mlir::Value second = {});
  mlir::Value loadOffset(mlir::Value operand, mlir::Value at);

  const KernelSignature &signature;
  const KernelPlan &plan;
  RecurrenceOp op;
  mlir::OpBuilder &builder;
  mlir::Operation *module = nullptr;
  KernelFrame frame;
  SharedMemory shared;
  StepEvaluator evaluator;
  TokensAhead ahead;

  llvm::SmallVector<GlobalTensor> tensors;
  /// Convolutions in front, and the operands that they become.
  llvm::SmallVector<FrontConv, 1> fronts;
  llvm::SmallVector<mlir::Value> fronted;
  mlir::Value numSequences;
  /// Row of the states of this sequence.
  mlir::Value stateRow;
  llvm::SmallVector<StateRowsBuilder> states;
  llvm::DenseMap<mlir::Value, StateRows> versions;
  /// By what rows of a version are still to be multiplied: scalar decays of
  /// decoding kernels wait for the end. Null: by nothing.
  llvm::DenseMap<mlir::Value, mlir::Value> pending;
  /// Of scalar log decays: what rounding of the factors has lost so far.
  llvm::DenseMap<mlir::Operation *, mlir::Value> lost;
};

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELBUILDER_H
