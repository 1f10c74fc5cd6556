//===- FrontConv.h - a convolution in front of a token operand --*- C++ -*-===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_FRONTCONV_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_FRONTCONV_H

#include "KernelFrame.h"

namespace linattn::simt {

/// The operands of a convolution in front, in memory. Its channels are those of
/// a head one after another, then the next head's.
struct FrontConv {
  FrontConv(const KernelSignature &signature,
            llvm::ArrayRef<GlobalTensor> tensors, ShortConvOp op);

  // A handle: its constness says nothing about what it points to.
  mutable ShortConvOp op;
  GlobalTensor input, weight;
  std::optional<GlobalTensor> bias, window;
  /// What a window without memory is filled with.
  double fill = 0;
  /// Where the window that remains goes.
  llvm::SmallVector<GlobalTensor, 1> finalWindows;

  int64_t getWidth() const { return op.getWidth(); }
  int64_t getDepth() const { return op.getWidth() - 1; }

  /// Channel `channel` of token 0 of the sequence that the kernel works on.
  mlir::Value rowPointer(KernelFrame &frame, mlir::Value channel) const;
  /// From channel 0 of a token to another one.
  mlir::Value offsetOf(KernelFrame &frame, mlir::Value channel) const;
  mlir::Value tokenStride() const {
    return input.strides[op.isPacked() ? 0 : 1];
  }
  /// Element (channel, j) of the weights or the bias, in f32.
  mlir::Value loadWeight(KernelFrame &frame, mlir::Value channel,
                         int64_t j) const;
  mlir::Value loadBias(KernelFrame &frame, mlir::Value channel) const;
  /// The input `depth - j` tokens before the sequence, in f32.
  mlir::Value loadWindow(KernelFrame &frame, mlir::Value channel,
                         mlir::Value j) const;
  /// The input at a token of the sequence, or at one of the `depth` before it,
  /// in f32.
  mlir::Value loadInput(KernelFrame &frame, mlir::Value channel,
                        mlir::Value token) const;

  /// Stores what remains: the last inputs, oldest first.
  void storeWindow(KernelFrame &frame, mlir::Value channel,
                   llvm::ArrayRef<mlir::Value> inputs) const;

private:
  mlir::Value windowPointer(KernelFrame &frame, mlir::Value channel,
                            mlir::Value j) const;
};

/// Whether this block writes the window that remains of what becomes `operand`:
/// the first slice of the first of the heads that share the operand's.
mlir::Value ownsWindow(KernelFrame &frame, mlir::RankedTensorType operand);

/// Writes the window that remains of a convolution in front, in its block, from
/// memory: where a sequence's last token is convolved it is at hand.
void storeFinalWindow(KernelFrame &frame, const FrontConv &front,
                      mlir::RankedTensorType operand);

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_FRONTCONV_H
