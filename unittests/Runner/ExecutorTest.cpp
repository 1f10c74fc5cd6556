//===- ExecutorTest.cpp - compiled functions on arrays of any strides -----===//

#include "linattn/Runner/Executor.h"
#include "Runner/Modules.h"
#include "Testing.h"
#include "linattn/Runner/RuntimeSymbols.h"

#include <cmath>
#include <cstring>

using namespace linattn::runner;
using linattn::testing::messageOf;
using linattn::testing::parse;
using linattn::testing::signatureOf;

// One-dimensional linear attention with a decay and a rate per token.
static constexpr llvm::StringLiteral kLinear = R"mlir(
func.func @linear(%g: tensor<?x2xf32>, %b: tensor<?x2xf32>,
                  %s0: tensor<?x2x1x1xf32>, %cu: tensor<?xi32>)
    -> (tensor<?x2x1xf32>, tensor<?x2x1x1xf32>) {
  %o, %s = linattn.recurrence
      tokens(%g : tensor<?x2xf32>, %b : tensor<?x2xf32>)
      state(%s0 : tensor<?x2x1x1xf32>) seqlens(%cu : tensor<?xi32>)
      -> (tensor<?x2x1xf32>, tensor<?x2x1x1xf32>) {
  ^step(%gt: f32, %bt: f32, %st: !linattn.state<1x1xf32>):
    %one = arith.constant dense<1.0> : vector<1xf32>
    %u = vector.broadcast %bt : f32 to vector<1xf32>
    %s1 = linattn.decay %st, %gt : !linattn.state<1x1xf32>, f32
    %s2 = linattn.write %s1, %one, %u : !linattn.state<1x1xf32>, vector<1xf32>, vector<1xf32>
    %ot = linattn.read %s2, %one : !linattn.state<1x1xf32>, vector<1xf32>
    linattn.yield %ot, %s2 : vector<1xf32>, !linattn.state<1x1xf32>
  }
  return %o, %s : tensor<?x2x1xf32>, tensor<?x2x1x1xf32>
}
)mlir";

static Buffer make(DType type, llvm::ArrayRef<int64_t> shape) {
  return llvm::cantFail(Buffer::allocate(type, shape, "test"));
}

namespace {
/// The function above on some arrays.
struct Linear {
  Linear() : module(parse(kLinear)), signature(signatureOf(*module)) {
    executor = llvm::cantFail(makeExecutor(Target()));
    EXPECT_EQ(messageOf(executor->compile(*module, signature)), "");
  }

  std::vector<Buffer> run(std::vector<Buffer> inputs) {
    std::vector<Buffer> results;
    for (const Shape &shape : llvm::cantFail(executor->resultShapes(inputs)))
      results.push_back(make(DType::F32, shape));
    EXPECT(llvm::cantFail(executor->run(inputs, results)) >= 0);
    return results;
  }

  mlir::OwningOpRef<mlir::ModuleOp> module;
  Signature signature;
  std::unique_ptr<Executor> executor;
};
} // namespace

static Buffer offsets(llvm::ArrayRef<int32_t> values) {
  Buffer buffer = make(DType::I32, {int64_t(values.size())});
  std::copy(values.begin(), values.end(), buffer.as<int32_t>());
  return buffer;
}

// H13: gates that lie interleaved in one array, [T, 2, 2] with strides (4, 2).
TEST(ExecutorTakesStridedGates) {
  constexpr int64_t tokens = 20;
  Buffer both = make(DType::F32, {tokens, 2, 2});
  for (int64_t i = 0; i < both.getNumElements(); ++i)
    both.as<float>()[i] = i % 2 ? 0.01f * i : -0.03f * (i % 7);
  Buffer g = both.view({tokens, 2}, {4, 2}, 0);
  Buffer b = both.view({tokens, 2}, {4, 2}, 1);
  Buffer s0 = make(DType::F32, {2, 2, 1, 1});
  Buffer cu = offsets({0, 7, tokens});

  Linear linear;
  std::vector<Buffer> strided = linear.run({g, b, s0, cu});
  std::vector<Buffer> packed =
      linear.run({llvm::cantFail(g.contiguousCopy("g")),
                  llvm::cantFail(b.contiguousCopy("b")), s0, cu});
  for (int i : {0, 1})
    EXPECT(!std::memcmp(strided[i].getData(), packed[i].getData(),
                        packed[i].getNumBytes()));
  // And they are what the equation says.
  for (int64_t h = 0; h < 2; ++h) {
    double state = 0;
    for (int64_t t = 0; t < tokens; ++t) {
      const float *gb = both.as<float>() + t * 4 + h * 2;
      state = (t == 7 ? 0 : state) * std::exp(double(gb[0])) + gb[1];
      EXPECT(std::fabs(packed[0].getFloat(t * 2 + h) - state) < 1e-5);
    }
  }
}

TEST(ExecutorGivesShapesOfResults) {
  Linear linear;
  Buffer inputs[] = {make(DType::F32, {9, 2}), make(DType::F32, {9, 2}),
                     make(DType::F32, {3, 2, 1, 1}), offsets({0, 4, 4, 8})};
  std::vector<Shape> shapes =
      llvm::cantFail(linear.executor->resultShapes(inputs));
  EXPECT_EQ(shapes.size(), 2u);
  EXPECT(shapes[0] == Shape({9, 2, 1}));
  EXPECT(shapes[1] == Shape({3, 2, 1, 1}));
}

TEST(ExecutorNamesWhatThereIs) {
  Target target;
  target.device = "abacus";
  std::string message = messageOf(makeExecutor(target));
  EXPECT(llvm::StringRef(message).starts_with(
      "nothing here runs --device=abacus --lowering=serial --precision=fp32; "
      "there are: "));
  EXPECT(llvm::StringRef(message).contains("--device=cpu --lowering=serial"));
}

TEST(ExecutorFindsOpenMP) { EXPECT(loadOpenMP(0) != ""); }
