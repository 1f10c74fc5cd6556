//===- SharedAccess.cpp - what operations do to shared memory -------------===//

#include "linattn/Dialect/Tile/Transforms/SharedAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace linattn::tile;

Step linattn::tile::getStep(Value value) {
  Step step{value};
  while (Operation *op = step.base.getDefiningOp()) {
    APInt constant;
    if (matchPattern(step.base, m_ConstantInt(&constant))) {
      step.base = {};
      step.offset += constant.getSExtValue();
      break;
    }
    if (!isa<arith::AddIOp, arith::SubIOp>(op) ||
        !matchPattern(op->getOperand(1), m_ConstantInt(&constant)))
      break;
    int64_t sign = isa<arith::AddIOp>(op) ? 1 : -1;
    step.offset += sign * constant.getSExtValue();
    step.base = op->getOperand(0);
  }
  return step;
}

/// What is read or written through `value`, a tile or a view of one.
static SharedAccess getAccess(Value value, bool write) {
  auto type = cast<SmemType>(value.getType());
  SharedAccess access;
  access.write = write;
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape());
  while (auto view = value.getDefiningOp<SmemViewOp>()) {
    if (view.getTransposed()) {
      std::reverse(offsets.begin(), offsets.end());
      std::reverse(sizes.begin(), sizes.end());
    }
    for (auto [offset, first] : llvm::zip(offsets, view.getOffsets()))
      offset += first;
    value = view.getSource();
  }
  // A tile whose maker is not seen may be transposed and anywhere.
  if (Operation *maker = value.getDefiningOp()) {
    if (isa<AllocOp>(maker)) {
      access.root = maker;
    } else if (isa<ChannelAcquireOp, ChannelWaitOp>(maker)) {
      access.root = maker->getOperand(0).getDefiningOp<ChannelCreateOp>();
      access.step = getStep(maker->getOperand(1));
      access.tile = cast<OpResult>(value).getResultNumber();
    }
  }
  access.rowBegin = offsets[0];
  access.rowEnd = offsets[0] + sizes[0];
  if (offsets.size() == 2) {
    access.columnBegin = offsets[1];
    access.columnEnd = offsets[1] + sizes[1];
  } else {
    access.columnEnd = 1;
  }
  return access;
}

/// The bytes of the arena that a tile or channel has; none before the plan.
static std::optional<std::pair<int64_t, int64_t>> getBytes(Operation *root) {
  if (auto alloc = dyn_cast<AllocOp>(root)) {
    if (auto offset = alloc.getOffset())
      return std::pair<int64_t, int64_t>(
          *offset, *offset + alloc.getType().getStorageBytes());
    return std::nullopt;
  }
  auto create = cast<ChannelCreateOp>(root);
  ChannelType type = create.getType();
  if (auto offset = create.getOffset())
    return std::pair<int64_t, int64_t>(
        *offset, *offset + type.getStages() * type.getStageBytes());
  return std::nullopt;
}

bool linattn::tile::conflicts(const SharedAccess &a, const SharedAccess &b) {
  if (!a.write && !b.write)
    return false;
  if (!a.root || !b.root)
    return true;
  if (a.root != b.root) {
    auto bytes = getBytes(a.root), others = getBytes(b.root);
    return bytes && others && bytes->first < others->second &&
           others->first < bytes->second;
  }
  if (auto create = dyn_cast<ChannelCreateOp>(a.root)) {
    int64_t stages = create.getType().getStages();
    if (a.step.known && b.step.known && a.step.base == b.step.base &&
        (a.step.offset - b.step.offset) % stages != 0)
      return false;
    if (a.tile < 0 || b.tile < 0)
      return true;
    if (a.tile != b.tile)
      return false;
  }
  return a.rowBegin < b.rowEnd && b.rowBegin < a.rowEnd &&
         a.columnBegin < b.columnEnd && b.columnBegin < a.columnEnd;
}

SmallVector<SharedAccess> linattn::tile::getSharedAccesses(Operation *op) {
  SmallVector<SharedAccess> accesses;
  if (auto wait = dyn_cast<ChannelWaitOp>(op)) {
    SharedAccess access;
    access.root = wait.getChannel().getDefiningOp<ChannelCreateOp>();
    access.write = true;
    access.step = getStep(wait.getStep());
    accesses.push_back(access);
    return accesses;
  }
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value value = effect.getValue();
    if (!value || !isa<SmemType>(value.getType()))
      continue;
    if (isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
      accesses.push_back(
          getAccess(value, isa<MemoryEffects::Write>(effect.getEffect())));
  }
  return accesses;
}
