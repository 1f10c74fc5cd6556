//===- InstrMatrix.cpp - ldmatrix, stmatrix, movmatrix --------------------===//
//
// A register of a fragment is an 8x8 matrix of 16-bit elements: lane 4r + c
// holds elements 2c and 2c + 1 of row r, so the 32 lanes are the matrix in
// memory order. A lane accesses the 4 bytes of its place; with .trans the
// elements are exchanged between the lanes afterwards.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Exec.h"
#include "Findings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace linattn::sim {
namespace {

void transposeMatrix(const uint16_t *from, uint16_t *to) {
  for (unsigned r = 0; r < 8; ++r)
    for (unsigned c = 0; c < 8; ++c)
      to[c * 8 + r] = from[r * 8 + c];
}

/// Accesses matrix m, whose rows lanes 8m to 8m + 7 name: the lanes with data.
uint32_t accessMatrix(Warp &w, const Instr &i, const Op &base, unsigned m,
                      uint8_t flags, uint8_t **data) {
  uint64_t address[32];
  uint32_t good = 0;
  for (unsigned r = 0; r < 8; ++r) {
    uint64_t row = addressOf(w, base, 8 * m + r);
    bool aligned = row % 16 == 0;
    if (!aligned)
      reportAt(FindingKind::Misaligned, w, i, 8 * m + r, row,
               "row address 0x" + utohexstr(row, true) +
                   " of a matrix is not a multiple of 16");
    good |= aligned ? 15u << 4 * r : 0;
    for (unsigned c = 0; c < 4; ++c)
      address[4 * r + c] = row + 4 * c;
  }
  return good ? accessWarp(w, i, good, i.space, address, 4, flags, data) : 0;
}

Step ldmatrix(Warp &w, const Instr &i, uint32_t) {
  unsigned count = i.args[0].count;
  uint32_t loaded[4][32] = {};
  for (unsigned m = 0; m < count; ++m) {
    uint8_t *data[32];
    uint32_t good = accessMatrix(w, i, i.arg(1), m, 0, data);
    lanes(good, [&](unsigned l) { std::memcpy(&loaded[m][l], data[l], 4); });
  }
  // All addresses are read before a register is written: they may be the same.
  for (unsigned m = 0; m < count; ++m) {
    uint16_t matrix[64], turned[64];
    std::memcpy(matrix, loaded[m], 128);
    if (i.detail)
      transposeMatrix(matrix, turned);
    std::memcpy(w.out<uint32_t>(i.op[m]), i.detail ? turned : matrix, 128);
  }
  return Step::Next;
}

Step stmatrix(Warp &w, const Instr &i, uint32_t) {
  unsigned count = i.args[1].count;
  const Op *values = &i.op[i.args[1].first];
  for (unsigned m = 0; m < count; ++m) {
    uint8_t *data[32];
    uint32_t good = accessMatrix(w, i, i.arg(0), m, AccessWrite, data);
    uint16_t matrix[64], turned[64];
    std::memcpy(matrix, w.in<uint32_t>(values[m]), 128);
    if (i.detail)
      transposeMatrix(matrix, turned);
    const uint16_t *from = i.detail ? turned : matrix;
    lanes(good, [&](unsigned l) { std::memcpy(data[l], from + 2 * l, 4); });
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
  StringRef shape = *find_if(words, [](StringRef w) { return w[0] == 'x'; });
  unsigned count = shape[1] - '0';
  const Arg &fragment = i.args[words[0] == "ldmatrix" ? 0 : 1];
  if (fragment.count != count)
    return createStringError("." + shape + " needs " + Twine(count) +
                             " registers, got " +
                             Twine(unsigned(fragment.count)));
  return Error::success();
}

} // namespace

void registerMatrix(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Shared;
  constexpr uint32_t A = TraitAligned | TraitWholeWarp;
  // Old code names the number before the shape.
  for (std::string shape :
       {".m8n8.<x1|x2|x4>[.trans]", ".<x1|x2|x4>[.trans].m8n8"}) {
    std::string rest = ".sync.aligned" + shape + "[.shared|.shared::cta].b16";
    t.add("ldmatrix" + rest, "=vb32 @", ldmatrix, K, A, decode);
    t.add("stmatrix" + rest, "@ <vb32", stmatrix, K, A, decode);
  }
  t.add("movmatrix.sync.aligned.m8n8.trans.b16", "=b32 <b32", movmatrix,
        InstrKind::WarpComm, A);
}

} // namespace linattn::sim
