//===- HeadGroups.cpp - heads that share keys -----------------------------===//

#include "HeadGroups.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace linattn;

/// Whether a region knows which head and query a row is.
static bool knowsRows(Block *block) {
  if (!block->getArgument(1).use_empty() || !block->getArgument(2).use_empty())
    return true;
  return block
      ->walk([](linalg::IndexOp index) {
        return index.getDim() == 0 ? WalkResult::interrupt()
                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static int64_t headOf(AffineMap map, int64_t head) {
  Builder b(map.getContext());
  SmallVector<Attribute> result;
  (void)map.constantFold(b.getIndexAttr(head), result);
  return cast<IntegerAttr>(result.front()).getInt();
}

int64_t linattn::attention_to_tile::getHeadStep(AffineMap queryHeads) {
  return headOf(queryHeads, 1) - headOf(queryHeads, 0);
}

int64_t linattn::attention_to_tile::findHeadGroup(AttentionTilesOp op) {
  if (knowsRows(op.getStepBlock()) || knowsRows(op.getFinishBlock()))
    return 1;
  auto holds = [&](int64_t group) {
    for (int64_t head : llvm::seq<int64_t>(op.getHeads())) {
      int64_t row = head % group;
      for (AffineMap map : op.getKeyHeads().getAsValueRange<AffineMapAttr>())
        if (headOf(map, head) != headOf(map, head - row))
          return false;
      for (AffineMap map : op.getQueryHeads().getAsValueRange<AffineMapAttr>())
        if (getHeadStep(map) < 1 ||
            headOf(map, head) !=
                headOf(map, head - row) + row * getHeadStep(map))
          return false;
    }
    return true;
  };
  int64_t heads = op.getHeads();
  for (int64_t group = std::min<int64_t>(heads, op.getQueryTile()); group > 1;
       --group)
    if (heads % group == 0 && holds(group))
      return group;
  return 1;
}
