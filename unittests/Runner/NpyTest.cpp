//===- NpyTest.cpp - files in and out, and what is wrong with them --------===//

#include "linattn/Runner/Npy.h"
#include "Testing.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace linattn::runner;
using linattn::testing::messageOf;

namespace {
/// A file that goes away with the test.
struct TemporaryFile {
  TemporaryFile() {
    (void)llvm::sys::fs::createTemporaryFile("linattn", "npy", path);
  }
  ~TemporaryFile() { llvm::sys::fs::remove(path); }

  void write(llvm::StringRef contents) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << contents;
  }

  std::string contents() {
    return llvm::MemoryBuffer::getFile(path)->get()->getBuffer().str();
  }

  /// The error of reading `contents`, without the path in front.
  std::string errorOf(llvm::StringRef contents) {
    write(contents);
    std::string prefix = (path + ": ").str();
    llvm::StringRef message = saved = messageOf(readNpy(path));
    EXPECT(message.consume_front(prefix));
    return message.str();
  }

  llvm::SmallString<64> path;
  std::string saved;
};
} // namespace

static Buffer make(DType type, llvm::ArrayRef<int64_t> shape) {
  return llvm::cantFail(Buffer::allocate(type, shape, "test"));
}

/// Version 1 with a header and elements as given.
static std::string npy(llvm::StringRef header, llvm::StringRef elements) {
  std::string length = {char(header.size() & 255), char(header.size() >> 8)};
  return "\x93NUMPY" + std::string("\x01\x00", 2) + length + header.str() +
         elements.str();
}

TEST(NpyRoundTrips) {
  TemporaryFile file;
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64,
                     DType::I32, DType::I64}) {
    for (Shape shape : {Shape{}, Shape{5}, Shape{2, 3, 4}, Shape{3, 0}}) {
      Buffer buffer = make(type, shape);
      for (int64_t i = 0; i < buffer.getNumElements(); ++i) {
        double value = 1.5 - i;
        if (type == DType::I32)
          buffer.as<int32_t>()[i] = -i;
        else if (type == DType::I64)
          buffer.as<int64_t>()[i] = -(i << 40);
        else
          buffer.write(i, 1, &value);
      }
      EXPECT_EQ(messageOf(writeNpy(file.path, buffer)), "");
      llvm::Expected<Buffer> read = readNpy(file.path);
      if (!EXPECT(bool(read)))
        continue;
      EXPECT(read->getShape() == buffer.getShape());
      DType want = is16Bit(type) ? DType::F32 : type;
      EXPECT_EQ(nameOf(read->getType()), nameOf(want));
      for (int64_t i = 0; i < buffer.getNumElements(); ++i) {
        if (isFloat(type))
          EXPECT_EQ(read->getFloat(i), buffer.getFloat(i));
        else
          EXPECT_EQ(read->getInt(i), buffer.getInt(i));
      }
    }
  }
}

TEST(NpyWritesWhatNumpyWrites) {
  TemporaryFile file;
  Buffer buffer = make(DType::F32, {3});
  EXPECT_EQ(messageOf(writeNpy(file.path, buffer)), "");
  std::string contents = file.contents();
  EXPECT_EQ(contents.size(), 128u + 12);
  EXPECT(llvm::StringRef(contents).substr(10).starts_with(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (3, ), }"));
  EXPECT_EQ(contents[127], '\n');
}

TEST(NpyReadsOtherVersionsAndStyles) {
  TemporaryFile file;
  std::string header = "{\"shape\":(2,),'fortran_order':False,'descr':'<i4'}";
  std::string elements("\1\0\0\0\xff\xff\xff\xff", 8);
  std::string version2 = "\x93NUMPY" + std::string("\2\0", 2) +
                         std::string{char(header.size()), 0, 0, 0} + header +
                         elements;
  for (const std::string &contents : {npy(header, elements), version2}) {
    file.write(contents);
    Buffer read = llvm::cantFail(readNpy(file.path));
    EXPECT_EQ(read.getNumElements(), 2);
    EXPECT_EQ(read.getInt(0), 1);
    EXPECT_EQ(read.getInt(1), -1);
  }
}

TEST(NpyWritesViews) {
  TemporaryFile file;
  Buffer buffer = make(DType::I32, {2, 3});
  for (int i = 0; i < 6; ++i)
    buffer.as<int32_t>()[i] = i;
  EXPECT_EQ(messageOf(writeNpy(file.path, buffer.view({3, 2}, {1, 3}))), "");
  Buffer read = llvm::cantFail(readNpy(file.path));
  int64_t want[] = {0, 3, 1, 4, 2, 5};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(read.getInt(i), want[i]);
}

TEST(NpyErrorsNameTheRuleAndTheValue) {
  TemporaryFile file;
  std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  std::string eight(8, '\0');
  EXPECT_EQ(file.errorOf("PK\3\4 not numpy"),
            "not a .npy file: it does not start with \"\\x93NUMPY\"");
  EXPECT_EQ(file.errorOf(""),
            "not a .npy file: it does not start with \"\\x93NUMPY\"");
  EXPECT_EQ(file.errorOf("\x93NUMPY\1"),
            "the file ends inside the header, at byte 7");
  EXPECT_EQ(file.errorOf(std::string("\x93NUMPY\4\0\0\0", 10)),
            "the version of the format is 1, 2 or 3, got 4");
  EXPECT_EQ(file.errorOf(npy(good, eight).substr(0, 30)),
            "the header has 55 bytes, but the file ends after 20 of them");
  EXPECT_EQ(file.errorOf(npy(good, eight).substr(0, 70)),
            "2 of <f4 has 8 bytes, but 5 follow the header");
  EXPECT_EQ(file.errorOf(npy(good, eight + "x")),
            "2 of <f4 has 8 bytes, but 9 follow the header");
  EXPECT_EQ(file.errorOf(npy("{'descr': '<f4', 'fortran_order': True, "
                             "'shape': (2,)}",
                             eight)),
            "fortran_order is False here (row-major), got True; save "
            "numpy.ascontiguousarray of it");
  for (const char *descr : {">f4", "|u1", "<c8", "<f16"})
    EXPECT_EQ(file.errorOf(npy("{'descr': '" + std::string(descr) +
                                   "', 'fortran_order': False, 'shape': (2,)}",
                               eight)),
              "the element type is one of <f2 <f4 <f8 <i4 <i8, got '" +
                  std::string(descr) + "'");
  EXPECT_EQ(file.errorOf(npy("{'descr': [('a', '<f4')], 'fortran_order': "
                             "False, 'shape': (2,)}",
                             eight)),
            "the header has no readable value for 'descr', got '[('a', "
            "'<f4')], 'for'");
  EXPECT_EQ(file.errorOf(npy("{'descr': '<f4', 'shape': (2,)}", eight)),
            "the header lacks one of descr, fortran_order, shape");
  EXPECT_EQ(file.errorOf(npy("{'descr': '<f4', 'fortran_order': False, "
                             "'shape': (-2,)}",
                             eight)),
            "the header has a negative size in 'shape', got -2");
  EXPECT_EQ(file.errorOf(npy("{'size': 3}", eight)),
            "the header has an unknown key 'size'");
  EXPECT_EQ(file.errorOf(npy(good + " x", eight)),
            "the header goes on after '}', got 'x'");
  EXPECT_EQ(file.errorOf(npy("{'descr': '<f8', 'fortran_order': False, "
                             "'shape': (4294967296, 4294967296)}",
                             eight)),
            "4294967296x4294967296 of f64 does not fit in memory");
  EXPECT_EQ(messageOf(readNpy("/nowhere/x.npy")),
            "/nowhere/x.npy: cannot be read: No such file or directory");
  EXPECT_EQ(messageOf(writeNpy("/nowhere/x.npy", make(DType::F32, {1}))),
            "/nowhere/x.npy: cannot be written: No such file or directory");
}

// No prefix and no single wrong byte of a header may do harm.
TEST(NpySurvivesTruncationAndMutation) {
  TemporaryFile file;
  std::string contents =
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}",
          std::string(8, '\1'));
  for (size_t size = 0; size < contents.size(); ++size) {
    file.write(contents.substr(0, size));
    EXPECT(messageOf(readNpy(file.path)) != "");
  }
  for (size_t i = 0; i + 8 < contents.size(); ++i) {
    for (char c : {'\0', '\xff', ' ', '(', '\'', '9'}) {
      std::string mutated = contents;
      mutated[i] = c;
      file.write(mutated);
      (void)messageOf(readNpy(file.path));
    }
  }
}
