//===- Metrics.h - a result against the oracle ------------------*- C++ -*-===//
//
// Part of linattn. Relative RMS, RMS(ref - x) / RMS(ref), over the whole array
// and over each (sequence, head), and the rules that a number cannot tell:
//
//  * where the reference of a (sequence, head) is 0 throughout, so is the
//    result;
//  * infinities (with their sign) and NaN stand in the same places; what of the
//    reference is not finite is told after rounding it to the result's type;
//  * rows that belong to no sequence are bitwise as they were before the run.
//
// Differences below the smallest normal number count as none.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_METRICS_H
#define LINATTN_RUNNER_METRICS_H

#include "linattn/Runner/Inputs.h"
#include "linattn/Runner/Rows.h"

#include <optional>

namespace linattn {
namespace runner {

struct Comparison {
  double relativeRMS = 0;
  double worst = 0;
  int64_t worstSequence = -1, worstHead = -1;
  /// For the whole array, and for each (sequence, head).
  double limit = 0, worstLimit = 0;
  /// What the rounding model errs, where it was run.
  struct Model {
    double relativeRMS, worst;
  };
  std::optional<Model> model;
  /// Broken rules, one sentence each.
  std::vector<std::string> faults;

  bool ok() const {
    // Not "worst > limit": a NaN is no success.
    return faults.empty() && relativeRMS <= limit && worst <= worstLimit;
  }

  /// Raises the limits to what outside of the plain promise is allowed: half as
  /// much again as the rounding model errs.
  void allowModel();
};

/// Whether the data are those of the plain promise: drawn and not given, K of
/// every state at least 64, rates in [0, 1].
bool isPlain(const Signature &signature, const Inputs &inputs);

/// How far a result may be from the oracle. 16-bit roundings inside (of a
/// 16-bit state, for example) reach every result.
double errorLimit(const Result &result, bool roundsTo16Bit);

/// `reference` is f64. `before` holds what the result held before the run, or
/// is null: then rows of no sequence are not looked at.
Comparison compare(const Buffer &result, const Buffer &reference,
                   const Buffer *before, const Result &description,
                   const RowMap &rows, double limit);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_METRICS_H
