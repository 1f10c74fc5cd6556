//===- Modules.h - modules from text, for tests -----------------*- C++ -*-===//

#ifndef LINATTN_UNITTESTS_RUNNER_MODULES_H
#define LINATTN_UNITTESTS_RUNNER_MODULES_H

#include "linattn/Runner/Signature.h"

namespace linattn {
namespace testing {

/// A context with every dialect that a run needs; one for all tests.
mlir::MLIRContext &context();

mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text);

/// The signature of the only public function.
runner::Signature signatureOf(mlir::ModuleOp module);

} // namespace testing
} // namespace linattn

#endif // LINATTN_UNITTESTS_RUNNER_MODULES_H
