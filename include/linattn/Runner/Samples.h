//===- Samples.h - seeded inputs --------------------------------*- C++ -*-===//
//
// Part of linattn. Draws an argument by its kind. Values are drawn in double
// and rounded once, so that a seed gives the same data for every element type
// up to rounding. The stream depends on the seed and the argument's name only.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_RUNNER_SAMPLES_H
#define LINATTN_RUNNER_SAMPLES_H

#include "linattn/Runner/Signature.h"

namespace linattn {
namespace runner {

/// Where log gates lie. `Usual` is logsigmoid of a normal; `Slow` is uniform in
/// [-2e-3, 0]; `Strong` is -8; `Extreme` is -1000 or -inf, half each. `Mixed`
/// gives each channel one of these, or none of them: such a channel takes
/// another one at every token.
enum class GateDistribution { None, Usual, Slow, Strong, Extreme, Mixed };

enum class InitialState { Random, Zero };

struct SampleOptions {
  uint64_t seed = 0;
  GateDistribution gates = GateDistribution::Usual;
  InitialState state = InitialState::Random;
};

/// Fills a contiguous array of floats, by the argument's kind:
///
///   log_gate     as GateDistribution says
///   linear_gate  exp of a log gate
///   raw_gate     x with softplus(x) = -g for a log gate g (-1e4 for g = 0,
///                1e4 for -inf):
///                with A_log and dt_bias near 0, as they are drawn,
///                -exp(A_log) softplus(x + dt_bias) covers the range of the
///                distribution
///   rate, rate2  sigmoid of a normal; twice that
///   unit_key     independent directions: normals over the last dimension,
///                divided by their norm
///   value, raw   normals; so is state, unless it is zero
///   weight       normals times 1/2
///   a_log        normals times 1/10; so is raw, where it is no token's but a
///                parameter (dt_bias)
void sample(Buffer &buffer, const Argument &argument,
            const SampleOptions &options);

/// Offsets of N packed sequences over T tokens: cut points drawn uniformly.
void sampleSeqlens(Buffer &buffer, const Argument &argument, int64_t tokens,
                   const SampleOptions &options);

/// Different slots of a pool of P states.
llvm::Error sampleSlots(Buffer &buffer, const Argument &argument,
                        int64_t poolSize, const SampleOptions &options);

} // namespace runner
} // namespace linattn

#endif // LINATTN_RUNNER_SAMPLES_H
