// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/start_join.h"

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/route/corridor_planner.h"

namespace arclane {
namespace {

// Ends meet, and headings where no turn is made.
void ExpectSmooth(const std::vector<Segment>& segments, double tolerance) {
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    const double half = 0.5 * segment.curvature * segment.length;
    const double chord = half == 0.0 ? segment.length : segment.length * std::sin(half) / half;
    const Vec2 end = segment.start + UnitVector(segment.heading + half) * chord;
    EXPECT_LE(Distance(end, segment.end), tolerance) << i;
    if (i + 1 == segments.size()) continue;
    EXPECT_LE(Distance(segment.end, segments[i + 1].start), tolerance) << i;
    const double after = segment.heading + segment.turn_angle;
    EXPECT_LE(std::abs(WrapAngle(after - segments[i + 1].heading)), tolerance) << i;
  }
}

TEST(StartJoinTest, IsTangentToTheVelocityAndToWhatFollows) {
  const uint64_t seed = 11;
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int joined = 0;
  for (int run = 0; run < 2000; ++run) {
    const double heading = uniform(-std::numbers::pi, std::numbers::pi);
    const Vec2 start{uniform(-5, 5), uniform(-5, 5)};
    const Vec2 corner = start + UnitVector(heading) * uniform(2, 10);
    std::vector<Segment> segments = {MakeLine(SegmentKind::kLine, start, corner)};
    const int kind = run % 3;
    const double turn = uniform(0.2, 1.5) * (random() % 2 == 0 ? 1.0 : -1.0);
    if (kind == 1) {
      segments.push_back(MakeTurn(corner, heading, turn));
      segments.push_back(
          MakeLine(SegmentKind::kLine, corner, corner + UnitVector(heading + turn) * 3.0));
    } else if (kind == 2) {
      const double radius = uniform(0.5, 3.0);
      const double curvature = std::copysign(1.0 / radius, turn);
      const double length = std::abs(turn) * radius;
      const double chord = 2.0 * radius * std::sin(0.5 * std::abs(turn));
      const Vec2 end = corner + UnitVector(heading + 0.5 * turn) * chord;
      segments.push_back(MakeArc(corner, heading, curvature, length, end));
      segments.push_back(MakeLine(SegmentKind::kLine, end, end + UnitVector(heading + turn) * 3.0));
    }
    const std::vector<Segment> before = segments;
    const double off = uniform(-2.0, 2.0);
    const Vec2 direction = UnitVector(heading + off);
    const double radius = uniform(0.1, 2.0);
    if (!JoinStart(direction, radius, segments)) {
      ASSERT_EQ(segments.size(), before.size());
      continue;
    }
    ++joined;
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", run " << run);
    ASSERT_EQ(segments.size(), before.size() + 1);
    EXPECT_EQ(segments[0].kind, SegmentKind::kArc);
    EXPECT_EQ(segments[0].start, start);
    EXPECT_LE(std::abs(WrapAngle(segments[0].heading - heading - off)), 1e-12);
    EXPECT_NEAR(std::abs(segments[0].curvature) * radius, 1.0, 1e-12);
    EXPECT_EQ(segments[0].curvature > 0.0, off < 0.0);  // Back towards the line.
    EXPECT_EQ(segments.back().end, before.back().end);
    ExpectSmooth(segments, 1e-9);
  }
  EXPECT_GT(joined, 1000);
}

// One cell of 20 x `height`, and an agent in its middle line that moves across it.
CorridorPlanRequest Hall(double height, const std::vector<double>& x, const std::vector<double>& y,
                         const std::vector<uint32_t>& count) {
  CorridorPlanRequest request;
  request.corridor.has_polygons = true;
  request.corridor.polygons.vertices = {x, y, {}};
  request.corridor.polygons.vertex_count = count;
  request.corridor.start = {1, 0.5 * height};
  request.corridor.goal = {18, 0.5 * height};
  request.agent.limits.max_speed = 4.0;
  request.agent.limits.max_acceleration = 2.0;
  request.agent.limits.max_braking = 2.0;
  request.agent.limits.max_lateral_acceleration = 4.0;
  request.agent.max_turn_radius = 5.0;
  request.motion.velocity = UnitVector(0.6) * 2.0;
  return request;
}

TEST(StartJoinTest, AnAgentThatMovesAcrossJoinsWhereThereIsRoom) {
  for (const double height : {6.0, 2.0, 0.3}) {
    const std::vector<double> x = {0, 20, 20, 0}, y = {0, 0, height, height};
    const std::vector<uint32_t> count = {4};
    CorridorPlanRequest request = Hall(height, x, y, count);
    CorridorPlanner planner;
    RoutePlan plan;
    Violations violations;
    ASSERT_EQ(planner.Plan(
                  request, [] { return false; }, plan, violations),
              PlanStatus::kOk)
        << violations.ToString();
    if (height == 0.3) {
      // The narrowest arc that its speed allows, of radius 1, strays 1 - cos(0.6) = 0.17: it
      // brakes.
      EXPECT_EQ(plan.outcome, RouteOutcome::kStartOffRoute);
      EXPECT_TRUE(plan.braking);
      continue;
    }
    EXPECT_EQ(plan.outcome, RouteOutcome::kComplete) << height;
    ASSERT_EQ(plan.route.segments.size(), 2u);
    EXPECT_EQ(plan.route.segments[0].kind, SegmentKind::kArc);
    EXPECT_LE(std::abs(WrapAngle(plan.route.segments[0].heading - 0.6)), 1e-12);
    EXPECT_LE(4.0 * std::abs(plan.route.segments[0].curvature), 4.0 * (1.0 + 1e-9));
    EXPECT_LE(plan.largest_deviation, plan.deviation_tolerance);
    EXPECT_EQ(plan.route.end, (Vec2{18, 0.5 * height}));
    EXPECT_NEAR(plan.route.phases.front().start_speed, 2.0, 1e-12);
    ExpectSmooth(plan.route.segments, 1e-9);
  }
}

TEST(StartJoinTest, AnAgentThatOnlyStopsAndTurnsBrakes) {
  const std::vector<double> x = {0, 20, 20, 0}, y = {0, 0, 6, 6};
  const std::vector<uint32_t> count = {4};
  CorridorPlanRequest request = Hall(6.0, x, y, count);
  request.agent.max_turn_radius.reset();
  CorridorPlanner planner;
  RoutePlan plan;
  Violations violations;
  ASSERT_EQ(planner.Plan(
                request, [] { return false; }, plan, violations),
            PlanStatus::kOk);
  EXPECT_EQ(plan.outcome, RouteOutcome::kStartOffRoute);
}

}  // namespace
}  // namespace arclane
