// SPDX-License-Identifier: Apache-2.0
#include "server/codec/waypoints_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "server/codec/agent_codec.h"
#include "server/codec/field_checks.h"

namespace arclane {
namespace {

constexpr NumberRule kCoordinate{-kMaxCoordinate, kMaxCoordinate, true, false};

// Columns of points with finite coordinates; the height may be missing. Returns the largest
// magnitude.
double CheckColumns(const std::string& path, const PointColumns& points, UpAxis up_axis,
                    uint32_t limit, Violations& violations) {
  const AxisNames names = AxisNamesOf(up_axis);
  if (points.a.size() > limit) {
    violations.Add(ViolationReason::kLimitExceeded, path,
                   "at most max_vertices " + std::to_string(limit) + ", got " +
                       std::to_string(points.a.size()));
    return 0.0;
  }
  const auto check = [&](std::span<const double> column, char name, bool optional) {
    const std::string field = path + "." + name;
    if (column.size() != points.a.size() && !(optional && column.empty())) {
      violations.Add(ViolationReason::kLengthMismatch, field,
                     "columns must have equal lengths, got " + std::to_string(column.size()) +
                         " and " + std::to_string(points.a.size()));
      return 0.0;
    }
    double largest = 0.0;
    for (size_t i = 0; i < column.size(); ++i) {
      const double magnitude = std::abs(column[i]);
      if (!(magnitude <= kMaxCoordinate)) {
        CheckNumber(field + "[" + std::to_string(i) + "]", column[i], kCoordinate, violations);
      }
      largest = std::max(largest, magnitude);
    }
    return largest;
  };
  const double a = check(points.a, names.a, false);
  const double b = check(points.b, names.b, false);
  check(points.height, names.height, true);
  return std::max(a, b);
}

void ReadRadii(const v1::PlanWaypointsRequest& request, WaypointPlanRequest& plan, size_t count,
               Violations& violations) {
  const int size = request.radius_size();
  const size_t corners = request.closed() ? count : count - std::min<size_t>(count, 2);
  if (size > 1 && count > 0 && static_cast<size_t>(size) != corners) {
    violations.Add(ViolationReason::kLengthMismatch, "radius",
                   "must have no entry, one, or one for each of " + std::to_string(corners) +
                       " corners, got " + std::to_string(size));
  }
  for (int i = 0; i < size; ++i) {
    if (!(request.radius(i) >= 0.0)) {
      CheckNumber("radius[" + std::to_string(i) + "]", request.radius(i), kNotNegativeOrInfinite,
                  violations);
    }
  }
  plan.radius.assign(request.radius().begin(), request.radius().end());
  if (plan.radius.empty()) plan.radius.push_back(plan.agent.max_turn_radius.value_or(0.0));
  if (!plan.agent.max_turn_radius) return;
  for (double& radius : plan.radius) radius = std::min(radius, *plan.agent.max_turn_radius);
}

void ReadContainment(const v1::Polygons& polygons, const PlanFrame& frame,
                     const RequestLimits& limits, WaypointPlanRequest& plan,
                     Violations& violations) {
  const PointColumns vertices = BorrowColumns(polygons.vertices(), frame.up_axis);
  const size_t before = violations.total();
  if (polygons.vertex_count().empty()) {
    violations.Add(ViolationReason::kRequired, "containment.vertex_count",
                   "required: at least one polygon");
  }
  CheckColumns("containment.vertices", vertices, frame.up_axis, limits.max_vertices, violations);
  uint64_t sum = 0;
  for (int k = 0; k < polygons.vertex_count_size(); ++k) {
    if (polygons.vertex_count(k) < 3) {
      violations.Add(ViolationReason::kTooFewVertices,
                     "containment.vertex_count[" + std::to_string(k) + "]",
                     "must be >= 3, got " + std::to_string(polygons.vertex_count(k)));
    }
    sum += polygons.vertex_count(k);
  }
  if (sum != vertices.a.size()) {
    violations.Add(ViolationReason::kLengthMismatch, "containment.vertex_count",
                   "must sum to the number of vertices " + std::to_string(vertices.a.size()) +
                       ", got " + std::to_string(sum));
  }
  if (violations.total() != before) return;
  for (size_t i = 0; i < vertices.size(); ++i) {
    plan.polygon_vertices.push_back(vertices.point(i) - frame.origin.plan);
  }
  plan.polygon_begin.push_back(0);
  for (const uint32_t count : polygons.vertex_count()) {
    plan.polygon_begin.push_back(plan.polygon_begin.back() + count);
  }
}

}  // namespace

DecodedWaypointsRequest ReadWaypointsRequest(const v1::PlanWaypointsRequest& request,
                                             const RequestLimits& limits, Violations& violations) {
  DecodedWaypointsRequest decoded;
  decoded.frame = ReadFrame(request.frame(), violations);
  WaypointPlanRequest& plan = decoded.plan;
  plan.agent = ReadAgent(request.agent(), request.has_agent(), violations);
  plan.motion = ReadMotion(request.motion(), decoded.frame.up_axis, violations);
  CheckStop(plan.agent, plan.motion, violations);
  plan.closed = request.closed();

  const PointColumns points = BorrowColumns(request.waypoints(), decoded.frame.up_axis);
  if (points.a.empty() && points.b.empty()) {
    violations.Add(ViolationReason::kRequired, "waypoints", "required: at least one");
  }
  const size_t before = violations.total();
  const double magnitude =
      CheckColumns("waypoints", points, decoded.frame.up_axis, limits.max_vertices, violations);
  if (magnitude > 0.0 && magnitude < kMinCoordinate) {
    violations.Add(ViolationReason::kOutOfRange, "waypoints",
                   "all coordinates lie below " + NumberText(kMinCoordinate) + ", the largest is " +
                       NumberText(magnitude) + ": send them in a smaller unit");
  }
  const bool readable = violations.total() == before && !points.a.empty();
  ReadRadii(request, plan, points.a.size(), violations);
  if (readable) {
    for (size_t i = 0; i < points.size(); ++i) {
      plan.waypoints.push_back(points.point(i) - decoded.frame.origin.plan);
      plan.heights.push_back(points.height_at(i) - decoded.frame.origin.height);
    }
    const Vec2 origin = decoded.frame.origin.plan;
    plan.tolerance = std::max(decoded.frame.precision.ToleranceAt(magnitude),
                              CoordinatePrecision::Double().ToleranceAt(
                                  std::max(std::abs(origin.x), std::abs(origin.y))));
    if (origin != Vec2{}) CheckOrigin(decoded.frame, points.point(0), ExtentOf(points), violations);
  }
  if (request.has_containment()) {
    ReadContainment(request.containment(), decoded.frame, limits, plan, violations);
  }
  return decoded;
}

}  // namespace arclane
