//===- KernelCode.h - scalar code of a kernel -------------------*- C++ -*-===//
//
// What kernels that are written element by element share: short names for
// arithmetic and memory at one place of the code, and a kernel's parameters.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_COMMON_KERNELCODE_H
#define LINATTN_CONVERSION_COMMON_KERNELCODE_H

#include "KernelSignature.h"

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

class KernelCode {
public:
  KernelCode(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

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
};

/// A kernel whose code is to be written: the builder stands in its empty body.
struct KernelFunction {
  /// Those of the signature, in its order.
  llvm::SmallVector<GlobalTensor> tensors;
  mlir::Value time, numSequences;
};

/// Makes a kernel of `threads` per block at the end of `module`, and moves the
/// builder into it. Its parameters are the tensors of the signature, T and N.
KernelFunction createKernel(KernelCode &code, mlir::Operation *module,
                            llvm::StringRef name,
                            const KernelSignature &signature, int32_t threads,
                            int32_t blocks);

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_COMMON_KERNELCODE_H
