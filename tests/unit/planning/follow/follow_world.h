// SPDX-License-Identifier: Apache-2.0
// Routes for the follower's tests and benchmarks, planned in process, and an agent that drives them
// the way a game's controller would.
#ifndef ARCLANE_TESTS_UNIT_PLANNING_FOLLOW_FOLLOW_WORLD_H_
#define ARCLANE_TESTS_UNIT_PLANNING_FOLLOW_FOLLOW_WORLD_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/follow/follow_route.h"
#include "server/planning/follow/follow_step.h"
#include "server/planning/route/route_plan.h"
#include "tests/unit/planning/corridor/corridor_records.h"

namespace arclane::testing {

// A plan with everything that the follower's route is made of.
struct PlannedRoute {
  std::string id;
  Corridor corridor;
  RoutePlan plan;
  FollowAgent agent;
  FollowRoute follow;
};

// v_max 6, acceleration 3, braking 4, lateral 4; stops and turns without turn time; arrival within
// 1 mm and 0.05 a second.
FollowAgent WalkingAgent();
// The same, rounding corners as far as there is room.
FollowAgent RoundingAgent();
// Turns on the spot with 4 rad/s before it moves.
FollowAgent TurningAgent();

// False when the corridor cannot be planned.
bool PlanRoute(const std::string& id, const CorridorSource& source, bool float32,
               const FollowAgent& agent, std::span<const FollowDependency> dependencies,
               PlannedRoute* planned);

// The corridor of the seed, of random bends and widths.
CorridorSource RandomCorridor(uint32_t seed);
// A straight corridor along x: squares of 4 from 0 to 4 * cells, y in [-2, 2].
CorridorSource StraightCorridor(int cells);
// An L: 0 <= x <= 12, 0 <= y <= 2, then 10 <= x <= 12 up to y = 12.
CorridorSource BentCorridor();

// Every corridor of detour/corridors_dev, or of maps/queries_dev (corridor_optimal).
std::vector<std::pair<std::string, CorridorSource>> DetourCorridors(const std::string& dir);
std::vector<std::pair<std::string, CorridorSource>> MapCorridors(const std::string& dir);

// What drives the agent: the follower's requests, integrated.
class Drive {
 public:
  struct Setup {
    FollowerOptions options;
    double dt = 1.0 / 60.0;
    double position_noise = 0.0;  // Standard deviation in each axis, of what is reported.
    uint32_t seed = 1;
    bool clamp_to_half_planes = false;
    int max_steps = 100000;
    // Called before each step to change the input.
    std::function<void(int step, FollowInput& input)> before;
    // Called after each step, when the agent has moved.
    std::function<void(int step, const Drive& drive)> after;
  };

  Drive(const FollowRoute& route, Setup setup);

  // Places the agent; to be called before the first step.
  void Place(Vec2 position, Vec2 velocity, double heading);
  void Step();
  // Moves the agent by force, as a displacement of the step to come.
  void Push(Vec2 displacement) {
    position_ = position_ + displacement;
    displacement_ = displacement_ + displacement;
  }
  // Until it has arrived or is at rest in another final state, or until max_steps.
  void Run();

  const FollowRoute& route() const { return route_; }
  const MotionRequest& request() const { return request_; }
  const FollowerState& state() const { return state_; }
  Vec2 before() const { return before_; }  // The true position before the last step.
  Vec2 position() const { return position_; }
  Vec2 velocity() const { return velocity_; }
  double time_s() const { return time_s_; }
  int steps() const { return steps_; }
  bool arrived() const {
    return request_.status == FollowStatus::kArrived ||
           request_.status == FollowStatus::kArrivedPartial;
  }

 private:
  const FollowRoute& route_;
  Setup setup_;
  std::mt19937 random_;
  FollowerState state_;
  MotionRequest request_;
  FollowInput input_;
  Vec2 position_, velocity_, before_, displacement_, late_command_;
  double heading_ = 0.0;
  double time_s_ = 0.0;
  int steps_ = 0;
};

// The largest fraction in [0, 1] of the displacement that stays in the half-planes.
double FractionInside(std::span<const HalfPlane> planes, Vec2 p, Vec2 displacement);

// The displacement less what leads out of the half-planes, as a controller slides along walls.
Vec2 SlideInside(std::span<const HalfPlane> planes, Vec2 p, Vec2 displacement);

// How far p lies outside of every cell, looking at all of them.
double DistanceFromCorridor(const Corridor& corridor, Vec2 p);

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_UNIT_PLANNING_FOLLOW_FOLLOW_WORLD_H_
