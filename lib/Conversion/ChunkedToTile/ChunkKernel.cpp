//===- ChunkKernel.cpp - the kernel around a chunk ------------------------===//

#include "ChunkKernel.h"

#include "../Common/PackedTiles.h"

#include "linattn/Conversion/Fronts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

ChunkKernel::ChunkKernel(const KernelSignature &signature, DimClasses &classes,
                         const OutputTail &tail, const ChunkPlan &plan,
                         KernelPart part, SegmentPass pass, OpBuilder &builder)
    : signature(signature), tail(tail), plan(plan), part(part), pass(pass),
      op(cast<ChunkedOp>(signature.getOp().getOperation())), builder(builder),
      loc(op.getLoc()), classes(classes), emitter(op, classes, plan, builder),
      offChain(emitter.getOffChain()), states(getCarried(op, pass.kind)) {
  if (plan.outputsApart)
    crossing = llvm::map_to_vector(
        tail.getCrossing(), [&](Value value) { return emitter.strip(value); });
  findUsed();
}

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Bytes that every row of a token operand begins at a multiple of, if its
/// strides are multiples of its width: 16, 8, 4 or fewer.
static int64_t alignmentOf(RankedTensorType type) {
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  return std::gcd<int64_t>(16, type.getShape().back() * bytes);
}

LogicalResult ChunkKernel::check(ChunkedOp op) {
  for (const TokenTile &token : getTokenTiles(op)) {
    RankedTensorType type = tensorOf(token.value);
    if (ShortConvOp front = getFront(op.getTokens()[token.operand]);
        front && type.getRank() != 2)
      return front.emitOpError("is not computed in front of tiles: token "
                               "operand ")
             << token.operand << " has no vectors per token, which are rows of "
             << "a tile (fuse-conv=0 gives it a launch of its own)";
    if (type.getRank() > 2)
      return op.emitOpError("has no form on tiles yet: token operand ")
             << token.operand << " has several rows per token that are not "
             << "taken one by one (the token-serial kernel runs it)";
    if (type.getRank() == 2 && alignmentOf(type) < 4)
      return op.emitOpError("has no form on tiles yet: token operand ")
             << token.operand << " has " << type.getShape().back()
             << " elements of " << type.getElementType()
             << " per token, no multiple of 4 bytes (the token-serial kernel "
                "runs it)";
  }
  return success();
}

/// Bytes of the pieces in which rows of an output go to memory.
static int64_t storeAlignmentOf(RankedTensorType type) {
  return std::max<int64_t>(alignmentOf(type),
                           type.getElementTypeBitWidth() / 8);
}

void ChunkKernel::addAlignments(const KernelSignature &signature, ChunkedOp op,
                                llvm::DenseMap<unsigned, int64_t> &alignments) {
  for (const TokenTile &token : getTokenTiles(op)) {
    if (tensorOf(token.value).getRank() != 2)
      continue;
    Value operand = op.getTokens()[token.operand];
    ShortConvOp front = getFront(operand);
    int64_t &bytes =
        alignments[*signature.getOperand(front ? front.getInput() : operand)];
    bytes = std::max(bytes, alignmentOf(tensorOf(token.value)));
  }
  auto yield = op.getBlock()->getTerminator();
  for (unsigned number : llvm::seq(op.getNumOutputs())) {
    RankedTensorType type = tensorOf(yield->getOperand(number));
    if (type.getRank() == 2)
      for (unsigned target : signature.getResult(number))
        alignments[target] = storeAlignmentOf(type);
  }
}

Value ChunkKernel::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

DictionaryAttr ChunkKernel::argumentAttrs(unsigned tensor) {
  const TensorParameter &parameter = signature.getTensors()[tensor];
  // A state may be the caller's buffer of its own result.
  for (Value state : op.getStates())
    if (signature.getOperand(state) == tensor)
      return {};
  for (ShortConvOp front : signature.getFronts())
    if (front.getWindow() && signature.getOperand(front.getWindow()) == tensor)
      return {};
  if (parameter.written)
    return {};
  return readOnlyAttrs(builder);
}

SmallVector<Workspace> ChunkKernel::getWorkspace() {
  SmallVector<Workspace> result;
  auto add = [&](const Twine &name, ArrayRef<int64_t> tile, Type element) {
    SmallVector<int64_t> shape = {ShapedType::kDynamic, op.getNumHeads()};
    llvm::append_range(shape, tile);
    result.push_back(
        {name.str(), MemRefType::get(shape, element), Attribute()});
  };
  if (plan.split)
    for (auto [i, value] : llvm::enumerate(offChain)) {
      tile::SmemType tile = emitter.getSharedType(value);
      add("scratch_" + Twine(i), tile.getShape(), tile.getElementType());
    }
  // As the fragments are that it is stored from and loaded to.
  for (auto [i, value] : llvm::enumerate(crossing))
    add("outputs_" + Twine(i),
        {tensorOf(value).getDimSize(1), emitter.getTileSize(value, 0)},
        tensorOf(value).getElementType());
  return result;
}

bool ChunkKernel::hasOutput(unsigned number) {
  Value value = op.getBlock()->getTerminator()->getOperand(number);
  bool isApart = plan.outputsApart && tail.contains(value);
  return part == KernelPart::Outputs ? isApart : pass.hasOutputs() && !isApart;
}

void ChunkKernel::findUsed() {
  DenseSet<Value> given, seen;
  SmallVector<Value> todo;
  if (part == KernelPart::OffChain) {
    todo = offChain;
  } else {
    OperandRange yielded = op.getBlock()->getTerminator()->getOperands();
    for (unsigned number : llvm::seq(op.getNumOutputs()))
      if (hasOutput(number))
        todo.push_back(yielded[number]);
    if (part == KernelPart::Outputs)
      given.insert(crossing.begin(), crossing.end());
    else if (pass.hasOutputs())
      llvm::append_range(todo, crossing);
    if (part != KernelPart::Outputs)
      for (unsigned state : states)
        todo.push_back(yielded[op.getNumOutputs() + state]);
    if (part == KernelPart::Chain)
      given.insert(offChain.begin(), offChain.end());
  }
  while (!todo.empty()) {
    Value value = emitter.strip(todo.pop_back_val());
    if (!seen.insert(value).second || given.contains(value))
      continue;
    if (Operation *inner = value.getDefiningOp();
        inner && !isTokenTile(op, value))
      llvm::append_range(todo, inner->getOperands());
  }
  used = seen;
  for (auto [i, value] : llvm::enumerate(offChain))
    if (seen.contains(value))
      usedOffChain.push_back(i);
  for (const TokenTile &token : getTokenTiles(op))
    if (seen.contains(token.value) && !given.contains(token.value))
      usedTokens.push_back(token);
}

gpu::GPUFuncOp ChunkKernel::run(StringRef name) {
  SmallVector<Workspace> all = getWorkspace();
  SmallVector<Workspace> ofSegments = getSegmentWorkspace(op, pass.count);
  llvm::append_range(all, ofSegments);
  auto func = createTileKernel(builder, loc, name, signature, all, /*sizes=*/2,
                               plan.warps);
  for (unsigned i : llvm::seq<unsigned>(signature.getTensors().size()))
    if (DictionaryAttr attrs = argumentAttrs(i))
      func.setArgAttrs(i, attrs);

  OpBuilder::InsertionGuard guard(builder);
  enterTileKernel(builder, func);
  ArrayRef<BlockArgument> args = func.getArguments();
  numSequences = args.back();
  time = args.drop_back().back();
  args = args.drop_back(2);
  tensors.assign(args.begin(), args.begin() + signature.getTensors().size());
  args = args.drop_front(tensors.size());
  segmentBuffers.assign(args.end() - ofSegments.size(), args.end());
  args = args.drop_back(ofSegments.size());
  crossingBuffers.assign(args.end() - crossing.size(), args.end());
  buffers.assign(args.begin(), args.end() - crossing.size());
  if (part == KernelPart::OffChain || part == KernelPart::Outputs) {
    emitOwnChunk();
    return func;
  }

  // Block index = ((sequence * segments + segment) * H + head) * slices +
  // slice.
  Value rest = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  slice = index(0);
  if (plan.slices > 1) {
    slice = arith::RemUIOp::create(builder, loc, rest, index(plan.slices));
    rest = arith::DivUIOp::create(builder, loc, rest, index(plan.slices));
  }
  Value heads = index(op.getNumHeads());
  head = arith::RemUIOp::create(builder, loc, rest, heads);
  sequence = arith::DivUIOp::create(builder, loc, rest, heads);
  if (int64_t segments = pass.countBlocks(); segments > 1) {
    segment = arith::RemUIOp::create(builder, loc, sequence, index(segments));
    sequence = arith::DivUIOp::create(builder, loc, sequence, index(segments));
  } else {
    segment = index(0);
  }

  // Convolutions know nothing of slots: their windows are written for all.
  storeFinalWindows();
  stateRow = sequence;
  if (!op.getSlots()) {
    emitSequence();
    func->setAttr("tile.registers",
                  builder.getI64IntegerAttr(countRegisters()));
    return func;
  }
  stateRow = loadOffset(op.getSlots(), sequence);
  Value used = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     stateRow, index(op.getPaddingSlot()));
  auto branch = scf::IfOp::create(builder, loc, used, false);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitSequence();
  func->setAttr("tile.registers", builder.getI64IntegerAttr(countRegisters()));
  return func;
}

/// An element of a tensor of offsets or slots.
Value ChunkKernel::loadOffset(Value operand, Value at) {
  Value value = memref::LoadOp::create(
      builder, loc, tensors[*signature.getOperand(operand)], at);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

Value ChunkKernel::operandHead(int64_t heads) {
  if (heads == op.getNumHeads())
    return head;
  return arith::DivUIOp::create(builder, loc, head,
                                index(op.getNumHeads() / heads));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

bool ChunkKernel::isCut(Value value, unsigned dim) {
  return plan.cutClass == classes.get(value, dim);
}

Value ChunkKernel::sliceBegin(Value value, unsigned dim) {
  if (!isCut(value, dim) || plan.slices == 1)
    return index(0);
  return arith::MulIOp::create(builder, loc, slice, index(plan.sliceWidth));
}

Value ChunkKernel::sliceBound(Value value, unsigned dim) {
  Value size = index(tensorOf(value).getDimSize(dim));
  if (!isCut(value, dim) || plan.slices == 1)
    return size;
  return arith::SubIOp::create(builder, loc, size, sliceBegin(value, dim));
}

void ChunkKernel::forOwner(bool cut, llvm::function_ref<void()> then) {
  if (cut || plan.slices == 1)
    return then();
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      slice, index(0));
  auto branch = scf::IfOp::create(builder, loc, first, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

void ChunkKernel::emitBounds() {
  begin = index(0);
  length = time;
  if (!op.isPacked())
    return;
  begin = loadOffset(op.getSeqlens(), sequence);
  Value next = arith::AddIOp::create(builder, loc, sequence, index(1));
  Value end = loadOffset(op.getSeqlens(), next);
  length = arith::SubIOp::create(builder, loc, end, begin);
}

Value ChunkKernel::ceilDiv(Value a, int64_t b) {
  return arith::CeilDivSIOp::create(builder, loc, a, index(b));
}

/// The row of the scratch buffers for the first chunk of a sequence. A packed
/// one has a row for each chunk of C tokens before it and, for the rests, one
/// for each sequence before it.
Value ChunkKernel::firstSlot(Value n) {
  if (!op.isPacked())
    return arith::MulIOp::create(builder, loc, n, ceilDiv(time, op.getChunk()));
  Value chunks = arith::DivUIOp::create(
      builder, loc, loadOffset(op.getSeqlens(), n), index(op.getChunk()));
  return arith::AddIOp::create(builder, loc, chunks, n);
}

void ChunkKernel::emitSequence() {
  emitBounds();
  numChunks = endChunk = ceilDiv(length, op.getChunk());
  firstChunk = index(0);
  if (!pass.isSegmented())
    return emitSegment();
  SegmentBounds bounds(builder, loc, numChunks, pass.count);
  firstChunk = bounds.getFirst(segment);
  endChunk = bounds.getEnd(segment);
  // Of a sequence's last segment nobody needs the end but its run; a sequence
  // without tokens has one segment, whose end is its start.
  Value exists = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt,
      pass.hasOutputs() ? firstChunk : endChunk, numChunks);
  if (pass.hasOutputs()) {
    Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        segment, index(0));
    exists = arith::OrIOp::create(builder, loc, exists, first);
  }
  auto branch = scf::IfOp::create(builder, loc, exists, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitSegment();
}

void ChunkKernel::emitSegment() {
  loadParams();
  loadFrontVectors();
  SmallVector<Value> initial, final;
  for (unsigned number : states)
    initial.push_back(loadState(number));
  createChannel();
  emitChunks(initial, final);
  auto store = [&] {
    // Several warps may hold, and have read, the rows of a narrow state, which
    // is stored where it came from; without a token nothing else orders them.
    if (op.getSlots() && pass.hasOutputs())
      tile::BarrierOp::create(builder, loc);
    for (auto [number, state] : llvm::zip(states, final))
      storeState(number, state);
  };
  if (!pass.isSegmented() || !pass.hasOutputs())
    return store();
  Value last = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                     endChunk, numChunks);
  auto branch = scf::IfOp::create(builder, loc, last, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  store();
}

void ChunkKernel::createChannel() {
  SmallVector<Type> tiles;
  for (const TokenTile &token : usedTokens)
    if (tensorOf(token.value).getRank() == 2) {
      asyncTokens.push_back(token);
      tiles.push_back(frontOf(token) ? getHaloType(token)
                                     : emitter.getSharedType(token.value));
    }
  if (part == KernelPart::Chain)
    for (unsigned i : usedOffChain)
      tiles.push_back(emitter.getSharedType(offChain[i]));
  if (!tiles.empty())
    channel = tile::ChannelCreateOp::create(
        builder, loc, tile::ChannelType::get(builder.getContext(), 1, tiles),
        IntegerAttr(), IntegerAttr(), IntegerAttr(), ArrayAttr());
}

/// Registers of a thread that are neither the states nor addresses of copies.
static constexpr int64_t kWorkRegisters = 40;

int64_t ChunkKernel::countRegisters() {
  int64_t count = kWorkRegisters;
  for (unsigned state : states)
    count += tile::getElementsPerLane(
        emitter.getFragmentType(op.getStateArgs()[state], /*transposed=*/true));
  // Right sides and rates of systems for each value column.
  for (auto solve : op.getBlock()->getOps<UnitLowerSolveOp>()) {
    if (solve.isInverse() || part == KernelPart::OffChain)
      continue;
    Value side = solve.getRhs();
    bool several = tensorOf(side).getRank() == 3;
    SmallVector<Value> sides =
        several ? getStacked(side) : SmallVector<Value>{side};
    count += (sides.size() + solve.getRates().size()) *
             tile::getElementsPerLane(
                 emitter.getFragmentType(sides.front(), /*transposed=*/true));
  }
  // An address of 64 bits for each piece that a thread copies, and one in
  // shared memory for each tile.
  int64_t threads = plan.warps * tile::kWarpSize;
  auto countAddresses = [&](tile::SmemType type, int64_t bytes) {
    int64_t all = type.getElementBytes();
    for (int64_t size : type.getShape())
      all *= size;
    return 1 + 2 * llvm::divideCeil(llvm::divideCeil(all, bytes), threads);
  };
  for (const TokenTile &token : asyncTokens)
    count += countAddresses(emitter.getSharedType(token.value),
                            alignmentOf(tensorOf(token.value)));
  if (part == KernelPart::Chain)
    for (unsigned i : usedOffChain)
      count += countAddresses(emitter.getSharedType(offChain[i]), 16);
  return count;
}

/// Sequence and chunk of a row of the scratch buffers.
void ChunkKernel::findChunk(Value slot, Value &chunk) {
  if (!op.isPacked()) {
    Value perSequence = ceilDiv(time, op.getChunk());
    sequence = arith::DivUIOp::create(builder, loc, slot, perSequence);
    chunk = arith::RemUIOp::create(builder, loc, slot, perSequence);
    return;
  }
  sequence = findSequence(builder, loc, slot, numSequences,
                          [&](Value n) { return firstSlot(n); });
  chunk = arith::SubIOp::create(builder, loc, slot, firstSlot(sequence));
}

static ArrayRef<int64_t> slotDims(Value value) {
  static constexpr int64_t dims[] = {2, 3};
  return ArrayRef(dims).take_front(tensorOf(value).getRank());
}

void ChunkKernel::emitOwnChunk() {
  // Block index = row of the scratch buffers * H + head.
  Value rest = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value heads = index(op.getNumHeads());
  head = arith::RemUIOp::create(builder, loc, rest, heads);
  Value slot = arith::DivUIOp::create(builder, loc, rest, heads);
  slice = index(0);
  Value own;
  findChunk(slot, own);
  emitBounds();
  setChunk(own);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                       rowsLeft, index(0));
  // Of padding nothing is written.
  if (part == KernelPart::Outputs && op.getSlots()) {
    Value used = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       loadOffset(op.getSlots(), sequence),
                                       index(op.getPaddingSlot()));
    exists = arith::AndIOp::create(builder, loc, exists, used);
  }
  auto branch = scf::IfOp::create(builder, loc, exists, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  loadParams();
  loadFrontVectors();
  createChannel();
  loadTokens(index(0));
  if (part == KernelPart::OffChain)
    emitOwnOffChain(slot);
  else
    emitOwnOutputs(slot);
  if (channel)
    tile::ChannelReleaseOp::create(builder, loc, channel, index(0));
}

void ChunkKernel::emitOwnOffChain(Value slot) {
  for (auto [value, buffer] : llvm::zip(offChain, buffers)) {
    bool isVector = tensorOf(value).getRank() == 1;
    Value made = isVector ? emitter.getVector(value, emitter.getLanes(value))
                          : emitter.getShared(value);
    SmallVector<Value> indices = slotIndices(value, slot);
    tile::StoreOp::create(builder, loc, made, buffer, indices, slotDims(value),
                          ValueRange{}, uint64_t(16));
  }
}

void ChunkKernel::emitOwnOutputs(Value slot) {
  for (auto [value, buffer] : llvm::zip(crossing, crossingBuffers))
    emitter.bindFragment(value, loadCrossing(value, buffer, slot));
  for (unsigned number : llvm::seq(op.getNumOutputs()))
    if (hasOutput(number))
      storeOutput(number);
}

/// Where a value stands in its scratch buffer.
SmallVector<Value> ChunkKernel::slotIndices(Value value, Value slot) {
  SmallVector<Value> indices = {slot, head};
  indices.append(tensorOf(value).getRank(), index(0));
  return indices;
}

void ChunkKernel::setChunk(Value i) {
  chunk = i;
  Value done = arith::MulIOp::create(builder, loc, i, index(op.getChunk()));
  firstToken = arith::AddIOp::create(builder, loc, begin, done);
  rowsLeft = arith::SubIOp::create(builder, loc, length, done);
  // Tiles of more rows than a chunk has would hold tokens of the next one.
  int64_t rows = op.getChunk();
  if (llvm::alignTo(rows, plan.columnTile) != uint64_t(rows))
    rowsLeft = arith::MinSIOp::create(builder, loc, rowsLeft, index(rows));
  emitter.setRows(rowsLeft);
}

/// A system for each value column fills the registers. The states as left
/// operands of products would wait behind it for reads of theirs that it does
/// not need; so those come first.
void ChunkKernel::readBeforeSystems() {
  DenseSet<Value> ofStates, behind;
  ofStates.insert(op.getStateArgs().begin(), op.getStateArgs().end());
  auto dependsOn = [](Operation &inner, const DenseSet<Value> &values) {
    return llvm::any_of(inner.getOperands(), [&](Value operand) {
      return values.contains(operand);
    });
  };
  SmallVector<Value> reads;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    auto solve = dyn_cast<UnitLowerSolveOp>(inner);
    if ((solve && !solve.isInverse()) || dependsOn(inner, behind))
      behind.insert(inner.result_begin(), inner.result_end());
    else if (dependsOn(inner, ofStates)) {
      ofStates.insert(inner.result_begin(), inner.result_end());
      if (isa<linalg::MatmulOp>(inner) && used.contains(inner.getResult(0)))
        reads.push_back(inner.getResult(0));
    }
  }
  if (!behind.empty())
    for (Value read : reads)
      emitter.getFragment(read, emitter.isTransposed(read));
}

void ChunkKernel::emitChunks(ArrayRef<Value> initial,
                             SmallVectorImpl<Value> &final) {
  if (part == KernelPart::Chain || !crossing.empty())
    slotBase = firstSlot(sequence);
  auto loop =
      scf::ForOp::create(builder, loc, firstChunk, endChunk, index(1), initial);
  {
    OpBuilder::InsertionGuard guard(builder);
    // Without states scf.for brings its own, empty terminator.
    if (initial.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    else
      builder.setInsertionPointToStart(loop.getBody());
    Value i = loop.getInductionVar();
    setChunk(i);
    for (auto [number, value] : llvm::zip(states, loop.getRegionIterArgs()))
      emitter.bindFragment(op.getStateArgs()[number], value);
    loadTokens(i);

    // What is off the chain first, so that it waits for nothing.
    for (unsigned i : usedOffChain)
      if (tensorOf(offChain[i]).getRank() == 2)
        emitter.getShared(offChain[i]);
    readBeforeSystems();
    SmallVector<Value> next;
    auto yield = op.getBlock()->getTerminator();
    for (unsigned state : states)
      next.push_back(
          emitter.getFragment(yield->getOperand(op.getNumOutputs() + state),
                              /*transposed=*/true));
    for (unsigned number : llvm::seq(op.getNumOutputs()))
      if (hasOutput(number))
        storeOutput(number);
    if (pass.hasOutputs() && !crossing.empty()) {
      Value slot = arith::AddIOp::create(builder, loc, slotBase, i);
      for (auto [value, buffer] : llvm::zip(crossing, crossingBuffers))
        storeCrossing(value, buffer, slot);
    }
    if (op.getSnapshots() && pass.hasOutputs())
      storeSnapshots(i, next);
    if (channel)
      tile::ChannelReleaseOp::create(builder, loc, channel, i);
    if (!initial.empty())
      scf::YieldOp::create(builder, loc, next);
  }
  final.assign(loop.result_begin(), loop.result_end());
}

//===----------------------------------------------------------------------===//
// Tokens and parameters
//===----------------------------------------------------------------------===//

Value ChunkKernel::tokenMemory(const TokenTile &token) {
  return tensors[*signature.getOperand(op.getTokens()[token.operand])];
}

/// Where the first token of the chunk stands.
SmallVector<Value> ChunkKernel::tokenIndices(const TokenTile &token) {
  RankedTensorType type = tensorOf(op.getTokens()[token.operand]);
  SmallVector<Value> indices;
  if (!op.isPacked())
    indices.push_back(sequence);
  indices.push_back(firstToken);
  indices.push_back(operandHead(type.getDimSize(op.getHeadDim())));
  if (token.row)
    indices.push_back(index(*token.row));
  return indices;
}

void ChunkKernel::loadTokens(Value i) {
  int64_t tokenDim = op.getHeadDim() - 1;
  if (channel) {
    auto type = cast<tile::ChannelType>(channel.getType());
    auto acquired = tile::ChannelAcquireOp::create(builder, loc,
                                                   type.getTiles(), channel, i);
    ResultRange tiles = acquired.getResults();
    for (auto [token, smem] :
         llvm::zip(asyncTokens, tiles.take_front(asyncTokens.size()))) {
      if (frontOf(token)) {
        loadWithHalo(token, smem, alignmentOf(tensorOf(token.value)));
        continue;
      }
      SmallVector<Value> indices = tokenIndices(token);
      int64_t inner = indices.size();
      indices.push_back(sliceBegin(token.value, 1));
      tile::LoadAsyncOp::create(
          builder, loc, tokenMemory(token), indices,
          ArrayRef<int64_t>{tokenDim, inner},
          ValueRange{rowsLeft, sliceBound(token.value, 1)}, /*from=*/Value(),
          smem, uint64_t(alignmentOf(tensorOf(token.value))));
    }
    if (part == KernelPart::Chain) {
      Value slot = arith::AddIOp::create(builder, loc, slotBase, i);
      for (auto [i, smem] :
           llvm::zip(usedOffChain, tiles.drop_front(asyncTokens.size())))
        tile::LoadAsyncOp::create(builder, loc, buffers[i],
                                  slotIndices(offChain[i], slot),
                                  slotDims(offChain[i]), ValueRange{},
                                  /*from=*/Value(), smem, uint64_t(16));
    }
    tile::ChannelCommitOp::create(builder, loc, channel, i);
  }
  for (const TokenTile &token : usedTokens) {
    if (tensorOf(token.value).getRank() != 1)
      continue;
    Attribute lanes = emitter.getLanes(token.value);
    Value loaded = tile::LoadOp::create(
        builder, loc, emitter.getVectorType(token.value, lanes),
        tokenMemory(token), tokenIndices(token), ArrayRef<int64_t>{tokenDim},
        ValueRange{rowsLeft});
    emitter.bindVector(token.value, loaded);
  }
  if (channel) {
    auto type = cast<tile::ChannelType>(channel.getType());
    auto full = tile::ChannelWaitOp::create(builder, loc, type.getTiles(),
                                            channel, i, uint64_t(0));
    ResultRange tiles = full.getResults();
    for (auto [token, smem] :
         llvm::zip(asyncTokens, tiles.take_front(asyncTokens.size())))
      if (frontOf(token))
        emitter.bindMaker(token.value, [this, token = token,
                                        smem = Value(smem)](bool transposed) {
          return convolve(token, smem, transposed);
        });
      else
        emitter.bindShared(token.value, smem);
    if (part == KernelPart::Chain)
      for (auto [i, smem] :
           llvm::zip(usedOffChain, tiles.drop_front(asyncTokens.size())))
        emitter.bindShared(offChain[i], smem);
  }
}

void ChunkKernel::loadParams() {
  for (auto [operand, arg] : llvm::zip(op.getParams(), op.getParamArgs())) {
    Value memory = tensors[*signature.getOperand(operand)];
    Value at = operandHead(tensorOf(operand).getDimSize(0));
    if (tensorOf(arg).getRank() == 0) {
      emitter.bindScalar(arg, memref::LoadOp::create(builder, loc, memory, at));
      continue;
    }
    Value loaded = tile::LoadOp::create(
        builder, loc, emitter.getVectorType(arg, emitter.getLanes(arg)), memory,
        ValueRange{at, sliceBegin(arg, 0)}, ArrayRef<int64_t>{1},
        ValueRange{sliceBound(arg, 0)});
    emitter.bindVector(arg, loaded);
  }
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

Value ChunkKernel::loadCrossing(Value value, Value buffer, Value slot) {
  return tile::LoadOp::create(
      builder, loc, emitter.getFragmentType(value, /*transposed=*/true), buffer,
      ValueRange{slot, head, index(0), index(0)}, ArrayRef<int64_t>{2, 3},
      ValueRange{index(tensorOf(value).getDimSize(1)),
                 index(emitter.getTileSize(value, 0))});
}

void ChunkKernel::storeCrossing(Value value, Value buffer, Value slot) {
  Value fragment = emitter.getFragment(value, /*transposed=*/true);
  forOwner(isCut(value, 1), [&] {
    tile::StoreOp::create(
        builder, loc, fragment, buffer,
        ValueRange{slot, head, sliceBegin(value, 1), index(0)},
        ArrayRef<int64_t>{2, 3},
        ValueRange{sliceBound(value, 1), index(emitter.getTileSize(value, 0))},
        uint64_t(16));
  });
}

void ChunkKernel::storeOutput(unsigned number) {
  ArrayRef<unsigned> targets = signature.getResult(number);
  if (targets.empty())
    return;
  Value value = op.getBlock()->getTerminator()->getOperand(number);
  RankedTensorType type = tensorOf(value);
  SmallVector<Value> indices;
  if (!op.isPacked())
    indices.push_back(sequence);
  indices.push_back(firstToken);
  indices.push_back(head);
  int64_t tokenDim = op.getHeadDim() - 1;
  if (type.getRank() == 1) {
    Value vector = emitter.getVector(value, emitter.getLanes(value));
    forOwner(false, [&] {
      for (unsigned target : targets)
        tile::StoreOp::create(builder, loc, vector, tensors[target], indices,
                              ArrayRef<int64_t>{tokenDim}, ValueRange{rowsLeft},
                              uint64_t(16));
    });
    return;
  }
  // Through shared memory, so that rows go out in wide pieces.
  Value smem = emitter.getShared(value);
  int64_t inner = indices.size();
  indices.push_back(sliceBegin(value, 1));
  forOwner(isCut(value, 1), [&] {
    for (unsigned target : targets)
      tile::StoreOp::create(builder, loc, smem, tensors[target], indices,
                            ArrayRef<int64_t>{tokenDim, inner},
                            ValueRange{rowsLeft, sliceBound(value, 1)},
                            uint64_t(storeAlignmentOf(type)));
  });
}
