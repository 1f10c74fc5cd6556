//===- Arena.cpp - where tiles lie in shared memory -----------------------===//

#include "linattn/Dialect/Tile/Transforms/Arena.h"
#include "linattn/Target/Devices.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace linattn::tile;

namespace {
/// When buffers live.
class Lifetimes {
public:
  explicit Lifetimes(Operation *func) { number(func); }

  /// Every use of the tiles of `buffer`, through views and stages.
  void extend(Buffer &buffer) {
    buffer.first = buffer.last = numbers.lookup(buffer.op).first;
    bool any = false;
    SmallVector<Value> worklist(buffer.op->getResults());
    while (!worklist.empty())
      for (Operation *user : worklist.pop_back_val().getUsers()) {
        auto [first, last] = span(buffer.op->getBlock(), user);
        buffer.first = any ? std::min(buffer.first, first) : first;
        buffer.last = std::max(buffer.last, last);
        any = true;
        for (Value result : user->getResults())
          if (isa<SmemType>(result.getType()))
            worklist.push_back(result);
      }
  }

private:
  /// The first and last number of an operation with its regions.
  void number(Operation *op) {
    int64_t first = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &nested : block)
          number(&nested);
    numbers[op] = {first, next++};
  }

  /// The time of a use, of the whole outermost loop between it and the block
  /// that makes the buffer.
  std::pair<int64_t, int64_t> span(Block *home, Operation *user) {
    std::pair<int64_t, int64_t> result = numbers.lookup(user);
    for (Operation *op = user; op && op->getBlock() != home;) {
      op = op->getParentOp();
      if (isa_and_nonnull<LoopLikeOpInterface>(op))
        result = numbers.lookup(op);
    }
    // All roles run at once.
    if (auto roles = user->getParentOfType<RolesOp>()) {
      auto [first, last] = numbers.lookup(roles);
      result = {std::min(result.first, first), std::max(result.second, last)};
    }
    return result;
  }

  DenseMap<Operation *, std::pair<int64_t, int64_t>> numbers;
  int64_t next = 0;
};
} // namespace

/// Tiles without a swizzle begin with a line of all banks.
static constexpr int64_t kPlainAlignment = 128;
static constexpr int64_t kSwizzleAlignment = 1024;

/// First fit by falling size; equal ones in program order.
static void place(Arena &arena, bool share) {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : arena.buffers)
    order.push_back(&buffer);
  llvm::sort(order, [](const Buffer *a, const Buffer *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  SmallVector<Buffer *> placed; // by rising offset
  arena.bytes = 0;
  for (Buffer *buffer : order) {
    buffer->offset = 0;
    for (const Buffer *other : placed)
      if ((!share || buffer->meets(*other)) &&
          buffer->offset < other->offset + other->bytes &&
          other->offset < buffer->offset + buffer->bytes)
        buffer->offset =
            llvm::alignTo(other->offset + other->bytes, buffer->alignment);
    auto *place =
        llvm::upper_bound(placed, buffer, [](const Buffer *a, const Buffer *b) {
          return a->offset < b->offset;
        });
    placed.insert(place, buffer);
    arena.bytes = std::max(arena.bytes, buffer->offset + buffer->bytes);
  }
}

Arena linattn::tile::planArena(FunctionOpInterface func, bool spread) {
  Arena arena;
  Lifetimes lifetimes(func);
  func.walk([&](Operation *op) {
    Buffer buffer{op, 0, kSwizzleAlignment, 0, 0};
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      buffer.bytes = alloc.getType().getStorageBytes();
      if (!alloc.getType().getSwizzle())
        buffer.alignment = kPlainAlignment;
    } else if (auto create = dyn_cast<ChannelCreateOp>(op)) {
      ChannelType type = create.getType();
      buffer.bytes = type.getStages() * type.getStageBytes();
      buffer.alignment = type.getAlignment();
    } else {
      return;
    }
    lifetimes.extend(buffer);
    arena.buffers.push_back(buffer);
  });

  place(arena, /*share=*/!spread);
  return arena;
}

/// That many warps of a chunk kernel take most registers.
static constexpr int64_t kWarpsAlone = 8;

bool linattn::tile::canSpread(FunctionOpInterface func, int64_t bytes) {
  auto warps = func->getAttrOfType<IntegerAttr>("tile.warps");
  return warps && warps.getInt() >= kWarpsAlone &&
         planArena(func, /*spread=*/true).bytes <= bytes;
}

FailureOr<int64_t> linattn::tile::getSharedLimit(Operation *op,
                                                 int64_t sharedBytes,
                                                 StringRef chip) {
  if (sharedBytes < 0)
    return op->emitError("shared-bytes is not negative, got ") << sharedBytes;
  if (sharedBytes > 0)
    return sharedBytes;
  if (auto limits = getDeviceLimits(chip))
    return limits->sharedBytes;
  return op->emitError("chip is one of ")
         << getKnownDevices() << ", got '" << chip << "'";
}
