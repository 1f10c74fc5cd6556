//===- Normalize.h - writes the normal form out -----------------*- C++ -*-===//

#ifndef LINATTN_DIALECT_LINATTN_TRANSFORMS_NORMALIZE_H
#define LINATTN_DIALECT_LINATTN_TRANSFORMS_NORMALIZE_H

#include "linattn/Dialect/LinAttn/Analysis/NormalForm.h"

#include "mlir/IR/PatternMatch.h"

namespace linattn {

/// What normalizing changed.
struct NormalizeCounts {
  unsigned writes = 0;
  unsigned decays = 0;
  unsigned reads = 0;
};

/// What comes before the analysis and keeps the arithmetic of the step as it
/// was written: expands delta updates, merges equal operations, combines decays
/// and removes what nothing uses.
void simplifyStep(mlir::RewriterBase &rewriter, RecurrenceOp recurrence,
                  NormalizeCounts &counts);

/// Brings a step into normal form, as --linattn-normalize describes it. Fails
/// where it has none, then with only its shorthand expanded; reports that as
/// NormalForm::compute does.
mlir::LogicalResult
normalizeStep(mlir::RewriterBase &rewriter, RecurrenceOp recurrence,
              NormalizeCounts &counts,
              std::optional<mlir::DiagnosticSeverity> severity =
                  mlir::DiagnosticSeverity::Error);

} // namespace linattn

#endif // LINATTN_DIALECT_LINATTN_TRANSFORMS_NORMALIZE_H
