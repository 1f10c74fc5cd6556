//===- KernelFrame.cpp - a kernel while it is built -----------------------===//

#include "KernelFrame.h"

#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

static Value constant(KernelFrame &frame, Type type, int64_t value) {
  return arith::ConstantOp::create(frame.builder, frame.loc,
                                   IntegerAttr::get(type, value));
}

Value KernelFrame::i1(bool value) {
  return constant(*this, builder.getI1Type(), value);
}
Value KernelFrame::i32(int64_t value) {
  return constant(*this, builder.getI32Type(), value);
}
Value KernelFrame::i64(int64_t value) {
  return constant(*this, builder.getI64Type(), value);
}
Value KernelFrame::f32(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

Value KernelFrame::toI64(Value index) {
  Type type = builder.getI64Type();
  if (index.getType() == type)
    return index;
  return arith::ExtSIOp::create(builder, loc, type, index);
}

/// The number of a constant.
static std::optional<int64_t> numberOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

Value KernelFrame::addI(Value a, Value b) {
  if (numberOf(a) == 0)
    return b;
  if (numberOf(b) == 0)
    return a;
  return arith::AddIOp::create(builder, loc, a, b);
}

Value KernelFrame::mulI(Value a, Value b) {
  if (numberOf(a) == 1)
    return b;
  if (numberOf(b) == 1)
    return a;
  return arith::MulIOp::create(builder, loc, a, b);
}

Value KernelFrame::minI(Value a, Value b) {
  return arith::MinSIOp::create(builder, loc, a, b);
}

Value KernelFrame::isLess(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}

Value KernelFrame::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}

Value KernelFrame::advance(Value pointer, Type element, Value offset) {
  if (numberOf(offset) == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), element, pointer,
                             LLVM::GEPArg(offset));
}

Value KernelFrame::load(Type type, Value pointer, unsigned alignment,
                        bool invariant) {
  return LLVM::LoadOp::create(builder, loc, type, pointer, alignment,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              invariant);
}

void KernelFrame::store(Value value, Value pointer, unsigned alignment) {
  LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
}

Value KernelFrame::toF32(Value value) {
  if (value.getType().isF32())
    return value;
  return arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
}

Value KernelFrame::fromF32(Value value, Type type) {
  if (type.isF32())
    return value;
  return arith::TruncFOp::create(builder, loc, type, value);
}

void KernelFrame::when(Value condition, llvm::function_ref<void()> then) {
  if (!condition)
    return then();
  auto branch =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
}

bool KernelFrame::isInvariant(Value value) {
  return !loop || !loop->isAncestor(value.getParentBlock()->getParentOp());
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

Value KernelFrame::hasColumn(int64_t size) {
  if (size >= plan.width * plan.slices)
    return {};
  Value &known = columns[size];
  if (!known)
    known = hoisted({}, [&] { return isLess(column, i32(size)); });
  return known;
}

Value KernelFrame::ownsColumn(int64_t size) {
  Value inside = hasColumn(size);
  if (plan.lanes == 1)
    return inside;
  Value &known = owned[size];
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

void KernelFrame::barrier() {
  Operation *made = emitBarrier(builder, loc);
  if (!firstBarrier)
    firstBarrier = made;
}
