//===- ChunkEmitter.cpp - the algebra of one chunk ------------------------===//

#include "ChunkEmitter.h"

#include "RoundedProduct.h"

#include "linattn/Dialect/LinAttn/Transforms/CoefficientBuilder.h"
#include "linattn/Dialect/LinAttn/Transforms/Transitions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace linattn;

using Kind = StepEvent::Kind;

ChunkEmitter::ChunkEmitter(const NormalForm &form, OpBuilder &builder,
                           StepTiler &tiler, int64_t chunk,
                           MmaPrecision precision, Value valid,
                           ArrayRef<Value> startStates, bool separateEvents)
    : form(form), builder(builder), tiler(tiler),
      loc(form.getRecurrence()->getLoc()), chunk(chunk), precision(precision),
      valid(valid), separateEvents(separateEvents) {
  for (Value start : startStates) {
    auto type = cast<RankedTensorType>(start.getType());
    StateRows state;
    state.start = start;
    state.keys = type.getDimSize(0);
    state.values = type.getDimSize(1);
    state.element = type.getElementType();
    states.push_back(state);
    finalStates.push_back(start);
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value ChunkEmitter::getTile(Value value) { return tiler.get(value); }

Value ChunkEmitter::zeros(ArrayRef<int64_t> shape, Type element) {
  auto type = RankedTensorType::get(shape, element);
  return arith::ConstantOp::create(builder, loc, type,
                                   builder.getZeroAttr(type));
}

Value ChunkEmitter::widen(Value tile, Type element) {
  auto type = cast<RankedTensorType>(tile.getType());
  unsigned have = type.getElementTypeBitWidth();
  unsigned want = element.getIntOrFloatBitWidth();
  if (have == want)
    return tile;
  if (have < want)
    return arith::ExtFOp::create(builder, loc, type.clone(element), tile);
  return arith::TruncFOp::create(builder, loc, type.clone(element), tile);
}

Value ChunkEmitter::mask(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> added;
  for (int64_t d = 1; d < type.getRank(); ++d)
    added.push_back(d);
  Value rowsValid = tiler.broadcast(loc, valid, type.getShape(), added);
  return arith::SelectOp::create(builder, loc, rowsValid, tile,
                                 zeros(type.getShape(), type.getElementType()));
}

/// rows [C, D] times factor [C] or [C, D].
Value ChunkEmitter::scaleRows(Value rows, Value factor) {
  auto type = cast<RankedTensorType>(rows.getType());
  if (cast<RankedTensorType>(factor.getType()).getRank() == 1)
    factor = tiler.broadcast(loc, factor, type.getShape(), {1});
  return arith::MulFOp::create(builder, loc, factor, rows);
}

Value ChunkEmitter::product(Value a, Value b, Value outs) {
  return roundedProduct(builder, loc, a, b, outs, precision);
}

Value ChunkEmitter::interleave(ArrayRef<Value> tiles) {
  if (tiles.size() == 1)
    return tiles[0];
  auto type = cast<RankedTensorType>(tiles[0].getType());
  int64_t n = tiles.size();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + 1, n);
  Value all =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes,
        strides(shape.size(), builder.getIndexAttr(1));
    for (int64_t size : shape)
      sizes.push_back(builder.getIndexAttr(size));
    offsets[1] = builder.getIndexAttr(i);
    sizes[1] = builder.getIndexAttr(1);
    all = tensor::InsertSliceOp::create(builder, loc, tile, all, offsets, sizes,
                                        strides);
  }
  SmallVector<ReassociationIndices> groups = {{0, 1}};
  for (int64_t d = 2; d < (int64_t)shape.size(); ++d)
    groups.push_back({d});
  return tensor::CollapseShapeOp::create(builder, loc, all, groups);
}

Value ChunkEmitter::getCoefficient(const Coefficient *coefficient, Type element,
                                   VectorType columns) {
  // The builder writes it into the step, where the tiler finds it.
  Operation *terminator = form.getRecurrence().getBody()->getTerminator();
  OpBuilder step(terminator);
  Value value = coefficients->build(step, loc, coefficient, element);
  Value tile = getTile(value);
  if (!tile)
    return {};
  return mask(tile);
}

//===----------------------------------------------------------------------===//
// States and events
//===----------------------------------------------------------------------===//

LogicalResult ChunkEmitter::prepareState(unsigned number) {
  StateRows &state = states[number];
  SmallVector<Value> gates;
  for (const StepEvent &event : form.getEvents()) {
    if (event.kind != Kind::Decay || event.state != number)
      continue;
    DecayOp decay = event.getDecay();
    Value gate = getTile(decay.getGate());
    if (!gate)
      return failure();
    gate = widen(gate, state.element);
    if (decay.getLinear())
      gate = math::LogOp::create(builder, loc, gate);
    gates.push_back(mask(gate));
    state.perKey |= cast<RankedTensorType>(gate.getType()).getRank() == 2;
  }
  state.decays = gates.size();
  if (gates.empty())
    return success();
  if (state.perKey)
    for (Value &gate : gates)
      if (cast<RankedTensorType>(gate.getType()).getRank() == 1)
        gate = tiler.broadcast(loc, gate, {chunk, state.keys}, {1});
  if (separateEvents && state.perKey && gates.size() > 1) {
    state.merged = gates;
    state.decays = 1;
    state.gates = gates[0];
    for (Value gate : ArrayRef(gates).drop_front())
      state.gates = arith::AddFOp::create(builder, loc, state.gates, gate);
    return success();
  }
  state.gates = interleave(gates);
  return success();
}

/// e^(the decays of a token from the `from`-th up to the `to`-th); null if
/// there are none.
Value ChunkEmitter::mergedDecay(const StateRows &state, int64_t from,
                                int64_t to) {
  Value sum;
  for (Value gate : ArrayRef(state.merged).slice(from, to - from))
    sum = sum ? arith::AddFOp::create(builder, loc, sum, gate) : gate;
  return sum ? Value(math::ExpOp::create(builder, loc, sum)) : sum;
}

/// An event between the decays of its token: a read moves before all of them
/// and takes those that came before it into its keys, a write moves behind all
/// and takes those that come after it. Every factor is a decay, none above 1.
void ChunkEmitter::moveEvent(Rows &row) {
  StateRows &state = states[row.event->state];
  int64_t count = state.merged.size(), position = row.position;
  if (position == 0 || position == count) {
    row.position = position == 0 ? 0 : 1;
    return;
  }
  bool isRead = row.event->kind == Kind::Read;
  row.position = isRead ? 0 : 1;
  row.plainKeys = row.keys;
  row.keys = scaleRows(row.keys, isRead ? mergedDecay(state, 0, position)
                                        : mergedDecay(state, position, count));
}

/// A write between decays and a read behind it, before the next or a later one,
/// of the same token: the decays between them alone. All others of the matrix
/// are 0: they are there in both products, bit by bit.
Value ChunkEmitter::ownTokenProduct(unsigned number, const Rows &read,
                                    const Rows &write) {
  StateRows &state = states[number];
  Rows x = read, y = write;
  x.keys = read.plainKeys;
  y.keys = write.plainKeys;
  if (Value decay =
          mergedDecay(state, write.event->position, read.event->position))
    x.keys = scaleRows(x.keys, decay);
  x.plainKeys = y.plainKeys = Value();
  Value gates = std::exchange(state.gates, Value());
  x.position = y.position = 0;
  x.order = 2, y.order = 1;
  Value upTo = decayProduct(number, {&x}, {&y});
  x.order = 1, y.order = 2;
  Value before = decayProduct(number, {&x}, {&y});
  state.gates = gates;
  return arith::SubFOp::create(builder, loc, upTo, before);
}

LogicalResult ChunkEmitter::prepareEvents() {
  for (auto [i, event] : llvm::enumerate(form.getEvents())) {
    Rows row{&event, unsigned(i), Value(), 0, Value()};
    Value key;
    if (event.kind == Kind::Read)
      key = event.getRead().getKey();
    else if (event.kind == Kind::Write)
      key = event.getWrite().getKey();
    if (key) {
      Value tile = getTile(key);
      if (!tile)
        return failure();
      row.keys = widen(mask(tile), states[event.state].element);
      row.position = event.position;
      if (!states[event.state].merged.empty())
        moveEvent(row);
    }
    rows.push_back(row);
  }
  return success();
}

Value ChunkEmitter::decayProduct(unsigned number, ArrayRef<const Rows *> reads,
                                 ArrayRef<const Rows *> writes) {
  StateRows &state = states[number];
  if (writes.size() == 1 && reads.size() == 1 && reads[0]->plainKeys &&
      writes[0]->plainKeys && writes[0]->order < reads[0]->order) {
    // Of earlier tokens only: as if the read came first.
    Rows x = *reads[0], y = *writes[0];
    x.plainKeys = Value();
    std::swap(x.order, y.order);
    Value others = decayProduct(number, {&x}, {&y});
    Value own = ownTokenProduct(number, *reads[0], *writes[0]);
    return arith::AddFOp::create(builder, loc, others, own);
  }
  SmallVector<Value> x, y;
  SmallVector<int64_t> xPositions, xOrder, yPositions, yOrder;
  Value none;
  auto zeroKeys = [&]() {
    if (!none)
      none = zeros({chunk, state.keys}, state.element);
    return none;
  };
  // Rows of zeros stand where they break no rule: reads last, writes first.
  for (const Rows *read : reads) {
    x.push_back(read ? read->keys : zeroKeys());
    xPositions.push_back(read ? read->position : state.decays);
    xOrder.push_back(read ? read->order : form.getEvents().size());
  }
  for (const Rows *write : writes) {
    y.push_back(write ? write->keys : zeroKeys());
    yPositions.push_back(write ? write->position : 0);
    yOrder.push_back(write ? write->order : 0);
  }
  // The events of a transition are those of its state, and so are the products
  // of their keys: the same operation, if orders are counted alike.
  if (form.getRecurrence()->hasAttr(kTransitionsAttr)) {
    llvm::SmallSetVector<int64_t, 8> seen(xOrder.begin(), xOrder.end());
    seen.insert(yOrder.begin(), yOrder.end());
    SmallVector<int64_t> all = seen.takeVector();
    llvm::sort(all);
    for (SmallVector<int64_t> *orders : {&xOrder, &yOrder})
      for (int64_t &order : *orders)
        order = llvm::lower_bound(all, order) - all.begin();
  }
  int64_t nx = reads.size(), ny = writes.size();
  auto type = RankedTensorType::get({chunk * nx, chunk * ny}, state.element);
  Value init =
      tensor::EmptyOp::create(builder, loc, type.getShape(), state.element);
  MmaPrecision mma =
      precision == MmaPrecision::BF16x2 || precision == MmaPrecision::TF32x3
          ? MmaPrecision::F32
          : precision;
  return DecayProductOp::create(
      builder, loc, type, interleave(x), interleave(y), state.gates, init,
      builder.getDenseI64ArrayAttr(xPositions),
      builder.getDenseI64ArrayAttr(xOrder),
      builder.getDenseI64ArrayAttr(yPositions),
      builder.getDenseI64ArrayAttr(yOrder),
      MmaPrecisionAttr::get(builder.getContext(), mma));
}

Value ChunkEmitter::decayScan(unsigned number, DecaySpan span,
                              std::optional<int64_t> position) {
  StateRows &state = states[number];
  if (!state.gates)
    return {};
  SmallVector<int64_t> shape;
  DenseI64ArrayAttr positions;
  if (position) {
    shape.push_back(chunk);
    positions = builder.getDenseI64ArrayAttr(*position);
  }
  if (state.perKey)
    shape.push_back(state.keys);
  Value init = tensor::EmptyOp::create(builder, loc, shape, state.element);
  return DecayScanOp::create(builder, loc, init.getType(), span, state.gates,
                             init, positions, (int64_t)state.decays);
}

Value ChunkEmitter::decayTo(const Rows &read) {
  return decayScan(read.event->state, DecaySpan::StartToEvent, read.position);
}

Value ChunkEmitter::decayFrom(const Rows &write) {
  return decayScan(write.event->state, DecaySpan::EventToEnd, write.position);
}

Value ChunkEmitter::decayOver(unsigned number) {
  return decayScan(number, DecaySpan::StartToEnd, std::nullopt);
}

Value ChunkEmitter::applyScale(Value value, const StepEvent &read) {
  std::optional<APFloat> scale = read.getRead().getScale();
  if (!scale)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  Value factor = arith::ConstantOp::create(
      builder, loc, type,
      DenseElementsAttr::get(type,
                             builder.getFloatAttr(type.getElementType(),
                                                  scale->convertToDouble())));
  return arith::MulFOp::create(builder, loc, value, factor);
}

//===----------------------------------------------------------------------===//
// A group of states
//===----------------------------------------------------------------------===//

Value ChunkEmitter::readWrites(const Rows &read, ArrayRef<unsigned> writes,
                               Value onto) {
  unsigned state = read.event->state;
  SmallVector<const Rows *> seen;
  SmallVector<Value> values;
  for (unsigned w : writes)
    if (rows[w].event->state == state) {
      seen.push_back(&rows[w]);
      values.push_back(updates.lookup(w));
    }
  if (seen.empty())
    return onto;
  if (!separateEvents)
    return product(decayProduct(state, {&read}, seen), interleave(values),
                   onto);
  for (auto [write, value] : llvm::zip(seen, values))
    onto = product(decayProduct(state, {&read}, {write}), value, onto);
  return onto;
}

/// R0 + P_z U_z of one read, without its scale: U_z are the writes that need no
/// read and are known from the start.
Value ChunkEmitter::readKnown(unsigned number) {
  auto found = known.find(number);
  if (found != known.end())
    return found->second;
  const Rows &read = rows[number];
  StateRows &state = states[read.event->state];
  Value decay = decayTo(read);
  Value keys = read.keys;
  if (decay && state.perKey)
    keys = scaleRows(keys, decay);
  Value value =
      product(keys, state.start, zeros({chunk, state.values}, state.element));
  if (decay && !state.perKey)
    value = scaleRows(value, decay);

  SmallVector<unsigned> free;
  for (auto [i, row] : llvm::enumerate(rows))
    if (row.event->kind == Kind::Write && row.event->terms.empty())
      free.push_back(i);
  value = readWrites(read, free, value);
  known[number] = value;
  return value;
}

/// (I - B P_f) U = c + B R0_f over the coupled writes of the group.
LogicalResult ChunkEmitter::solve(ArrayRef<unsigned> coupled,
                                  ArrayRef<unsigned> group) {
  System system;
  system.coupled = coupled;
  system.states = group;
  if (failed(prepareSystem(system)))
    return failure();
  if (!separateEvents || coupled.size() == 1)
    solveInterleaved(system);
  // One system per value column has no inverse that all of them share.
  else if (system.perColumn)
    solveColumns(system);
  else
    solveSeparately(system);
  return success();
}

/// c + B (R0_f + P_fz U_z), and b per write and term.
LogicalResult ChunkEmitter::prepareSystem(System &system) {
  StateRows &first = states[rows[system.coupled[0]].event->state];
  int64_t columns = system.columns = first.values;
  Type element = system.element = first.element;
  auto columnsType = VectorType::get({columns}, element);
  size_t terms = 0;
  for (unsigned w : system.coupled) {
    terms = std::max(terms, rows[w].event->terms.size());
    system.perColumn |= rows[w].event->hasPerColumnTerm();
  }
  system.rates.resize(terms);
  for (unsigned w : system.coupled) {
    const StepEvent &write = *rows[w].event;
    Value side;
    if (write.constant) {
      Value c = getCoefficient(write.constant, element, columnsType);
      if (!c)
        return failure();
      if (cast<RankedTensorType>(c.getType()).getRank() == 1)
        c = tiler.broadcast(loc, c, {chunk, columns}, {1});
      side = c;
    }
    for (size_t m = 0; m < terms; ++m) {
      if (m >= write.terms.size()) {
        system.rates[m].push_back(zeros({chunk}, element));
        continue;
      }
      const StepEvent::Term &term = write.terms[m];
      Value b = getCoefficient(term.coefficient, element, columnsType);
      if (!b)
        return failure();
      b = applyScale(b, *rows[term.read].event);
      system.rates[m].push_back(b);
      Value part = scaleRows(readKnown(term.read), b);
      side = side ? arith::AddFOp::create(builder, loc, side, part) : part;
    }
    system.sides.push_back(side ? side : zeros({chunk, columns}, element));
  }
  return success();
}

const ChunkEmitter::Rows *ChunkEmitter::getTermRead(unsigned write, size_t term,
                                                    unsigned state) const {
  ArrayRef<StepEvent::Term> terms = rows[write].event->terms;
  if (term >= terms.size() || rows[terms[term].read].event->state != state)
    return nullptr;
  return &rows[terms[term].read];
}

void ChunkEmitter::solveInterleaved(System &system) {
  ArrayRef<unsigned> coupled = system.coupled;
  int64_t n = coupled.size(), columns = system.columns;
  Type element = system.element;
  Value side = interleave(system.sides);

  // P_f per term: reads that feed writes against the coupled writes.
  SmallVector<Value> matrices;
  int64_t size = chunk * n;
  for (size_t m = 0; m < system.rates.size(); ++m) {
    Value matrix;
    for (unsigned state : system.states) {
      SmallVector<const Rows *> reads, writes;
      bool anyRead = false, anyWrite = false;
      for (unsigned w : coupled) {
        bool isOfState = rows[w].event->state == state;
        reads.push_back(getTermRead(w, m, state));
        writes.push_back(isOfState ? &rows[w] : nullptr);
        anyRead |= reads.back() != nullptr;
        anyWrite |= isOfState;
      }
      if (!anyRead || !anyWrite)
        continue;
      Value p = decayProduct(state, reads, writes);
      matrix = matrix ? arith::AddFOp::create(builder, loc, matrix, p) : p;
    }
    matrices.push_back(matrix ? matrix : zeros({size, size}, element));
  }

  Value update;
  if (system.perColumn) {
    SmallVector<Value> stacked;
    for (SmallVector<Value> &term : system.rates) {
      for (Value &rate : term)
        if (cast<RankedTensorType>(rate.getType()).getRank() == 1)
          rate = tiler.broadcast(loc, rate, {chunk, columns}, {1});
      stacked.push_back(interleave(term));
    }
    Value init = tensor::EmptyOp::create(
        builder, loc, ArrayRef<int64_t>{size, columns}, element);
    update = UnitLowerSolveOp::create(builder, loc, init.getType(), side,
                                      matrices, stacked, init, false);
  } else {
    Value a;
    for (auto [matrix, term] : llvm::zip(matrices, system.rates)) {
      Value scaled = scaleRows(matrix, interleave(term));
      a = a ? arith::AddFOp::create(builder, loc, a, scaled) : scaled;
    }
    update = product(invert(a), side, zeros({size, columns}, element));
  }
  if (n == 1) {
    updates[coupled[0]] = update;
    return;
  }
  // Every n-th row, from the i-th.
  Value split = tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get({chunk, n, columns}, element), update,
      SmallVector<ReassociationIndices>{{0, 1}, {2}});
  for (auto [i, w] : llvm::enumerate(coupled)) {
    SmallVector<OpFoldResult> offsets = {builder.getIndexAttr(0),
                                         builder.getIndexAttr(i),
                                         builder.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(chunk),
                                       builder.getIndexAttr(1),
                                       builder.getIndexAttr(columns)};
    SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
    updates[w] = tensor::ExtractSliceOp::create(
        builder, loc, RankedTensorType::get({chunk, columns}, element), split,
        offsets, sizes, strides);
  }
}

/// (I - a)^-1.
Value ChunkEmitter::invert(Value a) {
  auto type = cast<RankedTensorType>(a.getType());
  Value init = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                       type.getElementType());
  return UnitLowerSolveOp::create(builder, loc, type, Value(), ValueRange{a},
                                  ValueRange{}, init, false);
}

/// Sum over the terms of the `reader`-th write: its rate times what its read
/// sees of the `writer`-th; null if it sees nothing.
Value ChunkEmitter::rateProduct(const System &system, size_t reader,
                                size_t writer) {
  const Rows &write = rows[system.coupled[writer]];
  unsigned state = write.event->state;
  Value sum;
  for (auto [m, rates] : llvm::enumerate(system.rates)) {
    const Rows *read = getTermRead(system.coupled[reader], m, state);
    if (!read)
      continue;
    Value part =
        scaleRows(decayProduct(state, {read}, {&write}), rates[reader]);
    sum = sum ? arith::AddFOp::create(builder, loc, sum, part) : part;
  }
  return sum;
}

/// The inverse of I - M, whose blocks M_ij are what write i sees of write j,
/// grown by one write at a time. With T the inverse of the first of them, X =
/// M_p. T and Y = T M_.p, that of one more is
///
///   T + Y D X   Y D      where D = (I - M_pp - X M_.p)^-1.
///   D X         D
///
/// Every block is triangular over tokens, so that D is one unit triangular
/// system of [C, C]. What enters such a system keeps f32, as the coefficients
/// of the first one do; blocks of the inverse are rounded when they are used
/// anyway.
void ChunkEmitter::solveSeparately(System &system) {
  size_t n = system.coupled.size();
  using Blocks = SmallVector<SmallVector<Value>>;
  Blocks m(n, SmallVector<Value>(n)), t(n, SmallVector<Value>(n));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      m[i][j] = rateProduct(system, i, j);
  auto square = [&] { return zeros({chunk, chunk}, system.element); };
  // onto + a b; null is zero.
  auto addRounded = [&](Value a, Value b, Value onto,
                        MmaPrecision rounding) -> Value {
    if (!a || !b)
      return onto;
    return roundedProduct(builder, loc, a, b, onto ? onto : square(), rounding);
  };
  auto addExact = [&](Value a, Value b, Value onto) {
    return addRounded(a, b, onto, MmaPrecision::F32);
  };
  auto addProduct = [&](Value a, Value b, Value onto) {
    return addRounded(a, b, onto, precision);
  };
  for (size_t p = 0; p < n; ++p) {
    SmallVector<Value> x(p), y(p);
    Value own = m[p][p];
    for (size_t i = 0; i < p; ++i)
      for (size_t k = 0; k < p; ++k) {
        x[i] = addExact(m[p][k], t[k][i], x[i]);
        y[i] = addProduct(t[i][k], m[k][p], y[i]);
      }
    for (size_t i = 0; i < p; ++i)
      own = addExact(x[i], m[i][p], own);
    t[p][p] = invert(own ? own : square());
    for (size_t i = 0; i < p; ++i) {
      t[i][p] = addProduct(y[i], t[p][p], {});
      t[p][i] = addProduct(t[p][p], x[i], {});
    }
    for (size_t i = 0; i < p; ++i)
      for (size_t j = 0; j < p; ++j)
        t[i][j] = addProduct(t[i][p], x[j], t[i][j]);
  }
  for (auto [i, w] : llvm::enumerate(system.coupled)) {
    Value update = zeros({chunk, system.columns}, system.element);
    for (size_t j = 0; j < n; ++j)
      if (t[i][j])
        update = product(t[i][j], system.sides[j], update);
    updates[w] = update;
  }
}

Value ChunkEmitter::stack(ArrayRef<Value> tiles) {
  auto type = cast<RankedTensorType>(tiles[0].getType());
  SmallVector<int64_t> shape = {int64_t(tiles.size())};
  llvm::append_range(shape, type.getShape());
  Value all =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  SmallVector<OpFoldResult> offsets(3, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
  shape[0] = 1;
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    offsets[0] = builder.getIndexAttr(i);
    all = tensor::InsertSliceOp::create(
        builder, loc, tile, all, offsets,
        getAsIndexOpFoldResult(builder.getContext(), shape), strides);
  }
  return all;
}

void ChunkEmitter::solveColumns(System &system) {
  ArrayRef<unsigned> coupled = system.coupled;
  int64_t n = coupled.size(), columns = system.columns;
  Type element = system.element;
  SmallVector<Value> rates, matrices;
  for (auto [m, term] : llvm::enumerate(system.rates)) {
    for (Value &rate : term)
      if (cast<RankedTensorType>(rate.getType()).getRank() == 1)
        rate = tiler.broadcast(loc, rate, {chunk, columns}, {1});
    rates.push_back(stack(term));
    for (unsigned reader : coupled)
      for (unsigned writer : coupled) {
        unsigned state = rows[writer].event->state;
        const Rows *read = getTermRead(reader, m, state);
        matrices.push_back(read ? decayProduct(state, {read}, {&rows[writer]})
                                : zeros({chunk, chunk}, element));
      }
  }
  Value init = tensor::EmptyOp::create(
      builder, loc, ArrayRef<int64_t>{n, chunk, columns}, element);
  Value all = UnitLowerSolveOp::create(builder, loc, init.getType(),
                                       stack(system.sides), matrices, rates,
                                       init, false);
  SmallVector<OpFoldResult> offsets(3, builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
  for (auto [i, w] : llvm::enumerate(coupled)) {
    offsets[0] = builder.getIndexAttr(i);
    updates[w] = tensor::ExtractSliceOp::create(
        builder, loc, RankedTensorType::get({chunk, columns}, element), all,
        offsets,
        getAsIndexOpFoldResult(builder.getContext(), {1, chunk, columns}),
        strides);
  }
}

/// S1 = e^{G_C} S0 + sum over writes (e^{G_C - G} o Y)^T U.
void ChunkEmitter::updateState(unsigned number) {
  StateRows &state = states[number];
  Value next = state.start;
  if (state.gates) {
    Value decay = decayOver(number);
    decay = tiler.broadcast(loc, decay, {state.keys, state.values},
                            state.perKey ? ArrayRef<int64_t>{1}
                                         : ArrayRef<int64_t>{0, 1});
    next = arith::MulFOp::create(builder, loc, decay, next);
  }
  for (auto [i, row] : llvm::enumerate(rows)) {
    if (row.event->kind != Kind::Write || row.event->state != number)
      continue;
    Value keys = row.keys, update = updates.lookup(i);
    if (Value decay = decayFrom(row)) {
      // A scalar goes to the side that is rounded anyway.
      if (state.perKey)
        keys = scaleRows(keys, decay);
      else
        update = scaleRows(update, decay);
    }
    SmallVector<Value> terms = roundOperand(
        builder, loc, keys, getElementTypeOrSelf(keys.getType()), precision);
    // Transposed after it was rounded: half the bytes, and rows are tokens.
    bool rounds = terms[0] != keys;
    for (Value &term : terms)
      term = transposeMatrix(builder, loc, term);
    if (!rounds) {
      next = product(terms[0], update, next);
      continue;
    }
    SmallVector<Value> right =
        roundOperand(builder, loc, update, state.element, precision);
    next = roundedProduct(builder, loc, terms, right, next);
  }
  finalStates[number] = next;
}

LogicalResult ChunkEmitter::emitGroup(ArrayRef<unsigned> group) {
  auto inGroup = [&](const Rows &row) {
    return llvm::is_contained(group, row.event->state);
  };
  SmallVector<unsigned> coupled;
  for (auto [i, row] : llvm::enumerate(rows)) {
    if (row.event->kind != Kind::Write || !inGroup(row))
      continue;
    if (!row.event->terms.empty()) {
      coupled.push_back(i);
      continue;
    }
    StateRows &state = states[row.event->state];
    auto columns = VectorType::get({state.values}, state.element);
    Value c = zeros({chunk, state.values}, state.element);
    if (row.event->constant) {
      c = getCoefficient(row.event->constant, state.element, columns);
      if (!c)
        return failure();
      if (cast<RankedTensorType>(c.getType()).getRank() == 1)
        c = tiler.broadcast(loc, c, {chunk, state.values}, {1});
    }
    updates[i] = c;
  }
  if (!coupled.empty() && failed(solve(coupled, group)))
    return failure();

  for (auto [i, row] : llvm::enumerate(rows)) {
    if (row.event->kind != Kind::Read || !row.event->reachesOutput ||
        !inGroup(row))
      continue;
    Value value = readWrites(row, coupled, readKnown(i));
    tiler.map(row.event->getRead().getResult(), applyScale(value, *row.event));
  }
  for (unsigned state : group)
    updateState(state);
  return success();
}

FailureOr<SmallVector<Value>> ChunkEmitter::emit() {
  CoefficientBuilder builderOfCoefficients(form);
  coefficients = &builderOfCoefficients;
  for (unsigned i = 0; i < states.size(); ++i)
    if (failed(prepareState(i)))
      return failure();
  if (failed(prepareEvents()))
    return failure();
  // States whose writes need each other's reads are solved together.
  llvm::EquivalenceClasses<unsigned> groups;
  for (unsigned i = 0; i < states.size(); ++i)
    groups.insert(i);
  for (const StepEvent &event : form.getEvents())
    for (const StepEvent::Term &term : event.terms)
      groups.unionSets(event.state, form.getEvents()[term.read].state);
  llvm::SmallVector<bool> done(states.size(), false);
  for (unsigned i = 0; i < states.size(); ++i) {
    if (done[i])
      continue;
    SmallVector<unsigned> group;
    for (unsigned j = i; j < states.size(); ++j)
      if (groups.isEquivalent(i, j)) {
        group.push_back(j);
        done[j] = true;
      }
    if (failed(emitGroup(group)))
      return failure();
  }
  return finalStates;
}
