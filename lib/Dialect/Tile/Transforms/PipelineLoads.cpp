//===- PipelineLoads.cpp - loads of later steps while a step is computed --===//
//
// Why `pending` is a constant. Let a loop from lb to ub fill channels c_0 ..
// c_{m-1}, in the order of their commits, S stages each. A commit closes a
// group of the copies that a thread began since its last commit (an empty group
// where the step does not exist), and groups land in order.
//
//   * Before the loop, steps lb .. lb + S - 2 commit m groups each.
//   * The body of step i commits the m groups of step i + S - 1, at one place
//   P.
//
// So before P of step i the groups of all steps up to i + S - 2 are committed,
// after P those up to i + S - 1, all whole steps. Step i of c_j waits for its
// group, behind which there are then
//
//   pending = m (S - 2) + (m - 1 - j)    before P
//   pending = m (S - 1) + (m - 1 - j)    after P
//
// groups: whole later steps, and the later channels of its own. Groups from
// before lb only stand in front, and a wait for later ones waits for them too.
// With S = 1 nothing moves and P is where the commits stand: all waits of step
// i are behind the commits of step i, which are the last (S - 1 = 0).
//
// Why the stage is free: step i + S - 1 fills stage (i - 1) mod S, whose step
// i - 1 was read and released in the iteration before. P is behind the waits
// that the body begins with, so the barrier that must stand between the reads
// of step i - 1 and the copies of step i + S - 1 is also the one that must
// stand between those waits and the reads of step i.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/Tile/Transforms/Arena.h"
#include "linattn/Dialect/Tile/Transforms/Kernels.h"
#include "linattn/Dialect/Tile/Transforms/Passes.h"
#include "linattn/Dialect/Tile/Transforms/StepSlice.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace linattn::tile {
#define GEN_PASS_DEF_PIPELINELOADSPASS
#include "linattn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace linattn::tile

using namespace mlir;
using namespace linattn::tile;

namespace {
/// What one step of a loop does with one channel.
struct Fill {
  ChannelCreateOp channel;
  ChannelAcquireOp acquire;
  SmallVector<LoadAsyncOp> loads;
  ChannelCommitOp commit;
  ChannelWaitOp wait;
  /// Arithmetic that the loads need.
  SetVector<Operation *> slice;
  /// A step that does not exist loads nothing by its bounds, not by a branch.
  bool byBounds = false;
};

/// A loop whose channels can be filled ahead.
class Loop {
public:
  explicit Loop(scf::ForOp loop) : loop(loop) {}

  /// Empty text if it can be done; else why not.
  std::string analyze();
  /// Fills `stages - 1` steps ahead.
  void transform(RewriterBase &rewriter, int64_t stages);

  scf::ForOp loop;
  /// In the order of their commits.
  SmallVector<Fill> fills;

private:
  std::string analyzeChannel(Fill &fill);
  void fillStep(RewriterBase &rewriter, Value step);
  Operation *findStart(int64_t groups);
};
} // namespace

std::string Loop::analyze() {
  for (Operation &op : *loop.getBody()) {
    if (auto commit = dyn_cast<ChannelCommitOp>(op)) {
      Fill fill;
      fill.commit = commit;
      fill.channel = commit.getChannel().getDefiningOp<ChannelCreateOp>();
      fills.push_back(fill);
    } else if (op.getNumRegions() != 0) {
      // Their groups would come between those of this loop.
      bool commits = false;
      op.walk([&](ChannelCommitOp) { commits = true; });
      if (commits)
        return "an inner loop or branch commits to a channel";
    }
  }
  APInt step;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) || step != 1)
    return "the loop's step is 1";
  for (Fill &fill : fills)
    if (std::string why = analyzeChannel(fill); !why.empty())
      return why;
  return "";
}

std::string Loop::analyzeChannel(Fill &fill) {
  if (!fill.channel || !loop.isDefinedOutsideOfLoop(fill.channel))
    return "the channel is made outside of the loop";
  ChannelReleaseOp release;
  for (Operation *user : fill.channel->getUsers()) {
    if (user->getBlock() != loop.getBody())
      return "a channel is used in the body of one loop alone";
    if (user->getOperand(1) != loop.getInductionVar())
      return "a channel is used at the step of the loop's variable";
    auto once = [&](auto &slot) {
      using OpTy = std::remove_reference_t<decltype(slot)>;
      auto op = dyn_cast<OpTy>(user);
      if (op && slot && slot != op)
        return false;
      if (op)
        slot = op;
      return true;
    };
    if (!once(fill.acquire) || !once(fill.commit) || !once(fill.wait) ||
        !once(release))
      return "a channel is acquired, committed, waited for and released once "
             "per step";
  }
  if (!fill.acquire || !fill.wait ||
      !fill.acquire->isBeforeInBlock(fill.commit) ||
      !fill.commit->isBeforeInBlock(fill.wait))
    return "a step acquires, commits and waits for a channel, in this order";
  for (Value tile : fill.acquire.getResults())
    for (Operation *user : tile.getUsers()) {
      auto load = dyn_cast<LoadAsyncOp>(user);
      if (!load || load->getBlock() != loop.getBody() ||
          !load->isBeforeInBlock(fill.commit))
        return "a stage is filled by load_async between acquire and commit";
      if (!llvm::is_contained(fill.loads, load))
        fill.loads.push_back(load);
    }
  llvm::sort(fill.loads, [](LoadAsyncOp a, LoadAsyncOp b) {
    return a->isBeforeInBlock(b);
  });
  for (LoadAsyncOp load : fill.loads) {
    if (isWrittenIn(loop, load.getSource()))
      return "what is loaded is not written in the loop";
    for (Value operand : load->getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (maker == fill.acquire || loop.isDefinedOutsideOfLoop(operand) ||
          operand == loop.getInductionVar())
        continue;
      if (!maker || maker->getBlock() != loop.getBody() || !isPure(maker) ||
          maker->getNumRegions() != 0 || !getStepSlice(loop, maker, fill.slice))
        return "what is loaded depends on the loop's variable alone";
      fill.slice.insert(maker);
    }
  }
  return "";
}

/// Copies of `step` into every channel; none if the step does not exist.
void Loop::fillStep(RewriterBase &rewriter, Value step) {
  Location loc = loop.getLoc();
  Value exists = rewriter.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::slt, step, loop.getUpperBound());
  for (Fill &fill : fills) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), step);
    SmallVector<LoadAsyncOp> mappedLoads;
    auto cloneLoads = [&](OpBuilder &builder) {
      for (Operation *op : fill.slice)
        builder.clone(*op, mapping);
      for (LoadAsyncOp load : fill.loads)
        mappedLoads.push_back(cast<LoadAsyncOp>(builder.clone(*load, mapping)));
    };
    rewriter.clone(*fill.acquire, mapping);
    APInt constant;
    if (matchPattern(exists, m_ConstantInt(&constant))) {
      if (!constant.isZero())
        cloneLoads(rewriter);
    } else if (fill.byBounds) {
      cloneLoads(rewriter);
      for (LoadAsyncOp load : mappedLoads) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(load);
        Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
        load.getBoundsMutable()[0].set(rewriter.createOrFold<arith::SelectOp>(
            loc, exists, load.getBounds()[0], none));
      }
    } else {
      auto branch = scf::IfOp::create(rewriter, loc, exists);
      OpBuilder inner = branch.getThenBodyBuilder();
      cloneLoads(inner);
    }
    rewriter.clone(*fill.commit, mapping);
  }
}

/// Moves what makes a value before `place`, if nothing forbids it.
static bool moveBefore(Operation *place, Value value) {
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getBlock() != place->getBlock() ||
      maker->isBeforeInBlock(place))
    return true;
  if (maker->getNumRegions() != 0 ||
      !(isPure(maker) || isa<ChannelCreateOp>(maker)))
    return false;
  for (Value operand : maker->getOperands())
    if (!moveBefore(place, operand))
      return false;
  maker->moveBefore(place);
  return true;
}

/// Where the first steps are filled: before the waits for other copies that
/// stand before the loop, so that all are under way at once. Those waits let
/// `groups` more be so.
Operation *Loop::findStart(int64_t groups) {
  if (!llvm::all_of(fills, [](const Fill &fill) { return fill.byBounds; }))
    return loop;
  SmallVector<ChannelWaitOp> waits;
  for (Operation *op = loop->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto wait = dyn_cast<ChannelWaitOp>(op))
      waits.push_back(wait);
    else if (!isPure(op) && !isa<LocalLoadOp, ChannelCreateOp>(op))
      break;
  }
  if (waits.empty())
    return loop;
  Operation *start = waits.back();
  SmallVector<Value> needed = {loop.getLowerBound(), loop.getUpperBound()};
  for (Fill &fill : fills) {
    llvm::append_range(needed, fill.acquire->getOperands());
    for (LoadAsyncOp load : fill.loads)
      llvm::append_range(needed, load->getOperands());
    for (Operation *op : fill.slice)
      llvm::append_range(needed, op->getOperands());
  }
  for (Value value : needed)
    if (!moveBefore(start, value))
      return loop;
  for (ChannelWaitOp wait : waits)
    wait.setPending(wait.getPending() + groups);
  return start;
}

void Loop::transform(RewriterBase &rewriter, int64_t stages) {
  Location loc = loop.getLoc();
  Block *body = loop.getBody();
  // P: behind the waits that the body begins with.
  Operation *place = nullptr;
  for (Operation &op : *body) {
    if (isa<ChannelWaitOp>(op))
      place = &op;
    else if (place && !isPure(&op) && stages > 1 &&
             !isa<ChannelAcquireOp, ChannelCommitOp, LoadAsyncOp>(op))
      break;
  }
  int64_t count = fills.size();
  for (int64_t number = 0; number < count; ++number) {
    Fill &fill = fills[number];
    bool before = fill.wait == place || fill.wait->isBeforeInBlock(place);
    int64_t steps = stages == 1 ? 0 : before ? stages - 2 : stages - 1;
    int64_t later = count - 1 - number;
    // Unmoved, a wait may stand before the commits of later channels.
    if (stages == 1)
      later = llvm::count_if(fills, [&](Fill &other) {
        return fill.commit->isBeforeInBlock(other.commit) &&
               other.commit->isBeforeInBlock(fill.wait);
      });
    fill.wait.setPending(count * steps + later);
    ChannelType type = fill.channel.getType();
    fill.channel.getResult().setType(
        ChannelType::get(type.getContext(), stages, type.getTiles()));
  }
  if (stages == 1)
    return;

  rewriter.setInsertionPoint(findStart(count * (stages - 1)));
  for (int64_t ahead = 0; ahead < stages - 1; ++ahead) {
    Value offset = arith::ConstantIndexOp::create(rewriter, loc, ahead);
    fillStep(rewriter, rewriter.createOrFold<arith::AddIOp>(
                           loc, loop.getLowerBound(), offset));
  }
  Value offset = arith::ConstantIndexOp::create(rewriter, loc, stages - 1);
  rewriter.setInsertionPointAfter(place);
  Value step =
      arith::AddIOp::create(rewriter, loc, loop.getInductionVar(), offset);
  fillStep(rewriter, step);

  // Copies of nothing are copies too: they end before the memory is reused.
  rewriter.setInsertionPointAfter(loop);
  Value end = arith::AddIOp::create(
      rewriter, loc, loop.getUpperBound(),
      arith::ConstantIndexOp::create(rewriter, loc, stages - 2));
  for (Fill &fill : fills)
    if (fill.byBounds)
      ChannelWaitOp::create(rewriter, loc, fill.channel.getType().getTiles(),
                            fill.channel, end, uint64_t(0));

  for (Fill &fill : fills) {
    for (LoadAsyncOp load : fill.loads)
      rewriter.eraseOp(load);
    rewriter.eraseOp(fill.commit);
    rewriter.eraseOp(fill.acquire);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

namespace {
struct PipelineLoadsPass
    : linattn::tile::impl::PipelineLoadsPassBase<PipelineLoadsPass> {
  using PipelineLoadsPassBase::PipelineLoadsPassBase;

  void runOnOperation() override {
    if (failed(forEachKernel(getOperation(), [&](gpu::GPUFuncOp func) {
          return runOnKernel(func);
        })))
      signalPassFailure();
  }

private:
  LogicalResult runOnKernel(gpu::GPUFuncOp func) {
    FailureOr<int64_t> limit = getSharedLimit(func, sharedBytes, chip);
    if (failed(limit))
      return failure();
    if (stages < 0 || stages > 16) {
      func.emitError("stages lie in [0, 16], got ") << int64_t(stages);
      return failure();
    }
    SmallVector<scf::ForOp> loops;
    func.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    SmallVector<Loop> pipelined;
    for (scf::ForOp forOp : loops) {
      Loop loop(forOp);
      std::string why = loop.analyze();
      if (loop.fills.empty())
        continue;
      for (Fill &fill : loop.fills)
        fill.byBounds = branchFree && llvm::all_of(fill.loads, [](auto load) {
                          return !load.getBounds().empty();
                        });
      if (why.empty())
        pipelined.push_back(loop);
      else
        forOp.emitRemark("loads are not pipelined: ") << why;
    }
    int64_t chosen = stages == 0 ? choose(func, pipelined, *limit) : stages;
    IRRewriter rewriter(&getContext());
    for (Loop &loop : pipelined) {
      loop.transform(rewriter, chosen);
      numPipelined += loop.fills.size();
      numPrefetched += prefetchLoads(rewriter, loop.loop);
    }
    return success();
  }

  /// The most stages with which everything fits.
  int64_t choose(gpu::GPUFuncOp func, ArrayRef<Loop> loops, int64_t limit) {
    for (int64_t candidate : {4, 3, 2}) {
      for (const Loop &loop : loops)
        for (const Fill &fill : loop.fills) {
          auto channel = fill.channel;
          channel.getResult().setType(ChannelType::get(
              &getContext(), candidate, channel.getType().getTiles()));
        }
      if (planArena(func).bytes <= limit)
        return candidate;
    }
    return 1;
  }
};
} // namespace
