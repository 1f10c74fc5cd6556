//===- TensorMap.h - Descriptions of tensors for bulk tensor copies -------===//
//
// The driver's encoding of a tensor map is opaque. Here the 128 bytes that a
// kernel receives hold the parameters themselves, behind a magic number.
//
//===----------------------------------------------------------------------===//

#ifndef LINATTN_SIMULATOR_TENSORMAP_H
#define LINATTN_SIMULATOR_TENSORMAP_H

#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>

namespace linattn::sim {

/// Numbered as the driver's CUtensorMapDataType.
enum class TensorMapType : uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz
};
enum class TensorMapInterleave : uint8_t { None, B16, B32 };
enum class TensorMapSwizzle : uint8_t { None, B32, B64, B128 };
enum class TensorMapFill : uint8_t { Zero, Nan };

unsigned tensorMapTypeBytes(TensorMapType type);

/// The parameters of cuTensorMapEncodeTiled. Dimension 0 is the contiguous one;
/// strides are in bytes and start with dimension 1.
struct TensorMap {
  TensorMapType type = TensorMapType::F32;
  TensorMapInterleave interleave = TensorMapInterleave::None;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  TensorMapFill fill = TensorMapFill::Zero;
  uint8_t rank = 1;
  uint64_t address = 0;
  std::array<uint64_t, 5> dims{};
  std::array<uint64_t, 4> strides{};
  std::array<uint32_t, 5> box{};
  std::array<uint32_t, 5> elementStrides{1, 1, 1, 1, 1};
};

using TensorMapHandle = std::array<uint8_t, 128>;

/// Checks the rules of cuTensorMapEncodeTiled and packs the map.
llvm::Expected<TensorMapHandle> encodeTensorMap(const TensorMap &map);
/// An error when the bytes were not made by encodeTensorMap.
llvm::Expected<TensorMap> decodeTensorMap(const uint8_t *handle);

} // namespace linattn::sim

#endif // LINATTN_SIMULATOR_TENSORMAP_H
