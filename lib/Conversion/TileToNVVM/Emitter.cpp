//===- Emitter.cpp - a kernel while it is translated ----------------------===//

#include "Emitter.h"
#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn::device;
using namespace linattn::tilenvvm;
using namespace linattn::tile;

//===----------------------------------------------------------------------===//
// Registers of a fragment
//===----------------------------------------------------------------------===//

bool linattn::tilenvvm::isPacked(RankedTensorType type) {
  return isa<AccAttr>(type.getEncoding()) &&
         type.getElementType().isIntOrFloat() &&
         type.getElementTypeBitWidth() == 16;
}

Type linattn::tilenvvm::getRegisterType(RankedTensorType type) {
  if (isPacked(type))
    return VectorType::get({2}, type.getElementType());
  return type.getElementType();
}

int64_t linattn::tilenvvm::getNumRegisters(RankedTensorType type) {
  return getElementsPerLane(type) / (isPacked(type) ? 2 : 1);
}

//===----------------------------------------------------------------------===//
// Sums of what depends on lane and warp
//===----------------------------------------------------------------------===//

LaneSum LaneSum::ofLane(int64_t div, int64_t mod, int64_t scale) {
  if (mod == 1 || scale == 0)
    return {};
  return {{Term{false, div, mod, scale}}};
}

LaneSum LaneSum::ofWarp(int64_t mod, int64_t scale, int64_t div) {
  if (mod == 1 || scale == 0)
    return {};
  return {{Term{true, div, mod, scale}}};
}

LaneSum LaneSum::of(LaneTerm term) {
  return ofLane(term.laneDiv, term.laneMod, term.laneScale) +
         ofWarp(term.warpMod, term.warpScale, term.warpDiv);
}

LaneSum LaneSum::operator*(int64_t factor) const {
  LaneSum result = *this;
  for (Term &term : result.terms)
    term.scale *= factor;
  return result;
}

LaneSum LaneSum::operator+(const LaneSum &other) const {
  LaneSum result = *this;
  llvm::append_range(result.terms, other.terms);
  return result;
}

int64_t LaneSum::at(int64_t lane, int64_t warp) const {
  int64_t sum = 0;
  for (const Term &term : terms)
    sum += (term.ofWarp ? warp : lane) / term.div % term.mod * term.scale;
  return sum;
}

int64_t LaneSum::bits() const {
  int64_t bits = 0;
  for (const Term &term : terms)
    bits |= (term.mod - 1) * term.scale;
  return bits;
}

std::vector<int64_t> LaneSum::key() const {
  std::vector<int64_t> key;
  for (const Term &term : terms)
    key.insert(key.end(), {term.ofWarp, term.div, term.mod, term.scale});
  return key;
}

Value Emitter::evaluate(const LaneSum &sum) {
  auto [it, isNew] = invariants.sums.try_emplace(sum.key());
  if (!isNew)
    return it->second;
  Value result = hoisted([&] {
    Value total = i32(0);
    for (const LaneSum::Term &term : sum.terms) {
      Value part = divI(term.ofWarp ? getWarp() : getLane(), term.div);
      // The lane is below 32 and the warp below the number of warps.
      if (term.mod * term.div < (term.ofWarp ? warps : kWarpSize))
        part = remI(part, term.mod);
      total = addI(total, mulI(part, i32(term.scale)));
    }
    return total;
  });
  return invariants.sums[sum.key()] = result;
}

Value Emitter::isWriter(RankedTensorType type) {
  Replication copies = getReplication(type);
  std::vector<int64_t> key = {copies.laneDiv, copies.laneMod, copies.warpMod,
                              copies.warpCount};
  auto it = invariants.writers.find(key);
  if (it != invariants.writers.end())
    return it->second;
  Value result = hoisted([&]() -> Value {
    Value writes;
    if (copies.laneMod > 1)
      writes = isEqual(
          evaluate(LaneSum::ofLane(copies.laneDiv, copies.laneMod, 1)), i32(0));
    int64_t different = std::min(copies.warpMod, warps);
    if (copies.warpCount < different)
      writes = both(writes, isLess(evaluate(LaneSum::ofWarp(different, 1)),
                                   i32(copies.warpCount)));
    return writes;
  });
  return invariants.writers[key] = result;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Stands between what is invariant and the rest until all is written.
void Emitter::mark() {
  invariants = Invariants();
  invariants.end =
      LLVM::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  marks.push_back(invariants.end);
}

void Emitter::emitPosition(Value thread) {
  invariants.thread = thread;
  invariants.lane = andI(thread, i32(kWarpSize - 1));
  invariants.warp = warps == 1 ? i32(0) : shrI(thread, 5);
}

void Emitter::begin(StringRef arenaName) {
  mark();
  hoisted([&] {
    emitPosition(emitThreadIndex(builder, loc));
    auto type = LLVM::LLVMPointerType::get(builder.getContext(), 3);
    arena = LLVM::AddressOfOp::create(builder, loc, type, arenaName);
    return arena;
  });
}

void Emitter::beginAgain() {
  mark();
  hoisted([&] {
    emitPosition(emitThreadIndexHere(builder, loc));
    return invariants.thread;
  });
}

void Emitter::finish() {
  for (Operation *op : marks)
    op->erase();
}

/// Where a panel's rows of 16 bytes change places.
static int64_t swizzleMask(SmemType type) { return type.getSwizzle() - 16; }

Value Emitter::storageOffset(SmemType type, Value row, Value byte) {
  int64_t panel = type.getPanelBytes();
  if (!type.getSwizzle())
    return addI(mulI(row, i32(panel)), byte);
  Value panelStart = mulI(divI(byte, panel), i32(panel * type.getStorage()[0]));
  Value inPanel = addI(mulI(row, i32(panel)), remI(byte, panel));
  Value mask = andI(shrI(inPanel, 3), i32(swizzleMask(type)));
  return addI(panelStart, xorI(inPanel, mask));
}

Value Emitter::pointerTo(const SmemTile &tile) {
  Value pointer = arena;
  if (tile.dynamic)
    pointer = advance(pointer, tile.dynamic);
  return advance(pointer, tile.offset);
}

Value Emitter::pointerTo(const SmemTile &tile, const LaneSum &viewRows,
                         const LaneSum &viewColumns, int64_t viewRow,
                         int64_t viewColumn) {
  SmemType type = tile.type;
  int64_t bytes = type.getElementBytes();
  LaneSum rows = viewRows, columns = viewColumns;
  int64_t row = viewRow, column = viewColumn;
  if (type.getTransposed()) {
    std::swap(rows, columns);
    std::swap(row, column);
  }
  row += tile.row;
  columns = columns * bytes;
  int64_t byte = (column + tile.column) * bytes;

  // What depends on the lane is one of few registers for the whole kernel; the
  // rest is a constant that the instruction holds. Adding 8 rows adds a
  // constant, since they swizzle alike.
  int64_t panel = type.getPanelBytes(), inPanel = byte, fixed = 0;
  int64_t odd = type.getSwizzle() ? row % 8 : 0;
  fixed += (row - odd) * panel;
  bool split = !type.getSwizzle();
  if (split) {
    fixed += byte;
    inPanel = 0;
  } else if ((columns.bits() & ~(panel - 1)) == 0 &&
             (columns.bits() & byte & (panel - 1)) == 0) {
    split = true;
    inPanel = byte % panel;
    fixed += byte / panel * panel * type.getStorage()[0];
  }
  // A register less for each place in a panel: the stage's address has zeros
  // where the place is.
  int64_t late = 0;
  if (isShortOfRegisters && tile.dynamic && type.getSwizzle() && split)
    std::swap(late, inPanel);
  std::vector<int64_t> key = {panel, type.getSwizzle(), odd, inPanel,
                              split ? 0 : type.getStorage()[0]};
  for (const LaneSum &sum : {rows, columns}) {
    key.push_back(-1);
    llvm::append_range(key, sum.key());
  }
  auto it = invariants.offsets.find(key);
  if (it == invariants.offsets.end()) {
    Value offset = hoisted([&]() -> Value {
      Value atRow = addI(evaluate(rows), i32(odd));
      if (!type.getSwizzle())
        return addI(mulI(atRow, i32(panel)), evaluate(columns));
      if (!split)
        return storageOffset(type, atRow,
                             addI(evaluate(columns), i32(inPanel)));
      Value start = addI(mulI(atRow, i32(panel)), evaluate(columns));
      Value swizzled =
          xorI(start, andI(shrI(start, 3), i32(swizzleMask(type))));
      return xorI(swizzled, i32(inPanel));
    });
    it = invariants.offsets.emplace(key, offset).first;
  }
  fixed += tile.offset;
  Value pointer;
  if (tile.dynamic) {
    pointer = advance(advance(arena, tile.dynamic), it->second);
    if (late != 0)
      pointer = exclusiveOr(pointer, late);
  } else {
    Value &known = invariants.pointers[{arena.getAsOpaquePointer(),
                                        it->second.getAsOpaquePointer()}];
    if (!known)
      known = hoisted([&] { return advance(arena, it->second); });
    pointer = known;
  }
  return advance(pointer, fixed);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value Emitter::hoisted(llvm::function_ref<Value()> build) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(invariants.end);
  return build();
}

Value Emitter::constant(TypedAttr value) {
  return arith::ConstantOp::create(builder, loc, value);
}
Value Emitter::i1(bool value) { return constant(builder.getBoolAttr(value)); }
Value Emitter::i32(int64_t value) {
  return constant(builder.getI32IntegerAttr(value));
}
Value Emitter::i64(int64_t value) {
  return constant(builder.getI64IntegerAttr(value));
}
Value Emitter::f32(double value) {
  return constant(builder.getF32FloatAttr(value));
}

Value Emitter::addI(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}
Value Emitter::subI(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}
Value Emitter::mulI(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}
/// Of numbers that are not negative, as are all that are divided here.
Value Emitter::divI(Value a, int64_t by) {
  if (by == 1)
    return a;
  if (llvm::isPowerOf2_64(by))
    return shrI(a, llvm::Log2_64(by));
  Value divisor = constant(builder.getIntegerAttr(a.getType(), by));
  return builder.createOrFold<arith::DivUIOp>(loc, a, divisor);
}
Value Emitter::remI(Value a, int64_t by) {
  if (llvm::isPowerOf2_64(by))
    return andI(a, constant(builder.getIntegerAttr(a.getType(), by - 1)));
  Value divisor = constant(builder.getIntegerAttr(a.getType(), by));
  return builder.createOrFold<arith::RemUIOp>(loc, a, divisor);
}
Value Emitter::andI(Value a, Value b) {
  return builder.createOrFold<arith::AndIOp>(loc, a, b);
}
Value Emitter::xorI(Value a, Value b) {
  return builder.createOrFold<arith::XOrIOp>(loc, a, b);
}
Value Emitter::shrI(Value a, int64_t bits) {
  Value amount = constant(builder.getIntegerAttr(a.getType(), bits));
  return builder.createOrFold<arith::ShRUIOp>(loc, a, amount);
}
Value Emitter::isLess(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a,
                                             b);
}
Value Emitter::isEqual(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a,
                                             b);
}

static Value toInteger(Emitter &e, Value value, IntegerType type) {
  if (value.getType() == type)
    return value;
  if (value.getType().isIndex())
    return e.builder.createOrFold<arith::IndexCastOp>(e.loc, type, value);
  if (value.getType().getIntOrFloatBitWidth() > type.getWidth())
    return e.builder.createOrFold<arith::TruncIOp>(e.loc, type, value);
  return e.builder.createOrFold<arith::ExtSIOp>(e.loc, type, value);
}
Value Emitter::toI32(Value value) {
  return toInteger(*this, value, builder.getI32Type());
}
Value Emitter::toI64(Value value) {
  return toInteger(*this, value, builder.getI64Type());
}

Value Emitter::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}
Value Emitter::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return andI(a, b);
}

Value Emitter::addF(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value Emitter::subF(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value Emitter::mulF(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}

Value Emitter::bitcast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return LLVM::BitcastOp::create(builder, loc, type, value);
}

Value Emitter::vectorOf(ValueRange elements) {
  auto type =
      VectorType::get({int64_t(elements.size())}, elements[0].getType());
  Value vector = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, element] : llvm::enumerate(elements))
    vector =
        LLVM::InsertElementOp::create(builder, loc, vector, element, i32(i));
  return vector;
}

Value Emitter::pack(Value low, Value high) { return vectorOf({low, high}); }

Value Emitter::extract(Value vector, int64_t number) {
  return LLVM::ExtractElementOp::create(builder, loc, vector, i32(number));
}

Value Emitter::roundPair(Value low, Value high, Type element) {
  return arith::TruncFOp::create(builder, loc, VectorType::get({2}, element),
                                 pack(low, high));
}

std::pair<Value, Value> Emitter::widenPair(Value pair) {
  Type f32 = builder.getF32Type();
  if (!cast<VectorType>(pair.getType()).getElementType().isBF16())
    return {arith::ExtFOp::create(builder, loc, f32, extract(pair, 0)),
            arith::ExtFOp::create(builder, loc, f32, extract(pair, 1))};
  // One integer operation each; from extractions LLVM would make conversions
  // of single elements, which are slow.
  Value bits = bitcast(pair, builder.getI32Type());
  Value low = arith::ShLIOp::create(builder, loc, bits, i32(16));
  return {bitcast(low, f32), bitcast(andI(bits, i32(-65536)), f32)};
}

//===----------------------------------------------------------------------===//
// Memory and control
//===----------------------------------------------------------------------===//

Value Emitter::advance(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value Emitter::advance(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
}

Value Emitter::exclusiveOr(Value pointer, int64_t bits) {
  Value address =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
  return LLVM::IntToPtrOp::create(builder, loc, pointer.getType(),
                                  xorI(address, i32(bits)));
}

Value Emitter::load(Type type, Value pointer, int64_t alignment) {
  return LLVM::LoadOp::create(builder, loc, type, pointer, alignment);
}

void Emitter::store(Value value, Value pointer, int64_t alignment) {
  LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
}

void Emitter::when(Value condition, llvm::function_ref<void()> then) {
  if (!condition)
    return then();
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
}

Registers Emitter::orZero(Value condition, TypeRange types,
                          llvm::function_ref<Registers()> then) {
  if (!condition)
    return then();
  auto branch =
      scf::IfOp::create(builder, loc, types, condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, then());
  builder.setInsertionPointToStart(branch.elseBlock());
  Registers zeros;
  for (Type type : types)
    zeros.push_back(constant(cast<TypedAttr>(builder.getZeroAttr(type))));
  scf::YieldOp::create(builder, loc, zeros);
  return branch.getResults();
}

Registers Emitter::unpack(ValueRange registers) {
  Registers elements;
  for (Value value : registers) {
    if (!isa<VectorType>(value.getType())) {
      elements.push_back(value);
      continue;
    }
    elements.push_back(extract(value, 0));
    elements.push_back(extract(value, 1));
  }
  return elements;
}

Registers Emitter::packAs(RankedTensorType type, ValueRange elements) {
  if (!isPacked(type))
    return elements;
  Registers registers;
  for (size_t i = 0; i < elements.size(); i += 2)
    registers.push_back(pack(elements[i], elements[i + 1]));
  return registers;
}
