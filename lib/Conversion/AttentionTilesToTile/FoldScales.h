//===- FoldScales.h - scales of scores, off the elements --------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_FOLDSCALES_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_FOLDSCALES_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn::attention_to_tile {

/// Moves a positive factor c of a matrix behind what does not mind it:
///
///   select(allowed, c x, -inf)  =  c select(allowed, x, -inf)
///   max over a row of c x       =  c (max over the row of x)
///
/// exactly, since rounding is monotone. What is left is the factor of an
/// exponent, which one multiply-add takes with the subtraction of the maximum.
void foldScales(AttentionTilesOp op);

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_FOLDSCALES_H
