//===- Rows.cpp - which rows belong to which sequence -----------*- C++ -*-===//

#include "linattn/Runner/Rows.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace linattn;
using namespace linattn::runner;
using llvm::Twine;

static std::vector<int64_t> toVector(const Buffer &buffer) {
  std::vector<int64_t> values(buffer.getNumElements());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = buffer.getInt(i);
  return values;
}

static int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// Row r of a packed array belongs to sequence n for first(n) <= r < last(n).
template <typename RowRange>
static void assignPacked(RowMap &map, int64_t numSequences,
                         llvm::ArrayRef<int64_t> slots, int64_t padding,
                         RowRange range) {
  std::fill(map.sequence.begin(), map.sequence.end(), -1);
  for (int64_t n = 0; n < numSequences; ++n) {
    if (!slots.empty() && slots[n] == padding)
      continue;
    auto [first, last] = range(n);
    for (int64_t r = first; r < last && r < int64_t(map.sequence.size()); ++r)
      map.sequence[r] = n;
  }
}

RowMap runner::mapRows(const RowLayout &layout, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<Buffer> inputs) {
  std::vector<int64_t> offsets, slots;
  if (layout.sequences.seqlens >= 0)
    offsets = toVector(inputs[layout.sequences.seqlens]);
  if (layout.sequences.slots >= 0)
    slots = toVector(inputs[layout.sequences.slots]);
  int64_t padding = layout.sequences.padding;

  RowMap map;
  size_t rowDims = layout.layout == Layout::Other    ? 0
                   : layout.layout == Layout::Tokens ? 2
                                                     : 1;
  map.sequence.assign(product(shape.take_front(rowDims)), 0);
  map.rowSize = product(shape.drop_front(rowDims));
  int64_t numPacked = int64_t(offsets.size()) - 1;
  switch (layout.layout) {
  case Layout::Tokens:
    map.numSequences = shape[0];
    for (auto [r, sequence] : llvm::enumerate(map.sequence)) {
      int64_t b = int64_t(r) / shape[1];
      sequence = !slots.empty() && slots[b] == padding ? -1 : b;
    }
    break;
  case Layout::PackedTokens:
    if (numPacked < 0)
      break; // offsets computed inside: all rows count as one sequence
    map.numSequences = numPacked;
    assignPacked(map, numPacked, slots, padding, [&](int64_t n) {
      return std::pair(offsets[n], offsets[n + 1]);
    });
    break;
  case Layout::PackedSnapshots:
    if (numPacked < 0)
      break;
    map.numSequences = numPacked;
    assignPacked(map, numPacked, slots, padding, [&](int64_t n) {
      int64_t first = offsets[n] / layout.every + n;
      int64_t count =
          llvm::divideCeil(offsets[n + 1] - offsets[n], layout.every);
      return std::pair(first, first + count);
    });
    break;
  case Layout::States:
  case Layout::Pool:
    map.numSequences = shape[0];
    for (auto [r, sequence] : llvm::enumerate(map.sequence))
      sequence = layout.layout == Layout::Pool && layout.sequences.slots >= 0
                     ? -1
                     : int64_t(r);
    if (layout.layout == Layout::Pool)
      for (int64_t slot : slots)
        if (slot >= 0 && slot < shape[0])
          map.sequence[slot] = slot;
    break;
  case Layout::Other:
    break;
  }
  return map;
}

llvm::Error runner::checkSeqlens(const Buffer &seqlens, llvm::StringRef name,
                                 std::optional<int64_t> rows) {
  std::vector<int64_t> offsets = toVector(seqlens);
  if (offsets.empty())
    return usageError("seqlens '" + name + "' have N + 1 elements, got none");
  if (offsets[0] != 0)
    return usageError("seqlens '" + name + "' start at 0, got " +
                      Twine(offsets[0]));
  for (size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] < offsets[i - 1])
      return usageError("seqlens '" + name + "' do not decrease, got " +
                        Twine(offsets[i - 1]) + " before " + Twine(offsets[i]) +
                        " at element " + Twine(i));
  if (rows && offsets.back() > *rows)
    return usageError("seqlens '" + name +
                      "' do not pass the rows of their tokens, " +
                      Twine(*rows) + ", got " + Twine(offsets.back()));
  return llvm::Error::success();
}

llvm::Error runner::checkSlots(const Buffer &slots, llvm::StringRef name,
                               int64_t padding,
                               std::optional<int64_t> poolSize) {
  std::map<int64_t, size_t> seen;
  for (auto [i, slot] : llvm::enumerate(toVector(slots))) {
    if (slot == padding)
      continue;
    if (slot < 0 || (poolSize && slot >= *poolSize))
      return usageError("slots '" + name + "' are the padding " +
                        Twine(padding) + " or a state of the pool, 0 to " +
                        (poolSize ? Twine(*poolSize - 1) : Twine("P - 1")) +
                        ", got " + Twine(slot) + " at element " + Twine(i));
    auto [it, inserted] = seen.try_emplace(slot, i);
    if (!inserted)
      return usageError("slots '" + name + "' name a state once, got " +
                        Twine(slot) + " at elements " + Twine(it->second) +
                        " and " + Twine(i));
  }
  return llvm::Error::success();
}
