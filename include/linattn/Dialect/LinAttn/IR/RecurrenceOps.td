//===- RecurrenceOps.td - the recurrence and its primitives -*- tablegen -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_RECURRENCE_OPS
#define LINATTN_DIALECT_LINATTN_IR_RECURRENCE_OPS

include "linattn/Dialect/LinAttn/IR/LinAttnBase.td"

def LinAttn_RecurrenceOp : LinAttn_Op<"recurrence", [
    IsolatedFromAbove, AttrSizedOperandSegments, RecursiveMemoryEffects,
    RecursivelySpeculatable, SingleBlock,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "runs one token's step over the tokens of each sequence and head";
  let description = [{
    For each sequence n and head h, from the initial state S_0:
    `(o_t, S_t) = step(tokens_t, params_h, S_{t-1})` for t = 0, 1, ..

    | operand | shape | in the step |
    |---|---|---|
    | tokens | [B, T, H', ..], packed [T, H', ..] with `seqlens` | scalar, or vector of the trailing dimensions |
    | params | [H', ..] | likewise; the same for every token |
    | state | [N, H, K, V]; a pool [P, H, K, V] with `slots` | `!linattn.state<KxVxelt>` |
    | seqlens | [N + 1], int32 or int64 | offsets of N packed sequences, not decreasing; rows from the last offset on are neither read nor written |
    | slots | [N], int32 or int64 | sequence n keeps its state in `slots[n]` of the pool, in place; `padding` (default -1) means: no sequence, its rows are not written |

    H is the largest head count among the operands; an operand with H' heads is
    read at head h / (H / H'). Without `seqlens` N = B.

    Results, in this order: one per output that the step yields, [B, T, H, ..];
    the final state per state operand, of the operand's type; and with
    `snapshots(every = C)` the states after every C tokens and after the last
    (after each token for C = 1): [B, ceil(T / C), H, K, V], packed [T, H, K, V]
    for C = 1 and otherwise [T / C + N, H, K, V], sequence n from row
    seqlens[n] / C + n on.

    `precision` says what the chunk form may round to; see `#linattn.precision`.

    Example (Gated DeltaNet, 16 key and 32 value heads):

    ```mlir
    %o, %sT = linattn.recurrence
        tokens(%q : tensor<?x?x16x128xbf16>, %k : tensor<?x?x16x128xbf16>, %v : tensor<?x?x32x128xbf16>,
               %g : tensor<?x?x32xf32>, %b : tensor<?x?x32xf32>)
        state(%s0 : tensor<?x32x128x128xf32>)
        -> (tensor<?x?x32x128xbf16>, tensor<?x32x128x128xf32>) {
    ^step(%qt: vector<128xbf16>, %kt: vector<128xbf16>, %vt: vector<128xbf16>, %gt: f32, %bt: f32,
          %s: !linattn.state<128x128xf32>):
      %s1 = linattn.decay %s, %gt : !linattn.state<128x128xf32>, f32
      %s2 = linattn.delta_update %s1, %kt, %vt, %bt : !linattn.state<128x128xf32>, vector<128xbf16>, vector<128xbf16>, f32
      %ot = linattn.read %s2, %qt scale 0.08838834764 : !linattn.state<128x128xf32>, vector<128xbf16>
      %ob = arith.truncf %ot : vector<128xf32> to vector<128xbf16>
      linattn.yield %ob, %s2 : vector<128xbf16>, !linattn.state<128x128xf32>
    }
    ```

    Constraints:

    * (recurrence_c1) There is at least one token operand.
    * (recurrence_c2) A token operand has rank 3 to 5, with `seqlens` rank 2 to 4.
    * (recurrence_c3) Head counts and trailing dimensions are static and positive:
      at most 65536 heads, and 65536 elements per token and head.
    * (recurrence_c4) The head count of every operand divides the largest.
    * (recurrence_c5) Static sizes of B and T agree over the token operands.
    * (recurrence_c6) A state is [N, H, K, V] with H the largest head count and
      K, V from 1 to 1024; N, where static, is B (without `slots`, `seqlens`).
    * (recurrence_c7) The step takes a scalar or vector per token operand and
      parameter and a `!linattn.state` per state, of the operands' types.
    * (recurrence_c8) The step yields the outputs, then one state per state
      operand, of its type.
    * (recurrence_c9) The results have the types that the table above gives; there
      is at least one.
    * (recurrence_c10) `seqlens` has rank 1 and, where N is static, N + 1 elements.
    * (recurrence_c11) `slots` has rank 1 and asks for a state; `padding` asks for
      `slots` and is negative.
    * (recurrence_c12) `snapshots` has a positive period and asks for a state.
    * (recurrence_c13) Operations of the step are pure, have no region, and give
      states, numbers and vectors of fixed size of at most 65536 numbers.
    * (recurrence_c14) States are touched by decay, read, write and delta_update
      only.
  }];
  let arguments = (ins
    Variadic<LinAttn_FloatTensor>:$tokens,
    Variadic<LinAttn_FloatTensor>:$params,
    Variadic<LinAttn_FloatTensor>:$states,
    Optional<LinAttn_OffsetTensor>:$seqlens,
    Optional<LinAttn_OffsetTensor>:$slots,
    OptionalAttr<LinAttn_I64Attr>:$padding,
    OptionalAttr<LinAttn_I64Attr>:$snapshots,
    OptionalAttr<LinAttn_PrecisionAttr>:$precision);
  let results = (outs Variadic<LinAttn_FloatTensor>:$results);
  let regions = (region SizedRegion<1>:$step);
  let assemblyFormat = [{
    `tokens` `(` custom<TypedOperands>($tokens, type($tokens)) `)`
    (`params` `(` custom<TypedOperands>($params, type($params))^ `)`)?
    (`state` `(` custom<TypedOperands>($states, type($states))^ `)`)?
    (`seqlens` `(` $seqlens^ `:` type($seqlens) `)`)?
    (`slots` `(` $slots^ `:` type($slots) (`,` `padding` `=` $padding^)? `)`)?
    (`snapshots` `(` `every` `=` $snapshots^ `)`)?
    (`precision` `(` $precision^ `)`)?
    attr-dict-with-keyword
    `->` `(` type($results) `)` $step
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    bool isPacked() { return bool(getSeqlens()); }
    unsigned getNumStates() { return getStates().size(); }
    unsigned getNumOutputs();
    /// Largest head count of the operands.
    int64_t getNumHeads();
    /// Dimension of a token operand or output that counts heads: 2, packed 1.
    unsigned getHeadDim() { return isPacked() ? 1 : 2; }
    ::mlir::ResultRange getOutputs();
    ::mlir::ResultRange getFinalStates();
    /// Empty without `snapshots`.
    ::mlir::ResultRange getSnapshotStates();
    ::mlir::Block *getBody() { return &getStep().front(); }
    ::mlir::Block::BlockArgListType getTokenArgs();
    ::mlir::Block::BlockArgListType getParamArgs();
    ::mlir::Block::BlockArgListType getStateArgs();
    ::linattn::StateType getStateType(unsigned i);
    /// What `slots` holds for "no sequence".
    int64_t getPaddingSlot() { return getPadding().value_or(-1); }
  }];
}

def LinAttn_DecayOp : LinAttn_Op<"decay", [Pure, AllTypesMatch<["state", "result"]>]> {
  let summary = "multiplies the state by a decay: S' = Diag(e^g) S";
  let description = [{
    `gate` is a log decay g <= 0, a scalar or a vector over K:
    S'[i, j] = exp(g[i]) S[i, j]. With `linear` it is the factor itself:
    S'[i, j] = g[i] S[i, j], in [0, 1]. g = -inf gives 0. A positive log decay
    is computed as it stands.

    Example:

    ```mlir
    %s1 = linattn.decay %s, %g : !linattn.state<128x64xf32>, vector<128xf32>
    %s2 = linattn.decay %s1, %f linear : !linattn.state<128x64xf32>, f32
    ```

    Constraints:

    * (decay_c1) A vector gate has K elements.
  }];
  let arguments = (ins LinAttn_StateType:$state, LinAttn_FloatOrVector:$gate, UnitAttr:$linear);
  let results = (outs LinAttn_StateType:$result);
  let assemblyFormat = "$state `,` $gate (`linear` $linear^)? attr-dict `:` type($state) `,` type($gate)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def LinAttn_ReadOp : LinAttn_Op<"read", [Pure,
    InferTypeOpAdaptor]> {
  let summary = "reads the state along a key: r = scale S^T x";
  let description = [{
    r[j] = scale sum_i S[i, j] x[i], a vector over V in the arithmetic type of
    the state (f32, or f64 for an f64 state). The scale is 1 unless given.

    Example:

    ```mlir
    %r = linattn.read %s, %k : !linattn.state<128x64xf32>, vector<128xbf16>
    %o = linattn.read %s, %q scale 0.125 : !linattn.state<128x64xf32>, vector<128xbf16>
    ```

    Constraints:

    * (read_c1) The key has K elements.
    * (read_c2) The scale is finite in f32, of an f64 state in f64.
  }];
  let arguments = (ins LinAttn_StateType:$state, LinAttn_FloatVector:$key,
                       OptionalAttr<F64Attr>:$scale);
  let results = (outs LinAttn_FloatVector:$result);
  let assemblyFormat = "$state `,` $key (`scale` $scale^)? attr-dict `:` type($state) `,` type($key)";
  let hasVerifier = 1;
}

def LinAttn_WriteOp : LinAttn_Op<"write", [Pure, AllTypesMatch<["state", "result"]>]> {
  let summary = "adds an outer product to the state: S' = S + k u^T";
  let description = [{
    S'[i, j] = S[i, j] + k[i] u[j].

    Example:

    ```mlir
    %s1 = linattn.write %s, %k, %u : !linattn.state<128x64xf32>, vector<128xbf16>, vector<64xf32>
    ```

    Constraints:

    * (write_c1) The key has K elements.
    * (write_c2) The value has V elements.
  }];
  let arguments = (ins LinAttn_StateType:$state, LinAttn_FloatVector:$key, LinAttn_FloatVector:$value);
  let results = (outs LinAttn_StateType:$result);
  let assemblyFormat = "$state `,` $key `,` $value attr-dict `:` type($state) `,` type($key) `,` type($value)";
  let hasVerifier = 1;
}

def LinAttn_YieldOp : LinAttn_Op<"yield", [Pure, Terminator,
    ParentOneOf<["RecurrenceOp", "ChunkedOp", "SoftmaxAttentionOp", "DiffAttentionOp",
                 "AttentionTilesOp"]>]> {
  let summary = "ends a step (outputs, then states) or a score region";
  let description = [{
    In a `recurrence`: first the outputs, then one value per state. In a score
    region: the score. In a `chunked` region: output tiles, then states.

    Example:

    ```mlir
    linattn.yield %o, %s2 : vector<64xf32>, !linattn.state<128x64xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ /* nothing to yield */ }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
