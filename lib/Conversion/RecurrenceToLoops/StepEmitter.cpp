//===- StepEmitter.cpp - one token's step as loops over the state ---------===//

#include "StepEmitter.h"

#include "linattn/Conversion/StepSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace linattn;

//===----------------------------------------------------------------------===//
// StepEmitter
//===----------------------------------------------------------------------===//

StepEmitter::StepEmitter(RecurrenceOp op, OpBuilder &builder,
                         ArrayRef<Value> homes, SweepCounts &counts)
    : op(op), builder(builder), loc(op.getLoc()), counts(counts),
      homes(homes.begin(), homes.end()) {}

Value StepEmitter::makeScratch(ArrayRef<int64_t> shape, Type element) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(tokenLoop);
  auto type = MemRefType::get(shape, element);
  // On the heap: a state of 1024 x 1024 would not fit a thread's stack, and the
  // conversion to OpenMP cannot keep stack memory inside a parallel loop.
  return memref::AllocOp::create(builder, loc, type);
}

void StepEmitter::copy(Value from, Value to, StateType type) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto loop = scf::ForOp::create(builder, loc, constant(0),
                                 constant(type.getKeys()), constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  forEachPiece(type.getValues(), kPieceWidth, [&](int64_t at, int64_t width) {
    Value indices[] = {loop.getInductionVar(), constant(at)};
    Value row = vector::LoadOp::create(
        builder, loc, VectorType::get({width}, type.getComputeType()), from,
        indices);
    vector::StoreOp::create(builder, loc, row, to, indices);
  });
  ++counts.copies;
}

SmallVector<Value> StepEmitter::emit(Operation *loop) {
  tokenLoop = loop;
  for (auto [i, arg] : llvm::enumerate(op.getStateArgs())) {
    chains.push_back({homes[i], arg, {}});
    chainOf[arg] = i;
  }
  for (Operation *inner : scheduleStep(*op.getBody())) {
    if (isa<DecayOp, ReadOp, WriteOp>(inner)) {
      emitStateOp(inner);
      continue;
    }
    flushOperands(inner);
    builder.clone(*inner, mapping);
  }
  // In the order of creation; indices, since a flush adds no chain.
  for (unsigned i = 0; i < chains.size(); ++i)
    flush(i);
  moveHome();
  SmallVector<Value> outputs;
  for (unsigned i : llvm::seq(op.getNumOutputs()))
    outputs.push_back(
        mapping.lookup(op.getBody()->getTerminator()->getOperand(i)));
  return outputs;
}

void StepEmitter::flushOperands(Operation *inner) {
  for (Value operand : inner->getOperands())
    if (Operation *def = operand.getDefiningOp())
      if (auto found = waiting.find(def); found != waiting.end())
        flush(found->second);
}

void StepEmitter::emitStateOp(Operation *inner) {
  flushOperands(inner);
  Value state = inner->getOperand(0);
  unsigned chain = chainOf.lookup(state);
  if (isa<ReadOp>(inner)) {
    chains[chain].pending.push_back(inner);
    waiting[inner] = chain;
    return;
  }
  // Somebody still needs this version: the update works on a copy.
  bool neededLater = llvm::any_of(state.getUsers(), [&](Operation *user) {
    return user != inner && !mapping.contains(user) && !waiting.contains(user);
  });
  if (neededLater) {
    flush(chain);
    auto type = cast<StateType>(state.getType());
    Value buffer = makeScratch(type.getShape(), type.getComputeType());
    copy(chains[chain].buffer, buffer, type);
    chain = chains.size();
    chains.push_back({buffer, state, {}});
  }
  chains[chain].pending.push_back(inner);
  chains[chain].version = inner->getResult(0);
  chainOf[inner->getResult(0)] = chain;
  // Marks the operation as emitted for the question above.
  mapping.map(inner, inner);
}

void StepEmitter::flush(unsigned chain) {
  if (chains[chain].pending.empty())
    return;
  emitSweep(chains[chain]);
  for (Operation *done : chains[chain].pending) {
    waiting.erase(done);
    mapping.map(done, done);
  }
  chains[chain].pending.clear();
}

Value StepEmitter::rowsInMemory(Value vector, Type element, bool exponential) {
  Value value = mapping.lookup(vector);
  Value &buffer = inMemory[{value, element, exponential ? 1 : 0}];
  if (buffer)
    return buffer;
  value = convertElements(builder, loc, value, element);
  if (exponential)
    value = math::ExpOp::create(builder, loc, value);
  buffer = makeScratch(cast<VectorType>(value.getType()).getShape(), element);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  vector::StoreOp::create(builder, loc, value, buffer, zero);
  return buffer;
}

void StepEmitter::emitSweep(Chain &chain) {
  ++counts.sweeps;
  Type element = cast<MemRefType>(chain.buffer.getType()).getElementType();
  int64_t columns = cast<MemRefType>(chain.buffer.getType()).getDimSize(1);
  SmallVector<ReadOp> reads;
  for (Operation *inner : chain.pending) {
    if (auto read = dyn_cast<ReadOp>(inner)) {
      reads.push_back(read);
      rowsInMemory(read.getKey(), element, false);
    } else if (auto write = dyn_cast<WriteOp>(inner)) {
      rowsInMemory(write.getKey(), element, false);
    } else if (auto decay = dyn_cast<DecayOp>(inner)) {
      if (isa<VectorType>(decay.getGate().getType()))
        rowsInMemory(decay.getGate(), element, !decay.getLinear());
    }
  }
  // Several sums of a piece must fit the vector registers beside the rows.
  int64_t width = kPieceWidth * 4 / (element.getIntOrFloatBitWidth() / 8);
  if (reads.size() > 1)
    width /= 2;
  SmallVector<Value> results(reads.size());
  forEachPiece(columns, width, [&](int64_t at, int64_t size) {
    SmallVector<Value> sums;
    emitPiece(chain, at, size, sums);
    for (auto [result, sum] : llvm::zip(results, sums)) {
      if (size == columns) {
        result = sum;
        continue;
      }
      auto type = VectorType::get({columns}, element);
      if (!result)
        result = arith::ConstantOp::create(builder, loc, type,
                                           builder.getZeroAttr(type));
      result = vector::InsertStridedSliceOp::create(builder, loc, sum, result,
                                                    ArrayRef<int64_t>{at},
                                                    ArrayRef<int64_t>{1});
    }
  });
  for (auto [read, result] : llvm::zip(reads, results)) {
    if (std::optional<APFloat> scale = read.getScale()) {
      auto type = cast<VectorType>(result.getType());
      Value factor = arith::ConstantOp::create(
          builder, loc, type,
          DenseElementsAttr::get(
              type, builder.getFloatAttr(element, scale->convertToDouble())));
      result = arith::MulFOp::create(builder, loc, result, factor);
    }
    mapping.map(read.getResult(), result);
  }
}

/// Columns [at, at + width) of a sweep; appends the sums of the reads.
void StepEmitter::emitPiece(Chain &chain, int64_t at, int64_t width,
                            SmallVectorImpl<Value> &sums) {
  auto stateType = cast<MemRefType>(chain.buffer.getType());
  Type element = stateType.getElementType();
  auto piece = VectorType::get({width}, element);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto splat = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(builder, loc, piece, scalar);
  };
  // Multiply-add that may be fused: the limits of section "exact" allow both.
  auto fma = [&](Value a, Value b, Value c) -> Value {
    auto contract = arith::FastMathFlags::contract;
    Value product = arith::MulFOp::create(builder, loc, a, b, contract);
    return arith::AddFOp::create(builder, loc, product, c, contract);
  };

  // What does not change from row to row.
  llvm::DenseMap<Operation *, Value> fixed;
  SmallVector<Value> zeros;
  bool modified = false;
  for (Operation *inner : chain.pending) {
    if (isa<ReadOp>(inner)) {
      zeros.push_back(arith::ConstantOp::create(builder, loc, piece,
                                                builder.getZeroAttr(piece)));
      continue;
    }
    modified = true;
    if (auto write = dyn_cast<WriteOp>(inner)) {
      Value u = convertElements(builder, loc, mapping.lookup(write.getValue()),
                                element);
      if (width != stateType.getDimSize(1))
        u = vector::ExtractStridedSliceOp::create(
            builder, loc, u, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{width},
            ArrayRef<int64_t>{1});
      fixed[inner] = u;
    } else if (auto decay = dyn_cast<DecayOp>(inner);
               decay && !isa<VectorType>(decay.getGate().getType())) {
      Value gate = convertElements(builder, loc,
                                   mapping.lookup(decay.getGate()), element);
      if (!decay.getLinear())
        gate = math::ExpOp::create(builder, loc, gate);
      fixed[inner] = splat(gate);
    }
  }

  auto loop =
      scf::ForOp::create(builder, loc, constant(0),
                         constant(stateType.getDimSize(0)), constant(1), zeros);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar();
  Value indices[] = {i, constant(at)};
  Value row =
      vector::LoadOp::create(builder, loc, piece, chain.buffer, indices);
  auto element_i = [&](Value vector, bool exponential) {
    Value buffer = rowsInMemory(vector, element, exponential);
    return splat(memref::LoadOp::create(builder, loc, buffer, i));
  };
  SmallVector<Value> partial;
  for (Operation *inner : chain.pending) {
    if (auto read = dyn_cast<ReadOp>(inner)) {
      Value sum = loop.getRegionIterArg(partial.size());
      partial.push_back(fma(element_i(read.getKey(), false), row, sum));
    } else if (auto write = dyn_cast<WriteOp>(inner)) {
      row = fma(element_i(write.getKey(), false), fixed[inner], row);
    } else {
      auto decay = cast<DecayOp>(inner);
      Value factor = fixed.lookup(inner);
      if (!factor)
        factor = element_i(decay.getGate(), !decay.getLinear());
      row = arith::MulFOp::create(builder, loc, row, factor);
    }
  }
  if (modified)
    vector::StoreOp::create(builder, loc, row, chain.buffer, indices);
  if (!partial.empty())
    scf::YieldOp::create(builder, loc, partial);
  llvm::append_range(sums, loop.getResults());
}

/// Copies the yielded versions to where the next token expects them. A version
/// that lies in another state's home goes through scratch memory, since that
/// home may be overwritten first.
void StepEmitter::moveHome() {
  auto yielded =
      op.getBody()->getTerminator()->getOperands().take_back(homes.size());
  SmallVector<std::tuple<Value, Value, StateType>> moves;
  for (auto [home, version] : llvm::zip(homes, yielded)) {
    Value buffer = chains[chainOf.lookup(version)].buffer;
    if (buffer == home)
      continue;
    auto type = cast<StateType>(version.getType());
    if (llvm::is_contained(homes, buffer)) {
      Value scratch = makeScratch(type.getShape(), type.getComputeType());
      copy(buffer, scratch, type);
      buffer = scratch;
    }
    moves.push_back({buffer, home, type});
  }
  for (auto [from, to, type] : moves)
    copy(from, to, type);
}
