//===- CallTest.cpp - calls of the runtime on a simulated device ----------===//

#include "Runtime/Artifacts.h"
#include "Runtime/Kernels.h"
#include "Testing.h"

#include <thread>

using namespace linattn::testing;

/// y may be null. Returns the message.
static std::string scaleAdd(linattn_function *function, const Memory &x,
                            int64_t tokens, int64_t stride, const Memory *y,
                            Memory &out,
                            const linattn_workspace *workspace = nullptr) {
  linattn_tensor arguments[2] = {tensor(x.data, LINATTN_F32, {tokens}), {}};
  arguments[0].strides[0] = stride;
  if (y)
    arguments[1] = tensor(y->data, LINATTN_F32, {tokens});
  linattn_tensor result = tensor(out.data, LINATTN_F32, {tokens});
  return message(
      linattn_call(function, arguments, 2, &result, 1, workspace, nullptr));
}

TEST(RuntimeRunsLaunchesInOrder) {
  useDevice();
  Loaded loaded(kScaleAddJSON, kScaleAddPTX);
  EXPECT_EQ(loaded.error, "");
  for (int64_t tokens : {1, 31, 32, 33, 100}) {
    std::vector<float> x(tokens * 3), y(tokens);
    for (int64_t i = 0; i < tokens; ++i) {
      x[i * 3] = float(i);
      y[i] = 0.5f * float(i % 7);
    }
    Memory dx(x), dy(y), out(tokens * 4);
    EXPECT_EQ(scaleAdd(loaded.function(), dx, tokens, 3, &dy, out), "");
    std::vector<float> got = out.read<float>();
    for (int64_t i = 0; i < tokens; ++i)
      EXPECT_EQ(got[i], 2 * (3 * x[i * 3] + y[i]));
    // An absent operand is a null pointer for the kernel.
    EXPECT_EQ(scaleAdd(loaded.function(), dx, tokens, 3, nullptr, out), "");
    got = out.read<float>();
    for (int64_t i = 0; i < tokens; ++i)
      EXPECT_EQ(got[i], 6 * x[i * 3]);
  }
}

TEST(RuntimeLaunchesNothingForEmptyTensors) {
  useDevice();
  Loaded loaded(kScaleAddJSON, kScaleAddPTX);
  linattn_tensor arguments[2] = {tensor(nullptr, LINATTN_F32, {0}), {}};
  linattn_tensor result = tensor(nullptr, LINATTN_F32, {0});
  EXPECT_EQ(message(linattn_call(loaded.function(), arguments, 2, &result, 1,
                                 nullptr, nullptr)),
            "");
}

TEST(RuntimeTakesTheCallersWorkspace) {
  useDevice();
  Loaded loaded(kScaleAddJSON, kScaleAddPTX);
  Memory x(std::vector<float>(100, 2.0f)), out(400);
  linattn_tensor arguments[2] = {tensor(x.data, LINATTN_F32, {100}), {}};
  size_t bytes = 0;
  EXPECT_EQ(
      message(linattn_workspace_bytes(loaded.function(), arguments, 2, &bytes)),
      "");
  EXPECT_EQ(bytes, 256u + 512u);
  Memory scratch(bytes);
  linattn_workspace workspace = {scratch.data, bytes};
  EXPECT_EQ(scaleAdd(loaded.function(), x, 100, 1, nullptr, out, &workspace),
            "");
  EXPECT_EQ(out.read<float>()[99], 12.0f);
  EXPECT_EQ(scratch.read<float>()[64 + 99], 6.0f);
  workspace.bytes = 700;
  EXPECT_EQ(scaleAdd(loaded.function(), x, 100, 1, nullptr, out, &workspace),
            "scale_add: the workspace has at least 768 bytes, got 700");
  workspace = {static_cast<char *>(scratch.data) + 16, bytes};
  EXPECT(llvm::StringRef(
             scaleAdd(loaded.function(), x, 100, 1, nullptr, out, &workspace))
             .starts_with("scale_add: the workspace begins at a multiple of "
                          "256 bytes, got 0x"));
}

TEST(RuntimeMakesTensorMaps) {
  useDevice();
  Loaded loaded(kTileJSON, kTilePTX);
  EXPECT_EQ(loaded.error, "");
  // Every second row of a matrix, 20 rows of 24 columns.
  std::vector<float> x(40 * 24);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i);
  Memory dx(x), out(8 * 16 * 4);
  linattn_tensor argument = tensor(dx.data, LINATTN_F32, {20, 24});
  argument.strides[0] = 48;
  linattn_tensor result = tensor(out.data, LINATTN_F32, {8, 16});
  auto call = [&] {
    return message(linattn_call(loaded.function(), &argument, 1, &result, 1,
                                nullptr, nullptr));
  };
  EXPECT_EQ(call(), "");
  std::vector<float> got = out.read<float>();
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 16; ++c) {
      bool inside = r >= 3 && c >= 8;
      EXPECT_EQ(got[r * 16 + c], inside ? x[(r - 3) * 48 + (c - 8)] : 0.0f);
    }
  argument.strides[0] = 50;
  argument.sizes[0] = 19;
  EXPECT_EQ(call(), "tile: stride 0 of 'x' is a multiple of 16 bytes below "
                    "2^40 for bulk copies, got 50 elements of 4 bytes");
  // One row: its stride does not matter.
  argument.sizes[0] = 1;
  EXPECT_EQ(call(), "");
  EXPECT_EQ(out.read<float>()[3 * 16 + 9], 1.0f);
  argument.data = static_cast<char *>(dx.data) + 4;
  EXPECT(llvm::StringRef(call()).starts_with(
      "tile: 'x' begins at a multiple of 16 bytes for bulk copies, got 0x"));
}

TEST(RuntimeLaunchesClusters) {
  useDevice();
  Loaded loaded(kClusterJSON, kClusterPTX);
  EXPECT_EQ(loaded.error, "");
  Memory x(std::vector<int32_t>(6, 0)), out(24);
  auto call = [&](int64_t tokens) {
    linattn_tensor argument = tensor(x.data, LINATTN_I32, {tokens});
    linattn_tensor result = tensor(out.data, LINATTN_I32, {tokens});
    return message(linattn_call(loaded.function(), &argument, 1, &result, 1,
                                nullptr, nullptr));
  };
  EXPECT_EQ(call(6), "");
  EXPECT(out.read<int32_t>() == (std::vector<int32_t>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(call(5), "ranks: the grid of 'ranks' is a multiple of its cluster "
                     "of 2 along x, got 5");
}

TEST(RuntimeInfersResults) {
  Loaded loaded(kScaleAddJSON, kScaleAddPTX);
  linattn_tensor arguments[2] = {tensor(nullptr, LINATTN_F32, {77}), {}};
  linattn_tensor result = {};
  EXPECT_EQ(message(linattn_infer_results(loaded.function(), arguments, 2,
                                          &result, 1)),
            "");
  EXPECT_EQ(result.dtype, LINATTN_F32);
  EXPECT_EQ(result.rank, 1);
  EXPECT_EQ(result.sizes[0], 77);
  EXPECT_EQ(result.strides[0], 1);
}

TEST(RuntimeDescribesFunctions) {
  Loaded loaded(kTileJSON, kTilePTX);
  linattn_function *function = loaded.function();
  EXPECT_EQ(std::string(linattn_function_name(function)), "tile");
  EXPECT_EQ(std::string(linattn_function_target(function)), "sm_90a");
  EXPECT_EQ(linattn_num_arguments(function), 1);
  linattn_tensor_info x = linattn_argument_info(function, 0);
  EXPECT_EQ(std::string(x.name), "x");
  EXPECT_EQ(std::string(x.shape), "[R, C]");
  EXPECT_EQ(x.alignment, 4);
  EXPECT_EQ(x.optional, 0);
  EXPECT_EQ(linattn_result_info(function, 0).in_place, -1);
  EXPECT(!linattn_argument_info(function, 1).name);
}

// Eight threads load and call one function.
TEST(RuntimeIsThreadSafe) {
  useDevice();
  Loaded loaded(kScaleAddJSON, kScaleAddPTX);
  std::vector<std::string> messages(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 5 && messages[i].empty(); ++repeat) {
        Memory x(std::vector<float>(40, float(i))), out(160);
        messages[i] = scaleAdd(loaded.function(), x, 40, 1, nullptr, out);
        if (messages[i].empty() && out.read<float>()[39] != 6.0f * i)
          messages[i] = "wrong";
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &message : messages)
    EXPECT_EQ(message, "");
}
