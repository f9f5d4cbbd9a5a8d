// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curvature_knots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/planning/spline/curve_record.h"

namespace arclane {
namespace {

using testing::Bezier;
using testing::OwnedCurve;

CurvatureKnots Refine(const ArcLengthMap& map, const CurvatureOptions& options = {}) {
  const auto knots = RefineCurvature(map, options);
  EXPECT_TRUE(knots.ok()) << knots.status();
  EXPECT_EQ(knots->distance.size(), knots->curvature.size());
  EXPECT_EQ(knots->distance.front(), 0.0);
  EXPECT_EQ(knots->distance.back(), map.length());
  for (size_t i = 0; i < knots->distance.size(); ++i) {
    EXPECT_TRUE(std::isfinite(knots->curvature[i])) << i;
    if (i == 0) continue;
    EXPECT_GT(knots->distance[i], knots->distance[i - 1]) << i;
  }
  return *knots;
}

double Interpolate(const CurvatureKnots& knots, double s) {
  const auto above = std::upper_bound(knots.distance.begin() + 1, knots.distance.end() - 1, s);
  const size_t i = static_cast<size_t>(above - knots.distance.begin());
  const double part = (s - knots.distance[i - 1]) / (knots.distance[i] - knots.distance[i - 1]);
  return knots.curvature[i - 1] + part * (knots.curvature[i] - knots.curvature[i - 1]);
}

double CurvatureAt(const ArcLengthMap& map, double s) {
  const CurveLocation at = map.LocationAt(s);
  const CurvePoint p = map.curve().Evaluate(at.segment, at.parameter);
  const double cross = p.first[0] * p.second[1] - p.first[1] * p.second[0];
  return cross / std::pow(std::hypot(p.first[0], p.first[1]), 3);
}

double AngleBetween(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  const double x = a[1] * b[2] - a[2] * b[1];
  const double y = a[2] * b[0] - a[0] * b[2];
  const double z = a[0] * b[1] - a[1] * b[0];
  return std::atan2(std::hypot(x, y, z), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

TEST(CurvatureKnotsTest, HoldsItsToleranceBetweenKnots) {
  OwnedCurve owned;
  owned.kind = CurveKind::kCatmullRom;
  owned.control.x = {0, 30, 45, 80, 110, 120, 160};
  owned.control.y = {0, 10, 40, 45, 20, -15, -20};
  const ArcLengthMap map = MapOf(owned);
  for (double tolerance : {1e-2, 1e-3, 1e-4}) {
    CurvatureOptions options;
    options.relative_tolerance = tolerance;
    const CurvatureKnots knots = Refine(map, options);
    EXPECT_TRUE(knots.stops.empty());
    for (int k = 0; k < 9973; ++k) {
      const double s = map.length() * (k + 0.5) / 9973;
      bool at_joint = false;
      for (int i = 1; i < 6; ++i) {
        at_joint |= std::abs(s - map.StartOfSegment(i)) < 1e-5 * map.length();
      }
      if (at_joint) continue;
      const double kappa = CurvatureAt(map, s);
      // Tested at quarter points: a little more may show between them.
      EXPECT_NEAR(Interpolate(knots, s), kappa,
                  1.5 * (tolerance * std::abs(kappa) + options.absolute_tolerance / map.length()))
          << "s " << s;
    }
  }
}

TEST(CurvatureKnotsTest, ALineNeedsTwoKnots) {
  const CurvatureKnots knots = Refine(MapOf(Bezier({0, 1, 2, 3}, {0, 1, 2, 3})));
  EXPECT_LE(knots.distance.size(), 3u);
  for (double kappa : knots.curvature) EXPECT_NEAR(kappa, 0.0, 1e-12);
}

TEST(CurvatureKnotsTest, ACuspIsAReversal) {
  const ArcLengthMap map = MapOf(Bezier({0, 24, -6, 30}, {0, -36, -6, -30}));
  const CurvatureKnots knots = Refine(map);
  ASSERT_EQ(knots.stops.size(), 1u);
  EXPECT_NEAR(knots.stops[0].distance, map.DistanceAt(0, 0.5), 1e-6 * map.length());
  EXPECT_NEAR(knots.stops[0].turn_angle_rad, std::numbers::pi, 1e-9);
}

TEST(CurvatureKnotsTest, AnUnresolvableNearCuspIsAStopToo) {
  const ArcLengthMap map = MapOf(Bezier({0, 1.000001, 0, 1}, {0, 1, 1, 0}));
  const CurvatureKnots knots = Refine(map);
  ASSERT_EQ(knots.stops.size(), 1u);
  EXPECT_NEAR(knots.stops[0].distance, 0.5 * map.length(), 1e-5 * map.length());
  EXPECT_GT(std::abs(knots.stops[0].turn_angle_rad), 2.5);
}

TEST(CurvatureKnotsTest, ADoubledControlAtTheEndIsNoStop) {
  EXPECT_TRUE(Refine(MapOf(Bezier({0, 0, 3, 5}, {0, 0, 4, 4}))).stops.empty());
  EXPECT_TRUE(Refine(MapOf(Bezier({0, 0, 0, 5}, {0, 0, 0, 4}))).stops.empty());
}

TEST(CurvatureKnotsTest, ASmoothBendIsNoStopHoweverTight) {
  for (const double bound : {1e-12, 1e-9, 1e-6, 1e-3}) {
    for (double w = 1.0; w > 3e-4; w *= 0.5) {
      OwnedCurve owned;
      owned.kind = CurveKind::kBSpline;
      owned.degree = 2;
      owned.control.x = {0, 100, 0};
      owned.control.y = {-w, 0, w};
      auto curve = Curve::Create(owned.Input());
      ASSERT_TRUE(curve.ok());
      ArcLengthOptions options;
      options.relative_error = bound;
      const auto map = ArcLengthMap::Create(*std::move(curve), options);
      const CurvatureKnots knots = Refine(*map);
      EXPECT_TRUE(knots.stops.empty())
          << "w " << w << " bound " << bound << " turn " << knots.stops[0].turn_angle_rad;
      // The radius at the tip is w^2 / 100.
      const auto [least, largest] =
          std::minmax_element(knots.curvature.begin(), knots.curvature.end());
      EXPECT_GE(*least, 0.0);
      EXPECT_NEAR(*largest * w * w / 100.0, 1.0, 1e-2) << "w " << w << " bound " << bound;
    }
  }
}

TEST(CurvatureKnotsTest, ATipThatIsTooSharpToBeResolvedIsOneStop) {
  for (const double bound : {1e-12, 1e-9, 1e-6, 1e-3}) {
    for (double w = 1e-5; w > 1e-12; w *= 0.3) {
      OwnedCurve owned;
      owned.kind = CurveKind::kBSpline;
      owned.degree = 2;
      owned.control.x = {0, 100, 0};
      owned.control.y = {-w, 0, w};
      ArcLengthOptions options;
      options.relative_error = bound;
      const auto map = ArcLengthMap::Create(*Curve::Create(owned.Input()), options);
      const CurvatureKnots knots = Refine(*map);
      ASSERT_EQ(knots.stops.size(), 1u) << "w " << w << " bound " << bound;
      EXPECT_NEAR(std::abs(knots.stops[0].turn_angle_rad), std::numbers::pi, 1e-6);
    }
  }
}

// A control point repeated `degree` times lies on the curve, between two straight pieces.
TEST(CurvatureKnotsTest, ARepeatedControlOfANurbsIsOneCorner) {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> coordinate(-20.0, 20.0), log_weight(-1.5, 1.5);
  for (int degree = 2; degree <= 5; ++degree) {
    for (int k = 0; k < 200; ++k) {
      OwnedCurve owned;
      owned.kind = CurveKind::kNurbs;
      owned.degree = degree;
      const bool planar = k % 2 == 0;
      const double far = k % 4 < 2 ? 0.0 : 1e5;
      const int corner = 1 + k % 3;
      std::vector<std::array<double, 3>> points;
      for (int i = 0; i < 6; ++i) {
        points.push_back({far + coordinate(random), far + coordinate(random), coordinate(random)});
        if (planar) points.back()[2] = 0.0;
        for (int copies = i == corner ? degree : 1; copies > 0; --copies) {
          owned.control.x.push_back(points[i][0]);
          owned.control.y.push_back(points[i][1]);
          if (!planar) owned.control.z.push_back(points[i][2]);
          owned.weights.push_back(std::exp(2.0 * log_weight(random)));
        }
      }
      std::array<double, 3> arriving, leaving;
      for (int c = 0; c < 3; ++c) {
        arriving[c] = points[corner][c] - points[corner - 1][c];
        leaving[c] = points[corner + 1][c] - points[corner][c];
      }
      const ArcLengthMap map = MapOf(owned);
      const CurvatureKnots knots = Refine(map);
      const auto describe = [&] {
        std::string text = "seed 20, degree " + std::to_string(degree) + ", k " + std::to_string(k);
        for (const CurveStop& stop : knots.stops) {
          text += "\nstop at " + std::to_string(stop.distance) + " of " +
                  std::to_string(stop.turn_angle_rad);
        }
        return text;
      };
      const double turn = AngleBetween(arriving, leaving);
      ASSERT_EQ(knots.stops.size(), 1u) << describe() << "\nexpected " << turn;
      EXPECT_NEAR(std::abs(knots.stops[0].turn_angle_rad), turn, 1e-9) << describe();
      // The straight pieces stay straight up to the corner.
      int at = 0;
      double nearest = map.length();
      for (int i = 1; i < map.curve().segment_count(); ++i) {
        const double gap = std::abs(map.StartOfSegment(i) - knots.stops[0].distance);
        if (gap < nearest) nearest = gap, at = i;
      }
      for (size_t i = 0; i < knots.distance.size(); ++i) {
        const double s = knots.distance[i];
        const double width = 1e-8 * map.length();
        if (s < map.StartOfSegment(at - 1) + width || s > map.StartOfSegment(at + 1) - width) {
          continue;
        }
        EXPECT_LE(std::abs(knots.curvature[i]) * map.length(), 1e-2) << describe() << " s " << s;
      }
    }
  }
}

TEST(CurvatureKnotsTest, CornersHaveSignedAngles) {
  // East, then north (left), then east again (right).
  const ArcLengthMap map =
      MapOf(Bezier({0, 1, 2, 3, 3, 3, 3, 4, 5, 6}, {0, 0, 0, 0, 1, 2, 3, 3, 3, 3}));
  const CurvatureKnots knots = Refine(map);
  ASSERT_EQ(knots.stops.size(), 2u);
  EXPECT_NEAR(knots.stops[0].distance, 3.0, 1e-8);
  EXPECT_NEAR(knots.stops[0].turn_angle_rad, 0.5 * std::numbers::pi, 1e-12);
  EXPECT_NEAR(knots.stops[1].turn_angle_rad, -0.5 * std::numbers::pi, 1e-12);
}

TEST(CurvatureKnotsTest, TheCornerAtASeamIsListedOnceAtTheStart) {
  OwnedCurve owned;
  owned.kind = CurveKind::kBSpline;
  owned.degree = 1;
  owned.closed = true;
  owned.control.x = {0, 4, 4, 0};
  owned.control.y = {0, 0, 3, 0};
  const CurvatureKnots knots = Refine(MapOf(owned));
  ASSERT_EQ(knots.stops.size(), 3u);
  EXPECT_EQ(knots.stops[0].distance, 0.0);
  double turn = 0.0;
  for (const CurveStop& stop : knots.stops) turn += stop.turn_angle_rad;
  EXPECT_NEAR(turn, 2.0 * std::numbers::pi, 1e-12);
}

TEST(CurvatureKnotsTest, AJumpOfCurvatureNeverHidesTheLargerOne) {
  // A line into an arc-like curve, tangent continuous.
  const ArcLengthMap map = MapOf(Bezier({0, 1, 2, 3, 3.55, 4, 4}, {0, 0, 0, 0, 0, 0.45, 1}));
  const CurvatureKnots knots = Refine(map);
  EXPECT_TRUE(knots.stops.empty());
  EXPECT_GE(Interpolate(knots, std::nextafter(map.StartOfSegment(1), 10.0)),
            CurvatureAt(map, map.StartOfSegment(1)) * (1 - 1e-3));
}

TEST(CurvatureKnotsTest, ZeroLengthHasOneKnot) {
  const auto knots = RefineCurvature(MapOf(Bezier({1, 1, 1, 1}, {2, 2, 2, 2})));
  ASSERT_TRUE(knots.ok());
  EXPECT_EQ(knots->distance, std::vector<double>{0.0});
}

TEST(CurvatureKnotsTest, RefusesBadTolerancesAndTooFewKnots) {
  const ArcLengthMap map = MapOf(Bezier({0, 24, -6, 30}, {0, -36, -6, -30}));
  CurvatureOptions options;
  options.relative_tolerance = 0.0;
  EXPECT_EQ(RefineCurvature(map, options).status().code(), absl::StatusCode::kInvalidArgument);
  options = {};
  options.max_knots = 4;
  EXPECT_EQ(RefineCurvature(map, options).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace arclane
