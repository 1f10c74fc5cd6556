//===- SamplesTest.cpp - what is drawn, by kind ---------------------------===//

#include "linattn/Runner/Samples.h"
#include "Testing.h"

#include <cmath>
#include <limits>
#include <set>

using namespace linattn::runner;
using linattn::testing::messageOf;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

static Argument makeArgument(SampleKind kind, Layout layout = Layout::Tokens) {
  Argument argument;
  argument.name = "x";
  argument.sample = kind;
  argument.rows.layout = layout;
  return argument;
}

static std::vector<double> draw(SampleKind kind, llvm::ArrayRef<int64_t> shape,
                                SampleOptions options = {},
                                DType type = DType::F64,
                                Layout layout = Layout::Tokens) {
  Buffer buffer = llvm::cantFail(Buffer::allocate(type, shape, "x"));
  sample(buffer, makeArgument(kind, layout), options);
  std::vector<double> values(buffer.getNumElements());
  buffer.read(0, values.size(), values.data());
  return values;
}

static SampleOptions gates(GateDistribution distribution, uint64_t seed = 0) {
  SampleOptions options;
  options.gates = distribution;
  options.seed = seed;
  return options;
}

TEST(SamplesAreTheSameForEveryType) {
  for (SampleKind kind :
       {SampleKind::Value, SampleKind::UnitKey, SampleKind::LogGate,
        SampleKind::RawGate, SampleKind::Rate, SampleKind::State}) {
    std::vector<double> wide = draw(kind, {3, 50, 4, 33});
    for (DType type : {DType::F16, DType::BF16, DType::F32}) {
      std::vector<double> narrow = draw(kind, {3, 50, 4, 33}, {}, type);
      for (size_t i = 0; i < wide.size(); ++i)
        EXPECT_EQ(narrow[i], roundTo(type, wide[i]));
    }
  }
}

TEST(SamplesDifferBySeedAndName) {
  SampleOptions other;
  other.seed = 1;
  EXPECT(draw(SampleKind::Value, {1, 1, 8}) ==
         draw(SampleKind::Value, {1, 1, 8}));
  EXPECT(draw(SampleKind::Value, {1, 1, 8}) !=
         draw(SampleKind::Value, {1, 1, 8}, other));
  // A longer tensor begins with the shorter one: T does not change the data.
  std::vector<double> small = draw(SampleKind::Value, {1, 4, 8});
  std::vector<double> large = draw(SampleKind::Value, {1, 4000, 8});
  EXPECT(std::equal(small.begin(), small.end(), large.begin()));
}

TEST(SamplesUnitKeysAreIndependentUnitVectors) {
  // 100 does not divide a block of values.
  constexpr int64_t rows = 300, size = 100;
  std::vector<double> keys = draw(SampleKind::UnitKey, {1, rows, 1, size});
  double squares = 0;
  for (int64_t r = 0; r < rows; ++r) {
    double norm = 0, dot = 0;
    for (int64_t i = 0; i < size; ++i) {
      norm += keys[r * size + i] * keys[r * size + i];
      dot += keys[r * size + i] * keys[(r + 1) % rows * size + i];
    }
    EXPECT(std::fabs(norm - 1) < 1e-14);
    squares += dot * dot / rows;
  }
  // The dot product of random directions has variance 1 / size.
  EXPECT(std::fabs(squares * size - 1) < 0.5);
}

TEST(SamplesGateDistributions) {
  auto all = [](const std::vector<double> &values, auto inside) {
    return std::all_of(values.begin(), values.end(), inside);
  };
  auto draws = [](GateDistribution distribution) {
    return draw(SampleKind::LogGate, {2, 500, 4}, gates(distribution));
  };
  EXPECT(all(draws(GateDistribution::None), [](double g) { return g == 0; }));
  EXPECT(
      all(draws(GateDistribution::Strong), [](double g) { return g == -8; }));
  std::vector<double> slow = draws(GateDistribution::Slow);
  EXPECT(all(slow, [](double g) { return g <= 0 && g >= -2e-3; }));
  EXPECT(*std::min_element(slow.begin(), slow.end()) < -1.9e-3);
  std::vector<double> usual = draws(GateDistribution::Usual);
  EXPECT(all(usual, [](double g) { return g < 0 && g > -10; }));
  std::vector<double> extreme = draws(GateDistribution::Extreme);
  EXPECT(all(extreme, [](double g) { return g == -1000 || g == -kInfinity; }));
  double share = std::count(extreme.begin(), extreme.end(), -1000.0) /
                 double(extreme.size());
  EXPECT(std::fabs(share - 0.5) < 0.05);
}

TEST(SamplesMixedGatesStayInTheirChannel) {
  constexpr int64_t tokens = 200, channels = 120;
  std::vector<double> mixed = draw(SampleKind::LogGate, {1, tokens, channels},
                                   gates(GateDistribution::Mixed));
  auto kindOf = [](double g) {
    return g == 0       ? 'n'
           : g == -8    ? 's'
           : g <= -1000 ? 'e'
           : g >= -2e-3 ? 'w'
                        : 'u';
  };
  std::multiset<char> constant;
  int varying = 0;
  for (int64_t c = 0; c < channels; ++c) {
    std::multiset<char> seen;
    for (int64_t t = 0; t < tokens; ++t)
      seen.insert(kindOf(mixed[t * channels + c]));
    // A usual gate is rarely as close to 0 as a slow one.
    int minor =
        tokens - std::max({seen.count('n'), seen.count('s'), seen.count('e'),
                           seen.count('w'), seen.count('u')});
    if (minor > tokens / 10)
      ++varying;
    else
      constant.insert(kindOf(mixed[c]));
  }
  EXPECT(varying > 5 && varying < 50);
  for (char kind : {'n', 's', 'e', 'w', 'u'})
    EXPECT(constant.count(kind) > 5);
}

TEST(SamplesDerivedGates) {
  for (auto distribution :
       {GateDistribution::None, GateDistribution::Usual, GateDistribution::Slow,
        GateDistribution::Strong, GateDistribution::Extreme,
        GateDistribution::Mixed}) {
    std::vector<double> log =
        draw(SampleKind::LogGate, {1, 100, 8}, gates(distribution));
    std::vector<double> linear =
        draw(SampleKind::LinearGate, {1, 100, 8}, gates(distribution));
    std::vector<double> raw =
        draw(SampleKind::RawGate, {1, 100, 8}, gates(distribution));
    for (size_t i = 0; i < log.size(); ++i) {
      EXPECT(std::fabs(linear[i] - std::exp(log[i])) < 1e-15);
      double softplus =
          std::fmax(raw[i], 0) + std::log1p(std::exp(-std::fabs(raw[i])));
      // A projection is finite; e^-10000 is 0 as e^-inf is.
      double wanted = std::fmin(-log[i], 1e4);
      EXPECT(softplus == wanted ||
             std::fabs(softplus - wanted) < 1e-12 * wanted);
    }
  }
}

TEST(SamplesRatesStatesAndParameters) {
  for (double x : draw(SampleKind::Rate, {1, 1000, 4}))
    EXPECT(x > 0 && x < 1);
  std::vector<double> rate2 = draw(SampleKind::Rate2, {1, 1000, 4});
  EXPECT(*std::max_element(rate2.begin(), rate2.end()) > 1.5);
  EXPECT(*std::min_element(rate2.begin(), rate2.end()) >= 0);
  for (SampleKind kind : {SampleKind::ALog, SampleKind::Raw})
    for (double x : draw(kind, {64}, {}, DType::F64, Layout::Other))
      EXPECT(std::fabs(x) < 0.5);
  SampleOptions zero;
  zero.state = InitialState::Zero;
  for (double x : draw(SampleKind::State, {2, 3, 4, 5}, zero))
    EXPECT_EQ(x, 0.0);
  for (double x : draw(SampleKind::State, {2, 3, 4, 5}))
    EXPECT(x != 0);
}

TEST(SamplesSeqlensAndSlots) {
  Buffer offsets = llvm::cantFail(Buffer::allocate(DType::I32, {6}, "cu"));
  sampleSeqlens(offsets, makeArgument(SampleKind::Seqlens), 100, {});
  EXPECT_EQ(offsets.getInt(0), 0);
  EXPECT_EQ(offsets.getInt(5), 100);
  for (int i = 0; i < 5; ++i)
    EXPECT(offsets.getInt(i) <= offsets.getInt(i + 1));
  Buffer slots = llvm::cantFail(Buffer::allocate(DType::I64, {8}, "slots"));
  EXPECT_EQ(
      messageOf(sampleSlots(slots, makeArgument(SampleKind::Slots), 10, {})),
      "");
  std::set<int64_t> seen;
  for (int i = 0; i < 8; ++i)
    seen.insert(slots.getInt(i));
  EXPECT_EQ(seen.size(), 8u);
  EXPECT(*seen.begin() >= 0 && *seen.rbegin() < 10);
  EXPECT_EQ(
      messageOf(sampleSlots(slots, makeArgument(SampleKind::Slots), 7, {})),
      "argument 'x': 8 sequences need as many slots, but the pool has "
      "7; give slots with --slots or a larger P");
}
