//===- Precision.h - what products of an operation round to -----*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_PRECISION_H
#define LINATTN_DIALECT_LINATTN_IR_PRECISION_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

/// What the operands of matrix products round to where nothing else is forced:
/// what `precision` says, else the first 16-bit type among `operands`, else
/// f32.
MmaPrecision getMmaPrecision(PrecisionAttr precision,
                             mlir::ValueRange operands);

/// Of a recurrence (its tokens) or an attention (queries, keys, values);
/// nothing for other operations. A recurrence of f16 tokens that shows a state
/// as a decay left it, with no write behind, rounds to bf16: f16 has no range
/// for what a strong decay leaves.
std::optional<MmaPrecision> getMmaPrecision(mlir::Operation *op);

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_IR_PRECISION_H
