//===- TileDialect.td - level 2: kernels on tiles ----------*- tablegen -*-===//

#ifndef LINATTN_DIALECT_TILE_IR_DIALECT
#define LINATTN_DIALECT_TILE_IR_DIALECT

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::linattn::tile";
  let summary = "a GPU kernel on tiles";
  let description = [{
    One block of threads works on tiles: tensors whose layout encoding says which
    lane holds which element (registers), `!tile.smem` (shared memory), and
    `!tile.channel` (a ring of shared-memory tiles that is filled ahead). Elementwise
    work is upstream `arith` and `math` on encoded tensors, loops are `scf.for`,
    tensors in global memory are memrefs. All threads of the block (of the role)
    run every operation.

    An operation of this dialect says what happens to a tile, never which
    instruction does it: `--convert-tile-to-nvvm` chooses `mma.sync`, `ldmatrix` and
    `cp.async` today, and nothing above it changes when another atom arrives.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

#endif
