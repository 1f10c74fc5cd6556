//===- ElementBody.cpp - code per element as code on fragments ------------===//
//
// The body of a linalg.generic computes with numbers of one element. Here each
// of them is a fragment of all elements, or one scalar where it is the same for
// all. Indices are i32 in fragments: they count rows and columns.
//
// A table that the body reads is a tile of memory, a vector of it, or a number,
// if its place moves along one dimension with the rows and along another with
// the columns.
//
//===----------------------------------------------------------------------===//

#include "RegionEmitter.h"

#include "linattn/Dialect/Tile/IR/Layouts.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

namespace {
/// An index of an element: what is the same for all, and how often the row and
/// the column count.
struct Place {
  SmallVector<Value> terms;
  int64_t rows = 0, columns = 0;

  bool isUniform() const { return rows == 0 && columns == 0; }
};
} // namespace

/// Beyond the allowed pairs a body reads place 0: tiles of memory end there.
static Value stripSelect(Value index) {
  auto select = index.getDefiningOp<arith::SelectOp>();
  if (select && matchPattern(select.getFalseValue(), m_Zero()) &&
      isa<BlockArgument>(select.getCondition()))
    return select.getTrueValue();
  return index;
}

static std::optional<Place> findPlace(linalg::GenericOp generic, Value index) {
  index = stripSelect(index);
  Operation *inner = index.getDefiningOp();
  if (index.getParentBlock() != generic.getBody())
    return Place{{index}, 0, 0};
  if (!inner)
    return std::nullopt;
  if (auto of = dyn_cast<linalg::IndexOp>(inner))
    return of.getDim() == 0 ? Place{{}, 1, 0} : Place{{}, 0, 1};
  if (isa<arith::ConstantOp>(inner))
    return Place{{index}, 0, 0};
  if (!isa<arith::AddIOp>(inner))
    return std::nullopt;
  auto a = findPlace(generic, inner->getOperand(0));
  auto b = findPlace(generic, inner->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  a->rows += b->rows;
  a->columns += b->columns;
  llvm::append_range(a->terms, b->terms);
  return a;
}

namespace {
/// Where a table is read.
struct TablePlaces {
  SmallVector<Place> places;
  /// The dimensions along which rows and columns go.
  std::optional<int64_t> rowDim, columnDim;
};
} // namespace

static std::optional<TablePlaces> findPlaces(linalg::GenericOp generic,
                                             tensor::ExtractOp extract) {
  TablePlaces result;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    std::optional<Place> place = findPlace(generic, index);
    if (!place || place->rows + place->columns > 1)
      return std::nullopt;
    for (auto [count, slot] : {std::pair(place->rows, &result.rowDim),
                               std::pair(place->columns, &result.columnDim)}) {
      if (count == 0)
        continue;
      if (*slot)
        return std::nullopt;
      *slot = dim;
    }
    result.places.push_back(*place);
  }
  return result;
}

/// The type of a value of all elements.
static Type elementTypeOf(Value value) {
  Type type = value.getType();
  return type.isIndex() ? IntegerType::get(type.getContext(), 32) : type;
}

class RegionEmitter::ElementBody {
public:
  ElementBody(RegionEmitter &emitter, linalg::GenericOp generic)
      : emitter(emitter), builder(emitter.builder), loc(generic.getLoc()),
        generic(generic),
        matrix(emitter.fragmentTypeOf(generic->getResult(0))) {}

  Value run() {
    for (auto [arg, input] :
         llvm::zip(generic.getBody()->getArguments(), generic.getInputs()))
      inputs[arg] = input;
    return get(generic.getBody()->getTerminator()->getOperand(0));
  }

private:
  /// Whether the value is the same for all elements.
  bool isUniform(Value value) {
    if (value.getParentBlock() != generic.getBody())
      return true;
    Operation *inner = value.getDefiningOp();
    if (!inner || isa<linalg::IndexOp>(inner))
      return false;
    return llvm::all_of(inner->getOperands(),
                        [&](Value operand) { return isUniform(operand); });
  }

  Value get(Value value) {
    if (Value known = made.lookup(value))
      return known;
    Value result = make(value);
    made[value] = result;
    return result;
  }

  /// An element that is none of the table is not read, its value not used.
  Value bound(Value limit) {
    return limit ? limit
                 : arith::ConstantIndexOp::create(
                       builder, loc, std::numeric_limits<int32_t>::max());
  }

  Value readTable(tensor::ExtractOp extract, RankedTensorType type) {
    TablePlaces at = *findPlaces(generic, extract);
    SmallVector<Value> indices;
    for (const Place &place : at.places) {
      Value sum;
      for (Value term : place.terms) {
        Value scalar = emitter.getScalar(term);
        sum = sum ? arith::AddIOp::create(builder, loc, sum, scalar).getResult()
                  : scalar;
      }
      indices.push_back(sum ? sum
                            : arith::ConstantIndexOp::create(builder, loc, 0));
    }
    Value memory = emitter.memories.lookup(extract.getTensor());
    Value rows = bound(emitter.queryLimit), columns = bound(emitter.keyLimit);
    if (at.rowDim && at.columnDim)
      return tile::LoadOp::create(builder, loc, type, memory, indices,
                                  ArrayRef<int64_t>{*at.rowDim, *at.columnDim},
                                  ValueRange{rows, columns});
    if (at.rowDim) {
      Value vector = tile::LoadOp::create(
          builder, loc, tile::getRowType(type), memory, indices,
          ArrayRef<int64_t>{*at.rowDim}, ValueRange{rows});
      return tile::SplatRowOp::create(builder, loc, type, vector);
    }
    if (at.columnDim) {
      Value vector = tile::LoadOp::create(
          builder, loc, tile::getColType(type), memory, indices,
          ArrayRef<int64_t>{*at.columnDim}, ValueRange{columns});
      return tile::SplatColOp::create(builder, loc, type, vector);
    }
    return emitter.splat(memref::LoadOp::create(builder, loc, memory, indices),
                         type);
  }

  Value make(Value value) {
    RankedTensorType type = matrix.clone(elementTypeOf(value));
    if (auto arg = dyn_cast<BlockArgument>(value);
        arg && arg.getOwner() == generic.getBody())
      return emitter.getFragment(inputs.lookup(arg));
    if (auto index = value.getDefiningOp<linalg::IndexOp>())
      return iota(index.getDim(), type);
    if (auto extract = value.getDefiningOp<tensor::ExtractOp>())
      return readTable(extract, type);
    if (isUniform(value)) {
      Value scalar = emitter.getScalar(value);
      if (scalar.getType().isIndex())
        scalar = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            scalar);
      return emitter.splat(scalar, type);
    }
    Operation *inner = value.getDefiningOp();
    SmallVector<Value> operands;
    for (Value operand : inner->getOperands())
      operands.push_back(get(operand));
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(inner))
      return resize(operands[0], type);
    return emitter.cloneElementwise(inner, operands, type);
  }

  Value iota(int64_t dim, RankedTensorType type) {
    RankedTensorType vector =
        dim == 0 ? tile::getRowType(type) : tile::getColType(type);
    Value numbers = tile::IotaOp::create(builder, loc, vector, uint64_t(0));
    if (dim == 0)
      return tile::SplatRowOp::create(builder, loc, type, numbers);
    return tile::SplatColOp::create(builder, loc, type, numbers);
  }

  Value resize(Value value, RankedTensorType type) {
    unsigned have =
        cast<RankedTensorType>(value.getType()).getElementTypeBitWidth();
    unsigned want = type.getElementTypeBitWidth();
    if (have == want)
      return value;
    if (have < want)
      return arith::ExtSIOp::create(builder, loc, type, value);
    return arith::TruncIOp::create(builder, loc, type, value);
  }

  RegionEmitter &emitter;
  OpBuilder &builder;
  Location loc;
  linalg::GenericOp generic;
  RankedTensorType matrix;
  llvm::DenseMap<Value, Value> inputs, made;
};

Value RegionEmitter::generic(linalg::GenericOp op) {
  return ElementBody(*this, op).run();
}

LogicalResult linattn::attention_to_tile::checkBody(AttentionTilesOp op,
                                                    linalg::GenericOp generic) {
  auto identity = [](AffineMap map) { return map.isIdentity(); };
  if (generic->getNumResults() != 1 || generic.getNumLoops() != 2 ||
      !llvm::all_of(generic.getIndexingMapsArray(), identity) ||
      !generic.getBody()->getArguments().back().use_empty())
    return refuse(generic, "code per element makes one matrix from matrices");
  for (Operation &inner : generic.getBody()->without_terminator()) {
    if (llvm::any_of(inner.getResultTypes(), [](Type type) {
          return !type.isIntOrIndexOrFloat() || type.isF64();
        }))
      return refuse(&inner, "elements are numbers, of at most 32 bits if "
                            "floats");
    if (isa<arith::ConstantOp, linalg::IndexOp>(inner))
      continue;
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      if (!isa<BlockArgument>(extract.getTensor()) ||
          !extract.getTensor().getParentRegion()->isProperAncestor(
              op.getStepBlock()->getParent()))
        return refuse(&inner, "elements are those of tensors from outside");
      if (!findPlaces(generic, extract))
        return refuse(&inner, "a table is read at a place that moves along one "
                              "dimension with the query and along another with "
                              "the key; compute what depends on both in the "
                              "region, or give a table with both dimensions");
      continue;
    }
    if (!isElementwise(&inner))
      return refuse(&inner,
                    "no rule for '" + inner.getName().getStringRef() + "'");
  }
  return success();
}
