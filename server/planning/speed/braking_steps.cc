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
               std::vector<CurvePart<Real>>& cuts, BrakingCurve<Real>& curve)
      : order_(order),
        allowance_(allowance),
        edge_(budget.motion.brake, budget),
        cutter_(order, budget, cuts),
        cuts_(cuts),
        parts_(curve.parts),
        steps_(curve.steps) {}

  Real Run(Real x_end) {
    parts_.clear();
    steps_.clear();
    const std::size_t n = order_.interval_count();
    x_ = order_.AllowedAt(n, x_end);
    for (std::size_t j = n; j-- > 0;) {
      CurvePart<Real> whole;
      if (cutter_.IsWhole(j, whole)) {
        if (!Add(j, whole)) return x_;
      } else {
        cutter_.Cut(j);
        for (std::size_t p = cuts_.size(); p-- > 0;) {
          if (!Add(j, cuts_[p])) return x_;
        }
      }
      parts_.back().first = true;
      if (const Real allowed = order_.AllowedAt(j, x_); allowed < x_) {
        x_ = allowed;
        next_ = -1.0;
      }
    }
    return x_;
  }

 private:
  Real Bound(Real k, Real cap) const { return k * cap > edge_.total() ? edge_.total() / k : cap; }

  void Push(Real from, Real to, bool binds, Real f_to, Real f_slope) {
    steps_.push_back({from, to, x_, f_to, f_slope, binds});
  }

  // A part of interval j. False: the allowance has ended.
  bool Add(std::size_t j, const CurvePart<Real>& part) {
    const std::size_t interval = order_.RequestInterval(j);
    const std::size_t begin = steps_.size();
    const bool goes_on = Through(part);
    parts_.push_back({part, order_.distance[interval] + part.from, begin, steps_.size(),
                      static_cast<std::uint32_t>(interval), static_cast<std::uint32_t>(j), false});
    return goes_on;
  }

  // False: the allowance has ended.
  bool Through(const CurvePart<Real>& part) {
    Real position = part.to;
    Real k_here = part.k_to;
    Real cap_here = part.cap_to;
    if (const Real bound = Bound(k_here, cap_here); x_ > bound) {
      x_ = bound;
      next_ = -1.0;
    }
    Real f = next_ >= 0.0 ? next_ : edge_.At(k_here, x_);
    const Real smallest = kSmallestPart * (part.to - part.from);
    for (;;) {
      if (!allowance_.Continues(steps_.size())) return false;
      const bool at_line = x_ >= cap_here * (1.0 - kSameSquare) && part.cap_from <= cap_here;
      const bool at_circle =
          k_here * x_ >= edge_.total() * (1.0 - kSameSquare) && part.k_from > part.k_to;
      if (at_line || at_circle) {
        // The cap falls backward: every speed under it can brake to here.
        Push(Real{0}, position - part.from, false, Real{0}, Real{0});
        x_ = Bound(part.k_from, part.cap_from);
        next_ = -1.0;
        return true;
      }
      if (x_ >= cap_here * (1.0 - kSameSquare) &&
          CanFollowCap(part, position - part.from, k_here, cap_here)) {
        Push(Real{0}, position - part.from, false, Real{0}, Real{0});
        x_ = part.cap_from;
        next_ = -1.0;
        return true;
      }
      Real d = lengths_.Along(position - part.from);
      bool cut = false;
      Real from;
      Real k_from;
      Real cap_from;
      for (;;) {
        from = d < position - part.from ? position - d : part.from;
        k_from = part.K(from);
        cap_from = part.Cap(from);
        StepEnds<Real> ends;
        const bool fits = edge_.Step(x_, f, k_here, k_from, d, ends);
        if (fits && FollowsCap(part, k_here, k_from, cap_here, cap_from, d, ends)) {
          f = Accept(from - part.from, position - part.from, d, k_from, cap_here, cap_from, ends);
        } else if (d > smallest) {
          if (fits) ends.depth = 0.0;  // it is the cap that refuses it
          cut = cut || ends.depth == 0.0;
          d = std::max(smallest, edge_.Shorter(x_, f, k_here, k_from, d, ends));
          continue;
        } else if (edge_.DeepStep(x_, f, k_here, k_from, d, ends)) {
          if (!FollowsCap(part, k_here, k_from, cap_here, cap_from, d, ends)) Straighten(ends);
          f = Accept(from - part.from, position - part.from, d, k_from, cap_here, cap_from, ends);
        } else {
          const Real less = edge_.ShortStep(x_, f, k_here, -part.k_slope, d, ends);
          if (position - less < position) {
            from = position - less;
            k_from = part.K(from);
            cap_from = part.Cap(from);
            if (!FollowsCap(part, k_here, k_from, cap_here, cap_from, less, ends)) Straighten(ends);
            f = Accept(from - part.from, position - part.from, less, k_from, cap_here, cap_from,
                       ends);
            lengths_.Restart(ends.a1 == 0.0 ? std::numeric_limits<Real>::infinity() : smallest);
            break;
          }
          // A rise too short for distances to tell still counts.
          if (less > 0) x_ += less * (ends.a0 + ends.a1);
          Push(from - part.from, position - part.from, true, Real{0}, Real{0});
          x_ = std::min(x_, Bound(k_from, cap_from));
          f = edge_.At(k_from, x_);
        }
        lengths_.Took(d, ends.depth, cut);
        break;
      }
      if (!(from > part.from)) {
        next_ = f;
        return true;
      }
      position = from;
      k_here = k_from;
      cap_here = cap_from;
    }
  }

  // Whether the cap, which falls along the way, can be followed over the part's first stretch of
  // length d: every speed under it can brake to the stretch's end.
  bool CanFollowCap(const CurvePart<Real>& part, Real d, Real k_to, Real cap_to) const {
    if (part.lateral > 0.0) return edge_.FollowsLateral(part);
    const Real braking = 0.5 * (part.cap_from - cap_to) / d;
    return braking <= edge_.At(k_to, cap_to) && braking <= edge_.At(part.k_from, part.cap_from) &&
           edge_.Keeps(cap_to, braking, k_to, part.k_from, d);
  }

  // A step that ends below the cap must not bulge over it before. Where one meets a cap that falls
  // along the way the budget must allow following it.
  bool FollowsCap(const CurvePart<Real>& part, Real k_here, Real k_from, Real cap_here,
                  Real cap_from, Real d, const StepEnds<Real>& ends) const {
    if (cap_from == cap_here) return true;
    const Real slope = (cap_from - cap_here) / d;
    if (x_ + d * (ends.a0 + ends.a1) > cap_from) {
      return cap_from < cap_here || d <= kSmallestPart * (part.to - part.from) ||
             edge_.Keeps(cap_here, 0.5 * slope, k_here, k_from, d) ||
             0.5 * slope > edge_.At(k_from, cap_from);
    }
    const Real tiny = kSameSquare * cap_from;
    return !Exceeds(x_ - cap_here - tiny, 2.0 * ends.a0 - slope, (ends.a1 - ends.a0) / d, d);
  }

  // The smallest step that bulges over the cap runs as a line below it.
  static void Straighten(StepEnds<Real>& ends) { ends.a0 = ends.a1 = std::min(ends.a0, ends.a1); }

  // Takes the step of length d from `from` to `to` in its part. Returns the braking with which
  // the next step starts.
  Real Accept(Real from, Real to, Real d, Real k_from, Real cap_here, Real cap_from,
              const StepEnds<Real>& ends) {
    const Real raw = x_ + d * (ends.a0 + ends.a1);
    if (raw <= cap_from) {
      Push(from, to, true, ends.a0, (ends.a1 - ends.a0) / d);
      x_ = raw;
      return ends.next;
    }
    Real x = cap_from;
    const Real slope = (cap_from - cap_here) / (2.0 * d);
    if (slope > 0.0 && slope > edge_.At(k_from, cap_from)) {
      // Following the falling cap needs more braking than the circle leaves at its faster end.
      x = slope < edge_.total() ? std::sqrt(edge_.total2() - slope * slope) / k_from : Real{0};
      x = std::max(std::min(x, cap_from), std::min(x_, cap_from));
      Push(from, to, true, (x - x_) / (2.0 * d), Real{0});
    } else {
      Push(from, to, true, ends.a0, (ends.a1 - ends.a0) / d);
    }
    x_ = x;
    return edge_.At(k_from, x);
  }

  const CurveOrder& order_;
  StepAllowance& allowance_;
  const DiscEdge<Real> edge_;
  PartCutter<Real> cutter_;
  const std::vector<CurvePart<Real>>& cuts_;
  std::vector<BrakedPart<Real>>& parts_;
  std::vector<BrakeStep<Real>>& steps_;
  Real x_ = 0.0;
  // The braking with which the next part ends; negative: take it from the speed.
  Real next_ = -1.0;
  StepLength<Real> lengths_;
};

}  // namespace

template <typename Real>
Real PassBackwardCoupled(const CurveOrder& order, Real x_end, const CoupledBudget<Real>& budget,
                         StepAllowance& allowance, std::vector<CurvePart<Real>>& cuts,
                         BrakingCurve<Real>& curve) {
  return BackwardPass<Real>(order, budget, allowance, cuts, curve).Run(x_end);
}

template double PassBackwardCoupled(const CurveOrder&, double, const CoupledBudget<double>&,
                                    StepAllowance&, std::vector<CurvePart<double>>&,
                                    BrakingCurve<double>&);
template long double PassBackwardCoupled(const CurveOrder&, long double,
                                         const CoupledBudget<long double>&, StepAllowance&,
                                         std::vector<CurvePart<long double>>&,
                                         BrakingCurve<long double>&);

}  // namespace arclane
