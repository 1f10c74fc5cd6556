//===- linattn-lsp-server.cpp - language server for editors ---------------===//
//
// mlir-lsp-server with the dialects of linattn: set it as the MLIR server of an
// editor, for example "mlir.server_path": "build/bin/linattn-lsp-server".
//
//===----------------------------------------------------------------------===//

#include "linattn/Registration.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  linattn::registerEverything(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
