//===- LinAttnDialect.td - the linattn dialect -------------*- tablegen -*-===//
//
// Part of linattn. The dialect of level 0: one token's step of a recurrence,
// and the attention operations beside it.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_IR_DIALECT
#define LINATTN_DIALECT_LINATTN_IR_DIALECT

include "mlir/IR/OpBase.td"

def LinAttn_Dialect : Dialect {
  let name = "linattn";
  let cppNamespace = "::linattn";
  let summary = "linear-attention recurrences, written as one token's step";
  let description = [{
    A recurrence is written once, as what one token does to the state: *decay*,
    *read*, *write*. Everything else in the step is upstream `arith`, `math` and
    `vector` on the token's vectors and scalars, plus a few operations that are
    only shorthand (`delta_update`, `sigmoid`, `softplus`, `silu`, `l2norm`).

    Letters: S is the state, [K, V] per head; k, q in R^K; v, u, r in R^V;
    g <= 0 is a log decay. A read is S^T x, a write S + k u^T.

    Tensors at this level: tokens are [B, T, H, ..], or [T, H, ..] when packed
    with `seqlens`; states are [N, H, K, V]; parameters are [H, ..].

    Function arguments may carry these attributes; `linattn-run` reads them:

    | attribute | meaning |
    |---|---|
    | `linattn.name = "q"` | the name of the argument on the command line and in files |
    | `linattn.dims = ["B", "T", "", ""]` | names of the dynamic dimensions |
    | `linattn.sample = "log_gate"` | how to draw it: `log_gate`, `linear_gate`, `rate`, `rate2`, `unit_key`, `value`, `weight`, `a_log`, `raw`, `raw_gate`, `state` |
  }];
  // Canonicalization builds arith, the sizes of results tensor and affine.
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 0;
  let hasRegionArgAttrVerify = 1;
  let hasConstantMaterializer = 1;
}

#endif
