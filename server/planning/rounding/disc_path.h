// SPDX-License-Identifier: Apache-2.0
// A path as a string of discs: lines are the common tangents of successive discs, arcs run on the
// discs between their tangent points. Such a path is smooth by construction. A disc of radius 0 is
// a point where the path may kink.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_DISC_PATH_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_DISC_PATH_H_

#include <cmath>
#include <cstdint>
#include <numbers>

#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/angle.h"

namespace arclane {

// A disc that the path goes round; the signed radius is positive when the path turns left on it.
struct Disc {
  Vec2 center;
  double radius = 0.0;
};

// The directed common tangent of two discs. With unit direction d and left normal n the path
// touches disc i at center_i - radius_i * n, so that center_2 - center_1 = length * d + (radius_2 -
// radius_1) * n; this covers inner and outer tangents. There is none when |center_2 - center_1| <
// |radius_2 - radius_1|.
struct Tangent {
  Vec2 direction;
  Vec2 from;
  Vec2 to;
  double length = 0.0;
};

// False when there is no tangent or the discs coincide.
inline bool CommonTangent(const Disc& a, const Disc& b, Tangent& tangent) {
  const Vec2 between = b.center - a.center;
  const double squared = SquaredNorm(between);
  const double offset = b.radius - a.radius;
  const double length_squared = squared - offset * offset;
  if (!(squared > 0.0) || length_squared < 0.0) return false;
  tangent.length = std::sqrt(length_squared);
  // The inverse of the rotation (length, offset) -> between.
  const double inverse = 1.0 / squared;
  tangent.direction = {(between.x * tangent.length + between.y * offset) * inverse,
                       (between.y * tangent.length - between.x * offset) * inverse};
  const Vec2 normal = LeftNormal(tangent.direction);
  tangent.from = a.center - a.radius * normal;
  tangent.to = b.center - b.radius * normal;
  return true;
}

// Sweeps this close to a full turn are small turns to the wrong side: the neighbours pull the line
// off the disc.
inline constexpr double kMaxSweep = 1.75 * std::numbers::pi;

// The angle >= 0 by which the path turns on a disc from direction `in` to `out`, towards the side
// of the disc, unwrapped to [0, kMaxSweep]; negative when the line would have to turn to the other
// side.
inline double SweepAngle(double radius, Vec2 in, Vec2 out) {
  const double angle = AngleOf(Cross(in, out), Dot(in, out));
  const double turn = radius < 0.0 ? -angle : angle;
  if (turn >= 0.0) return turn;
  const double unwrapped = turn + 2.0 * std::numbers::pi;
  return unwrapped <= kMaxSweep ? unwrapped : turn;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_DISC_PATH_H_
