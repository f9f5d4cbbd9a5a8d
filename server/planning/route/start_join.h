// SPDX-License-Identifier: Apache-2.0
// The beginning of a route for an agent that moves already, but not along its first line: an arc
// that leaves the start along the real velocity, and a line that touches it and meets what follows.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_START_JOIN_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_START_JOIN_H_

#include <vector>

#include "server/planning/geometry/vec2.h"
#include "server/planning/route/segment.h"

namespace arclane {

// Replaces the first segment, a line, by an arc of `radius` > 0 that begins at its start along the
// unit vector `direction`, turning towards the line, and a line that touches the arc. Where an arc
// follows, the line touches its circle too, and the arc is shortened or lengthened; where a stop or
// the end of the route follows, the line ends there, and the turn at the stop is another one.
// False, with the segments unchanged, when there is no such beginning: the arc would turn by half a
// circle or more, its circle holds what it should lead to, or a line follows without a stop.
// Start distances are not laid out. O(segments).
bool JoinStart(Vec2 direction, double radius, std::vector<Segment>& segments);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_START_JOIN_H_
