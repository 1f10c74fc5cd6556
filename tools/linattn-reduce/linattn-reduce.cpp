//===- linattn-reduce.cpp - makes failing modules smaller -----------------===//
//
// mlir-reduce with the dialects and passes of linattn. For example
//
//   linattn-reduce big.mlir --reduction-tree='traversal-mode=0 test=fails.sh'
//
// keeps what makes fails.sh exit with 1.
//
//===----------------------------------------------------------------------===//

#include "linattn/Registration.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  linattn::registerEverything(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
