//===- TokenRows.h - tokens of several rows ---------------------*- C++ -*-===//
//
// A token operand may have several vectors (or numbers) per token, such as the
// keys of several events. The region takes them apart by slices, each of which
// is a tile that the kernel loads by itself.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOTILE_TOKENROWS_H
#define LINATTN_CONVERSION_CHUNKEDTOTILE_TOKENROWS_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn::chunked_to_tile {

/// What is loaded as one tile or vector: a token operand, or one of its rows.
struct TokenTile {
  mlir::Value value;
  unsigned operand;
  std::optional<int64_t> row;
};

/// Takes rows of token operands first and computes on them afterwards; one
/// slice for each row.
void liftRowSlices(ChunkedOp op);

/// Whether the value is a token operand or a row of one.
bool isTokenTile(ChunkedOp op, mlir::Value value);

/// The matrices that were put above each other, such as the right sides of the
/// unknowns of a token.
llvm::SmallVector<mlir::Value> getStacked(mlir::Value all);

/// Which of the unknowns of a system per value column the value is, if it is
/// one of several.
struct Unknown {
  UnitLowerSolveOp solve;
  int64_t number;
};
std::optional<Unknown> getUnknown(mlir::Value value);

/// All tiles of tokens that the region uses.
llvm::SmallVector<TokenTile> getTokenTiles(ChunkedOp op);

} // namespace linattn::chunked_to_tile

#endif // LINATTN_CONVERSION_CHUNKEDTOTILE_TOKENROWS_H
