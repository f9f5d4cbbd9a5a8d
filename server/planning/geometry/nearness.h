// SPDX-License-Identifier: Apache-2.0
// Where a segment lies within a distance of a point, a segment or a convex polygon, in closed form.
// Those sets are convex, so the answer is one interval of the segment's parameter.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_NEARNESS_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_NEARNESS_H_

#include <algorithm>
#include <span>

#include "server/planning/geometry/vec2.h"

namespace arclane {

// A closed interval of a segment's parameter, within [0, 1]; empty when low > high.
struct ParameterInterval {
  double low = 1.0;
  double high = 0.0;

  bool empty() const { return low > high; }
  // Grows to the smallest interval that holds both.
  void Cover(ParameterInterval other) {
    if (other.empty()) return;
    if (empty()) {
      *this = other;
    } else {
      low = std::min(low, other.low);
      high = std::max(high, other.high);
    }
  }
};

inline ParameterInterval Intersect(ParameterInterval a, ParameterInterval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

// Where segment ab lies within `radius` >= 0 of the point c. Ends included; a segment of no length
// is all or nothing.
ParameterInterval NearPoint(Vec2 a, Vec2 b, Vec2 c, double radius);

// Where segment ab lies within `radius` >= 0 of segment pq.
ParameterInterval NearSegment(Vec2 a, Vec2 b, Vec2 p, Vec2 q, double radius);

// Where segment ab lies within `radius` >= 0 of the counter-clockwise convex polygon of one or more
// vertices. O(n).
ParameterInterval NearConvex(Vec2 a, Vec2 b, std::span<const Vec2> polygon, double radius);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_NEARNESS_H_
