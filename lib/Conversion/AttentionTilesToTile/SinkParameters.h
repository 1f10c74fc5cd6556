//===- SinkParameters.h - small arithmetic before attention -----*- C++ -*-===//

#ifndef LINATTN_CONVERSION_ATTENTIONTILESTOTILE_SINKPARAMETERS_H
#define LINATTN_CONVERSION_ATTENTIONTILESTOTILE_SINKPARAMETERS_H

#include "linattn/Dialect/LinAttn/IR/LinAttn.h"

namespace linattn::attention_to_tile {

/// A number per head, or one, that the regions read and that is computed before
/// the operation (lambda of its four vectors) is computed by the rows that read
/// it. Fails, with the rule at the operation that has no such form.
mlir::LogicalResult sinkParameters(AttentionTilesOp op);

} // namespace linattn::attention_to_tile

#endif // LINATTN_CONVERSION_ATTENTIONTILESTOTILE_SINKPARAMETERS_H
