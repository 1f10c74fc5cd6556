//===- Vectors.cpp - exchange between the lanes of a warp -----------------===//

#include "../Common/DeviceOps.h"
#include "Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

//===----------------------------------------------------------------------===//
// Elements of vectors
//===----------------------------------------------------------------------===//

/// A shuffle of any scalar of at most 32 bits.
static Value shuffle(Emitter &e, Shuffle kind, Value value, Value lane,
                     int64_t segment = kWarpSize) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  if (type.isF32() || type.isInteger(32))
    return emitShuffle(e.builder, e.loc, kind, value, lane, segment);
  Type narrow = e.builder.getIntegerType(bits);
  Value wide = arith::ExtUIOp::create(e.builder, e.loc, e.builder.getI32Type(),
                                      e.bitcast(value, narrow));
  wide = emitShuffle(e.builder, e.loc, kind, wide, lane, segment);
  return e.bitcast(arith::TruncIOp::create(e.builder, e.loc, narrow, wide),
                   type);
}

namespace {
/// Which register, and which lane beside its own in its group of copies, holds
/// an element of a vector that every warp has.
struct Holder {
  int64_t number, lane;
};
} // namespace

static LaneSum positionOf(RankedTensorType type) {
  return LaneSum::of(isa<RowAttr>(type.getEncoding()) ? getLaneRow(type)
                                                      : getLaneColumn(type));
}

static int64_t constantOf(RankedTensorType type, int64_t number) {
  LaneElement at = getLaneElement(type, number);
  return isa<RowAttr>(type.getEncoding()) ? at.row : at.column;
}

/// The first lane that holds an element, and its register there.
static Holder holderOf(RankedTensorType type, int64_t element) {
  Attribute layout = type.getEncoding();
  if (auto strided = dyn_cast<StridedAttr>(layout)) {
    int64_t vec = strided.getVec();
    return {element / (vec * kWarpSize) * vec + element % vec,
            element / vec % getLaneColumn(type).laneMod};
  }
  if (isa<ColAttr>(layout))
    return {element / 8 * 2 + element % 2, element / 2 % 4};
  return {element / 8, element % 8 * 4};
}

/// The same for an element that is an i32.
static Value holderLane(Emitter &e, RankedTensorType type, Value position) {
  Attribute layout = type.getEncoding();
  if (auto strided = dyn_cast<StridedAttr>(layout))
    return e.remI(e.divI(position, strided.getVec()),
                  getLaneColumn(type).laneMod);
  if (isa<ColAttr>(layout))
    return e.remI(e.divI(position, 2), 4);
  return e.mulI(e.remI(position, 8), e.i32(4));
}

/// The number of its register.
static Value holderNumber(Emitter &e, RankedTensorType type, Value position) {
  Attribute layout = type.getEncoding();
  if (auto strided = dyn_cast<StridedAttr>(layout)) {
    int64_t vec = strided.getVec();
    return e.addI(e.mulI(e.divI(position, vec * kWarpSize), e.i32(vec)),
                  e.remI(position, vec));
  }
  if (isa<ColAttr>(layout))
    return e.addI(e.mulI(e.divI(position, 8), e.i32(2)), e.remI(position, 2));
  return e.divI(position, 8);
}

/// The element at `position` of a vector whose holders are among `numbers`.
static Value fetch(Emitter &e, RankedTensorType type, ValueRange registers,
                   Value position, ArrayRef<int64_t> numbers,
                   llvm::function_ref<Value(llvm::function_ref<Value()>)> at) {
  Value lane = at([&] { return holderLane(e, type, position); });
  Value result;
  for (int64_t number : numbers) {
    Value found = shuffle(e, Shuffle::Index, registers[number], lane);
    if (!result) {
      result = found;
      continue;
    }
    Value isHere = at([&] {
      return e.isEqual(holderNumber(e, type, position), e.i32(number));
    });
    result = e.select(isHere, found, result);
  }
  return result;
}

LogicalResult linattn::tilenvvm::emitConvert(Emitter &e, ConvertOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getType());
  Registers source = e.fragments.lookup(op.getSource()), result;
  LaneSum position = positionOf(to);
  for (int64_t i = 0; i < getElementsPerLane(to); ++i) {
    // The registers that hold this element for some lane and warp.
    llvm::SmallSetVector<int64_t, 8> numbers;
    for (int64_t warp = 0; warp < e.warps; ++warp)
      for (int64_t lane = 0; lane < kWarpSize; ++lane)
        numbers.insert(
            holderOf(from, constantOf(to, i) + position.at(lane, warp)).number);
    Value element = e.hoisted(
        [&] { return e.addI(e.evaluate(position), e.i32(constantOf(to, i))); });
    result.push_back(fetch(
        e, from, source, element, numbers.getArrayRef(),
        [&](llvm::function_ref<Value()> build) { return e.hoisted(build); }));
  }
  e.fragments[op.getResult()] = result;
  return success();
}

LogicalResult linattn::tilenvvm::emitExtract(Emitter &e, Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  if (type.getRank() != 1 || getReplication(type).warpCount != 1 ||
      !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() > 32)
    return op->emitOpError("takes an element of a vector that every warp "
                           "holds, got ")
           << type;
  Registers registers = e.fragments.lookup(extract.getTensor());
  Value index = e.scalars.lookup(extract.getIndices()[0]);
  Value result;
  APInt known;
  if (matchPattern(index, m_ConstantInt(&known))) {
    int64_t element = known.getSExtValue();
    if (element < 0 || element >= type.getDimSize(0))
      return op->emitOpError("takes an element of ")
             << type << ", got index " << element;
    Holder holder = holderOf(type, element);
    result = shuffle(e, Shuffle::Index, registers[holder.number],
                     e.i32(holder.lane));
  } else {
    SmallVector<int64_t> numbers =
        llvm::to_vector(llvm::seq<int64_t>(registers.size()));
    result = fetch(e, type, registers, e.toI32(index), numbers,
                   [](llvm::function_ref<Value()> build) { return build(); });
  }
  e.scalars.map(extract.getResult(), result);
  return success();
}

//===----------------------------------------------------------------------===//
// Between vectors and matrices
//===----------------------------------------------------------------------===//

LogicalResult linattn::tilenvvm::emitSplatRow(Emitter &e, SplatRowOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Registers source = e.fragments.lookup(op.getSource()), elements;
  int64_t blocks = numBlocks(type);
  for (int64_t i = 0; i < getElementsPerLane(type); ++i)
    elements.push_back(source[i / 4 / blocks * 2 + i % 4 / 2]);
  e.fragments[op.getResult()] = e.packAs(type, elements);
  return success();
}

LogicalResult linattn::tilenvvm::emitSplatCol(Emitter &e, SplatColOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Registers source = e.fragments.lookup(op.getSource()), elements;
  int64_t blocks = numBlocks(type);
  for (int64_t i = 0; i < getElementsPerLane(type); ++i)
    elements.push_back(source[i / 4 % blocks * 2 + i % 2]);
  e.fragments[op.getResult()] = e.packAs(type, elements);
  return success();
}

static Value combine(Emitter &e, Combine kind, Value a, Value b) {
  switch (kind) {
  case Combine::Add:
    return e.addF(a, b);
  case Combine::Max:
    return arith::MaximumFOp::create(e.builder, e.loc, a, b);
  case Combine::Min:
    return arith::MinimumFOp::create(e.builder, e.loc, a, b);
  case Combine::Mul:
    return e.mulF(a, b);
  }
  llvm_unreachable("all kinds are listed");
}

LogicalResult linattn::tilenvvm::emitReduce(Emitter &e, ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  Registers source = e.fragments.lookup(op.getSource());
  int64_t blocks = numBlocks(type);
  bool alongRow = op.getAxis() == 1;
  Registers result(getElementsPerLane(cast<RankedTensorType>(op.getType())));
  for (auto [i, value] : llvm::enumerate(source)) {
    int64_t at =
        alongRow ? i / 4 / blocks * 2 + i % 4 / 2 : i / 4 % blocks * 2 + i % 2;
    result[at] =
        result[at] ? combine(e, op.getKind(), result[at], value) : value;
  }
  // The lanes of a row are l mod 4, those of a column l / 4.
  for (Value &value : result)
    for (int64_t mask = alongRow ? 1 : 4; mask < (alongRow ? 4 : kWarpSize);
         mask *= 2)
      value = combine(e, op.getKind(), value,
                      shuffle(e, Shuffle::Xor, value, e.i32(mask)));
  if (op.getScratch()) {
    // Row w of the scratch is what warp w has.
    SmemTile scratch = e.tiles.lookup(op.getScratch());
    int64_t parts = scratch.type.getShape()[0];
    LaneSum columns = LaneSum::of(getLaneColumn(type));
    Value writes = e.hoisted([&]() -> Value {
      Value first = e.isLess(e.getLane(), e.i32(4));
      return parts < e.warps
                 ? e.both(first, e.isLess(e.getWarp(), e.i32(parts)))
                 : first;
    });
    e.when(writes, [&] {
      for (size_t i = 0; i < result.size(); i += 2)
        e.store(e.pack(result[i], result[i + 1]),
                e.pointerTo(scratch, LaneSum::ofWarp(parts, 1), columns, 0,
                            i / 2 * 8),
                8);
    });
    emitBarrier(e.builder, e.loc);
    for (size_t i = 0; i < result.size(); i += 2) {
      for (int64_t part = 0; part < parts; ++part) {
        SmallVector<Value, 4> pair = loadPair(e, scratch, {}, columns, part,
                                              i / 2 * 8, /*alongColumns=*/true);
        for (int64_t j = 0; j < 2; ++j)
          result[i + j] =
              part == 0 ? pair[j]
                        : combine(e, op.getKind(), result[i + j], pair[j]);
      }
    }
  }
  e.fragments[op.getResult()] = result;
  return success();
}

LogicalResult linattn::tilenvvm::emitIota(Emitter &e, IotaOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  bool byRow = isa<RowAttr>(type.getEncoding()) ||
               (type.getRank() == 2 && op.getAxis() == 0);
  Value base =
      e.evaluate(LaneSum::of(byRow ? getLaneRow(type) : getLaneColumn(type)));
  Registers result;
  for (int64_t i = 0; i < getElementsPerLane(type); ++i) {
    LaneElement at = getLaneElement(type, i);
    result.push_back(e.addI(base, e.i32(byRow ? at.row : at.column)));
  }
  e.fragments[op.getResult()] = result;
  return success();
}

/// Of each row the last and the first column, less what the lane adds to a
/// column: elements compare with their number.
LogicalResult linattn::tilenvvm::emitBand(Emitter &e, BandOp op) {
  llvm::SaveAndRestore invariants(e.invariants);
  if (e.isShortOfRegisters)
    e.beginAgain();
  auto type = cast<RankedTensorType>(op.getType());
  Value laneRow = e.evaluate(LaneSum::of(getLaneRow(type)));
  Value laneColumn = e.evaluate(LaneSum::of(getLaneColumn(type)));
  // What lies farther out than any matrix is as good as the border.
  auto limited = [&](Value bound) {
    constexpr int64_t far = 1 << 20;
    Value wide = e.toI64(e.scalars.lookup(bound));
    wide = e.builder.createOrFold<arith::MinSIOp>(e.loc, wide, e.i64(far));
    wide = e.builder.createOrFold<arith::MaxSIOp>(e.loc, wide, e.i64(-far));
    return e.toI32(wide);
  };
  Value lower, upper, columns;
  if (op.getLower())
    lower = e.addI(limited(op.getLower()), e.subI(laneRow, laneColumn));
  if (op.getUpper())
    upper = e.addI(limited(op.getUpper()), e.subI(laneRow, laneColumn));
  if (op.getColumns())
    columns = e.subI(limited(op.getColumns()), laneColumn);

  // Between two bounds by one unsigned comparison: a condition of each would
  // take registers until they meet.
  struct Bounds {
    Value first, last, count;
  };
  std::map<int64_t, Bounds> rows;
  auto boundsOf = [&](int64_t row) {
    auto [it, isNew] = rows.try_emplace(row);
    Bounds &bounds = it->second;
    if (!isNew)
      return bounds;
    if (lower)
      bounds.first = e.addI(lower, e.i32(row));
    if (upper)
      bounds.last = e.addI(upper, e.i32(row));
    if (columns) {
      Value last = e.subI(columns, e.i32(1));
      bounds.last =
          upper
              ? e.builder.createOrFold<arith::MinSIOp>(e.loc, bounds.last, last)
              : last;
    }
    if (bounds.first && bounds.last)
      bounds.count = e.builder.createOrFold<arith::MaxSIOp>(
          e.loc, e.addI(e.subI(bounds.last, bounds.first), e.i32(1)), e.i32(0));
    return bounds;
  };
  Registers result;
  for (int64_t i = 0; i < getElementsPerLane(type); ++i) {
    LaneElement at = getLaneElement(type, i);
    Bounds bounds = boundsOf(at.row);
    Value column = e.i32(at.column);
    auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) {
      return e.builder.createOrFold<arith::CmpIOp>(e.loc, predicate, a, b);
    };
    if (bounds.count)
      result.push_back(compare(arith::CmpIPredicate::ult,
                               e.subI(column, bounds.first), bounds.count));
    else if (bounds.last)
      result.push_back(compare(arith::CmpIPredicate::sge, bounds.last, column));
    else
      result.push_back(
          compare(arith::CmpIPredicate::sge, column, bounds.first));
  }
  e.fragments[op.getResult()] = result;
  return success();
}

LogicalResult linattn::tilenvvm::emitWarpAny(Emitter &e, WarpAnyOp op) {
  Value any;
  for (Value value : e.fragments.lookup(op.getSource()))
    any = any ? arith::OrIOp::create(e.builder, e.loc, any, value).getResult()
              : value;
  e.scalars.map(op.getResult(), emitVoteAny(e.builder, e.loc, any));
  return success();
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

namespace {
/// A number as an unevaluated sum of two floats.
struct TwoFloat {
  Value high, low;
};
} // namespace

/// The sum of two floats, exact.
static TwoFloat exactSum(Emitter &e, Value a, Value b) {
  Value sum = e.addF(a, b);
  Value ofB = e.subF(sum, a);
  Value ofA = e.subF(sum, ofB);
  return {sum, e.addF(e.subF(a, ofA), e.subF(b, ofB))};
}

/// The same where |a| >= |b|.
static TwoFloat exactSumOrdered(Emitter &e, Value a, Value b) {
  Value sum = e.addF(a, b);
  return {sum, e.subF(b, e.subF(sum, a))};
}

static TwoFloat add(Emitter &e, TwoFloat a, TwoFloat b) {
  TwoFloat sum = exactSum(e, a.high, b.high);
  Value low = e.addF(sum.low, e.addF(a.low, b.low));
  return exactSumOrdered(e, sum.high, low);
}

static TwoFloat shuffle(Emitter &e, Shuffle kind, TwoFloat value, Value lane,
                        int64_t segment) {
  return {shuffle(e, kind, value.high, lane, segment),
          shuffle(e, kind, value.low, lane, segment)};
}

static TwoFloat select(Emitter &e, Value condition, TwoFloat a, TwoFloat b) {
  return {e.select(condition, a.high, b.high),
          e.select(condition, a.low, b.low)};
}

LogicalResult linattn::tilenvvm::emitScan(Emitter &e, ScanOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  Registers source = e.fragments.lookup(op.getSource());
  int64_t vec = cast<StridedAttr>(type.getEncoding()).getVec();
  int64_t lanes = getLaneColumn(type).laneMod;
  Value lane = e.evaluate(LaneSum::ofLane(1, lanes, 1));
  Value zero = e.f32(0);
  TwoFloat none = {zero, zero}, before = none;
  Registers sums, errors;
  auto give = [&](TwoFloat value) {
    sums.push_back(value.high);
    errors.push_back(value.low);
  };
  // Groups of a vector element per lane, one after another.
  for (size_t first = 0; first < source.size(); first += vec) {
    SmallVector<TwoFloat> own = {{source[first], zero}};
    for (int64_t i = 1; i < vec; ++i)
      own.push_back(add(e, own.back(), {source[first + i], zero}));
    TwoFloat total = own.back();
    for (int64_t distance = 1; distance < lanes; distance *= 2) {
      TwoFloat other = shuffle(e, Shuffle::Up, total, e.i32(distance), lanes);
      Value hasOther =
          e.hoisted([&] { return e.isLess(e.i32(distance - 1), lane); });
      total = select(e, hasOther, add(e, other, total), total);
    }
    // What stands before this lane: the lanes on its left, the last groups.
    TwoFloat left = none;
    if (lanes > 1) {
      left = shuffle(e, Shuffle::Up, total, e.i32(1), lanes);
      Value hasLeft = e.hoisted([&] { return e.isLess(e.i32(0), lane); });
      left = select(e, hasLeft, left, none);
    }
    if (first != 0)
      left = add(e, before, left);
    for (int64_t i = 0; i < vec; ++i) {
      if (op.getExclusive())
        give(i == 0 ? left : add(e, left, own[i - 1]));
      else
        give(add(e, left, own[i]));
    }
    if (first + vec < source.size()) {
      TwoFloat group =
          shuffle(e, Shuffle::Index, total, e.i32(kWarpSize - 1), kWarpSize);
      before = first == 0 ? group : add(e, before, group);
    }
  }
  e.fragments[op.getSum()] = sums;
  e.fragments[op.getError()] = errors;
  return success();
}
