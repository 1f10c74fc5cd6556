//===- Passes.cpp - C API of linattn's passes -----------------------------===//

#include "linattn-c/Passes.h"
#include "Errors.h"
#include "linattn/Registration.h"

#include "mlir/CAPI/IR.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

using namespace mlir;
using namespace linattn;

void linattnRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] {
    DialectRegistry unused;
    registerEverything(unused);
  });
}

bool linattnRunPipeline(MlirModule module, const char *pipeline, char **error) {
  ModuleOp op = unwrap(module);
  ErrorText errors(op.getContext());
  std::string message;
  llvm::raw_string_ostream os(message);
  FailureOr<OpPassManager> parsed = parsePassPipeline(pipeline, os);
  if (failed(parsed) ||
      (parsed->getOpAnchorName() != ModuleOp::getOperationName() &&
       parsed->getOpAnchorName() != OpPassManager::getAnyOpAnchorName())) {
    errors.add(llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "no pipeline '" + StringRef(pipeline) + "'" +
            (message.empty() ? Twine(": it must be of builtin.module")
                             : ": " + StringRef(message).trim())));
    errors.give(error);
    return false;
  }
  PassManager passes(op.getContext(), parsed->getOpAnchorName());
  static_cast<OpPassManager &>(passes) = *parsed;
  if (succeeded(passes.run(op)))
    return true;
  errors.give(error);
  return false;
}
