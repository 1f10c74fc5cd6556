//===- SignatureTest.cpp - names, kinds and rows from the uses ------------===//

#include "Runner/Modules.h"
#include "Testing.h"
#include "linattn/Runner/Inputs.h"

using namespace linattn::runner;
using linattn::testing::messageOf;
using linattn::testing::parse;
using linattn::testing::signatureOf;

/// "q[B,T,2,4] unit_key": what is known about an argument, in one line.
static std::string describe(const Argument &argument) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << argument.name << "[";
  for (auto [i, dim] : llvm::enumerate(argument.dims)) {
    os << (i ? "," : "");
    if (dim.isStatic())
      os << dim.size;
    else
      os << dim.name;
    if (dim.plus)
      os << "+" << dim.plus;
  }
  os << "] " << nameOf(argument.sample);
  return text;
}

// Nothing is annotated: names and kinds follow from the step.
static constexpr llvm::StringLiteral kGated = R"mlir(
func.func @gated(%q: tensor<?x?x2x4xbf16>, %k: tensor<?x?x2x4xbf16>,
    %v: tensor<?x?x2x3xbf16>, %a: tensor<?x?x2xf32>, %b: tensor<?x?x2xf32>,
    %A_log: tensor<2xf32>, %dt_bias: tensor<2xf32>, %s0: tensor<?x2x4x3xf32>)
    -> (tensor<?x?x2x3xbf16>, tensor<?x2x4x3xf32>) {
  %o, %s = linattn.recurrence
      tokens(%q : tensor<?x?x2x4xbf16>, %k : tensor<?x?x2x4xbf16>,
             %v : tensor<?x?x2x3xbf16>, %a : tensor<?x?x2xf32>,
             %b : tensor<?x?x2xf32>)
      params(%A_log : tensor<2xf32>, %dt_bias : tensor<2xf32>)
      state(%s0 : tensor<?x2x4x3xf32>)
      -> (tensor<?x?x2x3xbf16>, tensor<?x2x4x3xf32>) {
  ^step(%qt: vector<4xbf16>, %kt: vector<4xbf16>, %vt: vector<3xbf16>, %at: f32,
        %bt: f32, %al: f32, %bias: f32, %st: !linattn.state<4x3xf32>):
    %raw = arith.addf %at, %bias : f32
    %dt = linattn.softplus %raw : f32
    %A = math.exp %al : f32
    %drop = arith.mulf %A, %dt : f32
    %g = arith.negf %drop : f32
    %s1 = linattn.decay %st, %g : !linattn.state<4x3xf32>, f32
    %s2 = linattn.delta_update %s1, %kt, %vt, %bt
        : !linattn.state<4x3xf32>, vector<4xbf16>, vector<3xbf16>, f32
    %ot = linattn.read %s2, %qt : !linattn.state<4x3xf32>, vector<4xbf16>
    %ob = arith.truncf %ot : vector<3xf32> to vector<3xbf16>
    linattn.yield %ob, %s2 : vector<3xbf16>, !linattn.state<4x3xf32>
  }
  return %o, %s : tensor<?x?x2x3xbf16>, tensor<?x2x4x3xf32>
}
)mlir";

TEST(SignatureKindsFollowFromTheStep) {
  auto module = parse(kGated);
  Signature signature = signatureOf(*module);
  const char *want[] = {"0[B,T,2,4] unit_key", "1[B,T,2,4] unit_key",
                        "2[B,T,2,3] value",    "3[B,T,2] raw_gate",
                        "4[B,T,2] rate",       "5[2] a_log",
                        "6[2] weight",         "7[B,2,4,3] state"};
  for (auto [argument, text] : llvm::zip_equal(signature.arguments, want))
    EXPECT_EQ(describe(argument), text);
  EXPECT(signature.results[0].rows.layout == Layout::Tokens);
  EXPECT_EQ(signature.results[0].headDim, 2);
  EXPECT(signature.results[1].rows.layout == Layout::States);
  EXPECT(!signature.results[1].inPlace);
  // The output is rounded once, as it leaves: no rounding inside.
  EXPECT(!signature.computesIn16Bit);
}

TEST(SignatureMissingSizesAreNamed) {
  auto module = parse(kGated);
  Signature signature = signatureOf(*module);
  auto error = [&](std::vector<std::string> sizes) {
    InputOptions options;
    options.sizes = sizes;
    return messageOf(makeInputs(signature, options));
  };
  EXPECT_EQ(error({"B=1"}), "dimension T (dimension 1 of argument '0') has no "
                            "size; give it with --size T=NUMBER or an --input");
  EXPECT_EQ(error({"B=1", "T=2"}), "");
  EXPECT_EQ(error({"B=1", "T=2", "T=3"}),
            "dimension T is 2 by --size, but 3 by --size");
  EXPECT_EQ(error({"X=1"}),
            "--size X=1: no dimension has this name; there are: B, T");
  EXPECT_EQ(error({"B=-1"}),
            "dimension B is from 0 to 9223372036854775807, got -1 from --size");
  EXPECT_EQ(error({"B=one"}), "--size takes NAME=NUMBER, got 'B=one'");
  EXPECT_EQ(error({"B=1", "T=4611686018427387904"}),
            "argument '0': 1x4611686018427387904x2x4 of bf16 does not fit in "
            "memory");
}

static constexpr llvm::StringLiteral kPacked = R"mlir(
func.func @packed(%k: tensor<?x2x4xf32> {linattn.name = "k"},
    %g: tensor<?x2x4xf32> {linattn.name = "g"},
    %pool: tensor<?x2x4x3xf32> {linattn.name = "pool"},
    %cu: tensor<?xi64> {linattn.name = "cu"},
    %slots: tensor<?xi32> {linattn.name = "slots"})
    -> (tensor<?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x2x4x3xf32>) {
  %o, %s, %all = linattn.recurrence
      tokens(%k : tensor<?x2x4xf32>, %g : tensor<?x2x4xf32>)
      state(%pool : tensor<?x2x4x3xf32>)
      seqlens(%cu : tensor<?xi64>) slots(%slots : tensor<?xi32>, padding = -7)
      snapshots(every = 4)
      -> (tensor<?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x2x4x3xf32>) {
  ^step(%kt: vector<4xf32>, %gt: vector<4xf32>, %st: !linattn.state<4x3xf32>):
    %s1 = linattn.decay %st, %gt : !linattn.state<4x3xf32>, vector<4xf32>
    %ot = linattn.read %s1, %kt : !linattn.state<4x3xf32>, vector<4xf32>
    linattn.yield %ot, %s1 : vector<3xf32>, !linattn.state<4x3xf32>
  }
  return %o, %s, %all
      : tensor<?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x2x4x3xf32>
}
)mlir";

TEST(SignaturePackedWithSlots) {
  auto module = parse(kPacked);
  Signature signature = signatureOf(*module);
  const char *want[] = {"k[T,2,4] unit_key", "g[T,2,4] log_gate",
                        "pool[P,2,4,3] state", "cu[N+1] seqlens",
                        "slots[N] slots"};
  for (auto [argument, text] : llvm::zip_equal(signature.arguments, want))
    EXPECT_EQ(describe(argument), text);
  EXPECT(signature.arguments[2].inPlace);
  EXPECT_EQ(signature.arguments[4].padding, -7);
  const Result &pool = signature.results[1];
  EXPECT(pool.inPlace && pool.pool == 2);
  EXPECT(pool.rows.layout == Layout::Pool);
  EXPECT(signature.results[2].rows.layout == Layout::PackedSnapshots);
  EXPECT_EQ(signature.results[2].rows.every, 4);
  EXPECT_EQ(signature.results[2].rows.sequences.seqlens, 3);
  EXPECT_EQ(signature.results[2].rows.sequences.padding, -7);
}

TEST(SignatureSizesFollowFromOffsetsAndSlots) {
  auto module = parse(kPacked);
  Signature signature = signatureOf(*module);
  InputOptions options;
  options.seqlens = {0, 3, 3, 5};
  options.slots = {6, -7, 0};
  Inputs inputs = llvm::cantFail(makeInputs(signature, options));
  EXPECT_EQ(inputs.sizes["T"], 5);
  EXPECT_EQ(inputs.sizes["N"], 3);
  EXPECT_EQ(inputs.sizes["P"], 7);
  options.sizes = {"T=7"};
  inputs = llvm::cantFail(makeInputs(signature, options));
  EXPECT_EQ(inputs.sizes["T"], 7);
  // Rows beyond the last offset are NaN: nothing may read them.
  EXPECT(inputs.buffers[0].getFloat(5 * 8) !=
         inputs.buffers[0].getFloat(5 * 8));
  EXPECT(inputs.buffers[0].getFloat(4 * 8) ==
         inputs.buffers[0].getFloat(4 * 8));
  options.sizes = {"T=4"};
  EXPECT_EQ(messageOf(makeInputs(signature, options)),
            "seqlens 'cu' do not pass the rows of their tokens, 4, got 5");
  options.sizes = {"P=3"};
  EXPECT_EQ(messageOf(makeInputs(signature, options)),
            "slots 'slots' are the padding -7 or a state of the pool, 0 to 2, "
            "got 6 at element 0");
  options.sizes = {};
  options.slots = {0, 1};
  EXPECT_EQ(messageOf(makeInputs(signature, options)),
            "dimension N is 3 by --seqlens, but 2 by --slots");
}

TEST(SignatureAttentionAndNames) {
  auto module = parse(R"mlir(
func.func @attention(%x: tensor<?x?x4x4xf32> {linattn.dims = ["batch", "len", "", ""]},
    %k: tensor<?x?x2x4xf32>, %l: tensor<?x?x2xf32>) -> tensor<?x?x2x4xf32> {
  %v = arith.negf %k : tensor<?x?x2x4xf32>
  %o = linattn.diff_attention v2 %x, %k, %v, %l
      : (tensor<?x?x4x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
         tensor<?x?x2xf32>) -> tensor<?x?x2x4xf32>
  %m = arith.negf %o : tensor<?x?x2x4xf32>
  return %m : tensor<?x?x2x4xf32>
}
)mlir");
  Signature signature = signatureOf(*module);
  const char *want[] = {"0[batch,len,4,4] value", "1[B,S,2,4] value",
                        "2[B,T,2] raw"};
  for (auto [argument, text] : llvm::zip_equal(signature.arguments, want))
    EXPECT_EQ(describe(argument), text);
  // The name in the attribute and the one by use are one size.
  EXPECT_EQ(signature.canonicalName("T"), signature.canonicalName("len"));
  const Result &result = signature.results[0];
  EXPECT(result.rows.layout == Layout::Tokens && !result.direct);
}

TEST(SignatureRefusesWhatItCannotRun) {
  auto errorOf = [](llvm::StringRef text, llvm::StringRef name = "") {
    auto module = parse(text);
    auto function = selectFunction(*module, name);
    if (!function)
      return llvm::toString(function.takeError());
    return messageOf(analyzeSignature(*function));
  };
  EXPECT_EQ(errorOf("func.func @f(%x: f32) { return }"),
            "argument '0' is a ranked tensor of f16, bf16, f32, f64, i32 or "
            "i64, got f32");
  EXPECT_EQ(errorOf("func.func @f(%x: tensor<2xi8>) { return }"),
            "argument '0' is a ranked tensor of f16, bf16, f32, f64, i32 or "
            "i64, got tensor<2xi8>");
  EXPECT_EQ(errorOf("func.func @f(%x: tensor<2xf32> {linattn.name = \"a\"}, "
                    "%y: tensor<2xf32> {linattn.name = \"a\"}) { return }"),
            "two arguments of @f have the name 'a'");
  EXPECT_EQ(errorOf("func.func private @f(tensor<2xf32>)"),
            "the module has no public function with a body");
  EXPECT_EQ(errorOf("func.func @f() { return } func.func @g() { return }"),
            "the module has several public functions, name one with "
            "--function=NAME: @f, @g");
  EXPECT_EQ(errorOf("func.func @f() { return }", "h"),
            "--function=h: no such function with a body; there are: @f");
}

TEST(SignatureKnowsRoundingInside) {
  auto module = parse(R"mlir(
func.func @f(%k: tensor<?x?x1x2xbf16>, %s: tensor<?x1x2x2xf32>) -> tensor<?x1x2x2xf32> {
  %r = linattn.recurrence tokens(%k : tensor<?x?x1x2xbf16>)
      state(%s : tensor<?x1x2x2xf32>) -> (tensor<?x1x2x2xf32>) {
  ^step(%kt: vector<2xbf16>, %st: !linattn.state<2x2xf32>):
    %k2 = arith.mulf %kt, %kt : vector<2xbf16>
    %s1 = linattn.write %st, %k2, %kt
        : !linattn.state<2x2xf32>, vector<2xbf16>, vector<2xbf16>
    linattn.yield %s1 : !linattn.state<2x2xf32>
  }
  return %r : tensor<?x1x2x2xf32>
}
)mlir");
  EXPECT(signatureOf(*module).computesIn16Bit);
}
