//===- FusedConvolutions.cpp - convolutions in front of kernels -----------===//

#include "FusedConvolutions.h"

#include "linattn/Conversion/Fronts.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace linattn;

/// Whether a value of a step stays in its value columns: blocks that share a
/// head by cutting the columns then share nothing of it.
static bool staysInColumns(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *user = use.getOwner();
      Value written;
      if (auto write = dyn_cast<WriteOp>(user))
        written = write.getValue();
      else if (auto update = dyn_cast<DeltaUpdateOp>(user))
        written = update.getValue();
      if (isa<YieldOp>(user) ||
          (written && use.get() == written &&
           llvm::count(user->getOperands(), written) == 1))
        continue;
      if (!OpTrait::hasElementwiseMappableTraits(user))
        return false;
      values.insert(user->result_begin(), user->result_end());
    }
  return true;
}

/// Whether one block of a chunk kernel loads each tile of the result: no heads
/// share it, and the blocks of a head cut it.
static bool isLoadedOnce(ShortConvOp conv) {
  auto recurrence = dyn_cast_or_null<RecurrenceOp>(getReader(conv));
  if (!recurrence)
    return false;
  for (auto [operand, arg] :
       llvm::zip(recurrence.getTokens(), recurrence.getTokenArgs()))
    if (getFront(operand) == conv)
      return cast<RankedTensorType>(operand.getType())
                     .getDimSize(recurrence.getHeadDim()) ==
                 recurrence.getNumHeads() &&
             staysInColumns(arg);
  return false;
}

/// Heads of all sequences, and tokens of each, up to which a call of fused
/// kernels was measured to be shorter: with twice as many heads it is longer
/// (H200, 132 multiprocessors; benchmarks/gpu_conv_fronts.py).
static constexpr int64_t kFewHeads = 512;
static constexpr int64_t kFewTokens = 4;

bool FrontChoice::isFew(ShortConvOp conv) const {
  auto recurrence = cast<RecurrenceOp>(getReader(conv));
  auto type = cast<RankedTensorType>(conv.getInput().getType());
  int64_t sequences = sizes.sequences, tokens = sizes.tokens;
  if (!conv.isPacked()) {
    if (!type.isDynamicDim(0))
      sequences = type.getDimSize(0);
    if (!type.isDynamicDim(1))
      tokens = type.getDimSize(1);
  }
  return sequences != 0 && tokens != 0 && tokens <= kFewTokens &&
         sequences * recurrence.getNumHeads() <= kFewHeads;
}

std::string FrontChoice::whyNot(ShortConvOp conv) const {
  std::string why = whyNoFront(conv);
  if (why.empty() && wanted == FuseConv::Columns && !isLoadedOnce(conv))
    why = "several blocks read its result";
  return why;
}

bool FrontChoice::take(ShortConvOp conv) {
  if (std::string why = whyNot(conv); !why.empty()) {
    refused = conv;
    reason = std::move(why);
    return false;
  }
  bool few = isFew(conv);
  anyFew |= few;
  bool taken = wanted ? *wanted != FuseConv::None : serial && few;
  anyTaken |= taken;
  return taken;
}

LogicalResult FrontChoice::check() {
  if (!wanted || wanted == FuseConv::None || anyTaken || !refused)
    return success();
  return refused.emitOpError()
         << "is not computed in front of a recurrence, as the plan asks: "
         << reason;
}

bool FrontChoice::setSerial() {
  if (serial || wanted || !anyFew)
    return false;
  serial = true;
  return true;
}
