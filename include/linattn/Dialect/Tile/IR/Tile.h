//===- Tile.h - the tile dialect --------------------------------*- C++ -*-===//
//
// Part of linattn. Level 2: a GPU kernel on tiles.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_TILE_IR_TILE_H
#define LINATTN_DIALECT_TILE_IR_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "linattn/Dialect/Tile/IR/TileDialect.h.inc"
#include "linattn/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "linattn/Dialect/Tile/IR/TileAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "linattn/Dialect/Tile/IR/TileTypes.h.inc"

namespace linattn::tile {
/// Whether a type is a static tensor in one of our layouts.
bool isFragment(mlir::Type type);
} // namespace linattn::tile

#define GET_OP_CLASSES
#include "linattn/Dialect/Tile/IR/TileOps.h.inc"

#endif // LINATTN_DIALECT_TILE_IR_TILE_H
