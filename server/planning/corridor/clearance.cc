// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/clearance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "server/planning/geometry/distance.h"
#include "server/planning/geometry/nearness.h"

namespace arclane {
namespace {

// Tangents about a vertex turn by at most this much from one to the next: their corners stand out
// of the circle by sec(15 degrees) - 1, less than 4%.
constexpr double kMaxTangentTurn = std::numbers::pi / 6.0;
// Leading the line round one vertex can bring it near another; after so many rounds it is taken as
// it is, and measured.
constexpr int kMaxRounds = 8;
// Where an end of a segment is itself too near, this part of its distance may be lost on the way.
constexpr double kEndMargin = 0.04;
// Shortfalls below this part of the clearance are rounding.
constexpr double kRelativeAccuracy = 1e-9;
// Of the stop check: the distances from the walls of a cell, and the verification of a portal.
constexpr uint64_t kCellSteps = 16;
constexpr uint64_t kCrossingSteps = 16;

Vec2 Rotated(Vec2 v, double angle) {
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  return {c * v.x - s * v.y, s * v.x + c * v.y};
}

bool IsOpen(const Portal& portal, double tolerance) {
  return portal.kind == PortalKind::kEdge &&
         SquaredNorm(portal.left - portal.right) > tolerance * tolerance;
}

void AssignLine(Vec2 start, std::span<const PathCorner> corners, Vec2 goal,
                std::vector<Vec2>* points) {
  points->clear();
  points->push_back(start);
  for (const PathCorner& corner : corners) points->push_back(corner.point);
  points->push_back(goal);
}

}  // namespace

bool ClearancePlanner::FindPath(const Corridor& corridor, double clearance, CorridorPath* path,
                                std::vector<ClearanceShortfall>* shortfalls, StopCheck stop) {
  PacedStopCheck paced(stop);
  stop_ = &paced;
  FindPathUnlessStopped(corridor, clearance, path, shortfalls);
  stop_ = nullptr;
  return !paced.Now();
}

void ClearancePlanner::FindPathUnlessStopped(const Corridor& corridor, double clearance,
                                             CorridorPath* path,
                                             std::vector<ClearanceShortfall>* shortfalls) {
  shortfalls->clear();
  if (!(clearance > 0.0)) {
    funnel_.FindShortestPath(corridor, path);
    return;
  }
  walls_.Collect(corridor);
  FindRadii(corridor, clearance);
  InsetPortals(corridor);
  if (Stopped(corridor.portals.size())) return;
  funnel_.FindShortestPath(corridor.start, corridor.goal, inset_, corridor.tolerance,
                           corridor.turns_back, path);
  DropStraightCorners(corridor, &path->corners);

  const double tolerance = 2.0 * corridor.tolerance;
  corners_ = path->corners;
  AssignLine(path->start, corners_, path->goal, &points_);
  const double deviation = VerifyLine(corridor, points_, tolerance, &crossings_).distance;
  for (int round = 0; round < kMaxRounds && RoundVertices(corridor); ++round) {
    if (Stopped(kCrossingSteps * corridor.portals.size())) return;
    AssignLine(path->start, rounded_, path->goal, &points_);
    // No room there: the line stays as it was.
    if (VerifyLine(corridor, points_, tolerance, &crossings_).distance >
        std::max(tolerance, deviation)) {
      break;
    }
    corners_.swap(rounded_);
  }
  path->corners = corners_;
  path->length = PathLength(*path);
  AssignLine(path->start, path->corners, path->goal, &points_);
  VerifyLine(corridor, points_, tolerance, &crossings_);
  MeasureClearance(corridor, points_, crossings_, clearance, shortfalls);
}

template <typename Visit>
void ClearancePlanner::VisitCellsNear(const Corridor& corridor, size_t k, Vec2 a, Vec2 b,
                                      double distance, const Visit& visit) const {
  visit(k);
  const auto is_near = [&](const Portal& portal) {
    return portal.kind == PortalKind::kEdge &&
           SegmentDistance(a, b, portal.left, portal.right) < distance;
  };
  for (size_t i = k; i > 0 && is_near(corridor.portals[i - 1]); --i) {
    if (Stopped(kCellSteps)) return;
    visit(i - 1);
  }
  for (size_t i = k; i < corridor.portals.size() && is_near(corridor.portals[i]); ++i) {
    if (Stopped(kCellSteps)) return;
    visit(i + 1);
  }
}

// --- Radii and insets ---

void ClearancePlanner::FindRadii(const Corridor& corridor, double clearance) {
  const size_t count = corridor.portals.size();
  left_.resize(count);
  right_.resize(count);
  for (size_t i = 0; i < count && !Stopped(kCellSteps); ++i) {
    left_[i] = VertexOf(corridor, i, /*is_left=*/true, clearance);
    right_[i] = VertexOf(corridor, i, /*is_left=*/false, clearance);
  }
}

ClearancePlanner::WallVertex ClearancePlanner::VertexOf(const Corridor& corridor, size_t portal,
                                                        bool is_left, double clearance) const {
  const Portal& p = corridor.portals[portal];
  const Vec2 vertex = is_left ? p.left : p.right;
  if (!IsOpen(p, corridor.tolerance)) return {vertex, 0.0};
  double gap = 2.0 * clearance;
  VisitCellsNear(corridor, portal, vertex, vertex, gap, [&](size_t cell) {
    for (const Wall& wall : walls_.cell(cell)) {
      if (wall.is_left == is_left) continue;
      gap = std::min(gap, DistanceToSegment(vertex, wall.a, wall.b));
    }
  });
  return {vertex, 0.5 * gap};
}

// How far along the portal, from its end, walls on that side are nearer than the radius.
double ClearancePlanner::InsetOf(const Corridor& corridor, size_t portal, bool is_left) const {
  const Portal& p = corridor.portals[portal];
  const Vec2 from = is_left ? p.left : p.right;
  const Vec2 to = is_left ? p.right : p.left;
  const double radius = is_left ? left_[portal].radius : right_[portal].radius;
  double inset = 0.0;
  VisitCellsNear(corridor, portal, from, to, radius, [&](size_t cell) {
    for (const Wall& wall : walls_.cell(cell)) {
      if (wall.is_left != is_left) continue;
      const ParameterInterval near = NearSegment(from, to, wall.a, wall.b, radius);
      // What is near again further on is no part of this end.
      if (!near.empty() && near.low <= 0.5) inset = std::max(inset, near.high);
    }
  });
  return std::min(inset, 0.5);
}

void ClearancePlanner::InsetPortals(const Corridor& corridor) {
  inset_ = corridor.portals;
  for (size_t i = 0; i < inset_.size() && !Stopped(kCellSteps); ++i) {
    const Portal& portal = corridor.portals[i];
    if (!IsOpen(portal, corridor.tolerance)) continue;
    const double left = InsetOf(corridor, i, /*is_left=*/true);
    const double right = InsetOf(corridor, i, /*is_left=*/false);
    inset_[i].left = Lerp(portal.left, portal.right, left);
    inset_[i].right =
        left == 0.5 && right == 0.5 ? inset_[i].left : Lerp(portal.right, portal.left, right);
  }
}

// A portal that was shortened to its middle is no point that the line must show.
void ClearancePlanner::DropStraightCorners(const Corridor& corridor,
                                           std::vector<PathCorner>* corners) const {
  Vec2 before = corridor.start;
  size_t kept = 0;
  for (size_t i = 0; i < corners->size(); ++i) {
    const PathCorner corner = (*corners)[i];
    const Vec2 after = i + 1 < corners->size() ? (*corners)[i + 1].point : corridor.goal;
    const bool may_drop = corner.side == CornerSide::kPoint &&
                          IsOpen(corridor.portals[corner.portal], corridor.tolerance);
    if (may_drop && DistanceToSegment(corner.point, before, after) <= corridor.tolerance) continue;
    const bool turns_left = Cross(corner.point - before, after - corner.point) >= 0.0;
    before = corner.point;
    (*corners)[kept] = corner;
    if (may_drop) (*corners)[kept].side = turns_left ? CornerSide::kLeft : CornerSide::kRight;
    ++kept;
  }
  corners->resize(kept);
}

// --- Tangents about vertices ---

// One round over corners_ into rounded_, by the crossings of the current line; true when something
// changed.
bool ClearancePlanner::RoundVertices(const Corridor& corridor) {
  rounded_.clear();
  bool changed = false;
  double distance = 0.0;
  Vec2 a = corridor.start;
  size_t portal = 0;
  for (size_t i = 0; i <= corners_.size() && !Stopped(kCellSteps); ++i) {
    const PathCorner b =
        i < corners_.size() ? corners_[i] : PathCorner{corridor.goal, 0, CornerSide::kPoint};
    distance += Distance(a, b.point);
    const size_t first = portal;
    while (portal < crossings_.size() && crossings_[portal].distance < distance) ++portal;
    changed |= RoundVerticesOfSegment(corridor, first, portal, a, b);
    if (i < corners_.size()) rounded_.push_back(b);
    a = b.point;
  }
  return changed;
}

// The segment from a to b crosses portals [first_portal, portal_limit). Adds the corners of the way
// round the vertex that it comes too near to, by the largest part of the radius, if any.
bool ClearancePlanner::RoundVerticesOfSegment(const Corridor& corridor, size_t first_portal,
                                              size_t portal_limit, Vec2 a, const PathCorner& b) {
  struct Worst {
    WallVertex vertex;
    size_t portal = 0;
    bool is_left = false;
    double lack = 0.0;
  } worst;
  const auto consider = [&](size_t i, bool is_left) {
    const WallVertex& vertex = is_left ? left_[i] : right_[i];
    // An end of the segment that is nearer cannot be helped here: the line only must not come
    // nearer still.
    const double radius =
        std::min({vertex.radius, Distance(a, vertex.point), Distance(b.point, vertex.point)});
    const double lack = radius - DistanceToSegment(vertex.point, a, b.point);
    // The corners of the way round stand further out than such an end: without a margin each round
    // would find some more.
    const bool end_is_nearer = radius < (1.0 - kRelativeAccuracy) * vertex.radius;
    const double margin = end_is_nearer ? kEndMargin : kRelativeAccuracy;
    if (lack <= std::max(corridor.tolerance, margin * radius)) return;
    if (lack > worst.lack) worst = {{vertex.point, radius}, i, is_left, lack};
  };
  // Portals just behind and ahead, as long as they are near.
  const auto is_near = [&](size_t i) {
    const double radius = std::max(left_[i].radius, right_[i].radius);
    return radius > 0.0 && SegmentDistance(a, b.point, corridor.portals[i].left,
                                           corridor.portals[i].right) <= radius;
  };
  size_t begin = first_portal;
  while (begin > 0 && is_near(begin - 1)) --begin;
  size_t limit = portal_limit;
  while (limit < corridor.portals.size() && is_near(limit)) ++limit;
  for (size_t i = begin; i < limit; ++i) {
    consider(i, true);
    consider(i, false);
  }
  if (!(worst.lack > 0.0)) return false;

  // With the vertex on the left the way round it turns left: from a's tangent point to b's,
  // counter-clockwise.
  const double turn_sign = worst.is_left ? 1.0 : -1.0;
  const Vec2 centre = worst.vertex.point;
  const double radius = worst.vertex.radius;
  const auto tangent_point = [&](Vec2 from, double sign) {
    const Vec2 out = from - centre;
    const double distance = Norm(out);
    const double angle = std::acos(std::min(1.0, radius / distance));
    return Rotated(out * (1.0 / distance), sign * angle);
  };
  const Vec2 begin_direction = tangent_point(a, turn_sign);
  const Vec2 end_direction = tangent_point(b.point, -turn_sign);
  const double turn = turn_sign * TurnAngle(begin_direction, end_direction);
  if (!(turn > 0.0)) return false;
  const int count = std::max(1, static_cast<int>(std::ceil(turn / kMaxTangentTurn)));
  const double half_step = 0.5 * turn / count;
  const double corner_radius = radius / std::cos(half_step);
  for (int j = 0; j < count; ++j) {
    const Vec2 direction = Rotated(begin_direction, turn_sign * half_step * (2 * j + 1));
    rounded_.push_back({centre + direction * corner_radius, static_cast<uint32_t>(worst.portal),
                        worst.is_left ? CornerSide::kLeft : CornerSide::kRight});
  }
  return true;
}

// --- Measuring ---

void ClearancePlanner::MeasureClearance(const Corridor& corridor, std::span<const Vec2> points,
                                        std::span<const PortalCrossing> crossings, double clearance,
                                        std::vector<ClearanceShortfall>* shortfalls) {
  shortfalls->clear();
  stretches_.clear();
  walls_.Collect(corridor);
  double distance = 0.0;
  size_t k = 0;
  for (size_t j = 0; j + 1 < points.size() && !Stopped(kCellSteps); ++j) {
    Vec2 from = points[j];
    double at = distance;
    distance += Distance(points[j], points[j + 1]);
    while (k < crossings.size() && crossings[k].distance < distance) {
      MeasurePiece(corridor, k, from, crossings[k].point, at, clearance);
      from = crossings[k].point;
      at = crossings[k].distance;
      ++k;
    }
    MeasurePiece(corridor, k, from, points[j + 1], at, clearance);
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

void ClearancePlanner::MeasurePiece(const Corridor& corridor, size_t k, Vec2 a, Vec2 b,
                                    double begin, double clearance) {
  const double length = Distance(a, b);
  const double radius = clearance - std::max(corridor.tolerance, kRelativeAccuracy * clearance);
  if (!(radius > 0.0)) return;
  VisitCellsNear(corridor, k, a, b, clearance, [&](size_t cell) {
    for (const Wall& wall : walls_.cell(cell)) {
      const ParameterInterval near = NearSegment(a, b, wall.a, wall.b, radius);
      if (near.empty()) continue;
      const double measured = SegmentDistance(a, b, wall.a, wall.b);
      stretches_.push_back({begin + near.low * length, begin + near.high * length, measured});
    }
  });
}

}  // namespace arclane
