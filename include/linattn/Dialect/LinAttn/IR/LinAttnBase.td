//===- LinAttnBase.td - constraints the operations share ---*- tablegen -*-===//

#ifndef LINATTN_DIALECT_LINATTN_IR_BASE
#define LINATTN_DIALECT_LINATTN_IR_BASE

include "linattn/Dialect/LinAttn/IR/LinAttnTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class LinAttn_Op<string mnemonic, list<Trait> traits = []>
    : Op<LinAttn_Dialect, mnemonic, traits>;

/// A float scalar of a step: f16, bf16, f32 or f64.
def LinAttn_Float : AnyTypeOf<[F16, BF16, F32, F64], "a float (f16, bf16, f32 or f64)">;

def LinAttn_FloatVector : FixedVectorOfRankAndType<[1], [F16, BF16, F32, F64]>;

/// A scalar or a vector of rank 1.
def LinAttn_FloatOrVector : AnyTypeOf<[LinAttn_Float, LinAttn_FloatVector],
    "a float or a vector of rank 1 of floats">;

/// A 64-bit integer that may be negative: I64Attr hands out uint64_t.
def LinAttn_I64Attr : TypedSignlessIntegerAttrBase<I64, "int64_t", "a 64-bit integer">;

def LinAttn_NoEncoding : CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">;
def LinAttn_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64], [LinAttn_NoEncoding],
    "ranked tensor without encoding">;
def LinAttn_OffsetTensor : RankedTensorOf<[I32, I64], [LinAttn_NoEncoding],
    "ranked tensor without encoding">;

#endif
