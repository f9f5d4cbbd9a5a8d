// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/wall_clearance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "server/planning/geometry/distance.h"

namespace arclane {
namespace {

// Distances are formed from a few differences and one square root: some units in the last place of
// the coordinates.
constexpr double kDistanceUlps = 256.0;

// The work of a distance between an element and a wall, in half-plane tests; looking at a wall that
// is far away costs one.
constexpr uint64_t kWallWork = 4;

}  // namespace

WallClearance::WallClearance(const Corridor& corridor, std::span<const TautLine> taut,
                             double clearance, bool reversed, PacedStopCheck& stop) {
  double largest = 0.0;
  for (const Vec2 p : corridor.cell_vertices) {
    largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
  }
  Collect(corridor, clearance, reversed);
  const auto count = static_cast<uint32_t>(corridor.cell_count());
  // At first by the cells beside each line only: what is wanted of a wall is then at most half of
  // the corridor's width there or so, which bounds from how far it has to be looked at.
  const auto lower = [&](const auto& first_of, const auto& last_of) {
    for (const TautLine& line : taut) {
      const uint32_t first = first_of(line.first_cell);
      const uint32_t last = last_of(line.last_cell);
      LowerTo(line, first, last);
      if (stop.After(kWallWork * (begin_[last + 1] - begin_[first]))) return;
    }
  };
  lower([](uint32_t cell) { return cell > 0 ? cell - 1 : 0; },
        [count](uint32_t cell) { return std::min(cell + 1, count - 1); });
  FindReach(corridor, reversed, stop);
  if (stop.stopped()) return;
  lower([this](uint32_t cell) { return near_first_[cell]; },
        [this](uint32_t cell) { return near_last_[cell]; });
  DropUnwanted(kDistanceUlps * std::numeric_limits<double>::epsilon() * largest);
}

void WallClearance::Collect(const Corridor& corridor, double clearance, bool reversed) {
  CorridorWalls walls;
  walls.Collect(corridor);
  const size_t count = corridor.cell_count();
  begin_.push_back(0);
  for (size_t index = 0; index < count; ++index) {
    for (const Wall& wall : walls.cell(reversed ? count - 1 - index : index)) {
      walls_.push_back({wall.a, wall.b, clearance, BoxOf(wall.a, wall.b)});
    }
    begin_.push_back(static_cast<uint32_t>(walls_.size()));
  }
}

void WallClearance::LowerTo(const TautLine& line, uint32_t first, uint32_t last) {
  const Box box = BoxOf(line.from, line.to);
  for (uint32_t i = begin_[first]; i < begin_[last + 1]; ++i) {
    KeptWall& wall = walls_[i];
    Box near = wall.box;
    near.Grow(wall.wanted);
    if (!box.Meets(near)) continue;
    const double squared = SquaredSegmentDistance(line.from, line.to, wall.a, wall.b);
    if (squared < wall.wanted * wall.wanted) wall.wanted = std::sqrt(squared);
  }
}

void WallClearance::FindReach(const Corridor& corridor, bool reversed, PacedStopCheck& stop) {
  const auto count = static_cast<uint32_t>(corridor.cell_count());
  near_first_.resize(count);
  near_last_.resize(count);
  // Between cells k and k + 1.
  const auto portal = [&](uint32_t k) -> const Portal& {
    return corridor.portals[reversed ? count - 2 - k : k];
  };
  const auto between = [&](uint32_t i, uint32_t j) {
    return SegmentDistance(portal(i).left, portal(i).right, portal(j).left, portal(j).right);
  };
  for (uint32_t k = 0; k < count; ++k) {
    near_first_[k] = k > 0 ? k - 1 : 0;
    near_last_[k] = std::min(k + 1, count - 1);
  }
  for (uint32_t m = 0; m < count; ++m) {
    double wanted = 0.0;
    for (uint32_t i = begin_[m]; i < begin_[m + 1]; ++i)
      wanted = std::max(wanted, walls_[i].wanted);
    uint32_t seen = 0;
    // From cell k before m a wall of m is seen through the portals k to m - 1; likewise behind.
    for (uint32_t k = m; k-- > 1 && between(k - 1, m - 1) < wanted; ++seen) {
      near_last_[k - 1] = std::max(near_last_[k - 1], m);
    }
    for (uint32_t k = m + 1; k + 1 < count && between(m, k) < wanted; ++k, ++seen) {
      near_first_[k + 1] = std::min(near_first_[k + 1], m);
    }
    if (stop.After(kWallWork * (1 + seen))) return;
  }
  for (uint32_t k = 1; k < count; ++k) near_last_[k] = std::max(near_last_[k], near_last_[k - 1]);
  for (uint32_t k = count - 1; k-- > 0;)
    near_first_[k] = std::min(near_first_[k], near_first_[k + 1]);
}

// Walls that the taut path touches are kept from by containment alone.
void WallClearance::DropUnwanted(double tolerance) {
  uint32_t kept = 0;
  uint32_t i = 0;
  for (size_t cell = 0; cell + 1 < begin_.size(); ++cell) {
    const uint32_t limit = begin_[cell + 1];
    begin_[cell] = kept;
    for (; i < limit; ++i) {
      KeptWall wall = walls_[i];
      wall.wanted -= tolerance;
      if (!(wall.wanted > 0.0)) continue;
      wall.box.Grow(wall.wanted);
      walls_[kept++] = wall;
    }
  }
  begin_.back() = kept;
  walls_.resize(kept);
}

std::span<const WallClearance::KeptWall> WallClearance::Near(uint32_t first, uint32_t last) const {
  return {walls_.data() + begin_[near_first_[first]], walls_.data() + begin_[near_last_[last] + 1]};
}

bool WallClearance::LineKeeps(Vec2 from, Vec2 to, uint32_t first, uint32_t last,
                              uint64_t& work) const {
  const Box box = BoxOf(from, to);
  const std::span<const KeptWall> near = Near(first, last);
  work += near.size();
  for (const KeptWall& wall : near) {
    if (!box.Meets(wall.box)) continue;
    work += kWallWork;
    if (SquaredSegmentDistance(from, to, wall.a, wall.b) < wall.wanted * wall.wanted) return false;
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
  const Box box{center - Vec2{size, size}, center + Vec2{size, size}};
  const std::span<const KeptWall> near = Near(first, last);
  work += near.size();
  for (const KeptWall& wall : near) {
    if (!box.Meets(wall.box)) continue;
    work += kWallWork;
    const double wanted_squared = wall.wanted * wall.wanted;
    if (SquaredDistanceToSegment(begin, wall.a, wall.b) < wanted_squared) return false;
    if (SquaredDistanceToSegment(end, wall.a, wall.b) < wanted_squared) return false;
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
