//===- AttentionTilesOp.td - level 1: attention on tiles ----*- tablegen -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_ATTENTION_TILES_OP
#define LINATTN_DIALECT_LINATTN_IR_ATTENTION_TILES_OP

include "linattn/Dialect/LinAttn/IR/LinAttnBase.td"

def LinAttn_AttentionTilesOp : LinAttn_Op<"attention_tiles", [
    AttrSizedOperandSegments, RecursiveMemoryEffects, RecursivelySpeculatable,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "attention as passes of a query tile over key tiles, with carried values";
  let description = [{
    For each sequence, head h of `heads` and tile of Q queries: the carried tiles
    start as `init`, `step` turns them into new ones for each tile of K keys, in
    order, and `finish` turns the last ones into outputs. Operand i of `queries`
    and `keys` gives its head map(h), with the map at place i of
    `query_heads` and `key_heads`; the same tensor may stand there twice.

    With T queries and S keys in a sequence, query t stands at position
    p = t + S - T. A pair of query t and key s is *allowed* if both exist, and
    `causal` s <= p, `window(w)` p - w < s and, not causal, s < p + w. A key tile
    without an allowed pair is not visited, so a query tile without one finishes
    on `init`. Rows beyond the end of a sequence are 0, and their outputs are not
    stored.

    | argument | type | meaning |
    |---|---|---|
    | b, h, t | index | sequence, head, first query of the tile inside its sequence |
    | j (`step`) | index | first key of the tile inside its sequence |
    | allowed (`step`) | tensor<QxKxi1> | which pairs count |
    | per query operand | tensor<Qx..> | |
    | per key operand (`step`) | tensor<Kx..> | |
    | per carried value | tensor<Qx..> | f32 or f64 |

    Operations of both regions are straight-line tensor code, pure, with every
    rounding as a `truncf`; they may read tensors from outside. Loops, slices,
    tails and masks belong to the lowerings.

    Example (sums of the values of allowed keys, without a softmax):

    ```mlir
    %o = linattn.attention_tiles heads = 4 query_tile = 8 key_tile = 8 causal
        queries(%q : tensor<?x?x4x16xf32>) query_heads = [affine_map<(h) -> (h)>]
        keys(%v : tensor<?x?x2x16xf32>) key_heads = [affine_map<(h) -> (h floordiv 2)>]
        init = [0.0 : f64] step {
    ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<8x8xi1>,
          %qt: tensor<8x16xf32>, %vt: tensor<8x16xf32>, %acc: tensor<8x16xf32>):
      %p = arith.uitofp %allowed : tensor<8x8xi1> to tensor<8x8xf32>
      %next = linalg.matmul ins(%p, %vt : tensor<8x8xf32>, tensor<8x16xf32>) outs(%acc : tensor<8x16xf32>) -> tensor<8x16xf32>
      linattn.yield %next : tensor<8x16xf32>
    } finish {
    ^finish(%b: index, %h: index, %t: index, %qt: tensor<8x16xf32>, %acc: tensor<8x16xf32>):
      linattn.yield %acc : tensor<8x16xf32>
    } -> (tensor<?x?x4x16xf32>)
    ```

    Constraints:

    * (attention_tiles_c1) Both tiles are powers of 2 from 4 to 256.
    * (attention_tiles_c2) There are operands of both kinds: [B, T, H, ..], with
      `seqlens` [T, H, ..], sizes from the head count on static.
    * (attention_tiles_c3) There is one map per operand, from a head to a head of
      the operand, for every h < `heads`.
    * (attention_tiles_c4) `seqlens` have rank 1; `kv_seqlens` ask for `seqlens`.
      The window is from 1 to 2^30.
    * (attention_tiles_c5) The regions take the arguments of the table, with one
      carried value per number of `init`.
    * (attention_tiles_c6) `step` yields the carried values, `finish` one
      tensor<Qx..> per result [B, T, heads, ..] (packed without B).
    * (attention_tiles_c7) Operations of the regions are pure.
  }];
  let arguments = (ins
    Variadic<LinAttn_FloatTensor>:$queries,
    Variadic<LinAttn_FloatTensor>:$keys,
    Optional<LinAttn_OffsetTensor>:$seqlens,
    Optional<LinAttn_OffsetTensor>:$kvSeqlens,
    LinAttn_I64Attr:$heads, LinAttn_I64Attr:$queryTile, LinAttn_I64Attr:$keyTile,
    UnitAttr:$causal, OptionalAttr<LinAttn_I64Attr>:$window,
    AffineMapArrayAttr:$queryHeads, AffineMapArrayAttr:$keyHeads,
    TypedArrayAttrBase<F64Attr, "numbers in f64">:$init);
  let results = (outs Variadic<LinAttn_FloatTensor>:$results);
  let regions = (region SizedRegion<1>:$step, SizedRegion<1>:$finish);
  let assemblyFormat = [{
    `heads` `=` $heads `query_tile` `=` $queryTile `key_tile` `=` $keyTile
    (`causal` $causal^)? (`window` $window^)?
    `queries` `(` custom<TypedOperands>($queries, type($queries)) `)`
    `query_heads` `=` $queryHeads
    `keys` `(` custom<TypedOperands>($keys, type($keys)) `)`
    `key_heads` `=` $keyHeads
    (`seqlens` `(` $seqlens^ `:` type($seqlens) `)`)?
    (`kv_seqlens` `(` $kvSeqlens^ `:` type($kvSeqlens) `)`)?
    `init` `=` $init `step` $step `finish` $finish attr-dict-with-keyword
    `->` `(` type($results) `)`
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    bool isPacked() { return bool(getSeqlens()); }
    /// Dimension that counts heads: 2, packed 1.
    unsigned getHeadDim() { return isPacked() ? 1 : 2; }
    ::mlir::Block *getStepBlock() { return &getStep().front(); }
    ::mlir::Block *getFinishBlock() { return &getFinish().front(); }
    unsigned getNumCarried() { return getInit().size(); }
    /// Arguments of `step` before the tiles: b, h, t, j, allowed; of `finish`:
    /// b, h, t.
    static constexpr unsigned kStepLeading = 5, kFinishLeading = 3;
    ::mlir::Block::BlockArgListType getCarriedArgs(::mlir::Block *block) {
      return block->getArguments().take_back(getNumCarried());
    }
    /// The tile of the `rows` rows of an operand or result.
    ::mlir::RankedTensorType getTileType(::mlir::Value value, int64_t rows);
  }];
}

#endif
