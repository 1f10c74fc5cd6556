//===- TileTypes.td - layouts and types of tiles -----------*- tablegen -*-===//

#ifndef LINATTN_DIALECT_TILE_IR_TYPES
#define LINATTN_DIALECT_TILE_IR_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "linattn/Dialect/Tile/IR/TileDialect.td"

//===----------------------------------------------------------------------===//
// Layouts: the closed list
//===----------------------------------------------------------------------===//

class Tile_Layout<string name, string attrMnemonic>
    : AttrDef<Tile_Dialect, name, [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = attrMnemonic;
}

def Tile_AccAttr : Tile_Layout<"Acc", "acc"> {
  let summary = "a matrix in the registers of the accumulator of an mma";
  let description = [{
    A matrix of M rows and N columns, in tiles of 16 rows. With W warps row tile t
    belongs to warp t mod W; with fewer row tiles than warps, warp w holds tile
    w mod (M / 16) as well. With `columns = C` the warps form a grid: W / C of them
    share the rows, and warp w has the w / (W / C)-th of C equal parts of the
    columns. In a tile, lane l holds of each 8 columns the elements

    ```
    row l / 4        columns 2 (l mod 4), 2 (l mod 4) + 1
    row l / 4 + 8    columns 2 (l mod 4), 2 (l mod 4) + 1
    ```

    This is the accumulator of mma.sync m16n8 and, with 4 warps, of wgmma. In a
    16-bit type, with one part of columns, it is also the A operand of the next
    product, so chained products move no data between lanes.

    Examples: `tensor<64x128xf32, #tile.acc<warps = 4>>`,
    `tensor<64x128xf32, #tile.acc<warps = 8, columns = 2>>`.
  }];
  let parameters = (ins "int64_t":$warps, DefaultValuedParameter<"int64_t", "1">:$columns);
  let builders = [AttrBuilder<(ins "int64_t":$warps), [{ return $_get($_ctxt, warps, int64_t(1)); }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Warps that share the rows.
    int64_t getRowWarps() const { return getWarps() / getColumns(); }
  }];
}

def Tile_RowAttr : Tile_Layout<"Row", "row"> {
  let summary = "one value per row of a matrix in `acc`";
  let description = [{
    Each lane holds the values of the rows that it has in `acc` with as many warps;
    the four lanes of a row hold the same.

    Example: `tensor<64xf32, #tile.row<warps = 4>>`.
  }];
  let parameters = (ins "int64_t":$warps, DefaultValuedParameter<"int64_t", "1">:$columns);
  let builders = [AttrBuilder<(ins "int64_t":$warps), [{ return $_get($_ctxt, warps, int64_t(1)); }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRowWarps() const { return getWarps() / getColumns(); }
  }];
}

def Tile_ColAttr : Tile_Layout<"Col", "col"> {
  let summary = "one value per column of a matrix in `acc`";
  let description = [{
    Each lane holds the values of the columns that it has in `acc`: of every 8 two.
    All rows of lanes and all warps hold the same; with `columns`, all warps that
    have the same part of the columns. Without, the number of warps does not matter
    and is left out.

    Examples: `tensor<128xf32, #tile.col>`, `tensor<128xf32, #tile.col<warps = 8, columns = 2>>`.
  }];
  let parameters = (ins DefaultValuedParameter<"int64_t", "1">:$warps,
                        DefaultValuedParameter<"int64_t", "1">:$columns);
  let builders = [AttrBuilder<(ins), [{ return $_get($_ctxt, int64_t(1), int64_t(1)); }]>];
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRowWarps() const { return getWarps() / getColumns(); }
  }];
}

def Tile_StridedAttr : Tile_Layout<"Strided", "strided"> {
  let summary = "a vector over the lanes of every warp";
  let description = [{
    Element e is in lane (e / vec) mod 32; every warp holds the whole vector. A
    vector shorter than 32 vec repeats over the lanes.

    Example: `tensor<64xf32, #tile.strided<vec = 2>>`, two neighbours in each lane.
  }];
  let parameters = (ins "int64_t":$vec);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Tile_SmemType : TypeDef<Tile_Dialect, "Smem"> {
  let mnemonic = "smem";
  let summary = "a tile in shared memory";
  let description = [{
    `!tile.smem<SHAPExELT, swizzle = S>`, of rank 1 or 2. Elements of a matrix
    lie row by row in panels of S bytes (the whole row without a swizzle): panel
    p holds bytes p S .. p S + S - 1 of each row, and in it the byte at offset
    o = row S + column is stored at o xor ((o >> 3) & (S - 16)). So eight rows of 16
    bytes meet all banks once. With S = 128, 64 or 32 this is the swizzle of tensor
    maps and of wgmma. `of RxC` names the tile that a slice lies in, `transposed`
    that rows and columns change places: both come from `smem_view`.

    Examples: `!tile.smem<64x128xbf16, swizzle = 128>`,
    `!tile.smem<128x64xbf16, swizzle = 128, transposed>`,
    `!tile.smem<16x16xbf16, swizzle = 128, of 64x64>`.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
    "int64_t":$swizzle, ArrayRefParameter<"int64_t">:$storage, "bool":$transposed);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
    CArg<"int64_t", "0">:$swizzle)>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getElementBytes() const;
    /// Bytes of the tile that this is or lies in.
    int64_t getStorageBytes() const;
    /// Whether this is a whole tile as `alloc` makes it.
    bool isWhole() const { return !getTransposed() && getShape() == getStorage(); }
    /// Bytes of a panel: the swizzle, or a whole row of the storage.
    int64_t getPanelBytes() const;
    /// This tile with rows and columns changed.
    SmemType getTransposedType() const;
    /// A slice of this tile.
    SmemType getSliceType(::llvm::ArrayRef<int64_t> shape) const;
    /// The widest swizzle that rows of these bytes allow: 128, 64, 32 or none.
    static int64_t getSwizzleOf(int64_t rowBytes);
  }];
}

def Tile_ChannelType : TypeDef<Tile_Dialect, "Channel"> {
  let mnemonic = "channel";
  let summary = "a ring of shared-memory tiles that is filled ahead of its use";
  let description = [{
    `!tile.channel<STAGES, TILES>`: each stage holds the tiles named.

    Example: `!tile.channel<2, !tile.smem<64x128xbf16, swizzle = 128>>`.
  }];
  let parameters = (ins "int64_t":$stages, ArrayRefParameter<"::mlir::Type">:$tiles);
  let assemblyFormat = "`<` $stages `,` $tiles `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Where stages begin: multiples of 1024 with a swizzle in them, else of 128.
    int64_t getAlignment() const;
    /// Bytes of one stage.
    int64_t getStageBytes() const;
    /// Where tile `number` begins in its stage.
    int64_t getTileOffset(unsigned number) const;
  }];
}

#endif
