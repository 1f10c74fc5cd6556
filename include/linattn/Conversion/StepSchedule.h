//===- StepSchedule.h - an order for one token's step -----------*- C++ -*-===//

#ifndef LINATTN_CONVERSION_STEPSCHEDULE_H
#define LINATTN_CONVERSION_STEPSCHEDULE_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn {

/// An order of the step's operations (without the terminator) that lets states
/// be updated in place: a read of a version stands before the update (decay or
/// write) that ends it, wherever dependences allow. Otherwise the order of the
/// block is kept.
llvm::SmallVector<mlir::Operation *> scheduleStep(mlir::Block &step);

/// Whether `op` makes a new version of a state: decay or write.
bool isStateUpdate(mlir::Operation *op);

} // namespace linattn

#endif // LINATTN_CONVERSION_STEPSCHEDULE_H
