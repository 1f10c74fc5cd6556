//===- RandomTest.cpp - the generator and its functions -------------------===//

#include "linattn/Runner/Random.h"
#include "Testing.h"

#include <cmath>
#include <limits>

using namespace linattn::runner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// In units of the last place of a double, or the absolute value near 0.
static double relativeError(double got, double want) {
  return std::fabs(got - want) / std::max(std::fabs(want), 1e-300);
}

TEST(RandomFunctionsAgreeWithTheLibrary) {
  RandomStream stream(7, "x");
  for (int i = 0; i < 100000; ++i) {
    double x = (stream.uniform(i) - 0.5) * 1400;
    EXPECT(relativeError(portableExp(x), std::exp(x)) < 1e-15);
    double y = std::exp(x / 2);
    EXPECT(std::fabs(portableLog(y) - std::log(y)) <
           1e-15 * std::max(1.0, std::fabs(std::log(y))));
    double z = x / 20;
    EXPECT(relativeError(portableSigmoid(z), 1 / (1 + std::exp(-z))) < 2e-15);
    EXPECT(std::fabs(portableLogSigmoid(z) + std::log1p(std::exp(-z))) < 1e-14);
  }
  EXPECT_EQ(portableExp(-kInfinity), 0.0);
  EXPECT_EQ(portableExp(kInfinity), kInfinity);
  EXPECT(std::isnan(portableExp(std::nan(""))));
  EXPECT_EQ(portableLog(1.0), 0.0);
}

TEST(RandomInverseSoftplus) {
  for (double y : {1e-12, 1e-3, 2e-3, 0.1, 0.49, 0.51, 1.0, 8.0, 100.0}) {
    double x = portableInverseSoftplus(y);
    double softplus = std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
    EXPECT(relativeError(softplus, y) < 1e-13);
  }
  EXPECT_EQ(portableInverseSoftplus(1000.0), 1000.0);
  EXPECT_EQ(portableInverseSoftplus(kInfinity), kInfinity);
  EXPECT_EQ(std::exp(portableInverseSoftplus(0.0)), 0.0);
}

TEST(RandomNormalsAreNormal) {
  constexpr int n = 1 << 20;
  std::vector<double> x(n);
  RandomStream(3, "normals").normals(0, n, x.data());
  double moments[5] = {}, lag = 0;
  int beyond = 0;
  for (int i = 0; i < n; ++i) {
    double power = 1;
    for (int k = 1; k <= 4; ++k)
      moments[k] += (power *= x[i]) / n;
    lag += i + 1 < n ? x[i] * x[i + 1] / n : 0;
    beyond += std::fabs(x[i]) > 2;
  }
  // Five standard errors each.
  double s = 5 / std::sqrt(double(n));
  EXPECT(std::fabs(moments[1]) < s);
  EXPECT(std::fabs(moments[2] - 1) < s * std::sqrt(2.0));
  EXPECT(std::fabs(moments[3]) < s * std::sqrt(15.0));
  EXPECT(std::fabs(moments[4] - 3) < s * std::sqrt(96.0));
  EXPECT(std::fabs(lag) < s);
  EXPECT(std::fabs(beyond / double(n) - 0.0455003) < s * 0.2084);
}

TEST(RandomStreamsDependOnSeedNameAndPositionAlone) {
  RandomStream a(1, "q"), b(1, "q"), c(2, "q"), d(1, "k");
  std::vector<double> whole(100), part(40);
  a.normals(0, 100, whole.data());
  a.normals(60, 40, part.data());
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(part[i], whole[60 + i]);
  EXPECT_EQ(a.bits(5), b.bits(5));
  EXPECT(a.bits(5) != c.bits(5));
  EXPECT(a.bits(5) != d.bits(5));
  for (int i = 0; i < 1000; ++i)
    EXPECT(a.below(i, 7) < 7);
}

// Values that another platform must give too, to the last bit.
TEST(RandomValuesArePinned) {
  RandomStream stream(1, "q");
  double x[2];
  stream.normals(0, 2, x);
  EXPECT_EQ(stream.bits(0), 0x982a79a42248bd69u);
  EXPECT_EQ(x[0], 0x1.83f20ff45c48p-1);
  EXPECT_EQ(x[1], 0x1.1bfe136d99935p+0);
}
