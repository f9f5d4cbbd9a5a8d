// SPDX-License-Identifier: Apache-2.0
// Points as borrowed columns, split into the two horizontal axes and the height by the request's up
// axis.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_POINTS_COLUMNS_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_POINTS_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/planning/geometry/vec2.h"

namespace arclane {

enum class UpAxis : uint8_t { kX, kY, kZ };

// The caller's names of the horizontal axes, in axis order, and of the height.
struct AxisNames {
  char a = 'x';
  char b = 'y';
  char height = 'z';
};

// Z up: x, y, height z. Y up: x, z, height y. X up: y, z, height x.
constexpr AxisNames AxisNamesOf(UpAxis up) {
  switch (up) {
    case UpAxis::kX:
      return {'y', 'z', 'x'};
    case UpAxis::kY:
      return {'x', 'z', 'y'};
    case UpAxis::kZ:
      break;
  }
  return {'x', 'y', 'z'};
}

// Borrowed: valid as long as the message they were taken from. `a` and `b` are the horizontal axes
// in axis order and have equal lengths once validated; `height` has the same length or is empty
// (all heights 0).
struct PointColumns {
  std::span<const double> a;
  std::span<const double> b;
  std::span<const double> height;

  size_t size() const { return a.size(); }
  bool has_height() const { return !height.empty(); }
  Vec2 point(size_t i) const { return {a[i], b[i]}; }
  double height_at(size_t i) const { return height.empty() ? 0.0 : height[i]; }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_POINTS_COLUMNS_H_
