//===- RefusalTest.cpp - operands that break a rule -----------------------===//
//
// Each with its whole message: operand, rule, what it got.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Artifacts.h"
#include "Runtime/Kernels.h"
#include "Testing.h"

#include <functional>
#include <memory>

using namespace linattn::testing;

// Tensors of all kinds; what it launches does not matter.
static const char *const kOperandsJSON = R"({
  "format": "linattn", "version": 1, "name": "f", "target": "sm_80",
  "arguments": [
    {"name": "q", "dtype": "bf16", "shape": ["B", "T", 2, 8],
     "strides": ["free", "free", "free", 1], "alignment": 16},
    {"name": "g", "dtype": "f32", "shape": ["B", "T", 2],
     "strides": ["free", "free", "free"]},
    {"name": "cu", "dtype": "i32", "shape": [{"of": "N", "plus": 1}], "strides": [1]},
    {"name": "s", "dtype": "f32", "shape": ["N", 8], "strides": ["free", 1]},
    {"name": "pool", "dtype": "f32", "shape": ["P", 8], "strides": ["free", 1]},
    {"name": "mask", "dtype": "i8", "shape": ["T"], "strides": ["free"], "optional": true}],
  "results": [
    {"name": "o", "dtype": "f32", "shape": ["B", "T", 8], "strides": ["free", "free", 1]},
    {"name": "pool_out", "dtype": "f32", "shape": ["P", 8], "strides": ["free", 1], "in_place": "pool"},
    {"name": "c", "dtype": "f32", "shape": [{"of": "T", "divide": 4, "round": "up"}], "strides": [1], "optional": true}],
  "launches": [
    {"kernel": "nothing", "grid": [{"of": "B", "times": "T"}, {"of": "T", "times": 4096}],
     "block": [1], "parameters": [
      {"kind": "size", "size": {"of": "T", "times": 65536}, "type": "s32"},
      {"kind": "pointer", "tensor": "o"}]}]
})";

namespace {
/// A call that is right, until a test changes it.
struct Call {
  Call()
      : loaded(std::make_unique<Loaded>(kOperandsJSON, kScaleAddPTX)),
        q(2 * 5 * 16 * 2), g(2 * 5 * 2 * 4), cu(16), s(96), pool(320), mask(5),
        o(2 * 5 * 8 * 4), c(8) {
    arguments = {tensor(q.data, LINATTN_BF16, {2, 5, 2, 8}),
                 tensor(g.data, LINATTN_F32, {2, 5, 2}),
                 tensor(cu.data, LINATTN_I32, {4}),
                 tensor(s.data, LINATTN_F32, {3, 8}),
                 tensor(pool.data, LINATTN_F32, {10, 8}),
                 tensor(mask.data, LINATTN_I8, {5})};
    results = {tensor(o.data, LINATTN_F32, {2, 5, 8}),
               {},
               tensor(c.data, LINATTN_F32, {2})};
  }

  linattn_status status = LINATTN_OK;
  std::string run() {
    status = linattn_call(loaded->function(), arguments.data(),
                          int32_t(arguments.size()), results.data(),
                          int32_t(results.size()), nullptr, nullptr);
    return message(status);
  }

  /// Another description for the same operands.
  void load(const std::string &json) {
    loaded = std::make_unique<Loaded>(json, kScaleAddPTX);
  }

  std::unique_ptr<Loaded> loaded;
  Memory q, g, cu, s, pool, mask, o, c;
  std::vector<linattn_tensor> arguments, results;
};
} // namespace

static void *offset(void *data, int64_t bytes) {
  return static_cast<char *>(data) + bytes;
}

static std::string hex(void *data) {
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format_hex(reinterpret_cast<uint64_t>(data), 1);
  return text;
}

/// The first byte and the last one, as messages have them.
static std::string span(size_t bytes, void *data) {
  return hex(data) + " to " + hex(offset(data, int64_t(bytes) - 1));
}

TEST(RuntimeRefusesOperands) {
  useDevice();
  static float host[64];
  enum { Q, G, Cu, S, Pool, Mask };
  struct Case {
    std::string expected;
    std::function<void(Call &)> change;
  };
  const std::vector<Case> cases = {
      {"f: takes 6 arguments, got 5", [](Call &f) { f.arguments.pop_back(); }},
      {"f: gives 3 results, got 2", [](Call &f) { f.results.pop_back(); }},
      {"f: 'g' is an argument, got none", [](Call &f) { f.arguments[G] = {}; }},
      {"f: 'o' is a result, got no memory for it",
       [](Call &f) { f.results[0] = {}; }},
      {"f: 'q' is bf16, got f16",
       [](Call &f) { f.arguments[Q].dtype = LINATTN_F16; }},
      {"f: 'cu' is i32, got i64",
       [](Call &f) { f.arguments[Cu].dtype = LINATTN_I64; }},
      {"f: 'o' is f32, got bf16",
       [](Call &f) { f.results[0].dtype = LINATTN_BF16; }},
      {"f: 'q' is bf16, got unknown",
       [](Call &f) { f.arguments[Q].dtype = linattn_dtype(77); }},
      {"f: 'q' has 4 dimensions [B, T, 2, 8], got 3 [2, 5, 2]",
       [](Call &f) { f.arguments[Q].rank = 3; }},
      {"f: 'q' has 4 dimensions [B, T, 2, 8], got 9",
       [](Call &f) { f.arguments[Q].rank = 9; }},
      {"f: 'g' has 3 dimensions [B, T, 2], got -1",
       [](Call &f) { f.arguments[G].rank = -1; }},
      {"f: dimension 3 of 'q' is 8, got 4",
       [](Call &f) { f.arguments[Q].sizes[3] = 4; }},
      {"f: dimension 2 of 'g' is 2, got 3",
       [](Call &f) { f.arguments[G].sizes[2] = 3; }},
      {"f: dimension 0 of 'g' is B = 2 (from 'q'), got 1",
       [](Call &f) { f.arguments[G].sizes[0] = 1; }},
      {"f: dimension 1 of 'g' is T = 5 (from 'q'), got 6",
       [](Call &f) { f.arguments[G].sizes[1] = 6; }},
      {"f: dimension 0 of 'mask' is T = 5 (from 'q'), got 4",
       [](Call &f) { f.arguments[Mask].sizes[0] = 4; }},
      {"f: dimension 0 of 's' is N = 3 (from 'cu'), got 4",
       [](Call &f) { f.arguments[S].sizes[0] = 4; }},
      {"f: dimension 0 of 'cu' is N + 1, at least 1, got 0",
       [](Call &f) { f.arguments[Cu].sizes[0] = 0; }},
      {"f: dimension 1 of 'o' is T = 5 (from 'q'), got 4",
       [](Call &f) { f.results[0].sizes[1] = 4; }},
      {"f: dimension 0 of 'c' is ceil(T / 4) = 2 (from 'q'), got 1",
       [](Call &f) { f.results[2].sizes[0] = 1; }},
      {"f: dimension 1 of 'g' is at least 0, got -5",
       [](Call &f) { f.arguments[G].sizes[1] = -5; }},
      {"f: stride 3 of 'q' is 1, got 2",
       [](Call &f) { f.arguments[Q].strides[3] = 2; }},
      {"f: stride 1 of 'q' is a multiple of 8 (16 bytes), got 18",
       [](Call &f) { f.arguments[Q].strides[1] = 18; }},
      {"f: stride 0 of 'cu' is 1, got 2",
       [](Call &f) { f.arguments[Cu].strides[0] = 2; }},
      {"f: stride 1 of 'pool' is 1, got 0",
       [](Call &f) { f.arguments[Pool].strides[1] = 0; }},
      {"f: 'pool' is written, so its elements lie apart, got sizes [10, 8] "
       "with strides [0, 1]",
       [](Call &f) { f.arguments[Pool].strides[0] = 0; }},
      {"f: 'o' is written, so its elements lie apart, got sizes [2, 5, 8] with "
       "strides [40, 4, 1]",
       [](Call &f) { f.results[0].strides[1] = 4; }},
      {"f: 'g' extends over less than 2^62 bytes, got sizes [2, 5, 2] with "
       "strides [10, 4611686018427387904, 1]",
       [](Call &f) { f.arguments[G].strides[1] = int64_t(1) << 62; }},
      {"f: 's' lies in device memory, got a null pointer",
       [](Call &f) { f.arguments[S].data = nullptr; }},
      {"f: 'o' lies in device memory, got a null pointer",
       [](Call &f) { f.results[0].data = nullptr; }},
      {"f: the grid of 'nothing' has at most 65535 blocks along y, got 69632",
       [](Call &f) {
         // Broadcast along time: memory of one token is enough.
         f.arguments[Q].sizes[1] = f.arguments[G].sizes[1] = 17;
         f.arguments[Q].strides[1] = f.arguments[G].strides[1] = 0;
         f.arguments[Mask] = f.results[2] = {};
         f.arguments[Q].sizes[0] = f.arguments[G].sizes[0] = 0;
         f.results[0].sizes[0] = 0;
         f.results[0].sizes[1] = 17;
       }},
      {"f: T * 65536 fits 32 bits, got 2147483648",
       [](Call &f) {
         f.arguments[Q].sizes[1] = f.arguments[G].sizes[1] = 32768;
         f.arguments[Q].strides[1] = f.arguments[G].strides[1] = 0;
         f.arguments[Mask] = f.results[2] = {};
         f.arguments[Q].sizes[0] = f.arguments[G].sizes[0] = 0;
         f.results[0].sizes[0] = 0;
         f.results[0].sizes[1] = 32768;
         f.load(
             replaced(kOperandsJSON, "{\"of\": \"T\", \"times\": 4096}", "1"));
       }},
      {"f: B * T fits 64 bits, got more",
       [](Call &f) {
         for (linattn_tensor *each :
              {&f.arguments[Q], &f.arguments[G], &f.results[0]}) {
           each->sizes[0] = each->sizes[1] = int64_t(1) << 33;
           each->sizes[2] = each == &f.results[0] ? 8 : 2;
         }
         f.arguments[Mask] = f.results[2] = {};
         f.arguments[G].sizes[2] = 0;
         std::string json = kOperandsJSON;
         json = replaced(json, "\"B\", \"T\", 2, 8", "\"B\", \"T\", 0, 8");
         json = replaced(json, "\"B\", \"T\", 2]", "\"B\", \"T\", 0]");
         json = replaced(json, "\"B\", \"T\", 8", "\"B\", \"T\", 0");
         f.load(json);
         f.arguments[Q].sizes[2] = 0;
         f.results[0].sizes[2] = 0;
       }},
  };
  for (const Case &each : cases) {
    Call call;
    EXPECT_EQ(call.loaded->error, "");
    each.change(call);
    EXPECT_EQ(call.run(), each.expected);
    EXPECT_EQ(call.status, LINATTN_ERROR_ARGUMENT);
  }
  // Messages with an address.
  {
    Call call;
    call.arguments[Q].data = offset(call.q.data, 8);
    EXPECT_EQ(call.run(), "f: 'q' begins at a multiple of 16 bytes, got " +
                              hex(call.arguments[Q].data));
  }
  {
    Call call;
    call.arguments[G].data = offset(call.g.data, 2);
    EXPECT_EQ(call.run(), "f: 'g' begins at a multiple of 4 bytes, got " +
                              hex(call.arguments[G].data));
  }
  {
    Call call;
    call.arguments[S].data = host;
    EXPECT_EQ(call.run(),
              "f: 's' lies in device memory, got the host's " + hex(host));
  }
  {
    Call call;
    call.results[0].data = call.pool.data;
    EXPECT_EQ(call.run(), "f: 'o' is written, so it has memory of its own, "
                          "got that of 'pool' (" +
                              span(call.o.bytes, call.pool.data) + " and " +
                              span(call.pool.bytes, call.pool.data) + ")");
  }
  {
    Call call;
    call.arguments[S].data = call.o.data;
    EXPECT_EQ(call.run(), "f: 'o' is written, so it has memory of its own, "
                          "got that of 's' (" +
                              span(call.o.bytes, call.o.data) + " and " +
                              span(call.s.bytes, call.o.data) + ")");
  }
  {
    Call call;
    // Behind all memory there is.
    int64_t stride = int64_t(1) << 40;
    call.arguments[S].strides[0] = stride;
    void *end = offset(call.s.data, (2 * stride + 8) * 4 - 1);
    EXPECT_EQ(call.run(), "f: 's' lies in device memory, got " +
                              hex(call.s.data) + " to " + hex(end) +
                              " of which the end does not");
  }
}

// What need not hold is not asked for.
TEST(RuntimeTakesOperandsThatOnlyLookWrong) {
  useDevice();
  Call call;
  // Strides of dimensions of size 1, and all of empty tensors.
  call.arguments[4].sizes[0] = 1;
  call.arguments[4].strides[0] = -7;
  call.arguments[0].sizes[0] = call.arguments[1].sizes[0] =
      call.results[0].sizes[0] = 0;
  call.arguments[0].strides[3] = 5;
  call.arguments[0].data = nullptr;
  call.arguments[5] = {};
  call.results[2] = {};
  EXPECT_EQ(call.run(), "");
  // The shape of an argument, broadcast along its batch.
  Call broadcast;
  broadcast.arguments[1].strides[0] = 0;
  size_t bytes = 1;
  EXPECT_EQ(
      message(linattn_workspace_bytes(broadcast.loaded->function(),
                                      broadcast.arguments.data(), 6, &bytes)),
      "");
  EXPECT_EQ(bytes, 0u);
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static std::string prepare(const std::string &json, const char *ptx,
                           const linattn::sim::SimulatedDevice &device,
                           linattn_status expected, std::string cubin = "") {
  useDevice(device);
  Loaded loaded(json, ptx, cubin);
  if (!loaded.error.empty())
    return loaded.error;
  linattn_status status = linattn_prepare(loaded.function());
  EXPECT_EQ(status, expected);
  return message(status);
}

// H16: the plan does not fit the device, and the message says by how much.
TEST(RuntimeRefusesDevices) {
  linattn::sim::SimulatedDevice hopper, ampere, ada, none;
  ampere.name = "Ampere";
  ampere.major = 8;
  ampere.minor = 0;
  ada.name = "Ada";
  ada.major = 8;
  ada.minor = 9;
  ada.sharedBytes = 101376;
  none.count = 0;
  EXPECT_EQ(
      prepare(replaced(kScaleAddJSON, "\"block\": [32]",
                       "\"block\": [32], \"dynamic_shared_bytes\": 114688"),
              kScaleAddPTX, ada, LINATTN_ERROR_UNSUPPORTED),
      "scale_add: kernel 'scale_add' needs 114688 bytes of shared memory "
      "per block, Ada allows 101376");
  EXPECT_EQ(prepare(kTileJSON, kTilePTX, ampere, LINATTN_ERROR_UNSUPPORTED),
            "tile: compiled for sm_90a, got Ampere (compute capability 8.0)");
  EXPECT_EQ(prepare(replaced(kScaleAddJSON, "sm_80", "sm_86"), kScaleAddPTX,
                    ampere, LINATTN_ERROR_UNSUPPORTED),
            "scale_add: compiled for sm_86, got Ampere (compute capability "
            "8.0)");
  EXPECT_EQ(prepare(replaced(kScaleAddJSON, "sm_80", "gfx942"), kScaleAddPTX,
                    ampere, LINATTN_ERROR_UNSUPPORTED),
            "scale_add: compiled for gfx942, got Ampere (compute capability "
            "8.0)");
  // A cubin of an older architecture, and no PTX that the driver could compile.
  EXPECT_EQ(prepare(kScaleAddJSON, "", hopper, LINATTN_ERROR_UNSUPPORTED,
                    "\x7f"
                    "ELF"),
            "scale_add: compiled for sm_80 without PTX, got PTX simulator "
            "(compute capability 9.0)");
  // With PTX it can.
  EXPECT_EQ(prepare(kScaleAddJSON, kScaleAddPTX, hopper, LINATTN_OK,
                    "\x7f"
                    "ELF"),
            "");
  EXPECT_EQ(prepare(replaced(replaced(kClusterJSON, "sm_90", "sm_80"),
                             "\"x\", \"dtype\"", "\"x\", \"dtype\""),
                    replaced(kClusterPTX, "", "").c_str(), ampere,
                    LINATTN_ERROR_UNSUPPORTED),
            "ranks: kernel 'ranks' has clusters of 2 blocks, Ampere has no "
            "clusters");
  EXPECT_EQ(prepare(replaced(kScaleAddJSON, "\"twice\"", "\"thrice\""),
                    kScaleAddPTX, hopper, LINATTN_ERROR_ARTIFACT),
            "scale_add: the code has no kernel 'thrice'");
  EXPECT_EQ(
      prepare(replaced(kScaleAddJSON, "\"block\": [32]", "\"block\": [32, 64]"),
              kScaleAddPTX, hopper, LINATTN_ERROR_UNSUPPORTED),
      "scale_add: kernel 'scale_add' has 2048 threads per block, PTX "
      "simulator allows 1024");
  EXPECT_EQ(
      prepare(replaced(kScaleAddJSON, "\"size\": \"T\", \"type\": \"s32\"",
                       "\"size\": \"T\""),
              kScaleAddPTX, hopper, LINATTN_ERROR_ARTIFACT),
      "scale_add: kernel 'scale_add' takes 4 bytes as parameter 4, the "
      "description gives 8");
  EXPECT_EQ(
      prepare(replaced(kScaleAddJSON,
                       "{\"kind\": \"pointer\", \"tensor\": \"scratch\"},", ""),
              kScaleAddPTX, hopper, LINATTN_ERROR_ARTIFACT),
      "scale_add: kernel 'twice' takes 2 parameters, the description gives 1");
  EXPECT_EQ(prepare(kScaleAddJSON, kScaleAddPTX, none, LINATTN_ERROR_NO_DEVICE),
            "the NVIDIA driver finds no GPU: CUDA_ERROR_NO_DEVICE (100), no "
            "CUDA-capable device is detected");
  useDevice();
}

TEST(RuntimeSaysWhatTheDriverSays) {
  useDevice();
  Loaded broken(kScaleAddJSON, "no PTX");
  EXPECT_EQ(linattn_prepare(broken.function()), LINATTN_ERROR_UNSUPPORTED);
  EXPECT(llvm::StringRef(linattn_last_error())
             .starts_with("scale_add: loading for PTX simulator (compute "
                          "capability 9.0): CUDA_ERROR_INVALID_PTX (218), "));
  // A kernel that writes outside its memory.
  Loaded outside(replaced(kScaleAddJSON, "[\"T\"]}],", "[1]}],"), kScaleAddPTX);
  Memory x(std::vector<float>(100, 1.0f)), out(400);
  linattn_tensor arguments[2] = {tensor(x.data, LINATTN_F32, {100}), {}};
  linattn_tensor result = tensor(out.data, LINATTN_F32, {100});
  EXPECT_EQ(linattn_call(outside.function(), arguments, 2, &result, 1, nullptr,
                         nullptr),
            LINATTN_ERROR_DRIVER);
  EXPECT(llvm::StringRef(linattn_last_error())
             .starts_with("scale_add: launching 'scale_add': "
                          "CUDA_ERROR_LAUNCH_FAILED (719), the simulator found "
                          "in 'scale_add'"));
}
