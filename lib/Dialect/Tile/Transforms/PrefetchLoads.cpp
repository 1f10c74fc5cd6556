//===- PrefetchLoads.cpp - vectors and scalars of the next step -----------===//

#include "linattn/Dialect/Tile/Transforms/StepSlice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace linattn::tile;

bool linattn::tile::getStepSlice(scf::ForOp loop, Operation *op,
                                 SetVector<Operation *> &slice) {
  for (Value operand : op->getOperands()) {
    if (loop.isDefinedOutsideOfLoop(operand) ||
        operand == loop.getInductionVar())
      continue;
    Operation *maker = operand.getDefiningOp();
    if (!maker || maker->getBlock() != loop.getBody() ||
        maker->getNumRegions() != 0 || !isPure(maker))
      return false;
    if (slice.contains(maker))
      continue;
    if (!getStepSlice(loop, maker, slice))
      return false;
    slice.insert(maker);
  }
  return true;
}

bool linattn::tile::isWrittenIn(scf::ForOp loop, Value memref) {
  WalkResult result = loop.walk([&](Operation *op) {
    if (op->getNumRegions() != 0)
      return WalkResult::advance();
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface)
      return isPure(op) ? WalkResult::advance() : WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects<MemoryEffects::Write>(effects);
    // Different arguments of a kernel are different memory.
    for (const MemoryEffects::EffectInstance &effect : effects)
      if (effect.getValue() == memref ||
          (effect.getValue() && effect.getValue().getDefiningOp() &&
           isa<MemRefType>(effect.getValue().getType())))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

namespace {
struct Prefetch {
  Operation *load;
  SetVector<Operation *> slice;
};
} // namespace

/// A load whose address is a function of the step.
static bool isPrefetchable(scf::ForOp loop, Operation &op,
                           SetVector<Operation *> &slice) {
  Value memref;
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (cast<RankedTensorType>(load.getType()).getRank() != 1)
      return false;
    memref = load.getSource();
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    memref = load.getMemRef();
  } else {
    return false;
  }
  if (!loop.isDefinedOutsideOfLoop(memref) || !getStepSlice(loop, &op, slice))
    return false;
  // What is the same in every step is hoisted, not prefetched.
  auto usesVariable = [&](Operation *user) {
    return llvm::is_contained(user->getOperands(), loop.getInductionVar());
  };
  return (usesVariable(&op) || llvm::any_of(slice, usesVariable)) &&
         !isWrittenIn(loop, memref);
}

/// `load` as of the step that `mapping` has for the loop's variable; reads
/// nothing unless `exists`.
static Value makeLoad(OpBuilder &builder, const Prefetch &prefetch,
                      IRMapping mapping, Value exists) {
  Location loc = prefetch.load->getLoc();
  for (Operation *op : prefetch.slice)
    builder.clone(*op, mapping);
  auto load = dyn_cast<LoadOp>(prefetch.load);
  if (!load)
    return builder.clone(*prefetch.load, mapping)->getResult(0);
  auto type = cast<RankedTensorType>(load.getType());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value bound =
      load.getBounds().empty()
          ? arith::ConstantIndexOp::create(builder, loc, type.getDimSize(0))
                .getResult()
          : mapping.lookupOrDefault(load.getBounds()[0]);
  bound = builder.createOrFold<arith::SelectOp>(loc, exists, bound, zero);
  SmallVector<Value> indices;
  for (Value index : load.getIndices())
    indices.push_back(mapping.lookupOrDefault(index));
  return LoadOp::create(builder, loc, type, load.getSource(), indices,
                        load.getDims(), ValueRange{bound});
}

unsigned linattn::tile::prefetchLoads(RewriterBase &rewriter,
                                      scf::ForOp &loop) {
  SmallVector<Prefetch> prefetches;
  for (Operation &op : *loop.getBody()) {
    Prefetch prefetch{&op, {}};
    if (isPrefetchable(loop, op, prefetch.slice))
      prefetches.push_back(prefetch);
  }
  if (prefetches.empty())
    return 0;

  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value exists = rewriter.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
      loop.getUpperBound());
  SmallVector<Value> first;
  for (const Prefetch &prefetch : prefetches) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), loop.getLowerBound());
    if (isa<LoadOp>(prefetch.load)) {
      first.push_back(makeLoad(rewriter, prefetch, mapping, exists));
      continue;
    }
    // A scalar has no bound: it is read only where the loop has a step.
    Type type = prefetch.load->getResult(0).getType();
    auto branch = scf::IfOp::create(rewriter, loc, TypeRange{type}, exists,
                                    /*withElseRegion=*/true);
    OpBuilder inner = branch.getThenBodyBuilder();
    scf::YieldOp::create(inner, loc, makeLoad(inner, prefetch, mapping, {}));
    inner = branch.getElseBodyBuilder();
    Value zero =
        arith::ConstantOp::create(inner, loc, type, inner.getZeroAttr(type));
    scf::YieldOp::create(inner, loc, zero);
    first.push_back(branch.getResult(0));
  }

  // The loads of the next step stand first, so that all of this one hides them.
  rewriter.setInsertionPointToStart(loop.getBody());
  Value variable = loop.getInductionVar();
  Value next = arith::AddIOp::create(rewriter, loc, variable, loop.getStep());
  exists = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, next,
                                 loop.getUpperBound());
  Value inRange;
  SmallVector<Value> nexts;
  for (const Prefetch &prefetch : prefetches) {
    IRMapping mapping;
    mapping.map(variable, next);
    if (!isa<LoadOp>(prefetch.load)) {
      if (!inRange)
        inRange =
            arith::SelectOp::create(rewriter, loc, exists, next, variable);
      mapping.map(variable, inRange);
    }
    nexts.push_back(makeLoad(rewriter, prefetch, mapping, exists));
  }
  unsigned numOld = loop.getNumRegionIterArgs();
  auto replaced = loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
        return SmallVector<Value>(nexts);
      });
  loop = cast<scf::ForOp>(replaced->getOperation());
  for (auto [i, prefetch] : llvm::enumerate(prefetches))
    rewriter.replaceOp(prefetch.load, loop.getRegionIterArg(numOld + i));
  return prefetches.size();
}
