// SPDX-License-Identifier: Apache-2.0
// The smallest deviation of a line from being a route, over all ways to assign its points to
// portals and cells.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_SMALLEST_DEVIATION_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_SMALLEST_DEVIATION_H_

#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/verification.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// The smallest deviation in [0, upper.distance] to within 1e-6 of itself, where `upper` is a
// deviation that some assignment attains. `points` has at least two points. See VerifyLine.
// Allocates; O(portals * points per cell) for each of some 40 trials. When `crossings` is given it
// is overwritten if an assignment better than `upper` was found.
Deviation SmallestDeviation(const Corridor& corridor, std::span<const Vec2> points,
                            const Deviation& upper, std::vector<PortalCrossing>* crossings);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_SMALLEST_DEVIATION_H_
