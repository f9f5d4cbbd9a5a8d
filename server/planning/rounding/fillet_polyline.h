// SPDX-License-Identifier: Apache-2.0
// Rounds the corners of a given polyline (a patrol route, another planner's path) by inscribed
// arcs: corners stay where they are, lines are trimmed. Optionally the arcs must stay inside the
// plain union of some polygons.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_POLYLINE_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_POLYLINE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/driven_path.h"

namespace arclane {

struct FilletPolylineOptions {
  double radius_min = 0.0;
  bool can_turn_in_place = true;
  bool closed = false;  // The last waypoint is followed by the first, which is a corner too.
  double corner_angle_min_rad = 1e-9;  // Smaller kinks are driven through.
  double turn_speed_rad_s = 0.0;
  // Simple polygons, polygon k: vertices [polygon_begin[k], polygon_begin[k + 1]). Empty: no
  // containment.
  std::span<const Vec2> polygon_vertices;
  std::span<const uint32_t> polygon_begin;
};

struct FilletedPolyline {
  DrivenPath path;
  // Lines of the polyline (index of their first waypoint) that leave the polygons' union; the path
  // keeps them.
  std::vector<uint32_t> uncontained_lines;
};

// radius_request: one per inner waypoint (closed: one per waypoint), or one for all. Equal
// neighbouring waypoints are merged (the later request counts). Requests that are infinite mean as
// large as fits. One waypoint, or all equal: a path without elements. A reversal always stops.
// kInvalidArgument: no waypoint, a size that does not match, NaN or negative numbers. kCancelled:
// `stop` said so. O(n) without polygons; with them O(log v) more for each line and corner, and
// O(m^3) where m edges pass through the triangle of a corner and its largest trims.
absl::StatusOr<FilletedPolyline> FilletPolyline(std::span<const Vec2> waypoints,
                                                std::span<const double> radius_request,
                                                const FilletPolylineOptions& options,
                                                StopCheck stop = NeverStop);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_FILLET_POLYLINE_H_
