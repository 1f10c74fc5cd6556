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

#endif
