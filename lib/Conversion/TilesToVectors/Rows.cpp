//===- Rows.cpp - elementwise operations and sums along rows --------------===//

#include "TileEmitter.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace linattn;

namespace {

/// Bytes of a row that one pass over an operation's body takes: four vector
/// registers of an AVX2 machine.
constexpr int64_t kPassBytes = 128;

class RowEmitter : TileEmitter {
public:
  explicit RowEmitter(linalg::LinalgOp op)
      : TileEmitter{OpBuilder(op), op.getLoc()}, op(op), rank(op.getNumLoops()),
        block(op.getBlock()) {}

  bool run() {
    if (!isSupported())
      return false;
    int64_t widest = 8;
    for (Value operand : op->getOperands())
      widest = std::max<int64_t>(
          widest,
          getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth());
    pass = kPassBytes * 8 / widest;
    emitLoops(0);
    return true;
  }

private:
  bool isReduction() {
    return op.getIteratorTypesArray().back() == utils::IteratorType::reduction;
  }

  /// The position of loop `d` in the map's results, if it is there.
  static std::optional<unsigned> position(AffineMap map, unsigned d) {
    return map.getResultPosition(getAffineDimExpr(d, map.getContext()));
  }

  bool isSupported() {
    if (rank == 0)
      return false;
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    for (utils::IteratorType type : ArrayRef(iterators).drop_back())
      if (type != utils::IteratorType::parallel)
        return false;
    columns = op.getStaticLoopRanges().back();
    if (ShapedType::isDynamic(columns) || columns < 2)
      return false;
    for (OpOperand &operand : op->getOpOperands())
      if (!isSupported(operand))
        return false;
    for (Operation &inner : block->without_terminator())
      if (inner.getNumResults() != 1 || inner.getNumRegions() != 0 ||
          !(isa<arith::ConstantOp>(inner) ||
            OpTrait::hasElementwiseMappableTraits(&inner)))
        return false;
    if (!isReduction())
      return true;
    if (op.getNumDpsInits() != 1)
      return false;
    SmallVector<Operation *> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
        combiners.size() != 1)
      return false;
    combiner = combiners[0];
    return linalg::getCombinerOpKind(combiner) &&
           arith::getNeutralElement(combiner);
  }

  bool isSupported(OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation())
      return false;
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      return map.getNumResults() == 0 && op.isDpsInput(&operand);
    std::optional<unsigned> last = position(map, rank - 1);
    bool isResult = op.isDpsInit(&operand);
    if (!last)
      return !isResult || isReduction();
    SmallVector<int64_t> strides;
    int64_t offset;
    return *last + 1 == map.getNumResults() && !(isResult && isReduction()) &&
           !type.getElementType().isInteger(1) &&
           succeeded(type.getStridesAndOffset(strides, offset)) &&
           strides.back() == 1;
  }

  Value bound(unsigned d) {
    int64_t size = op.getStaticLoopRanges()[d];
    if (!ShapedType::isDynamic(size))
      return index(size);
    for (OpOperand &operand : op->getOpOperands())
      if (auto at = position(op.getMatchingIndexingMap(&operand), d))
        return memref::DimOp::create(builder, loc, operand.get(), *at);
    llvm_unreachable("every loop of an operation has an operand");
  }

  void emitLoops(unsigned d) {
    if (d + 1 == rank)
      return emitRow();
    loop(bound(d), 1, [&](Value i) {
      ivs.push_back(i);
      emitLoops(d + 1);
      ivs.pop_back();
    });
  }

  void emitRow() {
    int64_t whole = columns / pass * pass;
    if (isReduction())
      return reduceRow(whole);
    loop(whole, pass, [&](Value j) { emitPass(j, pass, {}); });
    if (columns > whole)
      emitPass(index(whole), columns - whole, {});
  }

  /// Sums in the lanes first, then over the lanes.
  void reduceRow(int64_t whole) {
    OpOperand *result = op.getDpsInitOperand(0);
    Value sum = load(*result, {}, VectorType());
    auto kind = *linalg::getCombinerOpKind(combiner);
    auto reduce = [&](Value lanes) {
      Value part = vector::ReductionOp::create(builder, loc, kind, lanes);
      sum = vector::makeArithReduction(builder, loc, kind, sum, part);
    };
    TypedAttr neutral = *arith::getNeutralElement(combiner);
    auto start = [&](int64_t width) -> Value {
      auto type = VectorType::get({width}, neutral.getType());
      return arith::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(type, neutral));
    };
    if (whole > 0) {
      auto loop = scf::ForOp::create(builder, loc, index(0), index(whole),
                                     index(pass), start(pass));
      {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(loop.getBody());
        Value next =
            emitPass(loop.getInductionVar(), pass, loop.getRegionIterArg(0));
        scf::YieldOp::create(builder, loc, next);
      }
      reduce(loop.getResult(0));
    }
    if (columns > whole)
      reduce(emitPass(index(whole), columns - whole, start(columns - whole)));
    memref::StoreOp::create(builder, loc, sum, result->get(),
                            indices(op.getMatchingIndexingMap(result), {}));
  }

  SmallVector<Value> indices(AffineMap map, Value column) {
    SmallVector<Value> at;
    for (AffineExpr expr : map.getResults()) {
      unsigned d = cast<AffineDimExpr>(expr).getPosition();
      at.push_back(d + 1 == rank ? column : ivs[d]);
    }
    return at;
  }

  /// An operand's vector, its number at every place where it has one for the
  /// whole row, or that number alone without a type.
  Value load(OpOperand &operand, Value column, VectorType type) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Value value = operand.get();
    if (isa<MemRefType>(value.getType())) {
      SmallVector<Value> at = indices(map, column);
      if (type && position(map, rank - 1))
        return vector::LoadOp::create(builder, loc, type, value, at);
      value = memref::LoadOp::create(builder, loc, value, at);
    }
    return type ? vector::BroadcastOp::create(builder, loc, type, value)
                : value;
  }

  /// `width` columns from `column` on; the combined sums of a reduction.
  Value emitPass(Value column, int64_t width, Value sums) {
    IRMapping mapping;
    auto vectorOf = [&](Type element) {
      return VectorType::get({width}, getElementTypeOrSelf(element));
    };
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument arg = op.getMatchingBlockArgument(&operand);
      if (op.isDpsInit(&operand) && sums)
        mapping.map(arg, sums);
      else if (!arg.use_empty())
        mapping.map(arg, load(operand, column, vectorOf(arg.getType())));
    }
    auto lookup = [&](Value value) -> Value {
      if (Value mapped = mapping.lookupOrNull(value))
        return mapped;
      Value splat = vector::BroadcastOp::create(
          builder, loc, vectorOf(value.getType()), value);
      mapping.map(value, splat);
      return splat;
    };
    for (Operation &inner : block->without_terminator()) {
      if (isa<arith::ConstantOp>(inner)) {
        mapping.map(inner.getResult(0),
                    vector::BroadcastOp::create(
                        builder, loc, vectorOf(inner.getResult(0).getType()),
                        builder.clone(inner)->getResult(0)));
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : inner.getOperands())
        operands.push_back(lookup(operand));
      OperationState state(inner.getLoc(), inner.getName(), operands,
                           vectorOf(inner.getResult(0).getType()),
                           inner.getDiscardableAttrDictionary().getValue());
      Operation *vector = builder.create(state);
      vector->copyProperties(inner.getPropertiesStorage());
      mapping.map(inner.getResult(0), vector->getResult(0));
    }
    Operation *yield = block->getTerminator();
    if (sums)
      return lookup(yield->getOperand(0));
    for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
      OpOperand *result = op.getDpsInitOperand(i);
      vector::StoreOp::create(
          builder, loc, lookup(value), result->get(),
          indices(op.getMatchingIndexingMap(result), column));
    }
    return {};
  }

  linalg::LinalgOp op;
  unsigned rank;
  Block *block;
  int64_t columns = 0, pass = 0;
  Operation *combiner = nullptr;
  SmallVector<Value> ivs;
};

} // namespace

bool linattn::emitRows(linalg::LinalgOp op) { return RowEmitter(op).run(); }
