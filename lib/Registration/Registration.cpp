//===- Registration.cpp - everything that the tools know ------------------===//

#include "linattn/Registration.h"
#include "linattn/Conversion/Passes.h"
#include "linattn/Dialect/LinAttn/IR/LinAttn.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"
#include "linattn/Dialect/Tile/IR/Tile.h"
#include "linattn/Dialect/Tile/Transforms/Passes.h"
#include "linattn/Pipelines/Pipelines.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void linattn::registerEverything(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<LinAttnDialect, tile::TileDialect>();
  mlir::registerAllPasses();
  registerLinAttnPasses();
  tile::registerLinAttnTilePasses();
  registerLinAttnConversionPasses();
  registerLinAttnPipelines();
}
