//===- TileOps.td - operations on tiles --------------------*- tablegen -*-===//

#ifndef LINATTN_DIALECT_TILE_IR_OPS
#define LINATTN_DIALECT_TILE_IR_OPS

include "linattn/Dialect/Tile/IR/TileOpBase.td"

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

class Tile_GlobalOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([AttrSizedOperandSegments], traits)> {
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_GlobalOp<"load"> {
  let summary = "global memory to registers";
  let description = [{
    Element (i, j) of the result is the memref's element at `indices` plus i along
    dimension dims[0] and j along dims[1]. With `bounds` an element with i >=
    bounds[0] or j >= bounds[1] is 0 and memory is not read there. Any layout, any
    strides: for vectors and for what is loaded once; tiles of tokens come by
    `load_async`.

    With `group = g` rows fill two dimensions: g of them run along dims[0], the next
    g along it again one further in the dimension before it (heads that share keys,
    of one token and then of the next). With `step = s` the rows of a group are s
    apart (every other head).

    Example (64 gates of one head):

    ```mlir
    %g = tile.load %gates[%b, %t, %h] dims = [1] bounds(%rows)
        : memref<?x?x32xf32, strided<[?, ?, ?]>> -> tensor<64xf32, #tile.strided<vec = 2>>
    ```

    Constraints:

    * (load_c1) There is an index per dimension of the memref.
    * (load_c2) `dims` names a dimension of the memref for each of the tile's, in
      any order; bounds are given for all or none.
    * (load_c3) Element types are equal.
    * (load_c5) Groups and steps are positive; a group of several rows runs along a
      dimension that is not the first.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Variadic<Index>:$indices,
    DenseI64ArrayAttr:$dims, Variadic<Index>:$bounds, DefaultValuedAttr<I64Attr, "1">:$group,
    DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` `dims` `=` $dims (`bounds` `(` $bounds^ `)`)?
    (`group` `=` $group^)? (`step` `=` $step^)? attr-dict `:` type($source) `->` type($result)
  }];
}

def Tile_StoreOp : Tile_GlobalOp<"store"> {
  let summary = "registers or shared memory to global memory";
  let description = [{
    The inverse of `load`; what is beyond `bounds` is not written. Elements that
    several lanes or warps hold are written once. A tile in shared memory goes row by
    row in pieces of `align` bytes (16, 8, 4 or 2; 16 unless given), of which the
    rows in memory begin at multiples.

    Example:

    ```mlir
    tile.store %o, %out[%b, %t, %h, %v0] dims = [1, 3] bounds(%rows, %cols)
        : !tile.smem<64x64xbf16, swizzle = 128>, memref<?x?x32x128xbf16, strided<[?, ?, ?, 1]>>
    ```

    Constraints: those of `load` (store_c1 to store_c3, store_c5), and

    * (store_c4) align is 16, 8, 4 or 2.
  }];
  let arguments = (ins Arg<Tile_Operand, "", [MemRead]>:$value,
    Arg<AnyMemRef, "", [MemWrite]>:$target, Variadic<Index>:$indices,
    DenseI64ArrayAttr:$dims, Variadic<Index>:$bounds, DefaultValuedAttr<I64Attr, "16">:$align,
    DefaultValuedAttr<I64Attr, "1">:$group);
  let assemblyFormat = [{
    $value `,` $target `[` $indices `]` `dims` `=` $dims (`bounds` `(` $bounds^ `)`)?
    (`align` `=` $align^)? (`group` `=` $group^)? attr-dict
    `:` type($value) `,` type($target)
  }];
}

def Tile_LoadAsyncOp : Tile_GlobalOp<"load_async"> {
  let summary = "global memory to shared memory, in the background";
  let description = [{
    As `load`, into a tile of shared memory, which is filled when the `wait` of
    its channel says so. What is beyond `bounds` becomes 0 and is not read. Rows of
    the tile are contiguous in memory and begin at multiples of `align` bytes (16, 8
    or 4; 16 unless given), which is how wide the copies are. Rows before `from` are
    as those beyond `bounds` (what stands before a sequence). With `multicast` each
    block of a cluster loads its share of the tile's columns and gives it to the
    tiles of all blocks, which load the same.

    Example:

    ```mlir
    tile.load_async %k[%b, %t, %h, %c0] dims = [1, 3] bounds(%rows, %cols) into %tile
        : memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>, !tile.smem<64x128xbf16, swizzle = 128>
    ```

    Constraints: those of `load`, and

    * (load_async_c4) The target is a whole tile, and its last dimension runs along
      the memref's last one, which is contiguous.
    * (load_async_c6) `from` is of tiles with rows: of rank 2.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Variadic<Index>:$indices,
    DenseI64ArrayAttr:$dims, Variadic<Index>:$bounds, Optional<Index>:$from,
    Arg<Tile_Smem, "", [MemWrite]>:$target,
    DefaultValuedAttr<I64Attr, "16">:$align, UnitAttr:$multicast,
    DefaultValuedAttr<I64Attr, "1">:$group, DefaultValuedAttr<I64Attr, "1">:$step);
  let assemblyFormat = [{
    $source `[` $indices `]` `dims` `=` $dims (`bounds` `(` $bounds^ `)`)?
    (`from` `(` $from^ `)`)? (`align` `=` $align^)?
    (`group` `=` $group^)? (`step` `=` $step^)?
    (`multicast` $multicast^)? `into` $target attr-dict
    `:` type($source) `,` type($target)
  }];
}

def Tile_StoreAsyncOp : Tile_GlobalOp<"store_async"> {
  let summary = "shared memory to global memory, in the background";
  let description = [{
    As `store`, from a tile that a channel holds: the tile has been read when the
    `release` of its stage is done.

    Example:

    ```mlir
    tile.store_async %tile, %o[%b, %t, %h, %c0] dims = [1, 3] bounds(%rows, %cols)
        : !tile.smem<64x64xbf16, swizzle = 128>, memref<?x?x16x128xbf16, strided<[?, ?, ?, 1]>>
    ```

    Constraints: those of `load`, and

    * (store_async_c4) The tile is whole, and its last dimension runs along the
      memref's last one, which is contiguous.
  }];
  let arguments = (ins Arg<Tile_Smem, "", [MemRead]>:$value,
    Arg<AnyMemRef, "", [MemWrite]>:$target, Variadic<Index>:$indices,
    DenseI64ArrayAttr:$dims, Variadic<Index>:$bounds);
  let assemblyFormat = [{
    $value `,` $target `[` $indices `]` `dims` `=` $dims (`bounds` `(` $bounds^ `)`)? attr-dict
    `:` type($value) `,` type($target)
  }];
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

def Tile_AllocOp : Tile_Op<"alloc"> {
  let summary = "a tile of shared memory";
  let description = [{
    Lives from its first use to its last in the block that holds it; tiles whose
    lives do not meet may share bytes. `offset` is its place in the kernel's arena,
    given by `--tile-plan-shared-memory`.

    Example: `%s = tile.alloc : !tile.smem<64x64xbf16, swizzle = 128>`

    Constraints:

    * (alloc_c1) The tile is whole: no slice and not transposed.
    * (alloc_c2) The offset is a multiple of 16, of 1024 with a swizzle.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<Tile_Smem, "", [MemAlloc]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SmemViewOp : Tile_Op<"smem_view", [Pure]> {
  let summary = "a slice of a tile in shared memory, or the tile transposed";
  let description = [{
    `[i, j]` is where the slice begins, in rows and columns of the source;
    `transposed` changes rows and columns of the result.

    Examples:

    ```mlir
    %b = tile.smem_view %s[16, 0] : !tile.smem<64x64xbf16, swizzle = 128> -> !tile.smem<16x16xbf16, swizzle = 128, of 64x64>
    %t = tile.smem_view %s transposed : !tile.smem<64x128xbf16, swizzle = 128> -> !tile.smem<128x64xbf16, swizzle = 128, transposed>
    ```

    Constraints:

    * (smem_view_c1) The result has the source's element type, swizzle and storage;
      it is transposed as the source, or the other way round with `transposed`.
    * (smem_view_c2) The slice lies inside the source and begins at a column of the
      storage that is a multiple of 8.
    * (smem_view_c3) Views are of rank 2.
  }];
  let arguments = (ins Tile_Smem:$source, DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$offsets,
    UnitAttr:$transposed);
  let results = (outs Tile_Smem:$result);
  let assemblyFormat = [{
    $source custom<ViewOffsets>($offsets) (`transposed` $transposed^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_LocalLoadOp : Tile_Op<"local_load"> {
  let summary = "shared memory to registers";
  let description = [{
    Example: `%f = tile.local_load %s : !tile.smem<64x64xbf16, swizzle = 128> -> tensor<64x64xbf16, #tile.acc<warps = 4>>`

    Constraints:

    * (local_load_c1) Shapes and element types are equal.
  }];
  let arguments = (ins Arg<Tile_Smem, "", [MemRead]>:$source);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_LocalStoreOp : Tile_Op<"local_store"> {
  let summary = "registers to shared memory";
  let description = [{
    Elements that several lanes or warps hold are written once.

    Example: `tile.local_store %f, %s : tensor<64x64xbf16, #tile.acc<warps = 4>>, !tile.smem<64x64xbf16, swizzle = 128>`

    Constraints:

    * (local_store_c1) Shapes and element types are equal.
  }];
  let arguments = (ins Tile_Fragment:$value, Arg<Tile_Smem, "", [MemWrite]>:$target);
  let assemblyFormat = "$value `,` $target attr-dict `:` type($value) `,` type($target)";
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier"> {
  let summary = "all threads of the block (of the role) arrive before any goes on";
  let description = [{
    What they wrote to shared memory before is seen after. `--tile-insert-barriers`
    places it.

    Example: `tile.barrier`
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

def Tile_ChannelCreateOp : Tile_Op<"channel.create"> {
  let summary = "a ring of shared-memory tiles";
  let description = [{
    Step i of a channel uses stage i mod stages. A writer acquires a stage, fills it
    and commits it; a reader waits for it and releases it. `offset`: as in `alloc`.

    In a kernel with roles a channel says who fills it:

    * `parts [@A, @B]`: several roles fill one stage, which is full when each of them
      has committed; without it one role does;
    * `every(P)`: the P blocks of a cluster fill it in turn, block i mod P step i,
      for all of them;
    * `own(P)`: only the steps of the block's own are used, those with i mod P its
      rank: step i uses stage (i / P) mod stages.

    Examples:

    ```mlir
    %c = tile.channel.create : !tile.channel<2, !tile.smem<64x128xbf16, swizzle = 128>>
    %t = tile.channel.create every(2) parts [@A, @B] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>
    ```

    Constraints:

    * (channel_create_c1) The offset is a multiple of 1024 with a swizzle, else of 128.
    * (channel_create_c2) The period of `every` or `own` lies in [2, 8]; one of them
      at most is given.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset, OptionalAttr<I64Attr>:$every,
    OptionalAttr<I64Attr>:$own, OptionalAttr<FlatSymbolRefArrayAttr>:$parts);
  let results = (outs Res<Tile_Channel, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    (`every` `(` $every^ `)`)? (`own` `(` $own^ `)`)? (`parts` $parts^)? attr-dict `:` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, CArg<"::mlir::IntegerAttr", "{}">:$offset), [{
    build($_builder, $_state, type, offset, /*every=*/{}, /*own=*/{}, /*parts=*/{});
  }]>];
  let hasVerifier = 1;
}

def Tile_ChannelAcquireOp : Tile_Op<"channel.acquire"> {
  let summary = "waits until a stage is free, and gives its tiles to the writer";
  let description = [{
    Example: `%k, %q = tile.channel.acquire %c[%i] : !tile.channel<2, !tile.smem<..>, !tile.smem<..>>`

    Constraints:

    * (channel_acquire_c1) The results are the tiles of the channel.
  }];
  let arguments = (ins Arg<Tile_Channel, "", [MemRead, MemWrite]>:$channel, Index:$step);
  let results = (outs Variadic<Tile_Smem>:$results);
  let assemblyFormat = "$channel `[` $step `]` attr-dict `:` type($channel) `->` type($results)";
  let hasVerifier = 1;
}

def Tile_ChannelCommitOp : Tile_Op<"channel.commit"> {
  let summary = "the stage is full once the copies into it have landed";
  let description = [{
    Example: `tile.channel.commit %c[%i] : !tile.channel<2, !tile.smem<..>>`
  }];
  let arguments = (ins Arg<Tile_Channel, "", [MemRead, MemWrite]>:$channel, Index:$step);
  let assemblyFormat = "$channel `[` $step `]` attr-dict `:` type($channel)";
}

def Tile_ChannelWaitOp : Tile_Op<"channel.wait"> {
  let summary = "waits until a stage is full, and gives its tiles to the reader";
  let description = [{
    `pending` counts the later commits, of all channels, whose copies may still be
    under way (kernels without roles, where copies of the same threads land in
    order); the pass that pipelines loads sets it.

    Example: `%k = tile.channel.wait %c[%i] pending = 1 : !tile.channel<2, !tile.smem<..>> -> !tile.smem<..>`

    Constraints:

    * (channel_wait_c1) The results are the tiles of the channel.
    * (channel_wait_c2) pending is not negative.
  }];
  let arguments = (ins Arg<Tile_Channel, "", [MemRead, MemWrite]>:$channel, Index:$step,
    DefaultValuedAttr<I64Attr, "0">:$pending);
  let results = (outs Variadic<Tile_Smem>:$results);
  let assemblyFormat = [{
    $channel `[` $step `]` (`pending` `=` $pending^)? attr-dict
    `:` type($channel) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tile_ChannelStageOp : Tile_Op<"channel.stage", [Pure]> {
  let summary = "the tiles of a step that was waited for, or acquired, before";
  let description = [{
    Waits for nothing: for a role that waits for step i + 1 while it works on step i.

    Example: `%k = tile.channel.stage %c[%i] : !tile.channel<2, !tile.smem<..>> -> !tile.smem<..>`

    Constraints:

    * (channel_stage_c1) The results are the tiles of the channel.
  }];
  let arguments = (ins Tile_Channel:$channel, Index:$step);
  let results = (outs Variadic<Tile_Smem>:$results);
  let assemblyFormat = "$channel `[` $step `]` attr-dict `:` type($channel) `->` type($results)";
  let hasVerifier = 1;
}

def Tile_ChannelReleaseOp : Tile_Op<"channel.release"> {
  let summary = "the reader is done with a stage";
  let description = [{
    Example: `tile.channel.release %c[%i] : !tile.channel<2, !tile.smem<..>>`
  }];
  let arguments = (ins Arg<Tile_Channel, "", [MemRead, MemWrite]>:$channel, Index:$step);
  let assemblyFormat = "$channel `[` $step `]` attr-dict `:` type($channel)";
}

include "linattn/Dialect/Tile/IR/TileProductOps.td"

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

def Tile_ConvertOp : Tile_Op<"convert", [Pure]> {
  let summary = "the same tensor in another layout";
  let description = [{
    By shuffles inside a warp. The legal pairs: strided to row, col or strided; row
    to row of one warp count; col and row to strided. Anything else goes through
    shared memory, by `local_store` and `local_load`.

    Example: `%c = tile.convert %g : tensor<64xf32, #tile.strided<vec = 2>> -> tensor<64xf32, #tile.col>`

    Constraints:

    * (convert_c1) Shapes and element types are equal.
    * (convert_c2) The pair of layouts is legal.
  }];
  let arguments = (ins Tile_Fragment:$source);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

class Tile_SplatOp<string mnemonic> : Tile_Op<mnemonic, [Pure]> {
  let arguments = (ins Tile_Fragment:$source);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatRowOp : Tile_SplatOp<"splat_row"> {
  let summary = "a matrix whose rows are constant: y[i, j] = x[i]";
  let description = [{
    Example: `%m = tile.splat_row %x : tensor<64xf32, #tile.row<warps = 4>> -> tensor<64x64xf32, #tile.acc<warps = 4>>`

    Constraints:

    * (splat_row_c1) The source is in `row` of the result's warps, with as many
      elements as the result has rows, of the same type.
  }];
}

def Tile_SplatColOp : Tile_SplatOp<"splat_col"> {
  let summary = "a matrix whose columns are constant: y[i, j] = x[j]";
  let description = [{
    Example: `%m = tile.splat_col %x : tensor<64xf32, #tile.col> -> tensor<64x64xf32, #tile.acc<warps = 4>>`

    Constraints:

    * (splat_col_c1) The source is in `col`, with as many elements as the result
      has columns, of the same type.
  }];
}

def Tile_Combine : I32EnumAttr<"Combine", "how a reduction combines two elements", [
      I32EnumAttrCase<"Add", 0, "add">,
      I32EnumAttrCase<"Max", 1, "max">,
      I32EnumAttrCase<"Min", 2, "min">,
      I32EnumAttrCase<"Mul", 3, "mul">]> {
  let cppNamespace = "::linattn::tile";
}

def Tile_ReduceOp : Tile_Op<"reduce"> {
  let summary = "combines the elements of each row or column";
  let description = [{
    `axis = 1` combines along a row and gives `row`; `axis = 0` along a column and
    gives `col`, through the scratch tile (W rows of N numbers) where several warps
    share a column. The order is fixed. `max` and `min` keep NaN.

    Example: `%s = tile.reduce add %x axis = 1 : tensor<64x128xf32, #tile.acc<warps = 4>> -> tensor<64xf32, #tile.row<warps = 4>>`

    Constraints:

    * (reduce_c1) The source is f32 in `acc`; axis is 0 or 1; the result has the
      layout and the size that the axis asks for.
    * (reduce_c2) Scratch is given for axis 0 with several warps, and only then, as
      !tile.smem<WxNxf32>.
  }];
  let arguments = (ins Tile_Combine:$kind, Tile_Fragment:$source, I64Attr:$axis,
    Arg<Optional<Tile_Smem>, "", [MemRead, MemWrite]>:$scratch);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = [{
    $kind $source `axis` `=` $axis (`scratch` `(` $scratch^ `:` type($scratch) `)`)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [Pure, AllTypesMatch<["source", "sum", "error"]>]> {
  let summary = "running sums in two floats";
  let description = [{
    sum[i] + error[i] is the sum of elements 0 .. i (0 .. i - 1 if `exclusive`),
    correct to about 48 bits, so that differences of two sums are right even where
    both are large.

    Example: `%hi, %lo = tile.scan %g : tensor<64xf32, #tile.strided<vec = 2>>`

    Constraints:

    * (scan_c1) The source is f32 of rank 1 in `strided`.
  }];
  let arguments = (ins Tile_Fragment:$source, UnitAttr:$exclusive);
  let results = (outs Tile_Fragment:$sum, Tile_Fragment:$error);
  let assemblyFormat = "$source (`exclusive` $exclusive^)? attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Tile_ScanRowsOp : Tile_Op<"scan_rows", [
    TypesMatchWith<"result has the type of the source", "source", "result", "$_self">]> {
  let summary = "running sums down the rows of a matrix, or up";
  let description = [{
    result[i, j] is the sum of source[t, j] over t <= i, or t >= i if `reverse`;
    without t = i if `exclusive`. The order is fixed, and no sum sees a row outside of
    its range. Several warps pass their sums on through the scratch tile, a row for
    each 16 rows.

    Example: `%s = tile.scan_rows %g reverse scratch(%t : !tile.smem<4x128xf32>) : tensor<64x128xf32, #tile.acc<warps = 4>>`

    Constraints:

    * (scan_rows_c1) The source is f32 in `acc` with one part of columns.
    * (scan_rows_c2) Scratch is given for more than 16 rows, and only then, as
      !tile.smem<(M / 16)xNxf32>.
  }];
  let arguments = (ins Tile_Fragment:$source, UnitAttr:$exclusive, UnitAttr:$reverse,
    Arg<Optional<Tile_Smem>, "", [MemRead, MemWrite]>:$scratch);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = [{
    $source (`exclusive` $exclusive^)? (`reverse` $reverse^)?
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)? attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "the index of each element along an axis";
  let description = [{
    Example: `%i = tile.iota axis = 0 : tensor<64x64xi32, #tile.acc<warps = 4>>`

    Constraints:

    * (iota_c1) The result is i32; the axis is one of its own.
  }];
  let arguments = (ins I64Attr:$axis);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = "`axis` `=` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_BandOp : Tile_Op<"band", [Pure, AttrSizedOperandSegments]> {
  let summary = "which elements of a matrix lie in a band of diagonals";
  let description = [{
    y[i, j] = lower <= j - i and j - i <= upper and j < columns; a bound that is
    not given holds everywhere. Bounds are the same in all threads and may lie
    outside of the matrix. An element costs a comparison with a constant for each
    side.

    Example (pairs of a causal key tile that begins `%d` keys before its queries):

    ```mlir
    %allowed = tile.band upper(%d) : tensor<64x64xi1, #tile.acc<warps = 4>>
    ```

    Constraints:

    * (band_c1) The result is i1 in `acc`.
    * (band_c2) A bound is given.
  }];
  let arguments = (ins Optional<Index>:$lower, Optional<Index>:$upper, Optional<Index>:$columns);
  let results = (outs Tile_Fragment:$result);
  let assemblyFormat = [{
    (`lower` `(` $lower^ `)`)? (`upper` `(` $upper^ `)`)? (`columns` `(` $columns^ `)`)? attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_WarpAnyOp : Tile_Op<"warp_any", [Pure]> {
  let summary = "whether an element that the warp holds is true";
  let description = [{
    The result differs by warp: it is the condition of branches in which warps do
    nothing together.

    Example (rows are scaled only where a factor is not 1):

    ```mlir
    %some = tile.warp_any %changed : tensor<64xi1, #tile.row<warps = 4>>
    ```

    Constraints:

    * (warp_any_c1) The source is i1 in `row`.
    * (warp_any_c2) The result is the condition of `scf.if` whose operations are
      pure.
  }];
  let arguments = (ins Tile_Fragment:$source);
  let results = (outs I1:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Tile_RolesOp : Tile_Op<"roles", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "the warps of a block in parts that do different work at once";
  let description = [{
    Each `role` in the region runs on warps of its own, all of them at once, and they
    talk through channels alone. `chunks` is how many steps the channels make. A loop
    around `roles` goes over work items (sequence, head): each role goes on to the
    next item when it is done, and steps are counted on from item to item.

    A cluster of blocks (`tile.cluster` on the function) runs the same roles; the
    rank of a block is `gpu.cluster_block_id x`.

    Example (copies of tiles, one role loads and another stores):

    ```mlir
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ch = tile.channel.create : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>
    tile.roles chunks(%n) {
      tile.role @load warps(1) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %t = tile.channel.acquire %ch[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xbf16, swizzle = 128>
          tile.load_async %x[%i, %c0] dims = [0, 1] into %t : memref<?x64xbf16, strided<[?, 1]>>, !tile.smem<64x64xbf16, swizzle = 128>
          tile.channel.commit %ch[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>
        }
      }
      tile.role @store warps(1) regs(24) {
        scf.for %i = %c0 to %n step %c1 {
          %t = tile.channel.wait %ch[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>> -> !tile.smem<64x64xbf16, swizzle = 128>
          tile.store_async %t, %y[%i, %c0] dims = [0, 1] : !tile.smem<64x64xbf16, swizzle = 128>, memref<?x64xbf16, strided<[?, 1]>>
          tile.channel.release %ch[%i] : !tile.channel<2, !tile.smem<64x64xbf16, swizzle = 128>>
        }
      }
    }
    ```

    Constraints. The last five are proved by running the channel operations of all
    roles in all blocks of the cluster for several numbers of chunks:

    * (roles_c1) The region holds roles, of different names.
    * (roles_c2) Only channels, scalars and memrefs cross into a role.
    * (roles_c3) Fragments in a role are of its warps.
    * (roles_c4) Warps fit a block (32), registers a multiprocessor (65536): roles
      stand side by side in program order, one of 4 warps or more begins a warpgroup,
      and the roles of one warpgroup have equal registers.
    * (roles_c5) Channels and tiles of all roles fit in 232448 bytes.
    * (roles_c6) The steps of channel operations are functions of the number of
      chunks, of loops, and of the rank alone.
    * (roles_c7) Every step of a channel is acquired and committed once, in this
      order, by each of the stated writers, in the stated block, and by no other.
    * (roles_c8) Every step is waited for and released once by each reader. A role
      may look without releasing if it commits the same step of another channel
      later, for which every role that releases waits before it does. `channel.stage`
      stands between the wait and the release of its step.
    * (roles_c9) A role that is `ahead(n)` writes channels of more than n stages.
    * (roles_c10) No deadlock: every cycle of channels has a free stage.
  }];
  let arguments = (ins Index:$chunks);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`chunks` `(` $chunks `)` $body attr-dict";
  let hasRegionVerifier = 1;
}

def Tile_RoleOp : Tile_Op<"role", [SingleBlock, NoTerminator, NoRegionArguments,
    HasParent<"RolesOp">]> {
  let summary = "what some warps do";
  let description = [{
    `warps` is how many, `regs` how many registers each of their threads gets,
    `ahead` how many steps the role may be ahead of the readers of what it writes.
    Values carried from chunk to chunk are the `iter_args` of its loop.

    Example: see `roles`.

    Constraints:

    * (role_c1) warps is 1, 2, 4, 8, 16 or 32.
    * (role_c2) regs is a multiple of 8 from 24 to 256.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$warps, I64Attr:$regs,
    DefaultValuedAttr<I64Attr, "0">:$ahead);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `warps` `(` $warps `)` `regs` `(` $regs `)` (`ahead` `(` $ahead^ `)`)? $body attr-dict
  }];
  let hasVerifier = 1;
}

#endif
