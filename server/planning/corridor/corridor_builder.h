// SPDX-License-Identifier: Apache-2.0
// Builds a Corridor from a caller's columns. Every field is looked at once and every fault is
// reported with its path; after that nothing is checked again.
//
// Portals from polygons. The portal between polygons i and i + 1 is the union of the overlaps of
// their edges (see shared_edge.h): whole shared edges, edges that overlap in part (tile borders)
// and chains of collinear edges are one case. Heights never refuse. Polygons that touch in a point
// only, or not at all, are a gap.
//
// Links. A polygon of two vertices is an off-mesh link. Its portals are its own end points; which
// end belongs to the previous and which to the next polygon is decided by position in the plane,
// then by height, then by order. Between two successive links the portal is a kLinkEntry at the
// second link's near end.
//
// Portals as sent: sent_portals.h. Cells: corridor_cells.h.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_BUILDER_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/planning/corridor/clean_polygons.h"
#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/corridor_cells.h"
#include "server/planning/corridor/corridor_input.h"
#include "server/planning/corridor/shared_edge.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// Builds corridors one after another; buffers are kept, so that a warm builder allocates only when
// a corridor is larger than all before. Not thread-safe; one for each thread.
class CorridorBuilder {
 public:
  // On success fills *corridor (whose own buffers are reused), adds nothing to *violations and
  // returns true. Otherwise returns false, and *corridor is unspecified. Field paths are relative
  // to the request's corridor message and carry the caller's axis names: "start.x",
  // "polygons.vertices.y[7]", "polygons.vertex_count[2]", "polygons[3]", "portals.left.x[0]",
  // "portals[4]". Cost: linear in the vertices, O(v log v) for single polygons of many vertices.
  bool Build(const CorridorInput& input, const CorridorLimits& limits, Corridor* corridor,
             Violations* violations);

 private:
  class Run;

  CleanPolygons polygons_;     // Links keep their order until it is decided.
  std::vector<int8_t> order_;  // Of the given portals: 1 as sent, -1 mirrored, 0 unknown.
  HullWorkspace hull_;
  SharedEdgeFinder shared_edges_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_BUILDER_H_
