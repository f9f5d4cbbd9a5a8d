// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/lateral_cap_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace arclane {
namespace {

// Two squared speeds this close are one: each comes from a handful of roundings.
constexpr double kSame = 1e-15;
// A part shorter than this share of its segment, over which the squared speed changes by less than
// the second share, is rounding. A short part alone is not: where limits differ by many orders of
// magnitude the whole speed is gained over it.
constexpr double kNegligibleShare = 1e-13;
constexpr double kNegligibleChange = 1e-9;

template <typename Real>
bool Matters(Real part, Real whole, Real change, Real x) {
  return part > kNegligibleShare * whole || (part > 0 && change > kNegligibleChange * x);
}

// One motion inside a segment, seen in the direction in which the cap falls.
template <typename Real>
struct Motion {
  enum Kind { kRise, kBrake, kCap } kind;
  Real length;
  Real x_end;
};

// The plan in a hyperbola segment, cap falling: rise at 2a from x0, then the largest speed from
// which x1 is met.
template <typename Real>
class FallingCap {
 public:
  // k: 1 / cap at the start, k_slope > 0.
  FallingCap(Real length, Real k_start, Real k_slope, Real cap_start, Real twice_b)
      : length_(length), k_slope_(k_slope), twice_b_(twice_b), k_end_(k_start + k_slope * length) {
    // Slope of the cap: k_slope / k^2 = 2b.
    const Real k_tangent = std::sqrt(k_slope / twice_b);
    if (k_end_ <= k_tangent) {
      tangent_from_end_ = 0.0;
      cap_at_tangent_ =
          std::numeric_limits<Real>::infinity();  // The cap is steeper than braking all along: it
                                                  // never binds before its end.
    } else if (k_tangent > k_start) {
      tangent_from_end_ = (k_end_ - k_tangent) / k_slope;
      cap_at_tangent_ = 1.0 / k_tangent;
    } else {
      tangent_from_end_ = length;
      cap_at_tangent_ = cap_start;
    }
  }

  Real tangent_from_end() const { return tangent_from_end_; }
  Real cap_at_tangent() const { return cap_at_tangent_; }

  Real LargestAtStart(Real x1) const {
    return std::min(x1 + twice_b_ * tangent_from_end_, cap_at_tangent_) +
           twice_b_ * (length_ - tangent_from_end_);
  }

  // Distance from the end where the braking line from x1 meets the cap; needs a crossing.
  Real CapFromEnd(Real x1) const {
    const Real q = 1.0 - x1 * k_end_;
    if (q <= 4.0 * kSame) return 0.0;
    const Real p = twice_b_ * k_end_ - x1 * k_slope_;
    const Real root = std::sqrt(std::max(Real{0}, p * p - 4.0 * twice_b_ * k_slope_ * q));
    return std::clamp(2 * q / (p + root), Real{0}, tangent_from_end_);
  }

 private:
  Real length_;
  Real k_slope_;
  Real twice_b_;
  Real k_end_;
  Real tangent_from_end_;
  Real cap_at_tangent_;
};

template <typename Real>
struct Motions {
  std::array<Motion<Real>, 4> list;
  int count = 0;
  void Add(typename Motion<Real>::Kind kind, Real length, Real x_end) {
    list[count++] = {kind, length, x_end};
  }
};

// Rise from x0 and brake to x1 over `length`, no cap between.
template <typename Real>
void AddRiseAndBrake(Real length, Real x0, Real x1, Real twice_a, Real twice_b,
                     Motions<Real>& motions) {
  Real rising = (x1 - x0 + twice_b * length) / (twice_a + twice_b);
  if (!Matters(rising, length, twice_a * rising, x0)) rising = 0;
  if (!Matters(length - rising, length, twice_b * (length - rising), x1)) rising = length;
  if (rising > 0.0)
    motions.Add(Motion<Real>::kRise, rising, rising < length ? x0 + twice_a * rising : x1);
  if (rising < length) motions.Add(Motion<Real>::kBrake, length - rising, x1);
}

template <typename Real>
Motions<Real> PlanFallingCap(const FallingCap<Real>& cap, Real length, Real k_start, Real k_slope,
                             Real x0, Real x1, Real twice_a, Real twice_b) {
  Motions<Real> motions;
  const Real tangent = cap.tangent_from_end();
  const Real at_tangent = cap.cap_at_tangent();
  if (!(tangent > 0.0) || x1 + twice_b * tangent <= at_tangent) {
    AddRiseAndBrake(length, x0, x1, twice_a, twice_b, motions);
    return motions;
  }
  const Real to_tangent = length - tangent;
  Real cap_from_end = cap.CapFromEnd(x1);
  if (!Matters(cap_from_end, length, twice_b * cap_from_end, x1)) cap_from_end = 0;
  const Real cap_end_x = cap_from_end > 0.0 ? x1 + twice_b * cap_from_end : x1;
  if (x0 + twice_a * to_tangent >= at_tangent * (1.0 - kSame)) {
    const bool free = Matters(to_tangent, length, at_tangent - x0, x0);
    if (free) AddRiseAndBrake(to_tangent, x0, at_tangent, twice_a, twice_b, motions);
    motions.Add(Motion<Real>::kCap, length - (free ? to_tangent : Real{0}) - cap_from_end,
                cap_end_x);
  } else if (x0 + twice_a * (length - cap_from_end) >= cap_end_x) {
    // The rise meets the cap itself: (x0 + 2a d)(k + k_slope d) = 1.
    const Real p = twice_a * k_start + x0 * k_slope;
    const Real q = 1.0 - x0 * k_start;
    const Real root = std::sqrt(p * p + 4.0 * twice_a * k_slope * q);
    const Real rising = std::clamp(2 * q / (p + root), Real{0}, length - cap_from_end);
    const bool rises = Matters(rising, length, twice_a * rising, x0);
    if (rises) motions.Add(Motion<Real>::kRise, rising, x0 + twice_a * rising);
    const Real along = length - cap_from_end - (rises ? rising : Real{0});
    if (along > 0.0) motions.Add(Motion<Real>::kCap, along, cap_end_x);
  } else {
    AddRiseAndBrake(length, x0, x1, twice_a, twice_b, motions);
    return motions;
  }
  if (cap_from_end > 0.0) motions.Add(Motion<Real>::kBrake, cap_from_end, x1);
  return motions;
}

template <typename Real>
Real BackThrough(const CapSegment<Real>& s, Real x1, Real twice_b) {
  if (s.k1 <= 0.0) return std::min(s.cap0, x1 + twice_b * s.length);
  return FallingCap<Real>(s.length, s.k0, s.k1, s.cap0, twice_b).LargestAtStart(x1);
}

template <typename Real>
Real ForwardThrough(const CapSegment<Real>& s, Real x0, Real twice_a) {
  if (s.k1 >= 0.0) return std::min(s.cap1, x0 + twice_a * s.length);
  return FallingCap<Real>(s.length, s.k0 + s.k1 * s.length, -s.k1, s.cap1, twice_a)
      .LargestAtStart(x0);
}

// Between squared speeds under a linear cap.
template <typename Real>
void WriteUnderLine(const CapSegment<Real>& s, Real x0, Real v0, Real x1, Real v1, Real twice_a,
                    Real twice_b, CurvePhaseWriter<Real>& writer) {
  const Real slope = (s.cap1 - s.cap0) / s.length;
  // A cap that rises faster than 2a is never followed, nor one that falls faster than 2b.
  Real rising = twice_a > slope ? std::max(Real{0}, (s.cap0 - x0) / (twice_a - slope))
                                : std::numeric_limits<Real>::infinity();
  Real falling = twice_b > -slope ? std::max(Real{0}, (s.cap1 - x1) / (twice_b + slope))
                                  : std::numeric_limits<Real>::infinity();
  if (!Matters(rising, s.length, s.cap0 - x0, x0)) rising = 0;
  if (!Matters(falling, s.length, s.cap1 - x1, x1)) falling = 0;
  const Real level = s.length - rising - falling;
  if (level > kNegligibleShare * s.length) {
    const Real xa = rising > 0.0 ? s.cap0 + slope * rising : x0;
    const Real xb = falling > 0.0 ? s.cap1 - slope * falling : x1;
    const Real va = rising > 0.0 ? std::sqrt(xa) : v0;
    const Real vb = falling > 0.0 ? (slope == 0.0 ? va : std::sqrt(xb)) : v1;
    if (rising > 0.0) writer.Constant(SpeedPhaseKind::kAccelerate, rising, v0, va, 0.5 * twice_a);
    writer.Constant(slope == 0.0 ? SpeedPhaseKind::kCruise : SpeedPhaseKind::kFollowCap, level, va,
                    vb, 0.5 * slope);
    if (falling > 0.0) writer.Constant(SpeedPhaseKind::kBrake, falling, vb, v1, -0.5 * twice_b);
    return;
  }
  Motions<Real> motions;
  AddRiseAndBrake(s.length, x0, x1, twice_a, twice_b, motions);
  Real v = v0;
  for (int i = 0; i < motions.count; ++i) {
    const Motion<Real>& motion = motions.list[i];
    const Real w = i + 1 == motions.count ? v1 : std::sqrt(motion.x_end);
    if (motion.kind == Motion<Real>::kRise) {
      writer.Constant(SpeedPhaseKind::kAccelerate, motion.length, v, w, 0.5 * twice_a);
    } else {
      writer.Constant(SpeedPhaseKind::kBrake, motion.length, v, w, -0.5 * twice_b);
    }
    v = w;
  }
}

template <typename Real>
void WriteUnderHyperbola(const CapSegment<Real>& s, Real x0, Real v0, Real x1, Real v1,
                         Real twice_a, Real twice_b, CurvePhaseWriter<Real>& writer) {
  if (s.k1 > 0.0) {
    const FallingCap<Real> cap(s.length, s.k0, s.k1, s.cap0, twice_b);
    const Motions<Real> motions =
        PlanFallingCap(cap, s.length, s.k0, s.k1, x0, x1, twice_a, twice_b);
    Real v = v0;
    Real d = 0.0;
    for (int i = 0; i < motions.count; ++i) {
      const Motion<Real>& motion = motions.list[i];
      const Real w = i + 1 == motions.count ? v1 : std::sqrt(motion.x_end);
      if (motion.kind == Motion<Real>::kRise) {
        writer.Constant(SpeedPhaseKind::kAccelerate, motion.length, v, w, 0.5 * twice_a);
      } else if (motion.kind == Motion<Real>::kBrake) {
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
  const Real k_end = s.k0 + s.k1 * s.length;
  const FallingCap<Real> cap(s.length, k_end, -s.k1, s.cap1, twice_a);
  const Motions<Real> motions =
      PlanFallingCap(cap, s.length, k_end, -s.k1, x1, x0, twice_b, twice_a);
  Real v = v0;
  Real d = 0.0;
  for (int i = motions.count; i-- > 0;) {
    const Motion<Real>& motion = motions.list[i];
    const Real w = i == 0 ? v1 : std::sqrt(motions.list[i - 1].x_end);
    if (motion.kind == Motion<Real>::kRise) {
      writer.Constant(SpeedPhaseKind::kBrake, motion.length, v, w, -0.5 * twice_b);
    } else if (motion.kind == Motion<Real>::kBrake) {
      writer.Constant(SpeedPhaseKind::kAccelerate, motion.length, v, w, 0.5 * twice_a);
    } else {
      writer.LateralCap(motion.length, v, w, s.k0 + s.k1 * d, s.k1);
    }
    d += motion.length;
    v = w;
  }
}

template <typename Real>
void WriteUnder(const CapSegment<Real>& s, Real x0, Real v0, Real x1, Real v1, Real twice_a,
                Real twice_b, CurvePhaseWriter<Real>& writer) {
  if (s.k1 != 0.0) {
    WriteUnderHyperbola(s, x0, v0, x1, v1, twice_a, twice_b, writer);
  } else {
    WriteUnderLine(s, x0, v0, x1, v1, twice_a, twice_b, writer);
  }
}

}  // namespace

template <typename Real>
Real LargestAtStart(std::span<const CapSegment<Real>> segments, Real x_end, Real twice_b) {
  Real x = x_end;
  for (std::size_t i = segments.size(); i-- > 0;) {
    x = std::min(x, segments[i].cap1);
    x = std::min(segments[i].cap0, BackThrough(segments[i], x, twice_b));
  }
  return x;
}

template <typename Real>
Real LargestAtEnd(std::span<const CapSegment<Real>> segments, Real x_start, Real twice_a) {
  Real x = x_start;
  for (const CapSegment<Real>& segment : segments) {
    x = std::min(x, segment.cap0);
    x = std::min(segment.cap1, ForwardThrough(segment, x, twice_a));
  }
  return x;
}

template <typename Real>
void WriteUnderSegments(std::span<const CapSegment<Real>> segments, Real x0, Real v0, Real x1,
                        Real v1, const BasicMotionBudget<Real>& budget,
                        CurvePhaseWriter<Real>& writer) {
  const Real twice_a = 2.0 * budget.accelerate.limit;
  const Real twice_b = 2.0 * budget.brake.limit;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const CapSegment<Real>& segment = segments[i];
    writer.MoveTo(segment.interval, segment.start);
    if (i + 1 == segments.size()) {
      return WriteUnder(segment, x0, v0, x1, v1, twice_a, twice_b, writer);
    }
    const Real back = LargestAtStart(segments.subspan(i + 1), x1, twice_b);
    const Real x = std::min(std::min(segment.cap1, back), ForwardThrough(segment, x0, twice_a));
    const Real v = std::sqrt(x);
    WriteUnder(segment, x0, v0, x, v, twice_a, twice_b, writer);
    x0 = x;
    v0 = v;
  }
}

template <typename Real>
void PassBackwardOverCaps(const std::vector<CapSegment<Real>>& segments, const CurveOrder& order,
                          Real x_end, const BasicMotionBudget<Real>& budget,
                          std::vector<Real>& backward) {
  const Real twice_b = 2.0 * budget.brake.limit;
  const std::size_t m = segments.size();
  backward.resize(m + 1);
  Real x = order.AllowedAt(order.interval_count(), x_end);
  for (std::size_t i = m; i-- > 0;) {
    const CapSegment<Real>& segment = segments[i];
    x = std::min(x, segment.cap1);
    backward[i + 1] = x;
    x = std::min(segment.cap0, BackThrough(segment, x, twice_b));
    const bool first = i == 0 || segments[i - 1].node != segment.node;
    if (first) x = order.AllowedAt(segment.node, x);
  }
  backward[0] = x;
}

template <typename Real>
Real WriteCapPhases(const std::vector<CapSegment<Real>>& segments, const CurveOrder& order,
                    Real v_start, const BasicMotionBudget<Real>& budget,
                    const std::vector<Real>& backward, std::vector<double>& node_speed,
                    CurvePhaseWriter<Real>& writer) {
  const Real twice_a = 2.0 * budget.accelerate.limit;
  const Real twice_b = 2.0 * budget.brake.limit;
  Real x0 = std::min(v_start * v_start, backward[0]);
  Real v0 = v_start;
  std::uint32_t next_node = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const CapSegment<Real>& s = segments[i];
    writer.MoveTo(s.interval, s.start);
    if (s.node == next_node) {
      node_speed[next_node++] = static_cast<double>(v0);
      if (order.StopsAt(s.node)) writer.Dwell(order.dwell[s.node]);
    }
    const Real x1 = std::min(backward[i + 1], ForwardThrough(s, x0, twice_a));
    const Real v1 = std::sqrt(x1);
    WriteUnder(s, x0, v0, x1, v1, twice_a, twice_b, writer);
    x0 = x1;
    v0 = v1;
  }
  node_speed[next_node] = static_cast<double>(v0);
  if (order.StopsAt(next_node)) {
    writer.MoveTo(segments.back().interval, segments.back().start + segments.back().length);
    writer.Dwell(order.dwell[next_node]);
  }
  return x0;
}

template double LargestAtStart(std::span<const CapSegment<double>>, double, double);
template double LargestAtEnd(std::span<const CapSegment<double>>, double, double);
template void WriteUnderSegments(std::span<const CapSegment<double>>, double, double, double,
                                 double, const BasicMotionBudget<double>&,
                                 CurvePhaseWriter<double>&);
template void PassBackwardOverCaps(const std::vector<CapSegment<double>>&, const CurveOrder&,
                                   double, const BasicMotionBudget<double>&, std::vector<double>&);
template double WriteCapPhases(const std::vector<CapSegment<double>>&, const CurveOrder&, double,
                               const BasicMotionBudget<double>&, const std::vector<double>&,
                               std::vector<double>&, CurvePhaseWriter<double>&);
template void PassBackwardOverCaps(const std::vector<CapSegment<long double>>&, const CurveOrder&,
                                   long double, const BasicMotionBudget<long double>&,
                                   std::vector<long double>&);
template long double WriteCapPhases(const std::vector<CapSegment<long double>>&, const CurveOrder&,
                                    long double, const BasicMotionBudget<long double>&,
                                    const std::vector<long double>&, std::vector<double>&,
                                    CurvePhaseWriter<long double>&);

}  // namespace arclane
