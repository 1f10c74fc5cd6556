//===- StepEvaluator.cpp - values of a token's step, by element -----------===//

#include "StepEvaluator.h"

#include "TokensAhead.h"

#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

static int64_t sizeOf(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

StepEvaluator::Key StepEvaluator::keyOf(Value value, ArrayRef<Coord> at) {
  Key key = {intptr_t(value.getAsOpaquePointer())};
  for (const Coord &coord : at) {
    key.push_back(intptr_t(coord.value.getAsOpaquePointer()));
    key.push_back(coord.number);
  }
  return key;
}

Value StepEvaluator::evaluate(Value value, ArrayRef<Coord> at) {
  Key key = keyOf(value, at);
  if (auto it = known.find(key); it != known.end())
    return it->second;
  Value element;
  if (Value early = ahead ? ahead->element(*this, value, at) : Value())
    element = frame.fromF32(early, getElementTypeOrSelf(value.getType()));
  else
    element = compute(value, at);
  known[key] = element;
  return element;
}

Value StepEvaluator::elementF32(Value value, ArrayRef<Coord> at) {
  if (Value early = ahead ? ahead->element(*this, value, at) : Value())
    return early;
  return frame.toF32(evaluate(value, at));
}

Value StepEvaluator::compute(Value value, ArrayRef<Coord> at) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return loadArgument(arg, at);
  Operation *def = value.getDefiningOp();
  if (def->hasTrait<OpTrait::ConstantLike>())
    return constant(def, at);
  if (auto read = dyn_cast<ReadOp>(def))
    return readElement(read, at);
  if (auto reduction = dyn_cast<vector::ReductionOp>(def))
    return reduce(reduction);
  if (OpTrait::hasElementwiseMappableTraits(def))
    return elementwise(def, cast<OpResult>(value).getResultNumber(), at);
  return reshaped(value, at);
}

//===----------------------------------------------------------------------===//
// Arguments of the step
//===----------------------------------------------------------------------===//

/// Takes a constant that was added last out of a coordinate of the inner, dense
/// dimension: elements beside each other then have one address.
static Coord splitConstant(Coord coord, int64_t &number) {
  IntegerAttr constant;
  if (coord.isNumber())
    return coord;
  auto sum = coord.value.getDefiningOp<arith::AddIOp>();
  if (!sum || sum.getOverflowFlags() != arith::IntegerOverflowFlags::nsw ||
      !matchPattern(sum.getRhs(), m_Constant(&constant)))
    return coord;
  number = constant.getInt();
  return sum.getLhs();
}

Value StepEvaluator::loadArgument(BlockArgument arg, ArrayRef<Coord> at) {
  if (frontSlots.contains(arg))
    return convolvedElement(arg, at);
  const GlobalTensor &tensor = tensors.find(arg)->second;
  RecurrenceOp op = frame.op;
  bool isToken = arg.getArgNumber() < op.getTokens().size();
  unsigned headDim = isToken ? op.getHeadDim() : 0;
  Type element = tensor.type.getElementType();

  int64_t beside = 0;
  SmallVector<Coord> coords(at);
  if (!coords.empty() && headDim + coords.size() >= tensor.strides.size())
    coords.back() = splitConstant(coords.back(), beside);
  // What is the same in all threads, without the token's offset, and what is
  // not.
  auto sumOf = [&](bool fixed) {
    Value sum = frame.i64(0);
    for (auto [i, coord] : llvm::enumerate(coords)) {
      if (coord.isNumber() != fixed)
        continue;
      unsigned dim = headDim + 1 + i;
      Value index =
          coord.isNumber() ? frame.i64(coord.number) : frame.toI64(coord.value);
      if (dim < tensor.strides.size())
        index = frame.mulI(index, tensor.strides[dim]);
      sum = frame.addI(sum, index);
    }
    return sum;
  };
  Value &base = bases[keyOf(arg, coords)];
  if (!base)
    base = frame.hoisted({}, [&] {
      Value offset = frame.mulI(frame.operandHead(tensor.dim(headDim)),
                                tensor.strides[headDim]);
      if (isToken && !op.isPacked())
        offset = frame.addI(
            offset, frame.mulI(frame.toI64(frame.sequence), tensor.strides[0]));
      offset = frame.addI(offset, sumOf(/*fixed=*/true));
      return frame.advance(tensor.pointer, element, offset);
    });
  SmallVector<Value> inputs;
  for (const Coord &coord : coords)
    if (!coord.isNumber())
      inputs.push_back(coord.value);
  Value own = frame.hoisted(inputs, [&] { return sumOf(/*fixed=*/false); });
  auto loadFrom = [=, &frame = frame](Value place) {
    place = frame.advance(place, element, own);
    return frame.load(element,
                      frame.advance(place, element, frame.i64(beside)));
  };
  if (!isToken)
    return frame.hoisted({own}, [&] { return loadFrom(base); });
  Value stride = tensor.strides[headDim - 1];
  if (isAhead) {
    OpBuilder::InsertionGuard guard(frame.builder);
    if (frame.isInvariant(own))
      frame.builder.setInsertionPoint(loads);
    return loadFrom(
        frame.advance(base, element, frame.mulI(frame.token, stride)));
  }
  if (frame.isInvariant(own))
    return prefetch(element, base, stride, loadFrom);
  return loadFrom(
      frame.advance(base, element, frame.mulI(frame.token, stride)));
}

Value StepEvaluator::emitPlaceholder(Type type) {
  return UnrealizedConversionCastOp::create(frame.builder, frame.loc,
                                            TypeRange(type), ValueRange())
      .getResult(0);
}

Value StepEvaluator::prefetch(Type type, Value base, Value stride,
                              std::function<Value(Value)> load) {
  OpBuilder &builder = frame.builder;
  OpBuilder::InsertionGuard guard(builder);
  Cursor &cursor = cursors[{base, stride}];
  if (!cursor.first) {
    builder.setInsertionPoint(frame.firstTokenEnd);
    cursor.first = frame.advance(base, type, frame.mulI(frame.begin, stride));
    builder.setInsertionPointToStart(frame.token.getParentBlock());
    cursor.placeholder = emitPlaceholder(base.getType());
  }
  builder.setInsertionPoint(frame.firstTokenEnd);
  Value first = load(cursor.first);
  builder.setInsertionPointToStart(frame.token.getParentBlock());
  Value placeholder = emitPlaceholder(type);
  cursor.loads.push_back({placeholder, first, std::move(load)});
  return placeholder;
}

Operation *StepEvaluator::finish() {
  if (cursors.empty() && handedOn.empty())
    return frame.loop;
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  auto loop = cast<scf::ForOp>(frame.loop);
  OpBuilder::InsertionGuard guard(builder);
  if (frame.firstBarrier)
    builder.setInsertionPointAfter(frame.firstBarrier);
  else
    builder.setInsertionPointToStart(loop.getBody());
  // The last token loads itself again, not what lies behind the sequence.
  Value next = arith::AddIOp::create(builder, loc, frame.token, frame.i64(1));
  Value more = frame.isLess(next, frame.end);
  SmallVector<Value> placeholders, firsts, nexts;
  auto carry = [&](Value placeholder, Value first, Value next) {
    placeholders.push_back(placeholder);
    firsts.push_back(first);
    nexts.push_back(next);
  };
  for (auto &[key, cursor] : cursors) {
    Type type = cursor.loads.front().placeholder.getType();
    Value step = frame.select(more, key.second, frame.i64(0));
    Value place = frame.advance(cursor.placeholder, type, step);
    carry(cursor.placeholder, cursor.first, place);
    // Opaque, or LLVM adds the thread's own part before the loop: two registers
    // for each operand, where warps have registers for what their threads
    // share.
    place = emitOpaque(builder, loc, place);
    for (const Prefetch &item : cursor.loads)
      carry(item.placeholder, item.first, item.load(place));
  }
  for (const HandedOn &item : handedOn)
    carry(item.placeholder, item.first, item.next);
  IRRewriter rewriter(builder);
  auto replaced = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, firsts, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return nexts; }));
  auto carried = replaced.getRegionIterArgs().take_back(placeholders.size());
  for (auto [placeholder, value] : llvm::zip_equal(placeholders, carried)) {
    placeholder.replaceAllUsesWith(value);
    placeholder.getDefiningOp()->erase();
  }
  return replaced;
}

//===----------------------------------------------------------------------===//
// Constants and elementwise operations
//===----------------------------------------------------------------------===//

Value StepEvaluator::constant(Operation *op, ArrayRef<Coord> at) {
  Attribute attr;
  matchPattern(op, m_Constant(&attr));
  auto make = [&](Attribute number) -> Value {
    return arith::ConstantOp::create(frame.builder, op->getLoc(),
                                     cast<TypedAttr>(number));
  };
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense)
    return make(attr);
  if (dense.isSplat())
    return make(dense.getSplatValue<Attribute>());
  Coord element = linearize(at, dense.getType().getShape());
  if (element.isNumber())
    return make(*(dense.getValues<Attribute>().begin() + element.number));
  return lookUp(dense, element);
}

/// Whether an operation on 16-bit floats computes in f32 and rounds once:
/// arithmetic does, what only moves or converts bits does not.
static bool computesInF32(Operation *op) {
  return !isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp,
              arith::SelectOp>(op);
}

Value StepEvaluator::elementwise(Operation *op, unsigned result,
                                 ArrayRef<Coord> at) {
  bool widen = computesInF32(op);
  auto isNarrow = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
  };
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isVector = isa<VectorType>(operand.getType());
    ArrayRef<Coord> from = isVector ? at : ArrayRef<Coord>();
    bool narrow = isNarrow(getElementTypeOrSelf(operand.getType()));
    operands.push_back(widen && narrow ? elementF32(operand, from)
                                       : evaluate(operand, from));
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type element = getElementTypeOrSelf(type);
    bool wide = widen && isNarrow(element);
    types.push_back(wide ? Type(frame.builder.getF32Type()) : element);
  }
  ValueRange values;
  Value fused;
  if (isa<vector::FMAOp>(op)) {
    fused = math::FmaOp::create(frame.builder, op->getLoc(), operands[0],
                                operands[1], operands[2]);
    values = fused;
  } else {
    values = clone(frame.builder, op, types, operands)->getResults();
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    Type element = getElementTypeOrSelf(op->getResult(i).getType());
    Value rounded = value;
    if (value.getType() != element)
      rounded = frame.fromF32(value, element);
    known[keyOf(op->getResult(i), at)] = rounded;
  }
  return known[keyOf(op->getResult(result), at)];
}

//===----------------------------------------------------------------------===//
// Reads, and elements that other threads have
//===----------------------------------------------------------------------===//

Coord StepEvaluator::columnOf(int64_t size, unsigned part) {
  if (size == 1)
    return Coord(int64_t(0));
  if (!frame.hasColumn(size, part))
    return frame.columns[part];
  Value &clamped = clampedColumns[{size, part}];
  if (clamped)
    return clamped;
  int64_t vector = frame.plan.vector;
  clamped = frame.hoisted({}, [&] {
    if (size % vector != 0)
      return frame.minI(frame.columns[part], frame.i32(size - 1));
    Value first = frame.minI(frame.columns[0], frame.i32(size - vector));
    return frame.addBounded(first, part);
  });
  return clamped;
}

Value StepEvaluator::atColumn(Value vector, unsigned part) {
  return evaluate(vector, {columnOf(sizeOf(vector), part)});
}

Value StepEvaluator::atColumnF32(Value vector, unsigned part) {
  return elementF32(vector, {columnOf(sizeOf(vector), part)});
}

Value StepEvaluator::readElement(ReadOp op, ArrayRef<Coord> at) {
  for (unsigned part : llvm::seq(frame.plan.vector))
    if (at.front() == columnOf(sizeOf(op), part))
      return reads[op][part];
  int64_t slot =
      publishColumns(op, /*exponential=*/false, paddedSize(op.getResult()));
  return frame.load(frame.builder.getF32Type(),
                    shared.address(slot, toValue(at.front())), sizeof(float));
}

int64_t StepEvaluator::paddedSize(Value vector) {
  return frame.plan.paddedKeys(sizeOf(vector));
}

Value StepEvaluator::toShared(Value element, bool exponential) {
  element = frame.toF32(element);
  if (exponential)
    element = math::ExpOp::create(frame.builder, frame.loc, element);
  return element;
}

int64_t StepEvaluator::publishColumns(Value vector, bool exponential,
                                      int64_t padded) {
  auto [it, inserted] = slots.try_emplace({vector, exponential}, 0);
  if (!inserted)
    return it->second;
  int64_t size = sizeOf(vector);
  SmallVector<Value> elements;
  for (unsigned part : llvm::seq(frame.plan.vector))
    elements.push_back(toShared(atColumn(vector, part), exponential));
  int64_t slot = shared.allocatePadded(size, padded);
  for (unsigned part : llvm::seq(frame.plan.vector))
    frame.when(frame.ownsColumn(size, part), [&] {
      frame.store(elements[part], shared.address(slot, frame.columns[part]),
                  sizeof(float));
    });
  frame.barrier();
  slots[{vector, exponential}] = slot;
  return slot;
}

Coord StepEvaluator::threadElement(int64_t piece, int64_t size) {
  int64_t first = piece * frame.plan.threads;
  bool clamped = first + frame.plan.threads > size;
  Value &element = threadElements[{piece, clamped ? size : -1}];
  if (!element)
    element = frame.hoisted({}, [&] {
      Value index = frame.addI(frame.thread, frame.i32(first));
      return clamped ? frame.minI(index, frame.i32(size - 1)) : index;
    });
  return element;
}

/// This thread's part of a decay over K, which takes what rounding took from
/// its factor to its next one.
Value StepEvaluator::compensatedExp(Value gate) {
  OpBuilder &builder = frame.builder;
  Value first, lost;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(frame.firstTokenEnd);
    first = frame.f32(0);
    builder.setInsertionPointToStart(frame.token.getParentBlock());
    lost = emitPlaceholder(builder.getF32Type());
  }
  Value carry = lost;
  Value factor = emitCompensated(frame, emitLogDecay(frame, gate), carry);
  handedOn.push_back({lost, first, carry});
  return factor;
}

void StepEvaluator::publish(Value vector, bool exponential) {
  if (dependent.contains(vector) || slots.contains({vector, exponential}))
    return;
  int64_t size = sizeOf(vector), threads = frame.plan.threads;
  int64_t slot = shared.allocatePadded(size, paddedSize(vector));
  slots[{vector, exponential}] = slot;
  for (int64_t piece = 0; piece * threads < size; ++piece) {
    Value element = elementF32(vector, {threadElement(piece, size)});
    if (exponential)
      element = compensatedExp(element);
    Value inside;
    if ((piece + 1) * threads > size)
      inside = frame.hoisted({}, [&] {
        return frame.isLess(frame.thread, frame.i32(size - piece * threads));
      });
    frame.when(inside, [&] {
      frame.store(element, shared.address(slot + piece * threads, frame.thread),
                  sizeof(float));
    });
  }
}

ArrayRef<Value> StepEvaluator::rows(Value vector, bool exponential) {
  SmallVector<Value> &all =
      rowsOf[{intptr_t(vector.getAsOpaquePointer()), exponential}];
  if (!all.empty())
    return all;
  if (dependent.contains(vector))
    publishColumns(vector, exponential, paddedSize(vector));
  auto place = [&](int64_t first, Value element) {
    Value early =
        ahead ? ahead->rows(vector, exponential, element, first) : Value();
    return early ? early
                 : shared.address(slots.lookup({vector, exponential}) + first,
                                  element);
  };
  const KernelPlan &plan = frame.plan;
  OpBuilder &builder = frame.builder;
  int64_t keys = sizeOf(vector);
  Type group = VectorType::get(kGroup, builder.getF32Type());
  Value mine = frame.hoisted(
      {}, [&] { return frame.mulI(frame.lane, frame.i32(kGroup)); });
  for (int64_t j : llvm::seq(plan.groups(keys))) {
    int64_t first = j * plan.lanes * kGroup;
    Value four = frame.load(group, place(first, mine), kGroup * sizeof(float));
    for (int64_t c : llvm::seq(kGroup)) {
      Value row;
      if (first + c < keys)
        row = LLVM::ExtractElementOp::create(builder, frame.loc, four,
                                             frame.i32(c));
      all.push_back(row);
    }
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Vectors up to this size are reduced by every warp for itself, without a
/// barrier: 8 loads a lane.
static constexpr int64_t kWarpReduction = 256;

Value StepEvaluator::reduce(vector::ReductionOp op) {
  Value vector = op.getVector();
  Type element = getElementTypeOrSelf(vector.getType());
  Value result;
  if (sizeOf(vector) == 1)
    result = frame.toF32(evaluate(vector, {Coord(int64_t(0))}));
  else if (isAhead ||
           (!dependent.contains(vector) && sizeOf(vector) <= kWarpReduction))
    result = reduceInWarp(op);
  else
    result = reduceInBlock(op);
  if (Value start = op.getAcc())
    result =
        vector::makeArithReduction(frame.builder, op.getLoc(), op.getKind(),
                                   result, frame.toF32(scalar(start)));
  return frame.fromF32(result, element);
}

/// What changes no result of a reduction.
static double identityOf(vector::CombiningKind kind) {
  switch (kind) {
  case vector::CombiningKind::MUL:
    return 1.0;
  case vector::CombiningKind::MINIMUMF:
  case vector::CombiningKind::MINNUMF:
    return std::numeric_limits<double>::infinity();
  case vector::CombiningKind::MAXIMUMF:
  case vector::CombiningKind::MAXNUMF:
    return -std::numeric_limits<double>::infinity();
  default:
    // -0 is the identity of addition; +0 would turn -0 into +0.
    return -0.0;
  }
}

/// All lanes of a warp combine by exchanging with ever nearer lanes: each gets
/// the same bits, since the operations commute.
Value StepEvaluator::combineLanes(vector::ReductionOp op, Value part) {
  for (int32_t mask = kWarpSize / 2; mask != 0; mask /= 2) {
    Value other = emitShuffleXor(frame.builder, frame.loc, part, mask);
    part = vector::makeArithReduction(frame.builder, frame.loc, op.getKind(),
                                      part, other);
  }
  return part;
}

Value StepEvaluator::warpLane() {
  if (!lane)
    lane = frame.hoisted({}, [&]() -> Value {
      return arith::AndIOp::create(frame.builder, frame.loc, frame.thread,
                                   frame.i32(kWarpSize - 1));
    });
  return lane;
}

Coord StepEvaluator::laneElement(int64_t first, int64_t size) {
  bool partial = first + kWarpSize > size;
  Value &index = threadElements[{-1 - first, partial ? size : -1}];
  if (!index)
    index = frame.hoisted({}, [&] {
      Value own = frame.addI(warpLane(), frame.i32(first));
      return partial ? frame.minI(own, frame.i32(size - 1)) : own;
    });
  return index;
}

Value StepEvaluator::reduceInWarp(vector::ReductionOp op) {
  Value vector = op.getVector();
  int64_t size = sizeOf(vector);
  Value part;
  for (int64_t first = 0; first < size; first += kWarpSize) {
    Value element = elementF32(vector, {laneElement(first, size)});
    if (first + kWarpSize > size) {
      Value inside = frame.hoisted({}, [&] {
        return frame.isLess(warpLane(), frame.i32(size - first));
      });
      element =
          frame.select(inside, element, frame.f32(identityOf(op.getKind())));
    }
    part = part ? vector::makeArithReduction(frame.builder, frame.loc,
                                             op.getKind(), part, element)
                : element;
  }
  return combineLanes(op, part);
}

Value StepEvaluator::reduceInBlock(vector::ReductionOp op) {
  Value vector = op.getVector();
  int64_t size = sizeOf(vector), threads = frame.plan.threads;
  OpBuilder &builder = frame.builder;
  Value identity = frame.f32(identityOf(op.getKind()));
  Value part;
  if (dependent.contains(vector)) {
    for (unsigned i : llvm::seq(frame.plan.vector)) {
      Value element = frame.toF32(atColumn(vector, i));
      if (Value owns = frame.ownsColumn(size, i))
        element = frame.select(owns, element, identity);
      part = part ? vector::makeArithReduction(builder, frame.loc, op.getKind(),
                                               part, element)
                  : element;
    }
  } else {
    for (int64_t piece = 0; piece * threads < size; ++piece) {
      Value element =
          frame.toF32(evaluate(vector, {threadElement(piece, size)}));
      if ((piece + 1) * threads > size) {
        Value inside = frame.hoisted({}, [&] {
          return frame.isLess(frame.thread, frame.i32(size - piece * threads));
        });
        element = frame.select(inside, element, identity);
      }
      part = part ? vector::makeArithReduction(builder, frame.loc, op.getKind(),
                                               part, element)
                  : element;
    }
  }
  part = combineLanes(op, part);
  int64_t warps = threads / kWarpSize;
  if (warps == 1)
    return part;
  int64_t slot = shared.allocate(warps);
  auto shifted = [&](int64_t bits) {
    return frame.hoisted({}, [&]() -> Value {
      return arith::ShRUIOp::create(builder, frame.loc, frame.thread,
                                    frame.i32(bits));
    });
  };
  Value isFirst = frame.hoisted({}, [&]() -> Value {
    Value lane = arith::AndIOp::create(builder, frame.loc, frame.thread,
                                       frame.i32(kWarpSize - 1));
    return arith::CmpIOp::create(builder, frame.loc, arith::CmpIPredicate::eq,
                                 lane, frame.i32(0));
  });
  Value warp = shifted(llvm::Log2_64(kWarpSize));
  frame.when(isFirst, [&] {
    frame.store(part, shared.address(slot, warp), sizeof(float));
  });
  frame.barrier();
  // Every thread adds the parts in the same order.
  Value total;
  for (int64_t w : llvm::seq(warps)) {
    Value own = frame.load(builder.getF32Type(), shared.address(slot + w),
                           sizeof(float));
    total = total ? vector::makeArithReduction(builder, frame.loc, op.getKind(),
                                               total, own)
                  : own;
  }
  return total;
}
