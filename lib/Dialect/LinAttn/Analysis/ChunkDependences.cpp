//===- ChunkDependences.cpp - what a chunk's state waits for --------------===//

#include "linattn/Dialect/LinAttn/Analysis/ChunkDependences.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AsmState.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace linattn;

StringRef linattn::stringify(ChunkClass value) {
  switch (value) {
  case ChunkClass::OffChain:
    return "off chain";
  case ChunkClass::OnChain:
    return "on chain";
  case ChunkClass::Output:
    return "output";
  }
  llvm_unreachable("a class");
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t linattn::countProductFlops(Operation *op) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([](linalg::MatmulOp product) {
        ArrayRef<int64_t> left = shapeOf(product.getInputs()[0]);
        return 2 * left[0] * left[1] * shapeOf(product.getInputs()[1])[1];
      })
      .Case([](DecayProductOp product) {
        ArrayRef<int64_t> x = shapeOf(product.getX());
        return 2 * x[0] * x[1] * shapeOf(product.getY())[0];
      })
      .Case([](UnitLowerSolveOp solve) {
        int64_t n = shapeOf(solve.getMatrices()[0])[0];
        if (solve.isInverse())
          return n * n * n / 3;
        return n * n * shapeOf(solve.getRhs()).back() *
               (int64_t)solve.getMatrices().size();
      })
      .Default([](Operation *) -> int64_t { return 0; });
}

static bool isProduct(Operation *op) {
  return isa<linalg::MatmulOp, DecayProductOp, UnitLowerSolveOp>(op);
}

/// Constants and empty tensors compute nothing.
static bool computes(Operation *op) {
  return !isa<arith::ConstantOp, tensor::EmptyOp>(op);
}

ChunkDependences::ChunkDependences(ChunkedOp op) : chunked(op) {
  Block *block = op.getBlock();
  carried.insert(op.getStateArgs().begin(), op.getStateArgs().end());
  for (Operation &inner : block->without_terminator())
    if (llvm::any_of(inner.getOperands(),
                     [&](Value v) { return carried.contains(v); }))
      carried.insert(inner.result_begin(), inner.result_end());

  llvm::DenseSet<Value> needed;
  for (Value state :
       block->getTerminator()->getOperands().drop_front(op.getNumOutputs()))
    needed.insert(state);
  for (Operation &inner : llvm::reverse(block->without_terminator())) {
    auto in = [&](const llvm::DenseSet<Value> &set) {
      return llvm::any_of(inner.getResults(),
                          [&](Value v) { return set.contains(v); });
    };
    if (in(needed))
      needed.insert(inner.operand_begin(), inner.operand_end());
    classes[&inner] = !in(carried) ? ChunkClass::OffChain
                      : in(needed) ? ChunkClass::OnChain
                                   : ChunkClass::Output;
  }
  findChain();
}

bool ChunkDependences::onlyAccumulates(Operation *op) const {
  auto product = dyn_cast<linalg::MatmulOp>(op);
  return product && dependsOnState(product.getResult(0)) &&
         llvm::none_of(product.getInputs(),
                       [&](Value v) { return dependsOnState(v); });
}

void ChunkDependences::findChain() {
  // The number of products on the longest way to each value, and the last
  // operation of that way that is one.
  llvm::DenseMap<Value, unsigned> length;
  llvm::DenseMap<Value, Operation *> last;
  llvm::DenseMap<Operation *, Operation *> before;
  for (Operation &op : chunked.getBlock()->without_terminator()) {
    if (classes.at(&op) != ChunkClass::OnChain)
      continue;
    Value deepest;
    for (Value operand : op.getOperands())
      if (dependsOnState(operand) &&
          (!deepest || length.lookup(operand) > length.lookup(deepest)))
        deepest = operand;
    unsigned depth = length.lookup(deepest);
    Operation *previous = last.lookup(deepest);
    if (isProduct(&op)) {
      before[&op] = previous;
      previous = &op;
      ++depth;
    }
    for (Value result : op.getResults()) {
      length[result] = depth;
      last[result] = previous;
    }
  }
  Value end;
  for (Value state : chunked.getBlock()->getTerminator()->getOperands())
    if (length.lookup(state) > (end ? length.lookup(end) : 0))
      end = state;
  for (Operation *op = end ? last.lookup(end) : nullptr; op;
       op = before.lookup(op))
    chain.push_back(op);
  std::reverse(chain.begin(), chain.end());
}

ChunkDependences::Summary ChunkDependences::summarize(ChunkClass value) const {
  Summary summary;
  ChunkedOp region = chunked;
  for (Operation &op : region.getBlock()->without_terminator()) {
    if (classes.at(&op) != value || !computes(&op))
      continue;
    ++summary.operations;
    summary.products += isProduct(&op);
    summary.flops += countProductFlops(&op);
  }
  return summary;
}

void ChunkDependences::print(raw_ostream &os) const {
  ChunkedOp op = chunked;
  Operation *root = op;
  if (auto function = op->getParentOfType<FunctionOpInterface>())
    root = function;
  AsmState names(root);
  auto name = [&](Value value) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    value.printAsOperand(stream, names);
    return text;
  };

  os << "chunk of " << op.getChunk() << " tokens";
  if (auto function = dyn_cast<FunctionOpInterface>(root))
    os << " in @" << function.getName();
  os << ": " << op.getNumHeads() << " heads";
  for (Value state : op.getStateArgs()) {
    ArrayRef<int64_t> shape = shapeOf(state);
    os << ", " << name(state) << " " << shape[0] << "x" << shape[1];
  }
  os << "\n";
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (!computes(&inner))
      continue;
    std::string operands;
    for (Value operand : inner.getOperands())
      if (!operand.getDefiningOp() || computes(operand.getDefiningOp()))
        operands += (operands.empty() ? "" : ", ") + name(operand);
    os << llvm::formatv("  {0,-9}  {1} = {2} {3} -> {4}",
                        stringify(classes.at(&inner)), name(inner.getResult(0)),
                        inner.getName(), operands,
                        inner.getResult(0).getType());
    if (isProduct(&inner))
      os << ", " << countProductFlops(&inner) << " flops";
    if (onlyAccumulates(&inner))
      os << ", only adds";
    os << "\n";
  }
  os << llvm::formatv("  {0,-9}  {1,10}  {2,8}  {3,10}\n", "class",
                      "operations", "products", "flops");
  for (ChunkClass value :
       {ChunkClass::OffChain, ChunkClass::OnChain, ChunkClass::Output}) {
    Summary summary = summarize(value);
    os << llvm::formatv("  {0,-9}  {1,10}  {2,8}  {3,10}\n", stringify(value),
                        summary.operations, summary.products, summary.flops);
  }
  os << "  chain from state to state: " << chain.size()
     << (chain.size() == 1 ? " product" : " products");
  StringRef separator = ": ";
  for (Operation *product : chain) {
    os << separator << name(product->getResult(0));
    separator = ", ";
  }
  os << "\n";
}
