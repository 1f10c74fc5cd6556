//===- RecurrenceToLoops.cpp - the token-serial form on a CPU -------------===//
//
// See the description of the pass in Passes.td. This file makes the loops over
// sequences, heads and tokens; StepEmitter.cpp the body of one token.
//
//===----------------------------------------------------------------------===//

#include "../Common/SequenceLowering.h"
#include "StepEmitter.h"

#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/Transforms/ExpandSugar.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace linattn {
#define GEN_PASS_DEF_RECURRENCETOLOOPS
#include "linattn/Conversion/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

/// The token loop of one recurrence.
class RecurrenceLowering : public SequenceLowering<RecurrenceOp> {
public:
  RecurrenceLowering(RecurrenceOp op, SweepCounts &counts)
      : SequenceLowering(op), counts(counts) {}

private:
  void emitTokens(Value n, Value h, Value begin, Value end,
                  ArrayRef<Value> homes) override;

  SweepCounts &counts;
};

void RecurrenceLowering::emitTokens(Value n, Value h, Value begin, Value end,
                                    ArrayRef<Value> homes) {
  StepEmitter step(op, builder, homes, counts);
  for (auto [arg, buffer] : llvm::zip(op.getParamArgs(), params)) {
    Value head =
        operandHead(cast<MemRefType>(buffer.getType()).getDimSize(0), h);
    step.map(arg, loadStepValue(builder, loc, arg.getType(), buffer, {head}));
  }
  auto loop = scf::ForOp::create(builder, loc, begin, end, index(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value t = loop.getInductionVar();
  for (auto [arg, buffer] : llvm::zip(op.getTokenArgs(), tokens)) {
    int64_t heads =
        cast<MemRefType>(buffer.getType()).getDimSize(op.getHeadDim());
    step.map(arg, loadStepValue(builder, loc, arg.getType(), buffer,
                                at(n, t, operandHead(heads, h))));
  }
  SmallVector<Value> results = step.emit(loop.getOperation());
  for (auto [value, buffer] : llvm::zip(results, outputs)) {
    storeStepValue(builder, loc, value, buffer, at(n, t, h));
  }
  if (op.getSnapshots())
    emitSnapshots(n, h, t, begin, end, homes);
}

struct RecurrenceToLoopsPass
    : linattn::impl::RecurrenceToLoopsBase<RecurrenceToLoopsPass> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateExpandSugarPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    SmallVector<RecurrenceOp> ops;
    getOperation().walk([&](RecurrenceOp op) { ops.push_back(op); });
    for (RecurrenceOp op : ops) {
      SweepCounts counts;
      if (failed(RecurrenceLowering(op, counts).run()))
        return signalPassFailure();
      numSweeps += counts.sweeps;
      numCopies += counts.copies;
    }
  }
};

} // namespace
