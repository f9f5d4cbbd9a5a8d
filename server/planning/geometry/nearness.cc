// SPDX-License-Identifier: Apache-2.0
#include "server/planning/geometry/nearness.h"

#include <cmath>

namespace arclane {
namespace {

// Where the value, linear from `at_0` to `at_1`, is at least 0.
ParameterInterval NonNegative(double at_0, double at_1) {
  if (at_0 >= 0.0 && at_1 >= 0.0) return {0.0, 1.0};
  if (at_0 < 0.0 && at_1 < 0.0) return {};
  const double zero = std::clamp(at_0 / (at_0 - at_1), 0.0, 1.0);
  return at_0 < 0.0 ? ParameterInterval{zero, 1.0} : ParameterInterval{0.0, zero};
}

}  // namespace

ParameterInterval NearPoint(Vec2 a, Vec2 b, Vec2 c, double radius) {
  const Vec2 d = b - a;
  const double squared_length = SquaredNorm(d);
  if (!(squared_length > 0.0)) {
    return SquaredNorm(a - c) <= radius * radius ? ParameterInterval{0.0, 1.0}
                                                 : ParameterInterval{};
  }
  const double middle = Dot(c - a, d) / squared_length;
  const double squared_half = (radius * radius - SquaredNorm(a + d * middle - c)) / squared_length;
  if (squared_half < 0.0) return {};
  const double half = std::sqrt(squared_half);
  return Intersect({middle - half, middle + half}, {0.0, 1.0});
}

ParameterInterval NearSegment(Vec2 a, Vec2 b, Vec2 p, Vec2 q, double radius) {
  ParameterInterval near = NearPoint(a, b, p, radius);
  near.Cover(NearPoint(a, b, q, radius));
  const double length = Distance(p, q);
  if (!(length > 0.0)) return near;
  const Vec2 along = (q - p) * (1.0 / length);
  const double off_a = Cross(along, a - p);
  const double off_b = Cross(along, b - p);
  const double at_a = Dot(along, a - p);
  const double at_b = Dot(along, b - p);
  ParameterInterval band = Intersect(NonNegative(radius - off_a, radius - off_b),
                                     NonNegative(radius + off_a, radius + off_b));
  band = Intersect(band, NonNegative(at_a, at_b));
  band = Intersect(band, NonNegative(length - at_a, length - at_b));
  near.Cover(band);
  return near;
}

ParameterInterval NearConvex(Vec2 a, Vec2 b, std::span<const Vec2> polygon, double radius) {
  ParameterInterval near;
  ParameterInterval inside{0.0, 1.0};
  Vec2 p = polygon.back();
  for (const Vec2 q : polygon) {
    near.Cover(NearSegment(a, b, p, q, radius));
    inside = Intersect(inside, NonNegative(Cross(q - p, a - p), Cross(q - p, b - p)));
    p = q;
  }
  if (polygon.size() > 2) near.Cover(inside);
  return near;
}

}  // namespace arclane
