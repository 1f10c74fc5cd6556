//===- linattn-opt.cpp - runs passes over modules -------------------------===//

#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Pipelines/Pipelines.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<linattn::LinAttnDialect>();
  mlir::registerAllPasses();
  linattn::registerLinAttnPasses();
  linattn::registerLinAttnConversionPasses();
  linattn::registerLinAttnPipelines();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "linattn-opt: passes over linear-attention modules\n",
      registry));
}
