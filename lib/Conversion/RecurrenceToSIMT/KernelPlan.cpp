//===- KernelPlan.cpp - threads of a token-serial kernel ------------------===//

#include "KernelPlan.h"

#include "../Common/DeviceOps.h"

#include "linattn/Conversion/Fronts.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"

#include <numeric>

using namespace mlir;
using namespace linattn;
using namespace linattn::device;
using namespace linattn::simt;

/// State rows of a thread, over all states, that leave ptxas enough registers
/// for addresses, keys and prefetched tokens.
static constexpr int64_t kPreferredRows = 32;
/// What a thread needs besides its rows.
static constexpr int64_t kOtherRegisters = 40;
static constexpr int64_t kRegistersPerThread = 255;
static constexpr int64_t kRegistersPerBlock = 65536;
static constexpr int64_t kMaxThreads = 1024;
/// Blocks that may be cut are small: barriers are cheap, and few heads still
/// fill the GPU.
static constexpr int64_t kPreferredThreads = 128;
/// Decoding is planned by the bytes of the states: those of a row that a thread
/// loads at once, those of a row that a block has, and all that a thread has.
/// Shorter pieces of a row cost bandwidth; longer ones, or more threads, leave
/// a multiprocessor few blocks, whose loads wait for each other's stores. Fewer
/// bytes of a thread are more instructions besides those of the step.
static constexpr int64_t kDecodingVectorBytes = 8;
static constexpr int64_t kDecodingRowBytes = 256;
static constexpr int64_t kDecodingBytes = 256;
static constexpr int64_t kMaxDecodingThreads = 256;
static constexpr int64_t kOtherDecodingRegisters = 32;
/// Operations of a step that need no more than that, as a delta rule's; of more
/// ones about every fourth has a value alive beside the rows. A convolution in
/// front has the inputs before the token.
static constexpr int64_t kFewOperations = 16, kOperationsPerRegister = 4;
static constexpr int64_t kFrontRegisters = 3;
/// Keys that are loaded again are under way, some rows at a time.
static constexpr int64_t kRegistersOfKeysTwice = 8;
/// Threads of a multiprocessor in decoding, in several blocks.
static constexpr int64_t kDecodingThreads = 512;

llvm::DenseSet<Value> simt::findStateDependent(Block &step) {
  llvm::DenseSet<Value> dependent;
  for (Operation &op : step)
    if (isa<ReadOp>(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
          return dependent.contains(operand);
        }))
      dependent.insert(op.result_begin(), op.result_end());
  return dependent;
}

static int64_t lastDim(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() != 0 ? vector.getShape().back() : 1;
}

/// The first operation that needs elements of a state-dependent vector other
/// than the thread's own column.
static Operation *findMixing(Block &step,
                             const llvm::DenseSet<Value> &dependent) {
  auto isMixed = [&](Value value) {
    return dependent.contains(value) && lastDim(value.getType()) > 1;
  };
  for (Operation &op : step) {
    if (OpTrait::hasElementwiseMappableTraits(&op) || isa<YieldOp>(op))
      continue;
    if (isa<vector::BroadcastOp, vector::ExtractOp, vector::InsertOp>(op) &&
        llvm::all_of(op.getOperands(), [&](Value operand) {
          return !isMixed(operand) || lastDim(operand.getType()) ==
                                          lastDim(op.getResult(0).getType());
        }))
      continue;
    // The value of a write stays in its column.
    auto write = dyn_cast<WriteOp>(op);
    for (Value operand : op.getOperands())
      if (isMixed(operand) &&
          !(write && operand == write.getValue() && operand != write.getKey()))
        return &op;
  }
  return nullptr;
}

static LogicalResult refuseDoubles(RecurrenceOp op) {
  auto isDouble = [](Type type) {
    if (auto state = dyn_cast<StateType>(type))
      return state.getElementType().isF64();
    return getElementTypeOrSelf(type).isF64();
  };
  for (BlockArgument arg : op.getBody()->getArguments())
    if (isDouble(arg.getType()))
      return op.emitOpError()
             << "is not lowered to a SIMT kernel: it computes in f32, argument "
             << arg.getArgNumber() << " of the step is " << arg.getType()
             << " (f64 runs on the CPU)";
  for (Operation &inner : *op.getBody())
    for (Type type : inner.getResultTypes())
      if (isDouble(type))
        return inner.emitOpError()
               << "is not lowered to a SIMT kernel: it computes in f32, got "
               << type << " (f64 runs on the CPU)";
  return success();
}

/// Bytes of an element of the states, the widest if they differ.
static int64_t elementBytes(RecurrenceOp op) {
  int64_t bytes = 2;
  for (unsigned i : llvm::seq(op.getNumStates()))
    bytes = std::max<int64_t>(
        bytes, op.getStateType(i).getElementType().getIntOrFloatBitWidth() / 8);
  return bytes;
}

/// Registers of a thread in decoding besides rows and their keys.
static int64_t countOtherRegisters(RecurrenceOp op) {
  int64_t operations = llvm::range_size(op.getBody()->without_terminator());
  int64_t fronts = llvm::count_if(
      op.getTokens(), [](Value token) { return bool(getFront(token)); });
  return kOtherDecodingRegisters + fronts * kFrontRegisters +
         std::max<int64_t>(operations - kFewOperations, 0) /
             kOperationsPerRegister;
}

/// Decays whose factors differ from row to row.
static int64_t countDecaysOfRows(RecurrenceOp op) {
  return llvm::count_if(op.getBody()->getOps<DecayOp>(), [](DecayOp decay) {
    return isa<VectorType>(decay.getGate().getType());
  });
}

/// Adjacent columns of a thread, such that no row ends between them.
static int64_t chooseVector(RecurrenceOp op) {
  int64_t vector = kDecodingVectorBytes / elementBytes(op);
  for (unsigned i : llvm::seq(op.getNumStates()))
    vector = std::gcd(vector, op.getStateType(i).getValues());
  return vector;
}

FailureOr<KernelPlan> simt::planKernel(RecurrenceOp op,
                                       const llvm::DenseSet<Value> &dependent) {
  if (failed(refuseDoubles(op)))
    return failure();
  KernelPlan plan;
  plan.decoding = bool(op.getSlots());
  for (Value value : op.getBody()->getTerminator()->getOperands())
    if (!isa<StateType>(value.getType()))
      plan.columns = std::max(plan.columns, lastDim(value.getType()));
  for (unsigned i : llvm::seq(op.getNumStates()))
    plan.columns = std::max(plan.columns, op.getStateType(i).getValues());

  auto elementsWith = [&](int64_t lanes) {
    KernelPlan candidate;
    candidate.lanes = lanes;
    int64_t rows = 0;
    for (unsigned i : llvm::seq(op.getNumStates()))
      rows += candidate.groups(op.getStateType(i).getKeys()) * kGroup;
    return rows * plan.vector;
  };
  if (plan.decoding)
    plan.vector = chooseVector(op);
  // Very long columns are shared by all lanes of a warp, and stand alone.
  if (elementsWith(kWarpSize) + kOtherRegisters > kRegistersPerThread)
    plan.vector = 1;
  auto finish = [&] {
    if (!plan.decoding)
      return plan;
    plan.laneStride = plan.threads / plan.lanes;
    // Elements, keys of their rows and what else there is of each row, and the
    // rest.
    int64_t elements = elementsWith(plan.lanes);
    int64_t rows = elements / plan.vector, rest = countOtherRegisters(op);
    auto countBlocks = [&](int64_t registers) -> int64_t {
      return std::min(kDecodingThreads / plan.threads,
                      kRegistersPerBlock / (plan.threads * registers));
    };
    plan.blocks = std::max<int64_t>(1, countBlocks(elements + rows + rest));
    // Keys that are loaded again may make room for a block more, beside a short
    // step. Nothing is loaded again where no barrier stands between.
    int64_t again =
        elements + rest + kRegistersOfKeysTwice + rows * countDecaysOfRows(op);
    if (rest == kOtherDecodingRegisters && plan.lanesOfWarp() != plan.lanes &&
        countBlocks(again) > plan.blocks) {
      plan.blocks = countBlocks(again);
      plan.keysTwice = true;
    }
    return plan;
  };
  auto threadsOf = [&](int64_t columns, int64_t lanes) -> int64_t {
    return llvm::alignTo(llvm::divideCeil(columns, plan.vector) * lanes,
                         kWarpSize);
  };
  int64_t preferred =
      plan.decoding ? kDecodingBytes / elementBytes(op) : kPreferredRows;
  while (plan.lanes < kWarpSize && elementsWith(plan.lanes) > preferred)
    plan.lanes *= 2;

  Operation *mixing = findMixing(*op.getBody(), dependent);
  // A state of a pool with fewer columns would be in every slice, and one of
  // them would read what another has written.
  bool isShared = plan.decoding &&
                  llvm::any_of(llvm::seq(op.getNumStates()), [&](unsigned i) {
                    return op.getStateType(i).getValues() != plan.columns;
                  });
  if (!mixing) {
    int64_t threads = plan.decoding ? kMaxDecodingThreads : kPreferredThreads;
    int64_t most = std::max(threads / plan.lanes, int64_t(1)) * plan.vector;
    if (plan.decoding)
      most = std::min(most, kDecodingRowBytes / elementBytes(op));
    plan.slices = llvm::divideCeil(plan.columns, most);
    plan.width = llvm::divideCeil(plan.columns, plan.slices);
    plan.threads = threadsOf(plan.width, plan.lanes);
    plan.width = plan.threads / plan.lanes * plan.vector;
    plan.slices = llvm::divideCeil(plan.columns, plan.width);
  }
  isShared &= plan.slices > 1;
  if (!mixing && !isShared) {
    if (elementsWith(plan.lanes) + kOtherRegisters <= kRegistersPerThread)
      return finish();
    return op.emitOpError()
           << "is not lowered to a SIMT kernel: its states need "
           << elementsWith(plan.lanes) << " registers and about "
           << kOtherRegisters << " more of each thread, got "
           << kRegistersPerThread << " (smaller K, or the CPU)";
  }

  // One block owns all columns. Fewer lanes mean fewer threads, and so fewer
  // registers besides the rows.
  plan.slices = 1;
  plan.width = plan.columns;
  for (int64_t lanes = plan.lanes; lanes >= 1; lanes /= 2) {
    int64_t threads = threadsOf(plan.columns, lanes);
    int64_t registers = elementsWith(lanes) + kOtherRegisters;
    if (threads > kMaxThreads || registers > kRegistersPerThread ||
        threads * registers > kRegistersPerBlock)
      continue;
    plan.lanes = lanes;
    plan.threads = threads;
    plan.width = threads / lanes * plan.vector;
    return finish();
  }
  InFlightDiagnostic error = op.emitOpError()
                             << "is not lowered to a SIMT kernel: ";
  if (mixing)
    error << "'" << mixing->getName() << "'";
  else
    error << "a state of a pool with fewer value columns";
  error << " needs all " << plan.columns
        << " value columns in one block, whose states take "
        << plan.columns * (elementsWith(1) / plan.vector) << " registers and "
        << kOtherRegisters << " more per thread, got " << kRegistersPerBlock
        << " for at most " << kMaxThreads
        << " threads (smaller K or V, or the CPU)";
  if (mixing)
    error.attachNote(mixing->getLoc()) << "mixes value columns here";
  return failure();
}
