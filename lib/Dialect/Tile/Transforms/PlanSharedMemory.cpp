//===- PlanSharedMemory.cpp - offsets of tiles in one arena ---------------===//

#include "linattn/Dialect/Tile/Transforms/Arena.h"
#include "linattn/Dialect/Tile/Transforms/Kernels.h"
#include "linattn/Dialect/Tile/Transforms/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace linattn::tile {
#define GEN_PASS_DEF_PLANSHAREDMEMORYPASS
#include "linattn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace linattn::tile

using namespace mlir;
using namespace linattn::tile;

/// What a tile in shared memory belongs to: an `alloc` or a channel.
static Operation *findBuffer(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (isa<AllocOp, ChannelCreateOp>(op))
      return op;
    if (op->getNumOperands() == 0)
      return nullptr;
    tile = op->getOperand(0);
  }
  return nullptr;
}

/// By buffer, the names of what is copied into it: of kernel arguments that
/// have one.
static DenseMap<Operation *, SetVector<StringAttr>>
findSources(gpu::GPUFuncOp func) {
  DenseMap<Operation *, SetVector<StringAttr>> sources;
  func.walk([&](LoadAsyncOp load) {
    auto argument = dyn_cast<BlockArgument>(load.getSource());
    Operation *buffer = findBuffer(load.getTarget());
    if (!argument || !buffer)
      return;
    if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
      sources[buffer].insert(name.getName());
  });
  return sources;
}

/// "2 stages of 64x128xbf16, 64x64xbf16"
static std::string describe(const Buffer &buffer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](Type type) {
    auto tile = cast<SmemType>(type);
    for (int64_t size : tile.getShape())
      os << size << "x";
    os << tile.getElementType();
  };
  if (auto alloc = dyn_cast<AllocOp>(buffer.op)) {
    os << "a tile of ";
    print(alloc.getType());
    return text;
  }
  ChannelType type = cast<ChannelCreateOp>(buffer.op).getType();
  os << type.getStages() << (type.getStages() == 1 ? " stage" : " stages")
     << " of ";
  llvm::interleaveComma(type.getTiles(), os, print);
  return text;
}

/// Names the tiles that live when most bytes do.
static void explain(InFlightDiagnostic &error, gpu::GPUFuncOp func,
                    const Arena &arena) {
  const Buffer *worst = nullptr;
  int64_t most = 0;
  for (const Buffer &at : arena.buffers) {
    int64_t bytes = 0;
    for (const Buffer &buffer : arena.buffers)
      if (buffer.first <= at.first && at.first <= buffer.last)
        bytes += buffer.bytes;
    if (bytes > most) {
      most = bytes;
      worst = &at;
    }
  }
  DenseMap<Operation *, SetVector<StringAttr>> sources = findSources(func);
  for (const Buffer &buffer : arena.buffers) {
    if (buffer.first > worst->first || worst->first > buffer.last)
      continue;
    Diagnostic &note = error.attachNote(buffer.op->getLoc());
    note << describe(buffer);
    bool isFirst = true;
    for (StringAttr name : sources[buffer.op]) {
      note << (isFirst ? " for '" : ", '") << name.getValue() << "'";
      isFirst = false;
    }
    note << ": " << buffer.bytes << " of the " << most
         << " bytes that live together";
  }
}

namespace {
struct PlanSharedMemoryPass
    : linattn::tile::impl::PlanSharedMemoryPassBase<PlanSharedMemoryPass> {
  using PlanSharedMemoryPassBase::PlanSharedMemoryPassBase;

  void runOnOperation() override {
    if (failed(forEachKernel(getOperation(), [&](gpu::GPUFuncOp func) {
          return runOnKernel(func);
        })))
      signalPassFailure();
  }

private:
  LogicalResult runOnKernel(gpu::GPUFuncOp func) {
    FailureOr<int64_t> limit = getSharedLimit(func, sharedBytes, chip);
    if (failed(limit))
      return failure();
    Arena arena = planArena(func, spread && canSpread(func, *limit));
    if (arena.bytes > *limit) {
      InFlightDiagnostic error = func.emitError("needs ")
                                 << arena.bytes
                                 << " bytes of shared memory, a block may have "
                                 << *limit;
      if (sharedBytes == 0)
        error << " on " << chip;
      error << ": " << arena.bytes - *limit << " bytes are missing";
      explain(error, func, arena);
      return error;
    }
    Builder builder(&getContext());
    for (const Buffer &buffer : arena.buffers) {
      buffer.op->setAttr("offset", builder.getI64IntegerAttr(buffer.offset));
      ++numTiles;
    }
    func->setAttr("tile.shared_bytes", builder.getI64IntegerAttr(arena.bytes));
    numBytes += arena.bytes;
    return success();
  }
};
} // namespace
