// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/inset_path.h"

#include <algorithm>

#include "server/planning/corridor/funnel.h"

namespace arclane {
namespace {

// The portals in the direction of travel, their ends moved inwards.
std::vector<Portal> InsetPortals(const Corridor& corridor, double inset, bool reversed) {
  std::vector<Portal> portals(corridor.portals.begin(), corridor.portals.end());
  if (reversed) {
    std::reverse(portals.begin(), portals.end());
    for (Portal& portal : portals) std::swap(portal.left, portal.right);
  }
  if (!(inset > 0.0)) return portals;
  for (Portal& portal : portals) {
    const Vec2 across = portal.right - portal.left;
    const double length = Norm(across);
    const double share = length > 0.0 ? std::min(inset / length, kInsetShare) : 0.0;
    portal.left = portal.left + across * share;
    portal.right = portal.right - across * share;
  }
  return portals;
}

}  // namespace

InsetPath TautInsetPath(const Corridor& corridor, double inset, bool reversed) {
  const std::vector<Portal> portals = InsetPortals(corridor, inset, reversed);
  const Vec2 start = reversed ? corridor.goal : corridor.start;
  const Vec2 goal = reversed ? corridor.start : corridor.goal;
  CorridorPath line;
  Funnel funnel;
  funnel.FindShortestPath(start, goal, portals, corridor.tolerance, corridor.turns_back, &line);
  InsetPath path;
  path.points.push_back(start);
  for (const PathCorner& corner : line.corners) {
    if (corner.point == path.points.back() || corner.point == goal) continue;
    const Portal& portal =
        corridor.portals[reversed ? portals.size() - 1 - corner.portal : corner.portal];
    // The left end in the direction of travel.
    const bool at_left = corner.side == CornerSide::kLeft;
    path.points.push_back(corner.point);
    path.contact.push_back(corner.side == CornerSide::kPoint ? corner.point
                           : at_left != reversed             ? portal.left
                                                             : portal.right);
    path.side.push_back(corner.side == CornerSide::kPoint ? 0 : at_left ? 1 : -1);
  }
  if (!(goal == path.points.back())) path.points.push_back(goal);
  return path;
}

std::vector<Vec2> PathThroughPortals(const Corridor& corridor, bool reversed) {
  CorridorPath line;
  Funnel funnel;
  funnel.FindShortestPath(corridor, &line);
  std::vector<Vec2> points = {corridor.start};
  const auto add = [&points](Vec2 p) {
    if (!(p == points.back())) points.push_back(p);
  };
  size_t next = 0;  // The first corner that is not before the portal.
  for (size_t k = 0; k < corridor.portals.size(); ++k) {
    while (next < line.corners.size() && line.corners[next].portal < k) ++next;
    const Vec2 from = next > 0 ? line.corners[next - 1].point : line.start;
    const Vec2 to = next < line.corners.size() ? line.corners[next].point : line.goal;
    const Portal& portal = corridor.portals[k];
    const Vec2 along = portal.right - portal.left;
    const double across = Cross(along, to - from);
    // Where the line runs along the portal, the point of the portal nearest to the line's end.
    const double t = across != 0.0              ? Cross(from - portal.left, to - from) / across
                     : SquaredNorm(along) > 0.0 ? Dot(to - portal.left, along) / SquaredNorm(along)
                                                : 0.0;
    if (t <= 0.0) {
      add(portal.left);
    } else if (t >= 1.0) {
      add(portal.right);
    } else {
      add(portal.left + along * t);
    }
  }
  add(corridor.goal);
  if (reversed) std::reverse(points.begin(), points.end());
  return points;
}

}  // namespace arclane
