// SPDX-License-Identifier: Apache-2.0
#include "server/planning/follow/cell_walls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "server/planning/geometry/polygon.h"

namespace arclane {
namespace {

// An agent is counted to a cell that it lies two tolerances outside of; at a corner as sharp as
// half a radian it lies so many from the corner.
constexpr double kFarthestMove = 16.0;

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
      : corridor_(corridor), cell_(corridor.cell(k)), k_(k), route_(route) {
    if (cell_.size() >= 3) HoldPortals();
  }

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
      route_->cell_planes.push_back({plane.normal, plane.offset + route_->plane_roundoff});
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
  // The copy of a vertex in the neighbour's polygon may be the portal's end: the cell grows to it,
  // so that a line through portals lies in the cells.
  void HoldPortals() {
    std::vector<Vec2> points(cell_.begin(), cell_.end());
    for (const size_t i : {k_ - 1, k_}) {
      if (i >= corridor_.portals.size()) continue;
      for (const Vec2 end : {corridor_.portals[i].left, corridor_.portals[i].right}) {
        if (!ConvexContains(cell_, end)) points.push_back(end);
      }
    }
    if (points.size() == cell_.size()) return;
    std::vector<uint32_t> hull;
    ConvexHull(points, &hull);
    for (const uint32_t i : hull) grown_.push_back(points[i]);
    cell_ = grown_;
  }

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
    if ((to - from) * length <= route_->plane_roundoff) return;
    route_->walls.push_back(
        {from == 0.0 ? a : Lerp(a, b, from), to == 1.0 ? b : Lerp(a, b, to), plane});
  }

  const Corridor& corridor_;
  std::vector<Vec2> grown_;
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

// The nearest points of two lines that do not cross: an end of one is among them.
std::pair<Vec2, Vec2> NearestPoints(const FollowWall& wall, Vec2 p, Vec2 q) {
  const std::array<std::pair<Vec2, Vec2>, 4> pairs = {{{ClosestOn(p, q, wall.a), wall.a},
                                                       {ClosestOn(p, q, wall.b), wall.b},
                                                       {p, ClosestOn(wall.a, wall.b, p)},
                                                       {q, ClosestOn(wall.a, wall.b, q)}}};
  return *std::min_element(pairs.begin(), pairs.end(), [](const auto& one, const auto& other) {
    return SquaredNorm(one.second - one.first) < SquaredNorm(other.second - other.first);
  });
}

Vec2 UnitOrZero(Vec2 v) {
  const double length = Norm(v);
  return length > 0.0 ? v * (1.0 / length) : Vec2{};
}

// The half-plane that contains the line p -> q and not the wall.
class WallParter {
 public:
  WallParter(const FollowRoute& route, const FollowWall& wall, Vec2 p, Vec2 q)
      : wall_(wall), p_(p), q_(q), roundoff_(route.plane_roundoff), tolerance_(route.tolerance) {}

  // *overlap: how far the wall reaches into the half-plane at most.
  HalfPlane Part(double* overlap) const {
    const Vec2 own = wall_.plane.normal;
    const double far = std::max(Dot(own, p_), Dot(own, q_));
    *overlap = std::max(0.0, far - wall_.plane.offset);
    if (*overlap <= roundoff_) return {own, std::max(wall_.plane.offset, far)};
    const auto [of_line, of_wall] = NearestPoints(wall_, p_, q_);
    const Vec2 normal = Choose(of_line, of_wall, *overlap <= tolerance_);
    const double gap = Gap(normal);
    *overlap = std::max(0.0, -gap);
    return {normal, LineOffset(normal) + std::max(0.0, gap)};
  }

 private:
  // Behind an edge by the tolerance alone, the line is on its inside: no half-plane faces the other
  // way then.
  Vec2 Choose(Vec2 of_line, Vec2 of_wall, bool is_inside) const {
    const Vec2 own = wall_.plane.normal;
    const Vec2 across = UnitOrZero(of_wall - of_line);
    const bool faces = !is_inside || Dot(across, own) >= 0.0;
    if (faces && across != Vec2{} && Gap(across) > roundoff_) return across;
    // They touch, or cross by rounding. A lean on both comes first: it is the one that closes the
    // set before an end of the line.
    const bool at_a = SquaredNorm(wall_.a - of_wall) <= SquaredNorm(wall_.b - of_wall);
    const Vec2 rest = UnitOrZero(at_a ? wall_.b - wall_.a : wall_.a - wall_.b);
    const bool at_q = SquaredNorm(q_ - of_wall) <= SquaredNorm(p_ - of_wall);
    const Vec2 way = UnitOrZero(at_q ? q_ - p_ : p_ - q_);
    const Vec2 left = LeftNormal(way);
    const std::array<Vec2, 4> normals = {
        UnitOrZero(rest + way), Dot(left, rest) < 0.0 ? -left : left, is_inside ? own : -own, own};
    for (const double allowed : {roundoff_, tolerance_}) {
      for (const Vec2 normal : normals) {
        if (is_inside && Dot(normal, own) < 0.0) continue;
        if (normal != Vec2{} && Gap(normal) >= -allowed) return normal;
      }
    }
    return own;
  }

  double LineOffset(Vec2 normal) const { return std::max(Dot(normal, p_), Dot(normal, q_)); }
  double Gap(Vec2 normal) const {
    return std::min(Dot(normal, wall_.a), Dot(normal, wall_.b)) - LineOffset(normal);
  }

  const FollowWall& wall_;
  Vec2 p_, q_;
  double roundoff_;
  double tolerance_;
};

// The place in the cell nearest to p, which lies outside of it by rounding: on one edge, or where
// two of those that p lies behind meet. O(edges), and more only at such corners.
Vec2 MovedInto(const FollowRoute& route, size_t cell, Vec2 p) {
  const std::span<const HalfPlane> planes = route.planes(cell);
  const auto beyond = [&](const HalfPlane& plane, Vec2 at) {
    return Dot(plane.normal, at) - (plane.offset - route.plane_roundoff);
  };
  const auto farthest = [&](Vec2 at) {
    double most = 0.0;
    for (const HalfPlane& plane : planes) most = std::max(most, beyond(plane, at));
    return most;
  };
  const double most = farthest(p);
  if (most == 0.0) return p;
  Vec2 best = p;
  double least = most;
  const auto take = [&](Vec2 at) {
    const double rest = farthest(at);
    if (rest >= least) return;
    least = rest;
    best = at;
  };
  for (const HalfPlane& plane : planes) {
    if (beyond(plane, p) > 0.0) take(p - plane.normal * beyond(plane, p));
  }
  if (least <= 0.25 * route.plane_roundoff) return best;
  for (size_t i = 0; i < planes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const double a = beyond(planes[i], p), b = beyond(planes[j], p);
      if (std::max(a, b) <= 0.0) continue;
      const double turn = Cross(planes[i].normal, planes[j].normal);
      if (turn == 0.0) continue;
      const Vec2 way = LeftNormal(planes[i].normal) * b - LeftNormal(planes[j].normal) * a;
      const Vec2 at = p - way * (1.0 / turn);
      // Where edges almost in line meet may be far away.
      if (Distance(at, p) <= kFarthestMove * route.tolerance) take(at);
    }
  }
  return best;
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

double DistanceFromCell(const FollowRoute& route, size_t cell, Vec2 p) {
  return Distance(p, MovedInto(route, cell, p));
}

size_t FirstPortalMissed(const FollowRoute& route, size_t from, size_t to, Vec2 p, Vec2 q,
                         double slack, Vec2* at) {
  const Vec2 d = q - p;
  slack *= Norm(d);
  for (size_t j = from; j < to; ++j) {
    const Portal& portal = route.portals[j];
    const Vec2 left = portal.left - p, right = portal.right - p;
    const bool misses_left = Cross(d, left)<-slack, misses_right = Cross(d, right)> slack;
    if (!misses_left && !misses_right) continue;
    // Of a portal that the line leads away from no end is in the way: the way is where the route
    // crosses it.
    const bool leads_away = Cross(portal.left - portal.right, d) >= 0.0;
    *at = leads_away ? route.portal_crossing[j] : misses_left ? portal.left : portal.right;
    return j;
  }
  return to;
}

size_t ConvexSetAround(const FollowRoute& route, size_t from, size_t to, Vec2 p, Vec2 q,
                       std::span<HalfPlane> planes) {
  const size_t walls = route.wall_begin[to + 1] - route.wall_begin[from];
  if (walls + 2 > planes.size()) return 0;
  const Vec2 line_begin = MovedInto(route, from, p), line_end = MovedInto(route, to, q);
  size_t count = 0;
  bool parted = true;
  const auto add = [&](const FollowWall& wall) {
    double overlap = 0.0;
    HalfPlane plane = WallParter(route, wall, line_begin, line_end).Part(&overlap);
    parted &= overlap <= route.tolerance;
    plane.offset = std::max({plane.offset, Dot(plane.normal, p), Dot(plane.normal, q)});
    planes[count++] = plane;
  };
  for (size_t i = route.wall_begin[from]; i < route.wall_begin[to + 1]; ++i) add(route.walls[i]);
  if (from > 0) add(route.entry[from]);
  if (to + 1 < route.cell_count()) add(route.exit[to]);
  // Portals of tile borders may miss the cells beside them: a line through one then crosses what is
  // left of the edge, and no half-plane parts the two.
  return parted ? count : 0;
}

size_t CellAround(const FollowRoute& route, size_t cell, Vec2 p, std::span<HalfPlane> planes) {
  const std::span<const HalfPlane> edges = route.planes(cell);
  if (edges.size() > planes.size()) return 0;
  for (size_t i = 0; i < edges.size(); ++i) {
    planes[i] = {edges[i].normal, std::max(edges[i].offset, Dot(edges[i].normal, p))};
  }
  return edges.size();
}

}  // namespace arclane
