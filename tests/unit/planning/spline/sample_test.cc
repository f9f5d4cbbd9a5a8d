// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/planning/spline/curve_record.h"

namespace arclane {
namespace {

using testing::Bezier;
using ::testing::HasSubstr;
using testing::OwnedCurve;

OwnedCurve Line(double length) {
  return Bezier({0, length / 3, 2 * length / 3, length}, {0, 0, 0, 0});
}

OwnedCurve ClosedCatmullRom() {
  OwnedCurve curve;
  curve.kind = CurveKind::kCatmullRom;
  curve.closed = true;
  curve.control.x = {0, 10, 14, 6, -3};
  curve.control.y = {0, -2, 7, 12, 8};
  return curve;
}

struct Points {
  std::vector<double> s, x, y, z, tx, ty, tz, curvature, parameter;
  std::vector<int32_t> segment;
  std::vector<uint8_t> marks;

  explicit Points(size_t n)
      : s(n),
        x(n),
        y(n),
        z(n),
        tx(n),
        ty(n),
        tz(n),
        curvature(n),
        parameter(n),
        segment(n),
        marks(n) {}
  SampleColumns Columns() { return {s, x, y, z, tx, ty, tz, curvature, segment, parameter, marks}; }
};

Points Sample(const ArcLengthMap& map, const SampleRequest& request) {
  const auto layout = LayOutSamples(map, request);
  EXPECT_TRUE(layout.ok()) << layout.status();
  Points points(layout->count);
  SampleCurve(map, *layout, points.Columns());
  return points;
}

TEST(SampleTest, SpacingLeavesAShorterLastGap) {
  SampleRequest request;
  request.spacing = 3.0;
  const Points p = Sample(MapOf(Line(10.0)), request);
  EXPECT_THAT(p.s, ::testing::ElementsAre(0.0, 3.0, 6.0, 9.0, ::testing::DoubleEq(10.0)));
  EXPECT_EQ(p.x.back(), 10.0);
  for (size_t i = 0; i < p.s.size(); ++i) EXPECT_NEAR(p.x[i], p.s[i], 1e-8);
}

TEST(SampleTest, SpacingThatDividesTheLengthHasNoSliver) {
  SampleRequest request;
  request.spacing = 0.1;
  const Points p = Sample(MapOf(Line(10.0)), request);
  EXPECT_EQ(p.s.size(), 101u);
  EXPECT_NEAR(p.s[100] - p.s[99], 0.1, 1e-8);
}

TEST(SampleTest, SpacingBeyondTheLengthGivesTheEnds) {
  SampleRequest request;
  request.spacing = 100.0;
  EXPECT_EQ(Sample(MapOf(Line(10.0)), request).s.size(), 2u);
  request.mode = SampleSpacing::kFittedSpacing;
  EXPECT_EQ(Sample(MapOf(Line(10.0)), request).s.size(), 2u);
}

TEST(SampleTest, FittedSpacingIsEven) {
  SampleRequest request;
  request.mode = SampleSpacing::kFittedSpacing;
  request.spacing = 3.0;
  const Points p = Sample(MapOf(Line(10.0)), request);
  ASSERT_EQ(p.s.size(), 4u);
  for (size_t i = 1; i < 4; ++i) EXPECT_NEAR(p.s[i] - p.s[i - 1], 10.0 / 3.0, 1e-8);
}

TEST(SampleTest, CountSpansTheCurveFromEndToEnd) {
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = 5;
  const Points open = Sample(MapOf(Line(10.0)), request);
  EXPECT_EQ(open.s.size(), 5u);
  EXPECT_EQ(open.x.back(), 10.0);
  const ArcLengthMap map = MapOf(ClosedCatmullRom());
  const Points closed = Sample(map, request);
  ASSERT_EQ(closed.s.size(), 5u);
  EXPECT_NEAR(closed.s[3], map.length() * 0.75, 1e-12 * map.length());
  EXPECT_EQ(closed.s.back(), map.length());
  EXPECT_EQ(closed.x.back(), closed.x.front());
  EXPECT_EQ(closed.y.back(), closed.y.front());
  request.count = 1;
  EXPECT_EQ(Sample(MapOf(Line(10.0)), request).s[0], 0.0);
}

// All kinds, far from the origin, where local coordinates do not hold the sender's to the bit.
TEST(SampleTest, TheEndsAreExactInEveryMode) {
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> offset(-10.0, 10.0), weight(0.2, 5.0);
  for (int k = 0; k < 400; ++k) {
    OwnedCurve owned;
    owned.kind = static_cast<CurveKind>(k % 5);
    owned.closed = k / 5 % 2 == 1;
    const bool planar = k / 10 % 2 == 0;
    const double far = k / 20 % 2 == 0 ? 0.0 : 1e5;
    owned.degree = 1 + k % 4;
    const bool is_b_spline = owned.kind == CurveKind::kBSpline || owned.kind == CurveKind::kNurbs;
    const auto add = [&](testing::OwnedColumns& to, double from) {
      to.x.push_back(from + offset(random));
      to.y.push_back(from + offset(random));
      if (!planar) to.z.push_back(offset(random));
    };
    const auto repeat = [&](size_t i) {
      owned.control.x.push_back(owned.control.x[i]);
      owned.control.y.push_back(owned.control.y[i]);
      if (!planar) owned.control.z.push_back(owned.control.z[i]);
      if (owned.kind == CurveKind::kNurbs) owned.weights.push_back(owned.weights[i]);
    };
    for (int i = 0; i < 6; ++i) {
      add(owned.control, far);
      if (owned.kind == CurveKind::kHermite) add(owned.tangents, 0.0);
      if (owned.kind == CurveKind::kNurbs) owned.weights.push_back(weight(random));
    }
    if (owned.kind == CurveKind::kBezier) owned.closed ? repeat(0) : add(owned.control, far);
    for (int i = 0; is_b_spline && owned.closed && i < owned.degree; ++i) repeat(i);
    const ArcLengthMap map = MapOf(owned);
    const bool at_controls = !is_b_spline || !owned.closed;
    const double length = map.length();
    const double scattered[] = {0.5 * length, length, 0.0, 0.25 * length, length};
    for (int mode = 0; mode < 5; ++mode) {
      SampleRequest request;
      request.mode = static_cast<SampleSpacing>(std::min(mode, 3));
      request.spacing = length / 100.5;
      request.count = 77;
      if (mode >= 3) request.distances = std::span(scattered).subspan(mode == 3 ? 0 : 2);
      const Points p = Sample(map, request);
      const size_t first = mode == 3 ? 2 : 0, last = p.s.size() - 1;
      SCOPED_TRACE("seed 31, k " + std::to_string(k) + ", mode " + std::to_string(mode));
      EXPECT_EQ(p.s[last], length);
      const auto expect = [&](const std::vector<double>& got, const std::vector<double>& control) {
        if (owned.closed) {
          EXPECT_EQ(got[first], got[last]);
        }
        if (!at_controls || control.empty()) return;
        EXPECT_EQ(got[first], control.front());
        if (!owned.closed) {
          EXPECT_EQ(got[last], control.back());
        }
      };
      expect(p.x, owned.control.x);
      expect(p.y, owned.control.y);
      expect(p.z, owned.control.z);
    }
  }
}

TEST(SampleTest, BadRequestsNameTheField) {
  const ArcLengthMap map = MapOf(Line(10.0));
  const auto status = [&](const SampleRequest& request) {
    return LayOutSamples(map, request).status();
  };
  SampleRequest request;
  for (double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                     std::numeric_limits<double>::infinity()}) {
    request.spacing = bad;
    EXPECT_EQ(status(request).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status(request).message()), HasSubstr("spacing: must be > 0"));
  }
  request.spacing = 1e-9;
  EXPECT_EQ(status(request).code(), absl::StatusCode::kResourceExhausted);
  request.mode = SampleSpacing::kCount;
  request.count = 0;
  EXPECT_THAT(std::string(status(request).message()), HasSubstr("count: must be > 0, got 0"));
  request.count = (size_t{1} << 20) + 1;
  EXPECT_EQ(status(request).code(), absl::StatusCode::kResourceExhausted);
  request.mode = SampleSpacing::kDistances;
  const std::vector<double> distances = {1.0, -0.5, 2.0, 11.0,
                                         std::numeric_limits<double>::quiet_NaN()};
  request.distances = distances;
  const std::string text(status(request).message());
  EXPECT_THAT(text, HasSubstr("distances[1]: must be in [0, 10], got -0.5"));
  EXPECT_THAT(text, HasSubstr("distances[3]"));
  EXPECT_THAT(text, HasSubstr("distances[4]: must be finite, got NaN"));
  request.out_of_range = OutOfRange::kClamp;
  EXPECT_EQ(status(request).code(), absl::StatusCode::kInvalidArgument) << "NaN cannot be clamped";
}

TEST(SampleTest, ClampedDistancesLieAtTheEnds) {
  SampleRequest request;
  request.mode = SampleSpacing::kDistances;
  request.out_of_range = OutOfRange::kClamp;
  const std::vector<double> distances = {-1.0, 5.0, 99.0};
  request.distances = distances;
  const Points p = Sample(MapOf(Line(10.0)), request);
  EXPECT_EQ(p.x[0], 0.0);
  EXPECT_NEAR(p.x[1], 5.0, 1e-8);
  EXPECT_EQ(p.x[2], 10.0);
}

TEST(SampleTest, ClosedCurvesWrapDistances) {
  const ArcLengthMap map = MapOf(ClosedCatmullRom());
  SampleRequest request;
  request.mode = SampleSpacing::kDistances;
  const std::vector<double> distances = {3.0, map.length() + 3.0, 3.0 - 2 * map.length()};
  request.distances = distances;
  const Points p = Sample(map, request);
  EXPECT_NEAR(p.x[1], p.x[0], 1e-12);
  EXPECT_NEAR(p.y[2], p.y[0], 1e-12);
}

TEST(SampleTest, OrderAndCompanyChangeNoBit) {
  for (const InverseMode mode : {InverseMode::kTabulated, InverseMode::kDirect}) {
    for (const OwnedCurve& owned : {ClosedCatmullRom(), Bezier({0, 24, -6, 30}, {0, -36, -6, -30}),
                                    Bezier({0, 0, 0, 1}, {0, 0, 0, 2})}) {
      const ArcLengthMap map = MapOf(owned, {1e-9, mode});
      std::vector<double> sorted;
      for (int i = 0; i < 777; ++i) sorted.push_back(map.length() * i / 776);
      SampleRequest request;
      request.mode = SampleSpacing::kDistances;
      request.distances = sorted;
      const Points together = Sample(map, request);
      std::vector<double> reversed(sorted.rbegin(), sorted.rend());
      request.distances = reversed;
      const Points backward = Sample(map, request);
      for (size_t i = 0; i < sorted.size(); ++i) {
        const size_t j = sorted.size() - 1 - i;
        EXPECT_EQ(together.x[i], backward.x[j]) << i;
        EXPECT_EQ(together.parameter[i], backward.parameter[j]) << i;
        EXPECT_EQ(together.segment[i], backward.segment[j]) << i;
        EXPECT_EQ(together.tx[i], backward.tx[j]) << i;
        const CurveLocation at = map.LocationAt(sorted[i]);
        EXPECT_EQ(at.parameter, together.parameter[i]) << i;
        EXPECT_EQ(at.segment, together.segment[i]) << i;
      }
      // A part of the layout, and fewer columns.
      const auto layout = LayOutSamples(map, request);
      Points part(100);
      SampleColumns columns;
      columns.x = part.x;
      SampleCurveRange(map, *layout, 333, 100, columns);
      for (size_t i = 0; i < 100; ++i) EXPECT_EQ(part.x[i], backward.x[333 + i]);
    }
  }
}

TEST(SampleTest, DirectionAtAVanishingSpeedIsThatOfTravel) {
  // Doubled controls at both ends.
  const ArcLengthMap map = MapOf(Bezier({0, 0, 3, 3}, {0, 0, 4, 4}));
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = 3;
  const Points p = Sample(map, request);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(p.tx[i], 0.6, 1e-12);
    EXPECT_NEAR(p.ty[i], 0.8, 1e-12);
  }
  EXPECT_EQ(p.marks[0], kCurvatureUndefined);
  EXPECT_TRUE(std::isnan(p.curvature[0]));
  EXPECT_EQ(p.marks[1], 0);
  EXPECT_NEAR(p.curvature[1], 0.0, 1e-15);
  EXPECT_EQ(p.marks[2], kCurvatureUndefined);
}

TEST(SampleTest, TripledControlHasItsDirectionFromTheThirdDerivative) {
  const ArcLengthMap map = MapOf(Bezier({1, 1, 1, 4}, {1, 1, 1, 5}));
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = 11;
  const Points p = Sample(map, request);
  EXPECT_NEAR(map.length(), 5.0, 5e-9);
  for (size_t i = 0; i < p.x.size(); ++i) {
    EXPECT_NEAR(p.x[i], 1.0 + 3.0 * static_cast<double>(i) / 10.0, 1e-8);
    EXPECT_NEAR(p.tx[i], 0.6, 1e-9);
  }
}

TEST(SampleTest, CurvatureIsPositiveWhereHeadingGrows) {
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = 21;
  const Points left = Sample(MapOf(Bezier({0, 1, 2, 2}, {0, 0, 0.5, 2})), request);
  for (double kappa : left.curvature) EXPECT_GT(kappa, 0.0);
  const Points right = Sample(MapOf(Bezier({0, 1, 2, 2}, {0, 0, -0.5, -2})), request);
  for (size_t i = 0; i < 21; ++i) EXPECT_EQ(right.curvature[i], -left.curvature[i]);
}

TEST(SampleTest, HelixHasConstantCurvatureMagnitudeNearItsCircle) {
  OwnedCurve owned = Bezier({0, 1, 2, 2}, {0, 0, 0.5, 2});
  owned.control.z = {0, 1, 2, 3};
  const ArcLengthMap map = MapOf(owned);
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = 33;
  const Points p = Sample(map, request);
  for (size_t i = 0; i < 33; ++i) {
    EXPECT_GE(p.curvature[i], 0.0);
    EXPECT_NEAR(std::hypot(p.tx[i], p.ty[i], p.tz[i]), 1.0, 1e-15);
  }
}

TEST(SampleTest, ZeroLengthCurveIsOneSampleWithoutTangent) {
  const ArcLengthMap map = MapOf(Bezier({7, 7, 7, 7}, {-1, -1, -1, -1}));
  for (SampleSpacing mode :
       {SampleSpacing::kSpacing, SampleSpacing::kFittedSpacing, SampleSpacing::kCount}) {
    SampleRequest request;
    request.mode = mode;
    request.count = 9;
    const Points p = Sample(map, request);
    ASSERT_EQ(p.x.size(), 1u);
    EXPECT_EQ(p.x[0], 7.0);
    EXPECT_EQ(p.y[0], -1.0);
    EXPECT_EQ(p.tx[0], 0.0);
    EXPECT_EQ(p.marks[0], kTangentUndefined | kCurvatureUndefined);
  }
}

// A road of bends: 500 equal steps, curvature times spacing <= 0.2.
TEST(SampleTest, FiveHundredStepsHaveEqualChords) {
  OwnedCurve owned;
  owned.kind = CurveKind::kCatmullRom;
  owned.control.x = {0, 30, 45, 80, 110, 120, 160};
  owned.control.y = {0, 10, 40, 45, 20, -15, -20};
  const ArcLengthMap map = MapOf(owned);
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = 501;
  const Points p = Sample(map, request);
  const double step = map.length() / 500;
  for (size_t i = 1; i < p.x.size(); ++i) {
    ASSERT_LE(std::abs(p.curvature[i]) * step, 0.2);
    const double chord = std::hypot(p.x[i] - p.x[i - 1], p.y[i] - p.y[i - 1]);
    EXPECT_GE(chord / step, 0.998);
    EXPECT_LE(chord / step, 1.000 + 1e-8);
  }
}

// A chain whose controls are unevenly spaced, as a designer drags them: steps of equal t pulse,
// steps of equal s do not.
TEST(SampleTest, EqualParameterStepsPulseAndEqualDistancesDoNot) {
  const OwnedCurve owned =
      Bezier({0, 1, 8, 10, 12, 30, 40, 41, 42, 43}, {0, 4, 5, 5, 5, 8, 0, -1, -1, 0});
  const ArcLengthMap map = MapOf(owned);
  constexpr int kSteps = 300;
  const auto ratio = [](const std::vector<double>& x, const std::vector<double>& y) {
    double least = std::numeric_limits<double>::infinity(), most = 0.0;
    for (size_t i = 1; i < x.size(); ++i) {
      const double chord = std::hypot(x[i] - x[i - 1], y[i] - y[i - 1]);
      least = std::min(least, chord);
      most = std::max(most, chord);
    }
    return most / least;
  };
  std::vector<double> x, y;
  for (int i = 0; i <= kSteps; ++i) {
    const double u = 3.0 * i / kSteps;
    const int segment = std::min(static_cast<int>(u), 2);
    const CurvePoint p = map.curve().Evaluate(segment, u - segment);
    x.push_back(p.position[0]);
    y.push_back(p.position[1]);
  }
  EXPECT_GT(ratio(x, y), 1.5);
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = kSteps + 1;
  const Points p = Sample(map, request);
  EXPECT_LT(ratio(p.x, p.y), 1.02);
}

}  // namespace
}  // namespace arclane
