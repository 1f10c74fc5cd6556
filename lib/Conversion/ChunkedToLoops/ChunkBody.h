//===- ChunkBody.h - the region of a chunk, made ready for a CPU *- C++ -*-===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOLOOPS_CHUNKBODY_H
#define LINATTN_CONVERSION_CHUNKEDTOLOOPS_CHUNKBODY_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace linattn {

/// Rewrites the region in place: products in the arithmetic type, with their
/// operands' roundings only if `keepRounding`; the dialect's own operations
/// decomposed; an inverse that is only applied becomes a solve; splat constants
/// that are written to become fills.
mlir::LogicalResult prepareChunkBody(ChunkedOp op, bool keepRounding);

/// Clones the region without its terminator. For a whole chunk every row is
/// valid and the masks vanish; else the mask must be mapped.
void cloneChunkBody(mlir::OpBuilder &builder, ChunkedOp op,
                    mlir::IRMapping &mapping, bool whole);

} // namespace linattn

#endif // LINATTN_CONVERSION_CHUNKEDTOLOOPS_CHUNKBODY_H
