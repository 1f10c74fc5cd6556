//===- Scalar.cpp - element types and their conversions ---------*- C++ -*-===//

#include "linattn/Runner/Scalar.h"

#include <cfloat>

using namespace linattn;
using namespace linattn::runner;

llvm::StringRef runner::nameOf(DType type) {
  switch (type) {
  case DType::F16:
    return "f16";
  case DType::BF16:
    return "bf16";
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::I32:
    return "i32";
  case DType::I64:
    return "i64";
  }
  return "";
}

double runner::roundTo(DType type, double value) {
  switch (type) {
  case DType::F16:
    return f16ToFloat(doubleToF16(value));
  case DType::BF16:
    return bf16ToFloat(doubleToBF16(value));
  case DType::F32:
    return static_cast<float>(value);
  default:
    return value;
  }
}

double runner::smallestNormal(DType type) {
  switch (type) {
  case DType::F16:
    return 0x1p-14;
  case DType::F64:
    return DBL_MIN;
  default:
    return FLT_MIN;
  }
}
