//===- TileMemory.cpp - less memory for the tiles of a chunk --------------===//
//
// What a chunk works on should stay in the second-level cache. Tiles whose
// lives do not meet share memory, and a state that would be made in scratch
// memory and copied home is made where it is.
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace linattn;

namespace {

/// The first and the last operation of a block that use a buffer or a view of
/// it.
struct Life {
  Operation *first = nullptr, *last = nullptr;
};

/// Null where the buffer may have a name that is no view.
std::optional<Life> getLife(Value buffer, Block &block) {
  Life life;
  SmallVector<Value> names = {buffer};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        names.push_back(user->getResult(0));
        continue;
      }
      Operation *op = block.findAncestorOpInBlock(*user);
      if (!op || user->hasTrait<OpTrait::IsTerminator>() ||
          llvm::any_of(user->getResultTypes(), llvm::IsaPred<MemRefType>))
        return std::nullopt;
      if (!life.first || op->isBeforeInBlock(life.first))
        life.first = op;
      if (!life.last || life.last->isBeforeInBlock(op))
        life.last = op;
    }
  return life;
}

/// Whether `op` reads `from` and writes `to` element by element, at the same
/// place.
bool isElementwise(Operation *op, Value from, Value to) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumParallelLoops() != generic.getNumLoops())
    return false;
  return llvm::all_of(generic->getOpOperands(), [&](OpOperand &operand) {
    return (operand.get() != from && operand.get() != to) ||
           generic.getMatchingIndexingMap(&operand).isIdentity();
  });
}

/// scratch = f(home); scratch += ..; copy of scratch to home: in home itself,
/// if nothing else looks at home in between.
void updateInPlace(memref::CopyOp copy) {
  Value scratch = copy.getSource(), home = copy.getTarget();
  Block &block = *copy->getBlock();
  auto alloc = scratch.getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc->getBlock() != &block || home.getParentBlock() == &block)
    return;
  std::optional<Life> life = getLife(scratch, block);
  if (!life || life->last != copy)
    return;
  for (Operation *user : scratch.getUsers())
    if (user != copy && (user->getBlock() != &block ||
                         !isa<linalg::LinalgOp, memref::CopyOp>(user)))
      return;
  Operation *first = life->first;
  auto start = dyn_cast<memref::CopyOp>(first);
  if (start ? start.getSource() != home : !isElementwise(first, home, scratch))
    return;
  SmallVector<Value> names = {home};
  while (!names.empty())
    for (Operation *user : names.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        names.push_back(user->getResult(0));
        continue;
      }
      Operation *op = block.findAncestorOpInBlock(*user);
      if (op && op != first && op != copy && first->isBeforeInBlock(op) &&
          op->isBeforeInBlock(copy))
        return;
    }
  scratch.replaceAllUsesWith(home);
  if (start)
    start->erase();
  copy->erase();
  alloc->erase();
}

/// A buffer takes the memory of one of its type that is used no more, the last
/// such one, which is in the cache.
void shareTiles(Block &block) {
  struct Tile {
    memref::AllocOp alloc;
    Life life;
  };
  SmallVector<Tile> tiles, kept;
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    if (alloc->getNumOperands() != 0)
      continue;
    std::optional<Life> life = getLife(alloc, block);
    if (life && life->first)
      tiles.push_back({alloc, *life});
  }
  llvm::sort(tiles, [](Tile a, Tile b) {
    if (a.life.first == b.life.first)
      return a.alloc->isBeforeInBlock(b.alloc);
    return a.life.first->isBeforeInBlock(b.life.first);
  });
  for (Tile &tile : tiles) {
    Tile *best = nullptr;
    for (Tile &other : kept)
      if (other.alloc.getType() == tile.alloc.getType() &&
          other.alloc->getAttrDictionary() == tile.alloc->getAttrDictionary() &&
          other.life.last->isBeforeInBlock(tile.life.first) &&
          (!best || best->life.last->isBeforeInBlock(other.life.last)))
        best = &other;
    if (!best) {
      tile.alloc->moveBefore(&block, block.begin());
      kept.push_back(tile);
      continue;
    }
    tile.alloc.replaceAllUsesWith(best->alloc.getResult());
    best->life.last = tile.life.last;
    tile.alloc->erase();
  }
}

} // namespace

void linattn::reduceTileMemory(Operation *root) {
  SmallVector<memref::CopyOp> copies;
  root->walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    updateInPlace(copy);
  root->walk([](Block *block) { shareTiles(*block); });
}
