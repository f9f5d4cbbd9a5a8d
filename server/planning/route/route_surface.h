// SPDX-License-Identifier: Apache-2.0
// Heights along a route of lines and arcs.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_SURFACE_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_SURFACE_H_

#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/surface.h"
#include "server/planning/corridor/verification.h"
#include "server/planning/route/segment.h"

namespace arclane {

// The surface under the route, as knots between which it is linear. Segments are laid out;
// `crossings` has one entry for each portal, ascending. A route of lines alone has a knot at each
// portal (BuildSurfaceProfile). Where arcs bend inside a cell that is not level, knots lie at the
// joints too, and on arcs so close that the height is off by at most kSurfaceSag of the radius;
// their portal is the next one to be crossed. O(portals + knots * vertices of a cell).
void BuildRouteSurface(const Corridor& corridor, std::span<const PortalCrossing> crossings,
                       std::span<const Segment> segments, std::vector<SurfaceKnot>* knots);

inline constexpr double kSurfaceSag = 1e-4;

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_SURFACE_H_
