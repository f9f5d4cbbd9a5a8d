// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/wall_clearance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "server/planning/rounding/disc_path.h"

namespace arclane {
namespace {

// Distances are formed from a few differences and one square root: some units in the last place of
// the coordinates.
constexpr double kToleranceUlps = 256.0;

// The work of a distance between an element and a wall, in half-plane tests.
constexpr uint64_t kWallWork = 4;

double SquaredDistance(Vec2 p, Vec2 a, Vec2 b) {
  const Vec2 along = b - a;
  const double squared = SquaredNorm(along);
  const double t = squared > 0.0 ? std::clamp(Dot(p - a, along) / squared, 0.0, 1.0) : 0.0;
  return SquaredNorm(p - (a + along * t));
}

double SquaredDistance(Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  const double abc = Cross(b - a, c - a);
  const double abd = Cross(b - a, d - a);
  const double cda = Cross(d - c, a - c);
  const double cdb = Cross(d - c, b - c);
  if (abc * abd < 0.0 && cda * cdb < 0.0) return 0.0;
  return std::min({SquaredDistance(a, c, d), SquaredDistance(b, c, d), SquaredDistance(c, a, b),
                   SquaredDistance(d, a, b)});
}

// Cuts the projection of the portal out of the parts [0, 1] of edge a-b that are still wall.
struct WallParts {
  std::vector<std::pair<double, double>> part;
  void Remove(double from, double to) {
    std::vector<std::pair<double, double>> rest;
    for (const auto& [begin, end] : part) {
      if (begin < std::min(end, from)) rest.emplace_back(begin, std::min(end, from));
      if (std::max(begin, to) < end) rest.emplace_back(std::max(begin, to), end);
    }
    part = std::move(rest);
  }
};

double LineDistance(Vec2 p, Vec2 a, Vec2 b) {
  const double length = Distance(a, b);
  return length > 0.0 ? std::abs(Cross(b - a, p - a)) / length : Distance(p, a);
}

}  // namespace

WallClearance::WallClearance(const Corridor& corridor, std::span<const Vec2> taut, double clearance,
                             bool reversed) {
  double largest = 0.0;
  for (const Vec2 p : corridor.cell_vertices) {
    largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
  }
  const double tolerance = kToleranceUlps * std::numeric_limits<double>::epsilon() * largest;
  const auto add = [&](Vec2 a, Vec2 b) {
    double nearest = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i + 1 < taut.size(); ++i) {
      nearest = std::min(nearest, SquaredDistance(taut[i], taut[i + 1], a, b));
    }
    const double wanted = std::min(clearance, std::sqrt(nearest)) - tolerance;
    if (wanted > 0.0) walls_.push_back({a, b, wanted});
  };
  const size_t count = corridor.cell_count();
  begin_.push_back(0);
  for (size_t index = 0; index < count; ++index) {
    const size_t k = reversed ? count - 1 - index : index;
    const auto cell = corridor.cell(k);
    std::vector<WallParts> parts(cell.size());
    for (WallParts& edge : parts) edge.part.emplace_back(0.0, 1.0);
    for (size_t p = k > 0 ? k - 1 : k; p < std::min(k + 1, corridor.portals.size()); ++p) {
      const Portal& portal = corridor.portals[p];
      double best = std::numeric_limits<double>::infinity();
      const auto off_edge = [&](size_t i) {
        const Vec2 a = cell[i];
        const Vec2 b = cell[(i + 1) % cell.size()];
        return std::max(LineDistance(portal.left, a, b), LineDistance(portal.right, a, b));
      };
      for (size_t i = 0; i < cell.size(); ++i) best = std::min(best, off_edge(i));
      for (size_t i = 0; i < cell.size(); ++i) {
        if (off_edge(i) > best + corridor.tolerance) continue;
        const Vec2 a = cell[i];
        const Vec2 along = cell[(i + 1) % cell.size()] - a;
        const double squared = SquaredNorm(along);
        if (!(squared > 0.0)) continue;
        const double from = Dot(portal.left - a, along) / squared;
        const double to = Dot(portal.right - a, along) / squared;
        parts[i].Remove(std::min(from, to), std::max(from, to));
      }
      // Portal ends lie on walls, even where their cell has no wall of its own there.
      add(portal.left, portal.left);
      add(portal.right, portal.right);
    }
    for (size_t i = 0; i < cell.size(); ++i) {
      const Vec2 a = cell[i];
      const Vec2 along = cell[(i + 1) % cell.size()] - a;
      for (const auto& [from, to] : parts[i].part) {
        // Slivers that rounding leaves beside a portal are no walls.
        if ((to - from) * Norm(along) > corridor.tolerance) add(a + along * from, a + along * to);
      }
    }
    begin_.push_back(static_cast<uint32_t>(walls_.size()));
  }
}

bool WallClearance::LineKeeps(Vec2 from, Vec2 to, uint32_t first, uint32_t last,
                              uint64_t& work) const {
  const uint32_t limit = std::min<uint32_t>(last + 2, static_cast<uint32_t>(begin_.size() - 1));
  const uint32_t begin_wall = begin_[first > 0 ? first - 1 : 0];
  work += kWallWork * (begin_[limit] - begin_wall);
  for (uint32_t i = begin_wall; i < begin_[limit]; ++i) {
    const Wall& wall = walls_[i];
    if (SquaredDistance(from, to, wall.a, wall.b) < wall.wanted * wall.wanted) return false;
  }
  return true;
}

bool WallClearance::ArcKeeps(Vec2 center, double radius, Vec2 in, Vec2 out, double sweep,
                             uint32_t first, uint32_t last, uint64_t& work) const {
  const double side = radius < 0.0 ? -1.0 : 1.0;
  const double size = std::abs(radius);
  const Vec2 to_begin = -side * LeftNormal(in);
  const Vec2 to_end = -side * LeftNormal(out);
  const auto passes = [&](Vec2 direction) {
    const bool after = side * Cross(to_begin, direction) >= 0.0;
    const bool before = side * Cross(direction, to_end) >= 0.0;
    return sweep > std::numbers::pi ? after || before : after && before;
  };
  const Vec2 begin = center + size * to_begin;
  const Vec2 end = center + size * to_end;
  const uint32_t limit = std::min<uint32_t>(last + 2, static_cast<uint32_t>(begin_.size() - 1));
  const uint32_t begin_wall = begin_[first > 0 ? first - 1 : 0];
  work += kWallWork * (begin_[limit] - begin_wall);
  for (uint32_t i = begin_wall; i < begin_[limit]; ++i) {
    const Wall& wall = walls_[i];
    const double wanted_squared = wall.wanted * wall.wanted;
    if (SquaredDistance(begin, wall.a, wall.b) < wanted_squared) return false;
    if (SquaredDistance(end, wall.a, wall.b) < wanted_squared) return false;
    const Vec2 along = wall.b - wall.a;
    const double squared = SquaredNorm(along);
    const double t =
        squared > 0.0 ? std::clamp(Dot(center - wall.a, along) / squared, 0.0, 1.0) : 0.0;
    for (const Vec2 p : {wall.a, wall.b, wall.a + along * t}) {
      const Vec2 direction = p - center;
      if (!passes(direction)) continue;
      const double gap = Norm(direction) - size;
      if (std::abs(gap) < wall.wanted) return false;
    }
  }
  return true;
}

}  // namespace arclane
