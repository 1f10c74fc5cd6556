//===- DimClasses.cpp - which dimensions of a chunk are the same ----------===//

#include "DimClasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

static int64_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

void linattn::chunked_to_tile::separateUses(ChunkedOp op) {
  // Users first, so that the copies of a broadcast get constants of their own.
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(*op.getBlock()))) {
    if (!inner.hasTrait<OpTrait::ConstantLike>() &&
        !isa<tensor::EmptyOp, linalg::BroadcastOp>(inner))
      continue;
    OpBuilder builder(&inner);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : inner.getUses())
      uses.push_back(&use);
    for (OpOperand *use : llvm::drop_begin(uses, uses.empty() ? 0 : 1))
      use->set(builder.clone(inner)->getResult(0));
  }
}

void linattn::chunked_to_tile::foldFills(ChunkedOp op) {
  for (auto fill :
       llvm::make_early_inc_range(op.getBlock()->getOps<linalg::FillOp>())) {
    Attribute value;
    if (!matchPattern(fill.getInputs()[0], m_Constant(&value)))
      continue;
    OpBuilder builder(fill);
    auto type = cast<RankedTensorType>(fill->getResult(0).getType());
    fill->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(
        builder, fill.getLoc(), DenseElementsAttr::get(type, value)));
    fill.erase();
  }
  // The numbers that they were filled with.
  for (auto constant :
       llvm::make_early_inc_range(op.getBlock()->getOps<arith::ConstantOp>()))
    if (constant->use_empty() && !isa<TensorType>(constant.getType()))
      constant.erase();
}

DimClasses::DimClasses(ChunkedOp op) {
  Block &block = *op.getBlock();
  for (BlockArgument arg : block.getArguments())
    for (int64_t dim : llvm::seq(rankOf(arg)))
      number(arg, dim);
  for (Operation &inner : block)
    relate(inner);
  for (auto [dimNumber, by] : mixed)
    mixers[classes.findLeader(dimNumber)].push_back(by);
  for (Value state : op.getStateArgs())
    columns.insert(get(state, 1));
}

unsigned DimClasses::number(Value value, unsigned dim) const {
  auto [it, isNew] = first.try_emplace(value, count);
  if (isNew) {
    count += rankOf(value);
    classes.grow(count);
  }
  return it->second + dim;
}

unsigned DimClasses::get(Value value, unsigned dim) const {
  return classes.findLeader(number(value, dim));
}

void DimClasses::join(Value a, unsigned dimA, Value b, unsigned dimB) {
  unsigned x = number(a, dimA), y = number(b, dimB);
  classes.join(x, y);
}

void DimClasses::mix(Value value, unsigned dim, Operation *by) {
  mixed.push_back({number(value, dim), by});
}

void DimClasses::relate(Operation &op) {
  auto same = [&](Value a, Value b) {
    for (int64_t dim : llvm::seq(std::min(rankOf(a), rankOf(b))))
      join(a, dim, b, dim);
  };
  if (auto linalgOp = dyn_cast<DestinationStyleOpInterface>(op))
    for (auto [init, result] :
         llvm::zip(linalgOp.getDpsInits(), op.getResults()))
      same(init, result);

  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](linalg::MatmulOp matmul) {
        Value a = matmul.getInputs()[0], b = matmul.getInputs()[1];
        Value d = matmul->getResult(0);
        join(a, 0, d, 0);
        join(b, 1, d, 1);
        join(a, 1, b, 0);
        mix(a, 1, &op);
      })
      .Case([&](linalg::BroadcastOp broadcast) {
        Value input = broadcast.getInput(), result = broadcast->getResult(0);
        int64_t next = 0;
        for (int64_t dim : llvm::seq(rankOf(result)))
          if (!llvm::is_contained(broadcast.getDimensions(), dim))
            join(input, next++, result, dim);
      })
      .Case([&](linalg::TransposeOp transpose) {
        for (auto [i, from] : llvm::enumerate(transpose.getPermutation()))
          join(transpose.getInput(), from, transpose->getResult(0), i);
      })
      .Case([&](linalg::ReduceOp reduce) {
        for (auto [input, result] :
             llvm::zip(reduce.getInputs(), reduce->getResults())) {
          int64_t next = 0;
          for (int64_t dim : llvm::seq(rankOf(input))) {
            if (llvm::is_contained(reduce.getDimensions(), dim))
              mix(input, dim, &op);
            else
              join(input, dim, result, next++);
          }
        }
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        unsigned next = 0;
        for (int64_t dim : llvm::seq(rankOf(slice.getSource()))) {
          if (dropped.test(dim))
            continue;
          if (slice.getSourceType().getDimSize(dim) ==
              slice.getType().getDimSize(next))
            join(slice.getSource(), dim, slice.getResult(), next);
          ++next;
        }
      })
      .Case([&](DecayProductOp product) {
        join(product.getX(), 1, product.getY(), 1);
        mix(product.getX(), 1, &op);
        if (product.isVectorDecay())
          join(product.getX(), 1, product.getGate(), 1);
        join(product.getX(), 0, product.getResult(), 0);
        join(product.getY(), 0, product.getResult(), 1);
        mix(product.getX(), 0, &op);
        mix(product.getY(), 0, &op);
      })
      .Case([&](DecayScanOp scan) {
        mix(scan.getGate(), 0, &op);
        if (!scan.isVectorDecay())
          return;
        bool whole = scan.getSpan() == DecaySpan::StartToEnd;
        join(scan.getGate(), 1, scan.getResult(), whole ? 0 : 1);
      })
      .Case([&](UnitLowerSolveOp solve) {
        Value result = solve.getResult();
        bool stacked = rankOf(result) == 3;
        for (Value matrix : solve.getMatrices()) {
          mix(matrix, 0, &op);
          mix(matrix, 1, &op);
          join(matrix, 0, result, stacked ? 1 : 0);
        }
        if (solve.isInverse())
          same(solve.getMatrices()[0], result);
        else
          same(solve.getRhs(), result);
        for (Value rate : solve.getRates())
          same(rate, result);
      })
      .Case([&](tensor::InsertSliceOp insert) {
        // One of the matrices of a stack.
        if (rankOf(insert.getResult()) != 3 || rankOf(insert.getSource()) != 2)
          return;
        same(insert.getDest(), insert.getResult());
        for (int64_t dim : {0, 1})
          join(insert.getSource(), dim, insert.getResult(), dim + 1);
      })
      .Default([&](Operation *other) {
        if (!OpTrait::hasElementwiseMappableTraits(other))
          return;
        Value result = other->getResult(0);
        for (Value operand : other->getOperands())
          if (rankOf(operand) == rankOf(result))
            same(operand, result);
      });
}
