//===- Optimize.h - LLVM's optimizer for our code ---------------*- C++ -*-===//

#ifndef LINATTN_TARGET_OPTIMIZE_H
#define LINATTN_TARGET_OPTIMIZE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace linattn {

/// O3 for the machine, without unrolling of loops: what is worth unrolling is
/// written out already, bodies must stay in the instruction cache, and on some
/// machines LLVM would spend ten seconds on it.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace linattn

#endif // LINATTN_TARGET_OPTIMIZE_H
