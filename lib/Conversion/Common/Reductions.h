//===- Reductions.h - how reductions of tiles combine -----------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_COMMON_REDUCTIONS_H
#define LINATTN_CONVERSION_COMMON_REDUCTIONS_H

#include "linattn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace linattn {

/// How the region of a reduction combines, if in a way that tiles have.
std::optional<tile::Combine> combineOf(mlir::linalg::ReduceOp reduce);

/// What changes nothing where it is combined.
double neutralOf(tile::Combine kind);

} // namespace linattn

#endif // LINATTN_CONVERSION_COMMON_REDUCTIONS_H
