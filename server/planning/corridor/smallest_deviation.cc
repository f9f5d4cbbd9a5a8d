// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/smallest_deviation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/planning/geometry/nearness.h"

namespace arclane {
namespace {

// The bisection ends when the deviation is known to this part of itself.
constexpr double kRelativeAccuracy = 1e-6;

// A set of parameters of the line on one segment.
struct Span {
  size_t segment = 0;
  ParameterInterval interval;
};

// One trial: can the line be a route with this deviation?
class Trial {
 public:
  Trial(const Corridor& corridor, std::span<const Vec2> points, double deviation)
      : corridor_(corridor), points_(points), deviation_(deviation) {}

  // When it fails, failed_kind() and failed_index() say what cannot be reached; furthest() where
  // the line stands then.
  bool Run(std::vector<Span>* earliest) {
    if (earliest != nullptr) earliest->clear();
    spans_.assign(1, {0, {0.0, 0.0}});
    const size_t portal_count = corridor_.portals.size();
    for (size_t i = 0; i < portal_count; ++i) {
      if (!Extend(i) || !MeetPortal(i)) return false;
      if (earliest != nullptr) earliest->push_back(spans_.front());
    }
    if (!Extend(portal_count)) return false;
    const Span& last = spans_.back();
    failed_kind_ = DeviationKind::kCell;
    failed_index_ = portal_count;
    furthest_ = last;
    return last.segment + 2 == points_.size() && last.interval.high >= 1.0;
  }

  DeviationKind failed_kind() const { return failed_kind_; }
  size_t failed_index() const { return failed_index_; }
  const Span& furthest() const { return furthest_; }

 private:
  // Adds to each span what can be reached from it without leaving cell k; drops what lies outside
  // it.
  bool Extend(size_t k) {
    next_.clear();
    for (const Span& span : spans_) {
      ParameterInterval start = span.interval;
      for (size_t s = span.segment; s + 1 < points_.size(); ++s) {
        const ParameterInterval in_cell =
            NearConvex(points_[s], points_[s + 1], corridor_.cell(k), deviation_);
        const ParameterInterval begin = Intersect(start, in_cell);
        if (begin.empty()) break;
        Append({s, {begin.low, in_cell.high}});
        if (in_cell.high < 1.0) break;
        start = {0.0, 0.0};
      }
    }
    return Accept(DeviationKind::kCell, k);
  }

  bool MeetPortal(size_t i) {
    next_.clear();
    const Portal& portal = corridor_.portals[i];
    for (const Span& span : spans_) {
      const ParameterInterval near = NearSegment(points_[span.segment], points_[span.segment + 1],
                                                 portal.left, portal.right, deviation_);
      const ParameterInterval met = Intersect(near, span.interval);
      if (!met.empty()) Append({span.segment, met});
    }
    return Accept(DeviationKind::kPortal, i);
  }

  // Spans arrive by ascending begin, so that an overlap is always with the last one or contained in
  // one before.
  void Append(Span span) {
    for (auto it = next_.rbegin(); it != next_.rend() && it->segment >= span.segment; ++it) {
      if (it->segment == span.segment && span.interval.low <= it->interval.high &&
          it->interval.low <= span.interval.high) {
        it->interval.Cover(span.interval);
        return;
      }
    }
    next_.push_back(span);
  }

  bool Accept(DeviationKind kind, size_t index) {
    std::sort(next_.begin(), next_.end(), [](const Span& a, const Span& b) {
      return std::pair(a.segment, a.interval.low) < std::pair(b.segment, b.interval.low);
    });
    if (next_.empty()) {
      failed_kind_ = kind;
      failed_index_ = index;
      furthest_ = spans_.back();
      return false;
    }
    std::swap(spans_, next_);
    return true;
  }

  const Corridor& corridor_;
  std::span<const Vec2> points_;
  const double deviation_;
  std::vector<Span> spans_;
  std::vector<Span> next_;
  DeviationKind failed_kind_ = DeviationKind::kNone;
  size_t failed_index_ = 0;
  Span furthest_;
};

PortalCrossing CrossingAt(std::span<const Vec2> points, size_t segment, double parameter) {
  double distance = 0.0;
  for (size_t s = 0; s < segment; ++s) distance += Distance(points[s], points[s + 1]);
  const Vec2 a = points[segment];
  const Vec2 b = points[segment + 1];
  return {distance + parameter * Distance(a, b), parameter >= 1.0 ? b : Lerp(a, b, parameter)};
}

}  // namespace

Deviation SmallestDeviation(const Corridor& corridor, std::span<const Vec2> points,
                            const Deviation& upper, std::vector<PortalCrossing>* crossings) {
  const double at_start = Distance(points.front(), corridor.start);
  const double at_goal = Distance(points.back(), corridor.goal);
  Deviation smallest = upper;
  double low = 0.0;
  double high = upper.distance;
  bool is_better = false;
  while (high - low > kRelativeAccuracy * high) {
    const double middle = low == 0.0 && high > 0.0 ? high / 16.0 : 0.5 * (low + high);
    Trial trial(corridor, points, middle);
    if (trial.Run(nullptr)) {
      high = middle;
      is_better = true;
      if (high < corridor.tolerance * 0x1p-10) break;  // Below all rounding.
      continue;
    }
    low = middle;
    const Span& furthest = trial.furthest();
    const PortalCrossing where =
        CrossingAt(points, furthest.segment, std::clamp(furthest.interval.high, 0.0, 1.0));
    smallest = {high, trial.failed_kind(), static_cast<uint32_t>(trial.failed_index()), where.point,
                where.distance};
  }
  smallest.distance = high;
  if (at_start > smallest.distance) {
    smallest = {at_start, DeviationKind::kEnd, 0, points.front(), 0.0};
  }
  if (at_goal > smallest.distance)
    smallest = {at_goal, DeviationKind::kEnd, 1, points.back(), upper.along};
  std::vector<Span> earliest;
  if (crossings == nullptr || !is_better) return smallest;
  if (!Trial(corridor, points, high).Run(&earliest)) return smallest;
  crossings->clear();
  double last = 0.0;
  for (const Span& span : earliest) {
    PortalCrossing crossing = CrossingAt(points, span.segment, span.interval.low);
    crossing.distance = last = std::max(last, crossing.distance);
    crossings->push_back(crossing);
  }
  return smallest;
}

}  // namespace arclane
