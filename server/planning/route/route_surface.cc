// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/route_surface.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "server/planning/geometry/polygon.h"

namespace arclane {
namespace {

// Stretches of arcs that are looked at turn by no more than this, in radians; they are halved at
// most so often.
constexpr double kWidestStretch = 0.5;
constexpr int kMostHalvings = 6;

class SurfaceWalk {
 public:
  SurfaceWalk(const Corridor& corridor, std::span<const PortalCrossing> crossings,
              std::span<const Segment> segments, std::vector<SurfaceKnot>* knots)
      : corridor_(corridor), crossings_(crossings), segments_(segments), knots_(*knots) {}

  void Run() {
    knots_.clear();
    knots_.reserve(corridor_.portals.size() + 2);
    knots_.push_back({0.0, corridor_.start_height, 0.0, 0});
    const Segment& last = segments_.back();
    const double length = last.start_distance + last.length;
    for (size_t k = 0; k < corridor_.portals.size(); ++k) {
      CrossCell(k, std::min(crossings_[k].distance, length),
                PortalHeight(corridor_.portals[k], crossings_[k].point));
    }
    CrossCell(corridor_.portals.size(), length, corridor_.goal_height);
  }

 private:
  void Add(double distance, double height) {
    const SurfaceKnot& last = knots_.back();
    const double run = std::max(0.0, distance - last.distance);
    knots_.push_back({last.distance + run, height,
                      last.surface_distance + std::hypot(run, height - last.height), cell_});
  }

  double HeightAt(const Segment& segment, double offset) const {
    return ConvexSurfaceHeight(polygon_, heights_, PointAt(segment, offset));
  }

  bool IsLevel(double height) const {
    return height == knots_.back().height &&
           std::all_of(heights_.begin(), heights_.end(),
                       [height](double h) { return h == height; });
  }

  // Through cell k to where it is left.
  void CrossCell(size_t k, double to, double height) {
    cell_ = static_cast<uint32_t>(k);
    polygon_ = corridor_.cell(k);
    heights_ = {corridor_.cell_heights.data() + corridor_.cell_begin[k], polygon_.size()};
    if (polygon_.size() > 2 && !IsLevel(height)) CrossSlope(knots_.back().distance, to);
    Add(to, height);
  }

  void CrossSlope(double from, double to) {
    while (segment_ < segments_.size() && EndOf(segments_[segment_]) <= from) ++segment_;
    for (size_t i = segment_; i < segments_.size() && segments_[i].start_distance < to; ++i) {
      const Segment& segment = segments_[i];
      const double begin = std::max(0.0, from - segment.start_distance);
      const double end = std::min(segment.length, to - segment.start_distance);
      if (!(begin < end)) continue;
      if (segment.kind == SegmentKind::kArc) FollowArc(segment, begin, end);
      if (end == segment.length && EndOf(segment) < to) Add(EndOf(segment), HeightAt(segment, end));
    }
  }

  static double EndOf(const Segment& segment) { return segment.start_distance + segment.length; }

  // Knots strictly between two offsets of an arc.
  void FollowArc(const Segment& arc, double begin, double end) {
    const double turn = std::abs(arc.curvature) * (end - begin);
    const int stretches = std::max(1, static_cast<int>(std::ceil(turn / kWidestStretch)));
    double height = HeightAt(arc, begin);
    double from = begin;
    for (int i = 1; i <= stretches; ++i) {
      const double to = i == stretches ? end : begin + (end - begin) * i / stretches;
      const double next = HeightAt(arc, to);
      Halve(arc, from, height, to, next, kMostHalvings);
      if (i < stretches) Add(arc.start_distance + to, next);
      from = to;
      height = next;
    }
  }

  void Halve(const Segment& arc, double from, double from_height, double to, double to_height,
             int halvings) {
    const double middle = 0.5 * (from + to);
    const double height = HeightAt(arc, middle);
    const double sag = std::abs(height - 0.5 * (from_height + to_height));
    if (halvings == 0 || sag * std::abs(arc.curvature) <= kSurfaceSag) return;
    Halve(arc, from, from_height, middle, height, halvings - 1);
    Add(arc.start_distance + middle, height);
    Halve(arc, middle, height, to, to_height, halvings - 1);
  }

  const Corridor& corridor_;
  const std::span<const PortalCrossing> crossings_;
  const std::span<const Segment> segments_;
  std::vector<SurfaceKnot>& knots_;
  uint32_t cell_ = 0;
  std::span<const Vec2> polygon_;
  std::span<const double> heights_;
  size_t segment_ = 0;  // The first that does not end before the cell at hand.
};

}  // namespace

void BuildRouteSurface(const Corridor& corridor, std::span<const PortalCrossing> crossings,
                       std::span<const Segment> segments, std::vector<SurfaceKnot>* knots) {
  const bool bends = std::any_of(segments.begin(), segments.end(), [](const Segment& segment) {
    return segment.kind == SegmentKind::kArc;
  });
  if (bends && crossings.size() == corridor.portals.size()) {
    SurfaceWalk(corridor, crossings, segments, knots).Run();
  } else {
    const double length =
        segments.empty() ? 0.0 : segments.back().start_distance + segments.back().length;
    BuildSurfaceProfile(corridor, crossings, length, knots);
  }
}

}  // namespace arclane
