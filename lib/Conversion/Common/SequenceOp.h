//===- SequenceOp.h - what becomes a kernel ---------------------*- C++ -*-===//
//
// `recurrence`, `chunked`, `attention_tiles` and `short_conv` work on sequences
// of tokens and have operands and results of the same kinds. What asks only for
// those takes a SequenceOp and serves all of them. The window of a convolution
// is its state, its channels are what heads are elsewhere.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_COMMON_SEQUENCEOP_H
#define LINATTN_CONVERSION_COMMON_SEQUENCEOP_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include <initializer_list>

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
  ShortConvOp convolution() const { return llvm::dyn_cast<ShortConvOp>(op); }
  static Values present(std::initializer_list<mlir::Value> values) {
    return llvm::to_vector<6>(
        llvm::make_filter_range(values, [](mlir::Value v) { return bool(v); }));
  }

public:
  SequenceOp() = default;
  SequenceOp(RecurrenceOp op) : op(op) {}
  SequenceOp(ChunkedOp op) : op(op) {}
  SequenceOp(AttentionTilesOp op) : op(op) {}
  SequenceOp(ShortConvOp op) : op(op) {}
  /// Null for any other operation.
  static SequenceOp dynCast(mlir::Operation *op) {
    SequenceOp result;
    if (llvm::isa<RecurrenceOp, ChunkedOp, AttentionTilesOp, ShortConvOp>(op))
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
    if (auto conv = convolution())
      return {conv.getInput()};
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
    if (auto conv = convolution())
      return present({conv.getWindow()});
    return ofRecurrence([](auto o) { return Values(o.getStates()); });
  }
  mlir::Value getSeqlens() const {
    if (auto tiles = attention())
      return tiles.getSeqlens();
    if (auto conv = convolution())
      return conv.getSeqlens();
    return ofRecurrence([](auto o) -> mlir::Value { return o.getSeqlens(); });
  }
  mlir::Value getKvSeqlens() const {
    return attention() ? attention().getKvSeqlens() : mlir::Value();
  }
  mlir::Value getSlots() const {
    if (attention() || convolution())
      return {};
    return ofRecurrence([](auto o) -> mlir::Value { return o.getSlots(); });
  }
  std::optional<int64_t> getSnapshots() const {
    if (attention() || convolution())
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
    if (convolution())
      return 1;
    return ofRecurrence([](auto o) -> int64_t { return o.getNumHeads(); });
  }
  unsigned getNumOutputs() const {
    if (attention())
      return op->getNumResults();
    if (convolution())
      return 1;
    return ofRecurrence([](auto o) -> unsigned { return o.getNumOutputs(); });
  }
  unsigned getNumStates() const { return getStates().size(); }
  bool isPacked() const { return bool(getSeqlens()); }
  /// The dimension of token operands that counts heads, or channels.
  unsigned getHeadDim() const { return isPacked() ? 1 : 2; }
  /// Whether the elements of an operand, or of a result, lie beside each other
  /// along the inner dimension.
  bool isInnerContiguous(mlir::Value operand) const;
  bool isResultInnerContiguous(unsigned number) const;

private:
  mlir::Operation *op = nullptr;
};

} // namespace linattn

#endif // LINATTN_CONVERSION_COMMON_SEQUENCEOP_H
