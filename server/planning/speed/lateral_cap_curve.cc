// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/lateral_cap_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace arclane {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Two squared speeds this close are one: each comes from a handful of roundings.
constexpr double kSame = 1e-15;
// Parts of a segment shorter than this share of it are rounding.
constexpr double kNegligiblePart = 1e-13;

// The cap along one interval: the smaller of a line and 1 / |k|, both over d in [0, length].
struct IntervalCaps {
  double length;
  double k0, k1;        // signed curvature over a_lat at both ends
  double line0, line1;  // squared speeds

  double K(double d) const { return k0 + (k1 - k0) * (d / length); }
  double Line(double d) const {
    return line0 == line1 ? line0 : line0 + (line1 - line0) * (d / length);
  }
};

class Cutter {
 public:
  Cutter(double start, std::uint32_t interval, std::uint32_t node,
         std::vector<CapSegment>& segments)
      : start_(start), interval_(interval), node_(node), segments_(segments) {}

  void Line(const IntervalCaps& caps, double from, double to) {
    if (!(to > from)) return;
    segments_.push_back(
        {start_ + from, to - from, caps.Line(from), caps.Line(to), 0.0, 0.0, interval_, node_});
  }

  void Hyperbola(const IntervalCaps& caps, double from, double to) {
    if (!(to > from)) return;
    const double k_from = std::abs(from > 0.0 ? caps.K(from) : caps.k0);
    const double k_to = std::abs(to < caps.length ? caps.K(to) : caps.k1);
    CapSegment segment = {start_ + from, to - from, 1.0 / k_from, 1.0 / k_to,
                          0.0,           0.0,       interval_,    node_};
    if (k_from != k_to) {
      segment.k0 = k_from;
      segment.k1 = (k_to - k_from) / segment.length;
    }
    segments_.push_back(segment);
  }

 private:
  double start_;
  std::uint32_t interval_;
  std::uint32_t node_;
  std::vector<CapSegment>& segments_;
};

// Where line(d) * |k(d)| = 1, and where the curvature changes sign, in (0, length); ascending.
class Crossings {
 public:
  explicit Crossings(const IntervalCaps& caps) {
    const double k_slope = (caps.k1 - caps.k0) / caps.length;
    const double line_slope = (caps.line1 - caps.line0) / caps.length;
    for (const double sign : {1.0, -1.0}) {
      // (line0 + line_slope d)(sign k0 + sign k_slope d) = 1
      AddRoots(line_slope * sign * k_slope,
               caps.line0 * sign * k_slope + line_slope * sign * caps.k0,
               caps.line0 * sign * caps.k0 - 1.0, caps.length);
    }
    if (caps.k0 * caps.k1 < 0.0) Add(-caps.k0 / k_slope, caps.length);
    for (int i = 1; i < count_; ++i) {
      for (int j = i; j > 0 && at_[j] < at_[j - 1]; --j) std::swap(at_[j], at_[j - 1]);
    }
  }

  const double* begin() const { return at_.data(); }
  const double* end() const { return at_.data() + count_; }

 private:
  void Add(double d, double length) {
    if (d > 0.0 && d < length) at_[count_++] = d;
  }

  void AddRoots(double a, double b, double c, double length) {
    const double discriminant = b * b - 4.0 * a * c;
    if (discriminant < 0.0) return;
    const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
    if (q != 0.0) Add(c / q, length);
    if (a != 0.0) Add(q / a, length);
  }

  std::array<double, 5> at_ = {};
  int count_ = 0;
};

void CutInterval(const IntervalCaps& caps, Cutter& cutter) {
  const bool lateral_binds =
      std::max(std::abs(caps.k0) * caps.line0, std::abs(caps.k1) * caps.line1) > 1.0 ||
      (caps.line0 != caps.line1 && (caps.k0 != 0.0 || caps.k1 != 0.0));
  if (!lateral_binds) return cutter.Line(caps, 0.0, caps.length);
  const bool line_is_level = caps.line0 == caps.line1;
  if (line_is_level && std::min(std::abs(caps.k0), std::abs(caps.k1)) * caps.line0 >= 1.0 &&
      caps.k0 * caps.k1 > 0.0) {
    return cutter.Hyperbola(caps, 0.0, caps.length);
  }
  double from = 0.0;
  const auto cut = [&](double to) {
    const double middle = 0.5 * (from + to);
    if (std::abs(caps.K(middle)) * caps.Line(middle) > 1.0) {
      cutter.Hyperbola(caps, from, to);
    } else {
      cutter.Line(caps, from, to);
    }
    from = to;
  };
  for (const double to : Crossings(caps)) cut(to);
  cut(caps.length);
}

// One motion inside a segment, seen in the direction in which the cap falls.
struct Motion {
  enum Kind { kRise, kBrake, kCap } kind;
  double length;
  double x_end;
};

// The plan in a hyperbola segment, cap falling: rise at 2a from x0, then the largest speed from
// which x1 is met.
class FallingCap {
 public:
  // k: 1 / cap at the start, k_slope > 0.
  FallingCap(double length, double k_start, double k_slope, double cap_start, double twice_b)
      : length_(length), k_slope_(k_slope), twice_b_(twice_b), k_end_(k_start + k_slope * length) {
    // Slope of the cap: k_slope / k^2 = 2b.
    const double k_tangent = std::sqrt(k_slope / twice_b);
    if (k_end_ <= k_tangent) {
      tangent_from_end_ = 0.0;
      cap_at_tangent_ =
          kInfinity;  // The cap is steeper than braking all along: it never binds before its end.
    } else if (k_tangent > k_start) {
      tangent_from_end_ = (k_end_ - k_tangent) / k_slope;
      cap_at_tangent_ = 1.0 / k_tangent;
    } else {
      tangent_from_end_ = length;
      cap_at_tangent_ = cap_start;
    }
  }

  double tangent_from_end() const { return tangent_from_end_; }
  double cap_at_tangent() const { return cap_at_tangent_; }

  double LargestAtStart(double x1) const {
    return std::min(x1 + twice_b_ * tangent_from_end_, cap_at_tangent_) +
           twice_b_ * (length_ - tangent_from_end_);
  }

  // Distance from the end where the braking line from x1 meets the cap; needs a crossing.
  double CapFromEnd(double x1) const {
    const double q = 1.0 - x1 * k_end_;
    if (q <= 4.0 * kSame) return 0.0;
    const double p = twice_b_ * k_end_ - x1 * k_slope_;
    const double root = std::sqrt(std::max(0.0, p * p - 4.0 * twice_b_ * k_slope_ * q));
    return std::clamp(2.0 * q / (p + root), 0.0, tangent_from_end_);
  }

 private:
  double length_;
  double k_slope_;
  double twice_b_;
  double k_end_;
  double tangent_from_end_;
  double cap_at_tangent_;
};

struct Motions {
  std::array<Motion, 4> list;
  int count = 0;
  void Add(Motion::Kind kind, double length, double x_end) {
    list[count++] = {kind, length, x_end};
  }
};

// Rise from x0 and brake to x1 over `length`, no cap between.
void AddRiseAndBrake(double length, double x0, double x1, double twice_a, double twice_b,
                     Motions& motions) {
  const double negligible = kNegligiblePart * length;
  double rising = (x1 - x0 + twice_b * length) / (twice_a + twice_b);
  if (rising < negligible) rising = 0.0;
  if (rising > length - negligible) rising = length;
  if (rising > 0.0)
    motions.Add(Motion::kRise, rising, rising < length ? x0 + twice_a * rising : x1);
  if (rising < length) motions.Add(Motion::kBrake, length - rising, x1);
}

Motions PlanFallingCap(const FallingCap& cap, double length, double k_start, double k_slope,
                       double x0, double x1, double twice_a, double twice_b) {
  Motions motions;
  const double tangent = cap.tangent_from_end();
  const double at_tangent = cap.cap_at_tangent();
  if (!(tangent > 0.0) || x1 + twice_b * tangent <= at_tangent) {
    AddRiseAndBrake(length, x0, x1, twice_a, twice_b, motions);
    return motions;
  }
  const double negligible = kNegligiblePart * length;
  const double to_tangent = length - tangent;
  double cap_from_end = cap.CapFromEnd(x1);
  if (cap_from_end < negligible) cap_from_end = 0.0;
  const double cap_end_x = cap_from_end > 0.0 ? x1 + twice_b * cap_from_end : x1;
  if (x0 + twice_a * to_tangent >= at_tangent * (1.0 - kSame)) {
    if (to_tangent > negligible)
      AddRiseAndBrake(to_tangent, x0, at_tangent, twice_a, twice_b, motions);
    motions.Add(Motion::kCap, length - (to_tangent > negligible ? to_tangent : 0.0) - cap_from_end,
                cap_end_x);
  } else if (x0 + twice_a * (length - cap_from_end) >= cap_end_x) {
    // The rise meets the cap itself: (x0 + 2a d)(k + k_slope d) = 1.
    const double p = twice_a * k_start + x0 * k_slope;
    const double q = 1.0 - x0 * k_start;
    const double root = std::sqrt(p * p + 4.0 * twice_a * k_slope * q);
    const double rising = std::clamp(2.0 * q / (p + root), 0.0, length - cap_from_end);
    if (rising > negligible) motions.Add(Motion::kRise, rising, x0 + twice_a * rising);
    const double along = length - cap_from_end - (rising > negligible ? rising : 0.0);
    if (along > 0.0) motions.Add(Motion::kCap, along, cap_end_x);
  } else {
    AddRiseAndBrake(length, x0, x1, twice_a, twice_b, motions);
    return motions;
  }
  if (cap_from_end > 0.0) motions.Add(Motion::kBrake, cap_from_end, x1);
  return motions;
}

double BackThrough(const CapSegment& s, double x1, double twice_b) {
  if (s.k1 <= 0.0) return std::min(s.cap0, x1 + twice_b * s.length);
  return FallingCap(s.length, s.k0, s.k1, s.cap0, twice_b).LargestAtStart(x1);
}

double ForwardThrough(const CapSegment& s, double x0, double twice_a) {
  if (s.k1 >= 0.0) return std::min(s.cap1, x0 + twice_a * s.length);
  return FallingCap(s.length, s.k0 + s.k1 * s.length, -s.k1, s.cap1, twice_a).LargestAtStart(x0);
}

// Between squared speeds under a linear cap.
void WriteUnderLine(const CapSegment& s, double x0, double v0, double x1, double v1, double twice_a,
                    double twice_b, CurvePhaseWriter& writer) {
  const double slope = (s.cap1 - s.cap0) / s.length;
  const double negligible = kNegligiblePart * s.length;
  // A cap that rises faster than 2a is never followed, nor one that falls faster than 2b.
  double rising = twice_a > slope ? std::max(0.0, (s.cap0 - x0) / (twice_a - slope)) : kInfinity;
  double falling = twice_b > -slope ? std::max(0.0, (s.cap1 - x1) / (twice_b + slope)) : kInfinity;
  if (rising < negligible) rising = 0.0;
  if (falling < negligible) falling = 0.0;
  const double level = s.length - rising - falling;
  if (level > negligible) {
    const double xa = rising > 0.0 ? s.cap0 + slope * rising : x0;
    const double xb = falling > 0.0 ? s.cap1 - slope * falling : x1;
    const double va = rising > 0.0 ? std::sqrt(xa) : v0;
    const double vb = falling > 0.0 ? (slope == 0.0 ? va : std::sqrt(xb)) : v1;
    if (rising > 0.0) writer.Constant(SpeedPhaseKind::kAccelerate, rising, v0, va, 0.5 * twice_a);
    writer.Constant(slope == 0.0 ? SpeedPhaseKind::kCruise : SpeedPhaseKind::kFollowCap, level, va,
                    vb, 0.5 * slope);
    if (falling > 0.0) writer.Constant(SpeedPhaseKind::kBrake, falling, vb, v1, -0.5 * twice_b);
    return;
  }
  Motions motions;
  AddRiseAndBrake(s.length, x0, x1, twice_a, twice_b, motions);
  double v = v0;
  for (int i = 0; i < motions.count; ++i) {
    const Motion& motion = motions.list[i];
    const double w = i + 1 == motions.count ? v1 : std::sqrt(motion.x_end);
    if (motion.kind == Motion::kRise) {
      writer.Constant(SpeedPhaseKind::kAccelerate, motion.length, v, w, 0.5 * twice_a);
    } else {
      writer.Constant(SpeedPhaseKind::kBrake, motion.length, v, w, -0.5 * twice_b);
    }
    v = w;
  }
}

void WriteUnderHyperbola(const CapSegment& s, double x0, double v0, double x1, double v1,
                         double twice_a, double twice_b, CurvePhaseWriter& writer) {
  if (s.k1 > 0.0) {
    const FallingCap cap(s.length, s.k0, s.k1, s.cap0, twice_b);
    const Motions motions = PlanFallingCap(cap, s.length, s.k0, s.k1, x0, x1, twice_a, twice_b);
    double v = v0;
    double d = 0.0;
    for (int i = 0; i < motions.count; ++i) {
      const Motion& motion = motions.list[i];
      const double w = i + 1 == motions.count ? v1 : std::sqrt(motion.x_end);
      if (motion.kind == Motion::kRise) {
        writer.Constant(SpeedPhaseKind::kAccelerate, motion.length, v, w, 0.5 * twice_a);
      } else if (motion.kind == Motion::kBrake) {
        writer.Constant(SpeedPhaseKind::kBrake, motion.length, v, w, -0.5 * twice_b);
      } else {
        writer.LateralCap(motion.length, v, w, s.k0 + s.k1 * d, s.k1);
      }
      d += motion.length;
      v = w;
    }
    return;
  }
  // The cap rises: plan the mirror image and write it backwards.
  const double k_end = s.k0 + s.k1 * s.length;
  const FallingCap cap(s.length, k_end, -s.k1, s.cap1, twice_a);
  const Motions motions = PlanFallingCap(cap, s.length, k_end, -s.k1, x1, x0, twice_b, twice_a);
  double v = v0;
  double d = 0.0;
  for (int i = motions.count; i-- > 0;) {
    const Motion& motion = motions.list[i];
    const double w = i == 0 ? v1 : std::sqrt(motions.list[i - 1].x_end);
    if (motion.kind == Motion::kRise) {
      writer.Constant(SpeedPhaseKind::kBrake, motion.length, v, w, -0.5 * twice_b);
    } else if (motion.kind == Motion::kBrake) {
      writer.Constant(SpeedPhaseKind::kAccelerate, motion.length, v, w, 0.5 * twice_a);
    } else {
      writer.LateralCap(motion.length, v, w, s.k0 + s.k1 * d, s.k1);
    }
    d += motion.length;
    v = w;
  }
}

}  // namespace

void CutIntoCapSegments(const CurveOrder& order, const MotionBudget& budget,
                        std::vector<CapSegment>& segments) {
  segments.clear();
  const double per_lateral = 1.0 / budget.lateral;  // 0 without a lateral limit
  const auto line = [&](std::size_t node) {
    if (order.speed_cap.empty()) return budget.squared_max_speed;
    return order.speed_cap[node] * order.speed_cap[node];
  };
  const double level = budget.squared_max_speed;
  for (std::size_t j = 0; j < order.interval_count(); ++j) {
    const std::size_t i = order.RequestInterval(j);
    IntervalCaps caps = {order.distance[i + 1] - order.distance[i],
                         order.curvature[j] * per_lateral, order.curvature[j + 1] * per_lateral,
                         line(j), line(j + 1)};
    Cutter cutter(order.distance[i], static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j),
                  segments);
    // A prescribed cap that is unlimited or above max_speed on a part of the interval.
    if (!(caps.line0 < kInfinity) || !(caps.line1 < kInfinity)) caps.line0 = caps.line1 = level;
    if (caps.line0 >= level && caps.line1 >= level) {
      caps.line0 = caps.line1 = level;
    } else if (std::max(caps.line0, caps.line1) > level) {
      const double at = caps.length * ((level - caps.line0) / (caps.line1 - caps.line0));
      IntervalCaps before = caps;
      before.length = at;
      before.k1 = caps.K(at);
      before.line1 = level;
      IntervalCaps after = caps;
      after.length = caps.length - at;
      after.k0 = before.k1;
      after.line0 = level;
      (before.line0 > level ? before.line0 : after.line1) = level;
      if (before.length > 0.0) CutInterval(before, cutter);
      Cutter rest(order.distance[i] + at, static_cast<std::uint32_t>(i),
                  static_cast<std::uint32_t>(j), segments);
      if (after.length > 0.0) CutInterval(after, rest);
      continue;
    }
    CutInterval(caps, cutter);
  }
}

void PassBackwardOverCaps(const std::vector<CapSegment>& segments, const CurveOrder& order,
                          double x_end, const MotionBudget& budget, std::vector<double>& backward) {
  const double twice_b = 2.0 * budget.brake.limit;
  const std::size_t m = segments.size();
  backward.resize(m + 1);
  double x = order.StopsAt(order.interval_count()) ? 0.0 : x_end;
  for (std::size_t i = m; i-- > 0;) {
    const CapSegment& segment = segments[i];
    x = std::min(x, segment.cap1);
    backward[i + 1] = x;
    x = std::min(segment.cap0, BackThrough(segment, x, twice_b));
    const bool first = i == 0 || segments[i - 1].node != segment.node;
    if (first && order.StopsAt(segment.node)) x = 0.0;
  }
  backward[0] = x;
}

double WriteCapPhases(const std::vector<CapSegment>& segments, const CurveOrder& order,
                      double v_start, const MotionBudget& budget,
                      const std::vector<double>& backward, std::vector<double>& node_speed,
                      CurvePhaseWriter& writer) {
  const double twice_a = 2.0 * budget.accelerate.limit;
  const double twice_b = 2.0 * budget.brake.limit;
  double x0 = std::min(v_start * v_start, backward[0]);
  double v0 = v_start;
  std::uint32_t next_node = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const CapSegment& s = segments[i];
    writer.MoveTo(s.interval, s.start);
    if (s.node == next_node) {
      node_speed[next_node++] = v0;
      if (order.StopsAt(s.node)) writer.Dwell(order.dwell[s.node]);
    }
    const double x1 = std::min(backward[i + 1], ForwardThrough(s, x0, twice_a));
    const double v1 = std::sqrt(x1);
    if (s.k1 != 0.0) {
      WriteUnderHyperbola(s, x0, v0, x1, v1, twice_a, twice_b, writer);
    } else {
      WriteUnderLine(s, x0, v0, x1, v1, twice_a, twice_b, writer);
    }
    x0 = x1;
    v0 = v1;
  }
  node_speed[next_node] = v0;
  if (order.StopsAt(next_node)) {
    writer.MoveTo(segments.back().interval, segments.back().start + segments.back().length);
    writer.Dwell(order.dwell[next_node]);
  }
  return x0;
}

}  // namespace arclane
