// SPDX-License-Identifier: Apache-2.0
// The taut path of a corridor whose portals are inset by a distance: a start for rounding that
// keeps off the walls.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_INSET_PATH_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_INSET_PATH_H_

#include <cstdint>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// Points from start to goal, each unlike its neighbours; for the inner points the portal end that
// they keep off and its side: +1 left, -1 right, 0 for points that the path must pass.
struct InsetPath {
  std::vector<Vec2> points;
  std::vector<Vec2> contact;  // One per inner point.
  std::vector<int8_t> side;   // Likewise.
};

// Both ends of each portal move inwards by `inset`, but never beyond kInsetShare of its length.
// `reversed`: from goal to start. Portal ends that are equal up to the corridor's tolerance are
// merged, so that the path may leave the cells by that much at seams. O(portals).
InsetPath TautInsetPath(const Corridor& corridor, double inset, bool reversed);

// The points at which the taut path crosses the portals, or the nearest points of portals that it
// misses within the tolerance: one point a portal, so that the path is contained in the chain of
// cells whatever the seams. O(portals).
std::vector<Vec2> PathThroughPortals(const Corridor& corridor, bool reversed);

inline constexpr double kInsetShare = 0.4;

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_INSET_PATH_H_
