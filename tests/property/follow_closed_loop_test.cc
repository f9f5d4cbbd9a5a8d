// SPDX-License-Identifier: Apache-2.0
// Agents that follow routes to their end, in closed loop: on the reference corridors, and on random
// ones, up to 1,000 of each. A failure prints the route's id and the seed.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/follow/follow_world.h"

namespace arclane::testing {
namespace {

constexpr double kDt = 1.0 / 60.0;
constexpr double kOnRoute = 1e-9;
constexpr double kSpeedTolerance = 1e-9;
// Half-planes lie a tolerance outside of the walls; where two of them meet at a sharp corner their
// common point lies farther out by 1 / sin of half the angle.
constexpr double kWallTolerances = 16.0;
constexpr size_t kRoutes = 1000;

using Corridors = std::vector<std::pair<std::string, CorridorSource>>;

Corridors RandomCorridors() {
  Corridors corridors;
  for (uint32_t seed = 1; seed <= kRoutes; ++seed) {
    corridors.emplace_back("random " + std::to_string(seed), RandomCorridor(seed));
  }
  return corridors;
}

FollowAgent AgentOf(size_t index) {
  switch (index % 3) {
    case 0:
      return WalkingAgent();
    case 1:
      return RoundingAgent();
    default:
      return TurningAgent();
  }
}

// The plan's limit of speed at a place: the highest speed, and the lateral limit of its arc.
double LimitAt(const PlannedRoute& planned, uint32_t source) {
  const SpeedLimits& limits = planned.agent.profile.limits;
  const double curvature = std::abs(planned.plan.route.segments[source].curvature);
  double limit = limits.max_speed;
  if (curvature > 0.0 && limits.max_lateral_acceleration) {
    limit = std::min(limit, std::sqrt(*limits.max_lateral_acceleration / curvature));
  }
  return limit;
}

int RestsOf(const PlannedRoute& planned) {
  int rests = 1;
  for (const Segment& segment : planned.plan.route.segments) {
    rests += segment.kind == SegmentKind::kTurn || segment.kind == SegmentKind::kArc;
  }
  return rests;
}

// How far a straight step may leave the route because it passes the corner of a wall that the route
// touches: the height of its chord on an arc, or what a kink that is no corner turns it by.
double ChordAllowance(const PlannedRoute& planned, const MotionRequest& request, double step) {
  const std::vector<Segment>& segments = planned.plan.route.segments;
  double allowance = 0.0;
  for (uint32_t i = request.segment + 1; i-- > 0;) {
    const Segment& segment = segments[i];
    if (segment.kind == SegmentKind::kTurn ||
        segment.start_distance + segment.length < request.distance - 2.0 * step) {
      break;
    }
    allowance = std::max(allowance, step * step * std::abs(segment.curvature));
    if (i > 0 && segments[i - 1].kind != SegmentKind::kTurn) {
      const Segment& before = segments[i - 1];
      const double kink =
          WrapAngle(segment.heading - before.heading - before.curvature * before.length);
      allowance += 2.0 * step * std::abs(kink);
    }
  }
  return allowance;
}

// Up to kRoutes routes, evenly chosen, agents in turn.
template <typename Check>
void ForEachRoute(const Corridors& corridors, bool float32, size_t count, const Check& check) {
  const size_t stride = std::max<size_t>(1, corridors.size() / count);
  size_t planned_count = 0;
  for (size_t i = 0; i < corridors.size(); i += stride) {
    PlannedRoute planned;
    if (!PlanRoute(corridors[i].first, corridors[i].second, float32, AgentOf(i), {}, &planned)) {
      continue;
    }
    if (planned.plan.outcome != RouteOutcome::kComplete) continue;
    if (planned.plan.route.segments.empty()) continue;
    SCOPED_TRACE(planned.id + " agent " + std::to_string(i % 3));
    check(planned, static_cast<uint32_t>(i));
    ++planned_count;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(planned_count, std::min(corridors.size(), count) / 2);
}

// An agent on the route: it stays there, keeps every limit and arrives in time.
void StaysOnRouteAndArrives(const PlannedRoute& planned, uint32_t seed) {
  Drive::Setup setup;
  setup.dt = kDt;
  setup.seed = seed;
  double worst_deviation = 0.0, worst_speed = 0.0, worst_braking = 0.0;
  double previous = 0.0;
  setup.after = [&](int, const Drive& drive) {
    const MotionRequest& request = drive.request();
    const double step = std::max(previous, request.speed) * kDt;
    const double chord = ChordAllowance(planned, request, step);
    worst_deviation = std::max(worst_deviation, request.deviation - chord);
    worst_speed = std::max(worst_speed, Norm(drive.velocity()) - LimitAt(planned, request.segment));
    worst_braking = std::max(worst_braking, (previous - request.speed) / kDt);
    previous = request.speed;
  };
  Drive drive(planned.follow, setup);
  drive.Run();
  const double tolerance = std::max(kOnRoute, planned.follow.tolerance);
  EXPECT_TRUE(drive.arrived()) << static_cast<int>(drive.request().status) << " at "
                               << drive.request().distance << " of " << planned.follow.length;
  EXPECT_LE(Distance(drive.position(), planned.follow.end), planned.follow.arrival_tolerance);
  EXPECT_LE(worst_deviation, tolerance);
  EXPECT_LE(worst_speed, kSpeedTolerance);
  EXPECT_LE(worst_braking, planned.agent.profile.limits.max_braking * (1.0 + 1e-6));
  EXPECT_LE(drive.time_s(),
            1.03 * planned.plan.route.duration_s + 2.0 * kDt * (RestsOf(planned) + 1))
      << "planned " << planned.plan.route.duration_s << " rests " << RestsOf(planned);
}

// A displacement that is clamped to the half-planes stays in the corridor, wherever it points.
void ClampedStaysInside(const PlannedRoute& planned, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Drive::Setup setup;
  setup.dt = kDt;
  const double tolerance = kWallTolerances * planned.follow.tolerance;
  setup.after = [&](int, const Drive& drive) {
    const MotionRequest& request = drive.request();
    ASSERT_TRUE(request.inside_corridor);
    for (const HalfPlane& plane : request.half_planes()) {
      ASSERT_LE(Dot(plane.normal, drive.before()), plane.offset + tolerance);
    }
    const Vec2 random_way = UnitVector(6.3 * uniform(random)) * (5.0 * uniform(random));
    for (const Vec2 way : {drive.position() - drive.before(), random_way}) {
      const Vec2 moved = way * FractionInside(request.half_planes(), drive.before(), way);
      for (const double t : {0.25, 0.5, 0.75, 1.0}) {
        ASSERT_LE(DistanceFromCorridor(planned.corridor, drive.before() + moved * t), tolerance);
      }
    }
  };
  Drive drive(planned.follow, setup);
  while (!drive.arrived() && drive.steps() < 2000 && !::testing::Test::HasFatalFailure()) {
    drive.Step();
  }
}

// Pushed aside at random times it comes back, within the corridor, and arrives.
void ReturnsAfterPushes(const PlannedRoute& planned, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Drive::Setup setup;
  setup.dt = kDt;
  setup.clamp_to_half_planes = true;
  // The arrival tolerance is what an agent that is pushed about can keep.
  FollowRoute route = planned.follow;
  route.arrival_tolerance = std::max(route.arrival_tolerance, 1e-2);
  const double tolerance = kWallTolerances * route.tolerance;
  setup.after = [&](int, const Drive& drive) {
    ASSERT_LE(DistanceFromCorridor(planned.corridor, drive.position()), tolerance);
  };
  Drive drive(route, setup);
  const double wide = 0.3;
  for (int pushes = 0; pushes < 4 && !drive.arrived(); ++pushes) {
    const int steps = 1 + static_cast<int>(60.0 * uniform(random));
    for (int i = 0; i < steps && !drive.arrived(); ++i) {
      drive.Step();
      if (::testing::Test::HasFatalFailure()) return;
    }
    const Vec2 push = UnitVector(6.3 * uniform(random)) * (wide * uniform(random));
    const Vec2 moved = push * FractionInside(drive.request().half_planes(), drive.position(), push);
    if (DistanceFromCorridor(planned.corridor, drive.position() + moved) <= 0.0) drive.Push(moved);
  }
  drive.Run();
  EXPECT_TRUE(drive.arrived()) << static_cast<int>(drive.request().status) << " at "
                               << drive.request().distance << " of " << route.length
                               << " deviation " << drive.request().deviation;
}

TEST(FollowClosedLoopTest, RandomRoutesArriveOnTheRoute) {
  ForEachRoute(RandomCorridors(), false, kRoutes, StaysOnRouteAndArrives);
}
TEST(FollowClosedLoopTest, DetourRoutesArriveOnTheRoute) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  ForEachRoute(DetourCorridors(dir), true, kRoutes, StaysOnRouteAndArrives);
}
TEST(FollowClosedLoopTest, MapRoutesArriveOnTheRoute) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  ForEachRoute(MapCorridors(dir), false, kRoutes, StaysOnRouteAndArrives);
}

TEST(FollowClosedLoopTest, ClampedDisplacementsStayInRandomCorridors) {
  ForEachRoute(RandomCorridors(), false, kRoutes, ClampedStaysInside);
}
TEST(FollowClosedLoopTest, ClampedDisplacementsStayInDetourCorridors) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  ForEachRoute(DetourCorridors(dir), true, kRoutes, ClampedStaysInside);
}
TEST(FollowClosedLoopTest, ClampedDisplacementsStayInMapCorridors) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  ForEachRoute(MapCorridors(dir), false, kRoutes, ClampedStaysInside);
}

TEST(FollowClosedLoopTest, PushedAgentsReturnInRandomCorridors) {
  ForEachRoute(RandomCorridors(), false, kRoutes, ReturnsAfterPushes);
}
TEST(FollowClosedLoopTest, PushedAgentsReturnInDetourCorridors) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  ForEachRoute(DetourCorridors(dir), true, kRoutes, ReturnsAfterPushes);
}

}  // namespace
}  // namespace arclane::testing
