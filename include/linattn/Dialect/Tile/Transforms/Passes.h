//===- Passes.h - passes over the tile dialect ------------------*- C++ -*-===//

#ifndef LINATTN_DIALECT_TILE_TRANSFORMS_PASSES_H
#define LINATTN_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "linattn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace linattn::tile {

#define GEN_PASS_DECL
#include "linattn/Dialect/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "linattn/Dialect/Tile/Transforms/Passes.h.inc"

} // namespace linattn::tile

#endif // LINATTN_DIALECT_TILE_TRANSFORMS_PASSES_H
