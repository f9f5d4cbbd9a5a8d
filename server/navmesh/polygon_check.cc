// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/polygon_check.h"

#include <cmath>
#include <numbers>

namespace arclane {

OutlineShape ShapeOf(std::span<const Vec2> outline, double tolerance) {
  const size_t n = outline.size();
  if (n < 3) return OutlineShape::kTooFewVertices;
  double doubled_area = 0.0, longest = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const Vec2 a = outline[i], b = outline[(i + 1) % n];
    if (a == b) return OutlineShape::kRepeatedVertex;
    doubled_area += Cross(a - outline[0], b - outline[0]);
    longest = std::max(longest, Norm(a - outline[0]));
  }
  if (std::fabs(doubled_area) <= tolerance * longest) return OutlineShape::kNoArea;
  const double sign = doubled_area > 0 ? 1.0 : -1.0;
  double turned = 0.0;
  for (size_t i = 0; i < n; ++i) {
    const Vec2 a = outline[i], b = outline[(i + 1) % n], c = outline[(i + 2) % n];
    const double cross = sign * Cross(b - a, c - b);
    // The distance of b from the line a-c is cross / |c - a|; where a and c coincide the outline
    // folds back.
    if (cross < 0 && -cross > tolerance * Norm(c - a)) return OutlineShape::kNotConvex;
    if (cross <= 0 && Dot(b - a, c - b) < 0) return OutlineShape::kNotConvex;
    turned += TurnAngle(b - a, c - b);
  }
  // Each full turn adds two pi; halfway to the second is well clear of rounding.
  if (std::fabs(turned) > 3.0 * std::numbers::pi) return OutlineShape::kSelfCrossing;
  return sign > 0 ? OutlineShape::kCounterClockwise : OutlineShape::kClockwise;
}

const char* Describe(OutlineShape shape) {
  switch (shape) {
    case OutlineShape::kClockwise:
    case OutlineShape::kCounterClockwise:
      break;
    case OutlineShape::kTooFewVertices:
      return "has fewer than three vertices";
    case OutlineShape::kRepeatedVertex:
      return "repeats a vertex";
    case OutlineShape::kNoArea:
      return "has no area";
    case OutlineShape::kNotConvex:
      return "is not convex";
    case OutlineShape::kSelfCrossing:
      return "crosses itself";
  }
  return "";
}

}  // namespace arclane
