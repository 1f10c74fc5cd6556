//===- StateRows.cpp - a thread's part of a state -------------------------===//

#include "StateRows.h"

#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
StateRowsBuilder::forEach(llvm::function_ref<Value(unsigned, unsigned)> build) {
  unsigned parts = frame.plan.vector;
  StateRows rows(size() * parts);
  for (unsigned i : llvm::seq(size()))
    for (unsigned part = 0; part < parts && exists(i); ++part)
      rows[i * parts + part] = build(i, part);
  return rows;
}

StateRows StateRowsBuilder::fill(FloatAttr value) {
  return forEach([&](unsigned i, unsigned) {
    return masked(i, frame.f32(value.getValueAsDouble()));
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

SmallVector<Value> StateRowsBuilder::addresses(Value base, Value stride,
                                               Type element) {
  Value mine = frame.hoisted(
      {}, [&] { return frame.mulI(frame.lane, frame.i32(kGroup)); });
  Value last;
  int64_t lastFirst = 0;
  SmallVector<Value> places(size());
  for (unsigned i : llvm::seq(size())) {
    if (!exists(i))
      continue;
    if (hasRow(i)) {
      Value row = frame.addI(mine, frame.i32(firstRow(i)));
      row = frame.minI(row, frame.i32(type.getKeys() - 1));
      places[i] =
          frame.advance(base, element, frame.mulI(frame.toI64(row), stride));
      continue;
    }
    // From row to row, so that few offsets stay in registers.
    Value rows = last ? frame.i64(firstRow(i) - lastFirst)
                      : frame.toI64(frame.addI(mine, frame.i32(firstRow(i))));
    last = frame.advance(last ? last : base, element, frame.mulI(rows, stride));
    lastFirst = firstRow(i);
    places[i] = last;
  }
  return places;
}

/// Bytes of a row that a thread has.
static unsigned partBytes(KernelFrame &frame, Type element) {
  return frame.plan.vector * element.getIntOrFloatBitWidth() / 8;
}

Value StateRowsBuilder::isContiguous(Value base, Value stride, Type element) {
  OpBuilder &builder = frame.builder;
  Value beside =
      arith::CmpIOp::create(builder, frame.loc, arith::CmpIPredicate::eq,
                            stride, frame.i64(type.getValues()));
  if (frame.plan.vector == 1)
    return beside;
  Value address =
      LLVM::PtrToIntOp::create(builder, frame.loc, builder.getI64Type(), base);
  Value rest = arith::AndIOp::create(builder, frame.loc, address,
                                     frame.i64(partBytes(frame, element) - 1));
  Value aligned = arith::CmpIOp::create(
      builder, frame.loc, arith::CmpIPredicate::eq, rest, frame.i64(0));
  return arith::AndIOp::create(builder, frame.loc, beside, aligned);
}

SmallVector<Value> StateRowsBuilder::loadBy(Value base, Value stride,
                                            Type element, bool whole) {
  OpBuilder &builder = frame.builder;
  unsigned parts = frame.plan.vector;
  SmallVector<Value> raw;
  for (Value place : addresses(base, stride, element)) {
    if (!place)
      continue;
    if (parts == 1) {
      raw.push_back(frame.load(element, place));
      continue;
    }
    auto vector = VectorType::get(parts, element);
    if (whole) {
      raw.push_back(frame.load(vector, place, partBytes(frame, element)));
      continue;
    }
    Value row = LLVM::PoisonOp::create(builder, frame.loc, vector);
    for (unsigned part : llvm::seq(parts))
      row = LLVM::InsertElementOp::create(
          builder, frame.loc, row,
          frame.load(element, frame.advance(place, element, frame.i64(part))),
          frame.i32(part));
    raw.push_back(row);
  }
  return raw;
}

StateRows StateRowsBuilder::load(Value base, Value stride, Type element) {
  OpBuilder &builder = frame.builder;
  unsigned parts = frame.plan.vector;
  Value column = frame.columns[0];
  if (frame.hasColumn(type.getValues()))
    column = frame.minI(column, frame.i32(type.getValues() - parts));
  Value mine = frame.advance(base, element, frame.toI64(column));
  SmallVector<Value> raw;
  if (frame.plan.decoding) {
    // Rows that lie beside each other are a constant number of bytes apart, and
    // all of them need one address: two registers, not two each.
    SmallVector<Type> types;
    for (unsigned i : llvm::seq(size()))
      if (exists(i))
        types.push_back(parts == 1 ? element
                                   : Type(VectorType::get(parts, element)));
    auto branch = scf::IfOp::create(builder, frame.loc, types,
                                    isContiguous(base, stride, element),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, frame.loc,
                         loadBy(mine, stride, element, /*whole=*/false));
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, frame.loc,
                         loadBy(mine, frame.i64(type.getValues()), element,
                                /*whole=*/true));
    raw = llvm::to_vector_of<Value>(branch.getResults());
  } else {
    raw = loadBy(mine, stride, element, /*whole=*/false);
  }
  // Elements after all loads, which so are under way together, and not in their
  // block: LLVM would make loads of elements of those that stand near.
  unsigned next = 0;
  return forEach([&](unsigned i, unsigned part) {
    Value row = raw[next];
    if (parts != 1)
      row = LLVM::ExtractElementOp::create(builder, frame.loc, row,
                                           frame.i32(part));
    next += part + 1 == parts;
    return masked(i, frame.toF32(row));
  });
}

void StateRowsBuilder::storeBy(const StateRows &rows, Value base, Value stride,
                               Type element, bool whole) {
  OpBuilder &builder = frame.builder;
  unsigned parts = frame.plan.vector;
  Value mine = frame.advance(base, element, frame.toI64(frame.columns[0]));
  SmallVector<Value> places = addresses(mine, stride, element);
  for (unsigned i : llvm::seq(size())) {
    if (!exists(i))
      continue;
    ArrayRef<Value> row = ArrayRef(rows).slice(i * parts, parts);
    frame.when(hasRow(i), [&] {
      if (parts == 1 || !whole) {
        for (auto [part, value] : llvm::enumerate(row))
          frame.store(frame.fromF32(value, element),
                      frame.advance(places[i], element, frame.i64(part)));
        return;
      }
      auto vector = VectorType::get(parts, element);
      Value wide = LLVM::PoisonOp::create(builder, frame.loc, vector);
      for (auto [part, value] : llvm::enumerate(row))
        wide = LLVM::InsertElementOp::create(builder, frame.loc, wide,
                                             frame.fromF32(value, element),
                                             frame.i32(part));
      frame.store(wide, places[i], partBytes(frame, element));
    });
  }
}

void StateRowsBuilder::store(const StateRows &rows, Value base, Value stride,
                             Type element) {
  OpBuilder &builder = frame.builder;
  frame.when(frame.hasColumn(type.getValues()), [&] {
    if (!frame.plan.decoding)
      return storeBy(rows, base, stride, element, /*whole=*/false);
    // Not the stride that the loads have looked at, or LLVM makes two kernels
    // of one, and keeps the addresses of the loads for the stores.
    Value again = emitOpaque(builder, frame.loc, stride);
    auto branch = scf::IfOp::create(builder, frame.loc,
                                    isContiguous(base, again, element),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    storeBy(rows, base, frame.i64(type.getValues()), element, /*whole=*/true);
    builder.setInsertionPointToStart(branch.elseBlock());
    storeBy(rows, base, again, element, /*whole=*/false);
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

StateRows StateRowsBuilder::scale(const StateRows &rows, Value factor) {
  return forEach([&](unsigned i, unsigned part) -> Value {
    return masked(i, arith::MulFOp::create(frame.builder, frame.loc,
                                           rows[i * frame.plan.vector + part],
                                           factor));
  });
}

StateRows StateRowsBuilder::scale(const StateRows &rows,
                                  ArrayRef<Value> factors) {
  // The factors of rows beyond K are 0 in shared memory.
  return forEach([&](unsigned i, unsigned part) -> Value {
    return arith::MulFOp::create(frame.builder, frame.loc,
                                 rows[i * frame.plan.vector + part],
                                 factors[i]);
  });
}

StateRows StateRowsBuilder::addOuter(const StateRows &rows, ArrayRef<Value> key,
                                     ArrayRef<Value> values) {
  return forEach([&](unsigned i, unsigned part) -> Value {
    return masked(i, math::FmaOp::create(frame.builder, frame.loc, key[i],
                                         values[part],
                                         rows[i * frame.plan.vector + part]));
  });
}

SmallVector<Value, 4> StateRowsBuilder::dot(const StateRows &rows,
                                            ArrayRef<Value> key) {
  unsigned parts = frame.plan.vector;
  auto add = [&](Value a, Value b) -> Value {
    if (!a || !b)
      return a ? a : b;
    return arith::AddFOp::create(frame.builder, frame.loc, a, b);
  };
  // Four sums at least, so that the chain of dependent fmas is short.
  unsigned chains = llvm::divideCeil(kGroup, parts);
  SmallVector<Value, 4> sums[kGroup];
  for (auto &sum : sums)
    sum.resize(parts);
  forEach([&](unsigned i, unsigned part) {
    Value row = rows[i * parts + part];
    Value &sum = sums[i % chains][part];
    sum = sum ? Value(math::FmaOp::create(frame.builder, frame.loc, row, key[i],
                                          sum))
              : Value(arith::MulFOp::create(frame.builder, frame.loc, row,
                                            key[i]));
    return sum;
  });
  SmallVector<Value, 4> total;
  for (unsigned part : llvm::seq(parts))
    total.push_back(add(add(sums[0][part], sums[1][part]),
                        add(sums[2][part], sums[3][part])));
  return total;
}

void StateRowsBuilder::append(const StateRows &rows,
                              SmallVectorImpl<Value> &values) {
  for (Value row : rows)
    if (row)
      values.push_back(row);
}

StateRows StateRowsBuilder::take(ValueRange values, unsigned &next) {
  return forEach([&](unsigned, unsigned) { return values[next++]; });
}
