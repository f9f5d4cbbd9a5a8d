// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/stop_and_turn.h"

#include <algorithm>
#include <cmath>

namespace arclane {

double TurnTime(double angle_rad, const TurnLimits& limits) {
  return std::max(0.0, std::abs(angle_rad) - limits.heading_tolerance_rad) /
         limits.max_angular_speed;
}

void BuildStopAndTurn(std::span<const Vec2> waypoints, std::optional<double> start_heading_rad,
                      const TurnLimits& limits, StopAndTurn& result) {
  result.waypoint_index.clear();
  result.turn_angle_rad.clear();
  result.turn_time_s.clear();
  result.pieces.clear();
  result.stops.clear();
  if (waypoints.empty()) return;
  result.waypoint_index.push_back(0);
  std::optional<Vec2> facing;
  if (start_heading_rad) facing = UnitVector(*start_heading_rad);
  Vec2 from = waypoints[0];
  for (std::size_t i = 1; i < waypoints.size(); ++i) {
    if (waypoints[i] == from) continue;
    const Vec2 line = waypoints[i] - from;
    const double angle = facing ? TurnAngle(*facing, line) : 0.0;
    const double turn_s = TurnTime(angle, limits);
    result.stops.push_back({result.pieces.size(), turn_s});
    result.turn_angle_rad.push_back(angle);
    result.turn_time_s.push_back(turn_s);
    result.pieces.push_back({std::hypot(line.x, line.y), kStraight});
    result.waypoint_index.push_back(static_cast<std::uint32_t>(i));
    facing = line;
    from = waypoints[i];
  }
}

}  // namespace arclane
