//===- TileDialect.cpp - the tile dialect ---------------------------------===//

#include "linattn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace linattn::tile;

#include "linattn/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "linattn/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "linattn/Dialect/Tile/IR/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "linattn/Dialect/Tile/IR/TileTypes.cpp.inc"

namespace {
/// Short names of layouts in printed modules.
struct LayoutAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<AccAttr, RowAttr, ColAttr, StridedAttr>(attr))
      return AliasResult::NoAlias;
    os << (isa<AccAttr>(attr)   ? "acc"
           : isa<RowAttr>(attr) ? "row"
           : isa<ColAttr>(attr) ? "col"
                                : "lanes");
    return AliasResult::FinalAlias;
  }
};
} // namespace

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "linattn/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "linattn/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "linattn/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
  addInterfaces<LayoutAliases>();
}
