// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/angle.h"

#include <cmath>
#include <numbers>
#include <random>

#include "gtest/gtest.h"

namespace arclane::testing {
namespace {

TEST(AngleTest, AgreesWithAtan2InEveryDirectionAndScale) {
  constexpr double kRelative = 4e-16;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> turn(-std::numbers::pi, std::numbers::pi);
  std::uniform_real_distribution<double> exponent(-40.0, 40.0);
  for (int i = 0; i < 200'000; ++i) {
    const double angle = turn(random);
    const double scale = std::exp2(exponent(random));
    // Every fourth close to an axis.
    const double y = scale * std::sin(angle) * (i % 4 == 0 ? 1e-9 : 1.0);
    const double x = scale * std::cos(angle) * (i % 8 == 1 ? 1e-9 : 1.0);
    const double expected = std::atan2(y, x);
    EXPECT_NEAR(AngleOf(y, x), expected, kRelative * std::abs(expected)) << y << " " << x;
    EXPECT_EQ(AngleOf(-y, x), -AngleOf(y, x));
  }
}

TEST(AngleTest, AxesAndZeros) {
  EXPECT_EQ(AngleOf(0.0, 1.0), 0.0);
  EXPECT_EQ(AngleOf(0.0, 0.0), 0.0);
  EXPECT_EQ(AngleOf(1.0, 0.0), std::numbers::pi / 2);
  EXPECT_EQ(AngleOf(-1.0, 0.0), -std::numbers::pi / 2);
  EXPECT_EQ(AngleOf(0.0, -1.0), std::numbers::pi);
  EXPECT_EQ(AngleOf(-0.0, -1.0), -std::numbers::pi);
  EXPECT_NEAR(AngleOf(1.0, 1.0), std::numbers::pi / 4, 1e-16);
}

}  // namespace
}  // namespace arclane::testing
