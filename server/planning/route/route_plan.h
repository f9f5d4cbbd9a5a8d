// SPDX-License-Identifier: Apache-2.0
// What planning answers: the route, how it came out, and the numbers behind that.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_PLAN_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/planning/corridor/clearance.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/route/route.h"

namespace arclane {

enum class RouteOutcome : uint8_t {
  kComplete,
  kPartial,
  kCannotStop,
  kStartOffRoute,
  kNeedsMotionPlanning,
  kGoalSpeedUnreachable,
};

enum class CornerAction : uint8_t { kStop, kRounded, kMerged, kPassed };

enum class CornerCause : uint8_t {
  kNone,
  kNotRequested,
  kNoRoom,
  kTooShort,
  kBelowMinRadius,
  kHairpin,
  kLink,
  kNotWorth,
  kWorkBudget,
};

// A corner of the shortest line.
struct RouteCorner {
  Vec2 position;
  double height = 0.0;
  uint32_t portal_index = 0;
  CornerAction action = CornerAction::kStop;
  CornerCause cause = CornerCause::kNone;
  double turn_angle = 0.0;  // Radians, positive to the left.
  double radius = 0.0;
  double distance = 0.0;  // Along the route: of the stop, or of the middle of the arc.
};

struct BrakingReport {
  double start_speed = 0.0;
  double stop_distance = 0.0;
  double available_distance = 0.0;
  double overrun = 0.0;
  double speed_at_end = 0.0;
  double max_start_speed = 0.0;
  Vec2 rest_position;
  double rest_height = 0.0;
  bool inside_corridor = false;
  double heading_error = 0.0;
};

// What keeps the agent from driving: a corner (nullopt: its heading at the start).
struct UndrivableCorner {
  std::optional<uint32_t> corner;
  uint32_t portal_index = 0;
  CornerCause cause = CornerCause::kNone;
  std::string detail;
};

struct RoutePlan {
  RouteOutcome outcome = RouteOutcome::kComplete;
  Route route;
  double shortest_length = 0.0;
  std::vector<RouteCorner> corners;
  std::vector<ClearanceShortfall> shortfalls;
  std::optional<BrakingReport> braking;        // kCannotStop, kStartOffRoute.
  std::optional<UndrivableCorner> undrivable;  // kNeedsMotionPlanning.
  double goal_speed_reached = 0.0;
  double start_shift = 0.0;
  double goal_shift = 0.0;
  double largest_deviation = 0.0;  // Of the verification.
  double deviation_tolerance = 0.0;

  // As newly made, but with the memory of its columns kept.
  void Clear() {
    RoutePlan fresh;
    fresh.route.segments.swap(route.segments);
    fresh.route.phases.swap(route.phases);
    fresh.route.surface.swap(route.surface);
    fresh.corners.swap(corners);
    fresh.shortfalls.swap(shortfalls);
    fresh.route.segments.clear();
    fresh.route.phases.clear();
    fresh.route.surface.clear();
    fresh.corners.clear();
    fresh.shortfalls.clear();
    *this = std::move(fresh);
  }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_PLAN_H_
