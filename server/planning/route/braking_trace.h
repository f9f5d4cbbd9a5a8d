// SPDX-License-Identifier: Apache-2.0
// Follows a straight line through a corridor as far as it stays inside.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_BRAKING_TRACE_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_BRAKING_TRACE_H_

#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/verification.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

struct BrakingTrace {
  bool inside = false;  // Every point of the line lies in the corridor, within its tolerance.
  double inside_distance = 0.0;  // How far along the line that holds.
};

// The line leads from `from` in cell 0 to `to`. *crossings receives where it crosses portals 0,
// 1, 2... in order, as long as it stays inside. A line that runs back through a portal counts as
// leaving. O(cell vertices passed).
BrakingTrace TraceInCorridor(const Corridor& corridor, Vec2 from, Vec2 to,
                             std::vector<PortalCrossing>* crossings);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_BRAKING_TRACE_H_
