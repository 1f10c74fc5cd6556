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

#endif
