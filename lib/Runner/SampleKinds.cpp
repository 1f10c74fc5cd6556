//===- SampleKinds.cpp - how to draw an argument, from its uses -*- C++ -*-===//
//
// An argument without `linattn.sample` is drawn by what the step does with it.
// Where it is used in several ways, the one that asks most of the data decides:
// a gate before a rate before a key before a plain value.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Runner/Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::runner;

StringRef runner::nameOf(SampleKind kind) {
  static constexpr StringLiteral names[] = {
      "log_gate", "linear_gate", "rate",  "rate2", "unit_key",
      "value",    "weight",      "a_log", "raw",   "raw_gate",
      "state",    "seqlens",     "slots", "index"};
  return names[unsigned(kind)];
}

namespace {
/// Follows a value of the step to where it is used.
class StepUses {
public:
  explicit StepUses(bool isParam) : isParam(isParam) {}

  SampleKind classify(Value value) {
    follow(value, Path());
    if (kinds.empty())
      return isParam ? SampleKind::Weight : SampleKind::Value;
    return *kinds.begin();
  }

private:
  /// What lies between the argument and the use.
  struct Path {
    bool exact = true; // casts and products with constants only
    bool softplus = false, exp = false;
  };

  void follow(Value value, Path path) {
    for (OpOperand &use : value.getUses())
      visit(use, path);
  }

  void visit(OpOperand &use, Path path) {
    Value value = use.get();
    Operation *user = use.getOwner();
    // Through arithmetic only a gate counts: it has few sources.
    if (auto decay = dyn_cast<DecayOp>(user)) {
      if (path.exact)
        kinds.insert(decay.getLinear() ? SampleKind::LinearGate
                                       : SampleKind::LogGate);
      else if (isParam)
        kinds.insert(path.exp ? SampleKind::ALog : SampleKind::Weight);
      else
        kinds.insert(path.softplus ? SampleKind::RawGate : SampleKind::Raw);
      return;
    }
    if (isa<ReadOp, WriteOp, DeltaUpdateOp>(user)) {
      if (path.exact && !isParam)
        kinds.insert(kindOfOperand(user, use.getOperandNumber()));
      return;
    }
    if (isa<arith::ExtFOp, arith::TruncFOp, vector::BroadcastOp>(user))
      return follow(user->getResult(0), path);
    if (isa<arith::MulFOp, arith::DivFOp>(user) &&
        matchPattern(user->getOperand(1 - use.getOperandNumber()),
                     m_Constant()))
      return follow(user->getResult(0), path);
    if (isa<SigmoidOp, SiLUOp, SoftplusOp>(user) && path.exact && !isParam)
      kinds.insert(SampleKind::Raw);
    // beta in beta * (v - r): one number per token and head.
    if (isa<arith::MulFOp>(user) && path.exact && !isParam &&
        isa<FloatType>(scalarSource(value).getType()))
      kinds.insert(SampleKind::Rate);
    if (user->getNumResults() != 1 || isa<L2NormOp>(user))
      return;
    path.exact = false;
    path.softplus |= isa<SoftplusOp>(user);
    path.exp |= isa<math::ExpOp>(user);
    follow(user->getResult(0), path);
  }

  static Value scalarSource(Value value) {
    while (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
      value = broadcast.getSource();
    return value;
  }

  static SampleKind kindOfOperand(Operation *op, unsigned number) {
    if (number == 1)
      return SampleKind::UnitKey;
    if (isa<DeltaUpdateOp>(op) && number == 3)
      return SampleKind::Rate;
    return SampleKind::Value;
  }

  struct AsksMore {
    static unsigned rank(SampleKind kind) {
      switch (kind) {
      case SampleKind::LogGate:
        return 0;
      case SampleKind::LinearGate:
        return 1;
      case SampleKind::RawGate:
        return 2;
      case SampleKind::ALog:
        return 3;
      case SampleKind::Rate:
        return 4;
      case SampleKind::UnitKey:
        return 5;
      case SampleKind::Raw:
        return 6;
      default:
        return 7;
      }
    }
    bool operator()(SampleKind a, SampleKind b) const {
      return rank(a) < rank(b);
    }
  };

  bool isParam;
  std::set<SampleKind, AsksMore> kinds;
};
} // namespace

/// The kind that one use of a function argument asks for.
static SampleKind kindOfUse(OpOperand &use) {
  unsigned number = use.getOperandNumber();
  return llvm::TypeSwitch<Operation *, SampleKind>(use.getOwner())
      .Case([&](RecurrenceOp op) {
        unsigned tokens = op.getTokens().size();
        unsigned params = op.getParams().size();
        if (number >= tokens + params)
          return SampleKind::State;
        bool isParam = number >= tokens;
        return StepUses(isParam).classify(op.getBody()->getArgument(number));
      })
      .Case([&](ShortConvOp op) {
        if (use.get() == op.getInput())
          return SampleKind::Value;
        return use.get() == op.getWindow() ? SampleKind::State
                                           : SampleKind::Weight;
      })
      .Case([&](DiffAttentionOp op) {
        if (use.get() == op.getLambda())
          return op.getVersion() == DiffVersion::V1 ? SampleKind::Rate
                                                    : SampleKind::Raw;
        return use.get() == op.getNorm() ? SampleKind::Weight
                                         : SampleKind::Value;
      })
      .Default([](Operation *) { return SampleKind::Value; });
}

SampleKind runner::inferSampleKind(BlockArgument argument) {
  for (OpOperand &use : argument.getUses()) {
    SampleKind kind = kindOfUse(use);
    if (kind != SampleKind::Value)
      return kind;
  }
  return SampleKind::Value;
}
