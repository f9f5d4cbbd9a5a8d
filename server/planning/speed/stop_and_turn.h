// SPDX-License-Identifier: Apache-2.0
// Stop-and-turn over a polyline: rest at every waypoint, turn in place, drive the next line.
//
// The turn at a waypoint has the signed angle from the heading before (the first: the start
// heading) to the next line's direction, in (-pi, pi], and takes max(0, |angle| -
// heading_tolerance_rad) / max_angular_speed seconds. Equal successive waypoints are dropped first.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_STOP_AND_TURN_H_
#define ARCLANE_SERVER_PLANNING_SPEED_STOP_AND_TURN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/planning/geometry/vec2.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

struct TurnLimits {
  double max_angular_speed = 0.0;      // rad/s, > 0
  double heading_tolerance_rad = 0.0;  // >= 0; the agent drives on once its heading is this close
};

// Line i leads from waypoint_index[i] to waypoint_index[i + 1]; turn i is made before it.
struct StopAndTurn {
  std::vector<std::uint32_t>
      waypoint_index;  // waypoints that are left after dropping equal neighbours: n + 1
  std::vector<double> turn_angle_rad;  // n
  std::vector<double> turn_time_s;     // n
  std::vector<SpeedPiece> pieces;      // n lines
  std::vector<SpeedStop> stops;  // one in front of each line; PlanSpeed takes both as they are
};

// Seconds to turn in place by the angle.
double TurnTime(double angle_rad, const TurnLimits& limits);

// No start heading: the agent already faces the first line. Fewer than two different waypoints: no
// lines. Linear time. Precondition: finite waypoints. PlanSpeed over `pieces` and `stops` (start
// and end speed 0) gives duration_s = turns plus drives and piece_time_s = the drives.
void BuildStopAndTurn(std::span<const Vec2> waypoints, std::optional<double> start_heading_rad,
                      const TurnLimits& limits, StopAndTurn& result);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_STOP_AND_TURN_H_
