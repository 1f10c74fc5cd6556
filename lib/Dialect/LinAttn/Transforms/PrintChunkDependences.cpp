//===- PrintChunkDependences.cpp - prints what a chunk's state waits for --===//

#include "linattn/Dialect/LinAttn/Analysis/ChunkDependences.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"

#include "llvm/Support/raw_ostream.h"

namespace linattn {
#define GEN_PASS_DEF_PRINTCHUNKDEPENDENCESPASS
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {
struct PrintChunkDependencesPass
    : linattn::impl::PrintChunkDependencesPassBase<PrintChunkDependencesPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([&](ChunkedOp op) {
      ChunkDependences(op).print(llvm::outs());
      ++numPrinted;
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
