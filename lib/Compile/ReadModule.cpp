//===- ReadModule.cpp - the module that a tool works on ---------*- C++ -*-===//

#include "linattn/Compile/ReadModule.h"
#include "linattn/Support/InputFile.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// The line and column are what a user can use; the operation in the middle of
/// a pass is not.
static void showPlacesOnly(MLIRContext &context) {
  auto &options = llvm::cl::getRegisteredOptions();
  auto it = options.find("mlir-print-op-on-diagnostic");
  if (it == options.end() || it->second->getNumOccurrences() == 0)
    context.printOpOnDiagnostic(false);
}

OwningOpRef<ModuleOp> linattn::readModule(StringRef path,
                                          llvm::SourceMgr &sources,
                                          MLIRContext &context) {
  std::unique_ptr<llvm::MemoryBuffer> file = openInput(path);
  if (!file)
    return nullptr;
  showPlacesOnly(context);
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, &context);
}
