// SPDX-License-Identifier: Apache-2.0
// Portals as a caller sends them, instead of or beside polygons.
//
// Left and right are derived. With polygons: the polygon before a portal lies behind it, the one
// after in front. Without: the points of the neighbouring portals, or start and goal, do. A list
// that is mirrored as a whole is turned round; a portal that contradicts the others is a fault. A
// portal of no length, or one whose neighbours all lie on its line within the tolerance, has no
// order of its own and follows the others.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_SENT_PORTALS_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_SENT_PORTALS_H_

#include <cstdint>
#include <vector>

#include "server/planning/corridor/clean_polygons.h"
#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/corridor_input.h"
#include "server/planning/geometry/violation.h"

namespace arclane {

// Fills the portals of a corridor whose start, goal and tolerance are known; marks links, and the
// polygons that need a hull as cells. Faults are told as violations at "portals[i]". `order` is a
// buffer. Preconditions: the columns are valid. Cost: linear.
void TakeSentPortals(const CorridorInput& input, std::vector<int8_t>& order,
                     CleanPolygons& polygons, Corridor& corridor, Violations& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_SENT_PORTALS_H_
