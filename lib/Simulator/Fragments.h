//===- Fragments.h - Matrices in registers --------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_FRAGMENTS_H
#define LINATTN_LIB_SIMULATOR_FRAGMENTS_H

#include "MatrixMath.h"
#include "State.h"

namespace linattn::sim {

MatrixFormat matrixFormatOf(Type type);

/// Accumulator registers of 8 columns as acc[16][..], rows `pitch` apart: four
/// of single precision, or two with pairs of half precision.
void loadAccumulator(const Warp &warp, const Op *c, bool half, float *acc,
                     unsigned pitch);
void storeAccumulator(Warp &warp, const Op *d, bool half, const float *acc,
                      unsigned pitch);

/// A as a[16][k]: registers go down first, then along k.
void loadFragmentA(const Warp &warp, const Op *a, MatrixFormat format,
                   unsigned k, float *out);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_FRAGMENTS_H
