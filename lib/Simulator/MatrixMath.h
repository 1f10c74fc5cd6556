//===- MatrixMath.h - Dense arithmetic of the tensor cores ----------------===//
//
// The model: every product of two elements is exact, sums are in single
// precision, each addition rounded to nearest even, in the order of k, starting
// from the accumulator. (A GPU aligns the addends of a step and truncates; both
// agree to the bit where every partial sum is representable.) Single-precision
// accumulators keep that; half-precision ones are rounded once at the end of
// the instruction.
//
// A warp's part of a product is 16 rows. The columns of a group of 8 stand in
// the order in which accumulator registers hold them: 0 2 4 6, then 1 3 5 7.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_LIB_SIMULATOR_MATRIXMATH_H
#define LINATTN_LIB_SIMULATOR_MATRIXMATH_H

#include <cstdint>

namespace linattn::sim {

enum class MatrixFormat : uint8_t { F16, BF16, TF32 };

constexpr unsigned matrixRows = 16;

/// The place of column n (0 to 7) within its group.
constexpr unsigned columnPlace(unsigned n) { return n / 2 + n % 2 * 4; }

/// 16 bytes as floats: 8 of the 16-bit formats, 4 of TF32 (low bits dropped).
void decodeChunk(MatrixFormat format, const uint8_t *bytes, float *out);
/// 8 chunks of 8 16-bit elements, row n holding k = 0..7 of column n:
/// out[k * pitch + columnPlace(n)].
void decodeColumns(MatrixFormat format, const uint8_t *const rows[8],
                   float *out, unsigned pitch);
/// One chunk of 8 columns of a row: in the order of columnPlace.
void decodeRowOfColumns(MatrixFormat format, const uint8_t *bytes, float *out);

/// acc[16][n] += a[16][k] * b[k][n]; n is a multiple of 8.
void multiplyAdd(float *acc, const float *a, const float *b, unsigned n,
                 unsigned k);

/// The GPU's one NaN; other values as they are.
void canonicalise(float *values, unsigned count);

} // namespace linattn::sim

#endif // LINATTN_LIB_SIMULATOR_MATRIXMATH_H
