//===- Rows.h - which rows belong to which sequence -------------*- C++ -*-===//
//
// Part of linattn. Reads offsets and slots: a row of an array belongs to a
// sequence, or to none (rows beyond the last offset, of a padding slot, states
// of a pool that no slot names). What belongs to none must not be touched.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_ROWS_H
#define LINATTN_RUNNER_ROWS_H

#include "linattn/Runner/Signature.h"

namespace linattn {
namespace runner {

struct RowMap {
  /// The sequence of each row (of a pool: the state itself), or -1.
  std::vector<int64_t> sequence;
  /// Elements of a row.
  int64_t rowSize = 1;
  int64_t numSequences = 1;
};

/// `inputs` are the function's arguments: seqlens and slots are read there.
RowMap mapRows(const RowLayout &layout, llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<Buffer> inputs);

/// Offsets start at 0, do not decrease and do not pass `rows` (if known).
llvm::Error checkSeqlens(const Buffer &seqlens, llvm::StringRef name,
                         std::optional<int64_t> rows);

/// Slots are in [0, poolSize) or the padding, and name no state twice.
llvm::Error checkSlots(const Buffer &slots, llvm::StringRef name,
                       int64_t padding, std::optional<int64_t> poolSize);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_ROWS_H
