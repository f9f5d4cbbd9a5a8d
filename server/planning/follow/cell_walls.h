// SPDX-License-Identifier: Apache-2.0
// Cells as half-planes and walls, and the convex set that a step may use.
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_CELL_WALLS_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_CELL_WALLS_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "server/planning/corridor/corridor.h"
#include "server/planning/follow/follow_route.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// Fills the route's half-planes, walls and portals-as-walls from the corridor's cells. A link's
// cell is its line, as wide as the route's tolerance.
void AddCellWalls(const Corridor& corridor, FollowRoute* route);

// How far p lies behind an edge of the cell at most; 0 inside. O(edges).
inline double FarthestBehind(const FollowRoute& route, size_t cell, Vec2 p) {
  double farthest = 0.0;
  for (const HalfPlane& plane : route.planes(cell)) {
    farthest = std::max(farthest, Dot(plane.normal, p) - plane.offset);
  }
  return farthest;
}

// True when p lies in the cell or behind an edge by at most two tolerances of the route: one by
// which the cells themselves may be wrong, and one for the agent. O(edges).
inline bool InCell(const FollowRoute& route, size_t cell, Vec2 p) {
  for (const HalfPlane& plane : route.planes(cell)) {
    if (Dot(plane.normal, p) > plane.offset + 2.0 * route.tolerance) return false;
  }
  return true;
}

// How far p lies from the cell, for one that lies outside of it by few tolerances. At a corner that
// may be much farther than p lies behind either edge. O(edges), and more at corners.
double DistanceFromCell(const FollowRoute& route, size_t cell, Vec2 p);

// The first portal of [from, to) that the line p -> q does not pass between its ends (missing one
// by `slack` is passing), or `to`. With p in cell `from` and q in cell `to`, the line lies in the
// cells exactly when it is `to`. *at is the end that is in the way, or where the route crosses a
// portal that the line leads away from.
size_t FirstPortalMissed(const FollowRoute& route, size_t from, size_t to, Vec2 p, Vec2 q,
                         double slack, Vec2* at);

// Half-planes of a convex set within the cells [from, to] that contains the line p -> q: p in cell
// `from`, q in cell `to`, each within three tolerances, and the line passes the portals between.
//
// A convex set that holds a point inside of the cells, and no inner point of which lies on a wall
// or on a portal at an end of the chain, lies inside of them: on the way from the one point to one
// outside it would cross one of these. So each wall gets a half-plane that parts it from the line:
// the edge's own where the line lies inside of it, else the one with the widest gap. Where the line
// ends at an end of the wall the half-plane leans against both (their bisector): two walls of an
// obstacle's tip then close the set before the tip, where half-planes along the line would leave a
// strip between them.
//
// A half-plane is moved out as far as p or q itself lies beyond it, else by no more than
// FollowRoute::plane_roundoff: no point of the set lies farther behind an edge than the farther of
// the two.
//
// Returns how many were written; 0 when `planes` is too small, or a wall lies across the line by
// more than the route's tolerance. O(walls).
size_t ConvexSetAround(const FollowRoute& route, size_t from, size_t to, Vec2 p, Vec2 q,
                       std::span<HalfPlane> planes);

// The half-planes of one cell, moved out as far as p lies beyond them; 0 when `planes` is too
// small. O(edges).
size_t CellAround(const FollowRoute& route, size_t cell, Vec2 p, std::span<HalfPlane> planes);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_CELL_WALLS_H_
