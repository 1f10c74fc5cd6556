//===- MatrixMath.cpp - Dense arithmetic of the tensor cores --------------===//

#include "MatrixMath.h"
#include "HalfFloat.h"

namespace linattn::sim {

namespace {

using Half8 = _Float16 __attribute__((vector_size(16)));
using Short8 = uint16_t __attribute__((vector_size(16)));
using Int8 = uint32_t __attribute__((vector_size(32)));
using Float8 = float __attribute__((vector_size(32)));

Short8 loadShorts(const void *from) {
  Short8 v;
  std::memcpy(&v, from, 16);
  return v;
}
void store(float *to, Float8 v) { std::memcpy(to, &v, 32); }
Float8 load(const float *from) {
  Float8 v;
  std::memcpy(&v, from, 32);
  return v;
}

template <MatrixFormat F> Float8 widen(Short8 v) {
  if constexpr (F == MatrixFormat::F16) {
    return __builtin_convertvector((Half8)v, Float8);
  } else {
    Int8 wide = __builtin_convertvector(v, Int8) << 16;
    return (Float8)wide;
  }
}

/// columnPlace, as a shuffle.
Short8 permuted(Short8 v) {
  return __builtin_shufflevector(v, v, 0, 2, 4, 6, 1, 3, 5, 7);
}

void transpose(Short8 (&r)[8]) {
  Short8 a[8], b[8];
  for (unsigned i = 0; i < 4; ++i) {
    a[2 * i] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 0, 8, 2, 10, 4,
                                       12, 6, 14);
    a[2 * i + 1] = __builtin_shufflevector(r[2 * i], r[2 * i + 1], 1, 9, 3, 11,
                                           5, 13, 7, 15);
  }
  for (unsigned i = 0; i < 8; i += 4)
    for (unsigned j = 0; j < 2; ++j) {
      b[i + j] = __builtin_shufflevector(a[i + j], a[i + j + 2], 0, 1, 8, 9, 4,
                                         5, 12, 13);
      b[i + j + 2] = __builtin_shufflevector(a[i + j], a[i + j + 2], 2, 3, 10,
                                             11, 6, 7, 14, 15);
    }
  for (unsigned i = 0; i < 4; ++i) {
    r[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] =
        __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

template <MatrixFormat F>
void columns(const uint8_t *const rows[8], float *out, unsigned pitch) {
  // Rows in the order of their places, so that the transpose needs no more.
  constexpr unsigned order[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  Short8 r[8];
  for (unsigned p = 0; p < 8; ++p)
    r[p] = loadShorts(rows[order[p]]);
  transpose(r);
  for (unsigned k = 0; k < 8; ++k)
    store(out + k * pitch, widen<F>(r[k]));
}

/// Rows x 8 columns of the result.
template <unsigned Rows>
void block(float *acc, const float *a, const float *b, unsigned n, unsigned k) {
  Float8 sum[Rows];
  for (unsigned r = 0; r < Rows; ++r)
    sum[r] = load(acc + r * n);
  for (unsigned j = 0; j < k; ++j) {
    Float8 column = load(b + j * n);
    for (unsigned r = 0; r < Rows; ++r) {
      float x = a[r * k + j];
      Float8 row = {x, x, x, x, x, x, x, x};
      sum[r] = __builtin_elementwise_fma(row, column, sum[r]);
    }
  }
  for (unsigned r = 0; r < Rows; ++r)
    store(acc + r * n, sum[r]);
}

} // namespace

void decodeChunk(MatrixFormat format, const uint8_t *bytes, float *out) {
  switch (format) {
  case MatrixFormat::F16:
    return store(out, widen<MatrixFormat::F16>(loadShorts(bytes)));
  case MatrixFormat::BF16:
    return store(out, widen<MatrixFormat::BF16>(loadShorts(bytes)));
  case MatrixFormat::TF32:
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t bits;
      std::memcpy(&bits, bytes + 4 * i, 4);
      bits &= ~0x1fffu;
      std::memcpy(out + i, &bits, 4);
    }
  }
}

void decodeColumns(MatrixFormat format, const uint8_t *const rows[8],
                   float *out, unsigned pitch) {
  if (format == MatrixFormat::F16)
    columns<MatrixFormat::F16>(rows, out, pitch);
  else
    columns<MatrixFormat::BF16>(rows, out, pitch);
}

void decodeRowOfColumns(MatrixFormat format, const uint8_t *bytes, float *out) {
  Short8 v = permuted(loadShorts(bytes));
  store(out, format == MatrixFormat::F16 ? widen<MatrixFormat::F16>(v)
                                         : widen<MatrixFormat::BF16>(v));
}

void multiplyAdd(float *acc, const float *a, const float *b, unsigned n,
                 unsigned k) {
  for (unsigned column = 0; column < n; column += 8)
    for (unsigned row = 0; row < matrixRows; row += 8)
      block<8>(acc + row * n + column, a + row * k, b + column, n, k);
}

void canonicalise(float *values, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, values + i, 4);
    bits = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
    std::memcpy(values + i, &bits, 4);
  }
}

} // namespace linattn::sim
