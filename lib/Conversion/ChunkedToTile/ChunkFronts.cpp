//===- ChunkFronts.cpp - convolutions in front of token tiles -------------===//
//
// A tile of tokens that a convolution makes is loaded as the rows of the
// convolution's input, with kHalo more before them. The convolution is
// elementwise arithmetic on views of that tile, each a row further down:
//
//   y = act(bias + sum_j w_j o x[8 - (W - 1) + j .. ]),   w_j constant in time
//
// Rows before the sequence are 0 in the tile. What a carried window adds to the
// first W - 1 tokens stands in the accumulator before.
//
//===----------------------------------------------------------------------===//

#include "ChunkKernel.h"

#include "linattn/Conversion/Fronts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

/// Rows before a chunk: as many as keep the tile's rows where they swizzle
/// alike.
static constexpr int64_t kHalo = 8;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

ShortConvOp ChunkKernel::frontOf(const TokenTile &token) {
  return getFront(op.getTokens()[token.operand]);
}

Value ChunkKernel::isFirstChunk() {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, chunk,
                               index(0));
}

tile::SmemType ChunkKernel::getHaloType(const TokenTile &token) {
  tile::SmemType tile = emitter.getSharedType(token.value);
  return tile::SmemType::get(builder.getContext(),
                             {tile.getShape()[0] + kHalo, tile.getShape()[1]},
                             tile.getElementType(), tile.getSwizzle());
}

/// The first channel of this block's part of the operand.
Value ChunkKernel::firstChannel(const TokenTile &token) {
  RankedTensorType type = tensorOf(op.getTokens()[token.operand]);
  int64_t headDim = op.getHeadDim(), perHead = 1;
  for (int64_t size : type.getShape().drop_front(headDim + 1))
    perHead *= size;
  int64_t row = token.row.value_or(0) * type.getShape().back();
  Value first = arith::MulIOp::create(
      builder, loc, operandHead(type.getDimSize(headDim)), index(perHead));
  first = arith::AddIOp::create(builder, loc, first, index(row));
  return arith::AddIOp::create(builder, loc, first, sliceBegin(token.value, 1));
}

/// A vector over the channels of a tile, in f32: element (channel, rest..) of a
/// tensor whose dimension `dim` counts channels.
Value ChunkKernel::loadChannels(const TokenTile &token, Value memory,
                                ArrayRef<Value> indices, int64_t dim,
                                Attribute layout) {
  Type element = getElementTypeOrSelf(memory.getType());
  auto type = RankedTensorType::get({emitter.getTileSize(token.value, 1)},
                                    element, layout);
  Value loaded = tile::LoadOp::create(builder, loc, type, memory, indices,
                                      ArrayRef<int64_t>{dim},
                                      ValueRange{sliceBound(token.value, 1)});
  if (element.isF32())
    return loaded;
  return arith::ExtFOp::create(builder, loc, type.clone(builder.getF32Type()),
                               loaded);
}

/// Input `j` of the window before the sequence.
Value ChunkKernel::loadWindow(const TokenTile &token, Value j,
                              Attribute layout) {
  Value window = frontOf(token).getWindow();
  if (std::optional<unsigned> tensor = signature.getOperand(window))
    return loadChannels(token, tensors[*tensor],
                        {sequence, firstChannel(token), j}, 1, layout);
  auto type = RankedTensorType::get({emitter.getTileSize(token.value, 1)},
                                    builder.getF32Type(), layout);
  APFloat fill = signature.getConstant(window).getValue();
  bool lost;
  fill.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, fill));
}

ChunkKernel::FrontVectors ChunkKernel::loadFrontVectors(const TokenTile &token,
                                                        Attribute layout) {
  ShortConvOp conv = frontOf(token);
  FrontVectors vectors;
  Value first = firstChannel(token);
  for (int64_t j : llvm::seq(conv.getWidth()))
    vectors.weights.push_back(
        loadChannels(token, tensors[*signature.getOperand(conv.getWeight())],
                     {first, index(j)}, 0, layout));
  if (Value bias = conv.getBias())
    vectors.bias = loadChannels(token, tensors[*signature.getOperand(bias)],
                                {first}, 0, layout);
  return vectors;
}

/// Those of channels that are rows take few registers: once for all chunks.
void ChunkKernel::loadFrontVectors() {
  for (const TokenTile &token : usedTokens)
    if (frontOf(token) && emitter.isTransposed(token.value))
      frontVectors[token.value] = loadFrontVectors(token, emitter.getRow());
}

void ChunkKernel::loadWithHalo(const TokenTile &token, Value smem,
                               int64_t align) {
  ShortConvOp conv = frontOf(token);
  SmallVector<Value> indices;
  if (!op.isPacked())
    indices.push_back(sequence);
  int64_t tokenDim = indices.size();
  indices.push_back(
      arith::SubIOp::create(builder, loc, firstToken, index(kHalo)));
  indices.push_back(firstChannel(token));
  Value rows = arith::AddIOp::create(builder, loc, rowsLeft, index(kHalo));
  Value from =
      arith::SelectOp::create(builder, loc, isFirstChunk(), index(kHalo),
                              index(kHalo - (conv.getWidth() - 1)));
  tile::LoadAsyncOp::create(builder, loc,
                            tensors[*signature.getOperand(conv.getInput())],
                            indices, ArrayRef<int64_t>{tokenDim, tokenDim + 1},
                            ValueRange{rows, sliceBound(token.value, 1)}, from,
                            smem, uint64_t(align));
}

namespace {
/// A fragment whose channels are rows or columns, and what is constant along
/// one of them.
struct Spread {
  OpBuilder &builder;
  Location loc;
  RankedTensorType type;
  bool channelsAreRows;

  Value along(Value vector, bool rows, Type element) {
    RankedTensorType as = type.clone(element);
    if (rows)
      return tile::SplatRowOp::create(builder, loc, as, vector);
    return tile::SplatColOp::create(builder, loc, as, vector);
  }
  Value channels(Value vector) {
    return along(vector, channelsAreRows, builder.getF32Type());
  }
  Value tokens(Value vector, Type element) {
    return along(vector, !channelsAreRows, element);
  }
  Value constant(Type element, double number) {
    RankedTensorType as = type.clone(element);
    Attribute value = element.isInteger()
                          ? Attribute(builder.getIntegerAttr(element, number))
                          : Attribute(builder.getFloatAttr(element, number));
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(as, ArrayRef<Attribute>(value)));
  }
};
} // namespace

/// bias, and what the window adds to the first tokens of a sequence; null for
/// nothing.
Value ChunkKernel::initialSum(const TokenTile &token,
                              const FrontVectors &vectors, bool transposed,
                              Value positions) {
  ShortConvOp conv = frontOf(token);
  Spread spread{
      builder, loc,
      emitter.getFragmentType(token.value, transposed, builder.getF32Type()),
      transposed};
  Value bias = vectors.bias ? spread.channels(vectors.bias) : Value();
  if (!conv.getWindow())
    return bias;
  auto branch = scf::IfOp::create(builder, loc, TypeRange(spread.type),
                                  isFirstChunk(), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  Value other = bias ? bias : spread.constant(builder.getF32Type(), 0);
  scf::YieldOp::create(builder, loc, other);

  builder.setInsertionPointToStart(branch.thenBlock());
  Attribute layout =
      transposed ? Attribute(emitter.getRow()) : Attribute(emitter.getCol());
  int64_t depth = conv.getWidth() - 1;
  SmallVector<Value> window;
  for (int64_t j : llvm::seq(depth))
    window.push_back(loadWindow(token, index(j), layout));
  Value sum = bias ? bias : spread.constant(builder.getF32Type(), 0);
  for (int64_t row : llvm::seq(depth)) {
    Value added = vectors.bias;
    for (int64_t j = 0; row + j < depth; ++j)
      if (added)
        added = math::FmaOp::create(builder, loc, vectors.weights[j],
                                    window[row + j], added);
      else
        added = arith::MulFOp::create(builder, loc, vectors.weights[j],
                                      window[row + j]);
    Value here =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, positions,
                              spread.constant(builder.getI32Type(), row));
    sum = arith::SelectOp::create(builder, loc, here, spread.channels(added),
                                  sum);
  }
  scf::YieldOp::create(builder, loc, sum);
  return branch.getResult(0);
}

/// x / (1 + e^-x), 0 for -inf: as the kernel of a convolution has it.
static Value silu(Spread &spread, Value x) {
  OpBuilder &builder = spread.builder;
  Location loc = spread.loc;
  Type f32 = builder.getF32Type();
  auto fast = arith::FastMathFlagsAttr::get(builder.getContext(),
                                            arith::FastMathFlags::afn);
  Value finite = arith::MaximumFOp::create(
      builder, loc, x,
      spread.constant(f32, -double(std::numeric_limits<float>::max())));
  Value scaled = arith::MulFOp::create(
      builder, loc, x, spread.constant(f32, -1.4426950408889634));
  Value power = math::Exp2Op::create(builder, loc, scaled, fast);
  Value sum =
      arith::AddFOp::create(builder, loc, spread.constant(f32, 1), power);
  return arith::DivFOp::create(builder, loc, finite, sum, fast);
}

/// The tile as a fragment, rounded to the operand's type, 0 beyond the end.
Value ChunkKernel::convolve(const TokenTile &token, Value smem,
                            bool transposed) {
  ShortConvOp conv = frontOf(token);
  RankedTensorType type = emitter.getFragmentType(token.value, transposed);
  Spread spread{builder, loc, type.clone(builder.getF32Type()), transposed};
  auto known = frontVectors.find(token.value);
  FrontVectors vectors = known != frontVectors.end() && transposed
                             ? known->second
                             : loadFrontVectors(token, emitter.getCol());
  int64_t rows = emitter.getTileSize(token.value, 0);
  Attribute alongTokens =
      transposed ? Attribute(emitter.getCol()) : Attribute(emitter.getRow());
  Type i32 = builder.getI32Type();
  Value positions = spread.tokens(
      tile::IotaOp::create(builder, loc,
                           RankedTensorType::get({rows}, i32, alongTokens),
                           uint64_t(0)),
      i32);

  auto whole = cast<tile::SmemType>(smem.getType());
  Value sum = initialSum(token, vectors, transposed, positions);
  for (int64_t j : llvm::seq(conv.getWidth())) {
    int64_t first = kHalo - (conv.getWidth() - 1) + j;
    Value view = tile::SmemViewOp::create(
        builder, loc, whole.getSliceType({rows, whole.getShape()[1]}), smem,
        ArrayRef<int64_t>{first, 0}, /*transposed=*/false);
    if (transposed)
      view = emitter.transposedView(view);
    Value x = tile::LocalLoadOp::create(builder, loc, type, view);
    if (!type.getElementType().isF32())
      x = arith::ExtFOp::create(builder, loc, spread.type, x);
    Value weight = spread.channels(vectors.weights[j]);
    if (sum)
      sum = math::FmaOp::create(builder, loc, weight, x, sum);
    else
      sum = arith::MulFOp::create(builder, loc, weight, x);
  }
  if (conv.getActivation() == Activation::SiLU)
    sum = silu(spread, sum);
  Value count = arith::IndexCastOp::create(builder, loc, i32, rowsLeft);
  Value exists = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, positions,
      tensor::SplatOp::create(builder, loc, count, spread.type.clone(i32)));
  sum = arith::SelectOp::create(builder, loc, exists, sum,
                                spread.constant(builder.getF32Type(), 0));
  if (type.getElementType().isF32())
    return sum;
  return arith::TruncFOp::create(builder, loc, type, sum);
}

//===----------------------------------------------------------------------===//
// The windows that remain
//===----------------------------------------------------------------------===//

void ChunkKernel::storeFinalWindows() {
  if (!pass.hasOutputs() || llvm::all_of(signature.getFronts(), [&](auto conv) {
        return signature.getFinalWindow(conv).empty();
      }))
    return;
  emitBounds();
  Value once = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     segment, index(0));
  auto branch = scf::IfOp::create(builder, loc, once, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (const TokenTile &token : getTokenTiles(op))
    if (ShortConvOp conv = frontOf(token);
        conv && !signature.getFinalWindow(conv).empty())
      storeFinalWindow(token);
}

/// By the first head of those that share the operand's.
void ChunkKernel::storeFinalWindow(const TokenTile &token) {
  ShortConvOp conv = frontOf(token);
  int64_t heads =
      tensorOf(op.getTokens()[token.operand]).getDimSize(op.getHeadDim());
  Value rest = arith::RemUIOp::create(builder, loc, head,
                                      index(op.getNumHeads() / heads));
  Value isOwner = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        rest, index(0));
  auto branch = scf::IfOp::create(builder, loc, isOwner, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  int64_t depth = conv.getWidth() - 1;
  int64_t size = emitter.getTileSize(token.value, 1);
  Attribute lanes = tile::StridedAttr::get(
      builder.getContext(), std::max<int64_t>(1, size / tile::kWarpSize));
  forOwner(isCut(token.value, 1), [&] {
    for (int64_t j : llvm::seq(depth)) {
      Value value = finalInput(token, j, lanes);
      for (unsigned target : signature.getFinalWindow(conv)) {
        Value memory = tensors[target];
        Type element = getElementTypeOrSelf(memory.getType());
        Value rounded = value;
        if (!element.isF32())
          rounded = arith::TruncFOp::create(
              builder, loc, tensorOf(value).clone(element), value);
        tile::StoreOp::create(
            builder, loc, rounded, memory,
            ValueRange{sequence, firstChannel(token), index(j)},
            ArrayRef<int64_t>{1}, ValueRange{sliceBound(token.value, 1)},
            uint64_t(16));
      }
    }
  });
}

/// Element j of the last W - 1 inputs, which may lie in the window before.
Value ChunkKernel::finalInput(const TokenTile &token, int64_t j,
                              Attribute lanes) {
  ShortConvOp conv = frontOf(token);
  int64_t depth = conv.getWidth() - 1;
  Value at = arith::AddIOp::create(builder, loc, length, index(j - depth));
  Value isBefore = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, at, index(0));
  auto type = RankedTensorType::get({emitter.getTileSize(token.value, 1)},
                                    builder.getF32Type(), lanes);
  auto branch = scf::IfOp::create(builder, loc, TypeRange(type), isBefore,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value place = arith::AddIOp::create(builder, loc, at, index(depth));
  scf::YieldOp::create(builder, loc, loadWindow(token, place, lanes));
  builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> indices;
  if (!op.isPacked())
    indices.push_back(sequence);
  indices.push_back(arith::AddIOp::create(builder, loc, begin, at));
  indices.push_back(firstChannel(token));
  scf::YieldOp::create(
      builder, loc,
      loadChannels(token, tensors[*signature.getOperand(conv.getInput())],
                   indices, indices.size() - 1, lanes));
  return branch.getResult(0);
}
