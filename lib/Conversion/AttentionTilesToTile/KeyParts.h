//===- KeyParts.h - keys of a sequence in parts -----------------*- C++ -*-===//
//
// A slot is a part of the keys for one query tile; a row of the scratch buffers
// and, per group of heads, a block belong to it. With T tokens and S keys in a
// sequence, Q tokens to a query tile and K keys to a part:
//
//   q = ceil(T / Q)                           query tiles
//   p = max(floor(ceil(S / K) / q), 1)        parts of each; 0 if S = 0
//
// so that q p <= ceil(S / K) + floor(T / Q), the slots that each sequence has.
// Slot i p + j is part j of query tile i. Packed sequences have at most
// floor(S / K) + floor(T / Q) + N slots together, and sequence n begins at what
// this is of the tokens and keys before it.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_KEYPARTS_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_KEYPARTS_H

#include "mlir/IR/Builders.h"

namespace linattn::attention_to_tile {

struct KeyParts {
  int64_t tokens, keys;

  /// How many slots all sequences have, as docs/Artifacts.md has sizes.
  mlir::Attribute countSlots(mlir::Builder b, bool isPacked) const;
  /// The slots of one of `time` tokens and `keyTime` keys that is not packed.
  mlir::Value countSlots(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value time, mlir::Value keyTime) const;
  /// The first slot of packed sequence n, whose tokens and keys begin there.
  mlir::Value firstSlot(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value n, mlir::Value token,
                        mlir::Value key) const;
  /// q and p.
  mlir::Value countTiles(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value count) const;
  mlir::Value countParts(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value tiles, mlir::Value keyCount) const;
};

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_KEYPARTS_H
