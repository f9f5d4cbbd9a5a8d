// SPDX-License-Identifier: Apache-2.0
// The reported error bound holds everywhere, not only where the map measured itself; and curves of
// extreme size behave as those of ordinary size do.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/sample.h"

namespace arclane {
namespace {

struct Chain {
  std::vector<double> x, y, z;

  CurveInput Input() const {
    CurveInput input;
    input.control = {x, y, z};
    return input;
  }
  std::string Text() const {
    std::ostringstream text;
    text.precision(17);
    for (size_t i = 0; i < x.size(); ++i) {
      text << " [" << x[i] << "," << y[i];
      if (!z.empty()) text << "," << z[i];
      text << "]";
    }
    return text.str();
  }
};

// Bezier chains: wild ones, ones with a near-cusp of random narrowness, ones with doubled controls,
// and gentle ones that are one span a segment.
Chain RandomChain(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-100.0, 100.0);
  const bool spatial = random() % 2 == 0;
  const uint64_t shape = random() % 4;
  Chain chain;
  for (int i = 0; i < 7; ++i) {
    chain.x.push_back(uniform(random));
    chain.y.push_back(uniform(random));
    if (spatial) chain.z.push_back(uniform(random));
  }
  if (shape == 1) {
    const double gap = std::pow(10.0, -static_cast<double>(random() % 10));
    const double x[4] = {0.0, 1.0 + gap, 0.0, 1.0}, y[4] = {0.0, 1.0, 1.0, 0.0};
    for (int i = 0; i < 4; ++i) {
      chain.x[i] = x[i];
      chain.y[i] = y[i];
      if (spatial) chain.z[i] = 1e-3 * gap * i;
    }
  } else if (shape == 2) {
    const size_t i = 1 + random() % 5;
    chain.x[i] = chain.x[i - 1];
    chain.y[i] = chain.y[i - 1];
    if (spatial) chain.z[i] = chain.z[i - 1];
  } else if (shape == 3) {
    for (int i = 0; i < 7; ++i) chain.x[i] = 60.0 * i + 0.1 * chain.x[i];
  }
  return chain;
}

TEST(SplineBoundTest, HoldsBetweenTheMeasuredPoints) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 random(seed);
    const Chain chain = RandomChain(random);
    const auto curve = Curve::Create(chain.Input());
    ASSERT_TRUE(curve.ok()) << curve.status();
    const auto exact = ArcLengthMap::Create(*curve, {1e-12, InverseMode::kDirect});
    ASSERT_TRUE(exact.ok());
    for (const double bound : {1e-3, 1e-5, 1e-7, 1e-9, 1e-11}) {
      for (const InverseMode mode : {InverseMode::kTabulated, InverseMode::kDirect}) {
        const auto map = ArcLengthMap::Create(*curve, {bound, mode});
        ASSERT_TRUE(map.ok());
        SCOPED_TRACE("seed " + std::to_string(seed) + " bound " + std::to_string(bound) + " mode " +
                     std::to_string(static_cast<int>(mode)) + chain.Text());
        EXPECT_LE(map->error_bound(), bound * map->length());
        const double allowed = map->error_bound() + exact->error_bound();
        EXPECT_NEAR(map->length(), exact->length(), allowed);
        double worst = 0.0;
        constexpr int kProbes = 997;
        for (int k = 0; k <= kProbes; ++k) {
          const double s = map->length() * k / kProbes;
          const CurveLocation at = map->LocationAt(s);
          worst = std::max(worst, std::abs(exact->DistanceAt(at.segment, at.parameter) - s));
        }
        EXPECT_LE(worst, allowed);
      }
    }
    if (HasFailure()) return;
  }
}

struct Samples {
  explicit Samples(size_t n)
      : x(n), y(n), z(n), tx(n), ty(n), tz(n), curvature(n), segment(n), parameter(n), marks(n) {}
  std::vector<double> x, y, z, tx, ty, tz, curvature;
  std::vector<int32_t> segment;
  std::vector<double> parameter;
  std::vector<uint8_t> marks;
};

Samples Take(const ArcLengthMap& map, size_t count) {
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = count;
  const auto layout = LayOutSamples(map, request);
  EXPECT_TRUE(layout.ok()) << layout.status();
  Samples s(layout->count);
  SampleCurve(map, *layout,
              {{}, s.x, s.y, s.z, s.tx, s.ty, s.tz, s.curvature, s.segment, s.parameter, s.marks});
  return s;
}

TEST(SplineExtremesTest, PowersOfTwoScaleEveryResultExactlyOrAreRefused) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const Chain chain = RandomChain(random);
    const auto map = ArcLengthMap::Create(*Curve::Create(chain.Input()));
    ASSERT_TRUE(map.ok());
    const Samples expected = Take(*map, 101);
    for (int exponent = -600; exponent <= 600; exponent += 75) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " exponent " + std::to_string(exponent) +
                   chain.Text());
      const double scale = std::ldexp(1.0, exponent);
      Chain scaled = chain;
      double largest = 0.0;
      for (auto* column : {&scaled.x, &scaled.y, &scaled.z}) {
        for (double& value : *column) {
          value *= scale;
          largest = std::max(largest, std::abs(value));
        }
      }
      const auto curve = Curve::Create(scaled.Input());
      if (largest > CurveLimits{}.max_coordinate) {
        EXPECT_EQ(curve.status().code(), absl::StatusCode::kInvalidArgument);
        continue;
      }
      ASSERT_TRUE(curve.ok()) << curve.status();
      const auto other = ArcLengthMap::Create(*curve);
      ASSERT_TRUE(other.ok()) << other.status();
      ASSERT_EQ(other->length(), map->length() * scale);
      EXPECT_EQ(other->error_bound(), map->error_bound() * scale);
      const Samples got = Take(*other, 101);
      for (size_t i = 0; i < 101; ++i) {
        ASSERT_EQ(got.x[i], expected.x[i] * scale) << i;
        ASSERT_EQ(got.y[i], expected.y[i] * scale) << i;
        ASSERT_EQ(got.z[i], expected.z[i] * scale) << i;
        ASSERT_EQ(got.tx[i], expected.tx[i]) << i;
        ASSERT_EQ(got.ty[i], expected.ty[i]) << i;
        ASSERT_EQ(got.tz[i], expected.tz[i]) << i;
        ASSERT_EQ(got.segment[i], expected.segment[i]) << i;
        ASSERT_EQ(got.parameter[i], expected.parameter[i]) << i;
        ASSERT_EQ(got.marks[i], expected.marks[i]) << i;
        if (std::isnan(expected.curvature[i])) {
          ASSERT_TRUE(std::isnan(got.curvature[i])) << i;
        } else {
          ASSERT_EQ(got.curvature[i] * scale, expected.curvature[i]) << i;
        }
      }
    }
  }
}

TEST(SplineExtremesTest, DistinctPointsNeverHaveLengthZero) {
  const double denormal = std::numeric_limits<double>::denorm_min();
  const double ulp = std::nextafter(1e7, 1e8) - 1e7;
  const std::vector<Chain> chains = {
      {{0, 0, 0, denormal}, {0, 0, 0, 0}, {}},
      {{0, 0, 0, 0}, {0, 1e-320, 0, 0}, {}},
      {{0, 1e-310, 2e-310, 3e-310}, {0, 0, 1e-310, 0}, {}},
      {{1e7, 1e7, 1e7, 1e7 + ulp}, {1e7, 1e7, 1e7, 1e7}, {}},
      {{0, 0, 0, 1e-200}, {0, 0, 0, 0}, {0, 0, 0, 0}},
      {{-1e149, 0, 1e149, 1e150}, {0, 1e150, -1e150, 0}, {}},
      // Extents that differ by all that doubles hold.
      {{0, 0, 0, 1e-300, 1e-300, 1e-300, 1e150}, {0, 0, 0, 0, 0, 0, 0}, {}},
      // Out and back: the ends coincide.
      {{0, 1, 1, 0}, {0, 0, 0, 0}, {}},
      {{0, 1e-160, 1e-160, 0}, {0, 0, 0, 0}, {}}};
  for (const Chain& chain : chains) {
    SCOPED_TRACE(chain.Text());
    const auto curve = Curve::Create(chain.Input());
    ASSERT_TRUE(curve.ok()) << curve.status();
    const auto map = ArcLengthMap::Create(*curve);
    ASSERT_TRUE(map.ok()) << map.status();
    EXPECT_GT(map->length(), 0.0);
    EXPECT_TRUE(std::isfinite(map->length()));
    const Samples samples = Take(*map, 17);
    for (size_t i = 0; i < samples.x.size(); ++i) {
      EXPECT_TRUE(std::isfinite(samples.x[i]) && std::isfinite(samples.y[i]) &&
                  std::isfinite(samples.tx[i]) && std::isfinite(samples.ty[i]))
          << i;
    }
  }
}

}  // namespace
}  // namespace arclane
