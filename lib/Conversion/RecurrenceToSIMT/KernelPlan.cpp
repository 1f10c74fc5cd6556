//===- KernelPlan.cpp - threads of a token-serial kernel ------------------===//

#include "KernelPlan.h"

#include "../Common/DeviceOps.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"

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
/// Columns of a block in decoding: 256 bytes of a row of an f32 state. Shorter
/// pieces cost bandwidth (of a copy's, 64 columns reach 92 %, 32 reach 87 %, 8
/// in a warp 80 %), and longer ones leave a multiprocessor one block, whose
/// loads wait for its stores.
static constexpr int64_t kDecodingColumns = 64;
/// Threads of a multiprocessor that keep enough of the states under way, in
/// several blocks.
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

  auto rowsWith = [&](int64_t lanes) {
    KernelPlan candidate;
    candidate.lanes = lanes;
    int64_t rows = 0;
    for (unsigned i : llvm::seq(op.getNumStates()))
      rows += candidate.groups(op.getStateType(i).getKeys()) * kGroup;
    return rows;
  };
  auto finish = [&] {
    if (!plan.decoding)
      return plan;
    plan.lanesAcrossWarps = plan.lanes > 1 && plan.width % kWarpSize == 0;
    // Rows, keys of as many, and the rest.
    int64_t registers = 2 * rowsWith(plan.lanes) + kOtherRegisters + 16;
    plan.blocks = std::max<int64_t>(
        1, std::min(kDecodingThreads / plan.threads,
                    kRegistersPerBlock / (plan.threads * registers)));
    return plan;
  };
  while (plan.lanes < kWarpSize && rowsWith(plan.lanes) > kPreferredRows)
    plan.lanes *= 2;

  Operation *mixing = findMixing(*op.getBody(), dependent);
  if (!mixing) {
    int64_t most = std::max(kPreferredThreads / plan.lanes, int64_t(1));
    if (plan.decoding)
      most = std::min(kDecodingColumns, kMaxThreads / plan.lanes);
    plan.slices = llvm::divideCeil(plan.columns, most);
    plan.width = llvm::divideCeil(plan.columns, plan.slices);
    plan.threads = llvm::alignTo(plan.width * plan.lanes, kWarpSize);
    plan.width = plan.threads / plan.lanes;
    plan.slices = llvm::divideCeil(plan.columns, plan.width);
    if (rowsWith(plan.lanes) + kOtherRegisters <= kRegistersPerThread)
      return finish();
    return op.emitOpError()
           << "is not lowered to a SIMT kernel: its states need "
           << rowsWith(plan.lanes) << " registers and about " << kOtherRegisters
           << " more of each thread, got " << kRegistersPerThread
           << " (smaller K, or the CPU)";
  }

  // One block owns all columns. Fewer lanes mean fewer threads, and so fewer
  // registers besides the rows.
  plan.width = plan.columns;
  for (int64_t lanes = plan.lanes; lanes >= 1; lanes /= 2) {
    int64_t threads = llvm::alignTo(plan.columns * lanes, kWarpSize);
    int64_t registers = rowsWith(lanes) + kOtherRegisters;
    if (threads > kMaxThreads || registers > kRegistersPerThread ||
        threads * registers > kRegistersPerBlock)
      continue;
    plan.lanes = lanes;
    plan.threads = threads;
    plan.width = threads / lanes;
    return finish();
  }
  InFlightDiagnostic error =
      op.emitOpError() << "is not lowered to a SIMT kernel: '"
                       << mixing->getName() << "' needs all " << plan.columns
                       << " value columns in one block, whose states take "
                       << plan.columns * rowsWith(1) << " registers and "
                       << kOtherRegisters << " more per thread, got "
                       << kRegistersPerBlock << " for at most " << kMaxThreads
                       << " threads (smaller K or V, or the CPU)";
  error.attachNote(mixing->getLoc()) << "mixes value columns here";
  return failure();
}
