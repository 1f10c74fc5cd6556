//===- TokensAhead.cpp - what tokens need of themselves, ahead ------------===//

#include "TokensAhead.h"

#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

/// Address space of shared memory.
static constexpr unsigned kShared = 3;
/// Tokens at once, if warps and memory allow it: calls of decoding have few.
static constexpr int64_t kTokens = 8;
static constexpr int64_t kMaxRounds = 4;
/// Floats of all tokens: blocks share the memory of a multiprocessor, and what
/// depends on states needs some of what a kernel may have.
static constexpr int64_t kMaxFloats = 6 * 1024;
/// Floats of the widest access.
static constexpr int64_t kAlignment = 4;

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

bool TokensAhead::isComputed(Value value) const {
  return perToken.contains(value) && !dependent.contains(value) &&
         isFloat(value);
}

/// Not less than what the turns of a token will ask for.
int64_t TokensAhead::estimateFloats() const {
  const KernelPlan &plan = frame.plan;
  llvm::DenseSet<Value> asked;
  int64_t floats = 0;
  for (Operation &inner : *frame.op.getBody()) {
    bool isTurn = isa<ReadOp, WriteOp, DecayOp, YieldOp>(inner) ||
                  llvm::any_of(inner.getResults(), [&](Value result) {
                    return dependent.contains(result);
                  });
    if (!isTurn)
      continue;
    for (Value operand : inner.getOperands()) {
      if (isa<StateType>(operand.getType()) || dependent.contains(operand) ||
          !asked.insert(operand).second)
        continue;
      auto vector = dyn_cast<VectorType>(operand.getType());
      int64_t size = vector ? vector.getNumElements() : 1;
      // As rows or as columns of each of its rows, hardly as both.
      int64_t outer = vector && vector.getRank() > 1 ? vector.getDimSize(0) : 1;
      floats += std::max(plan.paddedKeys(size), plan.width * outer);
    }
  }
  return floats;
}

void TokensAhead::begin(StringRef name) {
  Block &step = *frame.op.getBody();
  for (BlockArgument arg : frame.op.getTokenArgs())
    perToken.insert(arg);
  for (Operation &inner : step)
    if (llvm::any_of(inner.getOperands(),
                     [&](Value operand) { return perToken.contains(operand); }))
      perToken.insert(inner.result_begin(), inner.result_end());

  int64_t fitting = kMaxFloats / std::max<int64_t>(estimateFloats(), 1);
  rounds = std::min(
      {std::max<int64_t>(kTokens / warps(), 1), kMaxRounds, fitting / warps()});
  if (!isUsed())
    return;
  symbol = name.str();
  array = LLVM::AddressOfOp::create(
      frame.builder, frame.loc,
      LLVM::LLVMPointerType::get(frame.builder.getContext(), kShared), symbol);
}

Value TokensAhead::tokenSize() {
  // Not 0: nothing is added where an offset is 0.
  Value size = frame.i32(-1);
  tokenSizes.push_back(size.getDefiningOp());
  return size;
}

Value TokensAhead::address(Value place, int64_t slot, Value element) {
  Value offset = frame.i32(slot);
  if (element)
    offset = frame.addI(element, offset);
  return frame.advance(place, frame.builder.getF32Type(), offset);
}

int64_t TokensAhead::allocateNumbers(int64_t count) {
  auto *group = llvm::find_if(
      numberGroups, [&](const auto &group) { return group.second >= count; });
  if (group == numberGroups.end()) {
    numberGroups.emplace_back(used, kAlignment);
    used += kAlignment;
    group = &numberGroups.back();
  }
  int64_t slot = group->first;
  group->first += count;
  group->second -= count;
  return slot;
}

TokensAhead::Item &TokensAhead::ask(Kind kind, Value value,
                                    ArrayRef<int64_t> at) {
  for (Item &item : items)
    if (item.kind == kind && item.value == value && item.at == at)
      return item;
  Item &item = items.emplace_back();
  item.kind = kind;
  item.value = value;
  item.at.assign(at.begin(), at.end());
  switch (kind) {
  case Kind::Number:
    item.slot = allocateNumbers(1);
    break;
  case Kind::Factor:
    item.slot = allocateNumbers(3);
    break;
  case Kind::Columns:
    item.slot = used;
    used += llvm::alignTo(frame.plan.width, kAlignment);
    break;
  case Kind::Rows:
  case Kind::Exponentials:
    item.slot = used;
    used +=
        llvm::alignTo(frame.plan.paddedKeys(
                          cast<VectorType>(value.getType()).getNumElements()),
                      kAlignment);
    break;
  }
  return item;
}

//===----------------------------------------------------------------------===//
// A token's turn
//===----------------------------------------------------------------------===//

void TokensAhead::beginToken() {
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  Value local = arith::TruncIOp::create(
      builder, loc, builder.getI32Type(),
      arith::SubIOp::create(builder, loc, frame.token, frame.begin));
  Value place =
      arith::RemUIOp::create(builder, loc, local, frame.i32(tokens()));
  auto compare = [&](arith::CmpIPredicate predicate, Value a) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, frame.i32(0));
  };
  Value isFirst = arith::AndIOp::create(
      builder, loc, compare(arith::CmpIPredicate::eq, place),
      compare(arith::CmpIPredicate::ne, local));
  again = scf::IfOp::create(builder, loc, isFirst, /*withElseRegion=*/false);
  current = frame.advance(array->getResult(0), builder.getF32Type(),
                          frame.mulI(place, tokenSize()));
}

Value TokensAhead::element(StepEvaluator &turn, Value value,
                           ArrayRef<Coord> at) {
  // Not copies of what is broadcast.
  if (!isUsed() || !isComputed(value) ||
      value.getDefiningOp<vector::BroadcastOp>())
    return {};
  OpBuilder &builder = frame.builder;
  Type f32 = builder.getF32Type();
  SmallVector<int64_t, 2> numbers;
  for (const Coord &coord : at)
    if (coord.isNumber())
      numbers.push_back(coord.number);
  if (numbers.size() == at.size()) {
    Item &item = ask(Kind::Number, value, numbers);
    if (item.loaded.empty())
      item.loaded.push_back(
          frame.load(f32, address(current, item.slot), sizeof(float)));
    return item.loaded.front();
  }
  if (numbers.size() + 1 != at.size() || at.back().isNumber())
    return {};
  int64_t size = cast<VectorType>(value.getType()).getShape().back();
  for (unsigned part : llvm::seq(frame.plan.vector)) {
    if (!(at.back() == turn.columnOf(size, part)))
      continue;
    Item &item = ask(Kind::Columns, value, numbers);
    if (item.loaded.empty()) {
      // All parts at once. Threads beyond the last column have its copies.
      int64_t vector = frame.plan.vector;
      Value own = frame.hoisted({}, [&]() -> Value {
        return arith::SubIOp::create(
            builder, frame.loc, frame.columns[0],
            frame.mulI(frame.slice, frame.i32(frame.plan.width)));
      });
      Value place = address(current, item.slot, own);
      unsigned bytes = std::min(vector, kAlignment) * sizeof(float);
      if (vector == 1) {
        item.loaded.push_back(frame.load(f32, place, bytes));
      } else {
        Value all = frame.load(VectorType::get(vector, f32), place, bytes);
        for (unsigned i : llvm::seq(vector))
          item.loaded.push_back(LLVM::ExtractElementOp::create(
              builder, frame.loc, all, frame.i32(i)));
      }
    }
    return item.loaded[part];
  }
  return {};
}

Value TokensAhead::rows(Value vector, bool exponential, Value element,
                        int64_t first) {
  if (!isUsed() || dependent.contains(vector))
    return {};
  Item &item = ask(exponential ? Kind::Exponentials : Kind::Rows, vector);
  return address(current, item.slot + first, element);
}

LogDecay TokensAhead::decay(Value gate) {
  LogDecay decay;
  if (!isUsed() || !isComputed(gate))
    return decay;
  Item &item = ask(Kind::Factor, gate);
  auto load = [&](int64_t i) {
    return frame.load(frame.builder.getF32Type(),
                      address(current, item.slot + i), sizeof(float));
  };
  decay.factor = load(0);
  decay.rest = load(1);
  decay.lasting =
      arith::CmpFOp::create(frame.builder, frame.loc, arith::CmpFPredicate::ONE,
                            load(2), frame.f32(0));
  return decay;
}

//===----------------------------------------------------------------------===//
// Ahead
//===----------------------------------------------------------------------===//

/// The floats of a vector in shared memory.
int64_t TokensAhead::sizeOf(const Item &item) const {
  int64_t size = cast<VectorType>(item.value.getType()).getShape().back();
  bool isColumns = item.kind == Kind::Columns;
  return llvm::alignTo(
      isColumns ? frame.plan.width : frame.plan.paddedKeys(size), kAlignment);
}

void TokensAhead::emitPiece(StepEvaluator &evaluator, const Item &item,
                            Value place, int64_t first) {
  OpBuilder &builder = frame.builder;
  const KernelPlan &plan = frame.plan;
  bool isColumns = item.kind == Kind::Columns;
  int64_t size = cast<VectorType>(item.value.getType()).getShape().back();
  Value lane = evaluator.warpLane();
  Coord at = evaluator.laneElement(first, size);
  if (isColumns && plan.slices != 1)
    at = frame.hoisted({}, [&] {
      Value column = frame.addI(frame.mulI(frame.slice, frame.i32(plan.width)),
                                frame.addI(lane, frame.i32(first)));
      return frame.minI(column, frame.i32(size - 1));
    });
  SmallVector<Coord, 2> coords(item.at.begin(), item.at.end());
  coords.push_back(at);
  Value element = evaluator.elementF32(item.value, coords);
  if (item.kind == Kind::Exponentials)
    element = math::ExpOp::create(builder, frame.loc, element);
  auto isBelow = [&](int64_t bound) {
    return frame.hoisted(
        {}, [&] { return frame.isLess(lane, frame.i32(bound - first)); });
  };
  if (!isColumns && first + kWarpSize > size)
    element = frame.select(isBelow(size), element, frame.f32(0));
  int64_t floats = sizeOf(item);
  frame.when(first + kWarpSize > floats ? isBelow(floats) : Value(), [&] {
    frame.store(element, address(place, item.slot + first, lane),
                sizeof(float));
  });
}

void TokensAhead::emitRound(Value first, int64_t round, Operation *loads,
                            llvm::function_ref<void(StepEvaluator &)> bind) {
  OpBuilder &builder = frame.builder;
  Location loc = frame.loc;
  Value warp = frame.hoisted({}, [&]() -> Value {
    Value own = warps() == 1 ? frame.i32(0)
                             : Value(arith::ShRUIOp::create(
                                   builder, loc, frame.thread,
                                   frame.i32(llvm::Log2_64(kWarpSize))));
    return frame.addI(own, frame.i32(round * warps()));
  });
  Value place = frame.hoisted({}, [&] {
    return frame.advance(array->getResult(0), builder.getF32Type(),
                         frame.mulI(warp, tokenSize()));
  });
  Value turn = frame.token;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loads);
    // Warps without a token take the last: loads need no branch.
    Value last = arith::SubIOp::create(builder, loc, frame.end, frame.i64(1));
    frame.token = frame.minI(frame.addI(first, frame.toI64(warp)), last);
  }
  StepEvaluator evaluator(frame, shared, dependent);
  evaluator.setAhead(loads);
  bind(evaluator);
  SmallVector<std::pair<int64_t, Value>> numbers;
  for (const Item &item : items) {
    switch (item.kind) {
    case Kind::Number: {
      SmallVector<Coord, 2> at(item.at.begin(), item.at.end());
      numbers.emplace_back(item.slot, evaluator.elementF32(item.value, at));
      break;
    }
    case Kind::Factor: {
      LogDecay decay = emitJoined(
          frame, emitLogDecay(frame, evaluator.elementF32(item.value, {})));
      numbers.emplace_back(item.slot, decay.factor);
      numbers.emplace_back(item.slot + 1, decay.rest);
      numbers.emplace_back(
          item.slot + 2,
          frame.select(decay.lasting, frame.f32(1), frame.f32(0)));
      break;
    }
    default:
      for (int64_t piece = 0; piece < sizeOf(item); piece += kWarpSize)
        emitPiece(evaluator, item, place, piece);
    }
  }
  // LLVM makes one load of four floats of loads of three.
  for (auto [next, free] : numberGroups)
    for (int64_t i : llvm::seq(free))
      numbers.emplace_back(next + i, frame.f32(0));
  if (!numbers.empty()) {
    Value isFirst = frame.hoisted({}, [&]() -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                   evaluator.warpLane(), frame.i32(0));
    });
    frame.when(isFirst, [&] {
      for (auto [slot, number] : numbers)
        frame.store(number, address(place, slot), sizeof(float));
    });
  }
  frame.token = turn;
}

/// Hands on what a branch without results has loaded; nothing uses it where the
/// branch is not taken.
static void yieldUsed(OpBuilder &builder, scf::IfOp branch) {
  auto isOutside = [](scf::IfOp branch) {
    return [=](OpOperand &use) mutable {
      return !branch->isProperAncestor(use.getOwner());
    };
  };
  SmallVector<Value> used;
  for (Operation &inner : branch.thenBlock()->without_terminator())
    for (Value result : inner.getResults())
      if (llvm::any_of(result.getUses(), isOutside(branch)))
        used.push_back(result);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch);
  Location loc = branch.getLoc();
  auto whole =
      scf::IfOp::create(builder, loc, ValueRange(used).getTypes(),
                        branch.getCondition(), /*withElseRegion=*/true);
  Block *from = branch.thenBlock(), *to = whole.thenBlock();
  to->getOperations().splice(to->begin(), from->getOperations(), from->begin(),
                             from->getTerminator()->getIterator());
  builder.setInsertionPointToEnd(to);
  scf::YieldOp::create(builder, loc, used);
  builder.setInsertionPointToEnd(whole.elseBlock());
  SmallVector<Value> none;
  for (Value value : used)
    none.push_back(LLVM::PoisonOp::create(builder, loc, value.getType()));
  scf::YieldOp::create(builder, loc, none);
  for (auto [value, result] : llvm::zip_equal(used, whole.getResults()))
    value.replaceUsesWithIf(result, isOutside(whole));
  branch.erase();
}

void TokensAhead::emitRounds(Value first, Operation *loads,
                             llvm::function_ref<void(StepEvaluator &)> bind) {
  OpBuilder &builder = frame.builder;
  auto hasTokens = [&](int64_t round) {
    Value next = frame.addI(first, frame.i64(round * warps()));
    return frame.isLess(next, frame.end);
  };
  auto place = [&] { return frame.i32(0).getDefiningOp(); };
  emitRound(first, 0, loads ? loads : place(), bind);
  for (int64_t round : llvm::seq<int64_t>(1, rounds)) {
    if (!loads) {
      frame.when(hasTokens(round),
                 [&] { emitRound(first, round, place(), bind); });
      continue;
    }
    scf::IfOp branch;
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(loads);
      branch = scf::IfOp::create(builder, frame.loc, hasTokens(round),
                                 /*withElseRegion=*/false);
    }
    frame.when(branch.getCondition(), [&] {
      emitRound(first, round, branch.thenBlock()->getTerminator(), bind);
    });
    yieldUsed(builder, branch);
  }
  frame.barrier();
}

void TokensAhead::finish(Operation *module,
                         llvm::function_ref<void(StepEvaluator &)> bind) {
  if (!isUsed())
    return;
  OpBuilder &builder = frame.builder;
  OpBuilder::InsertionGuard guard(builder);
  // The first tokens' loads before those of the states: what is computed from
  // them does not wait for the states. And all before anything waits for one of
  // them: where memory is busy, one wait is long.
  builder.setInsertionPoint(frame.loop);
  emitRounds(frame.begin, frame.firstTokenEnd, bind);
  // All have done with the tokens before.
  auto branch = cast<scf::IfOp>(again);
  builder.setInsertionPointToStart(branch.thenBlock());
  frame.barrier();
  emitRounds(frame.token, nullptr, bind);

  for (Operation *size : tokenSizes)
    size->setAttr("value", builder.getI32IntegerAttr(used));
  builder.setInsertionPointToStart(&module->getRegion(0).front());
  auto type = LLVM::LLVMArrayType::get(builder.getF32Type(),
                                       std::max<int64_t>(used, 1) * tokens());
  LLVM::GlobalOp::create(builder, frame.loc, type, /*isConstant=*/false,
                         LLVM::Linkage::Internal, symbol, Attribute(),
                         /*alignment=*/16, kShared);
}
