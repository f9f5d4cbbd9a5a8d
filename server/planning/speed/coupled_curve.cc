// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/coupled_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace arclane {
namespace {

template <typename Real>
class ForwardPass {
 public:
  ForwardPass(Real v_start, Real x_start, const CoupledBudget<Real>& budget,
              StepAllowance& allowance, CurvePhaseWriter<Real>& writer)
      : edge_(budget.motion.accelerate.limit, budget),
        allowance_(allowance),
        writer_(writer),
        x_(x_start),
        v_(v_start) {}

  Real x() const { return x_; }
  Real v() const { return v_; }

  // False: the allowance has ended.
  bool Through(const BrakeStep<Real>& step) {
    Real t = 0.0;
    while (t < step.length) {
      if (!allowance_.Continues(writer_.phase_count())) return false;
      const Real rest = step.length - t;
      if (step.binds && x_ >= BrakeCurve(step, t) * (1.0 - kSameSquare)) {
        FollowBraking(step, rest);
        return true;
      }
      const Real k = K(step, t);
      const Real cap = Cap(step, t);
      Real moved = x_ >= cap * (1.0 - kSameSquare) ? FollowCap(step, t, k) : Real{0};
      if (!(moved > 0.0)) moved = Accelerate(step, t, k);
      if (!(moved > kSmallestPart * kSmallestPart * step.length)) moved += Creep(step, t + moved);
      t += moved;
      if (step.length - t <= kRounding * step.length) t = step.length;
    }
    return true;
  }

 private:
  static constexpr double kRounding = 1e-14;

  static Real K(const BrakeStep<Real>& s, Real t) {
    return t >= s.length ? s.k_to : s.k_from + s.k_slope * t;
  }
  static Real Cap(const BrakeStep<Real>& s, Real t) {
    return t >= s.length ? s.cap_to : s.cap_from + s.cap_slope * t;
  }
  static Real BrakeCurve(const BrakeStep<Real>& s, Real t) {
    const Real e = s.length - t;
    return s.x_to + e * (2.0 * s.f_to + s.f_slope * e);
  }
  static Real Braking(const BrakeStep<Real>& s, Real t) { return s.f_from - s.f_slope * t; }

  void Become(Real x) {
    x_ = x;
    v_ = std::sqrt(x);
  }

  // From here to the step's end along the braking curve.
  void FollowBraking(const BrakeStep<Real>& step, Real rest) {
    const Real v1 = std::sqrt(step.x_to);
    const Real f = Braking(step, step.length - rest);
    if (f == 0.0 && step.f_to == 0.0 && v1 == v_) {
      writer_.Level(rest, v_);
    } else if (f == 0.0 && step.f_to == 0.0) {
      writer_.Constant(SpeedPhaseKind::kCruise, rest, v_, v1, 0);
    } else {
      writer_.Linear(SpeedPhaseKind::kBrake, rest, v_, v1, -f, step.f_slope);
    }
    x_ = step.x_to;
    v_ = v1;
    next_ = -1.0;
  }

  // Along the linear cap if the budget allows; returns the distance moved, 0 if it does not.
  Real FollowCap(const BrakeStep<Real>& step, Real t, Real k) {
    Real d = step.length - t;
    const Real slope = (step.cap_to - x_) / d;
    const Real a = 0.5 * slope;
    if (a > 0.0) {
      if (a > edge_.At(k, x_)) return 0.0;
      // As far as the edge allows: where curvature rises with the cap it leaves less and less.
      const Real smallest = kSmallestPart * step.length;
      while (a > edge_.At(K(step, t + d), x_ + slope * d) ||
             !edge_.Keeps(x_, a, k, K(step, t + d), d)) {
        d *= kCut;
        if (d < smallest) return 0.0;
      }
    } else if (step.k_to * step.cap_to > edge_.total() * (1.0 + kSameSquare)) {
      return 0.0;
    }
    if (step.binds) {
      // The cap against the braking curve from t on.
      const Real over = std::min(Real{0}, x_ - BrakeCurve(step, t));
      d = FirstExcess(over - kSameSquare * x_, slope + 2.0 * Braking(step, t), -step.f_slope, d);
    }
    const Real x1 = x_ + slope * d;
    if (!(d > 0.0)) return 0.0;
    next_ = -1.0;
    const Real v1 = slope == 0.0 ? v_ : std::sqrt(x1);
    if (slope == 0.0) {
      writer_.Level(d, v_);
    } else {
      writer_.Constant(SpeedPhaseKind::kFollowCap, d, v_, v1, a);
    }
    x_ = x1;
    v_ = v1;
    return d;
  }

  // One step up, cut where it meets the braking curve or the cap; returns the distance moved.
  Real Accelerate(const BrakeStep<Real>& step, Real t, Real k) {
    const Real rest = step.length - t;
    const Real smallest = kSmallestPart * step.length;
    Real a0 = next_ >= 0.0 ? next_ : edge_.At(k, x_);
    next_ = -1.0;
    Real d = try_ < 0.75 * rest ? try_ : rest;
    StepEnds<Real> ends;
    bool rejected = false;
    while (!edge_.Step(x_, a0, k, K(step, t + d), d, ends)) {
      if (d <= smallest) {
        d = std::min(d, rest);
        if (edge_.DeepStep(x_, a0, k, K(step, t + d), d, ends)) break;
        if (const Real part = edge_.ShortStep(x_, a0, k, step.k_slope, d, ends); part > 0) {
          d = part;
          break;
        }
        try_ = d / kCut;
        return Level(step, t, d);
      }
      d = std::max(smallest, edge_.Shorter(x_, a0, k, K(step, t + d), d));
      rejected = true;
    }
    if (ends.a1 == 0.0) {
      try_ = std::numeric_limits<Real>::infinity();  // at the circle's top, where steps are long
    } else {
      try_ = rejected ? std::max(d, smallest) : std::max(try_, d / kCut);
    }
    a0 = ends.a0;
    Real x1 = x_ + d * (ends.a0 + ends.a1);
    const Real c = (ends.a1 - ends.a0) / d;
    Real moved = d;
    const Real cap_slope = step.cap_slope;
    moved = FirstExcess(std::min(Real{0}, x_ - Cap(step, t)), 2.0 * a0 - cap_slope, c, d);
    if (moved < d) x1 = Cap(step, t + moved);
    if (step.binds && x1 > BrakeCurve(step, t + moved)) {
      const Real f = Braking(step, t);
      const Real brake_c = step.f_slope;
      moved = FirstExcess(x_ - BrakeCurve(step, t), 2.0 * (a0 + f), c - brake_c, moved);
      x1 = BrakeCurve(step, t + moved);
    }
    const Real v1 = x1 == x_ ? v_ : std::sqrt(x1);
    if (ends.a0 == 0.0 && ends.a1 == 0.0 && v1 == v_) {
      if (moved > 0.0) writer_.Level(moved, v_);
    } else if (ends.a0 == 0.0 && ends.a1 == 0.0) {
      if (moved > 0.0) writer_.Constant(SpeedPhaseKind::kCruise, moved, v_, v1, 0);
    } else if (moved > 0.0) {
      writer_.Linear(SpeedPhaseKind::kAccelerate, moved, v_, v1, a0, c);
    }
    if (moved == d) next_ = ends.next;
    x_ = x1;
    v_ = v1;
    return moved;
  }

  // The smallest step at constant speed, or lower where the cap or the braking curve asks; progress
  // at corners of both.
  Real Creep(const BrakeStep<Real>& step, Real t) {
    const Real d = std::min(kSmallestPart * step.length, step.length - t);
    if (!(d > 0.0)) return 0.0;
    const Real k = K(step, t + d);
    Real x1 = std::min(x_, Cap(step, t + d));
    if (k * x1 > edge_.total()) x1 = edge_.total() / k;
    if (step.binds) x1 = std::min(x1, BrakeCurve(step, t + d));
    const Real v1 = x1 < x_ ? std::sqrt(x1) : v_;
    if (x1 < x_) {
      writer_.Constant(SpeedPhaseKind::kBrake, d, v_, v1, 0.5 * (x1 - x_) / d);
    } else {
      writer_.Level(d, v_);
    }
    x_ = x1;
    v_ = v1;
    next_ = -1.0;
    return d;
  }

  // Constant speed over d, where not even the smallest step fits.
  Real Level(const BrakeStep<Real>& step, Real t, Real d) {
    Real moved = d;
    if (step.binds && x_ > BrakeCurve(step, t + d)) {
      const Real f = Braking(step, t);
      moved = FirstExcess(x_ - BrakeCurve(step, t), 2.0 * f, -step.f_slope, d);
    }
    if (moved > 0.0) writer_.Level(moved, v_);
    next_ = -1.0;
    return moved;
  }

  const DiscEdge<Real> edge_;
  StepAllowance& allowance_;
  CurvePhaseWriter<Real>& writer_;
  Real x_;
  Real v_;
  Real next_ =
      -1.0;  // the acceleration at which the next step may start; negative: take it from the speed
  Real try_ = std::numeric_limits<Real>::infinity();
};

}  // namespace

template <typename Real>
Real WriteCoupledPhases(const std::vector<BrakeStep<Real>>& steps, const CurveOrder& order,
                        Real v_start, Real x_start, const CoupledBudget<Real>& budget,
                        StepAllowance& allowance, std::vector<double>& node_speed,
                        CurvePhaseWriter<Real>& writer) {
  ForwardPass<Real> pass(v_start, x_start, budget, allowance, writer);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const BrakeStep<Real>& step = steps[i];
    writer.MoveTo(step.interval, step.start);
    if (step.first) {
      node_speed[step.node] = static_cast<double>(pass.v());
      if (order.StopsAt(step.node)) writer.Dwell(order.dwell[step.node]);
    }
    if (!pass.Through(step)) return pass.x();
  }
  const std::size_t n = order.interval_count();
  node_speed[n] = static_cast<double>(pass.v());
  if (order.StopsAt(n)) {
    writer.MoveTo(steps.front().interval, steps.front().start + steps.front().length);
    writer.Dwell(order.dwell[n]);
  }
  return pass.x();
}

template double WriteCoupledPhases(const std::vector<BrakeStep<double>>&, const CurveOrder&, double,
                                   double, const CoupledBudget<double>&, StepAllowance&,
                                   std::vector<double>&, CurvePhaseWriter<double>&);
template long double WriteCoupledPhases(const std::vector<BrakeStep<long double>>&,
                                        const CurveOrder&, long double, long double,
                                        const CoupledBudget<long double>&, StepAllowance&,
                                        std::vector<double>&, CurvePhaseWriter<long double>&);

}  // namespace arclane
