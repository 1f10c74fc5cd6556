//===- Npy.cpp - arrays in .npy files ---------------------------*- C++ -*-===//
//
// The format: "\x93NUMPY", version (2 bytes), length of the header (2 bytes,
// from version 2 on 4 bytes, little endian), the header, the elements. The
// header is a Python dictionary with the keys descr, fortran_order and shape.
//
//===----------------------------------------------------------------------===//

#include "linattn/Runner/Npy.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace linattn;
using namespace linattn::runner;
using llvm::StringRef;
using llvm::Twine;

static constexpr StringRef kMagic("\x93NUMPY", 6);

namespace {
struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<Shape> shape;
};

/// Parses the dictionary, which numpy reads as a Python literal. Each method
/// says whether it found what it looked for.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : rest(text) {}

  /// An empty string, or what is wrong.
  std::string parse(Header &header) {
    if (!consume("{"))
      return "does not start with '{'";
    while (!consume("}")) {
      std::string key;
      if (!parseString(key) || !consume(":"))
        return here("has no key and ':' where they belong");
      bool ok = false;
      if (key == "descr") {
        ok = parseString(header.descr.emplace());
      } else if (key == "fortran_order") {
        ok = parseBool(header.fortranOrder.emplace());
      } else if (key == "shape") {
        ok = parseShape(header.shape.emplace());
      } else {
        return "has an unknown key '" + key + "'";
      }
      if (negative)
        return "has a negative size in 'shape', got " +
               std::to_string(*negative);
      if (!ok)
        return here("has no readable value for '" + key + "'");
      if (!consume(",") && !rest.ltrim().starts_with("}"))
        return here("has no ',' or '}' after a value");
    }
    if (!rest.trim().empty())
      return here("goes on after '}'");
    if (!header.descr || !header.fortranOrder || !header.shape)
      return "lacks one of descr, fortran_order, shape";
    return "";
  }

private:
  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  bool parseString(std::string &value) {
    rest = rest.ltrim();
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      return false;
    size_t end = rest.find(rest[0], 1);
    if (end == StringRef::npos)
      return false;
    value = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return true;
  }

  bool parseBool(bool &value) {
    value = consume("True");
    return value || consume("False");
  }

  bool parseShape(Shape &shape) {
    if (!consume("("))
      return false;
    while (!consume(")")) {
      int64_t size;
      rest = rest.ltrim();
      StringRef digits =
          rest.take_while([](char c) { return llvm::isDigit(c) || c == '-'; });
      if (digits.getAsInteger(10, size))
        return false;
      if (size < 0)
        negative = size;
      rest = rest.drop_front(digits.size());
      (void)rest.consume_front("L"); // long integers of Python 2
      shape.push_back(size);
      if (!consume(",") && !rest.ltrim().starts_with(")"))
        return false;
    }
    return true;
  }

  std::string here(const Twine &message) {
    StringRef excerpt = rest.ltrim().take_front(20).rtrim();
    return (message + ", got '" + excerpt + "'").str();
  }

  StringRef rest;
  std::optional<int64_t> negative;
};
} // namespace

static std::optional<DType> typeOf(StringRef descr) {
  return llvm::StringSwitch<std::optional<DType>>(descr)
      .Case("<f2", DType::F16)
      .Case("<f4", DType::F32)
      .Case("<f8", DType::F64)
      .Case("<i4", DType::I32)
      .Case("<i8", DType::I64)
      .Default(std::nullopt);
}

/// Splits a file into its header's text and its elements.
static llvm::Error splitFile(StringRef path, StringRef contents,
                             StringRef &header, StringRef &elements) {
  if (!contents.starts_with(kMagic))
    return usageError(path + ": not a .npy file: it does not start with "
                             "\"\\x93NUMPY\"");
  if (contents.size() < 10)
    return usageError(path + ": the file ends inside the header, at byte " +
                      Twine(contents.size()));
  unsigned version = static_cast<unsigned char>(contents[6]);
  if (version < 1 || version > 3)
    return usageError(path + ": the version of the format is 1, 2 or 3, got " +
                      Twine(version));
  size_t start = version == 1 ? 10 : 12;
  if (contents.size() < start)
    return usageError(path + ": the file ends inside the header, at byte " +
                      Twine(contents.size()));
  size_t length = version == 1
                      ? llvm::support::endian::read16le(contents.data() + 8)
                      : llvm::support::endian::read32le(contents.data() + 8);
  if (contents.size() < start + length)
    return usageError(path + ": the header has " + Twine(length) +
                      " bytes, but the file ends after " +
                      Twine(contents.size() - start) + " of them");
  header = contents.substr(start, length);
  elements = contents.drop_front(start + length);
  return llvm::Error::success();
}

llvm::Expected<Buffer> runner::readNpy(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return usageError(path + ": cannot be read: " + file.getError().message());
  StringRef text, elements;
  if (llvm::Error error = splitFile(path, (*file)->getBuffer(), text, elements))
    return error;

  Header header;
  std::string problem = HeaderParser(text).parse(header);
  if (!problem.empty())
    return usageError(path + ": the header " + problem);
  if (*header.fortranOrder)
    return usageError(path + ": fortran_order is False here (row-major), got "
                             "True; save numpy.ascontiguousarray of it");
  std::optional<DType> type = typeOf(*header.descr);
  if (!type)
    return usageError(
        path + ": the element type is one of <f2 <f4 <f8 <i4 <i8, got '" +
        *header.descr + "'");

  llvm::Expected<Buffer> buffer = Buffer::allocate(*type, *header.shape, path);
  if (!buffer)
    return buffer;
  if (elements.size() != buffer->getNumBytes())
    return usageError(path + ": " + toString(*header.shape) + " of " +
                      *header.descr + " has " + Twine(buffer->getNumBytes()) +
                      " bytes, but " + Twine(elements.size()) +
                      " follow the header");
  if (!elements.empty())
    std::memcpy(buffer->getData(), elements.data(), elements.size());
  return buffer;
}

static StringRef descrOf(DType type) {
  switch (type) {
  case DType::F64:
    return "<f8";
  case DType::I32:
    return "<i4";
  case DType::I64:
    return "<i8";
  default:
    return "<f4";
  }
}

static std::string makeHeader(const Buffer &buffer) {
  std::string header;
  llvm::raw_string_ostream os(header);
  os << "{'descr': '" << descrOf(buffer.getType())
     << "', 'fortran_order': False, 'shape': (";
  for (int64_t size : buffer.getShape())
    os << size << ", ";
  os << "), }";
  // The elements start at a multiple of 64; the header ends with a newline.
  size_t total = llvm::alignTo(10 + header.size() + 1, 64);
  header.append(total - 10 - header.size() - 1, ' ');
  header.push_back('\n');
  return header;
}

llvm::Error runner::writeNpy(StringRef path, const Buffer &original) {
  Buffer buffer = original;
  if (!buffer.isContiguous()) {
    auto copy = buffer.contiguousCopy(path);
    if (!copy)
      return copy.takeError();
    buffer = *copy;
  }
  if (is16Bit(buffer.getType())) {
    auto wide = buffer.convertedTo(DType::F32, path);
    if (!wide)
      return wide.takeError();
    buffer = *wide;
  }
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return usageError(path + ": cannot be written: " + code.message());
  std::string header = makeHeader(buffer);
  char length[2];
  llvm::support::endian::write16le(length, header.size());
  os << kMagic << StringRef("\x01\x00", 2) << StringRef(length, 2) << header
     << StringRef(buffer.getData(), buffer.getNumBytes());
  os.close();
  if (os.has_error()) {
    code = os.error();
    os.clear_error();
    return usageError(path + ": cannot be written: " + code.message());
  }
  return llvm::Error::success();
}
