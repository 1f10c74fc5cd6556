//===- RaiseStores.cpp - stores of what a step begins with ----------------===//

#include "linattn/Dialect/Tile/IR/Tile.h"
#include "linattn/Dialect/Tile/Transforms/Arena.h"
#include "linattn/Dialect/Tile/Transforms/Kernels.h"
#include "linattn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace linattn::tile {
#define GEN_PASS_DEF_RAISESTORESPASS
#include "linattn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace linattn::tile

using namespace mlir;
using namespace linattn::tile;

/// What goes up with a store: elementwise operations that nothing else uses,
/// its tile, and the last operation of the step that these need.
struct Raised {
  llvm::SetVector<Operation *> slice;
  Operation *after = nullptr;
};

static void collect(Block *block, Value value, Raised &raised) {
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getBlock() != block)
    return;
  bool goesUp =
      isa<AllocOp, SmemViewOp>(maker) ||
      (OpTrait::hasElementwiseMappableTraits(maker) && maker->hasOneUse());
  if (!goesUp) {
    if (!raised.after || raised.after->isBeforeInBlock(maker))
      raised.after = maker;
    return;
  }
  for (Value operand : maker->getOperands())
    collect(block, operand, raised);
  raised.slice.insert(maker);
}

static bool isBefore(Operation *user, Operation *store) {
  Operation *beside = store->getBlock()->findAncestorOpInBlock(*user);
  return !beside || beside->isBeforeInBlock(store);
}

/// Whether the tile has something else written to it, was read before, or is
/// made elsewhere.
static bool isReused(LocalStoreOp store) {
  Value tile = store.getTarget();
  while (auto view = tile.getDefiningOp<SmemViewOp>())
    tile = view.getSource();
  auto alloc = tile.getDefiningOp<AllocOp>();
  if (!alloc || alloc->getBlock() != store->getBlock())
    return true;
  SmallVector<Value> worklist = {tile};
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (isa<SmemViewOp>(user))
        worklist.push_back(user->getResult(0));
      else if (user != store &&
               (isa<LocalStoreOp>(user) || isBefore(user, store)))
        return true;
    }
  return false;
}

/// Whether a product stands between `after` (null: the block's begin) and the
/// store: else nothing is won.
static bool passesProduct(Operation *after, LocalStoreOp store) {
  Operation *op = after ? after->getNextNode() : &store->getBlock()->front();
  for (; op != store; op = op->getNextNode())
    if (isa<MmaOp>(op))
      return true;
  return false;
}

namespace {
struct RaiseStoresPass
    : linattn::tile::impl::RaiseStoresPassBase<RaiseStoresPass> {
  using RaiseStoresPassBase::RaiseStoresPassBase;

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
    if (canSpread(func, *limit))
      func.walk([&](scf::ForOp loop) { runOnLoop(loop); });
    return success();
  }

  void runOnLoop(scf::ForOp loop) {
    auto stores = llvm::to_vector(loop.getBody()->getOps<LocalStoreOp>());
    Operation *lastAtFront = nullptr;
    for (LocalStoreOp store : stores) {
      Raised raised;
      // A value from outside needs no store in every step's way, and f32 ones
      // cost registers: kernels of f32 that had just enough spilled.
      if (loop.isDefinedOutsideOfLoop(store.getValue()) || isReused(store) ||
          getElementTypeOrSelf(store.getValue()).getIntOrFloatBitWidth() > 16)
        continue;
      collect(loop.getBody(), store.getValue(), raised);
      collect(loop.getBody(), store.getTarget(), raised);
      if (!passesProduct(raised.after, store))
        continue;
      raised.slice.insert(store);
      Operation *last = raised.after ? raised.after : lastAtFront;
      for (Operation *op : raised.slice) {
        if (last)
          op->moveAfter(last);
        else
          op->moveBefore(loop.getBody(), loop.getBody()->begin());
        last = op;
      }
      if (!raised.after)
        lastAtFront = last;
      ++numRaised;
    }
  }
};
} // namespace
