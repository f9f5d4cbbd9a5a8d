// SPDX-License-Identifier: Apache-2.0
// The orientation of three points, with the right sign for all finite doubles whose products
// neither overflow nor underflow (magnitudes within [kMinCoordinate, kMaxCoordinate] or zero, see
// precision.h).
//
// Method: the floating-point determinant with the forward error bound of Shewchuk, "Adaptive
// Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates" (1997), section 4,
// figure 21, as a filter; when the bound does not decide, the determinant as an exact expansion of
// its six products (Dekker's two-product, Knuth's two-sum). Departure from the paper: one exact
// stage instead of three adaptive ones, since the filter decides nearly always.
//
// Identities, for all a, b, c:
//   Orient2D(a, b, c) == Orient2D(b, c, a) == -Orient2D(b, a, c);  Orient2D(a, a, c) == 0.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_PREDICATES_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_PREDICATES_H_

#include <cmath>

#include "server/planning/geometry/vec2.h"

namespace arclane {

namespace predicates_internal {
// (3 + 16 eps) eps with eps = 2^-53: bounds the error of the determinant relative to the sum of its
// two products.
inline constexpr double kOrientErrorBound = (3.0 + 16.0 * 0x1p-53) * 0x1p-53;
int ExactOrient2D(Vec2 a, Vec2 b, Vec2 c);
}  // namespace predicates_internal

// 1 when c lies to the left of the directed line from a to b, -1 to the right, 0 when the three are
// collinear. Cost: about 2 ns when the filter decides, about 100 ns otherwise.
inline int Orient2D(Vec2 a, Vec2 b, Vec2 c) {
  const double left = (a.x - c.x) * (b.y - c.y);
  const double right = (a.y - c.y) * (b.x - c.x);
  const double det = left - right;
  const double bound = predicates_internal::kOrientErrorBound * (std::abs(left) + std::abs(right));
  if (det > bound) return 1;
  if (det < -bound) return -1;
  return predicates_internal::ExactOrient2D(a, b, c);
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_PREDICATES_H_
