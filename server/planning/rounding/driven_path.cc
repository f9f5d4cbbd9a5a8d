// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/driven_path.h"

#include <cmath>

namespace arclane {

Vec2 PointAt(const PathElement& element, double s) {
  if (element.kind == PathElementKind::kTurn) return element.start;
  const double half = 0.5 * element.curvature * s;
  // The chord has direction + half the turn and length s * sin(half) / half.
  const double ratio = std::abs(half) > 1e-8 ? std::sin(half) / half : 1.0;
  const Vec2 rotation = UnitVector(half);
  const Vec2 d = element.direction;
  const Vec2 chord = {d.x * rotation.x - d.y * rotation.y, d.x * rotation.y + d.y * rotation.x};
  return element.start + chord * (s * ratio);
}

Vec2 DirectionAt(const PathElement& element, double s) {
  const double turn =
      element.kind == PathElementKind::kTurn ? element.turn_rad : element.curvature * s;
  const Vec2 rotation = UnitVector(turn);
  const Vec2 d = element.direction;
  return {d.x * rotation.x - d.y * rotation.y, d.x * rotation.y + d.y * rotation.x};
}

}  // namespace arclane
