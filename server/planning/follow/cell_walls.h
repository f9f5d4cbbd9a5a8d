// SPDX-License-Identifier: Apache-2.0
// Cells as half-planes and walls, and the convex set that a step may use.
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_CELL_WALLS_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_CELL_WALLS_H_

#include <cstdint>
#include <span>

#include "server/planning/corridor/corridor.h"
#include "server/planning/follow/follow_route.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// Fills the route's half-planes, walls and portals-as-walls from the corridor's cells. A link's
// cell is its line, as wide as the route's tolerance.
void AddCellWalls(const Corridor& corridor, FollowRoute* route);

// True when p lies in the cell or behind an edge by at most two tolerances of the route: one that
// half-planes grant, so that an agent can move along a wall, and one for rounding on top. O(edges).
inline bool InCell(const FollowRoute& route, size_t cell, Vec2 p) {
  for (const HalfPlane& plane : route.planes(cell)) {
    if (Dot(plane.normal, p) > plane.offset + route.tolerance) return false;
  }
  return true;
}

// The first portal of [from, to) that the line p -> q does not pass between its ends (touching one
// within the route's tolerance is passing), or `to`. With p in cell `from` and q in cell `to`, the
// line lies in the cells exactly when it is `to`. *at is the end that is in the way.
size_t FirstPortalMissed(const FollowRoute& route, size_t from, size_t to, Vec2 p, Vec2 q,
                         Vec2* at);

// Half-planes of a convex set within the cells [from, to] that contains the line p -> q, which must
// lie in them: for each wall, and for the portals at both ends of the chain, the half-plane that
// parts it from the line: the edge's own where the line lies inside of it, else the one through the
// wall's point nearest to the line. Returns how many were written; 0 when `planes` is too
// small, or a wall lies across the line.
// Every half-plane is moved out by the route's tolerance: no point of the set lies farther outside
// of the cells.
size_t ConvexSetAround(const FollowRoute& route, size_t from, size_t to, Vec2 p, Vec2 q,
                       std::span<HalfPlane> planes);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_CELL_WALLS_H_
