// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/cap_segments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace arclane {
namespace {

// The cap along one interval: the smaller of a line and 1 / |k|, both over d in [0, length].
template <typename Real>
struct IntervalCaps {
  Real length;
  Real k0, k1;        // signed curvature over a_lat at both ends
  Real line0, line1;  // squared speeds

  Real K(Real d) const { return k0 + (k1 - k0) * (d / length); }
  Real Line(Real d) const {
    return line0 == line1 ? line0 : line0 + (line1 - line0) * (d / length);
  }
};

template <typename Real>
class Cutter {
 public:
  Cutter(Real start, std::uint32_t interval, std::uint32_t node,
         std::vector<CapSegment<Real>>& segments)
      : start_(start), interval_(interval), node_(node), segments_(segments) {}

  void Line(const IntervalCaps<Real>& caps, Real from, Real to) {
    if (!(to > from)) return;
    segments_.push_back(
        {start_ + from, to - from, caps.Line(from), caps.Line(to), 0.0, 0.0, interval_, node_});
  }

  void Hyperbola(const IntervalCaps<Real>& caps, Real from, Real to) {
    if (!(to > from)) return;
    const Real k_from = std::abs(from > 0.0 ? caps.K(from) : caps.k0);
    const Real k_to = std::abs(to < caps.length ? caps.K(to) : caps.k1);
    CapSegment<Real> segment = {start_ + from, to - from, 1.0 / k_from, 1.0 / k_to,
                                0.0,           0.0,       interval_,    node_};
    if (k_from != k_to) {
      segment.k0 = k_from;
      segment.k1 = (k_to - k_from) / segment.length;
    }
    segments_.push_back(segment);
  }

 private:
  Real start_;
  std::uint32_t interval_;
  std::uint32_t node_;
  std::vector<CapSegment<Real>>& segments_;
};

// Where line(d) * |k(d)| = 1, and where the curvature changes sign, in (0, length); ascending.
template <typename Real>
class Crossings {
 public:
  explicit Crossings(const IntervalCaps<Real>& caps) {
    const Real k_slope = (caps.k1 - caps.k0) / caps.length;
    const Real line_slope = (caps.line1 - caps.line0) / caps.length;
    for (const Real sign : {Real{1}, Real{-1}}) {
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

  const Real* begin() const { return at_.data(); }
  const Real* end() const { return at_.data() + count_; }

 private:
  void Add(Real d, Real length) {
    if (d > 0.0 && d < length) at_[count_++] = d;
  }

  void AddRoots(Real a, Real b, Real c, Real length) {
    const Real discriminant = b * b - 4.0 * a * c;
    if (discriminant < 0.0) return;
    const Real q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
    if (q != 0.0) Add(c / q, length);
    if (a != 0.0) Add(q / a, length);
  }

  std::array<Real, 5> at_ = {};
  int count_ = 0;
};

template <typename Real>
void CutInterval(const IntervalCaps<Real>& caps, Cutter<Real>& cutter) {
  const bool lateral_binds =
      std::max(std::abs(caps.k0) * caps.line0, std::abs(caps.k1) * caps.line1) > 1.0 ||
      (caps.line0 != caps.line1 && (caps.k0 != 0.0 || caps.k1 != 0.0));
  if (!lateral_binds) return cutter.Line(caps, Real{0}, caps.length);
  const bool line_is_level = caps.line0 == caps.line1;
  if (line_is_level && std::min(std::abs(caps.k0), std::abs(caps.k1)) * caps.line0 >= 1.0 &&
      caps.k0 * caps.k1 > 0.0) {
    return cutter.Hyperbola(caps, Real{0}, caps.length);
  }
  Real from = 0.0;
  const auto cut = [&](Real to) {
    const Real middle = 0.5 * (from + to);
    if (std::abs(caps.K(middle)) * caps.Line(middle) > 1.0) {
      cutter.Hyperbola(caps, from, to);
    } else {
      cutter.Line(caps, from, to);
    }
    from = to;
  };
  for (const Real to : Crossings<Real>(caps)) cut(to);
  cut(caps.length);
}

}  // namespace

template <typename Real>
void CutIntervalIntoCapSegments(const CurveOrder& order, std::size_t j,
                                const BasicMotionBudget<Real>& budget,
                                std::vector<CapSegment<Real>>& segments) {
  const Real per_lateral = 1.0 / budget.lateral;  // 0 without a lateral limit
  const auto line = [&](std::size_t node) {
    if (order.speed_cap.empty()) return budget.squared_max_speed;
    return order.SquaredCap<Real>(node);
  };
  const Real level = budget.squared_max_speed;
  const std::size_t i = order.RequestInterval(j);
  IntervalCaps<Real> caps = {Real{order.distance[i + 1]} - order.distance[i],
                             order.curvature[j] * per_lateral, order.curvature[j + 1] * per_lateral,
                             line(j), line(j + 1)};
  Cutter<Real> cutter(order.distance[i], static_cast<std::uint32_t>(i),
                      static_cast<std::uint32_t>(j), segments);
  // A prescribed cap that is unlimited or above max_speed on a part of the interval.
  if (!(caps.line0 < std::numeric_limits<Real>::infinity()) ||
      !(caps.line1 < std::numeric_limits<Real>::infinity()))
    caps.line0 = caps.line1 = level;
  if (caps.line0 >= level && caps.line1 >= level) {
    caps.line0 = caps.line1 = level;
  } else if (std::max(caps.line0, caps.line1) > level) {
    const Real at = caps.length * ((level - caps.line0) / (caps.line1 - caps.line0));
    IntervalCaps<Real> before = caps;
    before.length = at;
    before.k1 = caps.K(at);
    before.line1 = level;
    IntervalCaps<Real> after = caps;
    after.length = caps.length - at;
    after.k0 = before.k1;
    after.line0 = level;
    (before.line0 > level ? before.line0 : after.line1) = level;
    if (before.length > 0.0) CutInterval(before, cutter);
    Cutter<Real> rest(order.distance[i] + at, static_cast<std::uint32_t>(i),
                      static_cast<std::uint32_t>(j), segments);
    if (after.length > 0.0) CutInterval(after, rest);
    return;
  }
  CutInterval(caps, cutter);
}

template <typename Real>
void CutIntoCapSegments(const CurveOrder& order, const BasicMotionBudget<Real>& budget,
                        std::vector<CapSegment<Real>>& segments) {
  segments.clear();
  for (std::size_t j = 0; j < order.interval_count(); ++j) {
    CutIntervalIntoCapSegments(order, j, budget, segments);
  }
}

template void CutIntervalIntoCapSegments(const CurveOrder&, std::size_t,
                                         const BasicMotionBudget<double>&,
                                         std::vector<CapSegment<double>>&);
template void CutIntoCapSegments(const CurveOrder&, const BasicMotionBudget<double>&,
                                 std::vector<CapSegment<double>>&);
template void CutIntoCapSegments(const CurveOrder&, const BasicMotionBudget<long double>&,
                                 std::vector<CapSegment<long double>>&);

}  // namespace arclane
