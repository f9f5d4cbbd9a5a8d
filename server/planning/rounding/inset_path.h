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
// With inset 0 this is the corridor's own taut path, with no merging of nearly equal portal ends.
// `reversed`: from goal to start. The path crosses every portal in order, so that it is contained
// in the chain of cells. O(portals).
InsetPath TautInsetPath(const Corridor& corridor, double inset, bool reversed);

inline constexpr double kInsetShare = 0.4;

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_INSET_PATH_H_
