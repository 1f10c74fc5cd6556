//===- InsertBarriers.cpp - barriers between conflicting accesses ---------===//
//
// A walk over the kernel carries facts: accesses since the last barrier. An
// access that conflicts with a fact needs a barrier between the two. Barriers
// are put where a walk finds the first conflict until none is left; then each
// is taken out again if the walk stays clean without it.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/Tile/Transforms/Kernels.h"
#include "linattn/Dialect/Tile/Transforms/Passes.h"
#include "linattn/Dialect/Tile/Transforms/SharedAccess.h"

#include "mlir/IR/Matchers.h"

namespace linattn::tile {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "linattn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace linattn::tile

using namespace mlir;
using namespace linattn::tile;

namespace {
struct Fact {
  SharedAccess access;
  Operation *op;
  /// The outermost loop over whose back edge it came.
  Operation *carriedBy = nullptr;

  bool operator==(const Fact &other) const {
    return access == other.access && op == other.op &&
           carriedBy == other.carriedBy;
  }
};

class Facts {
public:
  auto begin() const { return facts.begin(); }
  auto end() const { return facts.end(); }
  void clear() { facts.clear(); }

  /// Whether it is new.
  bool add(Fact fact) {
    // Steps are equal modulo the stages: the walk of a loop comes to an end.
    if (auto create = dyn_cast_or_null<ChannelCreateOp>(fact.access.root)) {
      int64_t stages = create.getType().getStages();
      int64_t offset = fact.access.step.offset % stages;
      fact.access.step.offset = offset < 0 ? offset + stages : offset;
    } else {
      // What is no channel has no steps, in any loop.
      fact.access.step = Step();
    }
    if (llvm::is_contained(facts, fact))
      return false;
    facts.push_back(fact);
    return true;
  }
  bool add(const Facts &others) {
    bool changed = false;
    for (const Fact &fact : others)
      changed |= add(fact);
    return changed;
  }

private:
  SmallVector<Fact> facts;
};

/// An access, and an earlier one with no barrier between.
struct Conflict {
  Fact earlier;
  Operation *later;
};

class Walk {
public:
  std::optional<Conflict> visit(Block &block, Facts &facts) {
    for (Operation &op : block)
      if (auto conflict = visit(op, facts))
        return conflict;
    return std::nullopt;
  }

private:
  std::optional<Conflict> visit(Operation &op, Facts &facts) {
    if (isa<BarrierOp>(op)) {
      facts.clear();
      return std::nullopt;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitLoop(loop, facts);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitBranch(branch, facts);
    SmallVector<SharedAccess> accesses = getSharedAccesses(&op);
    // What a wait shows is no access of its own.
    if (!isa<ChannelWaitOp>(op))
      for (const SharedAccess &access : accesses)
        for (const Fact &fact : facts)
          if (conflicts(fact.access, access))
            return Conflict{fact, &op};
    for (const SharedAccess &access : accesses)
      facts.add(Fact{access, &op});
    return std::nullopt;
  }

  std::optional<Conflict> visitBranch(scf::IfOp branch, Facts &facts) {
    Facts other = facts;
    if (auto conflict = visit(*branch.thenBlock(), facts))
      return conflict;
    if (branch.elseBlock())
      if (auto conflict = visit(*branch.elseBlock(), other))
        return conflict;
    facts.add(other);
    return std::nullopt;
  }

  std::optional<Conflict> visitLoop(scf::ForOp loop, Facts &facts) {
    Value variable = loop.getInductionVar();
    Step first = getStep(loop.getLowerBound());
    APInt constant;
    bool constantStep = matchPattern(loop.getStep(), m_ConstantInt(&constant));

    // Steps relative to the loop's first one become relative to its variable.
    Facts in;
    for (Fact fact : facts) {
      Step &step = fact.access.step;
      if (step.known && step.base == first.base) {
        step.base = variable;
        step.offset -= first.offset;
      }
      in.add(fact);
    }
    Facts out;
    for (bool changed = true; changed;) {
      out = in;
      if (auto conflict = visit(*loop.getBody(), out))
        return conflict;
      changed = false;
      for (Fact fact : out) {
        Step &step = fact.access.step;
        // A step i + a of this iteration is step i + a - 1 of the next.
        if (step.base == variable) {
          step.known &= constantStep;
          step.offset -= constantStep ? constant.getSExtValue() : 0;
        } else {
          forgetInner(loop, step);
        }
        if (!fact.carriedBy || loop->isProperAncestor(fact.carriedBy))
          fact.carriedBy = loop;
        changed |= in.add(fact);
      }
    }
    // The loop may run no step at all; `facts` stays.
    for (Fact fact : out) {
      forgetInner(loop, fact.access.step);
      facts.add(fact);
    }
    return std::nullopt;
  }

  /// A value of a loop's body says nothing about its steps later.
  static void forgetInner(scf::ForOp loop, Step &step) {
    if (!step.base || !loop.getRegion().isAncestor(step.base.getParentRegion()))
      return;
    step.base = {};
    step.offset = 0;
    step.known = false;
  }
};

/// The last place that every way from the earlier to the later access passes.
Operation *getPlace(const Conflict &conflict) {
  Operation *later = conflict.later;
  Operation *loop = conflict.earlier.carriedBy;
  if (loop && loop->isProperAncestor(later))
    return loop->getRegion(0).front().findAncestorOpInBlock(*later);
  for (Operation *op = later;; op = op->getParentOp())
    if (op->getBlock()->findAncestorOpInBlock(*conflict.earlier.op))
      return op;
}

struct InsertBarriersPass
    : linattn::tile::impl::InsertBarriersPassBase<InsertBarriersPass> {
  using InsertBarriersPassBase::InsertBarriersPassBase;

  void runOnOperation() override {
    if (failed(forEachKernel(getOperation(), [&](gpu::GPUFuncOp func) {
          return runOnKernel(func);
        })))
      signalPassFailure();
  }

private:
  LogicalResult runOnKernel(gpu::GPUFuncOp func) {
    if (failed(checkControlFlow(func)))
      return failure();
    SmallVector<BarrierOp> barriers;
    while (auto conflict = findConflict(func)) {
      OpBuilder builder(getPlace(*conflict));
      barriers.push_back(BarrierOp::create(builder, conflict->later->getLoc()));
    }
    for (BarrierOp barrier : barriers) {
      // Taken out for the trial: the walk sees the kernel without it.
      Operation *next = barrier->getNextNode();
      barrier->remove();
      if (findConflict(func)) {
        next->getBlock()->getOperations().insert(next->getIterator(), barrier);
        ++numBarriers;
      } else {
        barrier->destroy();
      }
    }
    return success();
  }

  static std::optional<Conflict> findConflict(gpu::GPUFuncOp func) {
    Facts facts;
    return Walk().visit(func.getBody().front(), facts);
  }

  static LogicalResult checkControlFlow(gpu::GPUFuncOp func) {
    if (!func.getBody().hasOneBlock())
      return func.emitError("barriers are inserted where control flow is "
                            "scf.for and scf.if, got several blocks");
    WalkResult result = func.getBody().walk([&](Operation *op) {
      if (op->getNumRegions() == 0 || isa<scf::ForOp, scf::IfOp>(op))
        return WalkResult::advance();
      op->emitError("barriers are inserted where control flow is scf.for and "
                    "scf.if, got ")
          << op->getName();
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
