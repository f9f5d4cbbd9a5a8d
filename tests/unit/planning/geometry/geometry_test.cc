// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/planning/geometry/distance.h"
#include "server/planning/geometry/nearness.h"
#include "server/planning/geometry/points_columns.h"
#include "server/planning/geometry/polygon.h"
#include "server/planning/geometry/precision.h"
#include "server/planning/geometry/predicates.h"
#include "server/planning/geometry/violation.h"

namespace arclane {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

// --- Precision ---

TEST(PrecisionTest, Float32ToleranceIsSixUlpsAtTheMagnitude) {
  EXPECT_EQ(CoordinatePrecision::Float32().ToleranceAt(4096.0), 6.0 * 0x1p-11);
  EXPECT_EQ(CoordinatePrecision::Float32().ToleranceAt(8191.5), 6.0 * 0x1p-11);
  EXPECT_EQ(CoordinatePrecision::Float32().ToleranceAt(1.0), 6.0 * 0x1p-23);
}

TEST(PrecisionTest, FourUlpsInBothAxesAreWithinTheTolerance) {
  const float a = 5000.0f;
  float b = a;
  for (int i = 0; i < 4; ++i) b = std::nextafter(b, 1e9f);
  const double step = static_cast<double>(b) - static_cast<double>(a);
  EXPECT_LT(std::sqrt(2.0) * step, CoordinatePrecision::Float32().ToleranceAt(5000.0));
}

TEST(PrecisionTest, ALengthIsNeverBelowWhatDoublesHold) {
  EXPECT_EQ(CoordinatePrecision::Length(0.01).ToleranceAt(100.0), 0.01);
  EXPECT_EQ(CoordinatePrecision::Length(1e-30).ToleranceAt(1.0),
            CoordinatePrecision::Double().ToleranceAt(1.0));
  EXPECT_EQ(CoordinatePrecision::Double().ToleranceAt(0.0), 0.0);
}

// --- Orientation ---

TEST(Orient2DTest, IsExactNearALine) {
  // The points of Kettner et al. 2008: a grid of neighbouring doubles about a point of the line
  // through two others. With q = (12, 12) and r = (24, 24) the sign is that of y - x.
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 64; ++j) {
      const Vec2 p{0.5 + i * 0x1p-53, 0.5 + j * 0x1p-53};
      const int expected = p.y > p.x ? 1 : p.y < p.x ? -1 : 0;
      EXPECT_EQ(Orient2D({12.0, 12.0}, {24.0, 24.0}, p), expected) << i << " " << j;
    }
  }
}

TEST(Orient2DTest, IdentitiesHoldForDegenerateAndRandomPoints) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int> small(-3, 3);
  for (int i = 0; i < 20000; ++i) {
    const auto point = [&] { return Vec2{small(random) * 0.1 + 1e7, small(random) * 0.1 - 1e-6}; };
    const Vec2 a = point(), b = point(), c = point();
    EXPECT_EQ(Orient2D(a, b, c), Orient2D(b, c, a));
    EXPECT_EQ(Orient2D(a, b, c), -Orient2D(b, a, c));
    EXPECT_EQ(Orient2D(a, a, c), 0);
  }
}

// --- Violations ---

TEST(ViolationsTest, KeepsTheFirstAndCountsAll) {
  Violations violations(2);
  for (int i = 0; i < 5; ++i) {
    violations.Add(ViolationReason::kNotFinite, "f[" + std::to_string(i) + "]", "bad");
  }
  EXPECT_EQ(violations.total(), 5u);
  EXPECT_FALSE(violations.KeepsMore());
  EXPECT_EQ(violations.ToString(), "f[0]: bad; f[1]: bad; and 3 more");
}

TEST(AxesTest, HorizontalAxesAreInAxisOrder) {
  EXPECT_EQ(AxisNamesOf(UpAxis::kY).a, 'x');
  EXPECT_EQ(AxisNamesOf(UpAxis::kY).b, 'z');
  EXPECT_EQ(AxisNamesOf(UpAxis::kX).a, 'y');
  EXPECT_EQ(AxisNamesOf(UpAxis::kX).height, 'x');
  EXPECT_EQ(AxisNamesOf(UpAxis::kZ).height, 'z');
}

// --- Polygons ---

TEST(ConvexHullTest, DropsInnerCollinearAndEqualPoints) {
  const std::vector<Vec2> points{{0, 0}, {2, 0}, {4, 0}, {4, 4}, {0, 4}, {2, 2}, {4, 4}, {0, 2}};
  std::vector<uint32_t> hull;
  ConvexHull(points, &hull);
  EXPECT_THAT(hull, ElementsAre(0, 2, 3, 4));
  ConvexHull(std::vector<Vec2>{{1, 1}, {1, 1}}, &hull);
  EXPECT_EQ(hull.size(), 1u);
  ConvexHull(std::vector<Vec2>{{1, 1}, {3, 3}, {2, 2}}, &hull);
  EXPECT_THAT(hull, ElementsAre(0, 1));
  ConvexHull({}, &hull);
  EXPECT_TRUE(hull.empty());
}

struct ShapeCase {
  const char* name;
  std::vector<Vec2> polygon;
  PolygonShape shape;
};

TEST(ClassifyPolygonTest, TellsShapesApart) {
  const double tolerance = 1e-3;
  std::vector<Vec2> twice;
  for (int i = 0; i < 12; ++i) {
    const double angle = 2.0 * 3.14159265358979 * i / 6.0;
    twice.push_back({std::cos(angle), std::sin(angle)});
  }
  const ShapeCase cases[] = {
      {"square", {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, PolygonShape::kConvex},
      {"clockwise", {{0, 0}, {0, 1}, {1, 1}, {1, 0}}, PolygonShape::kConvex},
      {"collinear", {{0, 0}, {1, 0}, {2, 0}, {2, 2}}, PolygonShape::kConvex},
      {"rounded", {{0, 0}, {1, 5e-4}, {2, 0}, {2, 2}}, PolygonShape::kConvex},
      {"dent", {{0, 0}, {1, 5e-3}, {2, 0}, {2, 2}}, PolygonShape::kNotConvex},
      {"arrow", {{0, 0}, {2, 1}, {0, 2}, {1, 1}}, PolygonShape::kNotConvex},
      {"bow tie", {{0, 0}, {1, 1}, {1, 0}, {0, 1}}, PolygonShape::kSelfCrossing},
      {"pentagram",
       {{0, 1}, {0.588, -0.809}, {-0.951, 0.309}, {0.951, 0.309}, {-0.588, -0.809}},
       PolygonShape::kSelfCrossing},
      {"wound twice", twice, PolygonShape::kSelfCrossing},
      {"line", {{0, 0}, {1, 1}, {2, 2}}, PolygonShape::kDegenerate},
      {"spike", {{0, 0}, {2, 0}, {1, 0}}, PolygonShape::kDegenerate},
      {"sliver", {{0, 0}, {1, 0}, {2, 1e-5}}, PolygonShape::kDegenerate},
  };
  PolygonShapeWorkspace workspace;
  for (const ShapeCase& c : cases) {
    size_t offending = 0;
    EXPECT_EQ(ClassifyPolygon(c.polygon, tolerance, &workspace, &offending), c.shape) << c.name;
  }
}

// Vertices interpolated on the edges are convex, or not, by one rounding.
TEST(ClassifyPolygonTest, VerticesOnEdgesAreNoLackOfArea) {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> coordinate(-5.0, 5.0);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  PolygonShapeWorkspace workspace;
  size_t offending = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::array<Vec2, 3> triangle = {Vec2{coordinate(random), coordinate(random)},
                                          Vec2{coordinate(random), coordinate(random)},
                                          Vec2{coordinate(random), coordinate(random)}};
    if (std::abs(TwiceSignedArea(triangle)) < 0.1) continue;
    std::vector<Vec2> polygon;
    for (size_t k = 0; k < 3; ++k) {
      const Vec2 a = triangle[k];
      const Vec2 b = triangle[(k + 1) % 3];
      polygon.push_back(a);
      const int between = static_cast<int>(random() % 4);
      for (int j = 1; j <= between; ++j) {
        polygon.push_back(a + (j - share(random)) / between * (b - a));
      }
    }
    const double tolerance = 6.0 * 5.0 * 0x1p-52;
    EXPECT_EQ(ClassifyPolygon(polygon, tolerance, &workspace, &offending), PolygonShape::kConvex)
        << i;
    // The same flattened to a line has none.
    for (Vec2& p : polygon) p.y = 0.5 * p.x;
    EXPECT_EQ(ClassifyPolygon(polygon, tolerance, &workspace, &offending),
              PolygonShape::kDegenerate)
        << i;
  }
}

TEST(ClassifyPolygonTest, TenThousandVerticesAreOnePolygon) {
  std::vector<Vec2> circle;
  for (int i = 0; i < 10000; ++i) {
    const double angle = 2.0 * 3.14159265358979323846 * i / 10000.0;
    circle.push_back({1000.0 * std::cos(angle), 1000.0 * std::sin(angle)});
  }
  PolygonShapeWorkspace workspace;
  size_t offending = 0;
  const double tolerance = CoordinatePrecision::Float32().ToleranceAt(1000.0);
  EXPECT_EQ(ClassifyPolygon(circle, tolerance, &workspace, &offending), PolygonShape::kConvex);
}

TEST(ConvexPolygonTest, ClosestPointsDistancesAndHeights) {
  const std::array<Vec2, 4> square{Vec2{0, 0}, {2, 0}, {2, 2}, {0, 2}};
  const std::array<double, 4> heights{0.0, 2.0, 4.0, 2.0};  // The plane x + y.
  EXPECT_TRUE(ConvexContains(square, {2, 1}));
  EXPECT_FALSE(ConvexContains(square, {2.0000001, 1}));
  EXPECT_EQ(ClosestPointInConvex(square, {1, 1}), (Vec2{1, 1}));
  EXPECT_EQ(ClosestPointInConvex(square, {3, 1}), (Vec2{2, 1}));
  EXPECT_EQ(ClosestPointInConvex(square, {5, 6}), (Vec2{2, 2}));
  EXPECT_EQ(DistanceToConvex(square, {5, 6}), 5.0);
  EXPECT_EQ(DistanceToConvex(square, {0.5, 0.5}), 0.0);
  EXPECT_THAT(ConvexSurfaceHeight(square, heights, {0.5, 1.5}), DoubleEq(2.0));
  EXPECT_THAT(ConvexSurfaceHeight(square, heights, {1.5, 1.0}), DoubleEq(2.5));
  EXPECT_THAT(ConvexSurfaceHeight(square, heights, {9.0, 1.0}), DoubleEq(3.0));
  const std::array<Vec2, 2> link{Vec2{0, 0}, {4, 0}};
  const std::array<double, 2> ends{1.0, 3.0};
  EXPECT_EQ(ConvexSurfaceHeight(link, ends, {1.0, 7.0}), 1.5);
  EXPECT_TRUE(ConvexContains(link, {1, 0}));
  EXPECT_FALSE(ConvexContains(link, {5, 0}));
}

// --- Distances ---

TEST(DistanceTest, SegmentsOfNoLengthArePoints) {
  EXPECT_EQ(DistanceToSegment({3, 4}, {0, 0}, {0, 0}), 5.0);
  EXPECT_EQ(SegmentDistance({0, 0}, {0, 0}, {3, 4}, {3, 4}), 5.0);
  EXPECT_EQ(SegmentDistance({-1, 0}, {1, 0}, {0, -1}, {0, 1}), 0.0);
  EXPECT_EQ(SegmentDistance({0, 0}, {4, 0}, {2, 1}, {2, 5}), 1.0);
}

TEST(NearnessTest, IntervalsAreWhereTheDistanceSaysSo) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> coordinate(-3.0, 3.0);
  const auto point = [&] { return Vec2{coordinate(random), coordinate(random)}; };
  const std::array<Vec2, 3> triangle{Vec2{-1, -1}, {1, -1}, {0, 1}};
  for (int i = 0; i < 2000; ++i) {
    const Vec2 a = point(), b = point(), p = point(), q = point();
    const double radius = 0.1 + std::abs(coordinate(random));
    const ParameterInterval segment = NearSegment(a, b, p, q, radius);
    const ParameterInterval polygon = NearConvex(a, b, triangle, radius);
    for (int k = 0; k <= 20; ++k) {
      const double t = k / 20.0;
      const Vec2 at = Lerp(a, b, t);
      const double to_segment = DistanceToSegment(at, p, q);
      if (std::abs(to_segment - radius) > 1e-9) {
        EXPECT_EQ(to_segment < radius, segment.low <= t && t <= segment.high);
      }
      const double to_polygon = DistanceToConvex(triangle, at);
      if (std::abs(to_polygon - radius) > 1e-9) {
        EXPECT_EQ(to_polygon < radius, polygon.low <= t && t <= polygon.high);
      }
    }
  }
}

}  // namespace
}  // namespace arclane
