//===- CPU.h - from LLVM dialect to an object file --------------*- C++ -*-===//
//
// Knows no dialect of linattn: takes a module in the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_TARGET_CPU_H
#define LINATTN_TARGET_CPU_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir {
class DialectRegistry;
class Operation;
} // namespace mlir

namespace linattn {

/// What emitObject needs in the registry of its module's context.
void registerCPUTranslations(mlir::DialectRegistry &registry);

/// Translates a module to an object file for this kind of machine.
/// `cpu` names the processor: "native" for this one, "" for any of its
/// architecture.
llvm::Expected<std::string> emitObject(mlir::Operation *module,
                                       llvm::StringRef cpu);

/// The triple that emitObject compiles for.
std::string getCPUTriple();

} // namespace linattn

#endif // LINATTN_TARGET_CPU_H
