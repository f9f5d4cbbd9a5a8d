// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/smallest_deviation.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace arclane {
namespace {

// The bisection ends when the deviation is known to this part of itself.
constexpr double kRelativeAccuracy = 1e-6;

// A closed interval of a segment's parameter; empty when low > high.
struct Interval {
  double low = 1.0;
  double high = 0.0;

  bool empty() const { return low > high; }
  void Cover(Interval other) {
    if (other.empty()) return;
    if (empty()) {
      *this = other;
    } else {
      low = std::min(low, other.low);
      high = std::max(high, other.high);
    }
  }
};

Interval Intersect(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

// Where the value, linear from `at_0` to `at_1`, is at least 0.
Interval NonNegative(double at_0, double at_1) {
  if (at_0 >= 0.0 && at_1 >= 0.0) return {0.0, 1.0};
  if (at_0 < 0.0 && at_1 < 0.0) return {};
  const double zero = std::clamp(at_0 / (at_0 - at_1), 0.0, 1.0);
  return at_0 < 0.0 ? Interval{zero, 1.0} : Interval{0.0, zero};
}

// Where segment ab lies within `radius` of c.
Interval InDisc(Vec2 a, Vec2 b, Vec2 c, double radius) {
  const Vec2 d = b - a;
  const double squared_length = SquaredNorm(d);
  if (!(squared_length > 0.0)) {
    return SquaredNorm(a - c) <= radius * radius ? Interval{0.0, 1.0} : Interval{};
  }
  const double middle = Dot(c - a, d) / squared_length;
  const double squared_half =
      (radius * radius - SquaredNorm(a + d * middle - c)) / squared_length;
  if (squared_half < 0.0) return {};
  const double half = std::sqrt(squared_half);
  return Intersect({middle - half, middle + half}, {0.0, 1.0});
}

// Where segment ab lies within `radius` of segment pq. The set is convex: the hull of its three pieces' intervals.
Interval NearSegment(Vec2 a, Vec2 b, Vec2 p, Vec2 q, double radius) {
  Interval near = InDisc(a, b, p, radius);
  near.Cover(InDisc(a, b, q, radius));
  const double length = Distance(p, q);
  if (!(length > 0.0)) return near;
  const Vec2 along = (q - p) * (1.0 / length);
  const double off_a = Cross(along, a - p);
  const double off_b = Cross(along, b - p);
  const double at_a = Dot(along, a - p);
  const double at_b = Dot(along, b - p);
  Interval band = Intersect(NonNegative(radius - off_a, radius - off_b),
                            NonNegative(radius + off_a, radius + off_b));
  band = Intersect(band, NonNegative(at_a, at_b));
  band = Intersect(band, NonNegative(length - at_a, length - at_b));
  near.Cover(band);
  return near;
}

// Where segment ab lies within `radius` of the convex polygon.
Interval NearConvex(Vec2 a, Vec2 b, std::span<const Vec2> polygon, double radius) {
  Interval near;
  Interval inside{0.0, 1.0};
  Vec2 p = polygon.back();
  for (const Vec2 q : polygon) {
    near.Cover(NearSegment(a, b, p, q, radius));
    inside = Intersect(inside, NonNegative(Cross(q - p, a - p), Cross(q - p, b - p)));
    p = q;
  }
  if (polygon.size() > 2) near.Cover(inside);
  return near;
}

// A set of parameters of the line on one segment.
struct Span {
  size_t segment = 0;
  Interval interval;
};

// One trial: can the line be a route with this deviation?
class Trial {
 public:
  Trial(const Corridor& corridor, std::span<const Vec2> points, double deviation)
      : corridor_(corridor), points_(points), deviation_(deviation) {}

  // When it fails, failed_kind() and failed_index() say what cannot be reached; furthest() where the line stands then.
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
  // Adds to each span what can be reached from it without leaving cell k; drops what lies outside it.
  bool Extend(size_t k) {
    next_.clear();
    for (const Span& span : spans_) {
      Interval start = span.interval;
      for (size_t s = span.segment; s + 1 < points_.size(); ++s) {
        const Interval in_cell =
            NearConvex(points_[s], points_[s + 1], corridor_.cell(k), deviation_);
        const Interval begin = Intersect(start, in_cell);
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
      const Interval near = NearSegment(points_[span.segment], points_[span.segment + 1],
                                        portal.left, portal.right, deviation_);
      const Interval met = Intersect(near, span.interval);
      if (!met.empty()) Append({span.segment, met});
    }
    return Accept(DeviationKind::kPortal, i);
  }

  // Spans arrive by ascending begin, so that an overlap is always with the last one or contained in one before.
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
    smallest = {high, trial.failed_kind(), static_cast<uint32_t>(trial.failed_index()),
                where.point, where.distance};
  }
  smallest.distance = high;
  if (at_start > smallest.distance) {
    smallest = {at_start, DeviationKind::kEnd, 0, points.front(), 0.0};
  }
  if (at_goal > smallest.distance) smallest = {at_goal, DeviationKind::kEnd, 1, points.back(), upper.along};
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
