// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/waypoint_planner.h"

#include <algorithm>
#include <cmath>

#include "server/planning/rounding/fillet_polyline.h"
#include "server/planning/route/route_assembly.h"

namespace arclane {

// Keeps the first of waypoints that are the same; the radius of the last of them counts.
void WaypointPlanner::MergeEqual(const WaypointPlanRequest& request) {
  points_.clear();
  heights_.clear();
  radius_.clear();
  index_.clear();
  const bool each = request.radius.size() > 1;
  // Radii belong to inner waypoints; those of a closed route to all.
  const size_t first_radius = request.closed ? 0 : 1;
  for (size_t i = 0; i < request.waypoints.size(); ++i) {
    const bool has_radius = each && i >= first_radius && i - first_radius < request.radius.size();
    const double radius = has_radius ? request.radius[i - first_radius] : 0.0;
    if (!points_.empty() && Distance(points_.back(), request.waypoints[i]) <= request.tolerance) {
      if (has_radius) radius_.back() = radius;
      // The goal stands where it was sent.
      if (i + 1 == request.waypoints.size() && points_.size() > 1)
        points_.back() = request.waypoints[i];
      continue;
    }
    points_.push_back(request.waypoints[i]);
    heights_.push_back(request.heights[i]);
    radius_.push_back(radius);
    index_.push_back(static_cast<uint32_t>(i));
  }
  while (request.closed && points_.size() > 1 &&
         Distance(points_.back(), points_.front()) <= request.tolerance) {
    points_.pop_back();
    heights_.pop_back();
    radius_.pop_back();
    index_.pop_back();
  }
  if (!each) {
    radius_.assign(1, request.radius.empty() ? 0.0 : request.radius[0]);
  } else if (!request.closed) {
    if (!radius_.empty()) radius_.erase(radius_.begin());
    if (!radius_.empty()) radius_.pop_back();
    if (radius_.empty()) radius_.assign(1, 0.0);
  }
}

// Heights are linear between the places of the waypoints along the route.
void WaypointPlanner::LayHeights(const WaypointPlanRequest& request, RoutePlan& plan) const {
  std::vector<SurfaceKnot>& knots = plan.route.surface;
  const auto add = [&](double distance, double height, uint32_t waypoint) {
    SurfaceKnot knot;
    knot.distance = distance;
    knot.height = height;
    knot.portal = waypoint;
    if (!knots.empty()) {
      const SurfaceKnot& last = knots.back();
      knot.distance = std::max(distance, last.distance);
      knot.surface_distance =
          last.surface_distance + std::hypot(knot.distance - last.distance, height - last.height);
    }
    knots.push_back(knot);
  };
  const auto height_of = [&](uint32_t waypoint) { return request.heights[waypoint]; };
  knots.clear();
  add(0.0, heights_.front(), 0);
  for (const RouteCorner& corner : plan.corners) {
    add(corner.distance, height_of(corner.portal_index), corner.portal_index);
  }
  const double end_height = request.closed ? heights_.front() : heights_.back();
  add(plan.route.length, end_height, static_cast<uint32_t>(request.waypoints.size()));
}

absl::Status WaypointPlanner::Plan(const WaypointPlanRequest& request, WaypointPlan& result,
                                   StopCheck stop, StageMark mark) {
  RoutePlan& plan = result.plan;
  MergeEqual(request);
  plan.outcome = RouteOutcome::kComplete;
  plan.route.start = points_.front();
  plan.route.end = request.closed ? points_.front() : points_.back();

  double longest = 0.0;
  for (size_t i = 0; i + 1 < points_.size(); ++i) {
    const double length = Distance(points_[i], points_[i + 1]);
    plan.shortest_length += length;
    longest = std::max(longest, length);
  }
  if (request.closed) plan.shortest_length += Distance(points_.back(), points_.front());

  FilletPolylineOptions options;
  options.radius_min = std::max(request.agent.min_turn_radius, kLeastRadiusFraction * longest);
  options.can_turn_in_place = request.agent.can_turn_in_place;
  options.closed = request.closed && points_.size() > 1;
  options.corner_angle_min_rad = request.agent.corner_angle_min;
  options.turn_speed_rad_s = request.agent.turn_before_move ? request.agent.max_angular_speed : 0.0;
  options.polygon_vertices = request.polygon_vertices;
  options.polygon_begin = request.polygon_begin;
  auto filleted = FilletPolyline(points_, radius_, options, stop);
  if (!filleted.ok()) return filleted.status();

  const DrivenPath& path = filleted->path;
  for (const uint32_t line : filleted->uncontained_lines)
    result.uncontained_lines.push_back(index_[line]);
  AppendElements(path, plan.route.end, plan.route.segments);
  if (!path.elements.empty()) plan.route.start = path.elements.front().start;
  if (options.closed && !path.elements.empty()) {
    plan.route.end = plan.route.start;
    plan.route.segments.back().end = plan.route.end;
  }
  LayOutSegments(plan.route.segments);
  AppendCorners(path, plan.route.segments, plan.corners);
  for (size_t i = 0; i < plan.corners.size(); ++i) {
    const uint32_t point = path.corners[i].corner;
    plan.corners[i].portal_index = index_[point];
    plan.corners[i].height = heights_[point];
    if (plan.corners[i].action == CornerAction::kStop &&
        plan.corners[i].cause == CornerCause::kNone) {
      plan.corners[i].cause = CornerCause::kNotRequested;
    }
  }
  if (path.status == RoundingStatus::kNeedsMotionPlanning) {
    plan.outcome = RouteOutcome::kNeedsMotionPlanning;
    plan.undrivable = DescribeUndrivable(path, request.agent.min_turn_radius);
    if (plan.undrivable->corner) {
      const RouteCorner& corner = plan.corners[*plan.undrivable->corner];
      plan.undrivable->portal_index = corner.portal_index;
      plan.undrivable->cause = corner.cause;
    }
  } else {
    AddStartTurn(request.agent, request.motion, plan);
  }
  mark(Stage::kCorners);
  if (plan.outcome == RouteOutcome::kNeedsMotionPlanning) {
    plan.route.segments.clear();
    return absl::OkStatus();
  }
  if (stop()) return absl::CancelledError("the caller gave up");
  motion_.Plan(request.agent, request.motion, plan);
  LayHeights(request, plan);
  if (plan.braking) {
    plan.braking->rest_height = heights_.front();
    plan.route.surface.resize(1);
  }
  mark(Stage::kSpeed);
  return absl::OkStatus();
}

}  // namespace arclane
