//===- StateRows.cpp - a thread's part of a state -------------------------===//

#include "StateRows.h"

#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
  auto offset = [&](int64_t rows) {
    return frame.hoisted({},
                         [&] { return frame.mulI(frame.i64(rows), stride); });
  };
  Value mine = frame.hoisted(
      {}, [&] { return frame.mulI(frame.lane, frame.i32(kGroup)); });
  Value last;
  int64_t lastFirst = 0;
  return forEachRow([&](unsigned i) -> Value {
    if (hasRow(i)) {
      Value row = frame.hoisted({}, [&] {
        Value row = frame.addI(mine, frame.i32(firstRow(i)));
        row = frame.minI(row, frame.i32(type.getKeys() - 1));
        return frame.mulI(frame.toI64(row), stride);
      });
      return frame.advance(base, element, row);
    }
    // From row to row, so that few offsets stay in registers.
    if (!last)
      last = frame.advance(base, element, frame.hoisted({}, [&] {
        Value row = frame.addI(mine, frame.i32(firstRow(i)));
        return frame.mulI(frame.toI64(row), stride);
      }));
    else
      last = frame.advance(last, element, offset(firstRow(i) - lastFirst));
    lastFirst = firstRow(i);
    return last;
  });
}

StateRows StateRowsBuilder::load(Value base, Value stride, Type element) {
  Value column = frame.column;
  if (frame.hasColumn(type.getValues()))
    column = frame.minI(column, frame.i32(type.getValues() - 1));
  base = frame.advance(base, element, frame.toI64(column));
  // All loads first, so that they are under way together.
  StateRows places = addresses(base, stride, element);
  StateRows rows =
      forEachRow([&](unsigned i) { return frame.load(element, places[i]); });
  return forEachRow(
      [&](unsigned i) { return masked(i, frame.toF32(rows[i])); });
}

void StateRowsBuilder::store(const StateRows &rows, Value base, Value stride,
                             Type element) {
  frame.when(frame.hasColumn(type.getValues()), [&] {
    Value mine = frame.advance(base, element, frame.toI64(frame.column));
    StateRows places = addresses(mine, stride, element);
    for (unsigned i : llvm::seq(size()))
      if (exists(i))
        frame.when(hasRow(i), [&] {
          frame.store(frame.fromF32(rows[i], element), places[i]);
        });
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
  Value sum = add(add(parts[0], parts[1]), add(parts[2], parts[3]));
  for (int64_t mask = 1; mask < frame.plan.lanes; mask *= 2)
    sum = add(sum, emitShuffleXor(frame.builder, frame.loc, sum, mask));
  return sum;
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
