// SPDX-License-Identifier: Apache-2.0
#include "server/planning/follow/cell_walls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace arclane {
namespace {

HalfPlane PlaneOf(Vec2 a, Vec2 b) {
  const Vec2 along = b - a;
  const Vec2 out = -LeftNormal(along) * (1.0 / Norm(along));  // The inside lies to the left.
  return {out, Dot(out, a)};
}

struct Interval {
  double from = 0.0;
  double to = 0.0;
};

// Where the portal covers the edge a -> b, as fractions of it; empty when it does not lie on the
// edge's line within the tolerance.
Interval Covered(const Portal& portal, Vec2 a, Vec2 b, const HalfPlane& plane, double tolerance) {
  const Vec2 along = b - a;
  const double scale = 1.0 / SquaredNorm(along);
  double t0 = Dot(portal.left - a, along) * scale;
  double t1 = Dot(portal.right - a, along) * scale;
  double depth0 = plane.offset - Dot(plane.normal, portal.left);
  double depth1 = plane.offset - Dot(plane.normal, portal.right);
  if (t0 > t1) {
    std::swap(t0, t1);
    std::swap(depth0, depth1);
  }
  const double from = std::max(0.0, t0), to = std::min(1.0, t1);
  if (!(from < to)) return {};
  // The depth of the portal below the edge at both ends of the common stretch.
  const auto depth_at = [&](double t) {
    return depth0 + (depth1 - depth0) * ((t - t0) / (t1 - t0));
  };
  if (std::abs(depth_at(from)) > tolerance || std::abs(depth_at(to)) > tolerance) return {};
  return {from, to};
}

// The cell's edges and its walls.
class CellReader {
 public:
  CellReader(const Corridor& corridor, size_t k, FollowRoute* route)
      : corridor_(corridor), cell_(corridor.cell(k)), k_(k), route_(route) {}

  void Read() {
    if (cell_.size() < 3) {
      ReadLine();
      return;
    }
    const Portal* before = k_ > 0 ? &corridor_.portals[k_ - 1] : nullptr;
    const Portal* after = k_ < corridor_.portals.size() ? &corridor_.portals[k_] : nullptr;
    const double before_tolerance = before ? EdgeDistance(*before) : 0.0;
    const double after_tolerance = after ? EdgeDistance(*after) : 0.0;
    for (size_t i = 0; i < cell_.size(); ++i) {
      const Vec2 a = cell_[i], b = cell_[(i + 1) % cell_.size()];
      const HalfPlane plane = PlaneOf(a, b);
      route_->cell_planes.push_back({plane.normal, plane.offset + route_->tolerance});
      Interval covered[2];
      if (before) covered[0] = Covered(*before, a, b, plane, before_tolerance);
      if (after) covered[1] = Covered(*after, a, b, plane, after_tolerance);
      if (covered[1].from < covered[0].from) std::swap(covered[0], covered[1]);
      double from = 0.0;
      for (const Interval& interval : covered) {
        if (interval.from >= interval.to) continue;
        AddWall(a, b, plane, from, interval.from);
        from = std::max(from, interval.to);
      }
      AddWall(a, b, plane, from, 1.0);
    }
    route_->entry.push_back(before ? PortalWall(*before) : FollowWall());
    route_->exit.push_back(after ? PortalWall(*after) : FollowWall());
  }

 private:
  // The line of a link, or of a cell without area, with the tolerance on both sides.
  void ReadLine() {
    const Vec2 a = cell_.front(), b = cell_.back();
    const Vec2 along = a == b ? Vec2{1.0, 0.0} : (b - a) * (1.0 / Distance(a, b));
    for (const Vec2 normal : {along, LeftNormal(along), -along, -LeftNormal(along)}) {
      const double offset = std::max(Dot(normal, a), Dot(normal, b)) + route_->tolerance;
      route_->cell_planes.push_back({normal, offset});
    }
    route_->entry.push_back(k_ > 0 ? Across(corridor_.portals[k_ - 1], -1.0, a, along)
                                   : FollowWall());
    route_->exit.push_back(k_ < corridor_.portals.size()
                               ? Across(corridor_.portals[k_], 1.0, b, along)
                               : FollowWall());
  }

  // A portal of a cell without area as a wall: `sign` 1 closes the way on, -1 the way back. Portals
  // of no length close the cell's line.
  FollowWall Across(const Portal& portal, double sign, Vec2 end, Vec2 along) const {
    const Vec2 width = portal.left - portal.right;
    const double length = Norm(width);
    Vec2 normal = along * sign;
    if (length > 0.0) normal = -LeftNormal(width) * (sign / length);
    return length > 0.0 ? FollowWall{portal.left, portal.right, {normal, Dot(normal, portal.left)}}
                        : FollowWall{end, end, {normal, Dot(normal, end)}};
  }

  // How far a portal may lie off an edge to count as part of it: as far as it lies off the nearest
  // one. Portals of tile borders are stored more coarsely than the polygons beside them.
  double EdgeDistance(const Portal& portal) const {
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < cell_.size(); ++i) {
      const HalfPlane plane = PlaneOf(cell_[i], cell_[(i + 1) % cell_.size()]);
      nearest =
          std::min(nearest, std::max(std::abs(plane.offset - Dot(plane.normal, portal.left)),
                                     std::abs(plane.offset - Dot(plane.normal, portal.right))));
    }
    return std::max(nearest, corridor_.tolerance) * (1.0 + 1e-9);
  }

  // The portal as a wall of this cell. A portal of no length has the plane of the nearest edge.
  FollowWall PortalWall(const Portal& portal) const {
    FollowWall wall{portal.left, portal.right, {}};
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < cell_.size(); ++i) {
      const HalfPlane plane = PlaneOf(cell_[i], cell_[(i + 1) % cell_.size()]);
      const double off = std::max(std::abs(plane.offset - Dot(plane.normal, portal.left)),
                                  std::abs(plane.offset - Dot(plane.normal, portal.right)));
      if (off < nearest) {
        nearest = off;
        wall.plane = plane;
      }
    }
    return wall;
  }

  void AddWall(Vec2 a, Vec2 b, const HalfPlane& plane, double from, double to) {
    const double length = Distance(a, b);
    if ((to - from) * length <= corridor_.tolerance) return;
    route_->walls.push_back(
        {from == 0.0 ? a : Lerp(a, b, from), to == 1.0 ? b : Lerp(a, b, to), plane});
  }

  const Corridor& corridor_;
  std::span<const Vec2> cell_;
  size_t k_;
  FollowRoute* route_;
};

Vec2 ClosestOn(Vec2 a, Vec2 b, Vec2 p) {
  const Vec2 along = b - a;
  const double squared = SquaredNorm(along);
  if (squared == 0.0) return a;
  return a + along * std::clamp(Dot(p - a, along) / squared, 0.0, 1.0);
}

// The half-plane that contains the line p -> q and not the wall.
HalfPlane Part(const FollowWall& wall, Vec2 p, Vec2 q, double tolerance) {
  const double far = std::max(Dot(wall.plane.normal, p), Dot(wall.plane.normal, q));
  if (far <= wall.plane.offset + tolerance) {
    return {wall.plane.normal, wall.plane.offset + tolerance};
  }
  // The nearest points of two lines that do not cross: an end of one is among them.
  const std::array<std::pair<Vec2, Vec2>, 4> pairs = {{{ClosestOn(p, q, wall.a), wall.a},
                                                       {ClosestOn(p, q, wall.b), wall.b},
                                                       {p, ClosestOn(wall.a, wall.b, p)},
                                                       {q, ClosestOn(wall.a, wall.b, q)}}};
  size_t best = 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < pairs.size(); ++i) {
    const double squared = SquaredNorm(pairs[i].second - pairs[i].first);
    if (squared < nearest) {
      nearest = squared;
      best = i;
    }
  }
  const double gap = std::sqrt(nearest);
  const Vec2 at = pairs[best].second;
  if (gap > tolerance) {
    const Vec2 normal = (at - pairs[best].first) * (1.0 / gap);
    return {normal, Dot(normal, at)};
  }
  // They touch at an end of the wall: the half-plane along the line, the rest of the wall outside.
  const Vec2 other = SquaredNorm(wall.b - at) > SquaredNorm(wall.a - at) ? wall.b : wall.a;
  const Vec2 rest = other - at;
  const double rest_length = Norm(rest);
  const double length = Distance(p, q);
  const double side = length > 0.0 ? Cross(q - p, rest) / length : 0.0;
  Vec2 normal = wall.plane.normal;
  if (std::abs(side) > tolerance) {
    normal = LeftNormal(q - p) * (std::copysign(1.0, side) / length);
  } else if (rest_length > 0.0) {
    normal = rest * (1.0 / rest_length);
  }
  return {normal, Dot(normal, at) + tolerance};
}

}  // namespace

void AddCellWalls(const Corridor& corridor, FollowRoute* route) {
  for (size_t k = 0; k < corridor.cell_count(); ++k) {
    route->cell_plane_begin.push_back(static_cast<uint32_t>(route->cell_planes.size()));
    route->wall_begin.push_back(static_cast<uint32_t>(route->walls.size()));
    CellReader(corridor, k, route).Read();
  }
  route->cell_plane_begin.push_back(static_cast<uint32_t>(route->cell_planes.size()));
  route->wall_begin.push_back(static_cast<uint32_t>(route->walls.size()));
}

size_t FirstPortalMissed(const FollowRoute& route, size_t from, size_t to, Vec2 p, Vec2 q,
                         Vec2* at) {
  const Vec2 d = q - p;
  const double slack = route.tolerance * Norm(d);
  for (size_t j = from; j < to; ++j) {
    const Portal& portal = route.portals[j];
    const Vec2 left = portal.left - p, right = portal.right - p;
    const bool misses_left = Cross(d, left)<-slack, misses_right = Cross(d, right)> slack;
    if (!misses_left && !misses_right) continue;
    // A line that leads away from the portal has both ends on the wrong side.
    const bool left_is_nearer = misses_right ? Dot(d, left) > Dot(d, right) : true;
    *at = misses_left && left_is_nearer ? portal.left : portal.right;
    return j;
  }
  return to;
}

size_t ConvexSetAround(const FollowRoute& route, size_t from, size_t to, Vec2 p, Vec2 q,
                       std::span<HalfPlane> planes) {
  const size_t walls = route.wall_begin[to + 1] - route.wall_begin[from];
  if (walls + 2 > planes.size()) return 0;
  size_t count = 0;
  const auto add = [&](const FollowWall& wall) {
    planes[count++] = Part(wall, p, q, route.tolerance);
  };
  for (size_t i = route.wall_begin[from]; i < route.wall_begin[to + 1]; ++i) add(route.walls[i]);
  if (from > 0) add(route.entry[from]);
  if (to + 1 < route.cell_count()) add(route.exit[to]);
  // Portals of tile borders may miss the cells beside them: a line through one then crosses what is
  // left of the edge, and no half-plane parts the two.
  for (const HalfPlane& plane : planes.first(count)) {
    if (Dot(plane.normal, p) > plane.offset || Dot(plane.normal, q) > plane.offset) return 0;
  }
  return count;
}

}  // namespace arclane
