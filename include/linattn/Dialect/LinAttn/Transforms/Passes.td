//===- Passes.td - passes over the linattn dialect ---------*- tablegen -*-===//
//
// Part of linattn. Each IR before and after is that of the test with the same
// name in test/Dialect/LinAttn/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_PASSES
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ExpandSugarPass : Pass<"linattn-expand-sugar"> {
  let summary = "writes the shorthand operations out in arith, math and vector";
  let description = [{
    `delta_update`, `sigmoid`, `softplus`, `silu` and `l2norm` say what a paper
    says; whatever generates code knows only decay, read, write and elementwise
    arithmetic. This pass replaces the first by the second, inside a step and
    outside. The forms do not overflow, NaN stays NaN, and the limits at
    infinity are right. 16-bit operands are computed in f32 and rounded once.

    Before (`expand-sugar.mlir`):

    ```mlir
    %s1 = linattn.delta_update %s, %k, %v, %b : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xbf16>, f32
    ```

    After:

    ```mlir
    %r = linattn.read %s, %k : !linattn.state<8x4xf32>, vector<8xbf16>
    %w = arith.extf %v : vector<4xbf16> to vector<4xf32>
    %e = arith.subf %w, %r : vector<4xf32>
    %c = vector.broadcast %b : f32 to vector<4xf32>
    %u = arith.mulf %c, %e : vector<4xf32>
    %s1 = linattn.write %s, %k, %u : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xf32>
    ```
  }];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "Shorthand operations expanded">
  ];
  let dependentDialects = ["::linattn::LinAttnDialect"];
}

def NormalizePass : Pass<"linattn-normalize"> {
  let summary = "writes each update as k (c + sum_j b_j r_j)^T";
  let description = [{
    A chunk of tokens becomes matrix products and one triangular solve where
    every write is affine in reads, u = c + sum_j b_j * r_j, with c and b_j free
    of the state and b_j scaling value columns. This pass finds that form
    through whatever arithmetic the step was written in and writes it out:

    * shorthand is expanded;
    * decays that follow one another are combined, a gate over K whose elements
      are one number becomes a scalar, decays by 1 go;
    * the value of each write is literally c + b_0 * r_0 + b_1 * r_1 .. in f32
      (f64 for an f64 state); a c of 0 is left out, and so is a factor of 1 or
      -1. 16-bit values are widened first; rounding between a read and a write
      is left out;
    * the reads of a version of the state stand before the decay or write that
      ends it; equal reads are one; what nothing uses is gone.

    Normalizing again changes nothing. A step that has no normal form is refused,
    with the operation that breaks it; such steps still run token by token.

    Before (`normalize.mlir`), Gated DeltaNet:

    ```mlir
    %s1 = linattn.decay %s, %g : !linattn.state<8x4xf32>, f32
    %s2 = linattn.delta_update %s1, %k, %v, %b : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xbf16>, f32
    ```

    After:

    ```mlir
    %s1 = linattn.decay %s, %g : !linattn.state<8x4xf32>, f32
    %r = linattn.read %s1, %k : !linattn.state<8x4xf32>, vector<8xbf16>
    %w = arith.extf %v : vector<4xbf16> to vector<4xf32>
    %bv = vector.broadcast %b : f32 to vector<4xf32>
    %c = arith.mulf %bv, %w : vector<4xf32>
    %n = arith.negf %b : f32
    %b0 = vector.broadcast %n : f32 to vector<4xf32>
    %t = arith.mulf %b0, %r : vector<4xf32>
    %u = arith.addf %c, %t : vector<4xf32>
    %s2 = linattn.write %s1, %k, %u : !linattn.state<8x4xf32>, vector<8xbf16>, vector<4xf32>
    ```
  }];
  let options = [
    Option<"keepRefused", "keep-refused", "bool", "false",
           "Leave a step that has no normal form, with a remark instead of an error">
  ];
  let statistics = [
    Statistic<"numWrites", "num-writes", "Writes whose value was rewritten">,
    Statistic<"numDecays", "num-decays", "Decays combined or dropped">,
    Statistic<"numReads", "num-reads", "Reads moved before the end of their version">
  ];
  let dependentDialects = ["::linattn::LinAttnDialect"];
}

def PrintNormalFormPass : Pass<"linattn-print-normal-form"> {
  let summary = "prints each recurrence as equations";
  let description = [{
    The normal form is what the kernels compute; this prints it to standard
    output in the names of the function's arguments (`linattn.name`), so that it
    can be held against the paper. The IR does not change. A step without normal
    form gets remarks that say why.

    For `examples/gated_deltanet.mlir` (`print-normal-form.mlir`):

    ```
    recurrence in @gated_deltanet: S 128x128, 32 heads
      S: decay  exp(g)
      S: r0 = S^T k
      S: write  k (beta * v - beta * r0)^T
      S: o0 = 0.0883883 * S^T q
      o = o0
    ```

    Reads that feed a write are r0, r1, ..; those that only reach outputs o0,
    o1, .. A decay over K is Diag(..).
  }];
  let options = [
    Option<"positions", "positions", "bool", "false",
           "Print `S@version,position`: the updates and the decays before the event">
  ];
  let statistics = [
    Statistic<"numPrinted", "num-printed", "Recurrences that have a normal form">
  ];
  let dependentDialects = ["::linattn::LinAttnDialect"];
}

def ChunkwisePass : Pass<"linattn-chunkwise"> {
  let summary = "rewrites recurrences to matrix products over chunks of tokens";
  let description = [{
    A token loop has one outer product a token; matrix units want products of
    whole tiles. This pass brings each step into normal form and emits the chunk
    form (`docs/Algebra.md` derives it): what reads see of the start state, the
    coupling between writes and reads inside the chunk, one unit triangular
    system for writes that depend on reads, outputs, and the state after the
    chunk. It looks at events only, never at which operator it has before it.

    A step without a normal form, or with arithmetic that has no form for a tile
    of tokens, is refused; the diagnostic names the operation. The token-serial
    form still runs it.

    Before (`chunkwise.mlir`):

    ```mlir
    %s1 = linattn.write %s, %k, %v : ..
    %o = linattn.read %s1, %q : ..
    ```

    After:

    ```mlir
    %r0 = linalg.matmul ins(%q, %s : tensor<64x8xf32>, tensor<8x4xf32>) outs(%zero : ..)
    %p = linattn.decay_product %q, %k x_positions = [0] ..
    %o = linalg.matmul ins(%p, %v : ..) outs(%r0 : ..)
    %kt = linalg.transpose ins(%k : ..)
    %s1 = linalg.matmul ins(%kt, %v : ..) outs(%s : ..)
    ```
  }];
  let options = [
    Option<"chunk", "chunk", "int64_t", "64", "tokens per chunk: 16, 32, 64 or 128">,
    Option<"mma", "mma", "std::string", "",
           "what operands of products are rounded to, instead of what the "
           "precision attribute or the inputs say">,
    Option<"separateEvents", "separate-events", "bool", "false",
           "a matrix [C, C] for each pair of events of a token, instead of one "
           "whose rows are the events of all tokens">];
  let statistics = [Statistic<"numChunked", "chunked", "recurrences in chunk form">];
  let dependentDialects = ["::linattn::LinAttnDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def AddTransitionsPass : Pass<"linattn-add-transitions"> {
  let summary = "carries beside each state the map from a segment's start to its end";
  let description = [{
    A state after a run of tokens is S_end = M S_start + B, with B the run from
    state 0 and M its *transition*: the run from the identity with V := K and
    every c = 0, since writes are affine in what they read. With it a long
    sequence can be cut in segments which run beside each other
    (`docs/Plans.md`).

    This pass adds M to the step as one more state per state:

    * where no write reads the state, M is diagonal, the product of its decays: a
      state of one column, [K, 1], or [1, 1] where every decay is a number. It
      begins as ones;
    * where writes read it, M is a state [K, K] with the same decays, reads and
      writes, whose values have no constant part. It begins as the identity.

    The attribute `linattn.transitions` holds for each state the number of the
    state that is its transition, or -1 for the transitions themselves. Their
    final values are results that nothing uses; the kernels of a segmented plan
    take them.

    Refused: writes whose rates differ between value columns (one M per column),
    and writes that read another state.

    Before (`add-transitions.mlir`):

    ```mlir
    %o, %sT = linattn.recurrence tokens(%k : .., %v : .., %b : ..) state(%s0 : tensor<?x2x8x4xf32>) -> (..) {
    ^step(%kt: vector<8xf32>, %vt: vector<4xf32>, %bt: f32, %s: !linattn.state<8x4xf32>):
      %s1 = linattn.delta_update %s, %kt, %vt, %bt : ..
      ..
    ```

    After, shortened:

    ```mlir
    %o, %sT, %mT = linattn.recurrence tokens(..) state(%s0 : tensor<?x2x8x4xf32>, %m0 : tensor<?x2x8x8xf32>)
        attributes {linattn.transitions = array<i64: 1, -1>} -> (..) {
    ^step(.., %s: !linattn.state<8x4xf32>, %m: !linattn.state<8x8xf32>):
      ..
      %rm = linattn.read %m, %kt : !linattn.state<8x8xf32>, vector<8xf32>
      %um = arith.mulf %minus_b, %rm : vector<8xf32>
      %m1 = linattn.write %m, %kt, %um : ..
    ```
  }];
  let statistics = [
    Statistic<"numDiagonal", "diagonal", "transitions that are diagonal">,
    Statistic<"numFull", "full", "transitions that are matrices">];
  let dependentDialects = ["::linattn::LinAttnDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

def PrintChunkDependencesPass : Pass<"linattn-print-chunk-dependences"> {
  let summary = "prints which operations of a chunk wait for the state, and who waits for them";
  let description = [{
    Each operation of a chunk's region is of one class: *off chain* does not
    depend on a carried state and may run ahead, for any chunk; *on chain*
    depends on one, and the next state on it; *output* is the rest. A kernel's
    plan puts the first beside the chain and the last behind it. Printed to
    standard output: each operation with its class and floating-point operations,
    sums per class and chunk, and the products on the longest way from state to
    state. Constants and empty tensors compute nothing and are left out. The IR
    does not change. Run `--cse` before it, since the chunk form repeats itself.

    The sums for `examples/gated_deltanet.mlir`
    (`print-chunk-dependences.mlir`):

    ```
      class      operations  products       flops
      off chain          27         3     2184533
      on chain           11         3     5242880
      output              6         2     3145728
      chain from state to state: 3 products: %16, %26, %42
    ```
  }];
  let statistics = [
    Statistic<"numPrinted", "num-printed", "Chunked operations printed">
  ];
  let dependentDialects = ["::linattn::LinAttnDialect"];
}

def HoistChunkPass : Pass<"linattn-hoist-chunk"> {
  let summary = "takes one product off the chain from state to state";
  let description = [{
    The writes of a chunk solve one system, U = T (c + B R0) with
    T = (I - B P)^-1 and R0 = (e^G o X) S0 linear in the carried state. This is
    the *factored* form: the product with T waits for the state. The *hoisted*
    form

    ```
    U = T c + W S0        W = T (B e^G X)
    ```

    has only W S0 on the chain, and two products with T off it. It needs more
    arithmetic, and W in memory; a plan asks for it where the chain is what
    bounds a kernel. Where T is not made but applied
    (`unit_lower_solve rhs(..)`), it is applied to c and to B e^G X.

    Operands of the new products are rounded to the type that the old ones were.

    Left alone, with a remark that says why: systems whose rates differ between
    value columns (B does not commute with T), right sides that are no sum of
    terms free of the state and of row-scaled products with it, and operands
    split in two terms (bf16x2). `--linattn-print-chunk-dependences` shows what
    changed.

    Before (`hoist-chunk.mlir`):

    ```mlir
    %r0 = linalg.matmul ins(%x, %s : ..) outs(%zero : ..)
    %br = arith.mulf %b, %r0 : ..
    %r = arith.addf %c, %br : ..
    %u = linalg.matmul ins(%t, %r : ..) outs(%zero : ..)
    ```

    After:

    ```mlir
    %u0 = linalg.matmul ins(%t, %c : ..) outs(%zero : ..)
    %bx = arith.mulf %b, %x : ..
    %w = linalg.matmul ins(%t, %bx : ..) outs(%zero : ..)
    %u = linalg.matmul ins(%w, %s : ..) outs(%u0 : ..)
    ```
  }];
  let statistics = [
    Statistic<"numHoisted", "hoisted", "systems in hoisted form">,
    Statistic<"numLeft", "left", "systems left in factored form">];
  let dependentDialects = ["::linattn::LinAttnDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def TileAttentionPass : Pass<"linattn-tile-attention"> {
  let summary = "rewrites attention to query tiles that pass over key tiles";
  let description = [{
    `softmax_attention` and `diff_attention` become `attention_tiles`: one region
    that takes a tile of queries, a tile of keys and values and the running
    maximum m, sum l and weighted values acc of each query row, and one that
    turns these into outputs. With s the scores of the tile, -inf where a key is
    not allowed:

    ```
    m' = max(m, max_j s_j)      p = e^(s - m')      a = e^(m - m')
    l' = a l + sum_j p_j        acc' = a acc + p V
    o = acc / l                 lse = m + log l
    ```

    A row that has seen no key has m = -inf; the shift is 0 then, so that no
    -inf - (-inf) arises, and its result is 0 and its log-sum-exp -inf. The two
    maps of a differential attention share one pass over the values.

    Operands of both products are rounded as `precision` says, else to the 16-bit
    type of the inputs, by a truncf in the region. The sum l takes p unrounded.

    With `slack = x` a running maximum stays as it is until it would grow by more
    than x. Weights are then up to e^x and sums as exact as before, but a is
    exactly 1 in all but few steps, and a GPU skips the products with it.

    A score region is evaluated for every pair of a tile. Where a pair is not
    allowed a tensor from outside is read at place 0, which exists.

    Before (`tile-attention.mlir`):

    ```mlir
    %o = linattn.softmax_attention %q, %k, %v causal : ..
    ```

    After, shortened:

    ```mlir
    %o = linattn.attention_tiles heads = 4 query_tile = 64 key_tile = 64 causal
        queries(%q : ..) query_heads = [affine_map<(h) -> (h)>]
        keys(%k : .., %v : ..) key_heads = [affine_map<(h) -> (h floordiv 2)>, affine_map<(h) -> (h floordiv 2)>]
        init = [0xFFF0000000000000, 0.0, 0.0] step {
    ^step(%b: index, %h: index, %t: index, %j: index, %allowed: tensor<64x64xi1>, %qt: .., %kt: .., %vt: .., %m: .., %l: .., %acc: ..):
      %s = linalg.matmul ins(%qt, %kT : ..) outs(%zero : ..)
      ..
      linattn.yield %m1, %l1, %acc1 : ..
    } finish {
    ^finish(%b: index, %h: index, %t: index, %qt: .., %m: .., %l: .., %acc: ..):
      %o = arith.divf %acc, %divisor : ..
      linattn.yield %o : ..
    } -> (..)
    ```
  }];
  let options = [
    Option<"queryTile", "query-tile", "int64_t", "64", "queries per tile">,
    Option<"keyTile", "key-tile", "int64_t", "64", "keys per tile">,
    Option<"mma", "mma", "std::string", "",
           "what operands of products are rounded to, instead of what the "
           "inputs say">,
    Option<"slack", "slack", "double", "0",
           "a running maximum that would grow by no more stays as it is">];
  let statistics = [
    Statistic<"numTiled", "tiled", "attention operations tiled">];
  let dependentDialects = ["::linattn::LinAttnDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect"];
}

#endif
