// SPDX-License-Identifier: Apache-2.0
// Rounds the corners of a taut path inside a corridor: lines and arcs that touch smoothly, proven
// to stay inside the chain of cells, with the fewest stops and then the least time, or the least
// time alone.
//
// A taut corner lies on a wall vertex and its inscribed arc on the wall's side, so a fillet of the
// taut path almost never fits. Here a path is a string of discs with common tangents (disc_path.h)
// that may move off the wall.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_ROUND_CORNERS_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_ROUND_CORNERS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/driven_path.h"

namespace arclane {

// How the agent turns. Lengths in the caller's unit.
struct AgentTurning {
  // The largest radius that is wanted. Infinite: only the limits bound it, at max_speed^2 /
  // max_lateral_acceleration, above which a larger radius gains nothing.
  double radius_max = std::numeric_limits<double>::infinity();
  double radius_min =
      0.0;  // <= radius_max. Arcs below it are not driven; the corner becomes a stop.
  bool can_turn_in_place = true;
  // Distance to the walls that arcs and moved lines keep, as far as the taut path keeps it itself:
  // for each wall the smaller of this and the distance of the taut path to it.
  double clearance = 0.0;
  double corner_angle_min_rad = 1e-3;  // Kinks up to this are driven through.
  // Turning in place takes |turn| / this; infinite: turning takes no time.
  double turn_speed_rad_s = std::numeric_limits<double>::infinity();
};

// Limits of the decoupled time model (speed_plan.h has the exact planner): speed, acceleration and
// braking along the path, lateral acceleration on arcs. All > 0; infinite where unlimited, except
// max_speed.
struct DrivingLimits {
  double max_speed = 1.0;
  double max_acceleration = 1.0;
  double max_braking = 1.0;
  double max_lateral_acceleration = std::numeric_limits<double>::infinity();
  double start_speed = 0.0;
  double goal_speed = 0.0;
};

enum class RoundingObjective : uint8_t { kFewestStopsThenTime, kLeastTime };

// Deterministic work units: about one half-plane test each. The calibration (rounding_benchmark) is
// about kWorkUnitsPerMicrosecond on a current server core that does nothing else; callers turn a
// time budget into units with it.
inline constexpr uint64_t kWorkUnitsPerMicrosecond = 230;

struct RoundingOptions {
  RoundingObjective objective = RoundingObjective::kFewestStopsThenTime;
  // The path may be longer than the taut one by this fraction of it; infinite: no bound.
  double max_extra_length_fraction = 0.05;
  // Any value gives a valid path; 0 gives the first that was found (corners of the taut path become
  // stops). Preparing the corridor counts, but at most as a quarter of it.
  uint64_t work_budget = 280 * kWorkUnitsPerMicrosecond;
  bool keep_rejected = false;
  // Where the agent moves already: its direction, a unit vector. A path whose taut line begins in
  // it, within the tolerance in radians, begins in it too: arcs leave from the taut line.
  std::optional<Vec2> start_direction;
  double start_direction_tolerance_rad = 1e-6;
};

// The taut path: points[0] = start, points.back() = goal, between them the corners in order.
// portal[i] is the portal on whose end points[i] lies (ignored for the ends; may be empty when
// unknown).
struct TautPath {
  std::span<const Vec2> points;
  std::span<const uint32_t> portal;
};

// Rounds the corners of `taut`. Preconditions (validated by the caller): finite values, limits > 0,
// corridor built by corridor_builder.h. Never fails: at worst every corner is a stop. A taut path
// that leaves the cells (seams merged by a tolerance) is first led through the portals' own ends.
// Same input, same bits. Guarantees: every line and arc is contained in the chain of cells
// (cell_chain.h); under kLeastTime time_s <= time_stopping_s; extra_length <=
// max_extra_length_fraction * taut length (+ rounding); a mirrored problem gives the mirrored path;
// a reversed one, with acceleration and braking swapped, the reversed path up to rounding. Cost:
// O(portals + cell vertices) plus at most the work budget. When `stop` says so on the way the
// status is kStopped and there is no path.
DrivenPath RoundCorners(const Corridor& corridor, const TautPath& taut, const AgentTurning& turning,
                        const DrivingLimits& limits, const RoundingOptions& options,
                        StopCheck stop = NeverStop);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_ROUND_CORNERS_H_
