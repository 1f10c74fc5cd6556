//===- TileOpBase.td - what all operations on tiles share --*- tablegen -*-===//

#ifndef LINATTN_DIALECT_TILE_IR_OPBASE
#define LINATTN_DIALECT_TILE_IR_OPBASE

include "linattn/Dialect/Tile/IR/TileTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

/// A tensor in registers: ranked, static, with one of our layouts.
def Tile_IsFragment : CPred<"::linattn::tile::isFragment($_self)">;
def Tile_Fragment : Type<Tile_IsFragment, "tensor with a layout of the tile dialect",
    "::mlir::RankedTensorType">;
def Tile_Smem : Type<CPred<"::llvm::isa<::linattn::tile::SmemType>($_self)">,
    "tile in shared memory", "::linattn::tile::SmemType">;
def Tile_Channel : Type<CPred<"::llvm::isa<::linattn::tile::ChannelType>($_self)">,
    "channel", "::linattn::tile::ChannelType">;
def Tile_Operand : AnyTypeOf<[Tile_Fragment, Tile_Smem]>;

#endif // LINATTN_DIALECT_TILE_IR_OPBASE
