// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/surface.h"

#include <algorithm>
#include <cmath>

#include "server/planning/geometry/distance.h"

namespace arclane {

double PortalHeight(const Portal& portal, Vec2 p) {
  if (portal.left == portal.right) return 0.5 * (portal.left_height + portal.right_height);
  const double t = ClosestParameterOnSegment(p, portal.left, portal.right);
  return portal.left_height + (portal.right_height - portal.left_height) * t;
}

void BuildSurfaceProfile(const Corridor& corridor, std::span<const PortalCrossing> crossings,
                         double length, std::vector<SurfaceKnot>* knots) {
  knots->clear();
  knots->reserve(corridor.portals.size() + 2);
  knots->push_back({0.0, corridor.start_height, 0.0, 0});
  const auto add = [knots](double distance, double height, size_t portal) {
    const SurfaceKnot& last = knots->back();
    const double run = std::max(0.0, distance - last.distance);
    const double rise = height - last.height;
    const double step = rise == 0.0 ? run : std::sqrt(run * run + rise * rise);
    knots->push_back(
        {last.distance + run, height, last.surface_distance + step, static_cast<uint32_t>(portal)});
  };
  const size_t count = std::min(crossings.size(), corridor.portals.size());
  for (size_t i = 0; i < count; ++i) {
    add(std::min(crossings[i].distance, length),
        PortalHeight(corridor.portals[i], crossings[i].point), i);
  }
  add(length, corridor.goal_height, corridor.portals.size());
}

SurfaceSample SampleSurface(std::span<const SurfaceKnot> knots, double distance, size_t* cursor) {
  if (knots.empty()) return {};
  size_t k = std::min(*cursor, knots.size() - 1);
  constexpr size_t kMaxSteps = 8;
  size_t steps = 0;
  if (knots[k].distance <= distance) {
    while (k + 1 < knots.size() && knots[k + 1].distance <= distance && steps++ < kMaxSteps) ++k;
  }
  const bool is_found =
      knots[k].distance <= distance && (k + 1 == knots.size() || knots[k + 1].distance > distance);
  if (!is_found) {
    const auto after = std::upper_bound(
        knots.begin(), knots.end(), distance,
        [](double value, const SurfaceKnot& knot) { return value < knot.distance; });
    k = after == knots.begin() ? 0 : static_cast<size_t>(after - knots.begin()) - 1;
  }
  *cursor = k;
  const SurfaceKnot& from = knots[k];
  if (k + 1 == knots.size() || !(distance > from.distance)) {
    return {from.height, from.surface_distance};
  }
  const SurfaceKnot& to = knots[k + 1];
  const double t = (distance - from.distance) / (to.distance - from.distance);
  return {from.height + (to.height - from.height) * t,
          from.surface_distance + (to.surface_distance - from.surface_distance) * t};
}

}  // namespace arclane
