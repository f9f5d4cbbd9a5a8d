// SPDX-License-Identifier: Apache-2.0
// A planned route: analytic, immutable once planned. Samples are drawn from it (sampling.h), never
// stored in it.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_H_

#include <cstdint>
#include <vector>

#include "server/planning/corridor/surface.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/route/segment.h"
#include "server/planning/speed/speed_phase.h"

namespace arclane {

struct Route {
  std::vector<Segment> segments;
  // Speed phases in order; SpeedPhase::piece is an index of `segments`. Distances and times start
  // at 0. A phase chain may end before the segments do (a braking path that rests early), never
  // behind them.
  std::vector<SpeedPhase> phases;
  // Heights: a knot at distance 0, one for each portal that is crossed, in order, and one at the
  // end; distances do not decrease. Behind the last knot the height stays.
  std::vector<SurfaceKnot> surface;
  double length = 0.0;
  double duration_s = 0.0;
  Vec2 start;
  Vec2 end;

  double surface_length() const {
    return surface.empty() ? length : surface.back().surface_distance;
  }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_H_
