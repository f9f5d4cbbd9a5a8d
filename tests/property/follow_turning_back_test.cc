// SPDX-License-Identifier: Apache-2.0
// Routes that turn back round the tip of an obstacle which is thinner than a step: an agent that is
// moved exactly as it asks to arrives, and no step of it leads through the obstacle.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/unit/planning/follow/follow_world.h"

namespace arclane::testing {
namespace {

// How far beside the tip the obstacle's line begins: routes run along the obstacle, and under the
// ramp the agent's own velocity swings about them.
constexpr double kAside = 2e-3;
constexpr Integrator kIntegrators[] = {Integrator::kHold, Integrator::kRamp, Integrator::kDelay};

// Two lanes of width 1.5, the second above the first, joined at x = 8 round a wall of the given
// thickness; of none when it is 0.
CorridorSource Lanes(double thickness, Vec2 start, Vec2 goal) {
  const double w = 1.5, l = 8.0, t = thickness;
  CorridorSource source;
  source.SetStart({start.x, start.y, 0.0});
  source.SetGoal({goal.x, goal.y + w + t, 0.0});
  source.AddPolygon({{0, 0, 0}, {l, 0, 0}, {l, w, 0}, {0, w, 0}});
  if (t > 0.0) {
    source.AddPolygon({{l, 0, 0}, {l + 2, 0, 0}, {l + 2, 2 * w + t, 0}, {l, 2 * w + t, 0}});
  } else {
    source.AddPolygon({{l, 0, 0}, {l + 2, 0, 0}, {l + 2, w, 0}, {l, w, 0}});
    source.AddPolygon({{l, w, 0}, {l + 2, w, 0}, {l + 2, 2 * w, 0}, {l, 2 * w, 0}});
  }
  source.AddPolygon({{0, w + t, 0}, {l, w + t, 0}, {l, 2 * w + t, 0}, {0, 2 * w + t, 0}});
  return source;
}

// From left to right over the tip (0, 0) of a wedge, `half` wide on each side 4 below it.
CorridorSource Wedge(double half, Vec2 start, Vec2 goal) {
  CorridorSource source;
  source.SetStart({start.x, start.y, 0.0});
  source.SetGoal({goal.x, goal.y, 0.0});
  source.AddPolygon({{-3, -4, 0}, {-half, -4, 0}, {0, 0, 0}, {-3, 0, 0}});
  source.AddPolygon({{-3, 0, 0}, {0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {-3, 1, 0}});
  source.AddPolygon({{half, -4, 0}, {3, -4, 0}, {3, 0, 0}, {0, 0, 0}});
  return source;
}

bool Crosses(Vec2 p, Vec2 q, Vec2 a, Vec2 b) {
  return Cross(q - p, a - p) * Cross(q - p, b - p) < 0.0 &&
         Cross(b - a, p - a) * Cross(b - a, q - a) < 0.0;
}

// What goes wrong on the way to the goal, where no feasible step may cross the line in the
// obstacle; empty: nothing.
std::string FaultOf(const PlannedRoute& planned, Integrator integrator, double longest_step,
                    std::pair<Vec2, Vec2> obstacle) {
  Drive::Setup setup;
  setup.options.integrator = integrator;
  setup.options.longest_step = longest_step;
  setup.max_steps = 2000;
  std::string fault;
  setup.after = [&](int step, const Drive& drive) {
    if (!fault.empty() || !drive.request().feasible) return;
    for (const HalfPlane& plane : drive.request().half_planes()) {
      if (Dot(plane.normal, drive.position()) > plane.offset + 4.0 * planned.follow.plane_roundoff)
        fault = "step " + std::to_string(step) + " leaves its half-planes";
    }
    if (!Crosses(drive.before(), drive.position(), obstacle.first, obstacle.second)) return;
    fault = "step " + std::to_string(step) + " crosses from " + std::to_string(drive.before().x) +
            ", " + std::to_string(drive.before().y) + " to " + std::to_string(drive.position().x) +
            ", " + std::to_string(drive.position().y);
  };
  Drive drive(planned.follow, setup);
  drive.Run();
  return fault.empty() && !drive.arrived() ? "does not arrive" : fault;
}

TEST(FollowTurningBackTest, RoundTheEndOfAThinWall) {
  const uint64_t seed = 20261202;
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (const double thickness : {0.0, 1e-3, 0.02, 0.2}) {
    for (const double tolerance : {1e-3, 0.05, 0.2}) {
      for (int run = 0; run < 12; ++run) {
        FollowAgent agent = WalkingAgent();
        agent.profile.limits.max_speed = 4.0;
        agent.corner_distance_tolerance = tolerance;
        agent.corner_speed_tolerance = tolerance;
        const Vec2 start = {uniform(1, 6), uniform(0.1, 1.4)};
        const Vec2 goal = {uniform(1, 6), uniform(0.1, 1.4)};
        PlannedRoute planned;
        ASSERT_TRUE(PlanRoute("lanes", Lanes(thickness, start, goal), false, agent, {}, &planned));
        const double middle = 1.5 + 0.5 * thickness;
        const Vec2 foot = {0.0, middle};
        for (const Integrator integrator : kIntegrators) {
          // Under the ramp an agent swings to both sides of a wall of no thickness.
          const bool swings = thickness == 0.0 && integrator == Integrator::kRamp;
          for (const double longest : {1.0, 1.5, 2.0}) {
            EXPECT_EQ("", FaultOf(planned, integrator, longest,
                                  std::pair(swings ? foot : Vec2{8.0 - kAside, middle}, foot)))
                << "seed " << seed << ": thickness " << thickness << ", tolerance " << tolerance
                << ", run " << run << ", integrator " << static_cast<int>(integrator)
                << ", longest step " << longest;
          }
        }
      }
    }
  }
}

TEST(FollowTurningBackTest, RoundTheTipOfAWedgeAtFullSpeed) {
  const uint64_t seed = 20261203;
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (const double half : {0.02, 0.1, 0.5}) {
    for (const double radius : {0.5, 2.0}) {
      for (const double lateral : {4.0, 20.0, std::numeric_limits<double>::infinity()}) {
        for (int run = 0; run < 12; ++run) {
          FollowAgent agent = WalkingAgent();
          agent.profile.limits.max_speed = 4.0;
          agent.profile.limits.max_braking = 3.0;
          agent.profile.limits.max_lateral_acceleration.reset();
          if (std::isfinite(lateral)) agent.profile.limits.max_lateral_acceleration = lateral;
          agent.profile.max_turn_radius = radius;
          agent.corner_distance_tolerance = 0.05;
          agent.corner_speed_tolerance = 0.05;
          const Vec2 start = {uniform(-2.5, -half - 0.1), uniform(-3.8, -1.0)};
          const Vec2 goal = {uniform(half + 0.1, 2.5), uniform(-3.8, -1.0)};
          PlannedRoute planned;
          ASSERT_TRUE(PlanRoute("wedge", Wedge(half, start, goal), false, agent, {}, &planned));
          for (const Integrator integrator : kIntegrators) {
            EXPECT_EQ("", FaultOf(planned, integrator, 1.0,
                                  std::pair(Vec2{0.0, -kAside}, Vec2{0.0, -4.0})))
                << "seed " << seed << ": half width " << half << ", radius " << radius
                << ", lateral " << lateral << ", run " << run << ", integrator "
                << static_cast<int>(integrator);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace arclane::testing
