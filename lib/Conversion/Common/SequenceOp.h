//===- SequenceOp.h - what becomes a kernel ---------------------*- C++ -*-===//
//
// `recurrence`, `chunked` and `attention_tiles` work on sequences of tokens and
// have operands and results of the same kinds. What asks only for those takes a
// SequenceOp and serves all of them.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_COMMON_SEQUENCEOP_H
#define LINATTN_CONVERSION_COMMON_SEQUENCEOP_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

class SequenceOp {
  using Values = llvm::SmallVector<mlir::Value>;

  template <typename Fn> auto ofRecurrence(Fn fn) const {
    if (auto recurrence = llvm::dyn_cast<RecurrenceOp>(op))
      return fn(recurrence);
    return fn(llvm::cast<ChunkedOp>(op));
  }
  AttentionTilesOp attention() const {
    return llvm::dyn_cast<AttentionTilesOp>(op);
  }

public:
  SequenceOp() = default;
  SequenceOp(RecurrenceOp op) : op(op) {}
  SequenceOp(ChunkedOp op) : op(op) {}
  SequenceOp(AttentionTilesOp op) : op(op) {}
  /// Null for any other operation.
  static SequenceOp dynCast(mlir::Operation *op) {
    SequenceOp result;
    if (llvm::isa<RecurrenceOp, ChunkedOp, AttentionTilesOp>(op))
      result.op = op;
    return result;
  }

  explicit operator bool() const { return op != nullptr; }
  mlir::Operation *operator->() const { return op; }
  mlir::Operation *getOperation() const { return op; }

  /// Operands, and what regions read from outside.
  Values getInputs() const {
    Values inputs(op->getOperands());
    if (attention())
      llvm::append_range(inputs, getParams());
    return inputs;
  }
  Values getTokens() const {
    if (auto tiles = attention())
      return Values(tiles.getQueries());
    return ofRecurrence([](auto o) { return Values(o.getTokens()); });
  }
  /// Tokens of sequences with a length of their own.
  Values getKeys() const {
    if (auto tiles = attention())
      return Values(tiles.getKeys());
    return {};
  }
  Values getParams() const;
  Values getStates() const {
    if (attention())
      return {};
    return ofRecurrence([](auto o) { return Values(o.getStates()); });
  }
  mlir::Value getSeqlens() const {
    if (auto tiles = attention())
      return tiles.getSeqlens();
    return ofRecurrence([](auto o) -> mlir::Value { return o.getSeqlens(); });
  }
  mlir::Value getKvSeqlens() const {
    return attention() ? attention().getKvSeqlens() : mlir::Value();
  }
  mlir::Value getSlots() const {
    if (attention())
      return {};
    return ofRecurrence([](auto o) -> mlir::Value { return o.getSlots(); });
  }
  std::optional<int64_t> getSnapshots() const {
    if (attention())
      return std::nullopt;
    return ofRecurrence([](auto o) -> std::optional<int64_t> {
      if (auto every = o.getSnapshots())
        return *every;
      return std::nullopt;
    });
  }
  int64_t getPaddingSlot() const {
    return ofRecurrence([](auto o) -> int64_t { return o.getPaddingSlot(); });
  }
  int64_t getNumHeads() const {
    if (auto tiles = attention())
      return tiles.getHeads();
    return ofRecurrence([](auto o) -> int64_t { return o.getNumHeads(); });
  }
  unsigned getNumOutputs() const {
    if (attention())
      return op->getNumResults();
    return ofRecurrence([](auto o) -> unsigned { return o.getNumOutputs(); });
  }
  unsigned getNumStates() const { return getStates().size(); }
  bool isPacked() const { return bool(getSeqlens()); }
  /// The dimension of token operands that counts heads.
  unsigned getHeadDim() const { return isPacked() ? 1 : 2; }

private:
  mlir::Operation *op = nullptr;
};

} // namespace linattn

#endif // LINATTN_CONVERSION_COMMON_SEQUENCEOP_H
