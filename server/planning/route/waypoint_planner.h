// SPDX-License-Identifier: Apache-2.0
// A route along given waypoints: corners rounded by inscribed arcs where asked and possible, stops
// elsewhere, and the exact speed plan over that.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_WAYPOINT_PLANNER_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_WAYPOINT_PLANNER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "server/planning/geometry/points_columns.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/route/agent_profile.h"
#include "server/planning/route/motion_plan.h"
#include "server/planning/route/plan_stage.h"
#include "server/planning/route/route_plan.h"

namespace arclane {

// As validated: finite, equal columns, counts that fit.
struct WaypointPlanRequest {
  std::vector<Vec2> waypoints;  // Less the origin; at least one.
  std::vector<double> heights;  // As many.
  std::vector<double> radius;   // One a corner, or one for all.
  bool closed = false;
  std::vector<Vec2> polygon_vertices;   // Of the polygons whose union must contain the route.
  std::vector<uint32_t> polygon_begin;  // Empty: no containment.
  double tolerance = 0.0;  // Waypoints this close to their predecessor are the same one.
  AgentProfile agent;
  EndMotion motion;
};

// Radii below this fraction of the longest line are stops: at such a radius a corner is driven at a
// speed below 3e-5 of what the line allows, and positions on the arc are rounding.
inline constexpr double kLeastRadiusFraction = 1e-9;

// Lines of the waypoints that leave the containment, by the index of their first waypoint; the
// route is not to be driven.
struct WaypointPlan {
  RoutePlan plan;  // RouteCorner::portal_index is the index of the waypoint.
  std::vector<uint32_t> uncontained_lines;
};

// Keeps its buffers; not thread-safe; one for each thread. INVALID_ARGUMENT only for what
// validation should have found; CANCELLED when `stop`, asked after every bounded amount of work,
// says so. `mark` is told of the stages kCorners and kSpeed. O(n) without polygons
// (fillet_polyline.h).
class WaypointPlanner {
 public:
  absl::Status Plan(const WaypointPlanRequest& request, WaypointPlan& result,
                    StopCheck stop = NeverStop, StageMark mark = IgnoreStage);

 private:
  void MergeEqual(const WaypointPlanRequest& request);
  void LayHeights(const WaypointPlanRequest& request, RoutePlan& plan) const;

  MotionPlanner motion_;
  std::vector<Vec2> points_;
  std::vector<double> heights_;
  std::vector<double> radius_;
  std::vector<uint32_t> index_;  // Of the request's waypoints.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_WAYPOINT_PLANNER_H_
