//===- TileDecays.cpp - decays between events on tiles --------------------===//
//
// Sums of log decays in two floats, so that differences of two of them are
// right even where both are large; exponentials of their differences.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "TokenRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::chunked_to_tile;

/// e^-10000 is 0 in f32 already, and sums of clamped gates stay finite.
static constexpr double kLeastGate = -1e4;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The decays of a token in their order: the matrices (or vectors) that were
/// put together row by row, or the gate itself.
static SmallVector<Value> getDecays(Value gate) {
  auto collapsed = gate.getDefiningOp<tensor::CollapseShapeOp>();
  if (!collapsed)
    return {gate};
  return getStacked(collapsed.getSrc());
}

/// One of the decays of each token, clamped.
Value TileEmitter::decayLanes(Value decay) {
  decay = strip(decay);
  Value g = getVector(decay, getLanes(decay));
  if (!tensorOf(g).getElementType().isF32())
    g = arith::ExtFOp::create(builder, loc,
                              tensorOf(g).clone(builder.getF32Type()), g);
  // maximumf keeps NaN.
  return arith::MaximumFOp::create(builder, loc, g,
                                   constant(g.getType(), kLeastGate));
}

TileEmitter::TwoFloat TileEmitter::prefix(Value gate, int64_t position) {
  gate = strip(gate);
  TwoFloat &known = prefixes[{gate, position}];
  if (known.sum)
    return known;
  SmallVector<Value> lanes = llvm::map_to_vector(
      getDecays(gate), [&](Value decay) { return decayLanes(decay); });
  bool whole = position == int64_t(lanes.size());
  auto plus = [&](Value a, Value b) -> Value {
    return arith::AddFOp::create(builder, loc, a, b);
  };
  auto minus = [&](Value a, Value b) -> Value {
    return arith::SubFOp::create(builder, loc, a, b);
  };
  // The sum of two numbers and what its rounding takes from it.
  auto sumOfTwo = [&](TwoFloat a, Value b) -> TwoFloat {
    Value sum = plus(a.sum, b);
    Value taken = minus(sum, a.sum);
    Value lost = plus(minus(a.sum, minus(sum, taken)), minus(b, taken));
    return {sum, a.error ? plus(a.error, lost) : lost};
  };
  auto sumOf = [&](ArrayRef<Value> values) {
    TwoFloat sum{values[0], nullptr};
    for (Value value : values.drop_front())
      sum = sumOfTwo(sum, value);
    return sum;
  };
  auto scan = [&](Value values) {
    return tile::ScanOp::create(builder, loc, values.getType(),
                                values.getType(), values,
                                /*exclusive=*/!whole);
  };
  TwoFloat all = sumOf(lanes);
  tile::ScanOp scanned = scan(all.sum);
  TwoFloat sums{scanned.getSum(), scanned.getError()};
  // A slow decay beside a strong one of the same token.
  if (all.error)
    sums.error = plus(sums.error, scan(all.error).getSum());
  if (position > 0 && !whole) {
    // The first decays of the token itself.
    TwoFloat own = sumOf(ArrayRef(lanes).take_front(position));
    sums = sumOfTwo(sums, own.sum);
    if (own.error)
      sums.error = plus(sums.error, own.error);
  }
  return known = sums;
}

TileEmitter::TwoFloat TileEmitter::total(Value gate) {
  TwoFloat sums = prefix(gate, getDecays(strip(gate)).size());
  int64_t size = cast<RankedTensorType>(sums.sum.getType()).getDimSize(0);
  Value last = arith::ConstantIndexOp::create(builder, loc, size - 1);
  return {tensor::ExtractOp::create(builder, loc, sums.sum, last),
          tensor::ExtractOp::create(builder, loc, sums.error, last)};
}

Value TileEmitter::decayVector(DecayScanOp scan) {
  Value exponent;
  if (scan.getSpan() == DecaySpan::StartToEnd) {
    TwoFloat end = total(scan.getGate());
    exponent = arith::AddFOp::create(builder, loc, end.sum, end.error);
  } else {
    TwoFloat at = prefix(scan.getGate(), (*scan.getPositions())[0]);
    if (scan.getSpan() == DecaySpan::StartToEvent) {
      exponent = arith::AddFOp::create(builder, loc, at.sum, at.error);
    } else {
      TwoFloat end = total(scan.getGate());
      auto type = cast<RankedTensorType>(at.sum.getType());
      Value high =
          arith::SubFOp::create(builder, loc, splat(end.sum, type), at.sum);
      Value low =
          arith::SubFOp::create(builder, loc, splat(end.error, type), at.error);
      exponent = arith::AddFOp::create(builder, loc, high, low);
    }
  }
  return math::ExpOp::create(builder, loc, exponent);
}

/// product o Gamma, and 0 where y does not come before x. One selection at the
/// end: what a masked pair's exponential is does not matter.
Value TileEmitter::gamma(DecayProductOp product, RankedTensorType type,
                         Value matrix) {
  Attribute row = getRow();
  Attribute col = getCol();
  if (Value gate = product.getGate()) {
    TwoFloat x = prefix(gate, product.getXPositions()[0]);
    TwoFloat y = prefix(gate, product.getYPositions()[0]);
    auto spreadRow = [&](Value vector) -> Value {
      return tile::SplatRowOp::create(builder, loc, type,
                                      convertVector(vector, row));
    };
    auto spreadCol = [&](Value vector) -> Value {
      return tile::SplatColOp::create(builder, loc, type,
                                      convertVector(vector, col));
    };
    Value high =
        arith::SubFOp::create(builder, loc, spreadRow(x.sum), spreadCol(y.sum));
    Value low = arith::SubFOp::create(builder, loc, spreadRow(x.error),
                                      spreadCol(y.error));
    Value exponent = arith::AddFOp::create(builder, loc, high, low);
    // What is rounded to 16 bits next needs no better exponential than the
    // device's.
    bool fast = product.getMma() == MmaPrecision::BF16 ||
                product.getMma() == MmaPrecision::F16;
    auto flags = arith::FastMathFlagsAttr::get(
        context, fast ? arith::FastMathFlags::afn : arith::FastMathFlags::none);
    Value decay = math::ExpOp::create(builder, loc, exponent, flags);
    matrix = arith::MulFOp::create(builder, loc, matrix, decay);
  }
  RankedTensorType integers = type.clone(builder.getI32Type());
  Value i = tile::SplatRowOp::create(builder, loc, integers,
                                     iota(row, type.getDimSize(0)));
  Value j = tile::SplatColOp::create(builder, loc, integers,
                                     iota(col, type.getDimSize(1)));
  auto predicate = product.isBefore(0, 0) ? arith::CmpIPredicate::sle
                                          : arith::CmpIPredicate::slt;
  Value before = arith::CmpIOp::create(builder, loc, predicate, j, i);
  return arith::SelectOp::create(builder, loc, before, matrix,
                                 constant(type, 0));
}

//===----------------------------------------------------------------------===//
// Decays over K
//===----------------------------------------------------------------------===//
//
// Sums over rows from one side: nothing is subtracted, so that f32 is enough.

/// Log decays in registers, clamped. Read again for each use: they take too
/// many registers to keep.
Value TileEmitter::loadGates(Value gate) {
  RankedTensorType type = getFragmentType(gate, false);
  Value g = tile::LocalLoadOp::create(builder, loc, type, getShared(gate));
  if (!type.getElementType().isF32()) {
    type = type.clone(builder.getF32Type());
    g = arith::ExtFOp::create(builder, loc, type, g);
  }
  // maximumf keeps NaN.
  return arith::MaximumFOp::create(builder, loc, g, constant(type, kLeastGate));
}

/// Whether all that is made of the value is rounded to 16 bits at last.
static bool isRounded(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<arith::TruncFOp>(user))
      return true;
    return isa<arith::MulFOp, arith::SelectOp>(user) &&
           isRounded(user->getResult(0));
  });
}

/// e^(sum of the decays between each event and the start or the end).
Value TileEmitter::decayRows(DecayScanOp scan) {
  Value &known = decays[{strip(scan.getGate()),
                         (*scan.getPositions())[0] * 2 +
                             (scan.getSpan() == DecaySpan::EventToEnd)}];
  if (!known)
    known = makeDecayRows(scan);
  return known;
}

Value TileEmitter::makeDecayRows(DecayScanOp scan) {
  Value g = loadGates(scan.getGate());
  RankedTensorType type = tensorOf(g);
  bool toEnd = scan.getSpan() == DecaySpan::EventToEnd;
  // Position 1 is behind the row's own decay.
  bool hasOwn = ((*scan.getPositions())[0] == 1) != toEnd;
  Value scratch;
  int64_t tiles = type.getDimSize(0) / tile::kRowTile;
  if (tiles > 1)
    scratch = tile::AllocOp::create(
        builder, loc,
        tile::SmemType::get(context, {tiles, type.getDimSize(1)},
                            type.getElementType(), 0),
        IntegerAttr());
  Value sums = tile::ScanRowsOp::create(builder, loc, type, g,
                                        /*exclusive=*/!hasOwn,
                                        /*reverse=*/toEnd, scratch);
  return math::ExpOp::create(builder, loc, sums,
                             isRounded(scan.getResult())
                                 ? arith::FastMathFlags::afn
                                 : arith::FastMathFlags::none);
}

/// e^(sum of all decays of the chunk).
Value TileEmitter::decayColumns(DecayScanOp scan) {
  Value gate = strip(scan.getGate());
  Attribute lanes = getLanes(scan.getResult());
  RankedTensorType type = getVectorType(scan.getResult(), lanes);
  Value sums;
  for (auto product : op.getBlock()->getOps<DecayProductOp>())
    if (product.isVectorDecay() && strip(product.getGate()) == gate)
      getFragment(product.getResult(), false);
  if (Value smem = gateSums.lookup(gate))
    sums = tile::LocalLoadOp::create(builder, loc, type, smem);
  else
    sums = convertVector(sumRows(tile::Combine::Add, loadGates(gate)), lanes);
  return math::ExpOp::create(builder, loc, sums);
}

Value TileEmitter::getRows(Value value) {
  value = strip(value);
  if (auto widened = value.getDefiningOp<arith::ExtFOp>())
    return getShared(widened.getIn());
  return getShared(value);
}

namespace {
/// rows o e^(decays from the start or to the end), rounded to 16 bits or f32.
struct DecayedRows {
  DecayScanOp scan;
  Value rows;
};
} // namespace

static std::optional<DecayedRows> matchDecayedRows(Value value) {
  if (auto rounded = value.getDefiningOp<arith::TruncFOp>())
    value = rounded.getIn();
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product)
    return std::nullopt;
  for (bool second : {false, true}) {
    auto scan = product->getOperand(second).getDefiningOp<DecayScanOp>();
    if (scan && scan.isVectorDecay() && scan.getPositions())
      return DecayedRows{scan, product->getOperand(!second)};
  }
  return std::nullopt;
}

/// Which rows of a product these are, as `target_of` of tile.decay_mma counts.
std::optional<int64_t>
TileEmitter::findTarget(ArrayRef<DecayProductOp> products, Value value) {
  std::optional<DecayedRows> match = matchDecayedRows(value);
  DecayProductOp first = products.front();
  if (!match ||
      tensorOf(value).getElementType() !=
          operandType(first.getMma(), context) ||
      strip(match->scan.getGate()) != strip(first.getGate()))
    return std::nullopt;
  int64_t position = (*match->scan.getPositions())[0];
  Value rows = strip(match->rows);
  if (match->scan.getSpan() == DecaySpan::EventToEnd) {
    if (rows == strip(first.getY()) && position == first.getYPositions()[0])
      return products.size();
    return std::nullopt;
  }
  for (size_t number = 0; number < products.size(); ++number) {
    DecayProductOp product = products[number];
    if (rows == strip(product.getX()) && position == product.getXPositions()[0])
      return number;
  }
  return std::nullopt;
}

bool TileEmitter::makeWithProducts(Value value) {
  for (auto product : op.getBlock()->getOps<DecayProductOp>())
    if (product.isVectorDecay() && findTarget({product}, value) &&
        !fragments.contains({product.getResult(), false})) {
      getFragment(product.getResult(), false);
      break;
    }
  return shareds.contains(value);
}

/// Matrices that were read from shared memory are read again where they are
/// needed behind: what comes now needs their registers.
void TileEmitter::forgetLoads() {
  auto isLoad = [](Value fragment) {
    if (auto widened = fragment.getDefiningOp<arith::ExtFOp>())
      fragment = widened.getIn();
    return fragment.getDefiningOp<tile::LocalLoadOp>() != nullptr;
  };
  SmallVector<std::pair<Value, unsigned>> loads;
  for (auto &[key, fragment] : fragments)
    if (isLoad(fragment))
      loads.push_back(key);
  for (auto key : loads)
    fragments.erase(key);
}

/// Products with one y and its decays go together: half of their work is the
/// same. So do the rows that enter and leave the chunk.
Value TileEmitter::vectorProductFragment(DecayProductOp product) {
  constexpr size_t kMostProducts = 2;
  auto isLike = [&](DecayProductOp other) {
    return other.isVectorDecay() && other.getMma() == product.getMma() &&
           strip(other.getY()) == strip(product.getY()) &&
           strip(other.getGate()) == strip(product.getGate()) &&
           other.getYPositions() == product.getYPositions() &&
           !fragments.contains({other.getResult(), false});
  };
  SmallVector<DecayProductOp> all = {product};
  for (auto other : op.getBlock()->getOps<DecayProductOp>())
    if (other != product && all.size() < kMostProducts && isLike(other))
      all.push_back(other);

  Type element = operandType(product.getMma(), context);
  SmallVector<Value> xs;
  SmallVector<int64_t> positions;
  SmallVector<bool> inclusive;
  SmallVector<Type> types;
  for (DecayProductOp each : all) {
    xs.push_back(getRows(each.getX()));
    positions.push_back(each.getXPositions()[0]);
    inclusive.push_back(each.isBefore(0, 0));
    types.push_back(getFragmentType(each.getResult(), false));
  }
  Value y = getRows(product.getY()), gates = getShared(product.getGate());
  auto allocate = [&](tile::SmemType type) -> Value {
    return tile::AllocOp::create(builder, loc, type, IntegerAttr());
  };
  SmallVector<Value> targets;
  SmallVector<int64_t> targetOf;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    Value value = inner.getResult(0);
    std::optional<int64_t> of = findTarget(all, value);
    if (!of || shareds.contains(value))
      continue;
    const int64_t *known = llvm::find(targetOf, *of);
    if (known == targetOf.end()) {
      targets.push_back(allocate(getSharedType(value)));
      targetOf.push_back(*of);
      shareds[value] = targets.back();
    } else {
      shareds[value] = targets[known - targetOf.begin()];
    }
  }
  Value &sums = gateSums[strip(product.getGate())];
  Value newSums;
  if (!sums)
    sums = newSums = allocate(tile::SmemType::get(
        context, {getTileSize(product.getGate(), 1)}, builder.getF32Type(), 0));
  if (element.isF32())
    forgetLoads();
  int64_t rows = getTileSize(product.getResult(), 0);
  Value scratch = allocate(tile::SmemType::get(
      context, {tile::DecayMmaOp::getScratchBytes(rows, element)},
      builder.getI8Type(), 0));
  auto made = tile::DecayMmaOp::create(
      builder, loc, types, xs, y, gates, scratch, targets, newSums,
      builder.getDenseI64ArrayAttr(positions),
      builder.getI64IntegerAttr(product.getYPositions()[0]),
      builder.getDenseBoolArrayAttr(inclusive),
      builder.getDenseI64ArrayAttr(targetOf), TypeAttr::get(element));
  for (auto [each, result] : llvm::zip(all, made.getResults()))
    fragments[{each.getResult(), false}] = result;
  // What was not asked for yet does not wait in registers.
  for (DecayProductOp each : llvm::drop_begin(all))
    for (Operation *user : each.getResult().getUsers()) {
      if (isa<arith::TruncFOp>(user))
        getShared(user->getResult(0));
      else if (isa<linalg::MatmulOp>(user))
        getShared(each.getResult());
    }
  return made.getResults()[0];
}
