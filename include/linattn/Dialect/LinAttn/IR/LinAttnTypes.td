//===- LinAttnTypes.td - types and attributes --------------*- tablegen -*-===//
//
// Part of linattn. The state type and the attributes of level 0.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_IR_TYPES
#define LINATTN_DIALECT_LINATTN_IR_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "linattn/Dialect/LinAttn/IR/LinAttnDialect.td"

def LinAttn_StateType : TypeDef<LinAttn_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "the state of one head inside a step, [K, V]";
  let description = [{
    `!linattn.state<KxVxelt>`: K rows (key channels), V columns (value channels).
    `elt` is the element type in which the state is kept between calls: f32,
    f64 (the oracle), or bf16 and f16 (storage while decoding). Inside a call the
    arithmetic is f64 for f64 and f32 for all others; a 16-bit state is widened
    when a call begins and rounded to nearest even when it ends.

    Example: `!linattn.state<128x128xf32>`.
  }];
  let parameters = (ins "int64_t":$keys, "int64_t":$values, "::mlir::FloatType":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type of the arithmetic on this state: f64 for f64, else f32.
    ::mlir::FloatType getComputeType() const;
    /// What a read returns: vector<V x compute type>.
    ::mlir::VectorType getReadType() const;
    /// [K, V].
    ::llvm::SmallVector<int64_t, 2> getShape() const { return {getKeys(), getValues()}; }
  }];
}

def LinAttn_MmaPrecision : I32EnumAttr<"MmaPrecision",
    "what the operands of a matrix product are rounded to", [
      I32EnumAttrCase<"F32", 0, "f32">,
      I32EnumAttrCase<"TF32x3", 1, "tf32x3">,
      I32EnumAttrCase<"BF16", 2, "bf16">,
      I32EnumAttrCase<"F16", 3, "f16">,
      I32EnumAttrCase<"BF16x2", 4, "bf16x2">]> {
  let cppNamespace = "::linattn";
}

def LinAttn_PrecisionAttr : AttrDef<LinAttn_Dialect, "Precision"> {
  let mnemonic = "precision";
  let summary = "what the chunk form may round to";
  let description = [{
    `mma`: each operand of a matrix product is rounded once to this type (products
    accumulate in f32). `bf16x2` splits an operand in two bf16 terms, `tf32x3` in
    tf32 terms with three products. `solve`: the same for the products that merge
    blocks of the unit triangular inverse.

    Without the attribute the type of the token operands decides: bf16 or f16
    inputs round to that type (f16 to bf16 in a step that shows a state as a decay
    left it: f16 has no range for that); f32 inputs use f32 on CPUs and tf32x3 on
    GPUs. The token-serial form and the oracle ignore it.

    Example: `#linattn.precision<mma = bf16, solve = f32>`.
  }];
  let parameters = (ins EnumParameter<LinAttn_MmaPrecision>:$mma,
                        EnumParameter<LinAttn_MmaPrecision>:$solve);
  let assemblyFormat = "`<` struct(params) `>`";
}

def LinAttn_Activation : I32EnumAttr<"Activation",
    "what is applied after a short convolution", [
      I32EnumAttrCase<"None", 0, "none">,
      I32EnumAttrCase<"SiLU", 1, "silu">]> {
  let cppNamespace = "::linattn";
}

def LinAttn_DiffVersion : I32EnumAttr<"DiffVersion",
    "which differential attention", [
      I32EnumAttrCase<"V1", 1, "v1">,
      I32EnumAttrCase<"V2", 2, "v2">]> {
  let cppNamespace = "::linattn";
}

#endif
