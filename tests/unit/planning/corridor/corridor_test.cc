// SPDX-License-Identifier: Apache-2.0
// Building corridors from good and bad input, the funnel's facts, verification of wrong lines, and
// heights.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/planning/corridor/clearance.h"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/corridor/surface.h"
#include "server/planning/corridor/verification.h"
#include "tests/unit/planning/corridor/corridor_records.h"

namespace arclane {
namespace {

using testing::CorridorSource;
using ::testing::HasSubstr;
using testing::LineOf;
using testing::Point3;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Unit squares along the first axis, 2 wide: polygon k spans [2 k, 2 k + 2] x [0, 2].
CorridorSource Squares(int count) {
  CorridorSource source;
  source.SetStart({0.5, 1.0, 0.0});
  source.SetGoal({2.0 * count - 0.5, 1.0, 0.0});
  for (int k = 0; k < count; ++k) {
    source.AddPolygon({{2.0 * k, 0}, {2.0 * k + 2, 0}, {2.0 * k + 2, 2}, {2.0 * k, 2}});
  }
  return source;
}

struct Built {
  bool ok = false;
  Corridor corridor;
  Violations violations;
  CorridorPath path;
};

Built Build(const CorridorInput& input, const CorridorLimits& limits = {}) {
  Built built;
  CorridorBuilder builder;
  built.ok = builder.Build(input, limits, &built.corridor, &built.violations);
  EXPECT_EQ(built.ok, built.violations.empty());
  if (built.ok) {
    Funnel funnel;
    funnel.FindShortestPath(built.corridor, &built.path);
  }
  return built;
}

Built BuildPolygons(const CorridorSource& source) { return Build(source.input(true, false)); }
Built BuildPortals(const CorridorSource& source) { return Build(source.input(false, true)); }

void ExpectFault(const Built& built, ViolationReason reason, const std::string& field) {
  EXPECT_FALSE(built.ok);
  for (const Violation& violation : built.violations.kept()) {
    if (violation.reason == reason && violation.field == field) return;
  }
  ADD_FAILURE() << "no " << ViolationReasonName(reason) << " at " << field
                << " in: " << built.violations.ToString();
}

// --- Building ---

TEST(CorridorBuilderTest, DerivesLeftAndRightFromEitherWinding) {
  CorridorSource source;
  source.SetStart({0.5, 1.0});
  source.SetGoal({3.5, 1.0});
  source.AddPolygon({{0, 2}, {2, 2}, {2, 0}, {0, 0}});  // Clockwise.
  source.AddPolygon({{2, 0}, {4, 0}, {4, 2}, {2, 2}});
  const Built built = BuildPolygons(source);
  ASSERT_TRUE(built.ok);
  EXPECT_EQ(built.corridor.portals[0].left, (Vec2{2, 2}));
  EXPECT_EQ(built.corridor.portals[0].right, (Vec2{2, 0}));
  EXPECT_EQ(built.path.length, 3.0);
}

TEST(CorridorBuilderTest, PartlyOverlappingEdgesGiveTheOverlap) {
  CorridorSource source;
  source.SetStart({1, 1});
  source.SetGoal({3, 4});
  source.AddPolygon({{0, 0}, {2, 0}, {2, 3}, {0, 3}});
  source.AddPolygon({{2, 2}, {4, 2}, {4, 6}, {2, 6}});
  const Built built = BuildPolygons(source);
  ASSERT_TRUE(built.ok);
  EXPECT_EQ(built.corridor.portals[0].left, (Vec2{2, 3}));
  EXPECT_EQ(built.corridor.portals[0].right, (Vec2{2, 2}));
}

TEST(CorridorBuilderTest, CollinearSubEdgesGiveTheirUnion) {
  CorridorSource source;
  source.SetStart({1, 3});
  source.SetGoal({3, 3});
  source.AddPolygon({{0, 0}, {2, 0}, {2, 1}, {2, 2}, {2, 5}, {0, 5}});
  source.AddPolygon({{2, 5}, {2, 3}, {2, 1.5}, {2, 1}, {4, 1}, {4, 5}});
  const Built built = BuildPolygons(source);
  ASSERT_TRUE(built.ok);
  EXPECT_EQ(built.corridor.portals[0].left, (Vec2{2, 5}));
  EXPECT_EQ(built.corridor.portals[0].right, (Vec2{2, 1}));
}

TEST(CorridorBuilderTest, FloorsAboveOneAnotherAreNotConfused) {
  // A spiral ramp: four polygons round a post, then the first plan position again, one floor up.
  CorridorSource source;
  source.SetStart({1, 1, 0});
  source.SetGoal({1, 1, 4});
  source.AddPolygon({{0, 0, 0}, {2, 0, 1}, {2, 2, 1}, {0, 2, 0}});
  source.AddPolygon({{2, 0, 1}, {4, 0, 1}, {4, 2, 2}, {2, 2, 2}});
  source.AddPolygon({{4, 2, 2}, {4, 4, 2}, {2, 4, 3}, {2, 2, 3}});
  source.AddPolygon({{2, 4, 3}, {0, 4, 3}, {0, 2, 4}, {2, 2, 4}});
  source.AddPolygon({{0, 0, 4}, {2, 0, 5}, {2, 2, 4}, {0, 2, 4}});
  const Built built = BuildPolygons(source);
  ASSERT_TRUE(built.ok) << built.violations.ToString();
  // Round the post at (2, 2) and back above the start.
  EXPECT_NEAR(built.path.length, 2.0 * std::sqrt(2.0), 1e-12);
}

TEST(CorridorBuilderTest, AGapNamesThePolygonBeforeIt) {
  CorridorSource source = Squares(3);
  source.AddPolygon({{7, 0}, {9, 0}, {9, 2}, {7, 2}});
  ExpectFault(BuildPolygons(source), ViolationReason::kGap, "polygons[2]");
}

TEST(CorridorBuilderTest, TouchingInAPointIsAGap) {
  CorridorSource source = Squares(1);
  source.AddPolygon({{2, 2}, {4, 2}, {4, 4}, {2, 4}});
  ExpectFault(BuildPolygons(source), ViolationReason::kGap, "polygons[0]");
}

TEST(CorridorBuilderTest, SwappedPortalsDoNotChangeTheAnswer) {
  for (const bool swapped : {false, true}) {
    CorridorSource source;
    source.SetStart({0, 0});
    source.SetGoal({3, 3});
    const auto add = [&](Point3 left, Point3 right) {
      swapped ? source.AddPortal(right, left) : source.AddPortal(left, right);
    };
    add({1, 1}, {1, -1});
    add({2, 3}, {2, 2});
    const Built built = BuildPortals(source);
    ASSERT_TRUE(built.ok);
    EXPECT_EQ(built.corridor.portals[0].left, (Vec2{1, 1}));
    EXPECT_TRUE(built.path.corners.empty());
    EXPECT_DOUBLE_EQ(built.path.length, 3.0 * std::sqrt(2.0));
  }
}

TEST(CorridorBuilderTest, MixedPortalOrderNamesThePortal) {
  CorridorSource source;
  source.SetStart({0, 0});
  source.SetGoal({5, 0});
  source.AddPortal({1, 1}, {1, -1});
  source.AddPortal({2, 1}, {2, -1});
  source.AddPortal({3, -1}, {3, 1});
  source.AddPortal({4, 1}, {4, -1});
  ExpectFault(BuildPortals(source), ViolationReason::kMixedOrder, "portals[2]");
}

TEST(CorridorBuilderTest, ALinkIsTakenInEitherOrderOfItsEnds) {
  for (const bool reversed : {false, true}) {
    CorridorSource source = Squares(1);
    source.SetGoal({10, 1});
    std::vector<Point3> link{{1, 1.5}, {9, 1.5}};
    if (reversed) std::swap(link[0], link[1]);
    source.AddPolygon(link);
    source.AddPolygon({{8, 0}, {11, 0}, {11, 2}, {8, 2}});
    const Built built = BuildPolygons(source);
    ASSERT_TRUE(built.ok) << built.violations.ToString();
    EXPECT_EQ(built.corridor.portals[0].kind, PortalKind::kLinkEntry);
    EXPECT_EQ(built.corridor.portals[0].left, (Vec2{1, 1.5}));
    EXPECT_EQ(built.corridor.portals[1].kind, PortalKind::kLinkExit);
    ASSERT_EQ(built.path.corners.size(), 2u);
    EXPECT_EQ(built.path.corners[1].point, (Vec2{9, 1.5}));
    EXPECT_NEAR(built.path.length, std::hypot(0.5, 0.5) + 8.0 + std::hypot(1.0, 0.5), 1e-12);
  }
}

TEST(CorridorBuilderTest, StartOutsideIsMovedWithinTheAllowanceOnly) {
  CorridorSource source = Squares(2);
  source.SetStart({-0.25, 1});
  CorridorInput input = source.input(true, false);
  input.max_end_shift = 0.3;
  const Built moved = Build(input);
  ASSERT_TRUE(moved.ok);
  EXPECT_EQ(moved.corridor.start, (Vec2{0, 1}));
  EXPECT_EQ(moved.corridor.start_shift, 0.25);
  input.max_end_shift = 0.2;
  ExpectFault(Build(input), ViolationReason::kOffCorridor, "start");
}

TEST(CorridorBuilderTest, AnOriginIsSubtractedAndToleranceJudgedBefore) {
  CorridorSource source = Squares(3);
  source.Transform([](Vec2 p) { return Vec2{p.x + 4096.0, p.y}; });
  CorridorInput input = source.input(true, false);
  input.precision = CoordinatePrecision::Float32();
  input.origin = {4096.0, 0.0};
  const Built built = Build(input);
  ASSERT_TRUE(built.ok);
  EXPECT_EQ(built.corridor.start, (Vec2{0.5, 1.0}));
  EXPECT_EQ(built.corridor.tolerance, CoordinatePrecision::Float32().ToleranceAt(4102.0));
}

TEST(CorridorBuilderTest, OnePolygonStartEqualToGoalAndPortalsWithoutAny) {
  const Built one = BuildPolygons(Squares(1));
  ASSERT_TRUE(one.ok);
  EXPECT_EQ(one.path.length, 1.0);
  CorridorSource same = Squares(1);
  same.SetGoal({0.5, 1.0});
  EXPECT_EQ(BuildPolygons(same).path.length, 0.0);
  CorridorSource none;
  none.SetStart({0, 0});
  none.SetGoal({3, 4});
  const Built straight = BuildPortals(none);
  ASSERT_TRUE(straight.ok);
  EXPECT_EQ(straight.path.length, 5.0);
}

TEST(CorridorBuilderTest, TenThousandVerticesOnEitherSide) {
  // Two disc-like polygons of 10,000 vertices whose flat sides meet, each side cut into 2,000
  // edges.
  const auto half_disc = [](double sign) {
    std::vector<Point3> points;
    for (int i = 0; i <= 2000; ++i) points.push_back({0.0, sign * (-100.0 + 0.1 * i), 0.0});
    for (int i = 1; i < 8000; ++i) {
      const double angle = 3.14159265358979323846 * i / 8000.0;
      points.push_back({-sign * 100.0 * std::sin(angle), sign * 100.0 * std::cos(angle), 0.0});
    }
    return points;
  };
  CorridorSource source;
  source.SetStart({-50, 0});
  source.SetGoal({50, 0});
  source.AddPolygon(half_disc(1.0));
  source.AddPolygon(half_disc(-1.0));
  CorridorInput input = source.input(true, false);
  input.precision = CoordinatePrecision::Length(1e-6);
  const Built built = Build(input);
  ASSERT_TRUE(built.ok) << built.violations.ToString();
  EXPECT_EQ(built.corridor.portals[0].left, (Vec2{0, 100}));
  EXPECT_EQ(built.corridor.portals[0].right, (Vec2{0, -100}));
}

// --- Bad input ---

TEST(CorridorBadInputTest, NeitherPolygonsNorPortals) {
  ExpectFault(Build(CorridorInput{}), ViolationReason::kRequired, "");
  CorridorInput empty;
  empty.has_polygons = true;
  ExpectFault(Build(empty), ViolationReason::kRequired, "polygons");
}

TEST(CorridorBadInputTest, EveryCoordinateThatIsNotFiniteIsNamedWithTheCallersAxis) {
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    CorridorSource source = Squares(2);
    source.AddPolygon({{4, 0, 0}, {6, 0, bad}, {6, bad, 0}, {bad, 2, 0}});
    source.SetStart({bad, 1, 0});
    source.SetGoal({1, bad, 0});
    CorridorInput input = source.input(true, false);
    input.up_axis = UpAxis::kY;
    const Built built = Build(input);
    ExpectFault(built, ViolationReason::kNotFinite, "start.x");
    ExpectFault(built, ViolationReason::kNotFinite, "goal.z");
    ExpectFault(built, ViolationReason::kNotFinite, "polygons.vertices.x[11]");
    ExpectFault(built, ViolationReason::kNotFinite, "polygons.vertices.z[10]");
    ExpectFault(built, ViolationReason::kNotFinite, "polygons.vertices.y[9]");
    EXPECT_EQ(built.violations.total(), 5u);
  }
}

TEST(CorridorBadInputTest, PolygonShapes) {
  CorridorSource source;
  source.SetStart({0.5, 1});
  source.SetGoal({0.5, 1});
  source.AddPolygon({{0, 0}, {2, 0}, {1, 0.5}, {2, 2}, {0, 2}});  // Not convex.
  source.AddPolygon({{2, 0}, {4, 2}, {4, 0}, {2, 2}});            // Crosses itself.
  source.AddPolygon({{4, 0}, {5, 0}, {6, 0}});                    // No area.
  source.AddPolygon({{4, 0}, {4, 0}, {4, 0}});                    // One point.
  const Built built = BuildPolygons(source);
  ExpectFault(built, ViolationReason::kNotConvex, "polygons[0]");
  ExpectFault(built, ViolationReason::kSelfCrossing, "polygons[1]");
  ExpectFault(built, ViolationReason::kDegenerate, "polygons[2]");
  ExpectFault(built, ViolationReason::kDegenerate, "polygons[3]");
}

TEST(CorridorBadInputTest, VertexCounts) {
  const std::vector<double> a{0, 2, 2, 0}, b{0, 0, 2, 2};
  for (const std::vector<uint32_t>& counts : std::vector<std::vector<uint32_t>>{{3, 1}, {4, 0}}) {
    CorridorInput input;
    input.start = input.goal = {1, 1};
    input.has_polygons = true;
    input.polygons = {{a, b, {}}, counts};
    ExpectFault(Build(input), ViolationReason::kTooFewVertices, "polygons.vertex_count[1]");
  }
  const std::vector<uint32_t> too_many{4, 3};
  CorridorInput input;
  input.has_polygons = true;
  input.polygons = {{a, b, {}}, too_many};
  ExpectFault(Build(input), ViolationReason::kLengthMismatch, "polygons.vertex_count");
}

TEST(CorridorBadInputTest, ColumnsOfDifferentLengthsNameTheOddOne) {
  const std::vector<double> two{0, 1}, three{0, 1, 2};
  CorridorInput input;
  input.has_portals = true;
  input.portals.left = {two, three, {}};
  input.portals.right = {three, three, two};
  const Built built = Build(input);
  ExpectFault(built, ViolationReason::kLengthMismatch, "portals.left.y");
  ExpectFault(built, ViolationReason::kLengthMismatch, "portals.right.z");
  ExpectFault(built, ViolationReason::kLengthMismatch, "portals.right");
}

TEST(CorridorBadInputTest, LimitsAreNamedAndExact) {
  const CorridorSource source = Squares(4);
  CorridorLimits limits;
  limits.max_polygons = 4;
  limits.max_vertices = 16;
  EXPECT_TRUE(Build(source.input(true, false), limits).ok);
  limits.max_polygons = 3;
  ExpectFault(Build(source.input(true, false), limits), ViolationReason::kLimitExceeded,
              "polygons.vertex_count");
  limits.max_polygons = 4;
  limits.max_vertices = 15;
  ExpectFault(Build(source.input(true, false), limits), ViolationReason::kLimitExceeded,
              "polygons.vertices");
}

TEST(CorridorBadInputTest, PrecisionAndShift) {
  CorridorInput input = CorridorInput{};
  const CorridorSource source = Squares(1);
  for (const double bad : {0.0, -1.0, kNaN, kInfinity}) {
    input = source.input(true, false);
    input.precision = CoordinatePrecision::Length(bad);
    ExpectFault(Build(input), ViolationReason::kOutOfRange, "coordinate_precision.length");
  }
  for (const double bad : {-1.0, kNaN}) {
    input = source.input(true, false);
    input.max_end_shift = bad;
    ExpectFault(Build(input), ViolationReason::kOutOfRange, "max_end_shift");
  }
}

TEST(CorridorBadInputTest, AMillionFaultsKeepAFew) {
  const std::vector<double> bad(1000000, kNaN);
  CorridorInput input;
  input.has_portals = true;
  input.portals.left = {bad, bad, {}};
  input.portals.right = {bad, bad, {}};
  const Built built = Build(input);
  EXPECT_EQ(built.violations.total(), 4000000u);
  EXPECT_EQ(built.violations.kept().size(), Violations::kDefaultCapacity);
}

TEST(CorridorBadInputTest, ScalesFrom1e7To1em6AreFine) {
  for (const double scale : {1e7, 1e-6}) {
    CorridorSource source = Squares(5);
    source.Transform([scale](Vec2 p) { return p * scale; });
    const Built built = BuildPolygons(source);
    ASSERT_TRUE(built.ok) << built.violations.ToString();
    EXPECT_NEAR(built.path.length, 9.0 * scale, 1e-12 * scale);
  }
}

// --- Funnel ---

TEST(FunnelTest, TurnsWhereTheFeasibleSlopesDoNotMeet) {
  CorridorSource source;
  source.SetStart({0, 0});
  source.SetGoal({3, 5});
  source.AddPortal({1, 1}, {1, -1});
  source.AddPortal({2, 4}, {2, 3});
  const Built built = BuildPortals(source);
  ASSERT_TRUE(built.ok);
  ASSERT_EQ(built.path.corners.size(), 1u);
  EXPECT_EQ(built.path.corners[0].point, (Vec2{1, 1}));
  EXPECT_EQ(built.path.corners[0].side, CornerSide::kLeft);
  EXPECT_EQ(built.path.corners[0].portal, 0u);
}

TEST(FunnelTest, TurnsBackRoundTheEndOfAWallOfNoWidth) {
  // Out above the wall from (0, 0) to (10, 0), round its end, back below it; goal on the wall's
  // lower face.
  CorridorSource source;
  source.SetStart({5, 0});
  source.SetGoal({5, 0});
  source.AddPolygon({{0, 0}, {10, 0}, {10, 3}, {0, 3}});
  source.AddPolygon({{10, 0}, {13, 0}, {13, 3}, {10, 3}});
  source.AddPolygon({{10, -3}, {13, -3}, {13, 0}, {10, 0}});
  source.AddPolygon({{0, -3}, {10, -3}, {10, 0}, {0, 0}});
  const Built built = BuildPolygons(source);
  ASSERT_TRUE(built.ok);
  EXPECT_EQ(built.path.length, 10.0);
  EXPECT_EQ(VerifyLine(built.corridor, LineOf(built.path), 1e-12).distance, 0.0);
}

TEST(FunnelTest, TouchesThePortalWhereTheCorridorTurnsBack) {
  CorridorSource source;
  source.SetStart({1, 0});
  source.SetGoal({1, 4});
  const std::vector<Point3> room{{0, 0}, {3, 0}, {3, 4}, {0, 4}};
  source.AddPolygon(room);
  source.AddPolygon({{3, 0}, {5, 0}, {5, 4}, {3, 4}});
  source.AddPolygon(room);
  const Built built = BuildPolygons(source);
  ASSERT_TRUE(built.ok);
  EXPECT_TRUE(built.corridor.turns_back);
  EXPECT_NEAR(built.path.length, 2.0 * std::hypot(2.0, 2.0), 1e-12);
  ASSERT_EQ(built.path.corners.size(), 1u);
  EXPECT_EQ(built.path.corners[0].point, (Vec2{3, 2}));
}

// Portals that turn about one vertex, whose copies lie within float32's precision of their
// predecessors but somewhat farther from the first: three of them are 6.4 ulps apart, the last
// behind the first. They decide nothing; the straight line passes them by far.
TEST(FunnelTest, CopiesOfAVertexThatMoveBackAreTheVertex) {
  const Vec2 start{3.8305418491363525, 4.931468963623047};
  const Vec2 goal{0.8371613025665283, 0.3584107458591461};
  const Vec2 copies[] = {{4.125002861022949, 1.0625033378601074},
                         {4.125003814697266, 1.0625042915344238},
                         {4.125004768371582, 1.0625057220458984}};
  const Vec2 far[] = {{0.8508651256561279, 2.299448013305664},
                      {0.689346432685852, 1.7305454015731812},
                      {0.6316611766815186, 0.8466675281524658}};
  const double tolerance = CoordinatePrecision::Float32().ToleranceAt(4.931468963623047);
  for (const double mirror : {1.0, -1.0}) {
    const auto placed = [&](Vec2 p) { return Vec2{p.x, mirror * p.y}; };
    std::vector<Portal> portals(3);
    for (size_t i = 0; i < portals.size(); ++i) {
      portals[i].left = placed(mirror > 0.0 ? copies[i] : far[i]);
      portals[i].right = placed(mirror > 0.0 ? far[i] : copies[i]);
    }
    Funnel funnel;
    CorridorPath path;
    funnel.FindShortestPath(placed(start), placed(goal), portals, tolerance, false, &path);
    EXPECT_TRUE(path.corners.empty()) << "mirror " << mirror;
    EXPECT_NEAR(path.length, Distance(start, goal), 1e-12);
  }
}

TEST(FunnelTest, KeepsItsAnswerWhenBuffersAreWarm) {
  Funnel funnel;
  CorridorPath path;
  for (const int count : {9, 2, 5}) {
    const Built built = BuildPolygons(Squares(count));
    funnel.FindShortestPath(built.corridor, &path);
    EXPECT_EQ(path.length, built.path.length);
    EXPECT_EQ(path.corners.size(), built.path.corners.size());
  }
}

// --- Verification ---

// A corridor that turns left round (4, 2): three squares to the right, then up.
Built Corner() {
  CorridorSource source = Squares(2);
  source.AddPolygon({{4, 0}, {6, 0}, {6, 2}, {4, 2}});
  source.AddPolygon({{4, 2}, {6, 2}, {6, 4}, {4, 4}});
  source.AddPolygon({{4, 4}, {6, 4}, {6, 6}, {4, 6}});
  source.SetGoal({5, 5.5});
  return BuildPolygons(source);
}

TEST(VerifyLineTest, AcceptsTheShortestLineAndGivesItsCrossings) {
  const Built built = Corner();
  ASSERT_TRUE(built.ok);
  std::vector<PortalCrossing> crossings;
  const Deviation deviation = VerifyLine(built.corridor, LineOf(built.path), 1e-12, &crossings);
  EXPECT_LE(deviation.distance, 1e-15);
  ASSERT_EQ(crossings.size(), built.corridor.portals.size());
  for (size_t i = 1; i < crossings.size(); ++i) {
    EXPECT_GE(crossings[i].distance, crossings[i - 1].distance);
  }
}

TEST(VerifyLineTest, RefusesACornerMovedByAMillimetreWithItsMeasure) {
  const Built built = Corner();
  std::vector<Vec2> points = LineOf(built.path);
  ASSERT_EQ(points.size(), 3u);
  ASSERT_EQ(points[1], (Vec2{4, 2}));
  points[1] = points[1] + Vec2{-1.0, 1.0} * (0.001 / std::sqrt(2.0));
  const Deviation deviation = VerifyLine(built.corridor, points, 1e-6);
  EXPECT_GT(deviation.distance, 0.0003);
  EXPECT_LT(deviation.distance, 0.0011);
  EXPECT_NE(deviation.kind, DeviationKind::kNone);
}

TEST(VerifyLineTest, RefusesALineThatSkipsAPortal) {
  const Built built = Corner();
  const std::vector<Vec2> straight{built.corridor.start, built.corridor.goal};
  const Deviation deviation = VerifyLine(built.corridor, straight, 1e-6);
  EXPECT_GT(deviation.distance, 0.5);
  EXPECT_LT(deviation.distance, 2.0);
}

TEST(VerifyLineTest, RefusesOtherEndsAndNoPoints) {
  const Built built = Corner();
  std::vector<Vec2> points = LineOf(built.path);
  points.front().x += 0.25;
  EXPECT_NEAR(VerifyLine(built.corridor, points, 1e-6).distance, 0.25, 1e-12);
  EXPECT_EQ(VerifyLine(built.corridor, {}, 1e-6).distance, kInfinity);
}

TEST(VerifyLineTest, AcceptsALineThatTouchesThePortalLineBesideThePortalFirst) {
  // The wall at x = 2 above the door touches the line's first corner; the door is below.
  CorridorSource source;
  source.SetStart({1, 3.5});
  source.SetGoal({3, 0.5});
  source.AddPolygon({{0, 0}, {2, 0}, {2, 1}, {2, 4}, {0, 4}});
  source.AddPolygon({{2, 0}, {4, 0}, {4, 1}, {2, 1}});
  const Built built = BuildPolygons(source);
  ASSERT_TRUE(built.ok);
  const std::vector<Vec2> points{{1, 3.5}, {2, 3}, {2, 1}, {3, 0.5}};
  EXPECT_LE(VerifyLine(built.corridor, points, 1e-9).distance, 1e-12);
}

// --- Heights ---

TEST(SurfaceTest, ProfileFollowsThePortals) {
  CorridorSource source;
  source.SetStart({0, 1, 0});
  source.SetGoal({8, 1, 7});  // Off the surface: never a reason to refuse.
  source.AddPolygon({{0, 0, 0}, {4, 0, 3}, {4, 2, 3}, {0, 2, 0}});
  source.AddPolygon({{4, 0, 3}, {8, 0, 3}, {8, 2, 3}, {4, 2, 3}});
  const Built built = BuildPolygons(source);
  ASSERT_TRUE(built.ok);
  std::vector<PortalCrossing> crossings;
  VerifyLine(built.corridor, LineOf(built.path), 1e-9, &crossings);
  std::vector<SurfaceKnot> knots;
  BuildSurfaceProfile(built.corridor, crossings, built.path.length, &knots);
  ASSERT_EQ(knots.size(), 3u);
  EXPECT_EQ(knots[1].height, 3.0);
  EXPECT_DOUBLE_EQ(knots[1].surface_distance, 5.0);
  EXPECT_DOUBLE_EQ(knots[2].surface_distance, 9.0);
  EXPECT_EQ(knots[2].height, 3.0);
  size_t cursor = 0;
  EXPECT_DOUBLE_EQ(SampleSurface(knots, 2.0, &cursor).height, 1.5);
  EXPECT_DOUBLE_EQ(SampleSurface(knots, 6.0, &cursor).surface_distance, 7.0);
  EXPECT_DOUBLE_EQ(SampleSurface(knots, 1.0, &cursor).surface_distance, 1.25);
  EXPECT_DOUBLE_EQ(SampleSurface(knots, 99.0, &cursor).height, 3.0);
}

// --- Clearance ---

TEST(ClearanceTest, IsKeptRoundACornerWithRoom) {
  const Built built = Corner();
  ClearancePlanner planner;
  CorridorPath path;
  std::vector<ClearanceShortfall> shortfalls;
  for (const double clearance : {0.05, 0.2, 0.4}) {
    planner.FindPath(built.corridor, clearance, &path, &shortfalls);
    EXPECT_TRUE(shortfalls.empty()) << clearance << ": measured " << shortfalls[0].measured;
    EXPECT_LE(VerifyLine(built.corridor, LineOf(path), 1e-9).distance, 1e-9);
    // Tangents about the vertex: no more than the arc's length and the room it takes.
    EXPECT_LT(path.length, built.path.length + 2.0 * clearance);
  }
}

TEST(ClearanceTest, SaysWhereTheCorridorIsTooNarrow) {
  CorridorSource source;
  source.SetStart({0.5, 1.0});
  source.SetGoal({5.5, 1.0});
  source.AddPortal({2, 1.2}, {2, 0.8});
  source.AddPortal({4, 1.2}, {4, 0.8});
  const Built built = BuildPortals(source);
  ClearancePlanner planner;
  CorridorPath path;
  std::vector<ClearanceShortfall> shortfalls;
  planner.FindPath(built.corridor, 0.5, &path, &shortfalls);
  ASSERT_EQ(shortfalls.size(), 1u);
  EXPECT_NEAR(shortfalls[0].measured, 0.2, 1e-12);
  EXPECT_EQ(shortfalls[0].wanted, 0.5);
  EXPECT_LT(shortfalls[0].begin_distance, 1.5);
  EXPECT_GT(shortfalls[0].end_distance, 3.5);
  EXPECT_TRUE(path.corners.empty());
}

}  // namespace
}  // namespace arclane
