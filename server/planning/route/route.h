// SPDX-License-Identifier: Apache-2.0
// A planned route: analytic, immutable once planned. Samples are drawn from it (sampling.h), never stored in it.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_H_

#include <cstdint>
#include <vector>

#include "server/planning/geometry/vec2.h"
#include "server/planning/route/segment.h"
#include "server/planning/speed/speed_phase.h"

namespace arclane {

// A point of the piecewise linear profile of heights along a route.
struct SurfaceKnot {
  double distance = 0.0;          // Horizontal, along the route; not decreasing.
  double surface_distance = 0.0;  // Along the surface; not decreasing.
  double height = 0.0;
};

struct Route {
  std::vector<Segment> segments;
  // Speed phases in order; SpeedPhase::piece is an index of `segments`. Distances and times start at 0. A phase chain
  // may end before the segments do (a braking path that rests early), never behind them.
  std::vector<SpeedPhase> phases;
  // At least one knot; the first at distance 0. Behind the last knot the height stays.
  std::vector<SurfaceKnot> surface;
  // Distances at which the portals are crossed, in order; not decreasing.
  std::vector<double> crossings;
  double length = 0.0;
  double duration_s = 0.0;
  Vec2 start;
  Vec2 end;

  double surface_length() const { return surface.empty() ? length : surface.back().surface_distance; }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_H_
