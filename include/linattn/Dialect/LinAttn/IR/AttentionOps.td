//===- AttentionOps.td - short convolution and attention ---*- tablegen -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_ATTENTION_OPS
#define LINATTN_DIALECT_LINATTN_IR_ATTENTION_OPS

include "linattn/Dialect/LinAttn/IR/LinAttnBase.td"

def LinAttn_ShortConvOp : LinAttn_Op<"short_conv", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "causal depthwise convolution over the last W <= 4 tokens";
  let description = [{
    y[t, c] = act(bias[c] + sum_{j < W} weight[c, j] x[t - W + 1 + j, c]), where
    x before the first token of a sequence is the window, or 0 without one.

    | operand | shape |
    |---|---|
    | input | [B, T, C], packed [T, C] with `seqlens` |
    | weight | [C, W], W from 1 to 4; weight[c, W - 1] meets the current token |
    | bias | [C] |
    | window | [N, C, W - 1]: the inputs before the first token, oldest first |
    | seqlens | [N + 1] offsets, int32 or int64 |

    Results: y, of the input's type, computed in f32 (f64 for f64) and rounded
    once; and, with a window, the window after the last token.

    Example:

    ```mlir
    %y, %w1 = linattn.short_conv %x, %w window(%w0 : tensor<?x64x3xf32>) activation silu
        : (tensor<?x?x64xbf16>, tensor<64x4xf32>) -> (tensor<?x?x64xbf16>, tensor<?x64x3xf32>)
    ```

    Constraints:

    * (short_conv_c1) The input has rank 3, with `seqlens` rank 2; C is static.
    * (short_conv_c2) The weight is [C, W] with W from 1 to 4.
    * (short_conv_c3) The bias is [C].
    * (short_conv_c4) The window is [N, C, W - 1], and W > 1.
    * (short_conv_c5) `seqlens` has rank 1 and, where N is static, N + 1 elements.
    * (short_conv_c6) Results are of the types of the input and of the window.
  }];
  let arguments = (ins LinAttn_FloatTensor:$input, LinAttn_FloatTensor:$weight,
    Optional<LinAttn_FloatTensor>:$bias, Optional<LinAttn_FloatTensor>:$window,
    Optional<LinAttn_OffsetTensor>:$seqlens,
    DefaultValuedAttr<LinAttn_Activation, "::linattn::Activation::None">:$activation);
  let results = (outs LinAttn_FloatTensor:$result, Optional<LinAttn_FloatTensor>:$finalWindow);
  let assemblyFormat = [{
    $input `,` $weight
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`window` `(` $window^ `:` type($window) `)`)?
    (`seqlens` `(` $seqlens^ `:` type($seqlens) `)`)?
    (`activation` $activation^)? attr-dict
    `:` `(` type($input) `,` type($weight) `)` `->`
    `(` type($result) (`,` type($finalWindow)^)? `)`
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isPacked() { return bool(getSeqlens()); }
    int64_t getWidth() { return ::mlir::cast<::mlir::ShapedType>(getWeight().getType()).getDimSize(1); }
  }];
}

class LinAttn_AttentionOp<string mnemonic> : LinAttn_Op<mnemonic, [
    AttrSizedOperandSegments, RecursiveMemoryEffects, RecursivelySpeculatable,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let regions = (region MaxSizedRegion<1>:$score);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  code commonDeclarations = [{
    bool isPacked() { return bool(getSeqlens()); }
    /// Dimension that counts heads: 2, packed 1.
    unsigned getHeadDim() { return isPacked() ? 1 : 2; }
    /// The scale of the scores: the attribute, else 1/sqrt(D).
    double getEffectiveScale();
  }];
}

def LinAttn_SoftmaxAttentionOp : LinAttn_AttentionOp<"softmax_attention"> {
  let summary = "o_t = sum_s softmax_s(scale q_t . k_s) v_s over the allowed s";
  let description = [{
    | operand | shape |
    |---|---|
    | query | [B, T, H, D], packed [T, H, D] |
    | key | [B, S, Hkv, D], packed [S, Hkv, D]; query head h reads head h / (H / Hkv) |
    | value | [B, S, Hkv, Dv], packed [S, Hkv, Dv] |
    | seqlens | [N + 1] offsets of the queries, int32 or int64 |
    | kv_seqlens | [N + 1] offsets of the keys; those of the queries unless given |

    With T queries and S keys in a sequence, query t stands at position
    p = t + S - T. `causal`: s <= p. `window(w)`: p - w < s, and s < p + w when
    not causal. The scale is D^-1/2 unless given. The score region, if any, maps
    (score, b, h, t, s) to the score that enters the softmax, where b is the
    sequence and t, s count inside it; it may read tensors from outside (a bias)
    with `tensor.extract`. A row without an allowed key gives 0, and -inf as its
    log-sum-exp. `precision` says what tiled forms may round to.

    Results: o [B, T, H, Dv] and, if a second result is asked for, the natural
    log-sum-exp of the scores [B, T, H] (packed without B).

    Example:

    ```mlir
    %o, %lse = linattn.softmax_attention %q, %k, %v scale 0.125 causal window 256
        : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>)
       -> (tensor<?x?x8x64xbf16>, tensor<?x?x8xf32>)
    %c = linattn.softmax_attention %q, %k, %v score {
    ^bb0(%s: f32, %b: index, %h: index, %t: index, %j: index):
      %c50 = arith.constant 50.0 : f32
      %x = arith.divf %s, %c50 : f32
      %y = math.tanh %x : f32
      %z = arith.mulf %y, %c50 : f32
      linattn.yield %z : f32
    } : (tensor<?x?x8x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>) -> (tensor<?x?x8x64xbf16>)
    ```

    Constraints:

    * (softmax_attention_c1) Query, key and value have rank 4, with `seqlens` 3.
    * (softmax_attention_c2) Head counts and widths are static, from 1 to 65536;
      query and key have the same width; key and value the same heads.
    * (softmax_attention_c3) The key heads divide the query heads.
    * (softmax_attention_c4) Static sizes of B and S agree.
    * (softmax_attention_c5) The result is [B, T, H, Dv]; the log-sum-exp [B, T, H]
      in f32 or f64.
    * (softmax_attention_c6) The window is from 1 to 2^30; the scale finite in f32,
      of f64 queries in f64.
    * (softmax_attention_c7) The score region takes (f32, index, index, index,
      index) and yields f32 (f64 in both places for f64 queries). Its operations
      are pure, have no region, and give numbers and vectors of fixed size.
    * (softmax_attention_c8) `seqlens` have rank 1; `kv_seqlens` ask for `seqlens`.
  }];
  let arguments = (ins LinAttn_FloatTensor:$query, LinAttn_FloatTensor:$key, LinAttn_FloatTensor:$value,
    Optional<LinAttn_OffsetTensor>:$seqlens, Optional<LinAttn_OffsetTensor>:$kvSeqlens,
    OptionalAttr<F64Attr>:$scale, UnitAttr:$causal, OptionalAttr<LinAttn_I64Attr>:$window,
    OptionalAttr<LinAttn_PrecisionAttr>:$precision);
  let results = (outs LinAttn_FloatTensor:$result, Optional<LinAttn_FloatTensor>:$lse);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`scale` $scale^)? (`causal` $causal^)? (`window` $window^)?
    (`precision` `(` $precision^ `)`)?
    (`seqlens` `(` $seqlens^ `:` type($seqlens) `)`)?
    (`kv_seqlens` `(` $kvSeqlens^ `:` type($kvSeqlens) `)`)?
    (`score` $score^)? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `)` `->`
    `(` type($result) (`,` type($lse)^)? `)`
  }];
  let extraClassDeclaration = commonDeclarations;
}

def LinAttn_DiffAttentionOp : LinAttn_AttentionOp<"diff_attention"> {
  let summary = "differential attention: one softmax map minus lambda times another";
  let description = [{
    Version v1: o = (softmax(q1 k1) - lambda softmax(q2 k2)) V, then, with `norm`,
    RMSNorm over the width of V times its weight, then times `output_scale`.
    Map m of head h uses query head 2 h + m and key head 2 (h / (H / Hkv)) + m.

    | operand | v1 | v2 |
    |---|---|---|
    | query | [B, T, 2 H, D] | [B, T, 2 H, D] |
    | key | [B, S, 2 Hkv, D] | [B, S, Hkv, D] |
    | value | [B, S, Hkv, Dv] (Dv = 2 D in the paper) | [B, S, Hkv, Dv] |
    | lambda | lambda itself: scalar, [H], or [B, T, H] | its logit l, likewise |
    | norm | weight [Dv] | none |

    Version v2: o_h = A_{2h} - sigmoid(l_h) A_{2h+1}, where A is softmax attention
    and query head j reads key/value head j / (2 H / Hkv).

    Packed operands lose B. `scale`, `causal`, `window`, `seqlens`, `kv_seqlens`
    and the score region (which sees the query head) are those of
    `softmax_attention`.

    Example:

    ```mlir
    %o = linattn.diff_attention v1 %q, %k, %v, %lambda causal norm(%w : tensor<128xf32>) eps 1.0e-5
        : (tensor<?x?x16x64xbf16>, tensor<?x?x4x64xbf16>, tensor<?x?x2x128xbf16>, tensor<8xf32>)
       -> tensor<?x?x8x128xbf16>
    ```

    Constraints:

    * (diff_attention_c1) Query, key and value have rank 4, with `seqlens` 3.
    * (diff_attention_c2) Head counts and widths are static, from 1 to 65536; query
      and key have the same width; the query heads are even.
    * (diff_attention_c3) The key heads are twice the value heads (v1), equal to
      them (v2); the value heads divide H.
    * (diff_attention_c4) Static sizes of B and S agree.
    * (diff_attention_c5) lambda is a scalar, [H] or [B, T, H].
    * (diff_attention_c6) The result is [B, T, H, Dv].
    * (diff_attention_c7) `norm` is [Dv] and belongs to v1; eps is finite, not negative,
      and belongs to `norm`.
    * (diff_attention_c8) The window is from 1 to 2^30; the scales are finite in f32,
      of f64 queries in f64.
    * (diff_attention_c9) The score region takes (f32, index, index, index, index)
      and yields f32 (f64 in both places for f64 queries). Its operations are pure,
      have no region, and give numbers and vectors of fixed size.
    * (diff_attention_c10) `seqlens` have rank 1; `kv_seqlens` ask for `seqlens`.
  }];
  let arguments = (ins LinAttn_DiffVersion:$version,
    LinAttn_FloatTensor:$query, LinAttn_FloatTensor:$key, LinAttn_FloatTensor:$value,
    LinAttn_FloatTensor:$lambda, Optional<LinAttn_FloatTensor>:$norm,
    Optional<LinAttn_OffsetTensor>:$seqlens, Optional<LinAttn_OffsetTensor>:$kvSeqlens,
    OptionalAttr<F64Attr>:$scale, UnitAttr:$causal, OptionalAttr<LinAttn_I64Attr>:$window,
    DefaultValuedAttr<F64Attr, "1e-5">:$eps, OptionalAttr<F64Attr>:$outputScale,
    OptionalAttr<LinAttn_PrecisionAttr>:$precision);
  let results = (outs LinAttn_FloatTensor:$result);
  let assemblyFormat = [{
    $version $query `,` $key `,` $value `,` $lambda
    (`scale` $scale^)? (`causal` $causal^)? (`window` $window^)?
    (`precision` `(` $precision^ `)`)?
    (`norm` `(` $norm^ `:` type($norm) `)`)? (`eps` $eps^)?
    (`output_scale` $outputScale^)?
    (`seqlens` `(` $seqlens^ `:` type($seqlens) `)`)?
    (`kv_seqlens` `(` $kvSeqlens^ `:` type($kvSeqlens) `)`)?
    (`score` $score^)? attr-dict
    `:` `(` type($query) `,` type($key) `,` type($value) `,` type($lambda) `)` `->` type($result)
  }];
  let extraClassDeclaration = commonDeclarations # [{
    /// Differential heads H: half of the query heads.
    int64_t getNumHeads();
  }];
}

#endif
