//===- TensorMap.cpp - Descriptions of tensors for bulk tensor copies -----===//

#include "linattn/Simulator/TensorMap.h"
#include "llvm/ADT/Twine.h"
#include <cstring>

using namespace llvm;

namespace linattn::sim {

namespace {
constexpr uint64_t magic = 0x70616d54'6d6973ff; // "..simTmap"

/// The 128 bytes.
struct Packed {
  uint64_t magic;
  uint64_t address;
  uint64_t dims[5];
  uint64_t strides[4];
  uint16_t box[5];
  uint8_t elementStrides[5];
  uint8_t type, interleave, swizzle, fill, rank;
  uint8_t padding[20];
};
static_assert(sizeof(Packed) == 128);
} // namespace

unsigned tensorMapTypeBytes(TensorMapType type) {
  switch (type) {
  case TensorMapType::U8:
    return 1;
  case TensorMapType::U16:
  case TensorMapType::F16:
  case TensorMapType::BF16:
    return 2;
  case TensorMapType::U64:
  case TensorMapType::S64:
  case TensorMapType::F64:
    return 8;
  default:
    return 4;
  }
}

static Error bad(const Twine &message) {
  return createStringError("tensor map: " + message);
}

Expected<TensorMapHandle> encodeTensorMap(const TensorMap &map) {
  if (map.rank < 1 || map.rank > 5)
    return bad("the rank must be 1 to 5, got " + Twine(unsigned(map.rank)));
  if (map.interleave != TensorMapInterleave::None)
    return bad("interleaved layouts are not supported");
  if (map.type > TensorMapType::TF32Ftz)
    return bad("unknown data type " + Twine(unsigned(map.type)));
  if (map.swizzle > TensorMapSwizzle::B128)
    return bad("unknown swizzle " + Twine(unsigned(map.swizzle)));
  if (map.address % 16)
    return bad("the address must be a multiple of 16");
  unsigned bytes = tensorMapTypeBytes(map.type);
  Packed packed{};
  packed.magic = magic;
  packed.address = map.address;
  packed.type = uint8_t(map.type);
  packed.interleave = uint8_t(map.interleave);
  packed.swizzle = uint8_t(map.swizzle);
  packed.fill = uint8_t(map.fill);
  packed.rank = map.rank;
  for (unsigned d = 0; d < map.rank; ++d) {
    if (map.dims[d] == 0 || map.dims[d] > (uint64_t(1) << 32))
      return bad("dimension " + Twine(d) + " must be 1 to 2^32, got " +
                 Twine(map.dims[d]));
    if (map.box[d] == 0 || map.box[d] > 256)
      return bad("box dimension " + Twine(d) + " must be 1 to 256, got " +
                 Twine(map.box[d]));
    if (map.elementStrides[d] == 0 || map.elementStrides[d] > 8)
      return bad("element stride " + Twine(d) + " must be 1 to 8, got " +
                 Twine(map.elementStrides[d]));
    if (d > 0 &&
        (map.strides[d - 1] % 16 || map.strides[d - 1] >= (uint64_t(1) << 40)))
      return bad("stride " + Twine(d) +
                 " must be a multiple of 16 bytes and less than 2^40, got " +
                 Twine(map.strides[d - 1]));
    packed.dims[d] = map.dims[d];
    packed.box[d] = map.box[d];
    packed.elementStrides[d] = map.elementStrides[d];
    if (d > 0)
      packed.strides[d - 1] = map.strides[d - 1];
  }
  uint64_t inner = uint64_t(map.box[0]) * bytes;
  if (inner % 16)
    return bad(
        "the box's first dimension must be a multiple of 16 bytes, got " +
        Twine(inner));
  unsigned limit = 16u << unsigned(map.swizzle);
  if (map.swizzle != TensorMapSwizzle::None && inner > limit)
    return bad("the box's first dimension has " + Twine(inner) +
               " bytes, the swizzle allows " + Twine(limit));
  TensorMapHandle handle;
  std::memcpy(handle.data(), &packed, sizeof(packed));
  return handle;
}

Expected<TensorMap> decodeTensorMap(const uint8_t *handle) {
  Packed packed;
  std::memcpy(&packed, handle, sizeof(packed));
  if (packed.magic != magic)
    return bad("the 128 bytes are no tensor map");
  TensorMap map;
  map.type = TensorMapType(packed.type);
  map.interleave = TensorMapInterleave(packed.interleave);
  map.swizzle = TensorMapSwizzle(packed.swizzle);
  map.fill = TensorMapFill(packed.fill);
  map.rank = packed.rank;
  map.address = packed.address;
  for (unsigned d = 0; d < 5; ++d) {
    map.dims[d] = packed.dims[d];
    map.box[d] = packed.box[d];
    map.elementStrides[d] = packed.elementStrides[d];
    if (d < 4)
      map.strides[d] = packed.strides[d];
  }
  return map;
}

} // namespace linattn::sim
