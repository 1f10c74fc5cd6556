//===- ConvKernel.cpp - the kernel of a short convolution -----------------===//

#include "ConvKernel.h"

#include "../Common/ConvolveToken.h"
#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

/// Bytes of the input that a thread takes of a token, tokens whose loads are
/// under way together, and blocks on a multiprocessor. Of a copy's bandwidth an
/// H200 reaches 92 % so, 81 % with 16 bytes of four tokens (128 registers leave
/// room for four blocks).
static constexpr int64_t kTokenBytes = 8;
static constexpr int64_t kUnroll = 8;
static constexpr int64_t kBlocks = 6;
/// The widest access of a thread.
static constexpr int64_t kAccessBytes = 16;

static int64_t bytesOf(Type element) {
  return element.getIntOrFloatBitWidth() / 8;
}

FailureOr<ConvPlan> ConvPlan::get(const KernelSignature &signature,
                                  ShortConvOp op) {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (Type element = getElementTypeOrSelf(operand.getType()); element.isF64())
      return op.emitOpError()
             << "is not lowered to a SIMT kernel: it computes in f32, operand "
             << i << " is " << operand.getType() << " (f64 runs on the CPU)";
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t channels = type.getShape().back();
  ConvPlan plan;
  plan.vector =
      std::gcd(channels, kTokenBytes / bytesOf(type.getElementType()));
  plan.lanes = channels / plan.vector;
  plan.writesWindow = op.getWindow() && !signature.getResult(1).empty();
  return plan;
}

ConvKernel::ConvKernel(const KernelSignature &signature, const ConvPlan &plan,
                       OpBuilder &builder)
    : signature(signature), plan(plan),
      op(cast<ShortConvOp>(signature.getOp().getOperation())), builder(builder),
      code(builder, op.getLoc()), taps(op.getWidth()),
      element(getElementTypeOrSelf(op.getInput().getType())) {}

void ConvKernel::run(Operation *module, StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  KernelFunction kernel =
      createKernel(code, module, name, signature, plan.threads, kBlocks);
  tensors = std::move(kernel.tensors);
  time = kernel.time;
  numSequences = kernel.numSequences;

  Value block = code.toI64(emitBlockIndex(builder, code.loc));
  Value thread = code.addI(code.mulI(block, code.i64(plan.threads)),
                           code.toI64(emitThreadIndex(builder, code.loc)));
  Value lanes = code.i64(plan.lanes);
  item = arith::DivUIOp::create(builder, code.loc, thread, lanes);
  channel = code.mulI(arith::RemUIOp::create(builder, code.loc, thread, lanes),
                      code.i64(plan.vector));
  if (op.isPacked())
    emitPackedPosition();
  else
    emitDensePosition();
  code.when(isUsed, [&] {
    if (plan.vector == 1)
      return emitRun(/*wide=*/true);
    auto branch = scf::IfOp::create(builder, code.loc, isAligned(),
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitRun(/*wide=*/true);
    builder.setInsertionPointToStart(branch.elseBlock());
    emitRun(/*wide=*/false);
  });
}

//===----------------------------------------------------------------------===//
// Where the thread stands
//===----------------------------------------------------------------------===//

void ConvKernel::emitDensePosition() {
  Location loc = code.loc;
  Value run = code.i64(plan.run);
  Value rounded =
      plan.writesWindow ? time : code.addI(time, code.i64(plan.run - 1));
  Value runs = arith::DivUIOp::create(builder, loc, rounded, run);
  if (plan.writesWindow)
    runs = code.addI(runs, code.i64(1));
  // No run at all launches nothing, but the division must not see 0.
  runs = arith::MaxSIOp::create(builder, loc, runs, code.i64(1));
  sequence = arith::DivUIOp::create(builder, loc, item, runs);
  runIndex = arith::RemUIOp::create(builder, loc, item, runs);
  begin = code.i64(0);
  end = time;
  first = code.mulI(runIndex, run);
  last = code.minI(code.addI(first, run), end);
  isUsed = code.isLess(sequence, numSequences);
}

Value ConvKernel::offsetOf(Value index) {
  const GlobalTensor &tensor = tensors[*signature.getOperand(op.getSeqlens())];
  Type type = tensor.type.getElementType();
  Value at = code.mulI(index, tensor.strides[0]);
  return code.toI64(code.load(type, code.advance(tensor.pointer, type, at),
                              /*alignment=*/0, /*invariant=*/true));
}

Value ConvKernel::firstRunOf(Value index) {
  Value whole = arith::DivUIOp::create(builder, code.loc, offsetOf(index),
                                       code.i64(plan.run));
  return code.addI(whole, index);
}

void ConvKernel::emitPackedPosition() {
  Location loc = code.loc;
  Type i64 = builder.getI64Type();
  // The last n with s_n <= item; s_{-1} is taken for small, s_N for large.
  auto search = scf::WhileOp::create(
      builder, loc, TypeRange{i64, i64}, ValueRange{code.i64(-1), numSequences},
      [&](OpBuilder &, Location, ValueRange bounds) {
        Value gap = arith::SubIOp::create(builder, loc, bounds[1], bounds[0]);
        scf::ConditionOp::create(builder, loc, code.isLess(code.i64(1), gap),
                                 bounds);
      },
      [&](OpBuilder &, Location, ValueRange bounds) {
        Value middle = arith::ShRSIOp::create(
            builder, loc, code.addI(bounds[0], bounds[1]), code.i64(1));
        Value beyond = code.isLess(item, firstRunOf(middle));
        scf::YieldOp::create(builder, loc,
                             {code.select(beyond, bounds[0], middle),
                              code.select(beyond, middle, bounds[1])});
      });
  builder.setInsertionPointAfter(search);
  sequence = search.getResult(0);
  // Some sequence of those there are, for threads that have none.
  Value known = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      sequence, code.i64(0));
  auto position = scf::IfOp::create(builder, loc, {i64, i64, i64}, known,
                                    /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(position.thenBlock());
    Value from = offsetOf(sequence);
    Value to = offsetOf(code.addI(sequence, code.i64(1)));
    Value skipped =
        arith::SubIOp::create(builder, loc, item, firstRunOf(sequence));
    scf::YieldOp::create(builder, loc, {from, to, skipped});
    builder.setInsertionPointToStart(position.elseBlock());
    Value zero = code.i64(0);
    scf::YieldOp::create(builder, loc, {zero, zero, zero});
  }
  begin = position.getResult(0);
  end = position.getResult(1);
  runIndex = position.getResult(2);
  Value run = code.i64(plan.run);
  first = code.addI(begin, code.mulI(runIndex, run));
  last = code.minI(code.addI(first, run), end);
  // A run may hold the end, and no token, where a window is written.
  Value bound = plan.writesWindow ? code.addI(end, code.i64(1)) : end;
  isUsed =
      arith::AndIOp::create(builder, loc, known, code.isLess(first, bound));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Whether the input and the result lie so that `vector` channels are one
/// access.
Value ConvKernel::isAligned() {
  Location loc = code.loc;
  Value bits;
  auto add = [&](Value value) {
    bits =
        bits ? Value(arith::OrIOp::create(builder, loc, bits, value)) : value;
  };
  auto addTensor = [&](const GlobalTensor &tensor) {
    add(LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                 tensor.pointer));
    for (Value stride : tensor.strides)
      add(code.mulI(stride, code.i64(bytesOf(element))));
  };
  addTensor(tensors[*signature.getOperand(op.getInput())]);
  for (unsigned target : signature.getResult(0))
    addTensor(tensors[target]);
  Value low = arith::AndIOp::create(
      builder, loc, bits, code.i64(plan.vector * bytesOf(element) - 1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low,
                               code.i64(0));
}

Value ConvKernel::tokenPointer(const GlobalTensor &tensor, Value token) {
  unsigned timeDim = op.isPacked() ? 0 : 1;
  Value offset = code.addI(code.mulI(token, tensor.strides[timeDim]), channel);
  if (!op.isPacked())
    offset = code.addI(offset, code.mulI(sequence, tensor.strides[0]));
  return code.advance(tensor.pointer, element, offset);
}

/// Elements of a vector, or the number itself.
static SmallVector<Value> elementsOf(KernelCode &code, Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return {value};
  SmallVector<Value> elements;
  for (int64_t i : llvm::seq(type.getNumElements()))
    elements.push_back(LLVM::ExtractElementOp::create(code.builder, code.loc,
                                                      value, code.i32(i)));
  return elements;
}

/// One access of adjacent elements.
static SmallVector<Value> loadAdjacent(KernelCode &code, Value pointer,
                                       Type element, int64_t count) {
  Type type = count == 1 ? element : VectorType::get({count}, element);
  return elementsOf(code, code.load(type, pointer, count * bytesOf(element)));
}

static void storeAdjacent(KernelCode &code, ArrayRef<Value> values,
                          Value pointer) {
  Type element = values[0].getType();
  int64_t count = values.size();
  Value stored = values[0];
  if (count > 1) {
    stored = LLVM::PoisonOp::create(code.builder, code.loc,
                                    VectorType::get({count}, element));
    for (auto [i, value] : llvm::enumerate(values))
      stored = LLVM::InsertElementOp::create(code.builder, code.loc, stored,
                                             value, code.i32(i));
  }
  code.store(stored, pointer, count * bytesOf(element));
}

SmallVector<Value> ConvKernel::loadToken(Value token, bool wide) {
  Value pointer =
      tokenPointer(tensors[*signature.getOperand(op.getInput())], token);
  if (wide)
    return loadAdjacent(code, pointer, element, plan.vector);
  Values values;
  for (int64_t c : llvm::seq(plan.vector))
    values.push_back(
        code.load(element, code.advance(pointer, element, code.i64(c))));
  return values;
}

void ConvKernel::storeToken(Value token, ArrayRef<Value> values, bool wide) {
  Values rounded;
  for (Value value : values)
    rounded.push_back(code.fromF32(value, element));
  for (unsigned target : signature.getResult(0)) {
    Value pointer = tokenPointer(tensors[target], token);
    if (wide) {
      storeAdjacent(code, rounded, pointer);
      continue;
    }
    for (auto [c, value] : llvm::enumerate(rounded))
      code.store(value, code.advance(pointer, element, code.i64(c)));
  }
}

namespace {
/// How a thread's part of a [C, n] matrix without gaps is cut into accesses.
struct Pieces {
  int64_t count, each;
  Pieces(int64_t elements, Type element)
      : each(std::gcd(elements, kAccessBytes / bytesOf(element))) {
    count = elements / each;
  }
};
} // namespace

/// Whether element (c, j) lies at c * inner + j from an aligned address.
static Value isDense(KernelCode &code, Value pointer, int64_t bytes,
                     int64_t inner, Value channelStride, Value innerStride) {
  OpBuilder &builder = code.builder;
  auto equal = [&](Value a, int64_t b) -> Value {
    return arith::CmpIOp::create(builder, code.loc, arith::CmpIPredicate::eq, a,
                                 code.i64(b));
  };
  Value address = LLVM::PtrToIntOp::create(builder, code.loc,
                                           builder.getI64Type(), pointer);
  Value low =
      arith::AndIOp::create(builder, code.loc, address, code.i64(bytes - 1));
  Value dense = arith::AndIOp::create(builder, code.loc, equal(low, 0),
                                      equal(channelStride, inner));
  return inner == 1 ? dense
                    : Value(arith::AndIOp::create(builder, code.loc, dense,
                                                  equal(innerStride, 1)));
}

SmallVector<Value> ConvKernel::loadMatrix(Value pointer, Type type,
                                          int64_t inner, Value channelStride,
                                          Value innerStride) {
  int64_t size = plan.vector * inner;
  Pieces pieces(size, type);
  Values results;
  auto branch = scf::IfOp::create(
      builder, code.loc, SmallVector<Type>(size, builder.getF32Type()),
      isDense(code, pointer, pieces.each * bytesOf(type), inner, channelStride,
              innerStride),
      /*withElseRegion=*/true);
  auto yield = [&](ArrayRef<Value> loaded) {
    Values wide;
    for (Value value : loaded)
      wide.push_back(code.toF32(value));
    scf::YieldOp::create(builder, code.loc, wide);
  };
  OpBuilder::InsertionGuard guard(builder);
  Values loaded;
  builder.setInsertionPointToStart(branch.thenBlock());
  for (int64_t i : llvm::seq(pieces.count))
    loaded.append(loadAdjacent(
        code, code.advance(pointer, type, code.i64(i * pieces.each)), type,
        pieces.each));
  yield(loaded);
  loaded.clear();
  builder.setInsertionPointToStart(branch.elseBlock());
  for (int64_t c : llvm::seq(plan.vector))
    for (int64_t j : llvm::seq(inner)) {
      Value at = code.addI(code.mulI(code.i64(c), channelStride),
                           code.mulI(code.i64(j), innerStride));
      loaded.push_back(code.load(type, code.advance(pointer, type, at)));
    }
  yield(loaded);
  return Values(branch.getResults());
}

void ConvKernel::storeMatrix(ArrayRef<Value> values, Value pointer, Type type,
                             int64_t inner, Value channelStride,
                             Value innerStride) {
  Pieces pieces(plan.vector * inner, type);
  Values rounded;
  for (Value value : values)
    rounded.push_back(code.fromF32(value, type));
  auto branch =
      scf::IfOp::create(builder, code.loc,
                        isDense(code, pointer, pieces.each * bytesOf(type),
                                inner, channelStride, innerStride),
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (int64_t i : llvm::seq(pieces.count))
    storeAdjacent(code, ArrayRef(rounded).slice(i * pieces.each, pieces.each),
                  code.advance(pointer, type, code.i64(i * pieces.each)));
  builder.setInsertionPointToStart(branch.elseBlock());
  for (int64_t c : llvm::seq(plan.vector))
    for (int64_t j : llvm::seq(inner)) {
      Value at = code.addI(code.mulI(code.i64(c), channelStride),
                           code.mulI(code.i64(j), innerStride));
      code.store(rounded[c * inner + j], code.advance(pointer, type, at));
    }
}

/// The thread's channels of this sequence's window.
Value ConvKernel::windowPointer(const GlobalTensor &tensor) {
  Value offset = code.addI(code.mulI(sequence, tensor.strides[0]),
                           code.mulI(channel, tensor.strides[1]));
  return code.advance(tensor.pointer, tensor.type.getElementType(), offset);
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

void ConvKernel::emitRun(bool wide) {
  const GlobalTensor &weight = tensors[*signature.getOperand(op.getWeight())];
  Type type = weight.type.getElementType();
  weights = loadMatrix(
      code.advance(weight.pointer, type, code.mulI(channel, weight.strides[0])),
      type, taps, weight.strides[0], weight.strides[1]);
  bias.clear();
  if (Value operand = op.getBias()) {
    const GlobalTensor &tensor = tensors[*signature.getOperand(operand)];
    type = tensor.type.getElementType();
    bias = loadMatrix(code.advance(tensor.pointer, type,
                                   code.mulI(channel, tensor.strides[0])),
                      type, 1, tensor.strides[0], code.i64(0));
  }
  Values history = initialHistory(wide);
  Value length = arith::SubIOp::create(builder, code.loc, last, first);
  Value grouped =
      arith::AndIOp::create(builder, code.loc, length, code.i64(-kUnroll));
  Value middle = code.addI(first, grouped);
  history = emitTokens(first, middle, kUnroll, history, wide);
  history = emitTokens(middle, last, 1, history, wide);
  if (!plan.writesWindow)
    return;
  // The run that holds the end: it is shorter than the others.
  Value isLast = code.isLess(length, code.i64(plan.run));
  code.when(isLast, [&] {
    for (unsigned target : signature.getResult(1)) {
      const GlobalTensor &tensor = tensors[target];
      storeMatrix(history, windowPointer(tensor), tensor.type.getElementType(),
                  taps - 1, tensor.strides[1], tensor.strides[2]);
    }
  });
}

/// Element c * (W - 1) + j is the input of channel c, W - 1 - j tokens ago.
SmallVector<Value> ConvKernel::initialHistory(bool wide) {
  int64_t depth = taps - 1;
  if (depth == 0)
    return {};
  Value isFirst = arith::CmpIOp::create(
      builder, code.loc, arith::CmpIPredicate::eq, runIndex, code.i64(0));
  auto branch = scf::IfOp::create(
      builder, code.loc,
      SmallVector<Type>(plan.vector * depth, builder.getF32Type()), isFirst,
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Values history;
  Value window = op.getWindow();
  std::optional<unsigned> index;
  if (window)
    index = signature.getOperand(window);
  if (index) {
    const GlobalTensor &tensor = tensors[*index];
    history = loadMatrix(windowPointer(tensor), tensor.type.getElementType(),
                         depth, tensor.strides[1], tensor.strides[2]);
  } else {
    double number =
        window ? signature.getConstant(window).getValueAsDouble() : 0.0;
    history.assign(plan.vector * depth, code.f32(number));
  }
  scf::YieldOp::create(builder, code.loc, history);

  builder.setInsertionPointToStart(branch.elseBlock());
  history.assign(plan.vector * depth, Value());
  for (int64_t j : llvm::seq(depth)) {
    Value token = code.addI(first, code.i64(j - depth));
    for (auto [c, value] : llvm::enumerate(loadToken(token, wide)))
      history[c * depth + j] = code.toF32(value);
  }
  scf::YieldOp::create(builder, code.loc, history);
  return Values(branch.getResults());
}

SmallVector<Value> ConvKernel::emitTokens(Value from, Value to, int64_t unroll,
                                          ArrayRef<Value> history, bool wide) {
  int64_t depth = taps - 1;
  auto loop = scf::ForOp::create(builder, code.loc, from, to, code.i64(unroll),
                                 history);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Values current(loop.getRegionIterArgs());
  SmallVector<Value> tokens;
  SmallVector<Values> inputs;
  // All loads first, so that they are under way together.
  for (int64_t i : llvm::seq(unroll)) {
    tokens.push_back(code.addI(loop.getInductionVar(), code.i64(i)));
    inputs.push_back(loadToken(tokens.back(), wide));
  }
  for (auto [token, input] : llvm::zip_equal(tokens, inputs)) {
    Values outputs;
    for (int64_t c : llvm::seq(plan.vector)) {
      MutableArrayRef<Value> seen =
          MutableArrayRef(current).slice(c * depth, depth);
      Value x = code.toF32(input[c]);
      outputs.push_back(convolve(c, seen, x));
      if (depth) {
        std::rotate(seen.begin(), seen.begin() + 1, seen.end());
        seen.back() = x;
      }
    }
    storeToken(token, outputs, wide);
  }
  if (depth)
    scf::YieldOp::create(builder, code.loc, current);
  return Values(loop.getResults());
}

Value ConvKernel::convolve(int64_t channel, ArrayRef<Value> history, Value x) {
  Values inputs(history);
  inputs.push_back(x);
  return emitConvolution(code, ArrayRef(weights).slice(channel * taps, taps),
                         inputs, bias.empty() ? Value() : bias[channel],
                         op.getActivation());
}
