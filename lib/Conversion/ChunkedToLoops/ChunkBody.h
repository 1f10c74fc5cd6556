//===- ChunkBody.h - the region of a chunk, made ready for a CPU *- C++ -*-===//

#ifndef LINATTN_CONVERSION_CHUNKEDTOLOOPS_CHUNKBODY_H
#define LINATTN_CONVERSION_CHUNKEDTOLOOPS_CHUNKBODY_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

#include "mlir/IR/Builders.h"

namespace linattn {

/// Rewrites the region in place: products in the arithmetic type, with their
/// operands' roundings only if `keepRounding`; the dialect's own operations
/// decomposed; an inverse that is only applied becomes a solve; splat constants
/// that are written to become fills. Rows of the tokens beyond the end are
/// taken to be 0, and what is 0 for that reason is no longer masked.
mlir::LogicalResult prepareChunkBody(ChunkedOp op, bool keepRounding);

} // namespace linattn

#endif // LINATTN_CONVERSION_CHUNKEDTOLOOPS_CHUNKBODY_H
