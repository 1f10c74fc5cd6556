//===- LinAttn.h - the linattn dialect --------------------------*- C++ -*-===//
//
// Part of linattn. Types, attributes and operations of level 0.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_IR_LINATTN_H
#define LINATTN_DIALECT_LINATTN_IR_LINATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "linattn/Dialect/LinAttn/IR/LinAttnDialect.h.inc"
#include "linattn/Dialect/LinAttn/IR/LinAttnEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "linattn/Dialect/LinAttn/IR/LinAttnAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "linattn/Dialect/LinAttn/IR/LinAttnTypes.h.inc"

// The interfaces of linalg name these types without their namespace.
namespace linattn {
using mlir::FailureOr;
using mlir::OpBuilder;
using mlir::SmallVector;
using mlir::Value;
} // namespace linattn

#define GET_OP_CLASSES
#include "linattn/Dialect/LinAttn/IR/LinAttnOps.h.inc"

namespace linattn {

/// Attributes of function arguments that linattn-run and the code generators
/// read.
constexpr llvm::StringLiteral kArgNameAttr = "linattn.name";
constexpr llvm::StringLiteral kArgDimsAttr = "linattn.dims";
constexpr llvm::StringLiteral kArgSampleAttr = "linattn.sample";

/// The largest K or V of a state.
constexpr int64_t kMaxStateDim = 1024;

/// The most heads of an operand, and the most elements of one head's vector.
constexpr int64_t kMaxHeads = 65536;
constexpr int64_t kMaxVectorElements = 65536;

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_IR_LINATTN_H
