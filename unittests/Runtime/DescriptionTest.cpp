//===- DescriptionTest.cpp - descriptions that are malformed --------------===//

#include "Runtime/Artifacts.h"
#include "Runtime/Kernels.h"
#include "Testing.h"

using namespace linattn::testing;

/// What is wrong with scale_add's description after one change.
static std::string changed(const std::string &from, const std::string &to) {
  return Loaded(replaced(kScaleAddJSON, from, to), kScaleAddPTX).error;
}

TEST(RuntimeRefusesDescriptions) {
  const std::vector<std::vector<std::string>> cases = {
      {"\"format\": \"linattn\"", "\"format\": \"onnx\"",
       "the description: format is \"linattn\", got \"onnx\""},
      {"\"version\": 1", "\"version\": 2",
       "the description: version is 1 for this library, got 2"},
      {"\"name\": \"scale_add\", ", "",
       "the description: name is a string, got nothing"},
      {"\"target\": \"sm_80\"", "\"target\": 80",
       "the description: target is a string, got 80"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"fp32\"",
       "the description: arguments[0].dtype is f16, bf16, f32, f64, i32, i64, "
       "i8 or u8, got \"fp32\""},
      {"\"strides\": [\"free\"]", "\"strides\": []",
       "the description: arguments[0].strides has an element per dimension, "
       "got []"},
      {"\"strides\": [\"free\"]", "\"strides\": [\"any\"]",
       "the description: arguments[0].strides has numbers and \"free\", got "
       "\"any\""},
      {"\"shape\": [\"T\"]", "\"shape\": [1.5]",
       "the description: arguments[0].shape[0] is a number, a name, {\"of\": "
       "..} or {\"min\": ..}, got 1.5"},
      {"\"optional\": true", "\"optional\": 1",
       "the description: arguments[1].optional is true or false, got 1"},
      {"\"optional\": true", "\"alignment\": 0",
       "the description: arguments[1].alignment is an integer from 1 to "
       "1048576, got 0"},
      {"\"strides\": [1]}],\n  \"workspace\"",
       "\"strides\": [1], \"in_place\": \"z\"}],\n  \"workspace\"",
       "the description: results[0].in_place names an argument, got \"z\""},
      {"\"grid\": [\"T\"]", "\"grid\": [\"S\"]",
       "the description: no argument has the size 'S'"},
      {"\"grid\": [\"T\"]", "\"grid\": []",
       "the description: launches[1].grid has one to three elements, got []"},
      {"\"round\": \"up\"", "\"round\": \"even\"",
       "the description: launches[0].grid[0].round is up or down, got "
       "\"even\""},
      {"\"divide\": 32", "\"divide\": 0",
       "the description: launches[0].grid[0].divide is an integer from 1 to "
       "9223372036854775807, got 0"},
      {"\"block\": [32]", "\"block\": [2048]",
       "the description: launches[0].block[0] is an integer from 1 to 1024, "
       "got 2048"},
      {"\"block\": [32]", "\"block\": 32",
       "the description: launches[0].block is a list of one to three numbers, "
       "got 32"},
      {"{\"kind\": \"pointer\", \"tensor\": \"x\"}",
       "{\"kind\": \"pointer\", \"tensor\": \"z\"}",
       "the description: launches[0].parameters[0].tensor names an argument, a "
       "result with memory of its own or a buffer of the workspace, got "
       "\"z\""},
      {"{\"kind\": \"pointer\", \"tensor\": \"x\"}", "{\"kind\": \"scalar\"}",
       "the description: launches[0].parameters[0].kind is pointer, stride, "
       "size, constant or tensor_map, got \"scalar\""},
      {"\"dimension\": 0", "\"dimension\": 1",
       "the description: launches[0].parameters[1].dimension is an integer "
       "from 0 to 0, got 1"},
      {"\"type\": \"s32\"", "\"type\": \"s16\"",
       "the description: launches[0].parameters[4].type is s64, u64, s32, u32, "
       "or f32 of a constant, got \"s16\""},
      {"\"value\": 3", "\"value\": \"3\"",
       "the description: launches[0].parameters[3].value is a number of type "
       "f32, got \"3\""},
  };
  for (const auto &each : cases)
    EXPECT_EQ(changed(each[0], each[1]), each[2]);
  std::string nested = "1";
  for (int i = 0; i < 1000; ++i)
    nested = "{\"of\": " + nested + "}";
  EXPECT(llvm::StringRef(
             changed("[\"T\"], \"block\"", "[" + nested + "], \"block\""))
             .contains("is nested less deeply, got "));
  EXPECT(llvm::StringRef(Loaded("{", kScaleAddPTX).error)
             .starts_with("the description: is no JSON: "));
  EXPECT_EQ(Loaded(kScaleAddJSON, "").error,
            "scale_add: has a cubin or PTX, got neither");
}

TEST(RuntimeRefusesTensorMaps) {
  auto changed = [](const char *from, const char *to) {
    return Loaded(replaced(kTileJSON, from, to), kTilePTX).error;
  };
  EXPECT_EQ(changed("\"box\": [16, 8]", "\"box\": [16, 512]"),
            "the description: launches[0].tensor_maps[0].box is an integer "
            "from 1 to 256, got 512");
  EXPECT_EQ(changed("\"box\": [16, 8]", "\"box\": [16]"),
            "the description: launches[0].tensor_maps[0].box has an element "
            "per dimension of the map, got [16]");
  EXPECT_EQ(changed("\"dimensions\": [1, 0]", "\"dimensions\": [1, 2]"),
            "the description: launches[0].tensor_maps[0].dimensions is an "
            "integer from 0 to 1, got 2");
  EXPECT_EQ(changed("\"box\": [16, 8]", "\"box\": [16, 8], \"swizzle\": 48"),
            "the description: launches[0].tensor_maps[0].swizzle is one of "
            "those that the driver knows, got 48");
  EXPECT_EQ(changed("\"map\": 0", "\"map\": 1"),
            "the description: launches[0].parameters[0].map is an integer "
            "from 0 to 0, got 1");
}

TEST(RuntimeRefusesFiles) {
  linattn_artifact *artifact = nullptr;
  EXPECT_EQ(linattn_load("/nonexistent/f.json", &artifact),
            LINATTN_ERROR_ARTIFACT);
  EXPECT_EQ(std::string(linattn_last_error()),
            "/nonexistent/f.json: cannot be read: No such file or directory");
  EXPECT(!artifact);
  Loaded loaded(kScaleAddJSON, kScaleAddPTX);
  EXPECT(loaded.function());
}
