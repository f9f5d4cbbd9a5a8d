// SPDX-License-Identifier: Apache-2.0
// The agent that drives: its body, its limits and its manners, as validated.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_AGENT_PROFILE_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_AGENT_PROFILE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "server/planning/geometry/vec2.h"
#include "server/planning/speed/speed_limits.h"

namespace arclane {

enum class CornerObjective : uint8_t { kFewestStops, kLeastTime };

struct AgentProfile {
  // Body.
  double radius = 0.0;
  double baked_radius = 0.0;
  double clearance = 0.0;
  std::optional<double> max_turn_radius;  // Unset: stop and turn at every corner.
  double min_turn_radius = 0.0;
  bool can_turn_in_place = true;

  // Limits, the reaction time among them.
  SpeedLimits limits;
  double max_angular_speed = std::numeric_limits<double>::infinity();  // Radians a second.

  // Manners.
  double heading_tolerance = 0.0;  // Radians.
  bool turn_before_move = false;
  double corner_angle_min = 1e-3;  // Radians; smaller kinks are driven through.
  CornerObjective corner_objective = CornerObjective::kFewestStops;
  double max_extra_length = 0.05;  // Fraction of the shortest length.
  double corner_work_budget_s = 0.0003;

  // The distance that the path keeps from the corridor's walls.
  double inset() const { return clearance + std::max(0.0, radius - baked_radius); }
};

// The agent's motion at the ends of its route.
struct EndMotion {
  Vec2 velocity;
  std::optional<double> heading;  // Of the body at the start, radians.
  double goal_speed = 0.0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_AGENT_PROFILE_H_
