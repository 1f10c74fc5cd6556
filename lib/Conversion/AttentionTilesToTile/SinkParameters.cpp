//===- SinkParameters.cpp - small arithmetic before attention -------------===//
//
// Regions read a number of a tensor from outside, and fill the rows with it. If
// the tensor is no argument, but made of arguments by structured operations,
// one element of it is made in its place, the same in all rows:
//
//   exp(lq . lk)[h]   ->   exp(sum_d lq[h, d] lk[h, d])
//
// A sum over the last dimension of arguments is one over the columns of a tile;
// other sums are written out, if they are short. What has no such form is named
// at the operation that has none.
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

  /// Null if it has no form here; `user` reads it.
  Value element(Value tensor, ArrayRef<Value> at, Operation *user);
  /// Says why there was none.
  LogicalResult refuse() const;

private:
  using Get = llvm::function_ref<Value(OpOperand *operand)>;

  /// Remembers the first reason, which is that of the innermost operation.
  Value fail(Operation *op, const Twine &rule) {
    if (!refused) {
      refused = op;
      reason = rule.str();
    }
    return {};
  }
  Value failOutside(Operation *user, Value number);
  /// An elementwise operation on other operands, of `size` elements.
  Value clone(Operation *op, ValueRange operands, int64_t size);
  Value fill(Value number);
  Value constant(Attribute number, RankedTensorType like);
  Value sumOfColumns(Value columns);
  Value elementOf(linalg::LinalgOp op, ArrayRef<Value> at);
  /// The indices of an operand; none if they are no dimensions.
  FailureOr<SmallVector<Value>> indicesOf(AffineMap map, ArrayRef<Value> dims);
  /// A value of the body of `op`, each argument made by `get`.
  /// It is read by `user`.
  Value evaluate(linalg::LinalgOp op, Value value, Operation *user,
                 int64_t size, Get get);
  Value row(Value tensor, ArrayRef<Value> at, int64_t size);
  Value sumOfRow(linalg::LinalgOp op, ArrayRef<Value> dims, unsigned reduced);
  RankedTensorType typeOf(Type element, int64_t size) {
    return RankedTensorType::get({size}, getElementTypeOrSelf(element));
  }

  OpBuilder &builder;
  Location loc;
  int64_t rows;
  Operation *refused = nullptr;
  std::string reason;
};
} // namespace

LogicalResult ElementBuilder::refuse() const {
  return refused->emitOpError("is no part of a kernel, whose attention reads a "
                              "number per head (lambda) that is made of "
                              "arguments by elementwise operations, linalg "
                              "operations on them, and sums: ")
         << reason << " (an argument with the numbers, or the CPU)";
}

Value ElementBuilder::fill(Value number) {
  Value empty = tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{rows},
                                        number.getType());
  return linalg::FillOp::create(builder, loc, number, empty).getResult(0);
}

Value ElementBuilder::constant(Attribute number, RankedTensorType type) {
  return arith::ConstantOp::create(builder, loc,
                                   DenseElementsAttr::get(type, number));
}

Value ElementBuilder::element(Value tensor, ArrayRef<Value> at,
                              Operation *user) {
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat())
    return constant(dense.getSplatValue<Attribute>(),
                    typeOf(tensor.getType(), rows));
  Attribute number;
  if (!isa<RankedTensorType>(tensor.getType())) {
    if (matchPattern(tensor, m_Constant(&number)))
      return constant(number, typeOf(tensor.getType(), rows));
    return failOutside(user, tensor);
  }
  if (isa<BlockArgument>(tensor))
    return fill(tensor::ExtractOp::create(builder, loc, tensor, at));
  Operation *op = tensor.getDefiningOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return elementOf(structured, at);
  if (dense)
    return fail(op, "a constant is one number throughout, got unequal ones");
  if (!isElementwise(op))
    return fail(op, "got none of these");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(element(operand, at, op));
    if (!operands.back())
      return {};
  }
  return clone(op, operands, rows);
}

/// What is no tensor is known where the kernel is made, or stands in a tensor.
Value ElementBuilder::failOutside(Operation *user, Value number) {
  std::string type;
  llvm::raw_string_ostream(type) << number.getType();
  return fail(user, "numbers from outside are constants or elements of tensors "
                    "that are operands (tensor<" +
                        type + ">), got a value of type " + type);
}

Value ElementBuilder::clone(Operation *op, ValueRange operands, int64_t size) {
  OperationState state(loc, op->getName(), operands,
                       TypeRange{typeOf(op->getResult(0).getType(), size)},
                       op->getAttrs());
  return builder.create(state)->getResult(0);
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

Value ElementBuilder::evaluate(linalg::LinalgOp op, Value value,
                               Operation *user, int64_t size, Get get) {
  Attribute number;
  if (matchPattern(value, m_Constant(&number)))
    return constant(number, typeOf(value.getType(), size));
  auto arg = dyn_cast<BlockArgument>(value);
  if (arg && arg.getOwner() == op.getBlock())
    return get(op.getMatchingOpOperand(arg));
  Operation *inner = value.getDefiningOp();
  if (arg || inner->getBlock() != op.getBlock())
    return failOutside(user, value);
  if (!isElementwise(inner))
    return fail(inner, "got none of these");
  // A number in f64 is there for its digits: it is rounded here.
  FloatAttr wide;
  if (isa<arith::TruncFOp, arith::ExtFOp>(inner) &&
      matchPattern(inner->getOperand(0), m_Constant(&wide)))
    return constant(
        builder.getFloatAttr(value.getType(), wide.getValueAsDouble()),
        typeOf(value.getType(), size));
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands()) {
    operands.push_back(evaluate(op, operand, inner, size, get));
    if (!operands.back())
      return {};
  }
  return clone(inner, operands, size);
}

Value ElementBuilder::elementOf(linalg::LinalgOp op, ArrayRef<Value> at) {
  if (op->getNumResults() != 1 || !op.hasPureTensorSemantics())
    return fail(op, "linalg operations have one result, a tensor");
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<Value> dims(sizes.size());
  OpOperand *init = op.getDpsInitOperand(0);
  for (auto [expr, index] :
       llvm::zip(op.getMatchingIndexingMap(init).getResults(), at)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return fail(op, "indexing maps have dimensions alone");
    dims[dim.getPosition()] = index;
  }
  SmallVector<unsigned> reduced;
  int64_t terms = 1;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (dim)
      continue;
    if (ShapedType::isDynamic(sizes[i]))
      return fail(op, "sums have a static size, got '?'");
    reduced.push_back(i);
    terms *= sizes[i];
  }
  if (reduced.size() == 1) {
    // What is no such sum may be written out.
    auto before = std::pair(refused, reason);
    if (Value sum = sumOfRow(op, dims, reduced.front())) {
      Value first = element(init->get(), at, op);
      return first ? builder.createOrFold<arith::AddFOp>(loc, sum, first)
                   : Value();
    }
    std::tie(refused, reason) = before;
  }
  if (terms > kMaxTerms)
    return fail(op, "sums are over the last dimension of arguments, or of at "
                    "most " +
                        Twine(kMaxTerms) + " terms, got " + Twine(terms));

  Value sum;
  for (int64_t term = 0; term < terms; ++term) {
    int64_t rest = term;
    for (unsigned dim : llvm::reverse(reduced)) {
      dims[dim] =
          arith::ConstantIndexOp::create(builder, loc, rest % sizes[dim]);
      rest /= sizes[dim];
    }
    Operation *yield = op.getBlock()->getTerminator();
    Value next =
        evaluate(op, yield->getOperand(0), yield, rows,
                 [&](OpOperand *operand) -> Value {
                   if (operand == init && sum)
                     return sum;
                   auto indices =
                       indicesOf(op.getMatchingIndexingMap(operand), dims);
                   return failed(indices)
                              ? fail(op, "indexing maps have dimensions alone")
                              : element(operand->get(), *indices, op);
                 });
    if (!next)
      return {};
    sum = next;
  }
  return sum;
}

/// tensor[at, ..], of arguments and elementwise operations on them.
Value ElementBuilder::row(Value tensor, ArrayRef<Value> at, int64_t size) {
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat())
    return constant(dense.getSplatValue<Attribute>(),
                    typeOf(tensor.getType(), size));
  if (isa<BlockArgument>(tensor)) {
    SmallVector<OpFoldResult> offsets(at.begin(), at.end());
    SmallVector<OpFoldResult> extents(at.size(), builder.getIndexAttr(1));
    offsets.push_back(builder.getIndexAttr(0));
    extents.push_back(builder.getIndexAttr(size));
    SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
    return tensor::ExtractSliceOp::create(builder, loc,
                                          typeOf(tensor.getType(), size),
                                          tensor, offsets, extents, strides);
  }
  Operation *op = tensor.getDefiningOp();
  if (!isElementwise(op))
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isTensor = isa<RankedTensorType>(operand.getType());
    operands.push_back(isTensor ? row(operand, at, size) : Value());
    if (!operands.back())
      return {};
  }
  return clone(op, operands, size);
}

/// sum_d f(x[.., d], ..) without what it is added to, where all x are
/// rows; null if the operation is something else.
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
      op, add.getLhs() == sum ? add.getRhs() : add.getLhs(), add, size,
      [&](OpOperand *operand) -> Value {
        AffineMap map = op.getMatchingIndexingMap(operand);
        if (map.getNumResults() == 0 ||
            map.getResult(map.getNumResults() - 1) !=
                builder.getAffineDimExpr(reduced))
          return {};
        auto outer = indicesOf(map.dropResult(map.getNumResults() - 1), dims);
        return failed(outer) ? Value() : row(operand->get(), *outer, size);
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

LogicalResult linattn::attention_to_tile::sinkParameters(AttentionTilesOp op) {
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
      Value rows =
          elements.element(extract.getTensor(),
                           SmallVector<Value>(extract.getIndices()), extract);
      if (!rows)
        return elements.refuse();
      fill.getResult(0).replaceAllUsesWith(rows);
    }
    eraseDead(block);
  }
  eraseDead(op->getBlock());
  return success();
}
