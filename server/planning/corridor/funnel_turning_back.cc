// SPDX-License-Identifier: Apache-2.0
// The shortest line through corridors that turn back through the portal they came by: what lies
// after such a portal is reflected in it, the line through the unfolded corridor found, and its
// corners mapped back.
#include <algorithm>
#include <cmath>

#include "server/planning/corridor/funnel.h"

namespace arclane {
namespace {

// A motion of the plane, with or without a reflection.
struct Isometry {
  Vec2 x_axis{1.0, 0.0};
  Vec2 y_axis{0.0, 1.0};
  Vec2 offset;

  Vec2 Direction(Vec2 v) const { return x_axis * v.x + y_axis * v.y; }
  Vec2 operator()(Vec2 p) const { return Direction(p) + offset; }
};

// First `motion`, then the reflection in the line through a and b.
Isometry ReflectedAfter(const Isometry& motion, Vec2 a, Vec2 b) {
  const Vec2 along = (b - a) * (1.0 / Distance(a, b));
  const auto reflect = [along](Vec2 v) { return along * (2.0 * Dot(along, v)) - v; };
  return {reflect(motion.x_axis), reflect(motion.y_axis), a + reflect(motion.offset - a)};
}

bool TurnsBack(const Portal& before, const Portal& portal, double squared_tolerance) {
  return SquaredNorm(portal.left - before.right) <= squared_tolerance &&
         SquaredNorm(portal.right - before.left) <= squared_tolerance &&
         SquaredNorm(portal.right - portal.left) > squared_tolerance;
}

// Where the line from a to b crosses the portal's line, as a parameter from left to right within
// the portal.
double CrossingParameter(const Portal& portal, Vec2 a, Vec2 b) {
  const Vec2 across = portal.right - portal.left;
  const double before = Cross(across, a - portal.left);
  const double after = Cross(across, b - portal.left);
  const Vec2 point = before == after ? b : Lerp(a, b, before / (before - after));
  return std::clamp(Dot(point - portal.left, across) / SquaredNorm(across), 0.0, 1.0);
}

}  // namespace

void Funnel::FindTurningBack(Vec2 start, Vec2 goal, std::span<const Portal> portals,
                             double tolerance, CorridorPath* path) {
  const double squared_tolerance = tolerance * tolerance;
  const size_t count = portals.size();
  unfolded_.assign(portals.begin(), portals.end());
  is_mirrored_.assign(count, 0);
  Isometry motion;
  uint8_t is_mirrored = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool turns = i > 0 && TurnsBack(portals[i - 1], portals[i], squared_tolerance);
    if (turns) {
      motion = ReflectedAfter(motion, unfolded_[i - 1].left, unfolded_[i - 1].right);
      is_mirrored ^= 1;
    }
    is_mirrored_[i] = is_mirrored;
    unfolded_[i].left = motion(is_mirrored ? portals[i].right : portals[i].left);
    unfolded_[i].right = motion(is_mirrored ? portals[i].left : portals[i].right);
    if (turns) {
      unfolded_[i].left = unfolded_[i - 1].left;
      unfolded_[i].right = unfolded_[i - 1].right;
    }
  }
  FindStraightOn(start, motion(goal), unfolded_, tolerance, path);
  unfolded_corners_.swap(path->corners);
  path->corners.clear();

  Vec2 before = start;
  size_t next = 0;  // The portal up to which turns have been looked for.
  const auto add_turns_until = [&](size_t limit, Vec2 after) {
    for (; next < limit; ++next) {
      if (next == 0 || !TurnsBack(portals[next - 1], portals[next], squared_tolerance)) continue;
      const double t = CrossingParameter(unfolded_[next], before, after);
      const Portal& portal = portals[next];
      const Vec2 point = is_mirrored_[next] ? Lerp(portal.right, portal.left, t)
                                            : Lerp(portal.left, portal.right, t);
      path->corners.push_back({point, static_cast<uint32_t>(next), CornerSide::kPoint});
    }
  };
  for (PathCorner corner : unfolded_corners_) {
    // Portals that share the corner are turned at there, not before.
    size_t first = corner.portal;
    const auto has_corner = [&](const Portal& portal) {
      return SquaredNorm(portal.left - corner.point) <= squared_tolerance ||
             SquaredNorm(portal.right - corner.point) <= squared_tolerance;
    };
    while (first > next && has_corner(unfolded_[first - 1])) --first;
    add_turns_until(first, corner.point);
    next = std::max(next, corner.portal + size_t{1});
    before = corner.point;
    const Portal& portal = portals[corner.portal];
    const bool is_left = corner.side != CornerSide::kRight;
    corner.point = is_left != (is_mirrored_[corner.portal] != 0) ? portal.left : portal.right;
    if (corner.side != CornerSide::kPoint && is_mirrored_[corner.portal]) {
      corner.side = is_left ? CornerSide::kRight : CornerSide::kLeft;
    }
    path->corners.push_back(corner);
  }
  add_turns_until(count, motion(goal));
}

}  // namespace arclane
