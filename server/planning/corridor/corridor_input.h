// SPDX-License-Identifier: Apache-2.0
// A corridor as a caller sends it: borrowed columns, and the checks that need no geometry.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_INPUT_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/planning/geometry/points_columns.h"
#include "server/planning/geometry/precision.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// Polygon k has vertex_count[k] of the vertices, in order. Convex within the tolerance, of either
// winding; collinear and repeated vertices are allowed (a vertex within the tolerance of its
// predecessor is the same vertex). A polygon of two vertices is an off-mesh link.
struct PolygonColumns {
  PointColumns vertices;
  std::span<const uint32_t> vertex_count;
};

// Portal i lies between cells i and i + 1. `link_entries` lists, ascending, the portals at which an
// off-mesh link begins; the portal after each, if any, is where that link ends. Both have no
// length.
struct PortalColumns {
  PointColumns left;
  PointColumns right;
  std::span<const uint32_t> link_entries;
};

struct CorridorLimits {
  size_t max_polygons = size_t{1} << 20;
  size_t max_vertices = size_t{1} << 23;  // In all polygons together.
  size_t max_portals = size_t{1} << 20;
};

// As sent: no origin subtracted, nothing checked.
struct CorridorInput {
  UpAxis up_axis = UpAxis::kZ;
  CoordinatePrecision precision;
  Vec2 origin;
  double origin_height = 0.0;
  Vec2 start;
  Vec2 goal;
  double start_height = 0.0;
  double goal_height = 0.0;
  // The largest distance, in the plane, by which start or goal may lie outside its polygon; it is
  // then moved to the closest point of the polygon. Without polygons: by which start may lie in
  // front of the first portal, or goal behind the last; it is then moved onto the portal's line.
  // With both: it stays where it is, its cell reaches out to it, unless it lies beyond the portal's
  // line, onto which it is moved: the path is that of the portals alone. Never less than the
  // tolerance. >= 0, may be infinite.
  double max_end_shift = 0.0;

  // At least one is true. With both, portals are taken as given (their count must fit) and the
  // polygons give the cells. Portals without polygons may be none: start and goal then lie in one
  // cell.
  bool has_polygons = false;
  bool has_portals = false;
  PolygonColumns polygons;
  PortalColumns portals;
};

// Adds a violation for every field that is missing, not finite, out of range, over a limit or of
// the wrong length. Returns the largest absolute coordinate, heights included: the magnitude that
// decides the tolerance. O(values); nothing is allocated for valid input.
double ValidateCorridorInput(const CorridorInput& input, const CorridorLimits& limits,
                             Violations* violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_INPUT_H_
