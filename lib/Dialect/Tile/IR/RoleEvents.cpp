//===- RoleEvents.cpp - what roles do with channels, step by step ---------===//

#include "RoleEvents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn::tile;

static bool isChannelOp(Operation *op) {
  return isa<ChannelAcquireOp, ChannelCommitOp, ChannelWaitOp, ChannelReleaseOp,
             ChannelStageOp>(op);
}

bool linattn::tile::usesChannels(Operation *op) {
  return op
      ->walk([](Operation *nested) {
        return isChannelOp(nested) ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
using Number = std::optional<int64_t>;

class Runner {
public:
  Runner(RoleOp role, int64_t chunks, int64_t rank)
      : chunksValue(role->getParentOfType<RolesOp>().getChunks()),
        chunks(chunks), rank(rank) {}

  LogicalResult run(Block &block) {
    for (Operation &op : block)
      if (failed(run(&op)))
        return failure();
    return success();
  }

  RoleEvents events;

private:
  LogicalResult run(Operation *op) {
    if (isChannelOp(op))
      return record(op);
    if (op->getNumRegions() == 0 || !usesChannels(op))
      return success();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return runLoop(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Number condition = evaluate(branch.getCondition());
      if (!condition)
        return refuse(op, "condition");
      if (*condition)
        return run(*branch.thenBlock());
      return branch.elseBlock() ? run(*branch.elseBlock()) : success();
    }
    return op->emitOpError("channels are used in scf.for and scf.if alone");
  }

  LogicalResult record(Operation *op) {
    auto channel = op->getOperand(0).getDefiningOp<ChannelCreateOp>();
    if (!channel)
      return op->emitOpError("the channel comes from channel.create");
    Number step = evaluate(op->getOperand(1));
    if (!step)
      return refuse(op, "step");
    RoleEvent::Kind kind = isa<ChannelAcquireOp>(op)  ? RoleEvent::Acquire
                           : isa<ChannelCommitOp>(op) ? RoleEvent::Commit
                           : isa<ChannelWaitOp>(op)   ? RoleEvent::Wait
                           : isa<ChannelStageOp>(op)  ? RoleEvent::Look
                                                      : RoleEvent::Release;
    events.push_back({kind, op, channel, *step});
    return success();
  }

  LogicalResult runLoop(scf::ForOp loop) {
    Number lower = evaluate(loop.getLowerBound()),
           upper = evaluate(loop.getUpperBound()),
           step = evaluate(loop.getStep());
    if (!lower || !upper || !step || *step < 1)
      return refuse(loop, "range");
    SmallVector<Number> carried;
    for (Value init : loop.getInitArgs())
      carried.push_back(evaluate(init));
    for (int64_t i = *lower; i < *upper; i += *step) {
      // Loops with numbers of their own could run for ever.
      constexpr int64_t kMostSteps = 1 << 14;
      if (++steps > kMostSteps)
        return loop.emitOpError("loops that use channels run at most ")
               << kMostSteps << " steps for " << chunks << " chunks";
      set(loop.getInductionVar(), i);
      for (auto [argument, number] :
           llvm::zip(loop.getRegionIterArgs(), carried))
        set(argument, number);
      if (failed(run(*loop.getBody())))
        return failure();
      for (auto [number, value] : llvm::zip(carried, loop.getYieldedValues()))
        number = evaluate(value);
    }
    for (auto [result, number] : llvm::zip(loop.getResults(), carried))
      set(result, number);
    return success();
  }

  static LogicalResult refuse(Operation *op, StringRef what) {
    return op->emitOpError("the ")
           << what
           << " is a function of the number of chunks, of loops and of the "
              "rank of the block alone";
  }

  void set(Value value, Number number) {
    if (number)
      numbers[value] = *number;
    else
      numbers.erase(value);
  }

  Number evaluate(Value value) {
    // Long chains of shared values would be walked again and again.
    budget = 256;
    return evaluateNested(value);
  }

  Number evaluateNested(Value value) {
    if (--budget < 0)
      return std::nullopt;
    if (auto found = numbers.find(value); found != numbers.end())
      return found->second;
    if (value == chunksValue)
      return chunks;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSignificantBits() <= 64
                 ? Number(constant.getBitWidth() == 1 ? constant.getZExtValue()
                                                      : constant.getSExtValue())
                 : std::nullopt;
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() != 0)
      return std::nullopt;
    if (auto id = dyn_cast<gpu::ClusterBlockIdOp>(op))
      return id.getDimension() == gpu::Dimension::x ? Number(rank)
                                                    : std::nullopt;
    if (!isa<arith::ArithDialect>(op->getDialect()))
      return std::nullopt;
    SmallVector<int64_t> operands;
    for (Value operand : op->getOperands()) {
      Number number = evaluateNested(operand);
      if (!number)
        return std::nullopt;
      operands.push_back(*number);
    }
    return compute(op, operands);
  }

  /// Steps are small numbers, in which all widths and signs agree.
  static Number compute(Operation *op, ArrayRef<int64_t> x) {
    constexpr int64_t kLarge = int64_t(1) << 31;
    if (llvm::any_of(x, [](int64_t v) { return v <= -kLarge || v >= kLarge; }))
      return std::nullopt;
    return TypeSwitch<Operation *, Number>(op)
        .Case<arith::AddIOp>([&](auto) { return x[0] + x[1]; })
        .Case<arith::SubIOp>([&](auto) { return x[0] - x[1]; })
        .Case<arith::MulIOp>([&](auto) { return x[0] * x[1]; })
        .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) {
          return x[1] > 0 && x[0] >= 0 ? Number(x[0] / x[1]) : std::nullopt;
        })
        .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) {
          return x[1] > 0 && x[0] >= 0 ? Number(x[0] % x[1]) : std::nullopt;
        })
        .Case<arith::MinSIOp>([&](auto) { return std::min(x[0], x[1]); })
        .Case<arith::MaxSIOp>([&](auto) { return std::max(x[0], x[1]); })
        .Case<arith::AndIOp>([&](auto) { return x[0] & x[1]; })
        .Case<arith::OrIOp>([&](auto) { return x[0] | x[1]; })
        .Case<arith::SelectOp>([&](auto) { return x[0] ? x[1] : x[2]; })
        .Case<arith::IndexCastOp>([&](auto) { return x[0]; })
        .Case<arith::CmpIOp>([&](arith::CmpIOp compare) -> Number {
          switch (compare.getPredicate()) {
          case arith::CmpIPredicate::eq:
            return x[0] == x[1];
          case arith::CmpIPredicate::ne:
            return x[0] != x[1];
          case arith::CmpIPredicate::slt:
            return x[0] < x[1];
          case arith::CmpIPredicate::sle:
            return x[0] <= x[1];
          case arith::CmpIPredicate::sgt:
            return x[0] > x[1];
          case arith::CmpIPredicate::sge:
            return x[0] >= x[1];
          default:
            return std::nullopt;
          }
        })
        .Default([](Operation *) { return std::nullopt; });
  }

  Value chunksValue;
  int64_t chunks, rank, steps = 0;
  DenseMap<Value, int64_t> numbers;
  int budget = 0;
};
} // namespace

FailureOr<RoleEvents> linattn::tile::listEvents(RoleOp role, int64_t chunks,
                                                int64_t rank) {
  Runner runner(role, chunks, rank);
  if (failed(runner.run(role.getBody().front())))
    return failure();
  return std::move(runner.events);
}
