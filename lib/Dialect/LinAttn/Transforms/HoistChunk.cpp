//===- HoistChunk.cpp - the hoisted form of a chunk's writes --------------===//
//
// See the description of the pass in Passes.td. The right side of a system is
// taken apart into c + sum_s A_s S_s, with c and A_s free of the carried states
// S_s; then T (c + sum_s A_s S_s) = T c + sum_s (T A_s) S_s.
//
//===----------------------------------------------------------------------===//

#include "linattn/Dialect/LinAttn/Analysis/ChunkDependences.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

namespace linattn {
#define GEN_PASS_DEF_HOISTCHUNKPASS
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {

/// A value [.., V] as constant + sum_s factor_s S_s, where a factor is
/// [.., K_s]. Null is 0.
struct Affine {
  Value constant;
  /// Per state argument.
  SmallVector<Value, 2> factors;
};

Value stripRounding(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::TruncFOp, arith::ExtFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Takes values of a chunk apart, and emits the parts.
class StateFactors {
public:
  StateFactors(RewriterBase &rewriter, ChunkedOp op,
               const ChunkDependences &dependences)
      : rewriter(rewriter), op(op), dependences(dependences) {}

  std::optional<Affine> get(Value value);
  /// What stood in the way, and why.
  Operation *getObstacle() const { return obstacle; }
  StringRef getReason() const { return reason; }

  Value sum(Value a, Value b) {
    if (!a || !b)
      return a ? a : b;
    return arith::AddFOp::create(rewriter, loc(), a, b);
  }
  Value zeros(ArrayRef<int64_t> shape, Type element) {
    auto type = RankedTensorType::get(shape, element);
    return arith::ConstantOp::create(rewriter, loc(), type,
                                     rewriter.getZeroAttr(type));
  }

private:
  std::optional<Affine> refuse(Operation *op, StringRef why) {
    if (!obstacle) {
      obstacle = op;
      reason = why;
    }
    return std::nullopt;
  }
  Location loc() { return op.getLoc(); }
  Affine none() { return {Value(), SmallVector<Value, 2>(op.getNumStates())}; }
  std::optional<Affine> getProduct(linalg::MatmulOp product);
  std::optional<Affine> getScaled(Operation *product, Value scale, Value rest);
  std::optional<Affine> getInsertion(tensor::InsertSliceOp insert);
  std::optional<Affine> getCollapsed(tensor::CollapseShapeOp collapse);
  /// `fn` of the constant, the last dimension being V, and of each factor,
  /// there K.
  Affine map(const Affine &affine, llvm::function_ref<Value(Value)> fn);

  RewriterBase &rewriter;
  ChunkedOp op;
  const ChunkDependences &dependences;
  Operation *obstacle = nullptr;
  StringRef reason;
};

Affine StateFactors::map(const Affine &affine,
                         llvm::function_ref<Value(Value)> fn) {
  Affine result = none();
  if (affine.constant)
    result.constant = fn(affine.constant);
  for (auto [from, to] : llvm::zip(affine.factors, result.factors))
    if (from)
      to = fn(from);
  return result;
}

std::optional<Affine> StateFactors::get(Value value) {
  if (!dependences.dependsOnState(value)) {
    Affine result = none();
    if (!matchPattern(value, m_AnyZeroFloat()))
      result.constant = value;
    return result;
  }
  Operation *def = value.getDefiningOp();
  if (!def)
    return refuse(op, "the right side holds a state itself");
  return llvm::TypeSwitch<Operation *, std::optional<Affine>>(def)
      .Case([&](linalg::MatmulOp product) { return getProduct(product); })
      .Case<arith::AddFOp, arith::SubFOp>(
          [&](Operation *add) -> std::optional<Affine> {
            auto a = get(add->getOperand(0)), b = get(add->getOperand(1));
            if (!a || !b)
              return std::nullopt;
            Affine second = *b;
            if (isa<arith::SubFOp>(add))
              second = map(*b, [&](Value v) -> Value {
                return arith::NegFOp::create(rewriter, loc(), v);
              });
            Affine result = none();
            result.constant = sum(a->constant, second.constant);
            for (auto [x, y, z] :
                 llvm::zip(a->factors, second.factors, result.factors))
              z = sum(x, y);
            return result;
          })
      .Case([&](arith::NegFOp negation) -> std::optional<Affine> {
        auto a = get(negation.getOperand());
        if (!a)
          return std::nullopt;
        return map(*a, [&](Value v) -> Value {
          return arith::NegFOp::create(rewriter, loc(), v);
        });
      })
      .Case([&](arith::MulFOp product) -> std::optional<Affine> {
        Value a = product.getLhs(), b = product.getRhs();
        if (dependences.dependsOnState(a))
          std::swap(a, b);
        if (dependences.dependsOnState(a))
          return refuse(product, "it multiplies two values that depend on a "
                                 "state");
        return getScaled(product, a, b);
      })
      .Case<arith::TruncFOp, arith::ExtFOp>(
          [&](Operation *) { return get(stripRounding(value)); })
      .Case([&](tensor::InsertSliceOp insert) { return getInsertion(insert); })
      .Case([&](tensor::CollapseShapeOp collapse) {
        return getCollapsed(collapse);
      })
      .Default([&](Operation *other) {
        return refuse(other, "it is no sum of terms free of the state and of "
                             "row-scaled products with it");
      });
}

/// X S outs Z with X free of the state; P U outs Z with both free of it.
std::optional<Affine> StateFactors::getProduct(linalg::MatmulOp product) {
  Value left = product.getInputs()[0], right = product.getInputs()[1];
  auto rest = get(product.getOutputs()[0]);
  if (!rest)
    return std::nullopt;
  if (dependences.dependsOnState(left))
    return refuse(product, "its left operand depends on a state");
  auto type = cast<RankedTensorType>(product.getResult(0).getType());
  if (!dependences.dependsOnState(right)) {
    Value onto = rest->constant ? rest->constant
                                : zeros(type.getShape(), type.getElementType());
    rest->constant = linalg::MatmulOp::create(rewriter, loc(), type,
                                              ValueRange{left, right}, onto)
                         .getResult(0);
    return rest;
  }
  auto state = dyn_cast<BlockArgument>(stripRounding(right));
  if (!state)
    return refuse(product, "its right operand is a function of a state");
  unsigned number =
      state.getArgNumber() - op.getStateArgs().front().getArgNumber();
  // The keys as they were before their rounding: the new product has its own.
  Value keys = left;
  if (auto rounding = keys.getDefiningOp<arith::TruncFOp>())
    if (getElementTypeOrSelf(rounding.getIn().getType()) ==
        type.getElementType())
      keys = rounding.getIn();
  auto keysType = cast<RankedTensorType>(keys.getType());
  if (keysType.getElementType() != type.getElementType())
    keys = arith::ExtFOp::create(rewriter, loc(),
                                 keysType.clone(type.getElementType()), keys);
  rest->factors[number] = sum(rest->factors[number], keys);
  return rest;
}

/// Rows scaled by numbers: a splat, or one number per row.
std::optional<Affine> StateFactors::getScaled(Operation *product, Value scale,
                                              Value value) {
  auto affine = get(value);
  if (!affine)
    return std::nullopt;
  DenseElementsAttr constant;
  bool splat = matchPattern(scale, m_Constant(&constant)) && constant.isSplat();
  auto broadcast = scale.getDefiningOp<linalg::BroadcastOp>();
  int64_t last = cast<RankedTensorType>(scale.getType()).getRank() - 1;
  if (!splat &&
      (!broadcast || !llvm::is_contained(broadcast.getDimensions(), last)))
    return refuse(product, "its rate differs between value columns");
  Affine result = none();
  auto scaled = [&](Value v) -> Value {
    auto type = cast<RankedTensorType>(v.getType());
    Value factor;
    if (v == affine->constant) {
      factor = scale;
    } else if (splat) {
      auto attr =
          DenseElementsAttr::get(type, constant.getSplatValue<Attribute>());
      factor = arith::ConstantOp::create(rewriter, loc(), attr);
    } else {
      Value init = tensor::EmptyOp::create(rewriter, loc(), type.getShape(),
                                           type.getElementType());
      factor =
          linalg::BroadcastOp::create(rewriter, loc(), broadcast.getInput(),
                                      init, broadcast.getDimensions())
              ->getResult(0);
    }
    return arith::MulFOp::create(rewriter, loc(), factor, v);
  };
  return map(*affine, scaled);
}

/// Rows of several events, one after another in a tensor [C, n, V].
std::optional<Affine> StateFactors::getInsertion(tensor::InsertSliceOp insert) {
  auto part = get(insert.getSource());
  if (!part)
    return std::nullopt;
  std::optional<Affine> whole;
  if (insert.getDest().getDefiningOp<tensor::EmptyOp>())
    whole = none();
  else
    whole = get(insert.getDest());
  if (!whole)
    return std::nullopt;
  SmallVector<OpFoldResult> offsets = insert.getMixedOffsets();
  SmallVector<OpFoldResult> strides = insert.getMixedStrides();
  auto put = [&](Value from, Value to, int64_t width) -> Value {
    if (!from && !to)
      return {};
    Type element = insert.getType().getElementType();
    SmallVector<int64_t> shape(insert.getType().getShape());
    shape.back() = width;
    SmallVector<int64_t> partShape(insert.getSourceType().getShape());
    partShape.back() = width;
    // What is not there is 0, also in the rows that are yet to come.
    from = from ? from : zeros(partShape, element);
    to = to ? to : zeros(shape, element);
    SmallVector<OpFoldResult> sizes = insert.getMixedSizes();
    sizes.back() = rewriter.getIndexAttr(width);
    return tensor::InsertSliceOp::create(rewriter, loc(), from, to, offsets,
                                         sizes, strides);
  };
  Affine result = none();
  result.constant =
      put(part->constant, whole->constant, insert.getType().getShape().back());
  for (auto [i, state] : llvm::enumerate(op.getStateArgs()))
    result.factors[i] =
        put(part->factors[i], whole->factors[i],
            cast<RankedTensorType>(state.getType()).getDimSize(0));
  return result;
}

std::optional<Affine>
StateFactors::getCollapsed(tensor::CollapseShapeOp collapse) {
  auto affine = get(collapse.getSrc());
  if (!affine)
    return std::nullopt;
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  if (groups.back().size() != 1)
    return refuse(collapse, "it moves value columns");
  return map(*affine, [&](Value v) -> Value {
    return tensor::CollapseShapeOp::create(rewriter, loc(), v, groups);
  });
}

/// Where T meets the right side of a system: a product, or a solve.
class Hoisting {
public:
  Hoisting(RewriterBase &rewriter, ChunkedOp op, Operation *application)
      : rewriter(rewriter), op(op), application(application) {}

  LogicalResult run(const ChunkDependences &dependences);

private:
  /// T times a matrix of as many rows.
  Value applyInverse(Value right);
  /// Rounded as the right side was, or as it is.
  Value round(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!narrow || type.getElementType() == narrow)
      return value;
    return arith::TruncFOp::create(rewriter, op.getLoc(), type.clone(narrow),
                                   value);
  }
  LogicalResult leave(Operation *at, StringRef why) {
    return at->emitRemark("left in the factored form: ") << why;
  }

  RewriterBase &rewriter;
  ChunkedOp op;
  Operation *application;
  /// What operands are rounded to; null where they are not.
  Type narrow;
};

Value Hoisting::applyInverse(Value right) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(right.getType());
  if (auto solve = dyn_cast<UnitLowerSolveOp>(application)) {
    Value init = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                         type.getElementType());
    return UnitLowerSolveOp::create(rewriter, loc, type, right,
                                    solve.getMatrices(), ValueRange{}, init,
                                    solve.getTransposed());
  }
  auto product = cast<linalg::MatmulOp>(application);
  Value zero = arith::ConstantOp::create(rewriter, loc, type,
                                         rewriter.getZeroAttr(type));
  return linalg::MatmulOp::create(
             rewriter, loc, type,
             ValueRange{product.getInputs()[0], round(right)}, zero)
      .getResult(0);
}

LogicalResult Hoisting::run(const ChunkDependences &dependences) {
  Value right;
  if (auto solve = dyn_cast<UnitLowerSolveOp>(application)) {
    if (!solve.getRates().empty())
      return leave(solve, "rates differ between value columns");
    right = solve.getRhs();
  } else {
    auto product = cast<linalg::MatmulOp>(application);
    if (!matchPattern(product.getOutputs()[0], m_AnyZeroFloat()))
      return leave(product, "the product with the inverse adds to another one "
                            "(operands in two terms)");
    right = product.getInputs()[1];
    Type element = getElementTypeOrSelf(right.getType());
    if (element != getElementTypeOrSelf(product.getResult(0).getType()))
      narrow = element;
  }
  rewriter.setInsertionPoint(application);
  StateFactors factors(rewriter, op, dependences);
  std::optional<Affine> affine = factors.get(right);
  if (!affine) {
    return leave(factors.getObstacle(), factors.getReason());
  }
  auto type = cast<RankedTensorType>(application->getResult(0).getType());
  Value update = affine->constant
                     ? applyInverse(affine->constant)
                     : factors.zeros(type.getShape(), type.getElementType());
  for (auto [factor, state] : llvm::zip(affine->factors, op.getStateArgs()))
    if (factor)
      update =
          linalg::MatmulOp::create(
              rewriter, op.getLoc(), type,
              ValueRange{round(applyInverse(factor)), round(state)}, update)
              .getResult(0);
  rewriter.replaceOp(application, update);
  return success();
}

struct HoistChunkPass : linattn::impl::HoistChunkPassBase<HoistChunkPass> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](ChunkedOp op) { hoist(rewriter, op); });
  }

  void hoist(RewriterBase &rewriter, ChunkedOp op) {
    ChunkDependences dependences(op);
    SmallVector<Operation *> applications;
    for (auto solve : op.getBlock()->getOps<UnitLowerSolveOp>()) {
      if (dependences.dependsOnState(solve.getResult())) {
        applications.push_back(solve);
        continue;
      }
      // T meets what it multiplies as it is or rounded.
      SmallVector<Operation *> users(solve->user_begin(), solve->user_end());
      for (size_t i = 0; i < users.size(); ++i) {
        Operation *user = users[i];
        if (isa<arith::TruncFOp, arith::ExtFOp>(user)) {
          users.append(user->user_begin(), user->user_end());
          continue;
        }
        auto product = dyn_cast<linalg::MatmulOp>(user);
        if (product && dependences.dependsOnState(product.getInputs()[1]) &&
            !llvm::is_contained(applications, user))
          applications.push_back(user);
      }
    }
    for (Operation *application : applications)
      ++(succeeded(
             Hoisting(rewriter, op, application).run(ChunkDependences(op)))
             ? numHoisted
             : numLeft);
    for (Operation &inner :
         llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
      if (isOpTriviallyDead(&inner))
        rewriter.eraseOp(&inner);
  }
};
} // namespace
