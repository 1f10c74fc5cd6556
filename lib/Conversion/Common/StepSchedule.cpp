//===- StepSchedule.cpp - an order for one token's step -------------------===//

#include "linattn/Conversion/StepSchedule.h"

using namespace mlir;
using namespace linattn;

bool linattn::isStateUpdate(Operation *op) {
  return isa<DecayOp, WriteOp, DeltaUpdateOp>(op);
}

namespace {
/// Depth-first emission: operands first, then the reads of the version that an
/// update ends, then the update.
struct Scheduler {
  llvm::SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> done, open;

  /// Whether `op` needs an operation whose emission has begun.
  bool dependsOnOpen(Operation *op, llvm::DenseSet<Operation *> &seen) {
    if (open.contains(op))
      return true;
    if (!seen.insert(op).second || done.contains(op))
      return false;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return def && dependsOnOpen(def, seen);
    });
  }

  void visit(Operation *op) {
    if (done.contains(op) || !open.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        visit(def);
    if (isStateUpdate(op)) {
      // Users in block order, so that the schedule is deterministic.
      SmallVector<Operation *> reads;
      for (Operation *user : op->getOperand(0).getUsers())
        if (isa<ReadOp>(user) && !llvm::is_contained(reads, user))
          reads.push_back(user);
      llvm::sort(reads, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
      for (Operation *read : reads) {
        llvm::DenseSet<Operation *> seen;
        if (!done.contains(read) && !dependsOnOpen(read, seen))
          visit(read);
      }
    }
    open.erase(op);
    done.insert(op);
    order.push_back(op);
  }
};
} // namespace

SmallVector<Operation *> linattn::scheduleStep(Block &step) {
  Scheduler scheduler;
  for (Operation &op : step.without_terminator())
    scheduler.visit(&op);
  return scheduler.order;
}
