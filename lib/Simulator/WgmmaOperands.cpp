//===- WgmmaOperands.cpp - wgmma operands in shared memory ----------------===//

#include "Findings.h"
#include "Wgmma.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace llvm;

namespace linattn::sim {

static std::string hex(uint64_t value) { return "0x" + utohexstr(value, true); }

/// Bits 0-13: address / 16; 16-29: leading byte offset / 16; 32-45: stride byte
/// offset / 16; 49-51: base offset; 62-63: swizzle (0 none, 1 128, 2 64, 3 32
/// bytes).
SharedOperand::SharedOperand(uint64_t d, bool kMajor) : kMajor(kMajor) {
  start = (d & 0x3fff) << 4;
  leading = (d >> 16 & 0x3fff) << 4;
  stride = (d >> 32 & 0x3fff) << 4;
  base = d >> 49 & 7;
  uint32_t line[] = {16, 128, 64, 32}, masks[] = {0, 7, 3, 1};
  rowPitch = line[d >> 62];
  swizzleMask = masks[d >> 62];
  patternBytes = swizzleMask ? 8 * rowPitch : 0;
  // Without a swizzle, 8 pieces of 16 bytes follow one another; the leading
  // offset leads along k. With one, a line holds several pieces along the
  // contiguous dimension; the stride leads to the next 8 lines and, not
  // k-major, the leading offset to the next line's worth of pieces.
  if (!swizzleMask) {
    kStep = leading;
    outer = leading;
    across = stride;
  } else {
    outer = stride;
    span = rowPitch / 16;
    across = leading;
  }
}

static void listPieces(const SharedOperand &operand, unsigned firstRow,
                       unsigned rows, unsigned k, std::vector<uint32_t> &out) {
  if (operand.kMajor) {
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < 2; ++c)
        out.push_back(operand.piece(firstRow + r, c));
    return;
  }
  for (unsigned j = 0; j < k; ++j)
    for (unsigned c = 0; c < rows / 8; ++c)
      out.push_back(operand.piece(j, firstRow / 8 + c));
}

static bool checkOperand(const Accessor &who, const SharedOperand &operand,
                         const char *name,
                         const std::vector<uint32_t> &pieces) {
  Warp &w = *who.warp;
  if (operand.patternBytes &&
      ((operand.start >> 7) & operand.swizzleMask) != operand.base)
    reportAt(FindingKind::Misaligned, w, *who.instr, who.lane, operand.start,
             Twine("the descriptor of ") + name + " starts at " +
                 hex(operand.start) + ", not at a multiple of its swizzle's " +
                 Twine(operand.patternBytes) +
                 "-byte pattern, and its base offset is " +
                 Twine(operand.base));
  uint32_t low = ~0u, high = 0;
  for (uint32_t at : pieces) {
    low = std::min(low, at);
    high = std::max(high, at + 16);
  }
  uint32_t end = sharedBase + w.block.sharedBytes();
  if (low >= sharedBase && high <= end)
    return true;
  reportAt(FindingKind::OutOfBounds, w, *who.instr, who.lane, operand.start,
           Twine("the descriptor of ") + name + " (start " +
               hex(operand.start) + ", leading offset " +
               Twine(operand.leading) + ", stride offset " +
               Twine(operand.stride) + ") reaches from " + hex(low) + " to " +
               hex(high) + ", the block's shared memory from " +
               hex(sharedBase) + " to " + hex(end));
  return false;
}

WgmmaPieces findPieces(const Accessor &who, const WgmmaShape &shape,
                       uint64_t descA, uint64_t descB) {
  WgmmaPieces pieces;
  if (!shape.registerA) {
    SharedOperand a(descA, !shape.transposeA);
    listPieces(a, who.warp->index % 4 * matrixRows, matrixRows, shape.k,
               pieces.a);
    pieces.good &= checkOperand(who, a, "A", pieces.a);
  }
  SharedOperand b(descB, !shape.transposeB);
  listPieces(b, 0, shape.n, shape.k, pieces.b);
  pieces.good &= checkOperand(who, b, "B", pieces.b);
  return pieces;
}

/// Each of 16 bits four times.
static uint64_t fourfold(uint64_t x) {
  x = (x | x << 24) & 0x000000ff000000ff;
  x = (x | x << 12) & 0x000f000f000f000f;
  x = (x | x << 6) & 0x0303030303030303;
  x = (x | x << 3) & 0x1111111111111111;
  return x * 15;
}

void notePieces(const Accessor &who, const WgmmaPieces &pieces) {
  // Pieces that are neighbours in memory are one access.
  constexpr unsigned count = (maxSharedBytes + 16) / 16;
  static thread_local uint64_t marks[count / 64 + 2];
  uint32_t low = count, high = 0;
  for (const std::vector<uint32_t> *list : {&pieces.a, &pieces.b})
    for (uint32_t at : *list) {
      uint32_t index = (at - sharedBase) / 16;
      marks[index / 64] |= uint64_t(1) << (index % 64);
      low = std::min(low, index / 64);
      high = std::max(high, index / 64);
    }
  SmallVector<std::pair<uint32_t, uint64_t>, 64> pages;
  static_assert(shadowPageBytes == 256, "16 pieces of 16 bytes a page");
  for (uint32_t word = low; word <= high && low < count; ++word) {
    for (unsigned quarter = 0; quarter < 4; ++quarter)
      if (uint64_t bits = marks[word] >> 16 * quarter & 0xffff)
        pages.push_back({word * 4 + quarter, fourfold(bits)});
    marks[word] = 0;
  }
  noteSharedReads(who, who.warp->block, pages, AccessAsyncProxy);
}

static void negateAll(float *values, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    values[i] = -values[i];
}

void decodeA(const Block &block, const WgmmaShape &shape,
             const WgmmaPieces &pieces, float *a) {
  const uint8_t *shared = block.shared.data() - sharedBase;
  unsigned k = shape.k, perPiece = k / 2;
  const uint32_t *at = pieces.a.data();
  if (!shape.transposeA) {
    for (unsigned r = 0; r < matrixRows; ++r)
      for (unsigned c = 0; c < 2; ++c)
        decodeChunk(shape.format, shared + *at++, a + r * k + c * perPiece);
  } else {
    for (unsigned j = 0; j < k; ++j)
      for (unsigned c = 0; c < 2; ++c) {
        float part[8];
        decodeChunk(shape.format, shared + *at++, part);
        for (unsigned r = 0; r < 8; ++r)
          a[(8 * c + r) * k + j] = part[r];
      }
  }
  if (shape.negateA)
    negateAll(a, matrixRows * k);
}

void decodeB(const Block &block, const WgmmaShape &shape,
             const WgmmaPieces &pieces, float *b) {
  const uint8_t *shared = block.shared.data() - sharedBase;
  unsigned n = shape.n;
  const uint32_t *at = pieces.b.data();
  if (shape.transposeB) {
    for (unsigned j = 0; j < shape.k; ++j)
      for (unsigned c = 0; c < n / 8; ++c)
        decodeRowOfColumns(shape.format, shared + *at++, b + j * n + 8 * c);
  } else if (shape.format == MatrixFormat::TF32) {
    for (unsigned column = 0; column < n; ++column)
      for (unsigned c = 0; c < 2; ++c) {
        float part[4];
        decodeChunk(shape.format, shared + *at++, part);
        for (unsigned j = 0; j < 4; ++j)
          b[(4 * c + j) * n + column / 8 * 8 + columnPlace(column % 8)] =
              part[j];
      }
  } else {
    for (unsigned group = 0; group < n / 8; ++group, at += 16)
      for (unsigned c = 0; c < 2; ++c) {
        const uint8_t *rows[8];
        for (unsigned r = 0; r < 8; ++r)
          rows[r] = shared + at[2 * r + c];
        decodeColumns(shape.format, rows, b + 8 * c * n + 8 * group, n);
      }
  }
  if (shape.negateB)
    negateAll(b, n * shape.k);
}

} // namespace linattn::sim
