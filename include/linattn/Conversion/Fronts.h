//===- Fronts.h - convolutions in front of a kernel -------------*- C++ -*-===//
//
// A short convolution stands in front of a recurrence if its result is a token
// operand of it, in another shape maybe, and nothing else reads it: the kernel
// of the recurrence may then compute it from the rows it loads. Which ones it
// does is said by the function: what stands beside the recurrence is in front.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_FRONTS_H
#define LINATTN_CONVERSION_FRONTS_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

/// The convolution whose result a token operand is, but for its shape; null if
/// it is none.
ShortConvOp getFront(mlir::Value token);

/// The recurrence (or its chunk form) that reads the result of a convolution,
/// through reshapes; null if that is not its only reader.
mlir::Operation *getReader(ShortConvOp conv);

/// Why a convolution cannot be computed where its result is read; empty if it
/// can.
std::string whyNoFront(ShortConvOp conv);

/// Whether the operation is a convolution in front of a recurrence beside it,
/// or a reshape between them.
bool isPartOfFront(mlir::Operation *op);

} // namespace linattn

#endif // LINATTN_CONVERSION_FRONTS_H
