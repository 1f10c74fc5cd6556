//===- TensorMaps.cpp - descriptions for bulk tensor copies ---------------===//

#include "linattn/Runtime/Function.h"

using namespace linattn;
using namespace linattn::runtime;

static cuda::TensorMapType typeOf(const TensorMapDescription &map) {
  switch (map.dtype) {
  case LINATTN_F16:
    return cuda::MapF16;
  case LINATTN_BF16:
    return cuda::MapBF16;
  case LINATTN_F32:
    return map.tf32 ? cuda::MapTF32 : cuda::MapF32;
  case LINATTN_F64:
    return cuda::MapF64;
  case LINATTN_I32:
    return cuda::MapI32;
  case LINATTN_I64:
    return cuda::MapI64;
  default:
    return cuda::MapU8;
  }
}

/// A buffer of the workspace as a row-major tensor.
static linattn_tensor tensorOf(const Binding &binding, Operand operand) {
  if (operand.kind != Operand::Workspace)
    return binding.tensor(operand);
  const WorkspaceBuffer &buffer = binding.description.workspace[operand.index];
  int64_t shape[LINATTN_MAX_RANK] = {};
  for (size_t i = 0; i < buffer.shape.size(); ++i)
    shape[i] = binding.evaluate(buffer.shape[i]);
  return linattn_make_tensor(reinterpret_cast<void *>(binding.address(operand)),
                             buffer.dtype, int32_t(buffer.shape.size()), shape);
}

cuda::TensorMap
linattn::runtime::encodeTensorMap(Driver &driver, const Binding &binding,
                                  const TensorMapDescription &map) {
  cuda::TensorMap result = {};
  if (binding.isAbsent(map.tensor))
    return result;
  if (!driver.cuTensorMapEncodeTiled)
    throw Error(LINATTN_ERROR_UNSUPPORTED,
                binding.description.name +
                    ": tensor maps need a driver of CUDA 12.0 or newer");
  linattn_tensor tensor = tensorOf(binding, map.tensor);
  int64_t width = linattn_dtype_bytes(tensor.dtype);
  std::string quoted = "'" + map.tensorName + "'";
  uint64_t sizes[5], strides[5];
  uint32_t steps[5];
  int rank = int(map.dimensions.size());
  for (int i = 0; i < rank; ++i) {
    int dim = map.dimensions[i];
    int64_t size = tensor.sizes[dim], stride = tensor.strides[dim];
    if (size > int64_t(1) << 32)
      binding.refuse(text("dimension ", dim, " of ", quoted,
                          " is at most 2^32 for bulk copies, got ", size));
    // A map has no empty dimension; nothing of it is read then.
    sizes[i] = size > 0 ? uint64_t(size) : 1;
    steps[i] = 1;
    if (i == 0) {
      if (size > 1 && stride != 1)
        binding.refuse(text("stride ", dim, " of ", quoted,
                            " is 1 for bulk copies, got ", stride));
      continue;
    }
    // The stride of a dimension of size 1 may be anything.
    if (size <= 1)
      stride = 16 / width > 0 ? 16 / width : 1;
    int64_t bytes = stride * width;
    if (stride < 0 || bytes % 16 != 0 || bytes >= int64_t(1) << 40)
      binding.refuse(text("stride ", dim, " of ", quoted,
                          " is a multiple of 16 bytes below 2^40 for bulk "
                          "copies, got ",
                          stride, " elements of ", width, " bytes"));
    strides[i - 1] = uint64_t(bytes);
  }
  if (reinterpret_cast<uint64_t>(tensor.data) % 16 != 0)
    binding.refuse(text(quoted,
                        " begins at a multiple of 16 bytes for bulk copies, "
                        "got 0x",
                        std::hex, reinterpret_cast<uint64_t>(tensor.data)));
  auto log2 = [](int bytes, int first) {
    int result = 0;
    for (; bytes >= first; bytes /= 2)
      ++result;
    return result;
  };
  LINATTN_DRIVER_CALL(
      driver, cuTensorMapEncodeTiled, &result, typeOf(map), uint32_t(rank),
      tensor.data, sizes, strides, map.box.data(), steps, /*interleave=*/0,
      log2(map.swizzle, 32), log2(map.promotion, 64), map.fillNaN);
  return result;
}
