// SPDX-License-Identifier: Apache-2.0
// Builds a Corridor from a caller's columns. Every field is looked at once and every fault is reported with its path;
// after that nothing is checked again.
//
// Portals from polygons. The portal between polygons i and i + 1 is the union of the overlaps of their edges: pairs of
// edges that run against one another (both polygons taken counter-clockwise) along one line within the tolerance. Whole
// shared edges, edges that overlap in part (tile borders) and chains of collinear edges are one case. Where polygons lie
// above one another several lines can qualify: the one with the smallest height difference is taken, then the longest.
// A height difference alone never refuses. Polygons that touch in a point only, or not at all, are a gap.
//
// Links. A polygon of two vertices is an off-mesh link. Its portals are its own end points; which end belongs to the
// previous and which to the next polygon is decided by position in the plane, then by height, then by order.
//
// Left and right. They are derived: from the polygons where there are any, else from the points of the neighbouring
// portals, start and goal, which lie behind and in front of a portal. A list that is mirrored as a whole is turned
// round; a portal that contradicts the others is a fault. A portal of no length, or one whose neighbours all lie on its
// line within the tolerance, has no order of its own and follows the others.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_BUILDER_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/points_columns.h"
#include "server/planning/geometry/polygon.h"
#include "server/planning/geometry/precision.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// Polygon k has vertex_count[k] of the vertices, in order. Convex within the tolerance, of either winding; collinear and
// repeated vertices are allowed (vertices within the tolerance of their predecessor are one vertex).
struct PolygonColumns {
  PointColumns vertices;
  std::span<const uint32_t> vertex_count;
};

// Portal i lies between cells i and i + 1. `link_entries` lists, ascending, the portals at which an off-mesh link begins;
// the portal after each is where that link ends. Both must have no length.
struct PortalColumns {
  PointColumns left;
  PointColumns right;
  std::span<const uint32_t> link_entries;
};

struct CorridorLimits {
  size_t max_polygons = 1 << 20;
  size_t max_vertices = 1 << 23;  // In all polygons together.
  size_t max_portals = 1 << 20;
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
  // The largest distance, in the plane, by which start or goal may lie outside its polygon; it is then moved to the
  // closest point of the polygon. Never less than the tolerance. Of no effect without polygons.
  double max_end_shift = 0.0;

  // At least one is true. With both, portals are taken as given (their count must fit) and the polygons give the cells.
  bool has_polygons = false;
  bool has_portals = false;
  PolygonColumns polygons;
  PortalColumns portals;
};

// Builds corridors one after another; buffers are kept, so that a warm builder allocates only when a corridor is larger
// than all before. Not thread-safe; one for each thread.
class CorridorBuilder {
 public:
  // On success fills *corridor (whose own buffers are reused), adds nothing to *violations and returns true. Otherwise
  // returns false, and *corridor is unspecified. Field paths are relative to the request's corridor message and carry
  // the caller's axis names: "start.x", "polygons.vertices.y[7]", "polygons.vertex_count[2]", "polygons[3]",
  // "portals.left.x[0]", "portals[4]".
  // Cost: linear in the vertices, O(v log v) for single polygons of many vertices.
  bool Build(const CorridorInput& input, const CorridorLimits& limits, Corridor* corridor,
             Violations* violations);

 private:
  struct EdgeOverlap {
    Vec2 from, to;  // The overlap, along the earlier polygon's counter-clockwise boundary.
    double from_height, to_height;
    double height_gap;
    double length;
  };
  struct EdgeKey {
    double low, high;
    uint32_t index;
  };
  class Session;

  // The polygons after cleaning: counter-clockwise, without repeated vertices, less the origin.
  std::vector<Vec2> vertices_;
  std::vector<double> heights_;
  std::vector<uint32_t> begin_;
  std::vector<Vec2> scratch_points_;
  std::vector<double> scratch_heights_;
  std::vector<uint32_t> scratch_hull_;
  std::vector<int8_t> order_;
  std::vector<EdgeOverlap> overlaps_;
  std::vector<EdgeKey> edges_a_;
  std::vector<EdgeKey> edges_b_;
  PolygonShapeWorkspace shape_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_BUILDER_H_
