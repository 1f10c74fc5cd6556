//===- ShortConvToLoops.cpp - short convolutions on a CPU -----------------===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "linattn/Conversion/Destinations.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Conversion/StepValues.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/LinAttn/Transforms/ExpandSugar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace linattn {
#define GEN_PASS_DEF_SHORTCONVTOLOOPS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

class ShortConvLowering {
public:
  explicit ShortConvLowering(ShortConvOp op)
      : op(op), builder(op), loc(op.getLoc()) {
    Type element = getElementTypeOrSelf(op.getInput().getType());
    compute = element.isF64() ? element : Type(builder.getF32Type());
  }
  LogicalResult run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  /// Channels [at, at + width) of sequence n.
  void emitBlock(Value n, Value at, int64_t width);
  /// `pieces` of `width` channels of each of the sequences, from `first` on.
  void emitPieces(Value sequences, int64_t first, int64_t pieces,
                  int64_t width);
  /// The values of `width` channels that lie apart in memory, as a vector.
  Value gather(Value buffer, Value at, int64_t width,
               llvm::function_ref<SmallVector<Value>(Value)> indices);

  ShortConvOp op;
  OpBuilder builder;
  Location loc;
  Type compute;
  Value input, weight, bias, window, seqlens, output, finalWindow;
};

LogicalResult ShortConvLowering::run() {
  input = getInputBuffer(builder, op.getInput(), true);
  weight = getInputBuffer(builder, op.getWeight(), false);
  if (op.getBias())
    bias = getInputBuffer(builder, op.getBias(), false);
  if (op.getWindow())
    window = getInputBuffer(builder, op.getWindow(), false);
  if (op.getSeqlens())
    seqlens = getInputBuffer(builder, op.getSeqlens(), false);
  ReifiedRankedShapedTypeDims sizes;
  if (failed(op.reifyResultShapes(builder, sizes)))
    return failure();
  auto result = cast<OpResult>(op.getResult());
  output = getResultBuffer(builder, result, sizes[0], true);
  if (op.getFinalWindow())
    finalWindow = getResultBuffer(builder, cast<OpResult>(op.getFinalWindow()),
                                  sizes[1], false);

  Value sequences;
  if (seqlens) {
    Value offsets = memref::DimOp::create(builder, loc, seqlens, index(0));
    sequences = arith::SubIOp::create(builder, loc, offsets, index(1));
  } else {
    sequences = memref::DimOp::create(builder, loc, input, index(0));
  }
  // The text does not grow with the channels.
  int64_t channels = cast<MemRefType>(weight.getType()).getDimSize(0);
  int64_t whole = channels / kPieceWidth, rest = channels % kPieceWidth;
  if (whole)
    emitPieces(sequences, 0, whole, kPieceWidth);
  if (rest)
    emitPieces(sequences, channels - rest, 1, rest);
  replaceWithBuffer(builder, result, output);
  if (op.getFinalWindow())
    replaceWithBuffer(builder, cast<OpResult>(op.getFinalWindow()),
                      finalWindow);
  op.erase();
  return success();
}

void ShortConvLowering::emitPieces(Value sequences, int64_t first,
                                   int64_t pieces, int64_t width) {
  auto parallel = scf::ParallelOp::create(
      builder, loc, ValueRange{index(0), index(0)},
      ValueRange{sequences, index(pieces)}, ValueRange{index(1), index(1)});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(parallel.getBody());
  Value at = arith::MulIOp::create(builder, loc, parallel.getInductionVars()[1],
                                   index(width));
  at = arith::AddIOp::create(builder, loc, at, index(first));
  emitBlock(parallel.getInductionVars()[0], at, width);
}

Value ShortConvLowering::gather(
    Value buffer, Value at, int64_t width,
    llvm::function_ref<SmallVector<Value>(Value)> indices) {
  SmallVector<Value> elements;
  for (int64_t c : llvm::seq(width)) {
    Value channel = arith::AddIOp::create(builder, loc, at, index(c));
    Value element =
        memref::LoadOp::create(builder, loc, buffer, indices(channel));
    elements.push_back(convertElements(builder, loc, element, compute));
  }
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({width}, compute), elements);
}

void ShortConvLowering::emitBlock(Value n, Value at, int64_t width) {
  int64_t taps = op.getWidth();
  auto type = VectorType::get({width}, compute);
  Value zero =
      arith::ConstantOp::create(builder, loc, type, builder.getZeroAttr(type));
  SmallVector<Value> weights, history;
  for (int64_t j : llvm::seq(taps))
    weights.push_back(gather(weight, at, width, [&](Value c) {
      return SmallVector<Value>{c, index(j)};
    }));
  for (int64_t j : llvm::seq(taps - 1))
    history.push_back(!window ? zero : gather(window, at, width, [&](Value c) {
      return SmallVector<Value>{n, c, index(j)};
    }));
  Value offset = zero;
  if (bias)
    offset =
        gather(bias, at, width, [&](Value c) { return SmallVector<Value>{c}; });

  Value begin = index(0), end;
  if (seqlens) {
    auto load = [&](Value i) -> Value {
      Value value = memref::LoadOp::create(builder, loc, seqlens, i);
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                        value);
    };
    begin = load(n);
    end = load(arith::AddIOp::create(builder, loc, n, index(1)));
  } else {
    end = memref::DimOp::create(builder, loc, input, index(1));
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end, index(1), history);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> indices = {loop.getInductionVar(), at};
    if (!seqlens)
      indices.insert(indices.begin(), n);
    Type element = getElementTypeOrSelf(op.getInput().getType());
    Value x = vector::LoadOp::create(builder, loc, type.clone(element), input,
                                     indices);
    SmallVector<Value> seen(loop.getRegionIterArgs());
    seen.push_back(convertElements(builder, loc, x, compute));
    Value sum = offset;
    for (auto [w, value] : llvm::zip(weights, seen))
      sum = arith::AddFOp::create(
          builder, loc, sum, arith::MulFOp::create(builder, loc, w, value));
    if (op.getActivation() == Activation::SiLU)
      sum = SiLUOp::create(builder, loc, sum.getType(), sum);
    Value y = convertElements(builder, loc, sum, element);
    vector::StoreOp::create(builder, loc, y, output, indices);
    if (taps > 1)
      scf::YieldOp::create(builder, loc, ArrayRef<Value>(seen).drop_front());
  }
  if (!finalWindow)
    return;
  Type stored = cast<MemRefType>(finalWindow.getType()).getElementType();
  for (auto [j, value] : llvm::enumerate(loop.getResults())) {
    Value last = convertElements(builder, loc, value, stored);
    for (int64_t c : llvm::seq(width)) {
      Value element = vector::ExtractOp::create(builder, loc, last, c);
      Value channel = arith::AddIOp::create(builder, loc, at, index(c));
      memref::StoreOp::create(builder, loc, element, finalWindow,
                              ValueRange{n, channel, index(j)});
    }
  }
}

struct ShortConvToLoopsPass
    : linattn::impl::ShortConvToLoopsBase<ShortConvToLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ShortConvOp> ops;
    getOperation().walk([&](ShortConvOp op) { ops.push_back(op); });
    for (ShortConvOp op : ops) {
      if (failed(ShortConvLowering(op).run()))
        return signalPassFailure();
      ++numLowered;
    }
    RewritePatternSet patterns(&getContext());
    populateExpandSugarPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
