// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/waypoint_planner.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace arclane {
namespace {

using ::testing::ElementsAre;

WaypointPlanRequest Along(std::vector<Vec2> waypoints, std::vector<double> radius) {
  WaypointPlanRequest request;
  request.heights.assign(waypoints.size(), 0.0);
  request.waypoints = std::move(waypoints);
  request.radius = std::move(radius);
  request.agent.limits.max_speed = 6.0;
  request.agent.limits.max_acceleration = 3.0;
  request.agent.limits.max_braking = 4.0;
  request.agent.limits.max_lateral_acceleration = 4.0;
  return request;
}

RoutePlan Plan(const WaypointPlanRequest& request) {
  WaypointPlan result;
  const absl::Status status = WaypointPlanner().Plan(request, result);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(result.uncontained_lines.empty());
  return std::move(result.plan);
}

size_t StopCount(const RoutePlan& plan) {
  size_t count = 0;
  for (const RouteCorner& corner : plan.corners) count += corner.action == CornerAction::kStop;
  return count;
}

TEST(WaypointPlannerTest, EqualNeighboursCountOnceAndTheLaterRadiusHolds) {
  const RoutePlan plan =
      Plan(Along({{0, 0}, {0, 0}, {4, 0}, {4, 0}, {4, 4}, {4, 4}}, {9, 9, 1, 9}));
  ASSERT_EQ(plan.corners.size(), 1u);
  EXPECT_EQ(plan.corners[0].portal_index, 2u);
  EXPECT_DOUBLE_EQ(plan.corners[0].radius, 1.0);
  EXPECT_NEAR(plan.route.length, 6.0 + std::numbers::pi / 2, 1e-14);
}

TEST(WaypointPlannerTest, ALoopThatRepeatsItsFirstWaypointIsTheSameLoop) {
  WaypointPlanRequest request = Along({{0, 0}, {4, 0}, {4, 4}, {0, 4}}, {1});
  request.closed = true;
  const RoutePlan plan = Plan(request);
  request.waypoints.push_back({0, 0});
  request.heights.push_back(0.0);
  EXPECT_EQ(Plan(request).route.length, plan.route.length);
  EXPECT_EQ(plan.corners.size(), 4u);
}

TEST(WaypointPlannerTest, StraightWaypointsAreDrivenThroughUnlessAStopIsAskedForThere) {
  WaypointPlanRequest request = Along({{0, 0}, {1, 0}, {3, 0}}, {0});
  EXPECT_EQ(StopCount(Plan(request)), 0u);
  request.agent.corner_angle_min = 0.0;
  EXPECT_EQ(StopCount(Plan(request)), 1u);
  request.radius = {1.0};
  EXPECT_EQ(StopCount(Plan(request)), 0u);
}

TEST(WaypointPlannerTest, HeightsAreLinearBetweenWaypoints) {
  WaypointPlanRequest request = Along({{0, 0}, {4, 0}, {4, 3}}, {0});
  request.heights = {0, 3, 7};
  const RoutePlan plan = Plan(request);
  EXPECT_NEAR(plan.route.surface_length(), 5.0 + 5.0, 1e-14);
}

TEST(WaypointPlannerTest, TheHeadingAtTheStartIsTurnedInPlaceFirst) {
  WaypointPlanRequest request = Along({{0, 0}, {4, 0}}, {0});
  request.motion.heading = std::numbers::pi / 2;
  request.agent.turn_before_move = true;
  request.agent.max_angular_speed = 2.0;
  const RoutePlan plan = Plan(request);
  ASSERT_EQ(plan.route.segments.size(), 2u);
  EXPECT_EQ(plan.route.segments[0].kind, SegmentKind::kTurn);
  EXPECT_DOUBLE_EQ(plan.route.segments[0].turn_angle, -std::numbers::pi / 2);
  request.motion.heading.reset();
  EXPECT_NEAR(plan.route.duration_s - Plan(request).route.duration_s, std::numbers::pi / 4, 1e-14);
}

TEST(WaypointPlannerTest, OneWaypointIsARouteWithoutLength) {
  for (const bool closed : {false, true}) {
    WaypointPlanRequest request = Along({{3, 4}, {3, 4}}, {1});
    request.closed = closed;
    const RoutePlan plan = Plan(request);
    EXPECT_EQ(plan.outcome, RouteOutcome::kComplete);
    EXPECT_EQ(plan.route.length, 0.0);
    EXPECT_EQ(plan.route.end, (Vec2{3, 4}));
  }
}

TEST(WaypointPlannerTest, WaypointsOutsideThePolygonsAreNamed) {
  WaypointPlanRequest request = Along({{1, 1}, {8, 1}, {8, 8}}, {1});
  request.polygon_vertices = {{0, 0}, {9, 0}, {9, 4}, {0, 4}};
  request.polygon_begin = {0, 4};
  WaypointPlan result;
  ASSERT_TRUE(WaypointPlanner().Plan(request, result).ok());
  EXPECT_THAT(result.uncontained_lines, ElementsAre(1u));
  request.waypoints = {{20, 1}};
  request.heights = {0};
  WaypointPlan point;
  ASSERT_TRUE(WaypointPlanner().Plan(request, point).ok());
  EXPECT_THAT(point.uncontained_lines, ElementsAre(0u));
}

// Twelve short lines far apart on a long zigzag, the corners of each in one another's way: every
// one costs a stop, and which of its two corners stops is decided without solving the whole line
// for every combination.
TEST(WaypointPlannerTest, ConflictsFarApartCostOneStopEach) {
  constexpr int kCount = 100'000;
  constexpr int kConflicts = 12;
  std::vector<Vec2> waypoints;
  double x = 0.0;
  for (int i = 0; i < kCount; ++i) {
    x += i % (kCount / kConflicts) == 5 ? 0.5 : 2.0;
    waypoints.push_back({x, static_cast<double>(i % 2)});
  }
  WaypointPlanRequest request = Along(std::move(waypoints), {1});
  request.agent.min_turn_radius = 0.6;
  const RoutePlan plan = Plan(request);
  EXPECT_EQ(plan.corners.size(), static_cast<size_t>(kCount - 2));
  EXPECT_EQ(StopCount(plan), static_cast<size_t>(kConflicts));
}

TEST(WaypointPlannerTest, TheStopSignalIsHeard) {
  std::vector<Vec2> waypoints;
  for (int i = 0; i < 10'000; ++i) waypoints.push_back({1.0 * i, 1.0 * (i % 2)});
  const WaypointPlanRequest request = Along(std::move(waypoints), {1});
  WaypointPlanner planner;
  int total = 0;
  const auto plan_until = [&](int last) {
    WaypointPlan result;
    total = 0;
    return planner.Plan(request, result, [&] { return ++total >= last; });
  };
  EXPECT_TRUE(plan_until(1'000'000).ok());
  const int looks = total;
  for (int last = 1; last <= looks; ++last) {
    EXPECT_EQ(plan_until(last).code(), absl::StatusCode::kCancelled) << last;
    EXPECT_EQ(total, last);
  }
}

TEST(WaypointPlannerTest, EqualAndStraightAndDoublingWaypointsInNumbers) {
  constexpr size_t kCount = 100'000;
  EXPECT_EQ(Plan(Along(std::vector<Vec2>(kCount, {7, 7}), {1})).route.length, 0.0);
  std::vector<Vec2> straight;
  std::vector<Vec2> doubling;
  for (size_t i = 0; i < kCount; ++i) {
    straight.push_back({static_cast<double>(i), 0.0});
    doubling.push_back({static_cast<double>(i % 2), 0.0});
  }
  const RoutePlan line =
      Plan(Along(std::move(straight), {std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(StopCount(line), 0u);
  EXPECT_NEAR(line.route.length, kCount - 1.0, 1e-6);
  const RoutePlan back = Plan(Along(std::move(doubling), {1}));
  EXPECT_EQ(StopCount(back), kCount - 2);
  EXPECT_EQ(back.corners[0].cause, CornerCause::kHairpin);
}

}  // namespace
}  // namespace arclane
