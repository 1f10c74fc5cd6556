//===- ReadModule.h - the module that a tool works on -----------*- C++ -*-===//
//
// Part of linattn. What linattn-run and linattn-compile do first.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_COMPILE_READMODULE_H
#define LINATTN_COMPILE_READMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
}

namespace linattn {

/// Parses a file ("-": the standard input) into `sources`. Null after saying
/// what is wrong. From here on diagnostics show the place in the file and not
/// the operation as a pass has it, unless --mlir-print-op-on-diagnostic asks.
mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::StringRef path,
                                             llvm::SourceMgr &sources,
                                             mlir::MLIRContext &context);

} // namespace linattn

#endif // LINATTN_COMPILE_READMODULE_H
