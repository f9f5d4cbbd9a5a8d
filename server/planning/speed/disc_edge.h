// SPDX-License-Identifier: Apache-2.0
// Steps along the edge of the admissible set under a coupled budget A: the disc a_t^2 + (kappa x)^2
// <= A^2, cut off at the limit on |a_t|. Internal to the speed planner.
//
// A step has acceleration linear in distance, with both ends on the edge. From x0, a0 over d to
// curvature k1:
//   x1 = x0 + d (a0 + a1),  a1^2 + (k1 x1)^2 = A^2:  one quadratic, the implicit trapezoidal rule.
// The set is convex, so a step whose lateral acceleration changes linearly stays inside; what
// changing curvature adds is bounded inside the step.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_DISC_EDGE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_DISC_EDGE_H_

#include <algorithm>
#include <cmath>

#include "server/planning/speed/curve_parts.h"

namespace arclane {

// Two squared speeds this close are one.
inline constexpr double kSameSquare = 1e-12;
// The excess allowed at the three inner points that are checked, of the squared budget: a quarter
// of the promise, which leaves the rest for the points between.
inline constexpr double kCheckedExcess = 0.5 * kBudgetExcess;
// A rejected step is cut to this part; one that is accepted at once lets the next grow by the
// inverse.
inline constexpr double kCut = 0.5;
// Steps are not cut below this part of their stretch: there the speed is kept constant instead.
inline constexpr double kSmallestPart = 1.0 / 4096;

// Accelerations (magnitudes) at both ends of a step, and the one with which the next step starts.
template <typename Real>
struct StepEnds {
  Real a0;
  Real a1;
  Real next;
};

// The admissible set of one direction and the choice of steps along its edge.
template <typename Real>
class DiscEdge {
 public:
  DiscEdge(Real limit, const CoupledBudget<Real>& budget)
      : limit_(limit),
        total_(budget.motion.total),
        resolution_(budget.resolution),
        total2_(total_ * total_),
        deepest_(2.0 * resolution_ * total2_),
        tolerance_(kCheckedExcess * total2_) {}

  Real total() const { return total_; }
  Real total2() const { return total2_; }

  // The largest |a_t| at squared speed x.
  Real At(Real k, Real x) const {
    const Real y = k * x;
    // On the top up to rounding nothing is left; a remainder of 1e-6 A would carry a long step over
    // it.
    return y < total_ * (1.0 - kSameSquare)
               ? std::min(limit_, std::sqrt((total_ - y) * (total_ + y)))
               : Real{0};
  }

  // A step of length d from (x0, a0) to curvature k1; false: take a shorter one.
  bool Step(Real x0, Real a0, Real k0, Real k1, Real d, StepEnds<Real>& ends) const {
    return Trapezoid(x0, a0, k0, k1, d, deepest_, ends) || Ride(x0, a0, k0, k1, d, ends);
  }

  // The last resort of the smallest steps: as deep inside as it happens to be, such as across the
  // corner of circle and limit.
  bool DeepStep(Real x0, Real a0, Real k0, Real k1, Real d, StepEnds<Real>& ends) const {
    return Trapezoid(x0, a0, k0, k1, d, total2_, ends);
  }

  // Where no step of length d fits since the circle is met within a small part of it, by curvature
  // that grows fast or is so large that speed settles within a small part of the stretch: a shorter
  // step that does, if possible the one that ends at the circle's top, where long steps fit again.
  Real ShortStep(Real x0, Real a0, Real k0, Real k_slope, Real d, StepEnds<Real>& ends) const {
    Real part = std::min(d, ToTop(x0, a0, k0, k_slope));
    for (int i = 0; i < kMostCuts && part > 0; ++i, part *= kCut) {
      if (DeepStep(x0, a0, k0, k0 + k_slope * part, part, ends)) return part;
    }
    return 0;
  }

  // How far constant acceleration a0 leads to the circle's top; 0: it does not.
  Real ToTop(Real x0, Real a0, Real k0, Real k_slope) const {
    const Real gap = total_ - k0 * x0;
    const Real b = k0 * a0 + k_slope * x0;
    const Real root = b * b + 4.0 * k_slope * a0 * gap;
    const Real sum = root >= 0.0 ? b + std::sqrt(root) : Real{0};
    return sum > 0.0 ? 2.0 * gap / sum : Real{0};
  }

  // The length to try after a step of length d was refused: a part of it, or what just reaches the
  // circle's top, which shorter steps would only approach.
  Real Shorter(Real x0, Real a0, Real k0, Real k1, Real d) const {
    const Real top = ToTop(x0, a0, k0, (k1 - k0) / d);
    return top < d && top > d * kCut ? top : d * kCut;
  }

  // Whether constant acceleration a (signed) from x0 over d keeps the budget between its ends.
  bool Keeps(Real x0, Real a, Real k0, Real k1, Real d) const {
    return ShapeOf(x0, a, a, k0, k1, d).excess <= tolerance_;
  }

 private:
  struct Shape {
    Real excess;  // bound of a^2 + y^2 - A^2 over the step
    Real middle;  // its value half-way
  };

  // h(t) = a^2 + y^2 - A^2 along the step is its linear interpolation plus t (1 - t) (p + r t) with
  // p and r from the end slopes; what that cubic misses is measured half-way.
  Shape ShapeOf(Real x0, Real a0, Real a1, Real k0, Real k1, Real d) const {
    const Real x1 = x0 + d * (a0 + a1);
    const Real y0 = k0 * x0;
    const Real y1 = k1 * x1;
    const Real h0 = a0 * a0 + y0 * y0 - total2_;
    const Real h1 = a1 * a1 + y1 * y1 - total2_;
    const Real da = a1 - a0;
    const Real dk = k1 - k0;
    const Real slope0 = 2.0 * (a0 * da + y0 * (dk * x0 + 2.0 * k0 * a0 * d));
    const Real slope1 = 2.0 * (a1 * da + y1 * (dk * x1 + 2.0 * k1 * a1 * d));
    const Real p = slope0 - (h1 - h0);
    const Real w = (h1 - h0) - slope1;
    const Real am = 0.5 * (a0 + a1);
    const Real ym = (x0 + 0.25 * d * (3.0 * a0 + a1)) * 0.5 * (k0 + k1);
    const Real hm = am * am + ym * ym - total2_;
    const Real missed = std::abs(hm - 0.5 * (h0 + h1) - 0.125 * (p + w));
    const Real high = std::max(p, w);
    const Real low = std::min(p, w);
    Real bump = 0;
    if (high > 0.0) bump = low >= 0.0 ? 0.25 * high : 0.25 * high * high / (high - low);
    return {std::max(h0, h1) + bump + 2.0 * missed, hm};
  }

  // Both ends on the edge; an excess between them is taken off the accelerations.
  bool Trapezoid(Real x0, Real a0, Real k0, Real k1, Real d, Real deepest,
                 StepEnds<Real>& ends) const {
    Real y = k1 * (x0 + d * a0);
    if (y > total_ * (1.0 + kSameSquare)) return false;
    y = std::min(y, total_);  // on the top of an arc's circle, up to rounding
    const Real kd = k1 * d;
    const Real root = std::sqrt(total2_ * (1.0 + kd * kd) - y * y);
    const bool at_top = y >= total_ * (1.0 - kSameSquare);
    const Real a1 =
        at_top ? Real{0} : std::min(limit_, (total_ - y) * (total_ + y) / (kd * y + root));
    const Shape shape = ShapeOf(x0, a0, a1, k0, k1, d);
    if (shape.middle < -deepest && 0.5 * (a0 + a1) < limit_ * (1.0 - resolution_)) return false;
    ends = {a0, a1, a1};
    if (shape.excess <= tolerance_) return true;
    if (shape.excess > 0.5 * deepest_) return false;
    // Off every a(t) between: max over t of 4 E t (1 - t) / (2 a(t)) <= 2 E / (a0 + a1 + 2 min(a0,
    // a1)).
    const Real smaller = std::min(a0, a1);
    const Real off = 2.0 * shape.excess / (a0 + a1 + 2.0 * smaller) * kSecondOrder;
    if (off > kLargestCorrection * smaller) return false;
    ends.a0 -= off;
    ends.a1 -= off;
    return true;
  }

  // Near the circle's top the edge is stiff: lateral acceleration relaxes within a distance of a /
  // (2 k A) to the level at which speed changes just as the curvature asks, a_t = x |k'| / 2k.
  // There the step rides that level, `resolution` inside the circle: y^2 (1 + q^2) = A^2 (1 -
  // resolution) with a_t = q y.
  bool Ride(Real x0, Real a_edge, Real k0, Real k1, Real d, StepEnds<Real>& ends) const {
    if (!(k1 < k0)) return false;
    const Real relative = 0.5 * (k0 - k1) / d;
    const Real q0 = relative / (k0 * k0);
    const Real q1 = relative / (k1 * k1);
    const Real level2 = total2_ - 0.5 * deepest_;
    const Real y0 = k0 * x0;
    if (std::abs(y0 * y0 * (1.0 + q0 * q0) - level2) > deepest_) return false;
    const Real x1 = std::sqrt(level2 / (1.0 + q1 * q1)) / k1;
    const Real a0 = std::min(q0 * y0, a_edge);
    const Real a1 = (x1 - x0) / d - a0;
    if (a1 >= 0.0 && Rides(x0, a0, a1, k0, k1, d, ends)) return true;
    // From other accelerations than the level's: evenly, and not at all where the level is still
    // below.
    const Real even = std::max(Real{0}, 0.5 * (x1 - x0) / d);
    return Rides(x0, even, even, k0, k1, d, ends);
  }

  bool Rides(Real x0, Real a0, Real a1, Real k0, Real k1, Real d, StepEnds<Real>& ends) const {
    if (std::max(a0, a1) > limit_) return false;
    const Shape shape = ShapeOf(x0, a0, a1, k0, k1, d);
    if (shape.excess > tolerance_ || shape.middle < -2.0 * deepest_) return false;
    ends = {a0, a1, At(k1, x0 + d * (a0 + a1))};
    return true;
  }

  // (a - off)^2 <= a^2 - 2 a off + off^2 with off <= a / 10: the square costs at most a twentieth.
  static constexpr double kLargestCorrection = 0.1;
  static constexpr double kSecondOrder = 1.06;
  // Far below the top a small part of the way to it always fits.
  static constexpr int kMostCuts = 20;

  const Real limit_;
  const Real total_;
  const Real resolution_;
  const Real total2_;
  const Real deepest_;
  const Real tolerance_;
};

// Whether p + q t + r t^2, p <= 0, exceeds 0 somewhere in (0, d].
template <typename Real>
bool Exceeds(Real p, Real q, Real r, Real d) {
  if (p + d * (q + r * d) > 0.0) return true;
  const Real peak = -0.5 * q / r;
  return r < 0.0 && peak > 0.0 && peak < d && p + 0.5 * q * peak > 0.0;
}

// The first t in (0, d] where it does; d if nowhere.
template <typename Real>
Real FirstExcess(Real p, Real q, Real r, Real d) {
  if (!Exceeds(p, q, r, d)) return d;
  const Real root = std::sqrt(std::max(Real{0}, q * q - 4.0 * r * p));
  const Real sum = q + root;
  return sum > 0.0 ? std::clamp(-2.0 * p / sum, Real{0}, d) : d;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_DISC_EDGE_H_
