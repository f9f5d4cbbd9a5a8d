// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/sampling.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/route/agent_profile.h"
#include "server/planning/route/motion_plan.h"
#include "server/planning/route/segment.h"

namespace arclane {
namespace {

struct Columns {
  explicit Columns(size_t n)
      : distance(n),
        surface(n),
        time(n),
        x(n),
        y(n),
        height(n),
        heading(n),
        speed(n),
        curvature(n),
        portal(n) {}
  RouteSampleColumns View() {
    RouteSampleColumns view;
    view.distance = distance;
    view.surface_distance = surface;
    view.time_s = time;
    view.x = x;
    view.y = y;
    view.height = height;
    view.heading = heading;
    view.speed = speed;
    view.curvature = curvature;
    view.portal_index = portal;
    return view;
  }
  std::vector<double> distance, surface, time, x, y, height, heading, speed, curvature;
  std::vector<uint32_t> portal;
};

// A line of 4 along x, a stop with a quarter turn left, an arc of radius 2 through a quarter
// circle, a line of 1.
RoutePlan LineTurnArcLine() {
  AgentProfile agent;
  agent.limits.max_speed = 3.0;
  agent.limits.max_acceleration = 2.0;
  agent.limits.max_braking = 2.0;
  agent.max_angular_speed = 1.0;
  agent.turn_before_move = true;
  RoutePlan plan;
  plan.route.start = {1, 1};
  plan.route.end = {2, 3};
  plan.route.segments.push_back(MakeLine(SegmentKind::kLine, {1, 1}, {5, 1}));
  plan.route.segments.push_back(MakeTurn({5, 1}, 0.0, std::numbers::pi / 2));
  plan.route.segments.push_back(
      MakeArc({5, 1}, std::numbers::pi / 2, 0.5, std::numbers::pi, {3, 3}));
  plan.route.segments.push_back(MakeLine(SegmentKind::kLine, {3, 3}, {2, 3}));
  MotionPlanner planner;
  planner.Plan(agent, EndMotion{}, plan);
  SurfaceKnot knot;
  plan.route.surface.push_back(knot);
  knot = {4.0, 3.0, 5.0, 0};
  plan.route.surface.push_back(knot);
  knot = {plan.route.length, 3.0, 5.0 + plan.route.length - 4.0, 1};
  plan.route.surface.push_back(knot);
  return plan;
}

TEST(SamplingTest, SpacingKeepsTheLastGapShortAndBothEndsExact) {
  const Route route = LineTurnArcLine().route;
  const double length = 5.0 + std::numbers::pi;
  ASSERT_DOUBLE_EQ(route.length, length);
  SamplingPlan plan{.rule = SamplingRule::kSpacing, .step = 1.0};
  ASSERT_EQ(CountSamples(plan, route), 10.0);  // 0..8 and 8.14159...
  Columns columns(10);
  WriteSamples(plan, route, columns.View());
  for (int i = 0; i < 9; ++i) EXPECT_EQ(columns.distance[i], i);
  EXPECT_EQ(columns.distance[9], route.length);
  EXPECT_EQ(columns.x[0], 1.0);
  EXPECT_EQ(columns.y[0], 1.0);
  EXPECT_EQ(columns.x[9], 2.0);
  EXPECT_EQ(columns.y[9], 3.0);
  EXPECT_EQ(columns.time[9], route.duration_s);
  EXPECT_EQ(columns.speed[0], 0.0);
  EXPECT_EQ(columns.speed[9], 0.0);
}

TEST(SamplingTest, AMultipleOfTheSpacingDoesNotGainASampleByRounding) {
  Route route;
  route.segments.push_back(MakeLine(SegmentKind::kLine, {0, 0}, {0.3, 0}));
  route.length = 0.1 + 0.2;  // 0.30000000000000004
  SamplingPlan plan{.rule = SamplingRule::kSpacing, .step = 0.1};
  EXPECT_EQ(CountSamples(plan, route), 4.0);
  plan.step = 0.3;
  EXPECT_EQ(CountSamples(plan, route), 2.0);
}

TEST(SamplingTest, HugeCountsSaturate) {
  Route route;
  route.length = 1e300;
  SamplingPlan plan{.rule = SamplingRule::kSpacing, .step = 1e-300};
  EXPECT_EQ(CountSamples(plan, route), 9007199254740992.0);
}

TEST(SamplingTest, CountIsEvenAndOneMeansTheStart) {
  const Route route = LineTurnArcLine().route;
  SamplingPlan plan{.rule = SamplingRule::kCount, .count = 5};
  Columns columns(5);
  WriteSamples(plan, route, columns.View());
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(columns.distance[i], route.length * i / 4, 1e-15 * route.length);
  EXPECT_EQ(columns.distance[4], route.length);
  plan.count = 1;
  Columns one(1);
  WriteSamples(plan, route, one.View());
  EXPECT_EQ(one.distance[0], 0.0);
  EXPECT_EQ(one.x[0], 1.0);
}

TEST(SamplingTest, AtAStopDistanceSamplesHaveTheStateOfArrival) {
  const Route route = LineTurnArcLine().route;
  const std::vector<double> at = {4.0};
  SamplingPlan plan{.rule = SamplingRule::kDistances, .distances = at};
  Columns columns(1);
  WriteSamples(plan, route, columns.View());
  EXPECT_EQ(columns.heading[0], 0.0);
  EXPECT_EQ(columns.speed[0], 0.0);
  EXPECT_EQ(columns.x[0], 5.0);
  EXPECT_EQ(columns.y[0], 1.0);
  // 4 from rest to rest at 2 with at most 3: peak sqrt(8) below 3, time 2 * sqrt(8) / 2.
  EXPECT_NEAR(columns.time[0], std::sqrt(8.0), 1e-14);
}

TEST(SamplingTest, TimeStepsTurnWithTheAgent) {
  const Route route = LineTurnArcLine().route;
  SamplingPlan plan{.rule = SamplingRule::kTimeStep, .step = 0.25};
  const size_t count = static_cast<size_t>(CountSamples(plan, route));
  Columns columns(count);
  WriteSamples(plan, route, columns.View());
  const double arrival = std::sqrt(8.0);
  const double departure = arrival + std::numbers::pi / 2;
  bool turning_seen = false;
  for (size_t i = 0; i + 1 < count; ++i) {
    const double t = 0.25 * i;
    EXPECT_EQ(columns.time[i], t);
    if (t > arrival && t < departure) {
      turning_seen = true;
      EXPECT_NEAR(columns.heading[i], t - arrival, 1e-12);
      EXPECT_EQ(columns.distance[i], 4.0);
    }
    if (t < arrival) {
      EXPECT_EQ(columns.heading[i], 0.0);
    }
  }
  EXPECT_TRUE(turning_seen);
  EXPECT_EQ(columns.time[count - 1], route.duration_s);
  EXPECT_EQ(columns.distance[count - 1], route.length);
}

// Whatever the sums of lengths and durations round to.
TEST(SamplingTest, BothEndsAreExactInTimeSteps) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> radius(0.1, 3.0), turn(0.1, 3.0), limit(0.3, 4.0);
  for (int i = 0; i < 2000; ++i) {
    AgentProfile agent;
    agent.limits.max_speed = limit(random);
    agent.limits.max_acceleration = limit(random);
    agent.limits.max_braking = limit(random);
    RoutePlan plan;
    Vec2 at = {0.1, 0.7};
    double heading = 0.3;
    plan.route.start = at;
    for (int k = 0; k < 5; ++k) {
      const double curvature = (k % 2 == 0 ? 1.0 : -1.0) / radius(random);
      Segment arc = MakeArc(at, heading, curvature, turn(random) / std::abs(curvature), {});
      arc.end = at = PointAt(arc, arc.length);
      heading = WrapAngle(heading + arc.turn_angle);
      plan.route.segments.push_back(arc);
    }
    plan.route.end = at;
    MotionPlanner planner;
    planner.Plan(agent, EndMotion{}, plan);
    const Route& route = plan.route;
    const SamplingPlan sampling{.rule = SamplingRule::kTimeStep, .step = 0.37};
    const auto count = static_cast<size_t>(CountSamples(sampling, route));
    Columns columns(count);
    WriteSamples(sampling, route, columns.View());
    EXPECT_EQ(columns.distance.front(), 0.0);
    EXPECT_EQ(columns.x.front(), route.start.x);
    EXPECT_EQ(columns.y.front(), route.start.y);
    EXPECT_EQ(columns.distance.back(), route.length);
    EXPECT_EQ(columns.time.back(), route.duration_s);
    EXPECT_EQ(columns.x.back(), route.end.x);
    EXPECT_EQ(columns.y.back(), route.end.y);
    for (size_t k = 0; k + 1 < count; ++k) {
      ASSERT_LE(columns.distance[k], columns.distance[k + 1]) << k << " of " << count;
    }
  }
}

TEST(SamplingTest, PointsOnTheArcLieOnItsCircleAtTheirArcLength) {
  const Route route = LineTurnArcLine().route;
  std::vector<double> at;
  for (int i = 0; i <= 100; ++i) at.push_back(4.0 + std::numbers::pi * i / 100.0);
  SamplingPlan plan{.rule = SamplingRule::kDistances, .distances = at};
  Columns columns(at.size());
  WriteSamples(plan, route, columns.View());
  for (size_t i = 1; i < at.size(); ++i) {
    const double phi = (at[i] - 4.0) / 2.0;
    EXPECT_NEAR(columns.x[i], 3.0 + 2.0 * std::cos(phi), 1e-14) << i;
    EXPECT_NEAR(columns.y[i], 1.0 + 2.0 * std::sin(phi), 1e-14) << i;
    EXPECT_NEAR(columns.heading[i], phi + std::numbers::pi / 2, 1e-14);
    EXPECT_EQ(columns.curvature[i], 0.5);
  }
}

TEST(SamplingTest, HeightsAndSurfaceDistancesFollowTheKnots) {
  const Route route = LineTurnArcLine().route;
  const std::vector<double> at = {0.0, 2.0, 4.0, 5.0};
  SamplingPlan plan{.rule = SamplingRule::kDistances, .distances = at};
  Columns columns(4);
  RouteSampleColumns view = columns.View();
  view.offset = {100.0, 200.0};
  view.height_offset = 10.0;
  WriteSamples(plan, route, view);
  EXPECT_DOUBLE_EQ(columns.height[0], 10.0);
  EXPECT_DOUBLE_EQ(columns.height[1], 11.5);
  EXPECT_DOUBLE_EQ(columns.height[2], 13.0);
  EXPECT_DOUBLE_EQ(columns.height[3], 13.0);
  EXPECT_DOUBLE_EQ(columns.surface[1], 2.5);
  EXPECT_DOUBLE_EQ(columns.surface[3], 6.0);
  EXPECT_EQ(columns.portal[1], 0u);
  EXPECT_EQ(columns.portal[3], 1u);
  EXPECT_DOUBLE_EQ(columns.x[1], 103.0);
  EXPECT_DOUBLE_EQ(columns.y[1], 201.0);
}

TEST(SamplingTest, ShuffledDistancesGiveTheBitsOfSortedOnes) {
  const Route route = LineTurnArcLine().route;
  const uint32_t seed = 20260101;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, route.length);
  std::vector<double> sorted(2000);
  for (double& s : sorted) s = uniform(random);
  sorted.push_back(0.0);
  sorted.push_back(4.0);
  sorted.push_back(route.length);
  std::vector<double> shuffled = sorted;
  std::sort(sorted.begin(), sorted.end());
  Columns a(sorted.size());
  Columns b(shuffled.size());
  WriteSamples({.rule = SamplingRule::kDistances, .distances = sorted}, route, a.View());
  WriteSamples({.rule = SamplingRule::kDistances, .distances = shuffled}, route, b.View());
  for (size_t i = 0; i < shuffled.size(); ++i) {
    const size_t j = std::lower_bound(sorted.begin(), sorted.end(), shuffled[i]) - sorted.begin();
    ASSERT_EQ(a.x[j], b.x[i]) << "seed " << seed << " s " << shuffled[i];
    ASSERT_EQ(a.time[j], b.time[i]);
    ASSERT_EQ(a.speed[j], b.speed[i]);
    ASSERT_EQ(a.height[j], b.height[i]);
    ASSERT_EQ(a.portal[j], b.portal[i]);
  }
}

TEST(SamplingTest, ARouteWithoutLengthGivesOneFiniteSample) {
  Route route;
  route.start = route.end = {3, 4};
  for (const SamplingRule rule :
       {SamplingRule::kSpacing, SamplingRule::kCount, SamplingRule::kTimeStep}) {
    SamplingPlan plan{.rule = rule, .step = 0.5, .count = 7};
    ASSERT_EQ(CountSamples(plan, route), 1.0);
    Columns columns(1);
    WriteSamples(plan, route, columns.View());
    EXPECT_EQ(columns.x[0], 3.0);
    EXPECT_EQ(columns.y[0], 4.0);
    EXPECT_EQ(columns.distance[0], 0.0);
    EXPECT_EQ(columns.speed[0], 0.0);
    EXPECT_EQ(columns.time[0], 0.0);
  }
}

}  // namespace
}  // namespace arclane
