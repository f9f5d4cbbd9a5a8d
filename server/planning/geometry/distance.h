// SPDX-License-Identifier: Apache-2.0
// Closest points and distances between points and segments of the plane. All functions accept
// segments of no length (a == b), which are points. Accuracy: a few ulps of the largest coordinate
// difference.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_DISTANCE_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_DISTANCE_H_

#include <algorithm>
#include <cmath>

#include "server/planning/geometry/vec2.h"

namespace arclane {

// The parameter in [0, 1] of the point of segment ab closest to p; 0 for a segment of no length.
inline double ClosestParameterOnSegment(Vec2 p, Vec2 a, Vec2 b) {
  const Vec2 d = b - a;
  const double squared = SquaredNorm(d);
  if (!(squared > 0.0)) return 0.0;
  return std::clamp(Dot(p - a, d) / squared, 0.0, 1.0);
}

// The point of segment ab closest to p. An end of the segment is returned exactly.
inline Vec2 ClosestPointOnSegment(Vec2 p, Vec2 a, Vec2 b) {
  const double t = ClosestParameterOnSegment(p, a, b);
  return t >= 1.0 ? b : Lerp(a, b, t);
}

inline double SquaredDistanceToSegment(Vec2 p, Vec2 a, Vec2 b) {
  return SquaredNorm(p - ClosestPointOnSegment(p, a, b));
}

inline double DistanceToSegment(Vec2 p, Vec2 a, Vec2 b) {
  return Distance(p, ClosestPointOnSegment(p, a, b));
}

// The smallest distance between segments ab and cd; 0 when they cross or touch.
double SegmentDistance(Vec2 a, Vec2 b, Vec2 c, Vec2 d);

// The same, squared, without an exact decision on whether they cross: cheaper, and at a crossing
// that is missed by rounding a few ulps instead of 0.
inline double SquaredSegmentDistance(Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  if (Cross(b - a, c - a) * Cross(b - a, d - a) < 0.0 &&
      Cross(d - c, a - c) * Cross(d - c, b - c) < 0.0) {
    return 0.0;
  }
  return std::min(std::min(SquaredDistanceToSegment(a, c, d), SquaredDistanceToSegment(b, c, d)),
                  std::min(SquaredDistanceToSegment(c, a, b), SquaredDistanceToSegment(d, a, b)));
}

// The signed distance of p from the directed line a -> b: positive to its left. Precondition: a !=
// b.
inline double SignedLineDistance(Vec2 p, Vec2 a, Vec2 b) {
  const Vec2 d = b - a;
  return Cross(d, p - a) / Norm(d);
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_DISTANCE_H_
