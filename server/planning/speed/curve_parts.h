// SPDX-License-Identifier: Apache-2.0
// Intervals of a curve cut where curvature changes sign, where caps meet, and finely enough that a
// separate lateral limit is followed by chords. Internal to the speed planner, for coupled budgets.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_CURVE_PARTS_H_
#define ARCLANE_SERVER_PLANNING_SPEED_CURVE_PARTS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "server/planning/speed/curve_phase_writer.h"
#include "server/planning/speed/piece_motion.h"

namespace arclane {

// Largest relative excess of the coupled budget between nodes.
inline constexpr double kBudgetExcess = 1e-6;
// Shares of an interval that are not worth a part: curvature and caps are off by twice as much.
inline constexpr double kSliver = 1e-9;

// A part of an interval where |curvature| and the speed cap are linear. Offsets are from the
// interval's start.
template <typename Real>
struct CurvePart {
  Real from, to;
  Real k_from, k_to;
  Real cap_from, cap_to;

  Real k_slope, cap_slope;
  // Under the lateral limit, whose cap is lateral / k and has a chord here; 0: a linear cap alone.
  Real lateral = 0;

  Real K(Real d) const { return d >= to ? k_to : k_from + k_slope * (d - from); }
  Real Cap(Real d) const { return d >= to ? cap_to : cap_from + cap_slope * (d - from); }
  void SetSlopes() {
    const Real per_length = 1 / (to - from);
    k_slope = (k_to - k_from) * per_length;
    cap_slope = cap_to == cap_from ? Real{0} : (cap_to - cap_from) * per_length;
  }
};

template <typename Real>
struct CoupledBudget {
  CoupledBudget(const BasicMotionBudget<Real>& motion_in, Real resolution_in)
      : motion(motion_in),
        resolution(resolution_in),
        lateral_margin(resolution / 2),
        lateral(motion.lateral) {
    if (motion.lateral < motion.total) lateral = motion.lateral / (1 + lateral_margin);
  }

  const BasicMotionBudget<Real>& motion;
  Real resolution;  // relative excess of the time over the optimum that is accepted
  // A separate lateral limit below the total is a hyperbola in x; chords over parts of ratio rho in
  // curvature exceed it by (rho - 1)^2 / (4 rho), which is kept below this margin and taken off the
  // limit: all along, where a step is deepest in its middle only.
  Real lateral_margin;
  Real lateral;
};

// Cuts interval j into parts, in driving order.
template <typename Real>
class PartCutter {
 public:
  PartCutter(const CurveOrder& order, const CoupledBudget<Real>& budget,
             std::vector<CurvePart<Real>>& parts)
      : order_(order),
        level_(budget.motion.squared_max_speed),
        lateral_(budget.motion.lateral < budget.motion.total
                     ? budget.lateral
                     : std::numeric_limits<Real>::infinity()),
        resolution_(budget.lateral_margin),
        parts_(parts) {
    // (rho - 1)^2 / (4 rho) = resolution.
    const Real rho = 1.0 + 2.0 * resolution_ + 2.0 * std::sqrt(resolution_ * (1.0 + resolution_));
    log_ratio_ = std::log(rho);
  }

  // Interval j as its one part, the usual case; false: it may have more.
  bool IsWhole(std::size_t j, CurvePart<Real>& part) const {
    const Real k0 = order_.curvature[j];
    const Real k1 = order_.curvature[j + 1];
    if (!order_.speed_cap.empty() || k0 * k1 < 0.0) return false;
    const Real m0 = std::abs(k0);
    const Real m1 = std::abs(k1);
    if (std::max(m0, m1) * level_ > lateral_) return false;
    const std::size_t i = order_.RequestInterval(j);
    const Real length = Real{order_.distance[i + 1]} - order_.distance[i];
    part = {Real{0}, length, m0, m1, level_, level_, (m1 - m0) / length, Real{0}};
    return true;
  }

  void Cut(std::size_t j) {
    parts_.clear();
    const std::size_t i = order_.RequestInterval(j);
    const Real length = Real{order_.distance[i + 1]} - order_.distance[i];
    const Real k0 = order_.curvature[j];
    const Real k1 = order_.curvature[j + 1];
    Real line0 = level_;
    Real line1 = level_;
    if (!order_.speed_cap.empty()) {
      line0 = order_.SquaredCap<Real>(j);
      line1 = order_.SquaredCap<Real>(j + 1);
      if (!(line0 < std::numeric_limits<Real>::infinity()) ||
          !(line1 < std::numeric_limits<Real>::infinity()))
        line0 = line1 = level_;
    }
    std::array<Real, 4> cuts = {Real{0}, length, length, length};
    int count = 1;
    const auto cut = [&](Real part) {
      if (part > kSliver && part < 1.0 - kSliver) cuts[count++] = part * length;
    };
    if (k0 * k1 < 0.0) cut(k0 / (k0 - k1));
    if ((line0 - level_) * (line1 - level_) < 0.0) cut((level_ - line0) / (line1 - line0));
    cuts[count] = length;
    if (count == 3 && cuts[1] > cuts[2]) std::swap(cuts[1], cuts[2]);
    for (int c = 0; c < count; ++c) {
      if (!(cuts[c + 1] > cuts[c])) continue;
      const auto k = [&](Real d) {
        return d >= length ? std::abs(k1) : std::abs(k0 + (k1 - k0) * (d / length));
      };
      const auto line = [&](Real d) {
        return std::min(level_, d >= length ? line1 : line0 + (line1 - line0) * (d / length));
      };
      CurvePart<Real> part = {cuts[c],       cuts[c + 1],       k(cuts[c]), k(cuts[c + 1]),
                              line(cuts[c]), line(cuts[c + 1]), 0,          0};
      part.SetSlopes();
      AddPart(part);
    }
  }

 private:
  // Cuts a part under a linear cap where that meets the lateral limit.
  void AddPart(const CurvePart<Real>& part) {
    const Real line = std::max(part.cap_from, part.cap_to);
    if (!(std::max(part.k_from, part.k_to) * line > lateral_)) {
      parts_.push_back(part);
      return;
    }
    const Real length = part.to - part.from;
    std::array<Real, 3> ends = {length, length, length};
    int count = 0;
    const auto cut = [&](Real at) {
      if (at > kSliver * length && at < length - kSliver * length) ends[count++] = at;
    };
    // (cap_from + cap_slope d) (k_from + k_slope d) = lateral.
    const Real square = part.cap_slope * part.k_slope;
    const Real b = part.cap_from * part.k_slope + part.cap_slope * part.k_from;
    const Real c = part.cap_from * part.k_from - lateral_;
    const Real discriminant = b * b - 4.0 * square * c;
    if (discriminant > 0.0) {
      const Real q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
      cut(c / q);
      if (square != 0.0) cut(q / square);
    }
    if (count == 2 && ends[0] > ends[1]) std::swap(ends[0], ends[1]);
    Real from = 0;
    for (int i = 0; i <= count; ++i) {
      const Real to = i < count ? ends[i] : length;
      if (!(to > from)) continue;
      const Real middle = part.from + 0.5 * (from + to);
      AddBetween(part, from, to, part.K(middle) * part.Cap(middle) > lateral_);
      from = to;
    }
  }

  // The stretch of `part` between two places, offsets from its start, under the lateral limit all
  // along or not at all.
  void AddBetween(const CurvePart<Real>& part, Real from, Real to, bool lateral) {
    const Real length = part.to - part.from;
    CurvePart<Real> next = part;
    next.from = part.from + from;
    next.k_from = part.K(next.from);
    next.cap_from = UnderLateral(next.k_from, part.Cap(next.from));
    if (lateral) next.lateral = lateral_;
    const Real end = to < length ? part.from + to : part.to;
    const Real k_end = part.K(end);
    if (lateral) {
      const Real ratio = k_end / next.k_from;
      const int count = 1 + static_cast<int>(std::abs(std::log(ratio)) / log_ratio_);
      const Real k_start = next.k_from;
      for (int i = 1; i < count; ++i) {
        const Real k = k_start * std::pow(ratio, static_cast<Real>(i) / count);
        AddUpTo(part, part.from + (k - part.k_from) / part.k_slope, next);
      }
    }
    AddUpTo(part, end, next);
  }

  void AddUpTo(const CurvePart<Real>& part, Real to, CurvePart<Real>& next) {
    if (!(to > next.from) || to > part.to) return;
    next.to = to;
    next.k_to = part.K(to);
    next.cap_to = UnderLateral(next.k_to, part.Cap(to));
    next.SetSlopes();
    next.k_slope = part.k_slope;  // exactly that of its neighbours
    parts_.push_back(next);
    next.from = next.to;
    next.k_from = next.k_to;
    next.cap_from = next.cap_to;
  }

  Real UnderLateral(Real k, Real cap) const { return k * cap > lateral_ ? lateral_ / k : cap; }

  const CurveOrder& order_;
  const Real level_;
  const Real lateral_;
  const Real resolution_;
  std::vector<CurvePart<Real>>& parts_;
  Real log_ratio_ = 0.0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_CURVE_PARTS_H_
