//===- Fronts.cpp - convolutions in front of a kernel ---------------------===//

#include "linattn/Conversion/Fronts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;

static bool isReshape(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
      op);
}

/// Whether the first `count` dimensions stay what they are.
static bool keepsLeading(Operation *reshape, unsigned count) {
  SmallVector<ReassociationIndices> groups;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    groups = expand.getReassociationIndices();
  else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(reshape))
    groups = collapse.getReassociationIndices();
  else
    return true;
  return groups.size() >= count &&
         llvm::all_of(ArrayRef(groups).take_front(count),
                      [](const auto &group) { return group.size() == 1; });
}

ShortConvOp linattn::getFront(Value token) {
  while (Operation *op = token.getDefiningOp()) {
    if (auto conv = dyn_cast<ShortConvOp>(op))
      return token == conv.getResult() ? conv : ShortConvOp();
    if (!isReshape(op))
      break;
    token = op->getOperand(0);
  }
  return {};
}

Operation *linattn::getReader(ShortConvOp conv) {
  Value value = conv.getResult();
  while (value.hasOneUse()) {
    OpOperand &use = *value.use_begin();
    Operation *user = use.getOwner();
    if (isReshape(user) && use.getOperandNumber() == 0) {
      value = user->getResult(0);
      continue;
    }
    ValueRange tokens;
    if (auto recurrence = dyn_cast<RecurrenceOp>(user))
      tokens = recurrence.getTokens();
    else if (auto chunked = dyn_cast<ChunkedOp>(user))
      tokens = chunked.getTokens();
    return llvm::is_contained(tokens, value) ? user : nullptr;
  }
  return nullptr;
}

std::string linattn::whyNoFront(ShortConvOp conv) {
  Operation *reader = getReader(conv);
  if (!reader)
    return "its result is read by something else than one token operand of a "
           "recurrence";
  for (Value operand : conv->getOperands())
    if (getElementTypeOrSelf(operand.getType()).isF64())
      return "it has operands in f64, and kernels compute in f32";
  if (Value window = conv.getFinalWindow())
    for (Operation *user : window.getUsers())
      if (!user->hasTrait<OpTrait::IsTerminator>())
        return "its last window is read by an operation of the function";
  Value seqlens, token;
  auto look = [&](auto op) {
    seqlens = op.getSeqlens();
    for (Value operand : op.getTokens())
      if (getFront(operand) == conv)
        token = operand;
  };
  if (auto recurrence = dyn_cast<RecurrenceOp>(reader))
    look(recurrence);
  else
    look(cast<ChunkedOp>(reader));
  if (seqlens != conv.getSeqlens())
    return "its sequences are not those of the recurrence";
  unsigned leading = conv.isPacked() ? 1 : 2;
  for (Value value = token; value != conv.getResult();
       value = value.getDefiningOp()->getOperand(0))
    if (!keepsLeading(value.getDefiningOp(), leading))
      return "sequences and tokens are reshaped between it and the recurrence";
  return "";
}

bool linattn::isPartOfFront(Operation *op) {
  if (auto conv = dyn_cast<ShortConvOp>(op))
    return getReader(conv) != nullptr;
  return isReshape(op) && getFront(op->getResult(0));
}
