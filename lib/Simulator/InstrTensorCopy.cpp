//===- InstrTensorCopy.cpp - cp.async.bulk.tensor -------------------------===//
//
// Boxes of tensors of 1 to 5 dimensions, described by a tensor map. In shared
// memory the box lies densely, dimension 0 innermost; a swizzle exchanges
// 16-byte pieces of each 128-byte line by the address bits above it. Elements
// outside the tensor are filled when loading and skipped when storing; all
// bytes of the box count for the mbarrier.
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Exec.h"
#include "Findings.h"
#include "Mbarrier.h"
#include "linattn/Simulator/TensorMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace linattn::sim {
namespace {

enum TensorBits { TensorStore = 1, TensorMulticast = 2, TensorHint = 4 };

struct TensorCopy {
  TensorMap map;
  std::array<int32_t, 5> at{};
  uint64_t shared, mbarrier;
  uint32_t mask;

  unsigned elementBytes() const { return tensorMapTypeBytes(map.type); }
  /// Elements of the box along a dimension. Dimension 0 has no element stride.
  unsigned extent(unsigned d) const {
    return d ? (map.box[d] + map.elementStrides[d] - 1) / map.elementStrides[d]
             : map.box[0];
  }
  uint64_t rowBytes() const { return uint64_t(map.box[0]) * elementBytes(); }
  uint64_t rows() const {
    uint64_t n = 1;
    for (unsigned d = 1; d < map.rank; ++d)
      n *= extent(d);
    return n;
  }
};

uint64_t swizzled(TensorMapSwizzle swizzle, uint64_t address) {
  uint64_t mask = (1u << unsigned(swizzle)) - 1;
  return address ^ (address >> 7 & mask) << 4;
}

Type elementType(TensorMapType type) {
  switch (type) {
  case TensorMapType::U8:
    return Type::U8;
  case TensorMapType::U16:
    return Type::U16;
  case TensorMapType::S32:
    return Type::S32;
  case TensorMapType::U64:
    return Type::U64;
  case TensorMapType::S64:
    return Type::S64;
  case TensorMapType::F16:
    return Type::F16;
  case TensorMapType::BF16:
    return Type::BF16;
  case TensorMapType::F64:
    return Type::F64;
  case TensorMapType::U32:
    return Type::U32;
  default:
    return Type::F32;
  }
}

bool isFloatMap(TensorMapType type) {
  return type >= TensorMapType::F16 || type == TensorMapType::F32;
}

/// What an H200 fills with: 0x7ff7 in every 16 bits, a NaN of each float type.
void fillNan(uint8_t *bytes, uint64_t count) {
  for (uint64_t b = 0; b < count; ++b)
    bytes[b] = b % 2 ? 0x7f : 0xf7;
}

/// The part of a row of the box that lies in the tensor.
struct Row {
  uint64_t address = 0;        ///< of its first element inside
  uint64_t first = 0, end = 0; ///< bytes of the row; equal: none
};

Row rowOf(const TensorCopy &c, uint64_t index) {
  const TensorMap &m = c.map;
  Row row;
  uint64_t address = m.address;
  for (unsigned d = 1; d < m.rank; ++d) {
    int64_t x = int64_t(c.at[d]) +
                int64_t(index % c.extent(d)) * int64_t(m.elementStrides[d]);
    index /= c.extent(d);
    if (x < 0 || uint64_t(x) >= m.dims[d])
      return row;
    address += uint64_t(x) * m.strides[d - 1];
  }
  int64_t low = std::max<int64_t>(0, -int64_t(c.at[0]));
  int64_t high = std::min<int64_t>(m.box[0], int64_t(m.dims[0]) - c.at[0]);
  if (low >= high)
    return row;
  unsigned bytes = c.elementBytes();
  row.first = low * bytes;
  row.end = high * bytes;
  row.address = address + uint64_t(int64_t(c.at[0]) + low) * bytes;
  return row;
}

constexpr uint8_t P = AccessAsyncProxy;

/// The box in shared memory, or null. Every byte of it is accessed, so one note
/// will do where the swizzle stays within whole lines.
Place locateBox(Warp &w, const Instr &i, const TensorCopy &c, unsigned lane,
                StateSpace space, uint64_t address, uint8_t flags,
                const Accessor &who) {
  uint64_t bytes = c.rows() * c.rowBytes();
  uint64_t whole = c.map.swizzle == TensorMapSwizzle::None
                       ? bytes
                       : (bytes + 127) & ~uint64_t(127);
  Place place = locate(w, i, lane, space, address, whole, flags, 128);
  if (!place.data)
    return place;
  if (whole == bytes) {
    noteAccess(who, place, address, bytes, flags);
    return place;
  }
  for (uint64_t at = 0; at < bytes; at += 16) {
    uint64_t to = swizzled(c.map.swizzle, address + at) - address;
    Place piece = place;
    piece.data += to;
    piece.offset += to;
    noteAccess(who, piece, address + to, 16, flags);
  }
  return place;
}

void performLoad(AsyncWork &work, const TensorCopy &c) {
  Warp &w = *work.issuer;
  const Instr &i = *work.instr;
  Accessor who{&w, &i, work.lane, &work};
  bool hasMask = i.detail & TensorMulticast;
  uint64_t rowBytes = c.rowBytes(), rows = c.rows();
  std::vector<uint8_t> box(rows * rowBytes);
  if (c.map.fill == TensorMapFill::Nan)
    fillNan(box.data(), box.size());
  auto &traffic = counters().asyncTraffic;
  for (uint64_t r = 0; r < rows; ++r) {
    Row row = rowOf(c, r);
    if (row.first == row.end)
      continue;
    uint64_t bytes = row.end - row.first;
    Place from = locate(w, i, work.lane, StateSpace::Global, row.address, bytes,
                        P, c.elementBytes());
    if (!from.data)
      break;
    noteAccess(who, from, row.address, bytes, P);
    std::memcpy(box.data() + r * rowBytes + row.first, from.data, bytes);
    traffic["tensor global"].read += bytes;
  }
  for (uint64_t address : multicast(w, c.shared, hasMask, c.mask)) {
    Place to = locateBox(w, i, c, work.lane, StateSpace::SharedCluster, address,
                         AccessWrite | P, who);
    if (!to.data)
      continue;
    for (uint64_t at = 0; at < box.size(); at += 16)
      std::memcpy(to.data + (swizzled(c.map.swizzle, address + at) - address),
                  box.data() + at, 16);
    traffic["tensor shared"].written += box.size();
  }
  for (uint64_t address : multicast(w, c.mbarrier, hasMask, c.mask))
    signalBytes(who, StateSpace::SharedCluster, address, box.size());
}

void performStore(AsyncWork &work, const TensorCopy &c) {
  Warp &w = *work.issuer;
  const Instr &i = *work.instr;
  Accessor reader{&w, &i, work.lane, &work};
  Accessor writer{&w, &i, work.lane, work.writes.get()};
  Reduce op = reductionOf(i);
  uint64_t rowBytes = c.rowBytes(), rows = c.rows();
  Place from =
      locateBox(w, i, c, work.lane, StateSpace::Shared, c.shared, P, reader);
  if (!from.data)
    return;
  std::vector<uint8_t> box(rows * rowBytes);
  for (uint64_t at = 0; at < box.size(); at += 16)
    std::memcpy(box.data() + at,
                from.data + (swizzled(c.map.swizzle, c.shared + at) - c.shared),
                16);
  auto &traffic = counters().asyncTraffic;
  traffic["tensor shared"].read += box.size();
  uint8_t flags = AccessWrite | P | (op != Reduce::None ? AccessAtomic : 0);
  for (uint64_t r = 0; r < rows; ++r) {
    Row row = rowOf(c, r);
    if (row.first == row.end)
      continue;
    uint64_t bytes = row.end - row.first;
    Place to = locate(w, i, work.lane, StateSpace::Global, row.address, bytes,
                      flags, c.elementBytes());
    if (!to.data)
      return;
    noteAccess(writer, to, row.address, bytes, flags);
    const uint8_t *source = box.data() + r * rowBytes + row.first;
    if (op == Reduce::None)
      std::memcpy(to.data, source, bytes);
    else
      reduceElements(op, elementType(c.map.type), to.data, source, bytes);
    traffic["tensor global"].written += bytes;
  }
}

/// What the tensor map does not check, and an H200 stops at with "illegal
/// instruction": a box begins at a multiple of 16 bytes, and, though loads fill
/// what lies before the tensor, no store begins there.
void checkCoordinates(Warp &w, const Instr &i, unsigned lane,
                      const TensorCopy &c, bool isStore) {
  int64_t start = int64_t(c.at[0]) * c.elementBytes();
  if (start % 16)
    report(FindingKind::AsyncCopy, w, i, lane,
           "a box must begin at a multiple of 16 bytes, but coordinate 0 is " +
               Twine(c.at[0]) + ", which is " + Twine(start) + " bytes");
  if (!isStore)
    return;
  for (unsigned d = 0; d < c.map.rank; ++d)
    if (c.at[d] < 0)
      report(FindingKind::AsyncCopy, w, i, lane,
             "a store to a tensor takes no negative coordinates, but "
             "coordinate " +
                 Twine(d) + " is " + Twine(c.at[d]));
}

/// Reads the tensor map and the coordinates of an operand [map, {c0, ..}].
bool readMap(Warp &w, const Instr &i, unsigned lane, const Arg &arg,
             TensorCopy &c, bool isStore) {
  uint64_t address = addressOf(w, i.op[arg.first], lane);
  Place place = locate(w, i, lane, StateSpace::Generic, address, 128, 0, 64);
  if (!place.data)
    return false;
  Expected<TensorMap> map = decodeTensorMap(place.data);
  if (!map) {
    reportAt(FindingKind::AsyncCopy, w, i, lane, address,
             toString(map.takeError()));
    return false;
  }
  c.map = *map;
  unsigned rank = arg.count - 1;
  if (c.map.rank != rank) {
    reportAt(FindingKind::AsyncCopy, w, i, lane, address,
             "the tensor map has " + Twine(unsigned(c.map.rank)) +
                 " dimensions, the copy " + Twine(rank));
    return false;
  }
  for (unsigned d = 0; d < rank; ++d)
    c.at[d] = int32_t(w.read(i.op[arg.first + 1 + d], lane));
  checkCoordinates(w, i, lane, c, isStore);
  return true;
}

/// [dst], [map, {..}], [mbarrier] [, mask] [, policy]
Step load(Warp &w, const Instr &i, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    TensorCopy c{};
    if (!readMap(w, i, lane, i.args[1], c, false))
      continue;
    if (c.map.fill == TensorMapFill::Nan && !isFloatMap(c.map.type))
      c.map.fill = TensorMapFill::Zero;
    c.shared = addressOf(w, i.arg(0), lane);
    c.mbarrier = addressOf(w, i.arg(2), lane);
    c.mask = i.detail & TensorMulticast ? w.read(i.arg(3), lane) : 0;
    AsyncRef work = makeWork(w, lane, i);
    work->perform = [c](AsyncWork &work) { performLoad(work, c); };
    issueBulk(std::move(work), false);
  }
  return Step::Next;
}

/// [map, {..}], [src] [, policy]
Step store(Warp &w, const Instr &i, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = countr_zero(rest);
    TensorCopy c{};
    if (!readMap(w, i, lane, i.args[0], c, true))
      continue;
    c.shared = addressOf(w, i.arg(1), lane);
    AsyncRef work = makeWork(w, lane, i);
    work->writes = makeWork(w, lane, i);
    work->perform = [c](AsyncWork &work) { performStore(work, c); };
    issueBulk(std::move(work), true);
  }
  return Step::Next;
}

/// [map, {..}] [, policy]. Moves nothing here, but its operand is checked.
Step prefetch(Warp &w, const Instr &i, uint32_t active) {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    TensorCopy c{};
    readMap(w, i, countr_zero(rest), i.args[0], c, false);
  }
  return Step::Next;
}

Error checkRank(const Words &words, const Arg &map) {
  unsigned rank = 0;
  for (StringRef word : words)
    if (word.size() == 2 && word[1] == 'd' && isDigit(word[0]))
      rank = word[0] - '0';
  if (map.count == rank + 1)
    return Error::success();
  return createStringError("needs " + Twine(rank) + " coordinates, got " +
                           Twine(map.count - 1));
}

Error decode(Instr &i, const Words &words) {
  unsigned mapArg = is_contained(words, "bulk_group") ? 0 : 1;
  for (StringRef word : words) {
    i.detail |= word == "multicast::cluster" ? TensorMulticast : 0;
    i.detail |= word == "L2::cache_hint" ? TensorHint : 0;
  }
  unsigned want = (mapArg ? 3 : 2) + !!(i.detail & TensorMulticast) +
                  !!(i.detail & TensorHint);
  i.detail |= reductionIn(words);
  if (Error error = needsOperands(i, want))
    return error;
  return checkRank(words, i.args[mapArg]);
}

Error decodePrefetch(Instr &i, const Words &words) {
  return checkRank(words, i.args[0]);
}

Step nothing(Warp &, const Instr &, uint32_t) { return Step::Next; }

} // namespace

void registerTensorCopy(InstrTable &t) {
  constexpr InstrKind K = InstrKind::Async;
  constexpr uint32_t A = TraitAsync | TraitOwnSpaces;
  std::string dims = ".<1d|2d|3d|4d|5d>";
  std::string loads = "cp.async.bulk.tensor" + dims +
                      ".<shared::cluster|shared::cta>.global[.tile]."
                      "mbarrier::complete_tx::bytes";
  t.add(loads, "@ @ @", load, K, A, decode);
  t.add(loads + ".L2::cache_hint", "@ @ @ <b64", load, K, A, decode);
  t.add(loads + ".multicast::cluster[.L2::cache_hint]", "@ @ @ <b16 <b64?",
        load, K, A, decode);
  t.add("cp.async.bulk.tensor" + dims +
            ".global.shared::cta[.tile].bulk_group[.L2::cache_hint]",
        "@ @ <b64?", store, K, A, decode);
  t.add("cp.reduce.async.bulk.tensor" + dims +
            ".global.shared::cta.<add|min|max|inc|dec|and|or|xor>[.tile]."
            "bulk_group[.L2::cache_hint]",
        "@ @ <b64?", store, K, A, decode);
  t.add("cp.async.bulk.prefetch.tensor" + dims +
            ".L2.global[.tile][.L2::cache_hint]",
        "@ <b64?", prefetch, K, A, decodePrefetch);
  t.add("prefetch[.param].tensormap", "@", nothing, K, A);
}

} // namespace linattn::sim
