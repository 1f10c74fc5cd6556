//===- InstrMma.cpp - mma.sync --------------------------------------------===//
//
// Shapes m16n8k4, k8 and k16 of f16, bf16 and tf32, m8n8k4 of f64. Fragments of
// 16-bit types are 8x8 matrices in memory order (InstrMatrix.cpp), those of
// tf32 8x4: lane 4r + c holds element c of row r.
//
//===----------------------------------------------------------------------===//

#include "Exec.h"
#include "Fragments.h"
#include "HalfFloat.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace linattn::sim {

MatrixFormat matrixFormatOf(Type type) {
  return type == Type::F16    ? MatrixFormat::F16
         : type == Type::BF16 ? MatrixFormat::BF16
                              : MatrixFormat::TF32;
}

void loadAccumulator(const Warp &w, const Op *c, bool half, float *acc,
                     unsigned pitch) {
  for (unsigned top = 0; top < 2; ++top) {
    float *rows = acc + top * 8 * pitch;
    if (half) {
      auto *pairs = reinterpret_cast<const uint16_t *>(w.in<uint32_t>(c[top]));
      for (unsigned r = 0; r < 8; ++r)
        for (unsigned n = 0; n < 8; ++n)
          rows[pitch * r + columnPlace(n)] = halfToFloat(pairs[8 * r + n]);
      continue;
    }
    for (unsigned odd = 0; odd < 2; ++odd) {
      auto *values = w.in<float>(c[2 * top + odd]);
      for (unsigned r = 0; r < 8; ++r)
        std::memcpy(rows + pitch * r + 4 * odd, values + 4 * r, 16);
    }
  }
}

void storeAccumulator(Warp &w, const Op *d, bool half, const float *acc,
                      unsigned pitch) {
  for (unsigned top = 0; top < 2; ++top) {
    const float *rows = acc + top * 8 * pitch;
    if (half) {
      auto *pairs = reinterpret_cast<uint16_t *>(w.out<uint32_t>(d[top]));
      for (unsigned r = 0; r < 8; ++r)
        for (unsigned n = 0; n < 8; ++n)
          pairs[8 * r + n] = floatToHalf(rows[pitch * r + columnPlace(n)]);
      continue;
    }
    for (unsigned odd = 0; odd < 2; ++odd) {
      auto *values = w.out<float>(d[2 * top + odd]);
      for (unsigned r = 0; r < 8; ++r)
        std::memcpy(values + 4 * r, rows + pitch * r + 4 * odd, 16);
    }
  }
}

void loadFragmentA(const Warp &w, const Op *a, MatrixFormat format, unsigned k,
                   float *out) {
  unsigned perRegister = format == MatrixFormat::TF32 ? 4 : 8;
  for (unsigned at = 0; at < k; at += perRegister)
    for (unsigned top = 0; top < 2; ++top, ++a) {
      auto *bytes = reinterpret_cast<const uint8_t *>(w.in<uint32_t>(*a));
      for (unsigned r = 0; r < 8; ++r)
        decodeChunk(format, bytes + 16 * r, out + (8 * top + r) * k + at);
    }
}

namespace {

enum MmaBits { MmaHalfD = 1, MmaHalfC = 2 };

/// B as b[k][8]; a register holds its part column by column.
void loadB(const Warp &w, const Op *b, MatrixFormat format, unsigned k,
           float *out) {
  if (format == MatrixFormat::TF32) {
    for (unsigned at = 0; at < k; at += 4, ++b) {
      auto *bytes = reinterpret_cast<const uint8_t *>(w.in<uint32_t>(*b));
      for (unsigned n = 0; n < 8; ++n) {
        float part[4];
        decodeChunk(format, bytes + 16 * n, part);
        for (unsigned j = 0; j < 4; ++j)
          out[(at + j) * 8 + columnPlace(n)] = part[j];
      }
    }
    return;
  }
  for (unsigned at = 0; at < k; at += 8, ++b) {
    auto *bytes = reinterpret_cast<const uint8_t *>(w.in<uint32_t>(*b));
    const uint8_t *rows[8];
    for (unsigned n = 0; n < 8; ++n)
      rows[n] = bytes + 16 * n;
    decodeColumns(format, rows, out + at * 8, 8);
  }
}

Step mma(Warp &w, const Instr &i, uint32_t) {
  unsigned k = i.detail64;
  MatrixFormat format = matrixFormatOf(i.types[1]);
  alignas(32) float a[16 * 16], b[16 * 8], acc[16 * 8];
  loadFragmentA(w, &i.op[i.args[1].first], format, k, a);
  loadB(w, &i.op[i.args[2].first], format, k, b);
  loadAccumulator(w, &i.op[i.args[3].first], i.detail & MmaHalfC, acc, 8);
  multiplyAdd(acc, a, b, 8, k);
  canonicalise(acc, 128);
  storeAccumulator(w, &i.op[0], i.detail & MmaHalfD, acc, 8);
  counters().tensorFlops += 2 * 16 * 8 * k;
  return Step::Next;
}

/// m8n8k4 of f64: A and B are 8x4 and 4x8, lane 4r + c holds (r, c) and (c, r);
/// the lanes of C hold two neighbours of a row. Fused multiply-adds along k.
Step mmaF64(Warp &w, const Instr &i, uint32_t) {
  auto *a = w.in<double>(i.arg(1)), *b = w.in<double>(i.arg(2));
  const Op *c = &i.op[i.args[3].first];
  double result[2][32];
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned odd = 0; odd < 2; ++odd) {
      unsigned r = l / 4, n = l % 4 * 2 + odd;
      double sum = w.in<double>(c[odd])[l];
      for (unsigned k = 0; k < 4; ++k)
        sum = std::fma(a[4 * r + k], b[4 * n + k], sum);
      result[odd][l] = sum;
    }
  std::memcpy(w.out<double>(i.op[0]), result[0], 256);
  std::memcpy(w.out<double>(i.op[1]), result[1], 256);
  counters().tensorFlops += 2 * 8 * 8 * 4;
  return Step::Next;
}

Error decode(Instr &i, const Words &words) {
  i.detail64 = StringSwitch<unsigned>(words[3])
                   .Case("m16n8k4", 4)
                   .Case("m16n8k8", 8)
                   .Case("m16n8k16", 16)
                   .Default(0);
  if (i.numTypes != 4 || i.types[1] != i.types[2])
    return createStringError("A and B must have the same type");
  Type d = i.types[0], ab = i.types[1], c = i.types[3];
  bool tf32 = ab == Type::TF32;
  unsigned k = i.detail64;
  if (tf32 ? k == 16 : k == 4)
    return createStringError("there is no shape " + words[3] + " of ." +
                             typeName(ab));
  if ((d == Type::F16 || c == Type::F16) && ab != Type::F16)
    return createStringError("half-precision accumulators need f16 operands");
  i.detail = (d == Type::F16 ? MmaHalfD : 0) | (c == Type::F16 ? MmaHalfC : 0);
  unsigned perRegister = tf32 ? 4 : 8;
  unsigned want[4] = {d == Type::F16 ? 2u : 4u, 2 * k / perRegister,
                      k / perRegister, c == Type::F16 ? 2u : 4u};
  for (unsigned n = 0; n < 4; ++n)
    if (i.args[n].count != want[n])
      return createStringError("operand " + Twine(n) + " of " + words[3] +
                               " needs " + Twine(want[n]) + " registers, got " +
                               Twine(unsigned(i.args[n].count)));
  return Error::success();
}

Error decodeF64(Instr &i, const Words &) {
  if (i.args[0].count != 2 || i.args[1].count != 1 || i.args[2].count != 1 ||
      i.args[3].count != 2)
    return createStringError("m8n8k4 needs 2, 1, 1 and 2 registers");
  return Error::success();
}

} // namespace

void registerMma(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Tensor;
  constexpr uint32_t A = TraitAligned | TraitWholeWarp;
  t.add("mma.sync.aligned.<m16n8k4|m16n8k8|m16n8k16>.row.col.<f32|f16>"
        ".<f16|bf16|tf32>.<f16|bf16|tf32>.<f32|f16>",
        "=vb32 <vb32 <vb32 <vb32", mma, K, A, decode);
  t.add("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "=vf64 <vf64 <vf64 <vf64", mmaF64, K, A, decodeF64);
}

} // namespace linattn::sim
