// SPDX-License-Identifier: Apache-2.0
// Points and directions on driven segments. Each step asks for several: they are inline, and the
// sine and cosine of the angles that arcs turn by are evaluated without range reduction.
#ifndef ARCLANE_SERVER_PLANNING_FOLLOW_SEGMENT_POINT_H_
#define ARCLANE_SERVER_PLANNING_FOLLOW_SEGMENT_POINT_H_

#include <algorithm>
#include <cmath>
#include <numbers>

#include "server/planning/follow/follow_route.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {

// (cos x, sin x) to within two roundings. Up to pi / 4 by Taylor's series, whose first terms left
// out, x^18 / 18! and x^17 / 17!, are below a quarter of a rounding there; by the library beyond.
inline Vec2 UnitVectorOfArc(double x) {
  if (!(std::abs(x) <= 0.25 * std::numbers::pi)) return {std::cos(x), std::sin(x)};
  const double x2 = x * x;
  const double x4 = x2 * x2;
  const double x8 = x4 * x4;
  // Pairs of terms, so that few products wait for one another.
  const double sine =
      ((1.0 / -6.0 + x2 * (1.0 / 120.0)) + x4 * (1.0 / -5040.0 + x2 * (1.0 / 362880.0))) +
      x8 * ((1.0 / -39916800.0 + x2 * (1.0 / 6227020800.0)) + x4 * (1.0 / -1307674368000.0));
  const double cosine =
      ((1.0 / 24.0 + x2 * (1.0 / -720.0)) + x4 * (1.0 / 40320.0 + x2 * (1.0 / -3628800.0))) +
      x8 * ((1.0 / 479001600.0 + x2 * (1.0 / -87178291200.0)) + x4 * (1.0 / 20922789888000.0));
  return {1.0 - 0.5 * x2 + x4 * cosine, x + x * x2 * sine};
}

// The point at `offset` behind the segment's start, clamped to [0, length]; exact at both ends.
inline Vec2 PointOn(const FollowSegment& segment, double offset) {
  if (offset <= 0.0) return segment.start;
  if (offset >= segment.length) return segment.end;
  if (!segment.is_arc) return segment.start + segment.direction * offset;
  // The chord at the direction half-way.
  const Vec2 half = UnitVectorOfArc(0.5 * segment.curvature * offset);
  const double chord = 2.0 * half.y / segment.curvature;
  return segment.start +
         chord * (segment.direction * half.x + LeftNormal(segment.direction) * half.y);
}

// The unit direction of travel there.
inline Vec2 DirectionOn(const FollowSegment& segment, double offset) {
  if (!segment.is_arc) return segment.direction;
  const Vec2 turned = UnitVectorOfArc(segment.curvature * std::clamp(offset, 0.0, segment.length));
  return segment.direction * turned.x + LeftNormal(segment.direction) * turned.y;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_FOLLOW_SEGMENT_POINT_H_
