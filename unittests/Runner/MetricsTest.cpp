//===- MetricsTest.cpp - what counts as right -----------------------------===//

#include "linattn/Runner/Metrics.h"
#include "Testing.h"

#include <cmath>
#include <limits>

using namespace linattn::runner;
using linattn::testing::messageOf;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static const double kNaN = std::nan("");

static Buffer make(DType type, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<double> values) {
  Buffer buffer = llvm::cantFail(Buffer::allocate(type, shape, "test"));
  buffer.write(0, values.size(), values.data());
  return buffer;
}

static Buffer makeInts(llvm::ArrayRef<int32_t> values) {
  Buffer buffer = llvm::cantFail(
      Buffer::allocate(DType::I32, {int64_t(values.size())}, "test"));
  std::copy(values.begin(), values.end(), buffer.as<int32_t>());
  return buffer;
}

/// A result [B, T, H] of the given type.
static Comparison compareTokens(DType type, llvm::ArrayRef<int64_t> shape,
                                llvm::ArrayRef<double> got,
                                llvm::ArrayRef<double> want) {
  Result result;
  result.type = type;
  result.rank = shape.size();
  result.rows.layout = Layout::Tokens;
  result.headDim = 2;
  RowMap rows = mapRows(result.rows, shape, {});
  return compare(make(type, shape, got), make(DType::F64, shape, want), nullptr,
                 result, rows, errorLimit(result, false));
}

TEST(MetricsRelativeRMS) {
  // Head 0: error 0.3 of 5; head 1: 4 of 100 in its second row.
  Comparison c =
      compareTokens(DType::F64, {1, 2, 2}, {3.3, 100, 4, 4}, {3, 100, 4, 0});
  EXPECT(std::fabs(c.worst - 0.06) < 1e-12 ||
         std::fabs(c.worst - 0.04) < 1e-12);
  EXPECT_EQ(c.worstHead, 0);
  EXPECT(std::fabs(c.worst - 0.06) < 1e-12);
  double whole = std::sqrt((0.09 + 16) / (9 + 10000 + 16));
  EXPECT(std::fabs(c.relativeRMS - whole) < 1e-12);
  EXPECT(!c.ok());
  EXPECT(c.faults.empty());
}

TEST(MetricsLimitsByType) {
  Result result;
  for (auto [type, limit] :
       {std::pair(DType::F32, 1e-4), std::pair(DType::BF16, 5e-3),
        std::pair(DType::F16, 5e-3), std::pair(DType::F64, 1e-12)}) {
    result.type = type;
    EXPECT_EQ(errorLimit(result, false), limit);
    EXPECT_EQ(errorLimit(result, true), 5e-3);
  }
  EXPECT(compareTokens(DType::F32, {1, 1, 1}, {1.00009}, {1}).ok());
  EXPECT(!compareTokens(DType::F32, {1, 1, 1}, {1.00011}, {1}).ok());
}

TEST(MetricsRoundingModelRaisesLimits) {
  Comparison c;
  c.limit = c.worstLimit = 5e-3;
  c.relativeRMS = 5.5e-3;
  c.worst = 7e-3;
  c.allowModel(); // there is none
  EXPECT(!c.ok());
  c.model = {4e-3, 5e-3};
  c.allowModel();
  EXPECT(std::fabs(c.limit - 6e-3) < 1e-12);
  EXPECT(std::fabs(c.worstLimit - 7.5e-3) < 1e-12);
  EXPECT(c.ok());
  c.worst = 7.6e-3;
  EXPECT(!c.ok());
  // A model that errs little takes nothing away.
  Comparison small;
  small.limit = small.worstLimit = 5e-3;
  small.model = {1e-3, 1e-3};
  small.allowModel();
  EXPECT_EQ(small.limit, 5e-3);
  // A model that errs much, or whose error is no number, does not excuse it.
  for (double error : {0.5, kInfinity, kNaN}) {
    Comparison large;
    large.limit = large.worstLimit = 5e-3;
    large.model = {error, error};
    large.allowModel();
    EXPECT(large.limit <= 5e-2 && large.worstLimit <= 5e-2);
  }
}

TEST(MetricsPlainData) {
  Signature signature;
  Argument state;
  state.name = "s0";
  state.sample = SampleKind::State;
  state.dims.resize(4);
  state.dims[2].size = 64;
  Inputs inputs;
  inputs.given = {false};
  signature.arguments = {state};
  EXPECT(isPlain(signature, inputs));
  signature.arguments[0].dims[2].size = 60;
  EXPECT(!isPlain(signature, inputs));
  signature.arguments[0].dims[2].size = 64;
  inputs.given = {true};
  EXPECT(!isPlain(signature, inputs));
  inputs.given = {false};
  signature.arguments[0].sample = SampleKind::Rate2;
  EXPECT(!isPlain(signature, inputs));
}

TEST(MetricsZeroReference) {
  EXPECT(compareTokens(DType::F32, {1, 1, 2}, {0, 1}, {0, 1}).ok());
  Comparison c = compareTokens(DType::F32, {1, 1, 2}, {1e-30, 1}, {0, 1});
  EXPECT(!c.ok());
  EXPECT_EQ(c.worst, kInfinity);
  EXPECT_EQ(c.faults.size(), 1u);
  EXPECT_EQ(c.faults[0],
            "the reference of sequence 0, head 0 is 0, the result is not");
  // One zero beside others is an ordinary value.
  EXPECT(compareTokens(DType::F32, {1, 2, 1}, {1e-8, 1}, {0, 1}).ok());
}

TEST(MetricsSpecialValuesStandInTheSamePlaces) {
  EXPECT(compareTokens(DType::F32, {1, 4, 1}, {kInfinity, -kInfinity, kNaN, 1},
                       {kInfinity, -kInfinity, kNaN, 1})
             .ok());
  Comparison c =
      compareTokens(DType::F32, {1, 2, 1}, {kInfinity, 1}, {-kInfinity, 1});
  EXPECT(!c.ok());
  EXPECT_EQ(c.faults[0], "1 element(s) differ in being inf or NaN: element 0 "
                         "is inf, the oracle has -inf");
  EXPECT(!compareTokens(DType::F32, {1, 2, 1}, {kNaN, 1}, {1, 1}).ok());
  // Nor are they small errors where nothing else is compared.
  for (double got : {kNaN, kInfinity, 1.0}) {
    Comparison all =
        compareTokens(DType::F32, {1, 2, 1}, {got, got},
                      {std::isnan(got) ? kInfinity : kNaN, -kInfinity});
    EXPECT(!all.ok());
    EXPECT_EQ(all.relativeRMS, kInfinity);
    EXPECT_EQ(all.worst, kInfinity);
  }
  EXPECT(!compareTokens(DType::F32, {1, 2, 1}, {1, 1}, {kNaN, 1}).ok());
  EXPECT(!compareTokens(DType::F32, {1, 2, 1}, {3e38, 1}, {kInfinity, 1}).ok());
  // What is finite in double may be infinite in the type of the result.
  EXPECT(compareTokens(DType::F32, {1, 2, 1}, {kInfinity, 1}, {1e39, 1}).ok());
  EXPECT(compareTokens(DType::F16, {1, 2, 1}, {kInfinity, 1}, {65520, 1}).ok());
  EXPECT(
      !compareTokens(DType::F16, {1, 2, 1}, {kInfinity, 1}, {65519, 1}).ok());
}

TEST(MetricsVerySmallAndVeryLarge) {
  // Squares of these are 0 or infinite.
  EXPECT(compareTokens(DType::F64, {1, 1, 2}, {1e200, 1e-200}, {1e200, 1e-200})
             .ok());
  Comparison c =
      compareTokens(DType::F64, {1, 1, 2}, {1e200, 1.1e-200}, {1e200, 1e-200});
  EXPECT(std::fabs(c.worst - 0.1) < 1e-12);
  EXPECT_EQ(c.worstHead, 1);
  // Below the normal numbers of float there is nothing to compare.
  EXPECT(compareTokens(DType::F32, {1, 1, 1}, {0}, {1e-60}).ok());
  EXPECT(compareTokens(DType::BF16, {1, 1, 1}, {1e-39}, {1.2e-39}).ok());
  EXPECT(!compareTokens(DType::F32, {1, 1, 1}, {0}, {1e-30}).ok());
}

TEST(MetricsRowsOfNoSequence) {
  // Packed, capacity 5: sequences [0, 2), [2, 2), [2, 4); row 4 is beyond.
  Result result;
  result.type = DType::F32;
  result.rank = 2;
  result.rows.layout = Layout::PackedTokens;
  result.rows.sequences.seqlens = 0;
  result.headDim = 1;
  Buffer inputs[] = {makeInts({0, 2, 2, 4})};
  RowMap rows = mapRows(result.rows, {5, 1}, inputs);
  EXPECT((rows.sequence == std::vector<int64_t>{0, 0, 2, 2, -1}));
  Buffer before = make(DType::F32, {5, 1}, {9, 9, 9, 9, 9});
  Buffer reference = make(DType::F64, {5, 1}, {1, 2, 3, 4, 0});
  auto check = [&](llvm::ArrayRef<double> got) {
    return compare(make(DType::F32, {5, 1}, got), reference, &before, result,
                   rows, 1e-4);
  };
  EXPECT(check({1, 2, 3, 4, 9}).ok());
  Comparison c = check({1, 2, 3, 4, 0});
  EXPECT_EQ(c.faults[0], "1 row(s) that belong to no sequence were written, "
                         "the first one is 4");
  EXPECT_EQ(check({1, 2, 3, 5, 9}).worstSequence, 2);
}

TEST(MetricsPaddingSlots) {
  RowLayout tokens, pool;
  tokens.layout = Layout::Tokens;
  pool.layout = Layout::Pool;
  for (RowLayout *layout : {&tokens, &pool}) {
    layout->sequences.slots = 0;
    layout->sequences.padding = -1;
  }
  Buffer inputs[] = {makeInts({2, -1, 0})};
  EXPECT((mapRows(tokens, {3, 2, 1}, inputs).sequence ==
          std::vector<int64_t>{0, 0, -1, -1, 2, 2}));
  EXPECT((mapRows(pool, {4, 1, 2, 2}, inputs).sequence ==
          std::vector<int64_t>{0, -1, 2, -1}));
}

TEST(MetricsPackedSnapshots) {
  // Every 4 tokens; lengths 5, 0, 4: rows 0, 1 | - | 1 + 2 = 3.
  RowLayout layout;
  layout.layout = Layout::PackedSnapshots;
  layout.sequences.seqlens = 0;
  layout.every = 4;
  Buffer inputs[] = {makeInts({0, 5, 5, 9})};
  EXPECT((mapRows(layout, {5, 1, 2, 2}, inputs).sequence ==
          std::vector<int64_t>{0, 0, -1, 2, -1}));
}

TEST(RowsCheckOffsetsAndSlots) {
  auto seqlens = [](llvm::ArrayRef<int32_t> values,
                    std::optional<int64_t> rows) {
    return messageOf(checkSeqlens(makeInts(values), "cu", rows));
  };
  EXPECT_EQ(seqlens({0, 0, 64, 64}, 100), "");
  EXPECT_EQ(seqlens({}, 100), "seqlens 'cu' have N + 1 elements, got none");
  EXPECT_EQ(seqlens({1, 2}, 100), "seqlens 'cu' start at 0, got 1");
  EXPECT_EQ(seqlens({0, 5, 3}, 100),
            "seqlens 'cu' do not decrease, got 5 before 3 at element 2");
  EXPECT_EQ(seqlens({0, 101}, 100),
            "seqlens 'cu' do not pass the rows of their tokens, 100, got 101");
  auto slots = [](llvm::ArrayRef<int32_t> values) {
    return messageOf(checkSlots(makeInts(values), "slots", -1, 4));
  };
  EXPECT_EQ(slots({2, -1, 0, -1}), "");
  EXPECT_EQ(slots({2, 4}), "slots 'slots' are the padding -1 or a state of the "
                           "pool, 0 to 3, got 4 at element 1");
  EXPECT_EQ(slots({-2}), "slots 'slots' are the padding -1 or a state of the "
                         "pool, 0 to 3, got -2 at element 0");
  EXPECT_EQ(slots({2, -1, 2}), "slots 'slots' name a state once, got 2 at "
                               "elements 0 and 2");
}
