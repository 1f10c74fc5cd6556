//===- OutputTail.cpp - what of outputs mixes value columns ---------------===//

#include "OutputTail.h"

#include "TokenRows.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

OutputTail::OutputTail(ChunkedOp op, const DimClasses &classes) : op(op) {
  findTail(classes);
  if (!tail.empty() && !findCrossing(classes)) {
    tail.clear();
    crossing.clear();
  }
}

/// What combines value columns, and all that depends on it, unless a state
/// does.
void OutputTail::findTail(const DimClasses &classes) {
  Block &block = *op.getBlock();
  DenseSet<Operation *> ofStates;
  SmallVector<Value> todo(
      block.getTerminator()->getOperands().drop_front(op.getNumOutputs()));
  while (!todo.empty())
    if (Operation *inner = todo.pop_back_val().getDefiningOp();
        inner && ofStates.insert(inner).second)
      llvm::append_range(todo, inner->getOperands());
  DenseSet<Operation *> mixers;
  for (Value state : op.getStateArgs())
    for (Operation *mixer : classes.getMixers(classes.get(state, 1)))
      mixers.insert(mixer);
  for (Operation &inner : block.without_terminator())
    if (!ofStates.contains(&inner) &&
        (mixers.contains(&inner) ||
         llvm::any_of(inner.getOperands(),
                      [&](Value operand) { return contains(operand); })))
      tail.insert(&inner);
}

/// Work that needs no product of matrices.
static bool isLight(Operation *inner) {
  return isa<linalg::BroadcastOp, linalg::TransposeOp, linalg::ReduceOp>(
             inner) ||
         OpTrait::hasElementwiseMappableTraits(inner);
}

/// Whether a value comes of tokens and parameters by elementwise work and sums
/// alone.
bool OutputTail::isCheap(Value value) {
  if (isa<BlockArgument>(value))
    return !llvm::is_contained(op.getStateArgs(), value);
  if (isTokenTile(op, value))
    return true;
  if (auto known = cheap.find(value); known != cheap.end())
    return known->second;
  Operation *inner = value.getDefiningOp();
  bool result =
      inner->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(inner);
  if (isLight(inner))
    result = llvm::all_of(inner->getOperands(),
                          [&](Value operand) { return isCheap(operand); });
  return cheap[value] = result;
}

/// Whether other crossing values are all that it takes to make the value again.
bool OutputTail::isMadeOfOthers(Value value) {
  Operation *inner = value.getDefiningOp();
  return inner && OpTrait::hasElementwiseMappableTraits(inner) &&
         llvm::all_of(inner->getOperands(), [&](Value operand) {
           return (operand != value && crossing.contains(operand)) ||
                  isCheap(operand);
         });
}

bool OutputTail::findCrossing(const DimClasses &classes) {
  auto take = [&](Value operand) {
    if (contains(operand) || isCheap(operand))
      return true;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || type.getRank() != 2 || !classes.isColumns(operand, 1) ||
        !type.getElementType().isFloat())
      return false;
    crossing.insert(operand);
    return true;
  };
  // Not in the order of a set: buffers are numbered.
  for (Operation &inner : op.getBlock()->without_terminator())
    if (contains(&inner) &&
        (!isLight(&inner) || !llvm::all_of(inner.getOperands(), take)))
      return false;
  for (bool changed = true; changed;) {
    changed = false;
    for (Value value : llvm::to_vector(crossing.getArrayRef()))
      if (isMadeOfOthers(value)) {
        crossing.remove(value);
        changed = true;
      }
  }
  return true;
}
