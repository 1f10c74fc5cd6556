//===- Chunkwise.cpp - recurrences in chunks ------------------------------===//
//
// See the description of the pass in Passes.td.
//
//===----------------------------------------------------------------------===//

#include "ChunkEmitter.h"

#include "linattn/Dialect/LinAttn/IR/Precision.h"
#include "linattn/Dialect/LinAttn/Transforms/ExpandSugar.h"
#include "linattn/Dialect/LinAttn/Transforms/Normalize.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/Transitions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace linattn {
#define GEN_PASS_DEF_CHUNKWISEPASS
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

/// The chunk to use: the one asked for, or the largest below it that divides
/// the period of the snapshots.
static FailureOr<int64_t> getChunk(RecurrenceOp op, int64_t wanted) {
  std::optional<int64_t> every = op.getSnapshots();
  int64_t chunk = wanted;
  while (every && chunk >= 16 && *every % chunk != 0)
    chunk /= 2;
  if (every && chunk < 16) {
    op.emitError() << "has no chunk form: 'snapshots' takes states at ends of "
                      "chunks only, so that 'every' is a multiple of 16 tokens "
                      "(the smallest chunk), got every = "
                   << *every
                   << "; the token-serial form (--lowering=serial) takes any";
    return failure();
  }
  return chunk;
}

static LogicalResult convert(RewriterBase &rewriter, RecurrenceOp op,
                             int64_t wanted, std::optional<MmaPrecision> forced,
                             bool separateEvents) {
  FailureOr<int64_t> chunk = getChunk(op, wanted);
  if (failed(chunk))
    return failure();
  RewritePatternSet patterns(op.getContext());
  populateExpandSugarPatterns(patterns);
  walkAndApplyPatterns(op, std::move(patterns));
  NormalizeCounts counts;
  simplifyStep(rewriter, op, counts);
  FailureOr<NormalForm> form = NormalForm::compute(op);
  if (failed(form))
    return failure();

  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto chunked = ChunkedOp::create(
      rewriter, loc, op.getResultTypes(), op.getTokens(), op.getParams(),
      op.getStates(), op.getSeqlens(), op.getSlots(), op.getPaddingAttr(),
      op.getSnapshotsAttr(), rewriter.getI64IntegerAttr(*chunk), StringAttr());
  if (Attribute transitions = op->getAttr(kTransitionsAttr))
    chunked->setAttr(kTransitionsAttr, transitions);

  Block *block = rewriter.createBlock(&chunked.getBody());
  auto tileOf = [&](Type type, bool perToken) -> RankedTensorType {
    SmallVector<int64_t> shape;
    if (perToken)
      shape.push_back(*chunk);
    if (auto vector = dyn_cast<VectorType>(type))
      llvm::append_range(shape, vector.getShape());
    return RankedTensorType::get(shape, getElementTypeOrSelf(type));
  };
  Value valid = block->addArgument(
      RankedTensorType::get({*chunk}, rewriter.getI1Type()), loc);
  StepTiler tiler(rewriter, *chunk);
  for (BlockArgument arg : op.getTokenArgs())
    tiler.map(arg, block->addArgument(tileOf(arg.getType(), true), loc));
  SmallVector<Value> params, states;
  for (BlockArgument arg : op.getParamArgs())
    params.push_back(block->addArgument(tileOf(arg.getType(), false), loc));
  for (BlockArgument arg : op.getStateArgs()) {
    auto type = cast<StateType>(arg.getType());
    states.push_back(block->addArgument(
        RankedTensorType::get(type.getShape(), type.getComputeType()), loc));
  }
  rewriter.setInsertionPointToStart(block);
  for (auto [arg, param] : llvm::zip(op.getParamArgs(), params))
    if (!arg.use_empty())
      tiler.map(arg, tiler.repeat(loc, param));

  ChunkEmitter emitter(*form, rewriter, tiler, *chunk,
                       forced.value_or(*getMmaPrecision(op)), valid, states,
                       separateEvents);
  FailureOr<SmallVector<Value>> finals = emitter.emit();
  SmallVector<Value> yielded;
  if (succeeded(finals)) {
    ValueRange results = op.getBody()->getTerminator()->getOperands();
    for (Value output : results.take_front(op.getNumOutputs()))
      if (Value tile = tiler.get(output))
        yielded.push_back(tile);
    llvm::append_range(yielded, *finals);
  }
  if (failed(finals) ||
      yielded.size() != op.getBody()->getTerminator()->getNumOperands()) {
    Operation *obstacle = tiler.getObstacle();
    InFlightDiagnostic diagnostic =
        (obstacle ? obstacle : op.getOperation())->emitOpError()
        << "has no form for a chunk of tokens; the token-serial form "
           "(--lowering=serial) runs it";
    rewriter.eraseOp(chunked);
    return diagnostic;
  }
  YieldOp::create(rewriter, loc, yielded);
  rewriter.replaceOp(op, chunked.getResults());
  return success();
}

namespace {
struct ChunkwisePass : linattn::impl::ChunkwisePassBase<ChunkwisePass> {
  using Base::Base;

  void runOnOperation() override {
    if (chunk < 16 || chunk > 128 || !llvm::isPowerOf2_64(chunk)) {
      getOperation()->emitError()
          << "chunk is 16, 32, 64 or 128 tokens, got " << int64_t(chunk);
      return signalPassFailure();
    }
    std::optional<MmaPrecision> forced;
    if (!mma.empty()) {
      forced = symbolizeMmaPrecision(mma);
      if (!forced) {
        getOperation()->emitError()
            << "mma is f32, tf32x3, bf16, f16 or bf16x2, got '" << mma << "'";
        return signalPassFailure();
      }
    }
    IRRewriter rewriter(&getContext());
    SmallVector<RecurrenceOp> ops;
    getOperation()->walk([&](RecurrenceOp op) { ops.push_back(op); });
    for (RecurrenceOp op : ops) {
      if (failed(convert(rewriter, op, chunk, forced, separateEvents)))
        return signalPassFailure();
      ++numChunked;
    }
  }
};
} // namespace
