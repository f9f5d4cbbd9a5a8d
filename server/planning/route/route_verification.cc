// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/route_verification.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "server/planning/geometry/polygon.h"

namespace arclane {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;
// The half-planes through a point that hold it alone.
constexpr Vec2 kAxes[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};

Vec2 CenterOf(const Segment& arc) {
  return arc.start + LeftNormal(UnitVector(arc.heading)) * (1.0 / arc.curvature);
}

// Distances along an arc, in (0, length), at which its radius points in direction `angle`.
template <typename Visit>
void VisitRadiusDirection(const Segment& arc, double angle, Visit visit) {
  // The radius vector's direction at the start, a quarter turn to the outside of the travel.
  const double side = arc.curvature > 0.0 ? 1.0 : -1.0;
  const double start = arc.heading - side * std::numbers::pi / 2.0;
  double turn = side * (angle - start);
  turn -= kTwoPi * std::floor(turn / kTwoPi);
  for (double s = turn / std::abs(arc.curvature); s < arc.length;
       s += kTwoPi / std::abs(arc.curvature)) {
    if (s > 0.0) visit(s);
  }
}

}  // namespace

void RouteVerifier::AddEnds(Vec2 a, Vec2 b) {
  points_.push_back(a);
  points_.push_back(b);
}

// The half-planes of cell k with its portals.
void RouteVerifier::LoadCell(const Corridor& corridor, size_t k) {
  const std::span<const Vec2> cell = corridor.cell(k);
  points_.assign(cell.begin(), cell.end());
  if (k > 0) AddEnds(corridor.portals[k - 1].left, corridor.portals[k - 1].right);
  if (k + 1 < corridor.cell_count()) AddEnds(corridor.portals[k].left, corridor.portals[k].right);
  if (k == 0) AddEnds(corridor.start, corridor.start);
  if (k + 1 == corridor.cell_count()) AddEnds(corridor.goal, corridor.goal);
  ConvexHull(points_, &hull_);
  edges_.clear();
  const auto add = [this](Vec2 normal, Vec2 through) {
    edges_.push_back({normal, -Dot(normal, through)});
  };
  for (size_t i = 0; i < hull_.size() && hull_.size() > 1; ++i) {
    const Vec2 a = points_[hull_[i]];
    const Vec2 b = points_[hull_[(i + 1) % hull_.size()]];
    const Vec2 along = (b - a) * (1.0 / Distance(a, b));
    add(LeftNormal(along), a);
    if (hull_.size() == 2) add(along, a);  // The caps of a cell that is a segment.
  }
  if (hull_.size() == 1) {
    for (const Vec2 normal : kAxes) add(normal, points_[hull_[0]]);
  }
}

// The places that the chain passes, in order: cells, and between two cells a portal of no length,
// whose point is where they are changed. (Where neighbours of a link overlap in the plan they share
// more than that point.)
void RouteVerifier::ListPlaces(const Corridor& corridor) {
  places_.clear();
  for (uint32_t k = 0; k < corridor.cell_count(); ++k) {
    if (k > 0 && corridor.portals[k - 1].left == corridor.portals[k - 1].right) {
      places_.push_back({k, true});
    }
    places_.push_back({k, false});
  }
}

void RouteVerifier::LoadPlace(const Corridor& corridor, Place place) {
  if (!place.is_point) return LoadCell(corridor, place.cell);
  const Vec2 p = corridor.portals[place.cell - 1].left;
  edges_.clear();
  for (const Vec2 normal : kAxes) edges_.push_back({normal, -Dot(normal, p)});
}

bool RouteVerifier::Inside(Vec2 p, double tolerance) const {
  for (const Edge& edge : edges_) {
    if (Dot(edge.normal, p) + edge.offset < -tolerance) return false;
  }
  return true;
}

// Every offset along the segment at which it can enter or leave the widened cell, sorted, both ends
// included.
void RouteVerifier::CollectCuts(const Segment& segment, double tolerance) {
  cuts_.assign({0.0, segment.length});
  const auto add = [&](double s) {
    if (s > 0.0 && s < segment.length) cuts_.push_back(s);
  };
  if (segment.kind == SegmentKind::kArc) {
    const Vec2 center = CenterOf(segment);
    const double radius = 1.0 / std::abs(segment.curvature);
    for (const Edge& edge : edges_) {
      const double cosine = (-tolerance - edge.offset - Dot(edge.normal, center)) / radius;
      if (!(std::abs(cosine) <= 1.0)) continue;
      const double spread = std::acos(cosine);
      const double base = Heading(edge.normal);
      VisitRadiusDirection(segment, base + spread, add);
      VisitRadiusDirection(segment, base - spread, add);
    }
  } else {
    const Vec2 direction = (segment.end - segment.start) * (1.0 / segment.length);
    for (const Edge& edge : edges_) {
      const double rate = Dot(edge.normal, direction);
      if (rate == 0.0) continue;
      add((-tolerance - edge.offset - Dot(edge.normal, segment.start)) / rate);
    }
  }
  std::sort(cuts_.begin(), cuts_.end());
}

// The first segment of positive length that ends behind the distance.
size_t RouteVerifier::SegmentAt(double distance) const {
  const auto at = std::partition_point(
      segments_.begin(), segments_.end(),
      [distance](const Segment& s) { return s.start_distance + s.length <= distance; });
  return at - segments_.begin();
}

// How far the chain stays in the loaded cell from a distance at which it is inside.
double RouteVerifier::StayUntil(double from, double tolerance) {
  for (size_t i = SegmentAt(from); i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    if (segment.length == 0.0) continue;
    const double begin = std::max(0.0, from - segment.start_distance);
    CollectCuts(segment, tolerance);
    for (size_t c = 0; c + 1 < cuts_.size(); ++c) {
      if (cuts_[c + 1] <= begin) continue;
      const double a = std::max(cuts_[c], begin);
      if (!Inside(PointAt(segment, 0.5 * (a + cuts_[c + 1])), tolerance)) {
        return segment.start_distance + a;
      }
    }
  }
  return length_;
}

void RouteVerifier::AddStay(double from, double entered_by, double tolerance) {
  const size_t begin = stays_begin_.back();
  if (stays_.size() > begin && stays_.back().to >= from) {
    stays_.back().entered_by = std::max(stays_.back().entered_by, entered_by);
    return;
  }
  const double to = StayUntil(entered_by, tolerance);
  stays_.push_back({from, entered_by, to});
}

// Adds the stays in the loaded cell that begin between two distances.
void RouteVerifier::CollectStays(double from, double to, double tolerance) {
  if (from == to || SegmentAt(from) == segments_.size()) {
    const size_t i = std::min(SegmentAt(from), segments_.size() - 1);
    if (Inside(PointAt(segments_[i], from - segments_[i].start_distance), tolerance)) {
      AddStay(from, from, tolerance);
    }
    return;
  }
  for (size_t i = SegmentAt(from); i < segments_.size() && segments_[i].start_distance < to; ++i) {
    const Segment segment = segments_[i];
    if (segment.length == 0.0) continue;
    const double begin = std::max(0.0, from - segment.start_distance);
    const double end = std::min(segment.length, to - segment.start_distance);
    CollectCuts(segment, tolerance);
    const std::vector<double> cuts = cuts_;  // AddStay collects cuts of its own.
    for (size_t c = 0; c + 1 < cuts.size(); ++c) {
      const double a = std::max(cuts[c], begin);
      const double b = std::min(cuts[c + 1], end);
      if (!(a < b) || !Inside(PointAt(segment, 0.5 * (a + b)), tolerance)) continue;
      AddStay(segment.start_distance + a, segment.start_distance + b, tolerance);
    }
  }
}

// Fills the stays of every place; true when the chain can reach its end in the last cell.
bool RouteVerifier::Walk(const Corridor& corridor, double tolerance) {
  ListPlaces(corridor);
  stays_.clear();
  stays_begin_.assign(1, 0);
  LoadCell(corridor, 0);
  if (!Inside(segments_.front().start, tolerance)) return false;
  AddStay(0.0, 0.0, tolerance);
  for (size_t i = 1; i < places_.size(); ++i) {
    const size_t begin = stays_begin_.back();
    const size_t end = stays_.size();
    stays_begin_.push_back(end);
    LoadPlace(corridor, places_[i]);
    for (size_t j = begin; j < end; ++j) CollectStays(stays_[j].from, stays_[j].to, tolerance);
    if (stays_.size() == end) return false;
  }
  return stays_.back().to >= length_;
}

// Walks back from the end: into each place as far from the ends of what is possible as can be. A
// stay can be entered from several stays in the cell before, where the chain leaves that and comes
// back; the crossing must lie in one of them.
void RouteVerifier::ChooseCrossings(std::vector<PortalCrossing>* crossings) const {
  crossings->assign(places_.back().cell, {});
  double t = length_;
  Stay stay = stays_.back();
  for (size_t k = places_.size() - 1; k > 0; --k) {
    const double entered_by = std::min(stay.entered_by, t);
    Stay before = stays_[stays_begin_[k - 1]];
    double widest = -std::numeric_limits<double>::infinity();
    for (size_t i = stays_begin_[k - 1]; i < stays_begin_[k]; ++i) {
      const double first = std::max(stays_[i].from, stay.from);
      const double last = std::min(stays_[i].to, entered_by);
      if (last - first <= widest) continue;
      widest = last - first;
      before = stays_[i];
      t = 0.5 * (first + last);
    }
    stay = before;
    // Of the ways into and out of a point the latter is the crossing.
    if (places_[k].is_point) continue;
    const Segment& segment = segments_[std::min(SegmentAt(t), segments_.size() - 1)];
    (*crossings)[places_[k].cell - 1] = {t, PointAt(segment, t - segment.start_distance)};
  }
}

// The farthest that the chain, changing cells at the crossings, lies outside its cell.
Deviation RouteVerifier::Measure(const Corridor& corridor,
                                 std::span<const PortalCrossing> crossings) {
  Deviation worst;
  for (size_t k = 0; k < crossings.size(); ++k) {
    const Portal& portal = corridor.portals[k];
    if (portal.left != portal.right) continue;
    const double missed = Distance(crossings[k].point, portal.left);
    if (missed > worst.distance) {
      worst = {missed, DeviationKind::kPortal, static_cast<uint32_t>(k), crossings[k].point,
               crossings[k].distance};
    }
  }
  for (size_t k = 0; k < corridor.cell_count(); ++k) {
    const double from = k == 0 ? 0.0 : crossings[k - 1].distance;
    const double to = k == crossings.size() ? length_ : crossings[k].distance;
    LoadCell(corridor, k);
    const auto look = [&](const Segment& segment, double s) {
      const Vec2 p = PointAt(segment, s);
      for (const Edge& edge : edges_) {
        const double outside = -(Dot(edge.normal, p) + edge.offset);
        if (outside > worst.distance) {
          worst = {outside, DeviationKind::kCell, static_cast<uint32_t>(k), p,
                   segment.start_distance + s};
        }
      }
    };
    for (size_t i = std::min(SegmentAt(from), segments_.size() - 1);
         i < segments_.size() && segments_[i].start_distance <= to; ++i) {
      const Segment& segment = segments_[i];
      const double begin = std::clamp(from - segment.start_distance, 0.0, segment.length);
      const double end = std::clamp(to - segment.start_distance, 0.0, segment.length);
      look(segment, begin);
      look(segment, end);
      if (segment.kind != SegmentKind::kArc) continue;
      // Farthest outside an edge where the radius points against its normal.
      for (const Edge& edge : edges_) {
        VisitRadiusDirection(segment, Heading(-edge.normal), [&](double s) {
          if (s > begin && s < end) look(segment, s);
        });
      }
    }
  }
  return worst;
}

Deviation RouteVerifier::Verify(const Corridor& corridor, std::span<const Segment> segments,
                                double tolerance, std::vector<PortalCrossing>* crossings) {
  segments_ = segments;
  Deviation ends;
  if (segments.empty()) {
    crossings->assign(corridor.portals.size(), {0.0, corridor.start});
    ends.distance = Distance(corridor.start, corridor.goal);
    return ends;
  }
  length_ = segments.back().start_distance + segments.back().length;
  const double start_gap = Distance(segments.front().start, corridor.start);
  const double goal_gap = Distance(segments.back().end, corridor.goal);
  if (std::max(start_gap, goal_gap) > tolerance) {
    const bool at_goal = goal_gap > start_gap;
    return {std::max(start_gap, goal_gap), DeviationKind::kEnd, at_goal ? 1u : 0u,
            at_goal ? segments.back().end : segments.front().start, at_goal ? length_ : 0.0};
  }
  // Every segment must begin where the one before it ends, by its own geometry.
  for (const Segment& segment : segments) {
    if (segment.kind != SegmentKind::kArc) continue;
    const double half = 0.5 * segment.curvature * segment.length;
    const double chord = segment.length * (std::sin(half) / half);
    const Vec2 end = segment.start + chord * UnitVector(segment.heading + half);
    const double gap = Distance(end, segment.end);
    if (gap > tolerance) {
      return {gap, DeviationKind::kEnd, 1, segment.end, segment.start_distance + segment.length};
    }
  }
  if (Walk(corridor, tolerance)) {
    ChooseCrossings(crossings);
    Deviation worst = Measure(corridor, *crossings);
    worst.distance = std::max({worst.distance, start_gap, goal_gap});
    return worst;
  }
  const Place lost = places_[stays_begin_.size() - 1];
  Deviation outside{tolerance, lost.is_point ? DeviationKind::kPortal : DeviationKind::kCell,
                    lost.is_point ? lost.cell - 1 : lost.cell,
                    stays_.empty() ? segments.front().start : segments.back().end,
                    stays_.empty() ? 0.0 : stays_.back().to};
  do {
    outside.distance *= 2.0;
  } while (std::isfinite(outside.distance) && !Walk(corridor, outside.distance));
  return outside;
}

}  // namespace arclane
