//===- AttentionKernel.cpp - the kernel around attention's regions --------===//

#include "AttentionKernel.h"

#include "../Common/PackedTiles.h"
#include "../Common/TileKernel.h"
#include "HeadGroups.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

AttentionKernel::AttentionKernel(const KernelSignature &signature,
                                 const AttentionPlan &plan, KernelPart part,
                                 OpBuilder &builder)
    : signature(signature), plan(plan), part(part),
      op(cast<AttentionTilesOp>(signature.getOp().getOperation())),
      builder(builder), loc(op.getLoc()), emitter(op, plan, builder),
      passes(findKeyPasses(op, plan.inTurn)) {}

Value AttentionKernel::operandArg(unsigned number, bool ofKeys) {
  unsigned first = AttentionTilesOp::kStepLeading;
  if (ofKeys)
    first += op.getQueries().size();
  return op.getStepBlock()->getArgument(first + number);
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

/// Bytes that every row of an operand begins at a multiple of, if its strides
/// are multiples of its width: 16, 8, 4 or fewer.
static int64_t alignmentOf(RankedTensorType type) {
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  return std::gcd<int64_t>(16, type.getShape().back() * bytes);
}

/// Bytes of the pieces in which rows of an output go to memory.
static int64_t storeAlignmentOf(RankedTensorType type) {
  return std::max<int64_t>(alignmentOf(type),
                           type.getElementTypeBitWidth() / 8);
}

LogicalResult AttentionKernel::check(AttentionTilesOp op) {
  auto all = llvm::to_vector(op.getQueries());
  llvm::append_range(all, op.getKeys());
  for (auto [i, operand] : llvm::enumerate(all)) {
    RankedTensorType type = tensorOf(operand);
    int64_t rank = type.getRank() - op.getHeadDim();
    if (rank > 2)
      return op.emitOpError("has no form on tiles: operand ")
             << i << " has several rows per token and head (the CPU runs it)";
    if (type.getElementType().isF64())
      return op.emitOpError("has no form on tiles: operand ")
             << i << " is f64 (the CPU runs it; f32 goes in 3 tf32 products)";
    if (rank == 2 && alignmentOf(type) < 4)
      return op.emitOpError("has no form on tiles: operand ")
             << i << " has " << type.getShape().back() << " elements of "
             << type.getElementType()
             << " per token and head, no multiple of 4 bytes (pad it, or the "
                "CPU runs it)";
  }
  return success();
}

void AttentionKernel::addAlignments(
    const KernelSignature &signature, AttentionTilesOp op,
    llvm::DenseMap<unsigned, int64_t> &alignments) {
  unsigned leading = op.getHeadDim() + 1;
  for (auto operands : {op.getQueries(), op.getKeys()})
    for (Value operand : operands)
      if (tensorOf(operand).getRank() > leading)
        alignments[*signature.getOperand(operand)] =
            alignmentOf(tensorOf(operand));
  for (OpResult result : op->getResults())
    if (tensorOf(result).getRank() > leading)
      for (unsigned target : signature.getResult(result.getResultNumber()))
        alignments[target] = storeAlignmentOf(tensorOf(result));
}

//===----------------------------------------------------------------------===//
// Arithmetic on indices
//===----------------------------------------------------------------------===//

Value AttentionKernel::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value AttentionKernel::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}
Value AttentionKernel::sub(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}
Value AttentionKernel::compare(arith::CmpIPredicate predicate, Value a,
                               Value b) {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void AttentionKernel::run(StringRef name) {
  SmallVector<Workspace> scratch;
  if (part != KernelPart::Whole)
    scratch = getWorkspace(op, plan);
  auto func = createTileKernel(builder, loc, name, signature, scratch,
                               /*sizes=*/3, plan.warps);
  func->setAttr("tile.registers", builder.getI64IntegerAttr(plan.registers));
  DictionaryAttr readOnly = readOnlyAttrs(builder);
  for (auto [i, tensor] : llvm::enumerate(signature.getTensors()))
    if (!tensor.written)
      func.setArgAttrs(i, readOnly);

  OpBuilder::InsertionGuard guard(builder);
  enterTileKernel(builder, func);
  ArrayRef<BlockArgument> args = func.getArguments();
  keyTime = args.back();
  numSequences = args.drop_back().back();
  time = args.drop_back(2).back();
  args = args.drop_back(3);
  tensors.assign(args.begin(), args.begin() + signature.getTensors().size());
  buffers.assign(args.begin() + signature.getTensors().size(), args.end());
  for (Value param : signature.getOp().getParams())
    emitter.bindMemory(param, memoryOf(param));
  if (part == KernelPart::KeyPart)
    findPart();
  else
    findTile();
  // Of packed sequences there are fewer tiles than blocks, and fewer parts.
  if (op.isPacked() || part == KernelPart::KeyPart) {
    Value exists = compare(arith::CmpIPredicate::sgt, queriesLeft, index(0));
    exists = arith::AndIOp::create(
        builder, loc, exists,
        compare(arith::CmpIPredicate::sge, firstQuery, index(0)));
    auto branch = scf::IfOp::create(builder, loc, exists, false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  emitTile();
}

Value AttentionKernel::memoryOf(Value operand) {
  return tensors[*signature.getOperand(operand)];
}

AttentionKernel::Span AttentionKernel::spanOf(Value offsets, Value whole) {
  if (!offsets)
    return {index(0), whole};
  auto load = [&](Value at) -> Value {
    Value value = memref::LoadOp::create(builder, loc, memoryOf(offsets), at);
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  };
  Value begin = load(sequence);
  return {begin, sub(load(add(sequence, index(1))), begin)};
}

/// Packed sequences have floor(T / Q) + N slots for tiles: of Q tokens before
/// the sequence one each, and one for each sequence before it.
Attribute AttentionKernel::countBlocks(AttentionTilesOp op,
                                       const AttentionPlan &plan,
                                       KernelPart part) {
  Builder b(op.getContext());
  int64_t tokens = int64_t(op.getQueryTile()) / plan.group;
  auto times = [&](Attribute of, Attribute factor) {
    return b.getDictionaryAttr(
        {b.getNamedAttr("of", of), b.getNamedAttr("times", factor)});
  };
  SmallVector<NamedAttribute> fields = {
      b.getNamedAttr("of", b.getStringAttr("T")),
      b.getNamedAttr("divide", b.getI64IntegerAttr(tokens))};
  fields.push_back(op.isPacked()
                       ? b.getNamedAttr("plus", b.getStringAttr("N"))
                       : b.getNamedAttr("round", b.getStringAttr("up")));
  Attribute tiles = b.getDictionaryAttr(fields);
  if (!op.isPacked())
    tiles = times(tiles, b.getStringAttr("N"));
  if (part == KernelPart::KeyPart)
    tiles = KeyParts{tokens, plan.splitKeys}.countSlots(b, op.isPacked());
  return times(tiles, b.getI64IntegerAttr(int64_t(op.getHeads()) / plan.group *
                                          plan.columnParts));
}

/// Tiles of one head follow each other, so that blocks which run at once share
/// keys in the cache. Of causal ones the longest come first: what is left for
/// the end of the grid is short. Parts of the columns stand beside each other.
void AttentionKernel::findTile() {
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  if (plan.columnParts > 1) {
    Value parts = index(plan.columnParts);
    columnPart = arith::RemUIOp::create(builder, loc, block, parts);
    block = arith::DivUIOp::create(builder, loc, block, parts);
  }
  Value rows = index(countTokens()), one = index(1);
  auto ceilTiles = [&](Value count) -> Value {
    return arith::CeilDivSIOp::create(builder, loc, count, rows);
  };
  Value number, tiles;
  if (op.isPacked()) {
    Value slots =
        add(arith::DivUIOp::create(builder, loc, time, rows), numSequences);
    head = arith::DivUIOp::create(builder, loc, block, slots);
    Value slot = arith::RemUIOp::create(builder, loc, block, slots);
    auto firstSlot = [&](Value n) -> Value {
      Value begin =
          memref::LoadOp::create(builder, loc, memoryOf(op.getSeqlens()), n);
      begin = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         begin);
      return add(arith::DivUIOp::create(builder, loc, begin, rows), n);
    };
    sequence = findSequence(builder, loc, slot, numSequences, firstSlot);
    number = sub(slot, firstSlot(sequence));
  } else {
    tiles = ceilTiles(time);
    number = arith::RemUIOp::create(builder, loc, block, tiles);
    Value rest = arith::DivUIOp::create(builder, loc, block, tiles);
    Value heads = index(countHeadGroups());
    head = arith::RemUIOp::create(builder, loc, rest, heads);
    sequence = arith::DivUIOp::create(builder, loc, rest, heads);
  }
  if (plan.group > 1)
    head = arith::MulIOp::create(builder, loc, head, index(plan.group));
  findSpans();
  if (op.isPacked())
    tiles = ceilTiles(queries.count);
  if (op.getCausal())
    number = sub(sub(tiles, one), number);
  setTile(number);
  if (part == KernelPart::Combine)
    findParts(number);
}

void AttentionKernel::findSpans() {
  queries = spanOf(op.getSeqlens(), time);
  keys =
      spanOf(op.getKvSeqlens() ? op.getKvSeqlens() : op.getSeqlens(), keyTime);
  shift = sub(keys.count, queries.count);
}

void AttentionKernel::setTile(Value number) {
  Value tokens = index(countTokens());
  firstQuery = arith::MulIOp::create(builder, loc, number, tokens);
  queriesLeft = sub(queries.count, firstQuery);
  rowsLeft = queriesLeft;
  if (plan.group > 1)
    rowsLeft = arith::MulIOp::create(
        builder, loc, arith::MinSIOp::create(builder, loc, queriesLeft, tokens),
        index(plan.group));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionKernel::indicesOf(Value operand, AffineMap heads,
                                              Value row) {
  SmallVector<Value> indices;
  if (!op.isPacked())
    indices.push_back(sequence);
  indices.push_back(row);
  indices.push_back(
      affine::expandAffineMap(builder, loc, heads, head)->front());
  return indices;
}

static AffineMap mapOf(ArrayAttr maps, unsigned number) {
  return cast<AffineMapAttr>(maps[number]).getValue();
}

int64_t AttentionKernel::stepOf(AffineMap heads, bool ofKeys) {
  return ofKeys || plan.group == 1 ? 1 : getHeadStep(heads);
}

void AttentionKernel::loadRows(ArrayRef<unsigned> operands, bool ofKeys,
                               Value row, Value left, ValueRange tiles) {
  int64_t tokenDim = ofKeys ? op.getHeadDim() - 1 : rowDim();
  for (auto [number, smem] : llvm::zip_equal(operands, tiles)) {
    Value operand = ofKeys ? op.getKeys()[number] : op.getQueries()[number];
    AffineMap map =
        mapOf(ofKeys ? op.getKeyHeads() : op.getQueryHeads(), number);
    SmallVector<Value> indices = indicesOf(operand, map, row);
    int64_t inner = indices.size();
    int64_t width = tensorOf(operandArg(number, ofKeys)).getDimSize(1);
    indices.push_back(firstColumn(width, tensorOf(operand).getShape().back()));
    tile::LoadAsyncOp::create(
        builder, loc, memoryOf(operand), indices,
        ArrayRef<int64_t>{tokenDim, inner}, ValueRange{left, index(width)},
        /*from=*/Value(), smem, uint64_t(alignmentOf(tensorOf(operand))),
        /*multicast=*/false, uint64_t(ofKeys ? 1 : plan.group),
        uint64_t(stepOf(map, ofKeys)));
  }
}

Value AttentionKernel::firstColumn(int64_t width, int64_t whole) {
  if (width == whole)
    return index(0);
  return arith::MulIOp::create(builder, loc, columnPart, index(width));
}

Value AttentionKernel::loadVector(unsigned number, bool ofKeys, Value row,
                                  Value left) {
  Value operand = ofKeys ? op.getKeys()[number] : op.getQueries()[number];
  AffineMap map = mapOf(ofKeys ? op.getKeyHeads() : op.getQueryHeads(), number);
  int64_t tokenDim = ofKeys ? op.getHeadDim() - 1 : rowDim();
  return tile::LoadOp::create(
      builder, loc,
      plan.getVectorType(tensorOf(operandArg(number, ofKeys)), !ofKeys),
      memoryOf(operand), indicesOf(operand, map, row),
      ArrayRef<int64_t>{tokenDim}, ValueRange{left},
      uint64_t(ofKeys ? 1 : plan.group), uint64_t(stepOf(map, ofKeys)));
}

Value AttentionKernel::makeChannel(ArrayRef<Type> tiles) {
  return tile::ChannelCreateOp::create(
      builder, loc, tile::ChannelType::get(builder.getContext(), 1, tiles),
      IntegerAttr(), IntegerAttr(), IntegerAttr(), ArrayAttr());
}

SmallVector<unsigned> AttentionKernel::findMatrices(const KeyPass &pass,
                                                    bool ofKeys) {
  auto isUsed = [&](unsigned number) {
    Value arg = operandArg(number, ofKeys);
    if (pass.args.contains(arg) && part != KernelPart::Combine)
      return true;
    // Once, for all passes.
    return !ofKeys && part != KernelPart::KeyPart && &pass == &passes.back() &&
           !op.getFinishBlock()
                ->getArgument(op.kFinishLeading + number)
                .use_empty();
  };
  SmallVector<unsigned> matrices;
  for (unsigned i : llvm::seq<unsigned>(ofKeys ? op.getKeys().size()
                                               : op.getQueries().size()))
    if (tensorOf(operandArg(i, ofKeys)).getRank() == 2 && isUsed(i))
      matrices.push_back(i);
  return matrices;
}

/// Those that are not there yet.
void AttentionKernel::loadQueries(const KeyPass &pass) {
  Value firstRow = add(queries.begin, firstQuery);
  SmallVector<unsigned> numbers = findMatrices(pass, /*ofKeys=*/false);
  llvm::erase_if(numbers, [&](unsigned number) {
    return !loadedQueries.insert(number).second;
  });
  SmallVector<Type> tiles;
  for (unsigned number : numbers)
    tiles.push_back(plan.getSharedType(tensorOf(operandArg(number, false))));
  if (!tiles.empty()) {
    Value channel = makeChannel(tiles), zero = index(0);
    auto acquired = tile::ChannelAcquireOp::create(
        builder, loc, TypeRange(tiles), channel, zero);
    loadRows(numbers, /*ofKeys=*/false, firstRow, rowsLeft,
             acquired.getResults());
    tile::ChannelCommitOp::create(builder, loc, channel, zero);
    auto full = tile::ChannelWaitOp::create(builder, loc, TypeRange(tiles),
                                            channel, zero, uint64_t(0));
    for (auto [number, smem] : llvm::zip(numbers, full.getResults())) {
      Value arg = operandArg(number, false);
      emitter.bindShared(arg, smem);
      if (plan.queriesInRegisters)
        emitter.bindFragment(
            arg, tile::LocalLoadOp::create(
                     builder, loc, plan.getFragmentType(tensorOf(arg)), smem));
    }
  }
  for (unsigned number : llvm::seq<unsigned>(op.getQueries().size()))
    if (Value arg = operandArg(number, false);
        tensorOf(arg).getRank() == 1 && pass.args.contains(arg))
      emitter.bindVector(
          arg, /*alongRows=*/true,
          loadVector(number, /*ofKeys=*/false, firstRow, rowsLeft));
}

//===----------------------------------------------------------------------===//
// A query tile
//===----------------------------------------------------------------------===//

void AttentionKernel::emitTile() {
  for (Block *block : {op.getStepBlock(), op.getFinishBlock()}) {
    emitter.bindScalar(block->getArgument(0), sequence);
    emitter.bindScalar(block->getArgument(1), head);
    emitter.bindScalar(block->getArgument(2), firstQuery);
  }
  for (const KeyPass &pass : passes) {
    loadQueries(pass);
    SmallVector<Value> carried =
        part == KernelPart::Combine ? combineParts(pass) : emitSteps(pass);
    if (part == KernelPart::KeyPart)
      storePart(pass, carried);
    else if (&pass == &passes.back())
      bindCarried(op.getFinishBlock(), pass, carried);
    else
      keepCarried(pass, carried);
  }
  if (part != KernelPart::KeyPart)
    emitFinish();
}

SmallVector<Value> AttentionKernel::makeInitial(const KeyPass &pass) {
  SmallVector<APFloat> init =
      llvm::to_vector(op.getInit().getAsValueRange<FloatAttr>());
  SmallVector<Value> initial;
  for (unsigned carried : pass.carried) {
    RankedTensorType tensor =
        tensorOf(op.getCarriedArgs(op.getStepBlock())[carried]);
    RankedTensorType type = tensor.getRank() == 2
                                ? plan.getFragmentType(tensor)
                                : plan.getVectorType(tensor, true);
    Attribute number = builder.getFloatAttr(type.getElementType(),
                                            init[carried].convertToDouble());
    initial.push_back(arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, number)));
  }
  return initial;
}

void AttentionKernel::bindCarried(Block *block, const KeyPass &pass,
                                  ValueRange carried) {
  auto args = op.getCarriedArgs(block);
  for (auto [number, value] : llvm::zip_equal(pass.carried, carried)) {
    if (tensorOf(args[number]).getRank() == 2)
      emitter.bindFragment(args[number], value);
    else
      emitter.bindVector(args[number], /*alongRows=*/true, value);
  }
}

void AttentionKernel::keepCarried(const KeyPass &pass, ValueRange carried) {
  auto args = op.getCarriedArgs(op.getFinishBlock());
  for (auto [number, value] : llvm::zip_equal(pass.carried, carried)) {
    RankedTensorType type = tensorOf(args[number]);
    if (type.getRank() == 1) {
      emitter.bindVector(args[number], /*alongRows=*/true, value);
      continue;
    }
    Value smem = tile::AllocOp::create(builder, loc, plan.getSharedType(type),
                                       IntegerAttr());
    tile::LocalStoreOp::create(builder, loc, value, smem);
    emitter.bindShared(args[number], smem);
  }
}

/// Position p = t + S - T; causal s <= p; window p - w < s, and s < p + w if
/// not causal. From the first query's first key to the last one's last key
/// there is an allowed pair in every tile.
SmallVector<Value> AttentionKernel::emitSteps(const KeyPass &pass) {
  Value rows = index(countTokens()), size = index(op.getKeyTile());
  Value stop = arith::MinSIOp::create(builder, loc, add(firstQuery, rows),
                                      queries.count);
  Value first = index(0), last = keys.count;
  if (op.getWindow())
    first = arith::MaxSIOp::create(
        builder, loc, first,
        add(add(firstQuery, shift), index(1 - int64_t(*op.getWindow()))));
  if (op.getCausal())
    last = arith::MinSIOp::create(builder, loc, last, add(stop, shift));
  else if (op.getWindow())
    last = arith::MinSIOp::create(
        builder, loc, last,
        add(add(stop, shift), index(int64_t(*op.getWindow()) - 1)));
  Value begin = arith::DivUIOp::create(builder, loc, first, size);
  Value end = arith::CeilDivSIOp::create(builder, loc, last, size);

  if (part == KernelPart::KeyPart)
    clipToPart(begin, end);
  SmallVector<Value> initial = makeInitial(pass);
  SmallVector<unsigned> keyMatrices = findMatrices(pass, /*ofKeys=*/true);
  SmallVector<Type> tiles;
  for (unsigned number : keyMatrices)
    tiles.push_back(plan.getSharedType(tensorOf(operandArg(number, true))));
  Value channel = tiles.empty() ? Value() : makeChannel(tiles);

  emitter.forget();
  emitter.setPass(pass.inner);
  auto loop = scf::ForOp::create(builder, loc, begin, end, index(1), initial);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar();
  Value firstKey = arith::MulIOp::create(builder, loc, number, size);
  Value keysLeft = sub(keys.count, firstKey);
  Value row = add(keys.begin, firstKey);
  if (channel) {
    auto acquired = tile::ChannelAcquireOp::create(
        builder, loc, TypeRange(tiles), channel, number);
    loadRows(keyMatrices, /*ofKeys=*/true, row, keysLeft,
             acquired.getResults());
    tile::ChannelCommitOp::create(builder, loc, channel, number);
  }
  for (unsigned i : llvm::seq<unsigned>(op.getKeys().size()))
    if (Value arg = operandArg(i, true);
        tensorOf(arg).getRank() == 1 && pass.args.contains(arg))
      emitter.bindVector(arg, /*alongRows=*/false,
                         loadVector(i, /*ofKeys=*/true, row, keysLeft));
  if (channel) {
    auto full = tile::ChannelWaitOp::create(builder, loc, TypeRange(tiles),
                                            channel, number, uint64_t(0));
    for (auto [i, smem] : llvm::zip(keyMatrices, full.getResults()))
      emitter.bindShared(operandArg(i, true), smem);
  }
  emitter.bindScalar(op.getStepBlock()->getArgument(3), firstKey);
  emitter.setLimits(queriesLeft, keysLeft);
  setAllowed(firstKey, keysLeft);
  bindCarried(op.getStepBlock(), pass, loop.getRegionIterArgs());
  // Products first, so that exponentials that only sums need stand beside them.
  SmallVector<Value> yielded;
  for (unsigned number : pass.carried)
    yielded.push_back(op.getStepBlock()->getTerminator()->getOperand(number));
  for (Value value : yielded)
    if (tensorOf(value).getRank() == 2)
      emitter.getFragment(value);
  SmallVector<Value> next;
  for (Value value : yielded)
    next.push_back(tensorOf(value).getRank() == 2
                       ? emitter.getFragment(value)
                       : emitter.getVector(value, /*alongRows=*/true));
  if (channel)
    tile::ChannelReleaseOp::create(builder, loc, channel, number);
  scf::YieldOp::create(builder, loc, next);
  emitter.forget();
  return llvm::to_vector_of<Value>(loop.getResults());
}

void AttentionKernel::setAllowed(Value firstKey, Value keysLeft) {
  int64_t rows = countTokens(), columns = op.getKeyTile();
  AllowedPairs pairs;
  Value diagonal = sub(add(firstQuery, shift), firstKey);
  auto either = [&](Value condition) {
    pairs.partial =
        pairs.partial
            ? arith::OrIOp::create(builder, loc, pairs.partial, condition)
                  .getResult()
            : condition;
  };
  if (op.getCausal() || op.getWindow()) {
    pairs.upper = op.getCausal()
                      ? diagonal
                      : add(diagonal, index(int64_t(*op.getWindow()) - 1));
    either(compare(arith::CmpIPredicate::slt, pairs.upper, index(columns - 1)));
  }
  if (op.getWindow()) {
    pairs.lower = add(diagonal, index(1 - int64_t(*op.getWindow())));
    either(compare(arith::CmpIPredicate::sgt, pairs.lower, index(1 - rows)));
  }
  // A query that exists has no causal key beyond the last one.
  if (!op.getCausal()) {
    pairs.columns = keysLeft;
    either(compare(arith::CmpIPredicate::slt, keysLeft, index(columns)));
  }
  emitter.setAllowed(pairs);
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Columns of `finish` at a time, where it goes over slices.
static constexpr int64_t kFinishColumns = 64;

void AttentionKernel::emitFinish() {
  Block *finish = op.getFinishBlock();
  // What waits in shared memory would need as many registers again. Bodies that
  // count columns count those of the whole.
  if (plan.inTurn && finish->getOps<linalg::GenericOp>().empty())
    emitter.setSlices(kFinishColumns);
  // The queries are those of the steps.
  for (unsigned number : llvm::seq<unsigned>(op.getQueries().size())) {
    Value arg = finish->getArgument(AttentionTilesOp::kFinishLeading + number);
    if (arg.use_empty())
      continue;
    if (tensorOf(arg).getRank() == 1)
      emitter.bindVector(arg, /*alongRows=*/true,
                         loadVector(number, /*ofKeys=*/false,
                                    add(queries.begin, firstQuery), rowsLeft));
    else if (plan.queriesInRegisters)
      emitter.bindFragment(arg, emitter.getFragment(operandArg(number, false)));
    else
      emitter.bindShared(arg, emitter.getShared(operandArg(number, false)));
  }
  for (auto [number, value] :
       llvm::enumerate(finish->getTerminator()->getOperands()))
    storeOutput(number, value);
}

void AttentionKernel::storeOutput(unsigned number, Value value) {
  ArrayRef<unsigned> targets = signature.getResult(number);
  if (targets.empty())
    return;
  SmallVector<Value> indices;
  if (!op.isPacked())
    indices.push_back(sequence);
  indices.push_back(add(queries.begin, firstQuery));
  indices.push_back(head);
  int64_t dim = rowDim();
  RankedTensorType type = tensorOf(value);
  if (type.getRank() == 1) {
    Value vector = emitter.getVector(value, /*alongRows=*/true);
    // All parts have it.
    OpBuilder::InsertionGuard guard(builder);
    if (columnPart) {
      Value first = compare(arith::CmpIPredicate::eq, columnPart, index(0));
      auto branch = scf::IfOp::create(builder, loc, first, false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    for (unsigned target : targets)
      tile::StoreOp::create(builder, loc, vector, tensors[target], indices,
                            ArrayRef<int64_t>{dim}, ValueRange{rowsLeft},
                            uint64_t(16), uint64_t(plan.group));
    return;
  }
  // Through shared memory, so that rows go out in wide pieces.
  tile::SmemType sharedType = plan.getSharedType(type);
  Value smem;
  emitter.forEachSlice(sharedType.getShape()[1], [&](int64_t first) {
    Value fragment = emitter.getFragment(value);
    if (!smem)
      smem = tile::AllocOp::create(builder, loc, sharedType, IntegerAttr());
    ArrayRef<int64_t> shape = tensorOf(fragment).getShape();
    Value target = sharedType.getShape() == shape
                       ? smem
                       : tile::SmemViewOp::create(
                             builder, loc, sharedType.getSliceType(shape), smem,
                             ArrayRef<int64_t>{0, first}, /*transposed=*/false)
                             .getResult();
    tile::LocalStoreOp::create(builder, loc, fragment, target);
  });
  int64_t inner = indices.size();
  Value result = op->getResult(number);
  indices.push_back(
      firstColumn(type.getDimSize(1), tensorOf(result).getShape().back()));
  for (unsigned target : targets)
    tile::StoreOp::create(builder, loc, smem, tensors[target], indices,
                          ArrayRef<int64_t>{dim, inner},
                          ValueRange{rowsLeft, index(type.getDimSize(1))},
                          uint64_t(storeAlignmentOf(type)),
                          uint64_t(plan.group));
}
