//===- KeyPasses.cpp - carried values that go over the keys ---------------===//

#include "KeyPasses.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace linattn;
using namespace linattn::attention_to_tile;

/// Adds what makes `value`.
static void addMakers(Value value, Block *step, KeyPass &pass) {
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (auto arg = dyn_cast<BlockArgument>(next)) {
      if (arg.getOwner() == step)
        pass.args.insert(arg);
      continue;
    }
    // Bodies read values of the region around them.
    Operation *inner = step->findAncestorOpInBlock(*next.getDefiningOp());
    if (inner && pass.inner.insert(inner).second)
      inner->walk([&](Operation *nested) {
        llvm::append_range(worklist, nested->getOperands());
      });
  }
}

SmallVector<KeyPass>
linattn::attention_to_tile::findKeyPasses(AttentionTilesOp op, bool inTurn) {
  Block *step = op.getStepBlock();
  auto args = op.getCarriedArgs(step);
  auto yielded = step->getTerminator()->getOperands();
  llvm::EquivalenceClasses<unsigned> classes;
  for (auto [number, next] : llvm::enumerate(yielded)) {
    classes.insert(number);
    KeyPass pass;
    addMakers(next, step, pass);
    for (auto [other, arg] : llvm::enumerate(args))
      if (!inTurn || pass.args.contains(arg))
        classes.unionSets(number, other);
  }
  SmallVector<KeyPass> passes;
  for (unsigned number : llvm::seq<unsigned>(yielded.size())) {
    auto *pass = llvm::find_if(passes, [&](const KeyPass &pass) {
      return classes.isEquivalent(pass.carried.front(), number);
    });
    if (pass == passes.end())
      pass = &passes.emplace_back();
    pass->carried.push_back(number);
    addMakers(yielded[number], step, *pass);
  }
  if (passes.empty())
    passes.emplace_back();
  return passes;
}
