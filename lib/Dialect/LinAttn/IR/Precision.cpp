//===- Precision.cpp - what products of an operation round to ---*- C++ -*-===//

#include "linattn/Dialect/LinAttn/IR/Precision.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;

MmaPrecision linattn::getMmaPrecision(PrecisionAttr precision,
                                      ValueRange operands) {
  if (precision)
    return precision.getMma();
  for (Value operand : operands) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (element.isBF16())
      return MmaPrecision::BF16;
    if (element.isF16())
      return MmaPrecision::F16;
  }
  return MmaPrecision::F32;
}

/// Whether a state has been decayed since its last write, by this token or the
/// one before.
static bool isFaded(Value state, Block &step, bool before = false) {
  Operation *inner = state.getDefiningOp();
  if (isa_and_nonnull<DecayOp>(inner))
    return true;
  auto arg = dyn_cast<BlockArgument>(state);
  if (!arg || before)
    return false;
  // What the token before has left: the states are the last that is yielded.
  Operation *yield = step.getTerminator();
  unsigned behind = step.getNumArguments() - arg.getArgNumber();
  return isFaded(yield->getOperand(yield->getNumOperands() - behind), step,
                 /*before=*/true);
}

/// Whether an output is made of the value, by other than a state.
static bool reachesOutput(Value value,
                          llvm::SmallPtrSetImpl<Operation *> &seen) {
  for (Operation *user : value.getUsers()) {
    if (isa<YieldOp>(user))
      return true;
    if (isa<DecayOp, WriteOp, DeltaUpdateOp>(user) || !seen.insert(user).second)
      continue;
    for (Value result : user->getResults())
      if (reachesOutput(result, seen))
        return true;
  }
  return false;
}

/// Whether all that is left of the last write may be far below 1 in an output
/// or a final state. Elsewhere a token's own write stands beside what has
/// faded.
static bool showsFadedStates(RecurrenceOp op) {
  Block &step = op.getRegion().front();
  for (ReadOp read : step.getOps<ReadOp>()) {
    llvm::SmallPtrSet<Operation *, 16> seen;
    if (isFaded(read.getState(), step) &&
        reachesOutput(read->getResult(0), seen))
      return true;
  }
  return llvm::any_of(
      step.getTerminator()->getOperands().take_back(op.getStates().size()),
      [&](Value state) { return isFaded(state, step); });
}

std::optional<MmaPrecision> linattn::getMmaPrecision(Operation *op) {
  using Result = std::optional<MmaPrecision>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](RecurrenceOp recurrence) -> Result {
        MmaPrecision mma = getMmaPrecision(recurrence.getPrecisionAttr(),
                                           recurrence.getTokens());
        // Decays go with the operands, and f16 ends at 6e-8.
        if (mma == MmaPrecision::F16 && !recurrence.getPrecisionAttr() &&
            showsFadedStates(recurrence))
          return MmaPrecision::BF16;
        return mma;
      })
      .Case<SoftmaxAttentionOp, DiffAttentionOp>([](auto attention) -> Result {
        return getMmaPrecision(
            attention.getPrecisionAttr(),
            {attention.getQuery(), attention.getKey(), attention.getValue()});
      })
      .Default([](Operation *) { return Result(); });
}
