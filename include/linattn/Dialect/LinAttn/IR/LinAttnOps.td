//===- LinAttnOps.td - every operation of the dialect ------*- tablegen -*-===//
//
// Part of linattn. Includes the groups of operations; each file holds one.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_DIALECT_LINATTN_IR_OPS
#define LINATTN_DIALECT_LINATTN_IR_OPS

include "linattn/Dialect/LinAttn/IR/RecurrenceOps.td"
include "linattn/Dialect/LinAttn/IR/SugarOps.td"
include "linattn/Dialect/LinAttn/IR/AttentionOps.td"
include "linattn/Dialect/LinAttn/IR/ChunkedOps.td"
include "linattn/Dialect/LinAttn/IR/AttentionTilesOp.td"

#endif
