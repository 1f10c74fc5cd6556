//===- ConvolveToken.h - one element of a convolution -----------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_COMMON_CONVOLVETOKEN_H
#define LINATTN_CONVERSION_COMMON_CONVOLVETOKEN_H

#include "KernelCode.h"

namespace linattn::simt {

/// act(bias + sum_j weights[j] inputs[j]), the oldest input first, all in f32;
/// without a bias it may be null. Kernels that share this give the same bits.
mlir::Value emitConvolution(KernelCode &code,
                            llvm::ArrayRef<mlir::Value> weights,
                            llvm::ArrayRef<mlir::Value> inputs,
                            mlir::Value bias, Activation activation);

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_COMMON_CONVOLVETOKEN_H
