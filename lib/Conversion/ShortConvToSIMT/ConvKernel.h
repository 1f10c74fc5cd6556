//===- ConvKernel.h - the kernel of a short convolution ---------*- C++ -*-===//
//
// A thread owns `vector` adjacent channels (8 bytes of the input) in a run of
// R tokens of one sequence. Threads count through the channels first, then
// through the runs of all sequences. Dense, sequence n has the runs
// n * count .. ; packed, run i is one of sequence n if
//
//   s_n <= i < s_{n+1},   s_n = floor(begin_n / R) + n
//
// which leaves each sequence room for floor(length / R) + 1 runs, and is found
// by bisection of the offsets. Where there is a window, the last run of a
// sequence is the one that holds its end (it may have no token at all), and
// writes the window that remains.
//
//   history = window or 0 (first run), else the W - 1 inputs before the run
//   for groups of 8 tokens, then for the rest:
//     loads; y = act(bias + sum_j w_j x_j); stores; history moves on
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_SHORTCONVTOSIMT_CONVKERNEL_H
#define LINATTN_CONVERSION_SHORTCONVTOSIMT_CONVKERNEL_H

#include "../Common/KernelCode.h"

namespace linattn::simt {

struct ConvPlan {
  int64_t vector = 1; ///< channels of a thread, which divide those of the input
  int64_t lanes = 1;  ///< threads that share a run
  int64_t run = 32;   ///< tokens of a thread, at least W - 1
  int64_t threads = 128;
  bool writesWindow = false;

  /// Refuses, with an error at the operation, what a kernel cannot do.
  static mlir::FailureOr<ConvPlan> get(const KernelSignature &signature,
                                       ShortConvOp op);
};

class ConvKernel {
public:
  ConvKernel(const KernelSignature &signature, const ConvPlan &plan,
             mlir::OpBuilder &builder);

  void run(mlir::Operation *module, llvm::StringRef name);

private:
  using Values = llvm::SmallVector<mlir::Value>;

  // Where the thread stands.
  void emitDensePosition();
  void emitPackedPosition();
  mlir::Value offsetOf(mlir::Value sequence);
  /// The first run of packed sequence n.
  mlir::Value firstRunOf(mlir::Value sequence);

  // Memory. Channels of a thread are one access where `wide`.
  mlir::Value isAligned();
  mlir::Value tokenPointer(const GlobalTensor &tensor, mlir::Value token);
  Values loadToken(mlir::Value token, bool wide);
  void storeToken(mlir::Value token, llvm::ArrayRef<mlir::Value> values,
                  bool wide);
  /// The thread's part of a [C, n] matrix, element (c, j) at c * n + j. One
  /// that lies without gaps is read in pieces of 16 bytes.
  Values loadMatrix(mlir::Value pointer, mlir::Type element, int64_t inner,
                    mlir::Value channelStride, mlir::Value innerStride);
  void storeMatrix(llvm::ArrayRef<mlir::Value> values, mlir::Value pointer,
                   mlir::Type element, int64_t inner, mlir::Value channelStride,
                   mlir::Value innerStride);
  mlir::Value windowPointer(const GlobalTensor &tensor);

  // The run.
  void emitRun(bool wide);
  Values initialHistory(bool wide);
  /// Tokens [from, to) in steps of `unroll`.
  Values emitTokens(mlir::Value from, mlir::Value to, int64_t unroll,
                    llvm::ArrayRef<mlir::Value> history, bool wide);
  mlir::Value convolve(int64_t channel, llvm::ArrayRef<mlir::Value> history,
                       mlir::Value x);

  const KernelSignature &signature;
  const ConvPlan &plan;
  ShortConvOp op;
  mlir::OpBuilder &builder;
  KernelCode code;
  int64_t taps;
  mlir::Type element;

  llvm::SmallVector<GlobalTensor> tensors;
  mlir::Value time, numSequences;
  // All in i64.
  mlir::Value item, channel, sequence, runIndex, begin, end, first, last;
  /// Whether the thread has tokens or a window to write.
  mlir::Value isUsed;
  Values weights, bias;
};

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_SHORTCONVTOSIMT_CONVKERNEL_H
