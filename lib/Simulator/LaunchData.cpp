//===- LaunchData.cpp - Buffers of launch files ---------------------------===//

#include "LaunchData.h"
#include "HalfFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace linattn::sim {

unsigned elementTypeBytes(StringRef type) {
  return StringSwitch<unsigned>(type)
      .Cases({"u8", "s8"}, 1)
      .Cases({"u16", "s16", "f16", "bf16"}, 2)
      .Cases({"u32", "s32", "f32"}, 4)
      .Cases({"u64", "s64", "f64"}, 8)
      .Default(0);
}

unsigned LaunchBuffer::elementBytes() const { return elementTypeBytes(type); }
uint64_t LaunchBuffer::elements() const {
  uint64_t n = 1;
  for (int64_t extent : shape)
    n *= extent;
  return n;
}

void setElement(StringRef type, uint8_t *at, double value) {
  if (type == "f64") {
    std::memcpy(at, &value, 8);
  } else if (type == "f32") {
    float f = float(value);
    std::memcpy(at, &f, 4);
  } else if (type == "f16" || type == "bf16") {
    uint16_t bits = uint16_t(
        roundTo(type == "f16" ? formatF16 : formatBF16, value, Rounding::RN));
    std::memcpy(at, &bits, 2);
  } else if (type == "u64") {
    uint64_t bits = value >= 0x1p64 ? ~uint64_t(0)
                    : value > 0     ? uint64_t(value)
                                    : 0;
    std::memcpy(at, &bits, 8);
  } else {
    int64_t bits = value >= 0x1p63    ? INT64_MAX
                   : value <= -0x1p63 ? INT64_MIN
                   : value == value   ? int64_t(value)
                                      : 0;
    std::memcpy(at, &bits, elementTypeBytes(type));
  }
}

double elementValue(StringRef type, const uint8_t *at) {
  unsigned bytes = elementTypeBytes(type);
  uint64_t bits = 0;
  std::memcpy(&bits, at, bytes);
  if (type == "f64") {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  if (type == "f32")
    return toDouble(formatF32, bits);
  if (type == "f16")
    return toDouble(formatF16, bits);
  if (type == "bf16")
    return toDouble(formatBF16, bits);
  if (type[0] == 'u')
    return double(bits);
  return double(int64_t(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
}

uint64_t randomBits(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double randomElement(StringRef type, uint64_t seed, uint64_t i, double low,
                     double high) {
  uint64_t r = randomBits(seed, i);
  if (type[0] == 'f' || type[0] == 'b')
    return low + double(r >> 11) * 0x1p-53 * (high - low);
  uint64_t span = uint64_t(high - low) + 1;
  return low + double(span ? r % span : r);
}

bool specialNumber(StringRef text, double &out) {
  int kind = StringSwitch<int>(text)
                 .Case("inf", 0)
                 .Case("-inf", 1)
                 .Case("nan", 2)
                 .Case("-0", 3)
                 .Default(-1);
  if (kind < 0)
    return false;
  double values[] = {HUGE_VAL, -HUGE_VAL, NAN, -0.0};
  out = values[kind];
  return true;
}

bool parseTiming(StringRef text, AsyncTiming &out) {
  int kind = StringSwitch<int>(text)
                 .Case("earliest", 0)
                 .Case("latest", 1)
                 .Case("random", 2)
                 .Default(-1);
  if (kind >= 0)
    out = AsyncTiming(kind);
  return kind >= 0;
}

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

static StringRef npyType(StringRef type) {
  return StringSwitch<StringRef>(type)
      .Case("u8", "|u1")
      .Case("s8", "|i1")
      .Cases({"u16", "bf16"}, "<u2")
      .Case("s16", "<i2")
      .Case("f16", "<f2")
      .Case("u32", "<u4")
      .Case("s32", "<i4")
      .Case("f32", "<f4")
      .Case("u64", "<u8")
      .Case("s64", "<i8")
      .Default("<f8");
}

std::string toNpy(StringRef type, ArrayRef<int64_t> shape,
                  ArrayRef<uint8_t> bytes) {
  std::string header = "{'descr': '" + npyType(type).str() +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : shape)
    header += std::to_string(extent) + ",";
  header += "), }";
  while ((10 + header.size() + 1) % 64)
    header += ' ';
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += char(header.size() & 0xff);
  out += char(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  return out;
}

bool readNpy(StringRef directory, StringRef file, LaunchBuffer &buffer,
             std::string &error) {
  SmallString<256> path(file);
  if (sys::path::is_relative(file)) {
    path = directory;
    sys::path::append(path, file);
  }
  auto data = MemoryBuffer::getFile(path);
  if (!data) {
    error = "cannot read '" + file.str() + "': " + data.getError().message();
    return false;
  }
  StringRef text = (*data)->getBuffer();
  error = "'" + file.str() + "' is no .npy file of version 1";
  if (text.size() < 10 || !text.starts_with("\x93NUMPY\x01"))
    return false;
  size_t headerSize = uint8_t(text[8]) | size_t(uint8_t(text[9])) << 8;
  if (text.size() < 10 + headerSize)
    return false;
  StringRef header = text.substr(10, headerSize);
  StringRef descr =
      header.split("'descr':").second.split('\'').second.split('\'').first;
  if (descr != npyType(buffer.type)) {
    error = "'" + file.str() + "' holds '" + descr.str() + "', needed is '" +
            npyType(buffer.type).str() + "'";
    return false;
  }
  if (header.contains("'fortran_order': True")) {
    error = "'" + file.str() + "' is in Fortran order";
    return false;
  }
  StringRef body = text.drop_front(10 + headerSize);
  if (body.size() != buffer.bytes.size()) {
    error = "'" + file.str() + "' holds " + std::to_string(body.size()) +
            " bytes, the buffer " + std::to_string(buffer.bytes.size());
    return false;
  }
  std::memcpy(buffer.bytes.data(), body.data(), body.size());
  error.clear();
  return true;
}

//===----------------------------------------------------------------------===//
// Recorded outputs
//===----------------------------------------------------------------------===//

json::Value outputsToJSON(const LaunchFile &launch,
                          const LaunchResult &result) {
  json::Object all;
  for (unsigned i = 0; i < launch.buffers.size(); ++i) {
    const LaunchBuffer &b = launch.buffers[i];
    if (!b.isOutput)
      continue;
    json::Array shape;
    for (int64_t extent : b.shape)
      shape.push_back(extent);
    all[b.name] = json::Object{{"type", b.type},
                               {"shape", std::move(shape)},
                               {"bits", toHex(result.outputs[i], true)}};
  }
  return all;
}

static bool close(double a, double b, const LaunchBuffer &buffer) {
  if (a == b || (a != a && b != b))
    return true;
  double difference = std::fabs(a - b);
  return difference <= buffer.absolute ||
         difference <= buffer.tolerance * std::max(std::fabs(a), std::fabs(b));
}

Error compareOutputs(const LaunchFile &launch, const LaunchResult &result,
                     const json::Value &expected) {
  const json::Object *all = expected.getAsObject();
  if (!all)
    return createStringError("the expected outputs are no object");
  for (unsigned i = 0; i < launch.buffers.size(); ++i) {
    const LaunchBuffer &b = launch.buffers[i];
    if (!b.isOutput)
      continue;
    const json::Object *entry = all->getObject(b.name);
    std::string bits;
    if (!entry || !entry->getString("bits") ||
        !tryGetFromHex(*entry->getString("bits"), bits) ||
        bits.size() != result.outputs[i].size())
      return createStringError("no expected bits of the right size for '" +
                               b.name + "'");
    unsigned size = b.elementBytes();
    uint64_t wrong = 0, first = 0;
    for (uint64_t k = 0; k < b.elements(); ++k) {
      const uint8_t *got = result.outputs[i].data() + k * size;
      const uint8_t *want =
          reinterpret_cast<const uint8_t *>(bits.data()) + k * size;
      if (!std::memcmp(got, want, size))
        continue;
      if ((b.tolerance > 0 || b.absolute > 0) &&
          close(elementValue(b.type, got), elementValue(b.type, want), b))
        continue;
      if (!wrong++)
        first = k;
    }
    if (wrong) {
      ArrayRef<uint8_t> got(result.outputs[i].data() + first * size, size);
      StringRef want(bits.data() + first * size, size);
      return createStringError(
          "output '" + b.name + "' differs in " + Twine(wrong) + " of " +
          Twine(b.elements()) + " elements; element " + Twine(first) + " is " +
          std::to_string(elementValue(b.type, got.data())) + " (bytes " +
          toHex(got, true) + "), expected " +
          std::to_string(elementValue(b.type, want.bytes_begin())) +
          " (bytes " + toHex(want, true) + ")");
    }
  }
  return Error::success();
}

} // namespace linattn::sim
