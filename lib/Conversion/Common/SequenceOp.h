//===- SequenceOp.h - a recurrence or its chunk form ------------*- C++ -*-===//
//
// `recurrence` and `chunked` have the same operands and results. What asks only
// for those takes a SequenceOp and serves both.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_CONVERSION_COMMON_SEQUENCEOP_H
#define LINATTN_CONVERSION_COMMON_SEQUENCEOP_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

class SequenceOp {
  template <typename Fn> auto call(Fn fn) const {
    if (auto recurrence = llvm::dyn_cast<RecurrenceOp>(op))
      return fn(recurrence);
    return fn(llvm::cast<ChunkedOp>(op));
  }

public:
  SequenceOp() = default;
  SequenceOp(RecurrenceOp op) : op(op) {}
  SequenceOp(ChunkedOp op) : op(op) {}
  /// Null for any other operation.
  static SequenceOp dynCast(mlir::Operation *op) {
    SequenceOp result;
    if (llvm::isa<RecurrenceOp, ChunkedOp>(op))
      result.op = op;
    return result;
  }

  explicit operator bool() const { return op != nullptr; }
  mlir::Operation *operator->() const { return op; }
  mlir::Operation *getOperation() const { return op; }

  mlir::OperandRange getTokens() const {
    return call([](auto o) -> mlir::OperandRange { return o.getTokens(); });
  }
  mlir::OperandRange getParams() const {
    return call([](auto o) -> mlir::OperandRange { return o.getParams(); });
  }
  mlir::OperandRange getStates() const {
    return call([](auto o) -> mlir::OperandRange { return o.getStates(); });
  }
  mlir::Value getSeqlens() const {
    return call([](auto o) -> mlir::Value { return o.getSeqlens(); });
  }
  mlir::Value getSlots() const {
    return call([](auto o) -> mlir::Value { return o.getSlots(); });
  }
  std::optional<int64_t> getSnapshots() const {
    return call([](auto o) -> std::optional<int64_t> {
      if (auto every = o.getSnapshots())
        return *every;
      return std::nullopt;
    });
  }
  int64_t getPaddingSlot() const {
    return call([](auto o) -> int64_t { return o.getPaddingSlot(); });
  }
  int64_t getNumHeads() const {
    return call([](auto o) -> int64_t { return o.getNumHeads(); });
  }
  unsigned getNumOutputs() const {
    return call([](auto o) -> unsigned { return o.getNumOutputs(); });
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
