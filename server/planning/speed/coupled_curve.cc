// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/coupled_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace arclane {
namespace {

template <typename Real>
class ForwardPass {
 public:
  ForwardPass(Real v_start, Real x_start, const CoupledBudget<Real>& budget,
              StepAllowance& allowance, CurvePhaseWriter<Real>& writer)
      : edge_(budget.motion.accelerate, budget),
        allowance_(allowance),
        writer_(writer),
        x_(x_start),
        v_(v_start) {}

  Real x() const { return x_; }
  Real v() const { return v_; }

  // `steps`: the braking curve over the part, last step first. False: the allowance has ended.
  bool Through(const BrakedPart<Real>& braked, const BrakeStep<Real>* steps) {
    part_ = &braked.part;
    length_ = braked.length();
    steps_ = steps;
    if (FollowsLateralCap(braked.end - braked.begin)) {
      const Real v1 = std::sqrt(part_->cap_to);
      writer_.AlongLateralCap(length_, v_, v1, part_->k_from / part_->lateral,
                              part_->k_slope / part_->lateral);
      x_ = part_->cap_to;
      v_ = v1;
      next_ = -1.0;
      return allowance_.Continues(writer_.phase_count());
    }
    Enter(braked.end - braked.begin - 1);
    Real t = 0.0;
    while (t < length_) {
      if (!allowance_.Continues(writer_.phase_count())) return false;
      while (step_ > 0 && Ends(t)) Enter(step_ - 1);
      if (IsBraking(t)) {
        FollowBraking(t);
        t = step_end_;
        continue;
      }
      const Real k = K(t);
      Real moved = x_ >= Cap(t) * (1.0 - kSameSquare) ? FollowCap(t, k) : Real{0};
      if (!(moved > 0.0)) moved = Accelerate(t, k);
      const bool stuck = !(moved > kSmallestPart * SmallestLength());
      if (stuck && (Ends(t + moved) || !IsBraking(t + moved))) moved += Creep(t + moved);
      t += moved;
      if (length_ - t <= kRounding * length_) t = length_;
    }
    return true;
  }

 private:
  static constexpr double kRounding = 1e-14;

  // Places are distances from the part's start.
  Real K(Real t) const { return t >= length_ ? part_->k_to : part_->k_from + part_->k_slope * t; }
  Real Cap(Real t) const {
    return t >= length_ ? part_->cap_to : part_->cap_from + part_->cap_slope * t;
  }

  // Whether the whole part lies on the lateral cap. Where that falls the backward pass has left one
  // step that does not bind if it can be followed.
  bool FollowsLateralCap(std::size_t step_count) const {
    return part_->lateral > 0.0 && step_count == 1 && !steps_[0].binds &&
           x_ >= part_->cap_from * (1.0 - kSameSquare) && part_->k_from != part_->k_to &&
           (part_->k_to > part_->k_from || edge_.FollowsLateral(*part_));
  }

  void Enter(std::size_t step) {
    step_ = step;
    step_end_ = steps_[step].to;
  }
  Real SmallestLength() const { return kSmallestPart * (step_end_ - steps_[step_].from); }

  Real BrakeCurve(std::size_t step, Real t) const {
    const BrakeStep<Real>& s = steps_[step];
    const Real e = s.to - t;
    return s.x_to + e * (2.0 * s.f_to + s.f_slope * e);
  }
  Real Braking(std::size_t step, Real t) const {
    return steps_[step].f_to + steps_[step].f_slope * (steps_[step].to - t);
  }

  // Whether the braking step ends here, up to rounding.
  bool Ends(Real t) const { return step_end_ - t <= kRounding * length_; }
  // Whether the braking curve is reached.
  bool IsBraking(Real t) const {
    return steps_[step_].binds && x_ >= BrakeCurve(step_, t) * (1.0 - kSameSquare);
  }

  // From here to the step's end along the braking curve.
  void FollowBraking(Real t) {
    const BrakeStep<Real>& step = steps_[step_];
    const Real rest = step_end_ - t;
    const Real v1 = std::sqrt(step.x_to);
    const Real f = Braking(step_, t);
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

  // Within the braking step along the linear cap if the budget allows; returns the distance moved,
  // 0 if it does not.
  Real FollowCap(Real t, Real k) {
    Real d = step_end_ - t;
    const Real cap_to = Cap(step_end_);
    const Real slope = (cap_to - x_) / d;
    const Real a = 0.5 * slope;
    if (a > 0.0) {
      if (a > edge_.At(k, x_)) return 0.0;
      // As far as the edge allows: where curvature rises with the cap it leaves less and less.
      const Real smallest = SmallestLength();
      while (a > edge_.At(K(t + d), x_ + slope * d) || !edge_.Keeps(x_, a, k, K(t + d), d)) {
        d *= kCut;
        if (d < smallest) return 0.0;
      }
    } else if (K(step_end_) * cap_to > edge_.total() * (1.0 + kSameSquare)) {
      return 0.0;
    }
    const BrakeStep<Real>& step = steps_[step_];
    if (step.binds) {
      // The cap against the braking curve from t on.
      const Real over = std::min(Real{0}, x_ - BrakeCurve(step_, t));
      d = FirstExcess(over - kSameSquare * x_, slope + 2.0 * Braking(step_, t), -step.f_slope, d);
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
  Real Accelerate(Real t, Real k) {
    const Real rest = length_ - t;
    const Real smallest = SmallestLength();
    Real a0 = next_ >= 0.0 ? next_ : edge_.At(k, x_);
    next_ = -1.0;
    Real d = lengths_.Along(rest);
    StepEnds<Real> ends;
    bool cut = false;
    while (!edge_.Step(x_, a0, k, K(t + d), d, ends)) {
      if (d <= smallest) {
        d = std::min(d, rest);
        if (edge_.DeepStep(x_, a0, k, K(t + d), d, ends)) break;
        if (const Real part = edge_.ShortStep(x_, a0, k, part_->k_slope, d, ends); part > 0) {
          d = part;
          break;
        }
        lengths_.Restart(d / kCut);
        return Level(t, d);
      }
      cut = cut || ends.depth == 0.0;
      d = std::max(smallest, edge_.Shorter(x_, a0, k, K(t + d), d, ends));
    }
    if (ends.a1 == 0.0) {
      lengths_.Restart();  // at the circle's top, where steps are long
    } else {
      lengths_.Took(std::max(d, smallest), ends.depth, cut);
    }
    a0 = ends.a0;
    Real x1 = x_ + d * (ends.a0 + ends.a1);
    const Real c = (ends.a1 - ends.a0) / d;
    Real moved = FirstExcess(std::min(Real{0}, x_ - Cap(t)), 2.0 * a0 - part_->cap_slope, c, d);
    if (moved < d) x1 = Cap(t + moved);
    moved = UntilBraking(t, a0, c, moved, x1);
    const Real v1 = x1 == x_ ? v_ : std::sqrt(x1);
    if (moved > 0.0) {
      if (ends.a0 != 0.0 || ends.a1 != 0.0) {
        writer_.Linear(SpeedPhaseKind::kAccelerate, moved, v_, v1, a0, c);
      } else if (v1 == v_) {
        writer_.Level(moved, v_);
      } else {
        writer_.Constant(SpeedPhaseKind::kCruise, moved, v_, v1, 0);
      }
    }
    if (moved == d) next_ = ends.next;
    x_ = x1;
    v_ = v1;
    return moved;
  }

  // How far, at most `moved`, acceleration a0 + c d from t on leads below the braking curve; x1 is
  // the squared speed there. Once above the curve it stays there, so the steps' ends tell.
  Real UntilBraking(Real t, Real a0, Real c, Real moved, Real& x1) const {
    for (std::size_t i = step_;; --i) {
      const bool last = t + moved <= steps_[i].to || i == 0;
      const Real to = last ? moved : steps_[i].to - t;
      const Real x = last ? x1 : x_ + to * (2.0 * a0 + c * to);
      if (steps_[i].binds && x > BrakeCurve(i, t + to)) {
        const Real from = i == step_ ? Real{0} : steps_[i].from - t;
        const Real under = x_ + from * (2.0 * a0 + c * from) - BrakeCurve(i, t + from);
        const Real closing = 2.0 * (a0 + c * from + Braking(i, t + from));
        moved = from + FirstExcess(under, closing, c - steps_[i].f_slope, to - from);
        x1 = BrakeCurve(i, t + moved);
        return moved;
      }
      if (last) return moved;
    }
  }

  // A small part of the braking step at constant speed, or lower where the cap or the braking curve
  // asks; progress at corners of both.
  Real Creep(Real t) {
    while (step_ > 0 && t >= step_end_) Enter(step_ - 1);
    const Real d = std::min(SmallestLength(), step_end_ - t);
    if (!(d > 0.0)) return 0.0;
    const Real k = K(t + d);
    Real x1 = std::min(x_, Cap(t + d));
    if (k * x1 > edge_.total()) x1 = edge_.total() / k;
    if (steps_[step_].binds) x1 = std::min(x1, BrakeCurve(step_, t + d));
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
  Real Level(Real t, Real d) {
    Real x1 = x_;
    const Real moved = UntilBraking(t, Real{0}, Real{0}, d, x1);
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
  StepLength<Real> lengths_;
  // The part that is driven through, and where along the braking curve.
  const CurvePart<Real>* part_ = nullptr;
  Real length_ = 0.0;
  const BrakeStep<Real>* steps_ = nullptr;
  std::size_t step_ = 0;
  Real step_end_ = 0.0;
};

}  // namespace

template <typename Real>
Real WriteCoupledPhases(const BrakingCurve<Real>& braking, const CurveOrder& order, Real v_start,
                        Real x_start, const CoupledBudget<Real>& budget, StepAllowance& allowance,
                        std::vector<double>& node_speed, CurvePhaseWriter<Real>& writer) {
  ForwardPass<Real> pass(v_start, x_start, budget, allowance, writer);
  for (std::size_t i = braking.parts.size(); i-- > 0;) {
    const BrakedPart<Real>& part = braking.parts[i];
    writer.MoveTo(part.interval, part.start);
    if (part.first) {
      node_speed[part.node] = static_cast<double>(pass.v());
      if (order.StopsAt(part.node)) writer.Dwell(order.dwell[part.node]);
    }
    if (!pass.Through(part, braking.steps.data() + part.begin)) return pass.x();
  }
  const std::size_t n = order.interval_count();
  node_speed[n] = static_cast<double>(pass.v());
  if (order.StopsAt(n)) {
    const BrakedPart<Real>& last = braking.parts.front();
    writer.MoveTo(last.interval, last.start + last.length());
    writer.Dwell(order.dwell[n]);
  }
  return pass.x();
}

template double WriteCoupledPhases(const BrakingCurve<double>&, const CurveOrder&, double, double,
                                   const CoupledBudget<double>&, StepAllowance&,
                                   std::vector<double>&, CurvePhaseWriter<double>&);
template long double WriteCoupledPhases(const BrakingCurve<long double>&, const CurveOrder&,
                                        long double, long double, const CoupledBudget<long double>&,
                                        StepAllowance&, std::vector<double>&,
                                        CurvePhaseWriter<long double>&);

}  // namespace arclane
