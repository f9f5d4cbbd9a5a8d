// SPDX-License-Identifier: Apache-2.0
// Heights along a path: known at start and goal and where it crosses the portals, linear between.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_SURFACE_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_SURFACE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/verification.h"

namespace arclane {

struct SurfaceKnot {
  double distance = 0.0;  // Along the path, horizontal.
  double height = 0.0;
  double surface_distance = 0.0;  // Along the path in three dimensions.
  uint32_t portal = 0;  // The portal crossed here; the portal count at the goal, 0 at the start.
};

struct SurfaceSample {
  double height = 0.0;
  double surface_distance = 0.0;
};

// The height on portal i's edge at the point of the edge closest to p. Points: the mean of the
// ends' heights.
double PortalHeight(const Portal& portal, Vec2 p);

// The profile of a path of any kind (lines, arcs) of the given length: `crossings` has one entry
// for each portal, ascending in distance (see VerifyLine). Start and goal stand on their polygon's
// surface; in a corridor sent as portals they keep the heights that were sent. *knots has portals +
// 2 entries, ascending; its buffer is reused.
void BuildSurfaceProfile(const Corridor& corridor, std::span<const PortalCrossing> crossings,
                         double length, std::vector<SurfaceKnot>* knots);

// Height and surface distance at `distance`, clamped to the profile. *cursor is the knot before the
// last call's distance (begin with 0): ascending calls cost O(1) amortised, others O(log n).
// Between two knots at one distance (a vertical link) the later one counts.
SurfaceSample SampleSurface(std::span<const SurfaceKnot> knots, double distance, size_t* cursor);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_SURFACE_H_
