//===- OverlapTest.cpp - operands that share memory -----------------------===//
//
// What is written shares no byte with another operand; views of one buffer may
// interleave.
//
//===----------------------------------------------------------------------===//

#include "linattn/Runtime/Overlap.h"
#include "Runtime/Artifacts.h"
#include "Runtime/Kernels.h"
#include "Testing.h"

#include <random>
#include <set>

using namespace linattn::testing;

// A state that is read and one that is written; what it launches does not
// matter.
static const char *const kStatesJSON = R"({
  "format": "linattn", "version": 1, "name": "f", "target": "sm_80",
  "arguments": [
    {"name": "s0", "dtype": "f32", "shape": ["N", 4], "strides": ["free", 1]}],
  "results": [
    {"name": "sT", "dtype": "f32", "shape": ["N", 4], "strides": ["free", 1]},
    {"name": "o", "dtype": "bf16", "shape": ["N"], "strides": ["free"]}],
  "workspace": [{"name": "scratch", "dtype": "f32", "shape": ["N"]}],
  "launches": [
    {"kernel": "nothing", "grid": [1], "block": [1], "parameters": [
      {"kind": "size", "size": "N", "type": "s32"},
      {"kind": "pointer", "tensor": "sT"}]}]
})";

namespace {
struct Call {
  std::string run(const linattn_workspace *workspace = nullptr) {
    return message(linattn_call(loaded.function(), &s0, 1, results, 2,
                                workspace, nullptr));
  }
  void *at(int64_t bytes) const {
    return static_cast<char *>(buffer.data) + bytes;
  }

  Loaded loaded{kStatesJSON, kScaleAddPTX};
  Memory buffer{4096};
  linattn_tensor s0 = tensor(at(0), LINATTN_F32, {3, 4});
  linattn_tensor results[2] = {tensor(at(1024), LINATTN_F32, {3, 4}),
                               tensor(at(2048), LINATTN_BF16, {3})};
};
} // namespace

static bool sharesWith(const std::string &message, const std::string &written,
                       const std::string &other) {
  return llvm::StringRef(message).starts_with(
      "f: " + written +
      " is written, so it has memory of its own, got that "
      "of " +
      other + " (0x");
}

TEST(RuntimeRefusesSharedMemory) {
  useDevice();
  Call call;
  EXPECT_EQ(call.run(), "");
  // The whole of the state, a part of it from either side, one element.
  for (int64_t bytes : {0, 16, 44}) {
    call.results[0].data = call.at(bytes);
    EXPECT(sharesWith(call.run(), "'sT'", "'s0'"));
  }
  call.results[0].data = call.at(48);
  EXPECT_EQ(call.run(), "");
  call.s0.data = call.at(64);
  EXPECT(sharesWith(call.run(), "'sT'", "'s0'"));
  // Two results; an element of 2 bytes within one of 4.
  call.s0.data = call.at(0);
  call.results[1].data = call.at(48 + 46);
  EXPECT(sharesWith(call.run(), "'o'", "'sT'"));
  call.results[1].data = call.at(96);
  EXPECT_EQ(call.run(), "");
}

TEST(RuntimeTakesViewsThatInterleave) {
  useDevice();
  Call call;
  call.s0.strides[0] = call.results[0].strides[0] = 9;
  call.results[0].data = call.at(16);
  call.results[1].data = call.at(32);
  call.results[1].strides[0] = 18;
  EXPECT_EQ(call.run(), "");
  call.results[1].data = call.at(30);
  EXPECT(sharesWith(call.run(), "'o'", "'sT'"));
  // Rows of a state that run backwards through those of another.
  call.results[1].data = call.at(2048);
  call.results[0].data = call.at(2 * 36 + 16);
  call.results[0].strides[0] = -9;
  EXPECT_EQ(call.run(), "");
  call.results[0].data = call.at(2 * 36 + 12);
  EXPECT(sharesWith(call.run(), "'sT'", "'s0'"));
}

TEST(RuntimeRefusesAWorkspaceThatIsAnOperands) {
  useDevice();
  Call call;
  linattn_workspace workspace = {call.at(256), 256};
  EXPECT_EQ(call.run(&workspace), "");
  workspace.data = call.at(1024);
  EXPECT(llvm::StringRef(call.run(&workspace))
             .starts_with("f: the workspace is written, so it has memory of "
                          "its own, got that of 'sT' (0x"));
  // What the call does not use of it does not count.
  workspace = {call.at(768), 1024};
  EXPECT_EQ(call.run(&workspace), "");
}

TEST(SharedMemoryIsThatOfBytes) {
  std::mt19937 random(0);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const linattn_dtype types[] = {LINATTN_I8, LINATTN_BF16, LINATTN_F32};
  alignas(8) static char buffer[4096];
  int shared = 0;
  for (int repeat = 0; repeat < 20000; ++repeat) {
    linattn_tensor both[2];
    std::set<const char *> bytes[2];
    for (int which : {0, 1}) {
      linattn_tensor &t = both[which];
      t = tensor(nullptr, types[draw(0, 2)], {draw(1, 4), draw(1, 3)});
      auto width = int64_t(linattn_dtype_bytes(t.dtype));
      t.data = buffer + 2048 + width * draw(-8, 8);
      for (int i : {0, 1})
        t.strides[i] = draw(-12, 12);
      for (int64_t i = 0; i < t.sizes[0]; ++i)
        for (int64_t j = 0; j < t.sizes[1]; ++j)
          for (int64_t byte = 0; byte < width; ++byte)
            bytes[which].insert(static_cast<char *>(t.data) + byte +
                                (i * t.strides[0] + j * t.strides[1]) * width);
    }
    bool expected =
        llvm::any_of(bytes[0], [&](auto *p) { return bytes[1].count(p); });
    EXPECT(linattn::runtime::shareMemory(both[0], both[1]) == expected);
    shared += expected;
  }
  // Both answers were asked for.
  EXPECT(shared > 2000 && shared < 18000);
}
