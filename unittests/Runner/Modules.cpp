//===- Modules.cpp - modules from text, for tests -------------------------===//

#include "Runner/Modules.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"

using namespace linattn;

mlir::MLIRContext &testing::context() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    registry.insert<LinAttnDialect>();
    mlir::registerBuiltinDialectTranslation(registry);
    mlir::registerLLVMDialectTranslation(registry);
    mlir::registerOpenMPDialectTranslation(registry);
    return new mlir::MLIRContext(registry);
  }();
  return *context;
}

mlir::OwningOpRef<mlir::ModuleOp> testing::parse(llvm::StringRef text) {
  return mlir::parseSourceString<mlir::ModuleOp>(text, &context());
}

runner::Signature testing::signatureOf(mlir::ModuleOp module) {
  return llvm::cantFail(runner::analyzeSignature(
      llvm::cantFail(runner::selectFunction(module, ""))));
}
