// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/clearance_measurement.h"

#include <algorithm>
#include <cmath>

#include "server/planning/geometry/distance.h"
#include "server/planning/geometry/nearness.h"

namespace arclane {
namespace {

// Of the stop check: the distances from the walls of a cell.
constexpr uint64_t kMeasuredCellSteps = 16;

// Whether the segment pq lies further than `radius` to one side of the line through a and b.
bool IsBeside(Vec2 a, Vec2 b, Vec2 p, Vec2 q, double radius) {
  const Vec2 along = b - a;
  const double at_p = Cross(along, p - a);
  const double at_q = Cross(along, q - a);
  if (at_p * at_q <= 0.0) return false;
  const double nearer = std::min(std::abs(at_p), std::abs(at_q));
  // A few roundings more than the radius: what is decided here is decided for good.
  constexpr double kClearly = 1.0 + 1e-9;
  return nearer * nearer > kClearly * radius * radius * SquaredNorm(along);
}

}  // namespace

ParameterInterval BoxedWalls::BoxedWall::Near(Vec2 a, Vec2 b, Vec2 from, Vec2 to,
                                              double radius) const {
  if (!CanBeNear(from, to, radius) || IsBeside(a, b, wall.a, wall.b, radius) ||
      IsBeside(wall.a, wall.b, a, b, radius)) {
    return {};
  }
  return NearSegment(a, b, wall.a, wall.b, radius);
}

void BoxedWalls::Collect(const Corridor& corridor) {
  walls_.Collect(corridor);
  boxed_.clear();
  begin_.assign(1, 0);
  for (size_t k = 0; k < corridor.cell_count(); ++k) {
    const std::span<const Wall> walls = walls_.cell(k);
    for (size_t i = 0; i < walls.size(); ++i) {
      const Wall& wall = walls[i];
      if (wall.a == wall.b) {
        // Points stand behind the cell's other walls.
        const auto ends_there = [&wall](const BoxedWall& other) {
          return other.wall.is_left == wall.is_left &&
                 (other.wall.a == wall.a || other.wall.b == wall.a);
        };
        if (std::any_of(boxed_.begin() + begin_.back(), boxed_.end(), ends_there)) continue;
      }
      boxed_.push_back({wall,
                        {std::min(wall.a.x, wall.b.x), std::min(wall.a.y, wall.b.y)},
                        {std::max(wall.a.x, wall.b.x), std::max(wall.a.y, wall.b.y)}});
    }
    begin_.push_back(static_cast<uint32_t>(boxed_.size()));
  }
}

void ClearanceMeter::Measure(const Corridor& corridor, const BoxedWalls& walls,
                             std::span<const Vec2> points, std::span<const double> distances,
                             std::span<const PortalCrossing> crossings, double clearance,
                             double slack, PacedStopCheck& stop,
                             std::vector<ClearanceShortfall>* shortfalls) {
  shortfalls->clear();
  stretches_.clear();
  const double radius =
      clearance - std::max({corridor.tolerance, kClearanceAccuracy * clearance, slack});
  if (!(radius > 0.0)) return;
  size_t k = 0;
  for (size_t j = 0; j + 1 < points.size(); ++j) {
    Vec2 from = points[j];
    double at = distances[j];
    while (k < crossings.size() && crossings[k].distance < distances[j + 1]) {
      const double crossing = std::max(at, crossings[k].distance);
      MeasurePiece(corridor, walls, k, from, crossings[k].point, at, crossing, radius);
      from = crossings[k].point;
      at = crossing;
      ++k;
      if (stop.After(kMeasuredCellSteps)) return;
    }
    MeasurePiece(corridor, walls, k, from, points[j + 1], at, distances[j + 1], radius);
    if (stop.After(kMeasuredCellSteps)) return;
  }
  std::sort(stretches_.begin(), stretches_.end(),
            [](const NearStretch& a, const NearStretch& b) { return a.begin < b.begin; });
  for (const NearStretch& stretch : stretches_) {
    if (!shortfalls->empty() &&
        stretch.begin <= shortfalls->back().end_distance + corridor.tolerance) {
      ClearanceShortfall& last = shortfalls->back();
      last.end_distance = std::max(last.end_distance, stretch.end);
      last.measured = std::min(last.measured, stretch.distance);
    } else {
      shortfalls->push_back({stretch.begin, stretch.end, stretch.distance, clearance});
    }
  }
}

void ClearanceMeter::MeasurePiece(const Corridor& corridor, const BoxedWalls& walls, size_t cell,
                                  Vec2 a, Vec2 b, double begin, double end, double radius) {
  const double length = end - begin;
  const Vec2 low = {std::min(a.x, b.x), std::min(a.y, b.y)};
  const Vec2 high = {std::max(a.x, b.x), std::max(a.y, b.y)};
  // Once the whole piece is too near, walls that are further away than the nearest change nothing.
  double reach = radius;
  VisitCellsNear(corridor, cell, cell, low, high, reach, [&](size_t k) {
    for (const BoxedWalls::BoxedWall& boxed : walls.cell(k)) {
      if (!boxed.CanBeNear(low, high, reach)) continue;
      const ParameterInterval near = boxed.Near(a, b, low, high, radius);
      if (near.empty()) continue;
      const double measured = std::sqrt(SquaredSegmentDistance(a, b, boxed.wall.a, boxed.wall.b));
      stretches_.push_back({begin + near.low * length, begin + near.high * length, measured});
      if (near.low <= 0.0 && near.high >= 1.0) reach = std::min(reach, measured);
    }
  });
}

}  // namespace arclane
