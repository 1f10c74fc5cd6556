//===- KernelFrame.h - a kernel while it is built ---------------*- C++ -*-===//
//
// What the parts of the lowering share: the builder, where the thread stands,
// and where loop-invariant code goes. The kernel has this form:
//
//   sequence n, head h, column, lane from the block's and the thread's index
//   if (n < N, and the slot is not padding)
//     preamble: pointers, parameters, initial states
//     if (begin < end)
//       first token's loads
//       for (t = begin .. end - 1)
//         publish keys; barrier; loads of token t + 1; the step; outputs
//     final states
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELFRAME_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELFRAME_H

#include "KernelPlan.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace linattn::simt {

/// A tensor in global memory: element (i, j, ..) is at
/// pointer + i * strides[0] + j * strides[1] + .., the inner stride is 1 where
/// none is given.
struct GlobalTensor {
  mlir::RankedTensorType type;
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> strides;

  int64_t dim(unsigned i) const { return type.getDimSize(i); }
};

class KernelFrame {
public:
  KernelFrame(RecurrenceOp op, const KernelPlan &plan, mlir::OpBuilder &builder)
      : op(op), plan(plan), builder(builder), loc(op.getLoc()) {}

  RecurrenceOp op;
  const KernelPlan &plan;
  mlir::OpBuilder &builder;
  mlir::Location loc;

  // Indices in i32, sizes and token positions in i64.
  mlir::Value thread, lane, column;
  mlir::Value sequence, head, time;
  mlir::Value begin, end;

  /// Invariant code goes before this operation.
  mlir::Operation *preambleEnd = nullptr;
  /// The loop over tokens, its token, and where the loads of the next go.
  mlir::Operation *loop = nullptr;
  mlir::Value token;
  mlir::Operation *firstBarrier = nullptr;

  mlir::Value i1(bool value);
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value f32(double value);
  mlir::Value toI64(mlir::Value index);

  mlir::Value addI(mlir::Value a, mlir::Value b);
  mlir::Value mulI(mlir::Value a, mlir::Value b);
  mlir::Value minI(mlir::Value a, mlir::Value b);
  mlir::Value isLess(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  /// A pointer `offset` elements on.
  mlir::Value advance(mlir::Value pointer, mlir::Type element,
                      mlir::Value offset);
  mlir::Value load(mlir::Type type, mlir::Value pointer, unsigned alignment = 0,
                   bool invariant = false);
  void store(mlir::Value value, mlir::Value pointer, unsigned alignment = 0);

  /// Widens 16-bit floats to f32; rounds f32 to `type`.
  mlir::Value toF32(mlir::Value value);
  mlir::Value fromF32(mlir::Value value, mlir::Type type);

  /// Runs `then` under a condition; null means always.
  void when(mlir::Value condition, llvm::function_ref<void()> then);

  /// Whether a value is known before the loop over tokens.
  bool isInvariant(mlir::Value value);
  /// Builds at the end of the preamble if all `inputs` are invariant, else
  /// here.
  mlir::Value hoisted(llvm::ArrayRef<mlir::Value> inputs,
                      llvm::function_ref<mlir::Value()> build);

  /// The head of an operand with `heads` heads that this block reads, as i64.
  mlir::Value operandHead(int64_t heads);
  /// Whether this thread's column is one of the first `size`; null: always.
  mlir::Value hasColumn(int64_t size);
  /// Whether this thread speaks for a column: of the first `size`, in lane 0.
  mlir::Value ownsColumn(int64_t size);

  void barrier();

private:
  llvm::DenseMap<int64_t, mlir::Value> heads, columns, owned;
};

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_KERNELFRAME_H
