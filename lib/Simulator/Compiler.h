//===- Compiler.h - From the AST to executable form -----------------------===//

#ifndef LINATTN_LIB_SIMULATOR_COMPILER_H
#define LINATTN_LIB_SIMULATOR_COMPILER_H

#include "InstrTable.h"
#include "llvm/ADT/DenseMap.h"

namespace linattn::sim {

/// Where a module's global and constant variables lie.
struct GlobalPlace {
  uint64_t address = 0, bytes = 0;
  StateSpace space = StateSpace::Global;
};
using GlobalPlaces = llvm::StringMap<GlobalPlace>;

/// Compiles a kernel with all functions that it calls.
llvm::Expected<std::unique_ptr<Program>>
compileKernel(const Ast &ast, const Function &kernel,
              const GlobalPlaces &globals);

/// The offset of each parameter and the size of all.
uint32_t layOutParameters(const std::vector<Variable> &parameters,
                          std::vector<uint32_t> &offsets);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_COMPILER_H
