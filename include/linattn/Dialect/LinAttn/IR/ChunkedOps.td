//===- ChunkedOps.td - level 1: one chunk as matrix products -*- tablegen -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_CHUNKED_OPS
#define LINATTN_DIALECT_LINATTN_IR_CHUNKED_OPS

include "linattn/Dialect/LinAttn/IR/LinAttnBase.td"
include "mlir/Dialect/Linalg/IR/LinalgInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def LinAttn_ChunkedOp : LinAttn_Op<"chunked", [
    IsolatedFromAbove, AttrSizedOperandSegments, RecursiveMemoryEffects,
    RecursivelySpeculatable, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "a recurrence in chunks: the region turns one chunk of tokens and the state before it into outputs and the state after it";
  let description = [{
    Operands and results are those of `recurrence`. The region is straight-line
    tensor code on one chunk of C tokens of one sequence and head:

    | argument | type | meaning |
    |---|---|---|
    | valid | tensor<Cxi1> | which tokens exist: all but in the last chunk of a sequence |
    | per token operand | tensor<Cx..> | rows beyond the end are 0 |
    | per parameter | tensor<..> | the values of the head |
    | per state | tensor<KxVxf32> (f64) | the carried state, in the arithmetic type |

    It yields per output a tensor<Cx..>, of which valid rows are stored, then the
    states. Grid, loops, slices and tails belong to the lowerings. Every rounding
    that a device does stands in the region as a `truncf`.

    Example (linear attention without decay, packed in chunks of 4):

    ```mlir
    %o, %sT = linattn.chunked chunk = 4
        tokens(%k : tensor<?x?x2x8xf32>, %v : tensor<?x?x2x8xf32>)
        state(%s0 : tensor<?x2x8x8xf32>)
        -> (tensor<?x?x2x8xf32>, tensor<?x2x8x8xf32>) {
    ^chunk(%valid: tensor<4xi1>, %kt: tensor<4x8xf32>, %vt: tensor<4x8xf32>, %s: tensor<8x8xf32>):
      %zero = arith.constant dense<0.0> : tensor<4x8xf32>
      %o = linalg.matmul ins(%kt, %s : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
      %e = tensor.empty() : tensor<8x4xf32>
      %t = linalg.transpose ins(%kt : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
      %s1 = linalg.matmul ins(%t, %vt : tensor<8x4xf32>, tensor<4x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
      linattn.yield %o, %s1 : tensor<4x8xf32>, tensor<8x8xf32>
    }
    ```

    Constraints:

    * (chunked_c1) The chunk is 16, 32, 64 or 128 tokens (any power of 2 from 4 on
      is accepted for small examples), at most 128.
    * (chunked_c2) Operands are ranked as those of `recurrence`: tokens
      [B, T, H, ..] or packed, params [H, ..], states [N, H, K, V], sizes from the
      head count on static.
    * (chunked_c3) The region takes the arguments of the table above.
    * (chunked_c4) The region yields the outputs and then one state per state, of
      the types that the results and arguments ask for.
    * (chunked_c5) `snapshots` is a multiple of the chunk.
    * (chunked_c6) Operations of the region are pure.
  }];
  let arguments = (ins
    Variadic<LinAttn_FloatTensor>:$tokens,
    Variadic<LinAttn_FloatTensor>:$params,
    Variadic<LinAttn_FloatTensor>:$states,
    Optional<LinAttn_OffsetTensor>:$seqlens,
    Optional<LinAttn_OffsetTensor>:$slots,
    OptionalAttr<I64Attr>:$padding,
    OptionalAttr<I64Attr>:$snapshots,
    I64Attr:$chunk,
    OptionalAttr<StrAttr>:$plan);
  let results = (outs Variadic<LinAttn_FloatTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `chunk` `=` $chunk (`plan` `=` $plan^)?
    `tokens` `(` custom<TypedOperands>($tokens, type($tokens)) `)`
    (`params` `(` custom<TypedOperands>($params, type($params))^ `)`)?
    (`state` `(` custom<TypedOperands>($states, type($states))^ `)`)?
    (`seqlens` `(` $seqlens^ `:` type($seqlens) `)`)?
    (`slots` `(` $slots^ `:` type($slots) (`,` `padding` `=` $padding^)? `)`)?
    (`snapshots` `(` `every` `=` $snapshots^ `)`)?
    attr-dict-with-keyword
    `->` `(` type($results) `)` $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    bool isPacked() { return bool(getSeqlens()); }
    unsigned getNumStates() { return getStates().size(); }
    unsigned getNumOutputs();
    int64_t getNumHeads();
    unsigned getHeadDim() { return isPacked() ? 1 : 2; }
    ::mlir::ResultRange getOutputs();
    ::mlir::ResultRange getFinalStates();
    ::mlir::ResultRange getSnapshotStates();
    ::mlir::Block *getBlock() { return &getBody().front(); }
    ::mlir::BlockArgument getValidArg() { return getBlock()->getArgument(0); }
    ::mlir::Block::BlockArgListType getTokenArgs();
    ::mlir::Block::BlockArgListType getParamArgs();
    ::mlir::Block::BlockArgListType getStateArgs();
    int64_t getPaddingSlot() { return getPadding().value_or(-1); }
  }];
}

class LinAttn_ChunkOp<string mnemonic, list<Trait> traits = []>
    : LinAttn_Op<mnemonic, !listconcat([Pure, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<AggregatedOpInterface, ["decomposeOperation"]>],
        traits)> {
  let hasVerifier = 1;
}

def LinAttn_DecayProductOp : LinAttn_ChunkOp<"decay_product"> {
  let summary = "decayed products of keys: P = (X Y^T) o Gamma, only earlier y";
  let description = [{
    Rows of X are the reads of a chunk of C tokens, nx per token, token by token;
    rows of Y its writes, ny per token. `gate` holds the log decays g, nd per
    token, as [C nd] (scalar) or [C nd, K] (over K). An event e of token t has an
    integer position p(t, e) = nd t + position[e]: how many decays of the chunk
    come before it. With y before x:

    P[x, y] = sum_i X[x, i] Y[y, i] exp(sum_{p(y) <= j < p(x)} g[j, i])

    and 0 for y not before x: y is before x if its token is earlier, or it is the
    same and order[y] < order[x]. Equal positions have decay exactly 1. No
    exponent is positive for g <= 0, and no sum of gates is a difference of two
    large ones, so every gate in [-inf, 0] is exact; a later gate changes no bit
    of an earlier row.

    `mma` rounds each operand of an inner product once (see `precision`).

    | operand | shape |
    |---|---|
    | x | [C nx, K] f32 or f64 |
    | y | [C ny, K] |
    | gate | [C nd] or [C nd, K] |
    | outs | [C nx, C ny] |

    Example (one read after, one write, a decay before both, 4 tokens):

    ```mlir
    %p = linattn.decay_product %x, %y decay(%g : tensor<4xf32>)
        x_positions = [1] x_order = [2] y_positions = [1] y_order = [1]
        outs(%init : tensor<4x4xf32>) : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
    ```

    Constraints:

    * (decay_product_c1) x and y have rank 2, the same width and element type,
      f32 or f64, and static shapes.
    * (decay_product_c2) Positions and orders of x (of y) are as many, at least
      one, and divide its rows; both give the same C.
    * (decay_product_c3) The gate has nd C rows, nd >= 1, and no width or width K.
    * (decay_product_c4) Positions lie in [0, nd], and a y before an x of the same
      token is not at a later position.
    * (decay_product_c5) outs and the result are [C nx, C ny].
  }];
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y, Optional<AnyRankedTensor>:$gate,
    AnyRankedTensor:$init,
    DenseI64ArrayAttr:$xPositions, DenseI64ArrayAttr:$xOrder,
    DenseI64ArrayAttr:$yPositions, DenseI64ArrayAttr:$yOrder,
    DefaultValuedAttr<LinAttn_MmaPrecision, "::linattn::MmaPrecision::F32">:$mma);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $x `,` $y (`decay` `(` $gate^ `:` type($gate) `)`)?
    `x_positions` `=` $xPositions `x_order` `=` $xOrder
    `y_positions` `=` $yPositions `y_order` `=` $yOrder
    (`mma` `=` $mma^)? `outs` `(` $init `:` type($init) `)` attr-dict
    `:` type($x) `,` type($y) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    /// Tokens of the chunk.
    int64_t getChunk();
    /// Decays per token; 0 without a gate.
    int64_t getNumDecays();
    /// Whether the gate is a vector over K.
    bool isVectorDecay();
    /// Whether event y of a token comes before event x of the same token.
    bool isBefore(unsigned y, unsigned x) { return getYOrder()[y] < getXOrder()[x]; }
  }];
}

def LinAttn_UnitLowerSolveOp : LinAttn_ChunkOp<"unit_lower_solve", [AttrSizedOperandSegments]> {
  let summary = "solves the coupling of the writes: (I - A) U = R, A strictly lower";
  let description = [{
    For strictly lower triangular A [n, n] (no more of it is read): with `rhs` U =
    (I - A)^{-1} R, [n, V], without T = (I - A)^{-1}, [n, n]. With `rates` b_m [n, V],
    one per matrix, a system per value column:
      U[i, v] = R[i, v] + sum_m b_m[i, v] sum_{j < i} A_m[i, j] U[j, v].
    With rates [E, n, V], E unknowns of each token, one after another, and E E
    matrices A_mxy per rate, those of x = 0 first; j = i as well where y < x:
      U[x, i, v] = R[x, i, v] + sum_m b_m[x, i, v] sum_{y, j < i} A_mxy[i, j] U[y, j, v].

    `transposed` solves with (I - A)^T. Diagonal blocks of 16 go by forward
    substitution, what lies left of them by products.

    Example:

    ```mlir
    %t = linattn.unit_lower_solve matrices(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %u = linattn.unit_lower_solve rhs(%r : tensor<64x32xf32>) matrices(%a : tensor<64x64xf32>) rates(%b : tensor<64x32xf32>)
        outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
    ```

    Constraints:

    * (unit_lower_solve_c1) The matrices are square, of one static size and of one
      element type, f32 or f64.
    * (unit_lower_solve_c2) There is one matrix, or with `rates` one (E E) per rate.
    * (unit_lower_solve_c3) The rhs is [n, V] or [E, n, V]; rates have its type, [E, n, V] asks for them.
    * (unit_lower_solve_c4) outs and the result have the type of the rhs, without
      one that of the matrix.
    * (unit_lower_solve_c5) `transposed` does not go with `rates`.
  }];
  let arguments = (ins Optional<AnyRankedTensor>:$rhs, Variadic<AnyRankedTensor>:$matrices,
    Variadic<AnyRankedTensor>:$rates, AnyRankedTensor:$init, UnitAttr:$transposed);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    (`rhs` `(` $rhs^ `:` type($rhs) `)`)?
    `matrices` `(` custom<TypedOperands>($matrices, type($matrices)) `)`
    (`rates` `(` custom<TypedOperands>($rates, type($rates))^ `)`)?
    (`transposed` $transposed^)? `outs` `(` $init `:` type($init) `)` attr-dict `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    bool isInverse() { return !getRhs(); }
  }];
}

def LinAttn_DecaySpan : I32EnumAttr<"DecaySpan", "between which points decays multiply", [
      I32EnumAttrCase<"StartToEvent", 0, "start_to_event">,
      I32EnumAttrCase<"EventToEnd", 1, "event_to_end">,
      I32EnumAttrCase<"StartToEnd", 2, "start_to_end">]> {
  let cppNamespace = "::linattn";
}

def LinAttn_DecayScanOp : LinAttn_ChunkOp<"decay_scan"> {
  let summary = "products of decays from the chunk's start, to its end, or over it";
  let description = [{
    `gate` holds log decays, nd per token, [C nd] or [C nd, K]; events as in
    `decay_product`, n = number of positions per token:

    * `start_to_event`: e^{G_x} = exp(sum_{j < p(x)} g[j]), [C n] or [C n, K];
    * `event_to_end`: e^{G_C - G_y} = exp(sum_{p(y) <= j} g[j]), likewise;
    * `start_to_end`: e^{G_C} = exp(sum g), a scalar tensor or [K].

    Each is a sum of its own gates, not a difference.

    Example:

    ```mlir
    %d = linattn.decay_scan start_to_event %g positions = [1] outs(%e : tensor<4x8xf32>) : tensor<4x8xf32> -> tensor<4x8xf32>
    %t = linattn.decay_scan start_to_end %g decays = 1 outs(%f : tensor<8xf32>) : tensor<4x8xf32> -> tensor<8xf32>
    ```

    Constraints:

    * (decay_scan_c1) The gate has rank 1 or 2 and a static shape, f32 or f64.
    * (decay_scan_c2) `decays` (1 unless given) is positive and divides the rows.
    * (decay_scan_c3) There are positions in [0, decays] unless the span is
      `start_to_end`, which has none.
    * (decay_scan_c4) outs and the result have the shape that the span asks for.
  }];
  let arguments = (ins LinAttn_DecaySpan:$span, AnyRankedTensor:$gate, AnyRankedTensor:$init,
    OptionalAttr<DenseI64ArrayAttr>:$positions, DefaultValuedAttr<I64Attr, "1">:$decays);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $span $gate (`positions` `=` $positions^)? (`decays` `=` $decays^)?
    `outs` `(` $init `:` type($init) `)` attr-dict `:` type($gate) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
    int64_t getChunk() {
      return ::mlir::cast<::mlir::RankedTensorType>(getGate().getType()).getDimSize(0) / getDecays();
    }
    bool isVectorDecay() {
      return ::mlir::cast<::mlir::RankedTensorType>(getGate().getType()).getRank() == 2;
    }
  }];
}

#endif
