//===- SinkParameters.cpp - small arithmetic before attention -------------===//
//
// Regions read a number of a tensor from outside, and fill the rows with it. If
// the tensor is no argument, but made of arguments by structured operations,
// one element of it is made in its place, the same in all rows:
//
//   exp(lq . lk)[h]   ->   exp(sum_d lq[h, d] lk[h, d])
//
// A sum over the last dimension of arguments is one over the columns of a tile;
// other sums are written out, if they are short.
//
//===----------------------------------------------------------------------===//

#include "SinkParameters.h"

#include "RegionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

/// Terms of a sum that is written out.
static constexpr int64_t kMaxTerms = 64;

namespace {
/// Makes one element of tensors, in every row.
class ElementBuilder {
public:
  ElementBuilder(OpBuilder &builder, Location loc, int64_t rows)
      : builder(builder), loc(loc), rows(rows) {}

  /// Null if it has no form here.
  Value element(Value tensor, ArrayRef<Value> at);

private:
  using Get = llvm::function_ref<Value(OpOperand *operand)>;

  Value fill(Value number);
  Value constant(Attribute number, RankedTensorType like);
  Value sumOfColumns(Value columns);
  Value elementOf(linalg::LinalgOp op, ArrayRef<Value> at);
  /// The indices of an operand; none if they are no dimensions.
  FailureOr<SmallVector<Value>> indicesOf(AffineMap map, ArrayRef<Value> dims);
  /// A value of the body of `op`, each argument made by `get`.
  Value evaluate(linalg::LinalgOp op, Value value, int64_t size, Get get);
  Value sumOfRow(linalg::LinalgOp op, ArrayRef<Value> dims, unsigned reduced);
  RankedTensorType typeOf(Type element, int64_t size) {
    return RankedTensorType::get({size}, getElementTypeOrSelf(element));
  }

  OpBuilder &builder;
  Location loc;
  int64_t rows;
};
} // namespace

Value ElementBuilder::fill(Value number) {
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{rows},
                                        number.getType());
  return linalg::FillOp::create(builder, loc, number, empty).getResult(0);
}

Value ElementBuilder::constant(Attribute number, RankedTensorType type) {
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, number));
}

Value ElementBuilder::element(Value tensor, ArrayRef<Value> at) {
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat())
    return constant(dense.getSplatValue<Attribute>(),
                    typeOf(tensor.getType(), rows));
  Attribute number;
  if (!isa<RankedTensorType>(tensor.getType()))
    return matchPattern(tensor, m_Constant(&number))
               ? constant(number, typeOf(tensor.getType(), rows))
               : Value();
  if (isa<BlockArgument>(tensor))
    return fill(tensor::ExtractOp::create(builder, loc, tensor, at));
  if (auto op = tensor.getDefiningOp<linalg::LinalgOp>())
    return elementOf(op, at);
  return {};
}

FailureOr<SmallVector<Value>> ElementBuilder::indicesOf(AffineMap map,
                                                        ArrayRef<Value> dims) {
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || !dims[dim.getPosition()])
      return failure();
    indices.push_back(dims[dim.getPosition()]);
  }
  return indices;
}

Value ElementBuilder::evaluate(linalg::LinalgOp op, Value value, int64_t size,
                               Get get) {
  Attribute number;
  if (matchPattern(value, m_Constant(&number)))
    return constant(number, typeOf(value.getType(), size));
  if (auto arg = dyn_cast<BlockArgument>(value))
    return arg.getOwner() == op.getBlock() ? get(op.getMatchingOpOperand(arg))
                                           : Value();
  Operation *inner = value.getDefiningOp();
  if (inner->getBlock() != op.getBlock() || !isElementwise(inner))
    return {};
  // A number in f64 is there for its digits: it is rounded here.
  FloatAttr wide;
  if (isa<arith::TruncFOp, arith::ExtFOp>(inner) &&
      matchPattern(inner->getOperand(0), m_Constant(&wide)))
    return constant(
        builder.getFloatAttr(value.getType(), wide.getValueAsDouble()),
        typeOf(value.getType(), size));
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands()) {
    operands.push_back(evaluate(op, operand, size, get));
    if (!operands.back())
      return {};
  }
  OperationState state(loc, inner->getName(), operands,
                       TypeRange{typeOf(value.getType(), size)},
                       inner->getAttrs());
  return builder.create(state)->getResult(0);
}

Value ElementBuilder::elementOf(linalg::LinalgOp op, ArrayRef<Value> at) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics())
    return {};
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<Value> dims(sizes.size());
  OpOperand *init = op.getDpsInitOperand(0);
  for (auto [expr, index] :
       llvm::zip(op.getMatchingIndexingMap(init).getResults(), at)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return {};
    dims[dim.getPosition()] = index;
  }
  SmallVector<unsigned> reduced;
  int64_t terms = 1;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim)
      continue;
    if (ShapedType::isDynamic(sizes[i]))
      return {};
    reduced.push_back(i);
    terms *= sizes[i];
  }
  if (reduced.size() == 1)
    if (Value sum = sumOfRow(op, dims, reduced.front())) {
      Value first = element(init->get(), at);
      return first ? builder.createOrFold<arith::AddFOp>(loc, sum, first)
                   : Value();
    }
  if (terms > kMaxTerms)
    return {};

  Value sum;
  for (int64_t term = 0; term < terms; ++term) {
    int64_t rest = term;
    for (unsigned dim : llvm::reverse(reduced)) {
      dims[dim] =
          arith::ConstantIndexOp::create(builder, loc, rest % sizes[dim]);
      rest /= sizes[dim];
    }
    Value next = evaluate(
        op, op.getBlock()->getTerminator()->getOperand(0), rows,
        [&](OpOperand *operand) -> Value {
          if (operand == init && sum)
            return sum;
          auto indices = indicesOf(op.getMatchingIndexingMap(operand), dims);
          return failed(indices) ? Value() : element(operand->get(), *indices);
        });
    if (!next)
      return {};
    sum = next;
  }
  return sum;
}

/// sum_d f(x[.., d], ..) without what it is added to, where all x are
/// arguments; null if the operation is something else.
Value ElementBuilder::sumOfRow(linalg::LinalgOp op, ArrayRef<Value> dims,
                               unsigned reduced) {
  Block *body = op.getBlock();
  Value sum = body->getArguments().back();
  auto add =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || !sum.hasOneUse() || !add.getType().isF32() ||
      (add.getLhs() != sum && add.getRhs() != sum))
    return {};
  int64_t size = op.getStaticLoopRanges()[reduced];
  Value terms = evaluate(
      op, add.getLhs() == sum ? add.getRhs() : add.getLhs(), size,
      [&](OpOperand *operand) -> Value {
        AffineMap map = op.getMatchingIndexingMap(operand);
        auto arg = dyn_cast<BlockArgument>(operand->get());
        if (!arg || map.getNumResults() == 0 ||
            map.getResult(map.getNumResults() - 1) !=
                builder.getAffineDimExpr(reduced))
          return {};
        auto outer = indicesOf(map.dropResult(map.getNumResults() - 1), dims);
        if (failed(outer))
          return {};
        SmallVector<OpFoldResult> offsets(outer->begin(), outer->end());
        SmallVector<OpFoldResult> extents(offsets.size(),
                                          builder.getIndexAttr(1));
        offsets.push_back(builder.getIndexAttr(0));
        extents.push_back(builder.getIndexAttr(size));
        SmallVector<OpFoldResult> strides(offsets.size(),
                                          builder.getIndexAttr(1));
        return tensor::ExtractSliceOp::create(builder, loc,
                                              typeOf(arg.getType(), size), arg,
                                              offsets, extents, strides);
      });
  return terms ? sumOfColumns(terms) : Value();
}

/// The sum of a vector's elements, in every row.
Value ElementBuilder::sumOfColumns(Value columns) {
  auto type = cast<RankedTensorType>(columns.getType());
  Value matrix = tensor::EmptyOp::create(
      builder, loc, ArrayRef<int64_t>{rows, type.getDimSize(0)},
      type.getElementType());
  matrix = linalg::BroadcastOp::create(builder, loc, columns, matrix,
                                       ArrayRef<int64_t>{0})
               ->getResult(0);
  Value zero = constant(builder.getFloatAttr(type.getElementType(), 0),
                        typeOf(type, rows));
  return linalg::ReduceOp::create(
             builder, loc, matrix, zero, ArrayRef<int64_t>{1},
             [](OpBuilder &b, Location loc, ValueRange args) {
               Value sum = arith::AddFOp::create(b, loc, args[0], args[1]);
               linalg::YieldOp::create(b, loc, sum);
             })
      ->getResult(0);
}

static void eraseDead(Block *block) {
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

void linattn::attention_to_tile::sinkParameters(AttentionTilesOp op) {
  OpBuilder builder(op);
  for (Block *block : {op.getStepBlock(), op.getFinishBlock()}) {
    for (auto fill :
         llvm::make_early_inc_range(block->getOps<linalg::FillOp>())) {
      auto extract = fill.getInputs()[0].getDefiningOp<tensor::ExtractOp>();
      auto type = cast<RankedTensorType>(fill.getResult(0).getType());
      if (!extract || isa<BlockArgument>(extract.getTensor()) ||
          type.getRank() != 1)
        continue;
      builder.setInsertionPoint(fill);
      ElementBuilder elements(builder, fill.getLoc(), type.getDimSize(0));
      if (Value rows = elements.element(
              extract.getTensor(), SmallVector<Value>(extract.getIndices())))
        fill.getResult(0).replaceAllUsesWith(rows);
    }
    eraseDead(block);
  }
  eraseDead(op->getBlock());
}
