// SPDX-License-Identifier: Apache-2.0
// The highest speed that keeps below the route's ceilings over a step.
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_SPEED_CEILING_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_SPEED_CEILING_H_

#include <cstdint>

#include "server/planning/follow/follow_route.h"

namespace arclane {

// The stretch that a step with the command v covers: [from, begin + reach * v].
struct StepStretch {
  double from = 0.0;   // Where the agent is, along the route.
  double begin = 0.0;  // >= from: how far it gets whatever is commanded.
  double reach = 0.0;  // > 0, seconds.
  double until = 0.0;  // The next stop; ceilings from there on do not count.
};

// The largest v in [0, speed] with v <= ceiling everywhere on the stretch. Ceilings that fall to a
// stop count only as far as their beginning: the stopping law rules there. *cursor is the ceiling
// at `from` of the last call and is moved to that of this one.
double LargestSpeedBelowCeilings(const FollowRoute& route, const StepStretch& stretch, double speed,
                                 uint32_t* cursor);

// The ceiling at a distance along the route; infinity where there is none. O(ceilings).
double CeilingAt(const FollowRoute& route, double distance);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_SPEED_CEILING_H_
