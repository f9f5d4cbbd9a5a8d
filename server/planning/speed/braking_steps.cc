// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/braking_steps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "server/planning/speed/disc_edge.h"

namespace arclane {
namespace {

template <typename Real>
class BackwardPass {
 public:
  BackwardPass(const CurveOrder& order, const CoupledBudget<Real>& budget, StepAllowance& allowance,
               std::vector<CurvePart<Real>>& parts, std::vector<BrakeStep<Real>>& steps)
      : order_(order),
        allowance_(allowance),
        edge_(budget.motion.brake.limit, budget),
        cutter_(order, budget, parts),
        parts_(parts),
        steps_(steps) {}

  Real Run(Real x_end) {
    steps_.clear();
    const std::size_t n = order_.interval_count();
    x_ = order_.StopsAt(n) ? Real{0} : x_end;
    for (std::size_t j = n; j-- > 0;) {
      interval_ = static_cast<std::uint32_t>(order_.RequestInterval(j));
      node_ = static_cast<std::uint32_t>(j);
      start_ = order_.distance[interval_];
      CurvePart<Real> whole;
      if (cutter_.IsWhole(j, whole)) {
        if (!Through(whole)) return x_;
      } else {
        cutter_.Cut(j);
        for (std::size_t p = parts_.size(); p-- > 0;) {
          if (!Through(parts_[p])) return x_;
        }
      }
      steps_.back().first = true;
      if (order_.StopsAt(j)) x_ = 0.0;
    }
    return x_;
  }

 private:
  Real Bound(Real k, Real cap) const { return k * cap > edge_.total() ? edge_.total() / k : cap; }

  void Push(const CurvePart<Real>& part, Real from, Real to, bool binds, Real f_to, Real f_from) {
    const Real length = to - from;
    steps_.push_back({start_ + from, length, part.K(from), part.K(to), part.k_slope, part.Cap(from),
                      part.Cap(to), part.cap_slope, x_, f_to, f_from, (f_from - f_to) / length,
                      interval_, node_, false, binds});
  }

  // False: the allowance has ended.
  bool Through(const CurvePart<Real>& part) {
    Real position = part.to;
    x_ = std::min(x_, Bound(part.k_to, part.cap_to));
    Real f = edge_.At(part.k_to, x_);
    const Real smallest = kSmallestPart * (part.to - part.from);
    while (position > part.from) {
      if (!allowance_.Continues(steps_.size())) return false;
      const Real k_here = part.K(position);
      const Real cap_here = part.Cap(position);
      const bool at_line = x_ >= cap_here * (1.0 - kSameSquare) && part.cap_from <= cap_here;
      const bool at_circle =
          k_here * x_ >= edge_.total() * (1.0 - kSameSquare) && part.k_from > part.k_to;
      if (at_line || at_circle) {
        // The cap falls backward: every speed under it can brake to here.
        Push(part, part.from, position, false, Real{0}, Real{0});
        x_ = Bound(part.k_from, part.cap_from);
        return true;
      }
      Real d = position - part.from;
      if (try_ < 0.75 * d) d = try_;
      bool rejected = false;
      for (;;) {
        const Real from = d < position - part.from ? position - d : part.from;
        const Real k_from = part.K(from);
        StepEnds<Real> ends;
        if (edge_.Step(x_, f, k_here, k_from, d, ends) &&
            FollowsCap(part, from, cap_here, d, ends)) {
          f = Accept(part, from, position, ends, cap_here);
        } else if (d > smallest) {
          d = std::max(smallest, edge_.Shorter(x_, f, k_here, k_from, d));
          rejected = true;
          continue;
        } else if (edge_.DeepStep(x_, f, k_here, k_from, d, ends)) {
          f = Accept(part, from, position, ends, cap_here);
        } else {
          const Real less = edge_.ShortStep(x_, f, k_here, -part.k_slope, d, ends);
          if (position - less < position) {
            f = Accept(part, position - less, position, ends, cap_here);
            position -= less;
            try_ = ends.a1 == 0.0 ? std::numeric_limits<Real>::infinity() : smallest;
            break;
          }
          // A rise too short for distances to tell still counts.
          if (less > 0) x_ += less * (ends.a0 + ends.a1);
          Push(part, from, position, true, Real{0}, Real{0});
          x_ = std::min(x_, Bound(k_from, part.Cap(from)));
          f = edge_.At(k_from, x_);
        }
        position = from;
        try_ = rejected ? d : std::max(try_, d / kCut);
        break;
      }
    }
    return true;
  }

  // Under a falling cap: a step that ends below it must not bulge over it before, and where the
  // step meets the cap the budget must allow following it.
  bool FollowsCap(const CurvePart<Real>& part, Real from, Real cap_here, Real d,
                  const StepEnds<Real>& ends) const {
    const Real cap = part.Cap(from);
    if (cap <= cap_here) return true;
    const Real slope = (cap - cap_here) / d;
    if (x_ + d * (ends.a0 + ends.a1) > cap) {
      return d <= kSmallestPart * (part.to - part.from) ||
             edge_.Keeps(cap_here, 0.5 * slope, part.K(from + d), part.K(from), d) ||
             0.5 * slope > edge_.At(part.K(from), cap);
    }
    const Real tiny = kSameSquare * cap;
    return !Exceeds(x_ - cap_here - tiny, 2.0 * ends.a0 - slope, (ends.a1 - ends.a0) / d, d);
  }

  // Returns the braking with which the next step starts.
  Real Accept(const CurvePart<Real>& part, Real from, Real to, const StepEnds<Real>& ends,
              Real cap_here) {
    const Real d = to - from;
    const Real k = part.K(from);
    const Real cap = part.Cap(from);
    const Real raw = x_ + d * (ends.a0 + ends.a1);
    if (raw <= cap) {
      Push(part, from, to, true, ends.a0, ends.a1);
      x_ = raw;
      return ends.next;
    }
    Real x = cap;
    const Real slope = (cap - cap_here) / (2.0 * d);
    if (slope > 0.0 && slope > edge_.At(k, cap)) {
      // Following the falling cap needs more braking than the circle leaves at its faster end.
      x = slope < edge_.total() ? std::sqrt(edge_.total2() - slope * slope) / k : Real{0};
      x = std::max(std::min(x, cap), std::min(x_, cap));
      const Real even = (x - x_) / (2.0 * d);
      Push(part, from, to, true, even, even);
    } else {
      Push(part, from, to, true, ends.a0, ends.a1);
    }
    x_ = x;
    return edge_.At(k, x);
  }

  const CurveOrder& order_;
  StepAllowance& allowance_;
  const DiscEdge<Real> edge_;
  PartCutter<Real> cutter_;
  const std::vector<CurvePart<Real>>& parts_;
  std::vector<BrakeStep<Real>>& steps_;
  std::uint32_t interval_ = 0;
  std::uint32_t node_ = 0;
  Real start_ = 0.0;
  Real x_ = 0.0;
  Real try_ = std::numeric_limits<Real>::infinity();
};

}  // namespace

template <typename Real>
Real PassBackwardCoupled(const CurveOrder& order, Real x_end, const CoupledBudget<Real>& budget,
                         StepAllowance& allowance, std::vector<CurvePart<Real>>& parts,
                         std::vector<BrakeStep<Real>>& steps) {
  return BackwardPass<Real>(order, budget, allowance, parts, steps).Run(x_end);
}

template double PassBackwardCoupled(const CurveOrder&, double, const CoupledBudget<double>&,
                                    StepAllowance&, std::vector<CurvePart<double>>&,
                                    std::vector<BrakeStep<double>>&);
template long double PassBackwardCoupled(const CurveOrder&, long double,
                                         const CoupledBudget<long double>&, StepAllowance&,
                                         std::vector<CurvePart<long double>>&,
                                         std::vector<BrakeStep<long double>>&);

}  // namespace arclane
