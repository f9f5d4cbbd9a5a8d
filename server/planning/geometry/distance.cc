// SPDX-License-Identifier: Apache-2.0
#include "server/planning/geometry/distance.h"

#include "server/planning/geometry/predicates.h"

namespace arclane {

double SegmentDistance(Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  if (Orient2D(a, b, c) * Orient2D(a, b, d) < 0 && Orient2D(c, d, a) * Orient2D(c, d, b) < 0) {
    return 0.0;
  }
  return std::min(std::min(DistanceToSegment(a, c, d), DistanceToSegment(b, c, d)),
                  std::min(DistanceToSegment(c, a, b), DistanceToSegment(d, a, b)));
}

}  // namespace arclane
