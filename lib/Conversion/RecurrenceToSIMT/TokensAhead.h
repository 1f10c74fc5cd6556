//===- TokensAhead.h - what tokens need of themselves, ahead ----*- C++ -*-===//

#ifndef LINATTN_CONVERSION_RECURRENCETOSIMT_TOKENSAHEAD_H
#define LINATTN_CONVERSION_RECURRENCETOSIMT_TOKENSAHEAD_H

#include "LogDecay.h"
#include "StepEvaluator.h"

namespace linattn::simt {

/// Decoding: what a step computes of its token alone, without a state, for
/// several tokens at once. Each warp of the block takes tokens of its own, and
/// leaves in shared memory what the turns of these tokens ask for: rows of keys
/// and decays, elements of the block's columns, numbers. So the loads of all
/// tokens of a call are under way together, what is the same for all threads is
/// computed once, and a token's turn has no barrier for it.
///
/// What is asked for is known when the loop's body has been built: only then is
/// the code that computes it, before the loop and, for calls of more tokens, at
/// its beginning.
class TokensAhead {
public:
  TokensAhead(KernelFrame &frame, SharedMemory &shared,
              const llvm::DenseSet<mlir::Value> &dependent)
      : frame(frame), shared(shared), dependent(dependent) {}

  /// Decides how many tokens there is shared memory for, and emits the array's
  /// address into the preamble.
  void begin(llvm::StringRef symbol);
  bool isUsed() const { return rounds != 0; }
  /// Emits where the loop's token has its values, at the start of the body.
  void beginToken();

  /// An element in f32, `at` numbers or, last, one of the thread's own columns;
  /// null if it is not computed ahead.
  mlir::Value element(StepEvaluator &turn, mlir::Value value,
                      llvm::ArrayRef<Coord> at);
  /// Where a vector over K lies, or e^ of it, zeros behind it, from an element
  /// on; null if it is not computed ahead.
  mlir::Value rows(mlir::Value vector, bool exponential, mlir::Value element,
                   int64_t first);
  /// The factor of a scalar log decay; null values if it is not computed ahead.
  LogDecay decay(mlir::Value gate);

  /// Emits the code that computes what was asked for. `bind` tells an evaluator
  /// where the arguments of the step are.
  void finish(mlir::Operation *module,
              llvm::function_ref<void(StepEvaluator &)> bind);

private:
  enum class Kind { Number, Columns, Rows, Exponentials, Factor };
  struct Item {
    Kind kind;
    mlir::Value value;
    /// The coordinates of a number, those before the column of columns.
    llvm::SmallVector<int64_t, 2> at;
    /// The first float of the token's.
    int64_t slot = 0;
    /// What the turn has loaded.
    llvm::SmallVector<mlir::Value, 4> loaded;
  };
  Item &ask(Kind kind, mlir::Value value, llvm::ArrayRef<int64_t> at = {});
  int64_t sizeOf(const Item &item) const;
  int64_t estimateFloats() const;
  bool isComputed(mlir::Value value) const;
  int64_t warps() const { return frame.plan.threads / kWarpSize; }
  int64_t tokens() const { return warps() * rounds; }

  /// `count` floats one after the other, all in the same 16 bytes.
  int64_t allocateNumbers(int64_t count);
  /// The bytes of one token, in floats: a constant that finish() sets.
  mlir::Value tokenSize();
  mlir::Value address(mlir::Value place, int64_t slot,
                      mlir::Value element = {});

  /// All tokens from `first` on that there is memory for. Their loads go before
  /// `loads`; null: in place, warp's token by token, for registers that states
  /// have.
  void emitRounds(mlir::Value first, mlir::Operation *loads,
                  llvm::function_ref<void(StepEvaluator &)> bind);
  /// One token of each warp: those from `first` + round * warps on.
  void emitRound(mlir::Value first, int64_t round, mlir::Operation *loads,
                 llvm::function_ref<void(StepEvaluator &)> bind);
  /// A warp's width of a vector, from element `first` on.
  void emitPiece(StepEvaluator &evaluator, const Item &item, mlir::Value place,
                 int64_t first);

  KernelFrame &frame;
  SharedMemory &shared;
  const llvm::DenseSet<mlir::Value> &dependent;
  /// Values that differ from token to token.
  llvm::DenseSet<mlir::Value> perToken;
  std::string symbol;
  /// Tokens of a warp.
  int64_t rounds = 0;
  mlir::Operation *array = nullptr;
  llvm::SmallVector<mlir::Operation *> tokenSizes;
  /// Of the loop's token; and where the next ones are computed.
  mlir::Value current;
  mlir::Operation *again = nullptr;
  std::vector<Item> items;
  int64_t used = 0;
  /// 16 bytes of numbers each: the next free float, and how many there are.
  llvm::SmallVector<std::pair<int64_t, int64_t>> numberGroups;
};

} // namespace linattn::simt

#endif // LINATTN_CONVERSION_RECURRENCETOSIMT_TOKENSAHEAD_H
