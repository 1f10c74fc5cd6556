//===- InstrMatrix.cpp - ldmatrix, stmatrix, movmatrix --------------------===//
//
// A register of a fragment is an 8x8 matrix of 16-bit elements: lane 4r + c holds
// elements 2c and 2c + 1 of row r, so the 32 lanes are the matrix in memory order.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Exec.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace linattn::sim {
namespace {

void transposeMatrix(const uint16_t *from, uint16_t *to) {
  for (unsigned r = 0; r < 8; ++r)
    for (unsigned c = 0; c < 8; ++c)
      to[c * 8 + r] = from[r * 8 + c];
}

/// The rows that lanes 0 to 8 * matrices - 1 name.
uint32_t rows(Warp &w, const Instr &i, const Op &base, unsigned matrices,
              uint8_t flags, uint8_t **data) {
  uint64_t address[32];
  for (unsigned l = 0; l < 32; ++l)
    address[l] = addressOf(w, base, l);
  uint32_t lanes = matrices == 4 ? ~0u : (1u << 8 * matrices) - 1;
  return accessWarp(w, i, lanes, i.space, address, 16, flags, data);
}

Step ldmatrix(Warp &w, const Instr &i, uint32_t) {
  unsigned count = i.args[0].count;
  uint8_t *data[32];
  uint32_t good = rows(w, i, i.arg(1), count, 0, data);
  for (unsigned m = 0; m < count; ++m) {
    uint16_t matrix[64], turned[64];
    for (unsigned r = 0; r < 8; ++r) {
      if (good >> (8 * m + r) & 1)
        std::memcpy(matrix + 8 * r, data[8 * m + r], 16);
      else
        std::memset(matrix + 8 * r, 0, 16);
    }
    if (i.detail)
      transposeMatrix(matrix, turned);
    std::memcpy(w.out<uint32_t>(i.op[m]), i.detail ? turned : matrix, 128);
  }
  return Step::Next;
}

Step stmatrix(Warp &w, const Instr &i, uint32_t) {
  unsigned count = i.args[1].count;
  const Op *values = &i.op[i.args[1].first];
  uint8_t *data[32];
  uint32_t good = rows(w, i, i.arg(0), count, AccessWrite, data);
  for (unsigned m = 0; m < count; ++m) {
    uint16_t matrix[64], turned[64];
    std::memcpy(matrix, w.in<uint32_t>(values[m]), 128);
    if (i.detail)
      transposeMatrix(matrix, turned);
    for (unsigned r = 0; r < 8; ++r)
      if (good >> (8 * m + r) & 1)
        std::memcpy(data[8 * m + r], (i.detail ? turned : matrix) + 8 * r, 16);
  }
  return Step::Next;
}

Step movmatrix(Warp &w, const Instr &i, uint32_t) {
  uint16_t matrix[64], turned[64];
  std::memcpy(matrix, w.in<uint32_t>(i.op[1]), 128);
  transposeMatrix(matrix, turned);
  std::memcpy(w.out<uint32_t>(i.op[0]), turned, 128);
  return Step::Next;
}

Error decode(Instr &i, const Words &words) {
  i.detail = is_contained(words, "trans");
  unsigned count = words[4][1] - '0';
  const Arg &fragment = i.args[words[0] == "ldmatrix" ? 0 : 1];
  if (fragment.count != count)
    return createStringError("." + words[4] + " needs " + Twine(count) +
                             " registers, got " +
                             Twine(unsigned(fragment.count)));
  return Error::success();
}

} // namespace

void registerMatrix(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Shared;
  constexpr uint32_t A = TraitAligned | TraitWholeWarp;
  t.add("ldmatrix.sync.aligned.m8n8.<x1|x2|x4>[.trans][.shared|.shared::cta].b16",
        "=vb32 @", ldmatrix, K, A, decode);
  t.add("stmatrix.sync.aligned.m8n8.<x1|x2|x4>[.trans][.shared|.shared::cta].b16",
        "@ <vb32", stmatrix, K, A, decode);
  t.add("movmatrix.sync.aligned.m8n8.trans.b16", "=b32 <b32", movmatrix,
        InstrKind::WarpComm, A);
}

} // namespace linattn::sim
