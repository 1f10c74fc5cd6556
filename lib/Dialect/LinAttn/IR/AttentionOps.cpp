//===- AttentionOps.cpp - softmax and differential attention --------------===//

#include "StepVerifier.h"

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace linattn;

/// Head count and width of a query, key or value operand.
static int64_t headsOf(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return type.getDimSize(type.getRank() - 2);
}
static int64_t widthOf(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return type.getDimSize(type.getRank() - 1);
}

static bool agree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

/// Labels of the constraints that both attention operations have.
namespace {
struct Labels {
  StringRef rank, widths, sizes, numbers, region, seqlens;
};
} // namespace

/// f64 for f64 queries, else f32: the arithmetic of the scores.
template <typename OpTy> static Type scoreType(OpTy op) {
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  return element.isF64() ? element : Type(Float32Type::get(op.getContext()));
}

/// The constraints common to both operations.
template <typename OpTy>
static LogicalResult verifyCommon(OpTy op, const Labels &labels) {
  int64_t rank = op.isPacked() ? 3 : 4;
  std::pair<StringRef, Value> operands[] = {
      {"query", op.getQuery()}, {"key", op.getKey()}, {"value", op.getValue()}};
  for (auto [name, value] : operands) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getRank() != rank)
      return op.emitOpError()
             << "(" << labels.rank << ") the " << name << " has rank " << rank
             << (op.isPacked() ? " with" : " without") << " seqlens, got "
             << type;
    for (int64_t d = rank - 2; d < rank; ++d)
      if (type.isDynamicDim(d) || type.getDimSize(d) < 1 ||
          type.getDimSize(d) > (d == rank - 2 ? kMaxHeads : kMaxVectorElements))
        return op.emitOpError() << "(" << labels.widths << ") the " << name
                                << " has static heads and width from 1 to "
                                << kMaxHeads << ", got " << type;
  }
  if (widthOf(op.getQuery()) != widthOf(op.getKey()))
    return op.emitOpError()
           << "(" << labels.widths
           << ") query and key have the same width, got "
           << widthOf(op.getQuery()) << " and " << widthOf(op.getKey());
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  auto key = cast<RankedTensorType>(op.getKey().getType());
  auto value = cast<RankedTensorType>(op.getValue().getType());
  if (!op.isPacked() && (!agree(query.getDimSize(0), key.getDimSize(0)) ||
                         !agree(key.getDimSize(0), value.getDimSize(0)) ||
                         !agree(query.getDimSize(0), value.getDimSize(0))))
    return op.emitOpError() << "(" << labels.sizes
                            << ") query, key and value have the same B, got "
                            << query << ", " << key << ", " << value;
  if (!agree(key.getDimSize(rank - 3), value.getDimSize(rank - 3)))
    return op.emitOpError()
           << "(" << labels.sizes << ") key and value have the same S, got "
           << key.getDimSize(rank - 3) << " and " << value.getDimSize(rank - 3);
  if (op.getWindow() && (*op.getWindow() < 1 || *op.getWindow() > kMaxWindow))
    return op.emitOpError()
           << "(" << labels.numbers << ") the window is from 1 to "
           << kMaxWindow << ", got " << *op.getWindow();
  Type compute = scoreType(op);
  if (op.getScale() && !isFiniteIn(*op.getScale(), compute))
    return op.emitOpError()
           << "(" << labels.numbers << ") the scale is finite in "
           << (compute.isF64() ? "f64" : "f32") << ", got "
           << op.getScaleAttr();
  for (Value offsets : {op.getSeqlens(), op.getKvSeqlens()}) {
    if (!offsets)
      continue;
    auto type = cast<RankedTensorType>(offsets.getType());
    if (type.getRank() != 1 || type.getDimSize(0) == 0)
      return op.emitOpError()
             << "(" << labels.seqlens
             << ") seqlens and kv_seqlens are [N + 1], got " << type;
  }
  if (op.getKvSeqlens() && !op.getSeqlens())
    return op.emitOpError()
           << "(" << labels.seqlens << ") kv_seqlens asks for seqlens";
  if (op.getKvSeqlens() &&
      !agree(cast<RankedTensorType>(op.getSeqlens().getType()).getDimSize(0),
             cast<RankedTensorType>(op.getKvSeqlens().getType()).getDimSize(0)))
    return op.emitOpError() << "(" << labels.seqlens
                            << ") seqlens and kv_seqlens have the same N, got "
                            << op.getSeqlens().getType() << " and "
                            << op.getKvSeqlens().getType();
  if (op.isPacked() && !op.getKvSeqlens() &&
      !agree(query.getDimSize(0), key.getDimSize(0)))
    return op.emitOpError()
           << "(" << labels.sizes
           << ") without kv_seqlens packed queries and keys are as many, got "
           << query.getDimSize(0) << " and " << key.getDimSize(0);
  return success();
}

template <typename OpTy>
static LogicalResult verifyScore(OpTy op, StringRef label) {
  Region &region = op.getScore();
  if (region.empty())
    return success();
  Block &block = region.front();
  Type want = scoreType(op);
  Type index = IndexType::get(op.getContext());
  SmallVector<Type> types = {want, index, index, index, index};
  if (!llvm::equal(block.getArgumentTypes(), types))
    return op.emitOpError()
           << "(" << label << ") the score region takes (" << types
           << "), got (" << block.getArgumentTypes() << ")";
  auto yield = dyn_cast_or_null<YieldOp>(
      block.mightHaveTerminator() ? block.getTerminator() : nullptr);
  if (!yield || yield.getNumOperands() != 1 ||
      yield.getOperand(0).getType() != want)
    return op.emitOpError()
           << "(" << label << ") the score region yields one " << want;
  return verifyStepOperations(block, label, "score region",
                              /*allowStates=*/false);
}

/// [B, T] of the query, then `tail`.
static SmallVector<int64_t> withRows(RankedTensorType query,
                                     ArrayRef<int64_t> tail) {
  SmallVector<int64_t> shape(query.getShape().drop_back(2));
  llvm::append_range(shape, tail);
  return shape;
}

static bool fits(RankedTensorType type, ArrayRef<int64_t> shape) {
  return type.getRank() == (int64_t)shape.size() &&
         llvm::all_of_zip(type.getShape(), shape, agree);
}

template <typename OpTy> static double effectiveScale(OpTy op) {
  if (op.getScale())
    return op.getScale()->convertToDouble();
  return 1.0 / std::sqrt((double)widthOf(op.getQuery()));
}

static void nameScoreArguments(Region &region,
                               llvm::function_ref<void(Value, StringRef)> set) {
  if (region.empty() || region.getNumArguments() != 5)
    return;
  StringRef names[] = {"s", "b", "h", "t", "j"};
  for (auto [arg, name] : llvm::zip_equal(region.getArguments(), names))
    set(arg, name);
}

/// [B, T] of the query as values, then the static `tail`.
static SmallVector<OpFoldResult> reifyRows(OpBuilder &builder, Location loc,
                                           Value query,
                                           ArrayRef<int64_t> tail) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, query);
  sizes.resize(sizes.size() - 2);
  for (int64_t size : tail)
    sizes.push_back(builder.getIndexAttr(size));
  return sizes;
}

//===----------------------------------------------------------------------===//
// SoftmaxAttentionOp
//===----------------------------------------------------------------------===//

double SoftmaxAttentionOp::getEffectiveScale() { return effectiveScale(*this); }

void SoftmaxAttentionOp::getAsmBlockArgumentNames(Region &region,
                                                  OpAsmSetValueNameFn setName) {
  nameScoreArguments(region, setName);
}

LogicalResult SoftmaxAttentionOp::verify() {
  if (failed(verifyCommon(*this,
                          {"softmax_attention_c1", "softmax_attention_c2",
                           "softmax_attention_c4", "softmax_attention_c6",
                           "softmax_attention_c7", "softmax_attention_c8"})))
    return failure();
  int64_t heads = headsOf(getQuery()), keyHeads = headsOf(getKey());
  if (keyHeads != headsOf(getValue()))
    return emitOpError()
           << "(softmax_attention_c2) key and value have the same "
              "heads, got "
           << keyHeads << " and " << headsOf(getValue());
  if (heads % keyHeads != 0)
    return emitOpError()
           << "(softmax_attention_c3) the key heads divide the query "
              "heads, "
           << heads << ", got " << keyHeads;
  auto query = cast<RankedTensorType>(getQuery().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  SmallVector<int64_t> want = withRows(query, {heads, widthOf(getValue())});
  if (!fits(result, want))
    return emitOpError() << "(softmax_attention_c5) the result is "
                         << RankedTensorType::get(want, result.getElementType())
                         << ", got " << result;
  if (Value lse = getLse()) {
    auto type = cast<RankedTensorType>(lse.getType());
    SmallVector<int64_t> wantLse = withRows(query, {heads});
    if (!fits(type, wantLse) || type.getElementType() != scoreType(*this))
      return emitOpError() << "(softmax_attention_c5) the log-sum-exp is "
                           << RankedTensorType::get(wantLse, scoreType(*this))
                           << ", got " << type;
  }
  return success();
}

LogicalResult SoftmaxAttentionOp::verifyRegions() {
  return verifyScore(*this, "softmax_attention_c7");
}

LogicalResult
SoftmaxAttentionOp::reifyResultShapes(OpBuilder &builder,
                                      ReifiedRankedShapedTypeDims &reified) {
  int64_t heads = headsOf(getQuery());
  reified.push_back(
      reifyRows(builder, getLoc(), getQuery(), {heads, widthOf(getValue())}));
  if (getLse())
    reified.push_back(reifyRows(builder, getLoc(), getQuery(), {heads}));
  return success();
}

//===----------------------------------------------------------------------===//
// DiffAttentionOp
//===----------------------------------------------------------------------===//

double DiffAttentionOp::getEffectiveScale() { return effectiveScale(*this); }

int64_t DiffAttentionOp::getNumHeads() { return headsOf(getQuery()) / 2; }

void DiffAttentionOp::getAsmBlockArgumentNames(Region &region,
                                               OpAsmSetValueNameFn setName) {
  nameScoreArguments(region, setName);
}

LogicalResult DiffAttentionOp::verify() {
  if (failed(verifyCommon(*this, {"diff_attention_c1", "diff_attention_c2",
                                  "diff_attention_c4", "diff_attention_c8",
                                  "diff_attention_c9", "diff_attention_c10"})))
    return failure();
  int64_t queryHeads = headsOf(getQuery());
  int64_t keyHeads = headsOf(getKey()), valueHeads = headsOf(getValue());
  bool v1 = getVersion() == DiffVersion::V1;
  if (queryHeads % 2 != 0)
    return emitOpError() << "(diff_attention_c2) the query heads are even, got "
                         << queryHeads;
  int64_t heads = queryHeads / 2;
  if (keyHeads != (v1 ? 2 : 1) * valueHeads)
    return emitOpError() << "(diff_attention_c3) the key heads are "
                         << (v1 ? "twice the value heads" : "the value heads")
                         << ", " << (v1 ? 2 : 1) * valueHeads << ", got "
                         << keyHeads;
  if (heads % valueHeads != 0)
    return emitOpError()
           << "(diff_attention_c3) the value heads divide half of "
              "the query heads, "
           << heads << ", got " << valueHeads;
  auto query = cast<RankedTensorType>(getQuery().getType());
  auto lambda = cast<RankedTensorType>(getLambda().getType());
  bool scalar = lambda.getRank() == 0;
  bool perHead = lambda.getRank() == 1 && lambda.getDimSize(0) == heads;
  if (!scalar && !perHead && !fits(lambda, withRows(query, {heads})))
    return emitOpError() << "(diff_attention_c5) lambda is a scalar, [H] or "
                         << "[B, T, H] (packed [T, H]) with H = " << heads
                         << ", got " << lambda;
  auto result = cast<RankedTensorType>(getResult().getType());
  SmallVector<int64_t> want = withRows(query, {heads, widthOf(getValue())});
  if (!fits(result, want))
    return emitOpError() << "(diff_attention_c6) the result is "
                         << RankedTensorType::get(want, result.getElementType())
                         << ", got " << result;
  if (Value norm = getNorm()) {
    auto type = cast<RankedTensorType>(norm.getType());
    if (!v1)
      return emitOpError("(diff_attention_c7) norm belongs to v1, got v2");
    if (type.getRank() != 1 || type.getDimSize(0) != widthOf(getValue()))
      return emitOpError()
             << "(diff_attention_c7) the norm weight is [Dv], Dv = "
             << widthOf(getValue()) << ", got " << type;
  }
  double eps = getEps().convertToDouble();
  Type compute = scoreType(*this);
  if (!isFiniteIn(getEps(), compute) || eps < 0)
    return emitOpError()
           << "(diff_attention_c7) eps is finite and not negative, got " << eps;
  // What is not given is 1e-5.
  if (!getNorm() && eps != 1e-5)
    return emitOpError() << "(diff_attention_c7) eps belongs to a norm, got "
                         << eps << " without one";
  if (getOutputScale() && !isFiniteIn(*getOutputScale(), compute))
    return emitOpError() << "(diff_attention_c8) output_scale is finite in "
                         << (compute.isF64() ? "f64" : "f32") << ", got "
                         << getOutputScaleAttr();
  return success();
}

LogicalResult DiffAttentionOp::verifyRegions() {
  return verifyScore(*this, "diff_attention_c9");
}

LogicalResult
DiffAttentionOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &reified) {
  reified.push_back(reifyRows(builder, getLoc(), getQuery(),
                              {getNumHeads(), widthOf(getValue())}));
  return success();
}
