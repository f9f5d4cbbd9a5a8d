// SPDX-License-Identifier: Apache-2.0
// The corridor as planning sees it: a chain of convex cells joined by portals, in the horizontal
// plane, with heights beside. Built once per request (corridor_builder.h), immutable afterwards,
// readable from many threads.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/geometry/vec2.h"

namespace arclane {

// What lies at a portal.
enum class PortalKind : uint8_t {
  kEdge,       // The shared edge, or the shared part of two edges, of neighbouring cells.
  kLinkEntry,  // The point where an off-mesh link begins; the cell after it is the link.
  kLinkExit,   // The point where an off-mesh link ends; the cell before it is the link.
};

// Portal i separates cell i and cell i + 1. `left` is the end on the side towards which heading
// grows for an agent that crosses from cell i to cell i + 1. Both ends are equal for links and for
// portals of no length.
struct Portal {
  Vec2 left;
  Vec2 right;
  double left_height = 0.0;
  double right_height = 0.0;
  PortalKind kind = PortalKind::kEdge;
};

// Coordinates are those of the request less its origin. There is always one cell more than portals.
struct Corridor {
  Vec2 start;  // On cell 0 (moved there when it was sent outside by `start_shift`).
  Vec2 goal;   // On the last cell, likewise.
  double start_height = 0.0;
  double goal_height = 0.0;
  double start_shift = 0.0;  // Distance by which start lay outside cell 0.
  double goal_shift = 0.0;
  std::vector<Portal> portals;

  // Cell k: vertices [cell_begin[k], cell_begin[k + 1]) in counter-clockwise order (heading grows
  // along them), strictly convex; two vertices for a link, entry and exit in the order of travel.
  // Each cell holds its portals (see corridor_builder.h). A corridor sent as portals has the hulls
  // of successive portals, with start and goal, as cells.
  std::vector<Vec2> cell_vertices;
  std::vector<double> cell_heights;
  std::vector<uint32_t> cell_begin;

  // True when the cells were sent as polygons; false when they are hulls of portals.
  bool has_polygons = false;
  // True when some portal is its predecessor with the ends exchanged: the corridor enters a cell
  // and leaves it at once through the same edge. The shortest line then touches that edge anywhere.
  bool turns_back = false;
  // The absolute distance below which two points of this corridor are the same point: from the
  // request's coordinate precision at the magnitude of the coordinates as sent. See
  // geometry/precision.h.
  double tolerance = 0.0;

  size_t cell_count() const { return portals.size() + 1; }
  std::span<const Vec2> cell(size_t k) const {
    return {cell_vertices.data() + cell_begin[k], cell_vertices.data() + cell_begin[k + 1]};
  }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_CORRIDOR_H_
