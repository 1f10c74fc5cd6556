//===- PlanSharedMemory.cpp - offsets of tiles in one arena ---------------===//

#include "linattn/Dialect/Tile/Transforms/Arena.h"
#include "linattn/Dialect/Tile/Transforms/Kernels.h"
#include "linattn/Dialect/Tile/Transforms/Passes.h"

namespace linattn::tile {
#define GEN_PASS_DEF_PLANSHAREDMEMORYPASS
#include "linattn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace linattn::tile

using namespace mlir;
using namespace linattn::tile;

/// Names the tiles that live when most bytes do.
static void explain(InFlightDiagnostic &error, const Arena &arena) {
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
  for (const Buffer &buffer : arena.buffers)
    if (buffer.first <= worst->first && worst->first <= buffer.last)
      error.attachNote(buffer.op->getLoc())
          << "these " << buffer.bytes << " bytes are among the " << most
          << " that live together";
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
      explain(error, arena);
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
