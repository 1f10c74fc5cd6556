//===- SugarOps.td - shorthand with canonical expansions ---*- tablegen -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_SUGAR_OPS
#define LINATTN_DIALECT_LINATTN_IR_SUGAR_OPS

include "linattn/Dialect/LinAttn/IR/LinAttnBase.td"

def LinAttn_DeltaUpdateOp : LinAttn_Op<"delta_update", [Pure, AllTypesMatch<["state", "result"]>]> {
  let summary = "the delta rule: S' = S + k (beta (v - S^T k))^T";
  let description = [{
    `rate` is beta, a scalar or a vector over V. Expands to a read, arithmetic
    and a write.

    Example:

    ```mlir
    %s1 = linattn.delta_update %s, %k, %v, %b
        : !linattn.state<128x64xf32>, vector<128xbf16>, vector<64xbf16>, f32
    ```

    Constraints:

    * (delta_update_c1) The key has K elements.
    * (delta_update_c2) The value has V elements.
    * (delta_update_c3) A vector rate has V elements.
  }];
  let arguments = (ins LinAttn_StateType:$state, LinAttn_FloatVector:$key,
                       LinAttn_FloatVector:$value, LinAttn_FloatOrVector:$rate);
  let results = (outs LinAttn_StateType:$result);
  let assemblyFormat = [{
    $state `,` $key `,` $value `,` $rate attr-dict
    `:` type($state) `,` type($key) `,` type($value) `,` type($rate)
  }];
  let hasVerifier = 1;
}

class LinAttn_UnaryOp<string mnemonic, list<Trait> traits = []>
    : LinAttn_Op<mnemonic, !listconcat([Pure, SameOperandsAndResultType], traits)> {
  let arguments = (ins LinAttn_FloatOrVector:$operand);
  let results = (outs LinAttn_FloatOrVector:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def LinAttn_SigmoidOp : LinAttn_UnaryOp<"sigmoid"> {
  let summary = "1 / (1 + e^-x), elementwise";
  let description = [{
    Stable form: with z = e^-|x|, 1 / (1 + z) for x >= 0 and z / (1 + z) below.
    16-bit operands are computed in f32 and rounded once.

    Example: `%b = linattn.sigmoid %x : vector<64xf32>`
  }];
  let hasFolder = 1;
}

def LinAttn_SoftplusOp : LinAttn_UnaryOp<"softplus"> {
  let summary = "log(1 + e^x), elementwise";
  let description = [{
    Stable form: max(x, 0) + log1p(e^-|x|). 16-bit operands are computed in f32
    and rounded once.

    Example: `%d = linattn.softplus %x : f32`
  }];
  let hasFolder = 1;
}

def LinAttn_SiLUOp : LinAttn_UnaryOp<"silu"> {
  let summary = "x sigmoid(x), elementwise";
  let description = [{
    16-bit operands are computed in f32 and rounded once.

    Example: `%y = linattn.silu %x : vector<64xbf16>`
  }];
  let hasFolder = 1;
}

def LinAttn_L2NormOp : LinAttn_Op<"l2norm", [Pure]> {
  let summary = "x / sqrt(sum x^2 + eps)";
  let description = [{
    The sum runs over the whole vector; eps (1e-6 unless given) is added to the
    *sum* of the squares, not to their mean. 16-bit operands are widened to f32;
    the result is f32 (f64 for an f64 operand), and so not rounded again.

    Example: `%kn = linattn.l2norm %k eps 1.0e-6 : vector<128xbf16> -> vector<128xf32>`

    Constraints:

    * (l2norm_c1) The result has the operand's size; its element type is f32, or
      f64 for an f64 operand.
    * (l2norm_c2) eps is finite and not negative.
  }];
  let arguments = (ins LinAttn_FloatVector:$operand, DefaultValuedAttr<F64Attr, "1e-6">:$eps);
  let results = (outs LinAttn_FloatVector:$result);
  let assemblyFormat = "$operand (`eps` $eps^)? attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

#endif
