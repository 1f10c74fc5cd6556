//===- RuntimeSymbols.h - what compiled code calls --------------*- C++ -*-===//

#ifndef LINATTN_RUNNER_RUNTIMESYMBOLS_H
#define LINATTN_RUNNER_RUNTIMESYMBOLS_H

#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"

namespace linattn {
namespace runner {

/// Conversions of 16-bit floats that targets without such instructions call,
/// and that compiler runtimes do not all have; and the copy of strided memrefs.
llvm::orc::SymbolMap runtimeSymbols(llvm::orc::MangleAndInterner mangle);

/// The path of the OpenMP runtime, or "" if none is found. `threads`, unless 0,
/// is what it will use.
std::string loadOpenMP(unsigned threads);

/// What compiled code asks an OpenMP runtime for, on one thread: where that is
/// wanted, and for machines that have no such runtime.
llvm::orc::SymbolMap singleThreadSymbols(llvm::orc::MangleAndInterner mangle);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_RUNTIMESYMBOLS_H
