// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/arc_length.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/planning/spline/curve_record.h"

namespace arclane {
namespace {

using testing::Bezier;
using testing::OwnedCurve;

OwnedCurve Circle(double radius) {
  OwnedCurve curve;
  curve.kind = CurveKind::kNurbs;
  curve.degree = 2;
  curve.closed = true;
  const double r = radius, h = std::sqrt(0.5);
  curve.control.x = {r, r, 0, -r, -r, -r, 0, r, r};
  curve.control.y = {0, r, r, r, 0, -r, -r, -r, 0};
  curve.weights = {1, h, 1, h, 1, h, 1, h, 1};
  curve.knots = {0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
  return curve;
}

TEST(ArcLengthTest, CircleHasItsCircumference) {
  const ArcLengthMap map = MapOf(Circle(3.0), {1e-12});
  EXPECT_NEAR(map.length(), 6.0 * std::numbers::pi, 6e-12 * std::numbers::pi);
  for (int k = 0; k <= 16; ++k) {
    const double s = map.length() * k / 16;
    const CurveLocation at = map.LocationAt(s);
    const CurvePoint p = map.curve().Evaluate(at.segment, at.parameter);
    EXPECT_NEAR(p.position[0], 3.0 * std::cos(s / 3.0), 2e-11);
    EXPECT_NEAR(p.position[1], 3.0 * std::sin(s / 3.0), 2e-11);
  }
}

// The semicubical cusp x = u^2, y = u^3 on u = 2 t - 1: s(u) = ((4 + 9 u^2)^(3/2) - 8) / 27 from
// the cusp.
TEST(ArcLengthTest, SemicubicalCuspHasItsClosedForm) {
  const ArcLengthMap map = MapOf(Bezier({1, -1.0 / 3, -1.0 / 3, 1}, {-1, 1, -1, 1}), {1e-12});
  const double half = (std::pow(13.0, 1.5) - 8.0) / 27.0;
  EXPECT_NEAR(map.length(), 2.0 * half, 2e-12 * half);
  for (double u : {-0.9, -0.3, -1e-3, -1e-6, 1e-6, 1e-3, 0.25, 0.8}) {
    const double part = (std::pow(4.0 + 9.0 * u * u, 1.5) - 8.0) / 27.0;
    const double s = half + std::copysign(part, u);
    const CurveLocation at = map.LocationAt(s);
    const CurvePoint p = map.curve().Evaluate(at.segment, at.parameter);
    EXPECT_NEAR(p.position[0], u * u, 1e-11);
    EXPECT_NEAR(p.position[1], u * u * u, 1e-11);
    EXPECT_NEAR(map.DistanceAt(0, 0.5 * (1.0 + u)), s, 1e-11);
  }
}

TEST(ArcLengthTest, EndsAreExact) {
  const ArcLengthMap map = MapOf(Bezier({5, 1, 2, 3.3, 4, 5, 6.7}, {0.1, 2, -2, 0, 1, 2, 0}));
  EXPECT_EQ(map.LocationAt(0.0).segment, 0);
  EXPECT_EQ(map.LocationAt(0.0).parameter, 0.0);
  EXPECT_EQ(map.LocationAt(map.length()).segment, 1);
  EXPECT_EQ(map.LocationAt(map.length()).parameter, 1.0);
  EXPECT_EQ(map.DistanceAt(1, 1.0), map.length());
  EXPECT_EQ(map.DistanceAt(0, 0.0), 0.0);
  EXPECT_EQ(map.DistanceAt(0, 1.0), map.StartOfSegment(1));
  EXPECT_EQ(map.StartOfSegment(2), map.length());
}

TEST(ArcLengthTest, OpenCurvesClampAndClosedOnesWrap) {
  const ArcLengthMap open = MapOf(Bezier({0, 1, 2, 3}, {0, 1, -1, 0}));
  EXPECT_EQ(open.Normalize(-5.0), 0.0);
  EXPECT_EQ(open.Normalize(open.length() * 2), open.length());
  EXPECT_EQ(open.LocationAt(1e300).parameter, 1.0);
  EXPECT_EQ(open.LocationAt(std::numeric_limits<double>::quiet_NaN()).parameter, 0.0);
  const ArcLengthMap closed = MapOf(Circle(1.0));
  EXPECT_NEAR(closed.Normalize(closed.length() + 1.0), 1.0, 1e-15);
  EXPECT_NEAR(closed.Normalize(-1.0), closed.length() - 1.0, 1e-15);
  EXPECT_EQ(closed.Normalize(closed.length()), closed.length());
  EXPECT_NEAR(closed.Normalize(10 * closed.length() + 0.5), 0.5, 1e-13);
}

TEST(ArcLengthTest, AJointBelongsToTheSegmentThatStartsThere) {
  // Two straight segments of lengths 3 and 4, with one of length zero between them.
  const ArcLengthMap map =
      MapOf(Bezier({0, 1, 2, 3, 3, 3, 3, 3, 3, 3}, {0, 0, 0, 0, 0, 0, 0, 1, 3, 4}));
  EXPECT_NEAR(map.length(), 7.0, 7e-9);
  EXPECT_EQ(map.SegmentLength(1), 0.0);
  EXPECT_EQ(map.LocationAt(map.StartOfSegment(1)).segment, 2);
  EXPECT_EQ(map.LocationAt(std::nextafter(map.StartOfSegment(1), 0.0)).segment, 0);
  EXPECT_EQ(map.DistanceAt(1, 0.5), map.StartOfSegment(1));
}

TEST(ArcLengthTest, EndBelongsToTheLastSegmentWithALength) {
  const ArcLengthMap map = MapOf(Bezier({0, 1, 2, 3, 3, 3, 3}, {0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(map.LocationAt(map.length()).segment, 0);
  EXPECT_EQ(map.LocationAt(map.length()).parameter, 1.0);
}

TEST(ArcLengthTest, CoincidentPointsHaveNoLength) {
  const ArcLengthMap map = MapOf(Bezier({7, 7, 7, 7}, {-1, -1, -1, -1}));
  EXPECT_EQ(map.length(), 0.0);
  EXPECT_EQ(map.error_bound(), 0.0);
  EXPECT_EQ(map.LocationAt(3.0).parameter, 0.0);
  EXPECT_EQ(map.DistanceAt(0, 0.7), 0.0);
}

TEST(ArcLengthTest, DistanceNeverRunsBackward) {
  for (const OwnedCurve& owned :
       {Bezier({0, 24, -6, 30}, {0, -36, -6, -30}), Bezier({0, 1.000001, 0, 1}, {0, 1, 1, 0}),
        Bezier({0, 100, 100.028, 0.64}, {0, 0.01397, -0.01397, -0.000279}),
        Bezier({0, 0, 0, 1}, {0, 0, 0, 1}), Bezier({0, 20, -15, 5}, {0, 48, -36, 12})}) {
    for (double bound : {1e-3, 1e-9, 1e-12}) {
      const ArcLengthMap map = MapOf(owned, {bound});
      double last_s = -1.0, last_t = -1.0;
      for (int k = 0; k <= 20000; ++k) {
        const double s = map.DistanceAt(0, k / 20000.0);
        EXPECT_GE(s, last_s) << "t " << k / 20000.0 << " bound " << bound;
        last_s = s;
        const double t = map.LocationAt(map.length() * k / 20000.0).parameter;
        EXPECT_GE(t, last_t - 4e-16) << "k " << k << " bound " << bound;
        last_t = t;
      }
    }
  }
}

TEST(ArcLengthTest, RelativeErrorHasItsRange) {
  const auto curve = Curve::Create(Bezier({0, 1, 2, 3}, {0, 1, -1, 0}).Input());
  ASSERT_TRUE(curve.ok());
  for (double bad : {0.0, -1.0, 1e-13, 1e-2, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(ArcLengthMap::Create(*curve, {bad}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  for (double good : {1e-3, 1e-6, 1e-12}) EXPECT_TRUE(ArcLengthMap::Create(*curve, {good}).ok());
}

TEST(ArcLengthTest, DirectAndTabulatedInversesAgree) {
  const OwnedCurve owned = Bezier({0, 24, -6, 30, 35, 36, 40}, {0, -36, -6, -30, -28, -20, -25});
  const ArcLengthMap tabulated = MapOf(owned);
  const ArcLengthMap direct = MapOf(owned, {1e-9, InverseMode::kDirect});
  EXPECT_NEAR(tabulated.length(), direct.length(), 2e-9 * direct.length());
  for (int k = 0; k <= 100; ++k) {
    const double s = direct.length() * k / 100;
    const CurveLocation a = tabulated.LocationAt(s), b = direct.LocationAt(s);
    const CurvePoint p = direct.curve().Evaluate(a.segment, a.parameter);
    const CurvePoint q = direct.curve().Evaluate(b.segment, b.parameter);
    EXPECT_NEAR(p.position[0], q.position[0], 2e-9 * direct.length());
    EXPECT_NEAR(p.position[1], q.position[1], 2e-9 * direct.length());
  }
}

TEST(ArcLengthTest, FewSamplesChooseTheDirectInverse) {
  const auto curve = Curve::Create(Bezier({0, 1, 2, 3}, {0, 1, -1, 0}).Input());
  ASSERT_TRUE(curve.ok());
  EXPECT_EQ(ChooseInverseMode(*curve, 5), InverseMode::kDirect);
  EXPECT_EQ(ChooseInverseMode(*curve, 500), InverseMode::kTabulated);
}

}  // namespace
}  // namespace arclane
