// SPDX-License-Identifier: Apache-2.0
// Proof that a line is a route through a corridor, by code that shares nothing with the code that found it: it knows the
// corridor's original portals and cells, and the line's points, nothing else.
//
// A line is a route when parameters t_0 <= t_1 <= ... exist such that it stands on portal i at t_i and lies in cell i from
// t_(i-1) to t_i. Cells are convex and contain their portals, so it is enough to look at the vertices of the line and at
// its crossings of the portals. The deviation is the largest distance by which the line misses a portal or leaves a cell.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_VERIFICATION_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_VERIFICATION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

enum class DeviationKind : uint8_t {
  kNone,    // Nothing deviates.
  kPortal,  // The line passes the end of portal `index`.
  kCell,    // A point of the line lies outside cell `index`.
  kEnd,     // The line does not begin at start (index 0) or end at goal (index 1).
};

struct Deviation {
  double distance = 0.0;  // 0: the line is a route.
  DeviationKind kind = DeviationKind::kNone;
  uint32_t index = 0;
  Vec2 where;                   // The point of the line that deviates most.
  double along = 0.0;           // Its distance along the line.
};

// Where a line crosses a portal.
struct PortalCrossing {
  double distance = 0.0;  // Along the line.
  Vec2 point;
};

// The largest deviation of the line through `points` (start and goal included; one point is a line of no length), at
// most `tolerance` for a route. When `crossings` is given it receives one crossing for each portal, ascending in distance.
// The deviation is exact up to rounding for routes, and for wrong lines the smallest over all assignments tried; it is
// never reported above the tolerance for a line that is a route within it, where no line leaves a cell and returns.
// O(portals + points), with each point looked at against the one or two cells it lies in.
Deviation VerifyLine(const Corridor& corridor, std::span<const Vec2> points, double tolerance,
                     std::vector<PortalCrossing>* crossings = nullptr);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_VERIFICATION_H_
