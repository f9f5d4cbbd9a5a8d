// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/verification.h"

#include <algorithm>
#include <limits>

#include "server/planning/corridor/smallest_deviation.h"
#include "server/planning/geometry/distance.h"
#include "server/planning/geometry/polygon.h"

namespace arclane {
namespace {

// The first look: walks along the line, portal by portal.
class LineWalk {
 public:
  LineWalk(const Corridor& corridor, double tolerance, std::vector<PortalCrossing>* crossings)
      : corridor_(corridor), tolerance_(tolerance), crossings_(crossings) {}

  Deviation Run(std::span<const Vec2> points) {
    CheckEnds(points.front(), points.back());
    point_ = points.front();
    CheckInCell(point_);
    for (size_t j = 1; j < points.size(); ++j) WalkSegment(points[j - 1], points[j]);
    at_ = point_ = points.back();
    // Portals that the line never reached are missed by its end.
    while (next_ < corridor_.portals.size()) {
      const Portal& portal = corridor_.portals[next_];
      Cross(point_, 0.0, DistanceToSegment(point_, portal.left, portal.right));
    }
    CheckInCell(point_);
    worst_.along = std::max(worst_.along, 0.0);
    return worst_;
  }

 private:
  void CheckEnds(Vec2 first, Vec2 last) {
    Record(Distance(first, corridor_.start), DeviationKind::kEnd, 0, first, 0.0);
    Record(Distance(last, corridor_.goal), DeviationKind::kEnd, 1, last, 0.0);
  }

  void WalkSegment(Vec2 a, Vec2 b) {
    const double length = Distance(a, b);
    reached_ = 0.0;
    at_ = a;
    bool b_is_on_portal = false;
    while (next_ < corridor_.portals.size() && CrossNext(a, b, length)) b_is_on_portal = at_ == b;
    begin_ += length;
    if (!b_is_on_portal) {
      reached_ = 0.0;
      CheckInCell(b);
    }
  }

  // Crosses the next portal on what is left of segment ab; false when the line goes on to b in this
  // cell.
  bool CrossNext(Vec2 a, Vec2 b, double length) {
    const Portal& portal = corridor_.portals[next_];
    const Vec2 across = portal.right - portal.left;
    const double squared_width = SquaredNorm(across);
    if (!(squared_width > 0.0)) return CrossPoint(portal.left, a, b, length);
    // Positive in front of the portal's line.
    const double front_a = arclane::Cross(across, a - portal.right);
    const double front_b = arclane::Cross(across, b - portal.right);
    if (front_b < 0.0) {
      // The line turns back just before the portal, or a corner stands on the other copy of a
      // seam's vertex.
      const double miss = DistanceToSegment(b, portal.left, portal.right);
      if (miss > tolerance_) return false;
      MoveTo(1.0, a, b);
      Cross(b, length, miss);
      return true;
    }
    const double t = front_a < 0.0 ? front_a / (front_a - front_b) : 0.0;
    const double reached_before = reached_;
    const Vec2 at_before = at_;
    MoveTo(t, a, b);
    const double along = Dot(at_ - portal.left, across);
    double miss = 0.0;
    if (along < 0.0 || along > squared_width || t < reached_before || front_a >= 0.0) {
      miss = DistanceToSegment(at_, portal.left, portal.right);
    }
    // b lies on the portal's line, within rounding, but beside the portal: the line touches a wall
    // there and crosses later.
    if (miss > tolerance_ &&
        DistanceToConvex(corridor_.cell(next_), b) <= std::min(miss, tolerance_)) {
      reached_ = reached_before;
      at_ = at_before;
      return false;
    }
    Cross(at_, reached_ * length, miss);
    return true;
  }

  // A portal of no length is crossed where the line first comes within the tolerance of it.
  bool CrossPoint(Vec2 p, Vec2 a, Vec2 b, double length) {
    const double t = std::max(reached_, ClosestParameterOnSegment(p, a, b));
    const Vec2 closest = t >= 1.0 ? b : Lerp(a, b, t);
    const double miss = Distance(closest, p);
    if (miss > tolerance_) return false;
    MoveTo(t, a, b);
    Cross(at_, reached_ * length, miss);
    return true;
  }

  void MoveTo(double t, Vec2 a, Vec2 b) {
    if (t <= reached_) return;
    reached_ = t;
    at_ = t >= 1.0 ? b : Lerp(a, b, t);
  }

  void Cross(Vec2 at, double along, double miss) {
    Record(miss, DeviationKind::kPortal, next_, at, begin_ + along);
    if (crossings_ != nullptr) crossings_->push_back({begin_ + along, at});
    ++next_;
  }

  void CheckInCell(Vec2 p) {
    Record(DistanceToConvex(corridor_.cell(next_), p), DeviationKind::kCell, next_, p, begin_);
  }

  void Record(double distance, DeviationKind kind, size_t index, Vec2 where, double along) {
    if (!(distance > worst_.distance)) return;
    worst_ = {distance, kind, static_cast<uint32_t>(index), where, along};
  }

  const Corridor& corridor_;
  const double tolerance_;
  std::vector<PortalCrossing>* crossings_;
  size_t next_ = 0;       // The portal to be crossed next, thus the cell the line is in.
  double begin_ = 0.0;    // The distance at the current segment's begin.
  double reached_ = 0.0;  // The parameter on the current segment up to which it has been walked.
  Vec2 at_;               // The point there.
  Vec2 point_;
  Deviation worst_;
};

}  // namespace

Deviation VerifyLine(const Corridor& corridor, std::span<const Vec2> points, double tolerance,
                     std::vector<PortalCrossing>* crossings) {
  if (crossings != nullptr) crossings->clear();
  if (points.empty()) {
    return {std::numeric_limits<double>::infinity(), DeviationKind::kEnd, 0, corridor.start, 0.0};
  }
  const Deviation first = LineWalk(corridor, tolerance, crossings).Run(points);
  if (first.distance <= tolerance || points.size() < 2 || first.kind == DeviationKind::kEnd ||
      corridor.portals.size() > kMaxPortalsOfSecondLook) {
    return first;
  }
  return SmallestDeviation(corridor, points, first, crossings);
}

}  // namespace arclane
