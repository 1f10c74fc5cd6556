//===- StateRows.cpp - a thread's part of a state -------------------------===//

#include "StateRows.h"

#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

StateRowsBuilder::StateRowsBuilder(KernelFrame &frame, StateType type)
    : frame(frame), type(type) {}

unsigned StateRowsBuilder::size() const {
  return frame.plan.groups(type.getKeys()) * kGroup;
}

int64_t StateRowsBuilder::firstRow(unsigned i) const {
  return (i / kGroup) * frame.plan.lanes * kGroup + i % kGroup;
}

int64_t StateRowsBuilder::lastRow(unsigned i) const {
  return firstRow(i) + (frame.plan.lanes - 1) * kGroup;
}

Value StateRowsBuilder::hasRow(unsigned i) {
  if (lastRow(i) < type.getKeys())
    return {};
  return frame.hoisted({}, [&] {
    Value mine = frame.mulI(frame.lane, frame.i32(kGroup));
    return frame.isLess(mine, frame.i32(type.getKeys() - firstRow(i)));
  });
}

Value StateRowsBuilder::masked(unsigned i, Value value) {
  Value has = hasRow(i);
  // Selected, not multiplied: 0 times inf is NaN.
  return has ? frame.select(has, value, frame.f32(0.0)) : value;
}

StateRows
StateRowsBuilder::forEachRow(llvm::function_ref<Value(unsigned)> build) {
  StateRows rows(size());
  for (unsigned i : llvm::seq(size()))
    if (exists(i))
      rows[i] = build(i);
  return rows;
}

StateRows StateRowsBuilder::fill(FloatAttr value) {
  return forEachRow([&](unsigned i) {
    return masked(i, frame.f32(value.getValueAsDouble()));
  });
}

StateRows StateRowsBuilder::addresses(Value base, Value stride, Type element) {
  Value mine = frame.hoisted(
      {}, [&] { return frame.mulI(frame.lane, frame.i32(kGroup)); });
  Value last;
  int64_t lastFirst = 0;
  return forEachRow([&](unsigned i) -> Value {
    if (hasRow(i)) {
      Value row = frame.addI(mine, frame.i32(firstRow(i)));
      row = frame.minI(row, frame.i32(type.getKeys() - 1));
      return frame.advance(base, element, frame.mulI(frame.toI64(row), stride));
    }
    // From row to row, so that few offsets stay in registers.
    Value rows = last ? frame.i64(firstRow(i) - lastFirst)
                      : frame.toI64(frame.addI(mine, frame.i32(firstRow(i))));
    last = frame.advance(last ? last : base, element, frame.mulI(rows, stride));
    lastFirst = firstRow(i);
    return last;
  });
}

/// Rows that lie beside each other are a constant number of bytes apart, and
/// all of them need one address: two registers, not two each.
static Value isContiguous(KernelFrame &frame, Value stride, int64_t values) {
  return arith::CmpIOp::create(frame.builder, frame.loc,
                               arith::CmpIPredicate::eq, stride,
                               frame.i64(values));
}

StateRows StateRowsBuilder::load(Value base, Value stride, Type element) {
  Value column = frame.column;
  if (frame.hasColumn(type.getValues()))
    column = frame.minI(column, frame.i32(type.getValues() - 1));
  base = frame.advance(base, element, frame.toI64(column));
  auto loadBy = [&](Value distance) {
    // All loads first, so that they are under way together.
    StateRows places = addresses(base, distance, element);
    StateRows rows =
        forEachRow([&](unsigned i) { return frame.load(element, places[i]); });
    return forEachRow(
        [&](unsigned i) { return masked(i, frame.toF32(rows[i])); });
  };
  if (!frame.plan.decoding)
    return loadBy(stride);
  OpBuilder &builder = frame.builder;
  SmallVector<Type> types;
  forEachRow([&](unsigned) {
    types.push_back(builder.getF32Type());
    return Value();
  });
  auto branch = scf::IfOp::create(builder, frame.loc, types,
                                  isContiguous(frame, stride, type.getValues()),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto yield = [&](Block *block, Value distance) {
    builder.setInsertionPointToStart(block);
    SmallVector<Value> rows;
    append(loadBy(distance ? distance : frame.i64(type.getValues())), rows);
    scf::YieldOp::create(builder, frame.loc, rows);
  };
  yield(branch.elseBlock(), stride);
  yield(branch.thenBlock(), Value());
  unsigned next = 0;
  return take(branch.getResults(), next);
}

void StateRowsBuilder::store(const StateRows &rows, Value base, Value stride,
                             Type element) {
  OpBuilder &builder = frame.builder;
  auto storeBy = [&](Value distance) {
    Value mine = frame.advance(base, element, frame.toI64(frame.column));
    StateRows places = addresses(mine, distance, element);
    for (unsigned i : llvm::seq(size()))
      if (exists(i))
        frame.when(hasRow(i), [&] {
          frame.store(frame.fromF32(rows[i], element), places[i]);
        });
  };
  frame.when(frame.hasColumn(type.getValues()), [&] {
    if (!frame.plan.decoding)
      return storeBy(stride);
    // Not the stride that the loads have looked at, or LLVM makes two kernels
    // of one, and keeps the addresses of the loads for the stores.
    Value again = emitOpaque(builder, frame.loc, stride);
    auto branch = scf::IfOp::create(
        builder, frame.loc, isContiguous(frame, again, type.getValues()),
        /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    storeBy(frame.i64(type.getValues()));
    builder.setInsertionPointToStart(branch.elseBlock());
    storeBy(again);
  });
}

StateRows StateRowsBuilder::scale(const StateRows &rows, Value factor) {
  return forEachRow([&](unsigned i) -> Value {
    return masked(
        i, arith::MulFOp::create(frame.builder, frame.loc, rows[i], factor));
  });
}

StateRows StateRowsBuilder::scale(const StateRows &rows,
                                  ArrayRef<Value> factors) {
  // The factors of rows beyond K are 0 in shared memory.
  return forEachRow([&](unsigned i) -> Value {
    return arith::MulFOp::create(frame.builder, frame.loc, rows[i], factors[i]);
  });
}

StateRows StateRowsBuilder::addOuter(const StateRows &rows, ArrayRef<Value> key,
                                     Value value) {
  return forEachRow([&](unsigned i) -> Value {
    return masked(i, math::FmaOp::create(frame.builder, frame.loc, key[i],
                                         value, rows[i]));
  });
}

Value StateRowsBuilder::dot(const StateRows &rows, ArrayRef<Value> key) {
  // Four sums, so that the chain of dependent fmas is short.
  Value parts[kGroup];
  for (unsigned i : llvm::seq(size())) {
    if (!exists(i))
      continue;
    Value &part = parts[i % kGroup];
    part = part ? Value(math::FmaOp::create(frame.builder, frame.loc, rows[i],
                                            key[i], part))
                : Value(arith::MulFOp::create(frame.builder, frame.loc, rows[i],
                                              key[i]));
  }
  auto add = [&](Value a, Value b) -> Value {
    if (!a || !b)
      return a ? a : b;
    return arith::AddFOp::create(frame.builder, frame.loc, a, b);
  };
  return add(add(parts[0], parts[1]), add(parts[2], parts[3]));
}

void StateRowsBuilder::append(const StateRows &rows,
                              SmallVectorImpl<Value> &values) {
  for (Value row : rows)
    if (row)
      values.push_back(row);
}

StateRows StateRowsBuilder::take(ValueRange values, unsigned &next) {
  return forEachRow([&](unsigned) { return values[next++]; });
}
