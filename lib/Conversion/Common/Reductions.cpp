//===- Reductions.cpp - how reductions of tiles combine ---------*- C++ -*-===//

#include "Reductions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace linattn;

std::optional<tile::Combine> linattn::combineOf(linalg::ReduceOp reduce) {
  Block &block = reduce.getCombiner().front();
  if (block.getOperations().size() != 2)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<tile::Combine>>(
             &block.front())
      .Case([](arith::AddFOp) { return tile::Combine::Add; })
      .Case([](arith::MulFOp) { return tile::Combine::Mul; })
      .Case([](arith::MaximumFOp) { return tile::Combine::Max; })
      .Case([](arith::MinimumFOp) { return tile::Combine::Min; })
      .Default([](Operation *) { return std::nullopt; });
}

double linattn::neutralOf(tile::Combine kind) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case tile::Combine::Add:
    return 0;
  case tile::Combine::Mul:
    return 1;
  case tile::Combine::Max:
    return -infinity;
  case tile::Combine::Min:
    return infinity;
  }
  llvm_unreachable("all kinds are listed");
}
