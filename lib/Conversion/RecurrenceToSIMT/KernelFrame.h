//===- KernelFrame.h - a kernel while it is built ---------------*- C++ -*-===//
//
// What the parts of the lowering share: the builder, where the thread stands,
// and where loop-invariant code goes. The kernel has this form:
//
//   sequence n, head h, column, lane from the block's and the thread's index
//   if (n < N, and the slot is not padding)
//     preamble: pointers, parameters
//     if (begin < end)
//       first token's loads, initial states
//       for (t = begin .. end - 1)
//         publish keys; barrier; loads of token t + 1; the step; outputs
//       final states
//     else
//       final states that are not in the place of the initial ones
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELFRAME_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELFRAME_H

#include "KernelPlan.h"

#include "../Common/KernelCode.h"

namespace linattn::simt {

class KernelFrame : public KernelCode {
public:
  KernelFrame(RecurrenceOp op, const KernelPlan &plan, mlir::OpBuilder &builder)
      : KernelCode(builder, op.getLoc()), op(op), plan(plan) {}

  RecurrenceOp op;
  const KernelPlan &plan;

  // Indices in i32, sizes and token positions in i64.
  mlir::Value thread, lane, slice;
  /// Of this thread, beside each other: plan.vector of them.
  llvm::SmallVector<mlir::Value, 4> columns;
  mlir::Value sequence, head, time;
  mlir::Value begin, end;

  /// Invariant code goes before this operation.
  mlir::Operation *preambleEnd = nullptr;
  /// The loop over tokens, its token, and where the loads of the next go.
  mlir::Operation *loop = nullptr;
  mlir::Value token;
  /// Loads of the first token go before this operation.
  mlir::Operation *firstTokenEnd = nullptr;
  mlir::Operation *firstBarrier = nullptr;
  /// Symbols of numbers in global memory.
  llvm::DenseMap<mlir::Attribute, std::string> tables;

  /// Whether a value is known before the loop over tokens.
  bool isInvariant(mlir::Value value);
  /// Builds at the end of the preamble if all `inputs` are invariant, else
  /// here.
  mlir::Value hoisted(llvm::ArrayRef<mlir::Value> inputs,
                      llvm::function_ref<mlir::Value()> build);

  /// The head of an operand with `heads` heads that this block reads, as i64.
  mlir::Value operandHead(int64_t heads);
  /// Whether this thread's column `part` is one of the first `size`; null:
  /// always.
  mlir::Value hasColumn(int64_t size, unsigned part = 0);
  /// Whether this thread speaks for a column: of the first `size`, in lane 0.
  mlir::Value ownsColumn(int64_t size, unsigned part = 0);

  /// a + number, which does not overflow: addresses by it share a base.
  mlir::Value addBounded(mlir::Value a, int64_t number);

  void barrier();

private:
  /// A part, or part 0 where all are the same.
  unsigned representative(int64_t size, unsigned part) const {
    return size % plan.vector == 0 ? 0 : part;
  }

  llvm::DenseMap<int64_t, mlir::Value> heads;
  llvm::DenseMap<std::pair<int64_t, unsigned>, mlir::Value> inside, owned;
};

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELFRAME_H
