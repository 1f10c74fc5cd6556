//===- ChunkStates.cpp - states of a chunk kernel in memory ---------------===//

#include "ChunkKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

Value ChunkKernel::loadState(unsigned number) {
  if (pass.isSegmented())
    return pass.hasOutputs()
               ? loadFragment(number, segmentBuffer(number), segmentRow())
               : makeNeutral(number);
  Value state = op.getStates()[number], arg = op.getStateArgs()[number];
  RankedTensorType type = emitter.getFragmentType(arg, /*transposed=*/true);
  if (Value constant = makeConstantState(builder, loc, signature, state, type))
    return constant;
  return loadFragment(number, tensors[*signature.getOperand(state)], stateRow);
}

Value ChunkKernel::loadFragment(unsigned number, Value memory, Value row) {
  Value arg = op.getStateArgs()[number];
  RankedTensorType type = emitter.getFragmentType(arg, /*transposed=*/true);
  Type stored = getElementTypeOrSelf(memory.getType());
  Value loaded =
      tile::LoadOp::create(builder, loc, type.clone(stored), memory,
                           ValueRange{row, head, index(0), sliceBegin(arg, 1)},
                           ArrayRef<int64_t>{3, 2},
                           ValueRange{sliceBound(arg, 1), sliceBound(arg, 0)});
  if (stored == type.getElementType())
    return loaded;
  return arith::ExtFOp::create(builder, loc, type, loaded);
}

Value ChunkKernel::makeNeutral(unsigned number) {
  Value arg = op.getStateArgs()[number];
  RankedTensorType type = emitter.getFragmentType(arg, /*transposed=*/true);
  auto splat = [&](double value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type,
                               Attribute(builder.getF32FloatAttr(value))));
  };
  if (!isTransition(op, number))
    return splat(0);
  if (tensorOf(arg).getDimSize(1) == 1)
    return splat(1);
  RankedTensorType integers = type.clone(builder.getI32Type());
  auto count = [&](int64_t size, Attribute layout) -> Value {
    return tile::IotaOp::create(
        builder, loc,
        RankedTensorType::get({size}, builder.getI32Type(), layout),
        uint64_t(0));
  };
  Value column = tile::SplatRowOp::create(
      builder, loc, integers, count(type.getDimSize(0), emitter.getRow()));
  Value first = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                           sliceBegin(arg, 1));
  column = arith::AddIOp::create(
      builder, loc, column,
      tensor::SplatOp::create(builder, loc, first, integers));
  Value row = tile::SplatColOp::create(
      builder, loc, integers, count(type.getDimSize(1), emitter.getCol()));
  Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      row, column);
  return arith::SelectOp::create(builder, loc, equal, splat(1), splat(0));
}

Value ChunkKernel::segmentBuffer(unsigned number) {
  return segmentBuffers[getSegmentBuffer(op, number)];
}

Value ChunkKernel::segmentRow() {
  Value row = arith::MulIOp::create(builder, loc, sequence, index(pass.count));
  return arith::AddIOp::create(builder, loc, row, segment);
}

void ChunkKernel::storeState(unsigned number, Value fragment) {
  if (pass.isSegmented() && !pass.hasOutputs())
    return storeFragment(number, fragment, segmentBuffer(number), segmentRow());
  SmallVector<unsigned> targets(
      signature.getResult(op.getNumOutputs() + number));
  if (op.getSlots())
    targets.push_back(*signature.getOperand(op.getStates()[number]));
  storeTo(targets, number, fragment, stateRow);
}

void ChunkKernel::storeTo(ArrayRef<unsigned> targets, unsigned number,
                          Value fragment, ArrayRef<Value> row) {
  if (targets.empty())
    return;
  Type stored = tensorOf(op.getStates()[number]).getElementType();
  if (stored != tensorOf(fragment).getElementType())
    fragment = arith::TruncFOp::create(
        builder, loc, tensorOf(fragment).clone(stored), fragment);
  for (unsigned target : targets)
    storeFragment(number, fragment, tensors[target], row);
}

void ChunkKernel::storeFragment(unsigned number, Value fragment, Value memory,
                                ArrayRef<Value> row) {
  Value arg = op.getStateArgs()[number];
  forOwner(isCut(arg, 1), [&] {
    SmallVector<Value> indices(row);
    indices.append({head, index(0), sliceBegin(arg, 1)});
    int64_t rank = indices.size();
    tile::StoreOp::create(builder, loc, fragment, memory, indices,
                          ArrayRef<int64_t>{rank - 1, rank - 2},
                          ValueRange{sliceBound(arg, 1), sliceBound(arg, 0)},
                          uint64_t(16));
  });
}

/// The states at the ends of every `snapshots` tokens of the sequence and after
/// its last: chunks end there.
void ChunkKernel::storeSnapshots(Value i, ArrayRef<Value> states) {
  Value every = index(*op.getSnapshots());
  Value chunk = index(op.getChunk());
  Value done = arith::MulIOp::create(builder, loc, i, chunk);
  Value next = arith::AddIOp::create(builder, loc, done, chunk);
  Value rest = arith::RemUIOp::create(builder, loc, next, every);
  Value full = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     rest, index(0));
  Value last = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                     next, length);
  Value due = arith::OrIOp::create(builder, loc, full, last);
  auto branch = scf::IfOp::create(builder, loc, due, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value number = arith::DivUIOp::create(builder, loc, done, every);
  SmallVector<Value, 2> row = {sequence, number};
  if (op.isPacked()) {
    // Each sequence before this one took one row more than it had full ones.
    Value base = arith::DivUIOp::create(builder, loc, begin, every);
    base = arith::AddIOp::create(builder, loc, base, sequence);
    row = {arith::AddIOp::create(builder, loc, base, number)};
  }
  unsigned first = op.getNumOutputs() + op.getNumStates();
  for (auto [state, fragment] : llvm::enumerate(states))
    storeTo(signature.getResult(first + state), state, fragment, row);
}
