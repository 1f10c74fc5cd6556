//===- KernelFrame.cpp - a kernel while it is built -----------------------===//

#include "KernelFrame.h"

#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

bool KernelFrame::isInvariant(Value value) {
  return !preambleEnd ||
         !preambleEnd->isAncestor(value.getParentBlock()->getParentOp());
}

Value KernelFrame::hoisted(ArrayRef<Value> inputs,
                           llvm::function_ref<Value()> build) {
  OpBuilder::InsertionGuard guard(builder);
  if (preambleEnd &&
      llvm::all_of(inputs, [&](Value value) { return isInvariant(value); }))
    builder.setInsertionPoint(preambleEnd);
  return build();
}

Value KernelFrame::operandHead(int64_t count) {
  Value &known = heads[count];
  if (!known)
    known = hoisted({}, [&] {
      int64_t group = op.getNumHeads() / count;
      Value own = head;
      if (group != 1)
        own = arith::DivUIOp::create(builder, loc, head, i32(group));
      return toI64(own);
    });
  return known;
}

Value KernelFrame::hasColumn(int64_t size, unsigned part) {
  if (size >= plan.width * plan.slices)
    return {};
  part = representative(size, part);
  Value &known = inside[{size, part}];
  if (!known)
    known = hoisted({}, [&] { return isLess(columns[part], i32(size)); });
  return known;
}

Value KernelFrame::ownsColumn(int64_t size, unsigned part) {
  Value inside = hasColumn(size, part);
  if (plan.lanes == 1)
    return inside;
  Value &known = owned[{size, representative(size, part)}];
  if (!known)
    known = hoisted({}, [&]() -> Value {
      Value first = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, lane, i32(0));
      if (!inside)
        return first;
      return arith::AndIOp::create(builder, loc, first, inside);
    });
  return known;
}

Value KernelFrame::addBounded(Value a, int64_t number) {
  if (number == 0)
    return a;
  return arith::AddIOp::create(builder, loc, a, i32(number),
                               arith::IntegerOverflowFlags::nsw);
}

void KernelFrame::barrier() {
  if (plan.threads == kWarpSize)
    emitWarpBarrier(builder, loc);
  else
    emitBarrier(builder, loc);
  if (!firstBarrier && loop &&
      builder.getInsertionBlock()->getParentOp() == loop)
    firstBarrier = &*std::prev(builder.getInsertionPoint());
}
