// SPDX-License-Identifier: Apache-2.0
// Steps along the edge of the admissible set under a coupled budget A: the disc a_t^2 + (kappa x)^2
// <= A^2, cut off at the limit on |a_t|. Internal to the speed planner.
//
// A step has acceleration linear in distance, with both ends on the edge. From x0, a0 over d to
// curvature k1:
//   x1 = x0 + d (a0 + a1),  a1^2 + (k1 x1)^2 = A^2:  one quadratic, the implicit trapezoidal rule.
// The set is convex, so a step whose lateral acceleration changes linearly stays inside; what
// changing curvature adds is bounded inside the step. A step half-way inside by r, the
// resolution, is accepted: a plan inside by that much everywhere would be an optimal one for
// squared speeds lower by r, and slower by r / 2.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_DISC_EDGE_H_
#define ARCLANE_SERVER_PLANNING_SPEED_DISC_EDGE_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/speed/curve_parts.h"

namespace arclane {

// Two squared speeds this close are one.
inline constexpr double kSameSquare = 1e-12;
// The excess at which a step needs no correction, of the squared budget: a quarter of the promise,
// which leaves the rest to rounding and to what follows a step.
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
  // How deep inside the disc the step is half-way, over what is accepted; 0 where its length does
  // not matter to that. Also set for steps that are refused: 0 if they are for other reasons.
  Real depth;
};

// The lengths of successive steps: a stretch is cut into equal steps, as few as the depth of the
// step before lets expect.
template <typename Real>
class StepLength {
 public:
  Real Along(Real rest) const {
    const Real d = Equal(rest, bend_ * (rest * rest));
    return most_ < 0.75 * d ? most_ : d;
  }

  // After a step of length d that was refused for its depth.
  static Real Shallower(Real d, Real depth) { return Equal(d, depth * kPerFilled); }

  // After a step of length d was taken; `cut`: longer ones were refused, not for their depth.
  void Took(Real d, Real depth, bool cut) {
    bend_ = depth * kPerFilled / (d * d);
    most_ = cut ? d : std::max(most_, d / kCut);
  }
  void Restart(Real most = std::numeric_limits<Real>::infinity()) {
    bend_ = 0;
    most_ = most;
  }

 private:
  // Steps are planned to be this part of the accepted depth deep: it changes from one to the next.
  static constexpr double kPerFilled = 1.0 / 0.85;

  // `depth`: of the whole as one step; that of parts falls with the square of their length.
  static Real Equal(Real whole, Real depth) {
    if (depth <= 1.0) return whole;
    if (depth <= 4.0) return 0.5 * whole;
    if (depth <= 9.0) return whole * static_cast<Real>(1.0 / 3.0);
    return whole / std::ceil(std::sqrt(depth));
  }

  Real bend_ = 0;  // depth for the square of a step's length
  Real most_ = std::numeric_limits<Real>::infinity();
};

// The admissible set of one direction and the choice of steps along its edge.
template <typename Real>
class DiscEdge {
 public:
  DiscEdge(const BasicPush<Real>& push, const CoupledBudget<Real>& budget)
      : limit_(push.limit),
        knee_(push.knee_per_radius),
        total_(budget.motion.total),
        resolution_(budget.resolution),
        total2_(total_ * total_),
        deepest_(2.0 * resolution_ * total2_),
        per_deepest_(1.0 / deepest_),
        tolerance_(kCheckedExcess * total2_),
        beside_lateral_(At(1, budget.motion.lateral)) {}

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
    Real part = std::min(d, Reach(total_, x0, a0, k0, k_slope));
    for (int i = 0; i < kMostCuts && part > 0; ++i, part *= kCut) {
      if (DeepStep(x0, a0, k0, k0 + k_slope * part, part, ends)) return part;
    }
    return 0;
  }

  // The length to try after a step of length d was refused, `refused` as Step left it.
  Real Shorter(Real x0, Real a0, Real k0, Real k1, Real d, const StepEnds<Real>& refused) const {
    const Real k_slope = (k1 - k0) / d;
    if (refused.depth == 0.0) {
      // What just reaches the circle's top, which shorter steps would only approach.
      const Real top = Reach(total_, x0, a0, k0, k_slope);
      return top < d && top > d * kCut ? top : d * kCut;
    }
    if ((a0 >= limit_) != (refused.a1 >= limit_)) {
      const Real corner = Reach(knee_, x0, a0 + limit_, k0, k_slope);
      if (corner > 0.0 && corner < kPartToCorner * d) return corner;
    }
    return StepLength<Real>::Shallower(d, refused.depth);
  }

  // Whether constant acceleration a (signed) from x0 over d keeps the budget between its ends.
  bool Keeps(Real x0, Real a, Real k0, Real k1, Real d) const {
    return ShapeOf(x0, a, a, k0, k1, d).excess <= tolerance_;
  }

  // Whether all of a part's lateral cap x = y / k can be followed: |a_t| = y |k'| / (2 k^2).
  bool FollowsLateral(const CurvePart<Real>& part) const {
    const Real k = std::min(part.k_from, part.k_to);
    return 0.5 * part.lateral * std::abs(part.k_slope) <= beside_lateral_ * (k * k);
  }

 private:
  // A corner farther away than this part of a step is no reason to refuse it.
  static constexpr double kPartToCorner = 0.95;

  // How far a step whose end accelerations add up to `sum` leads to the lateral acceleration
  // `level`; 0: it does not.
  static Real Reach(Real level, Real x0, Real sum, Real k0, Real k_slope) {
    Real gap = level - k0 * x0;
    Real b = k0 * sum + k_slope * x0;
    Real square = k_slope * sum;
    if (gap < 0.0) {
      gap = -gap;
      b = -b;
      square = -square;
    }
    const Real root = b * b + 4.0 * square * gap;
    const Real nearer = root >= 0.0 ? b + std::sqrt(root) : Real{0};
    return nearer > 0.0 ? 2.0 * gap / nearer : Real{0};
  }

  struct Shape {
    Real excess;  // bound of a^2 + y^2 - A^2 over the step
    Real middle;  // its value half-way
  };

  // Along a step, at the part t of its length, acceleration is linear, lateral acceleration y = k x
  // is linear but for t (1 - t) g with a linear g, and so h(t) = a^2 + y^2 - A^2 is exactly
  //   h0 + t (h1 - h0) + t (1 - t) (p + t (w - p) + t (1 - t) (g^2 - 2 (y1 - y0) (g1 - g0)))
  // with p and w the two values of 2 y g - (a1 - a0)^2 - (y1 - y0)^2 at the ends.
  Shape ShapeOf(Real x0, Real a0, Real a1, Real k0, Real k1, Real d) const {
    const Real dx = d * (a0 + a1);
    const Real da = a1 - a0;
    const Real y0 = k0 * x0;
    const Real y1 = k1 * (x0 + dx);
    const Real dy = y1 - y0;
    const Real h0 = a0 * a0 + y0 * y0 - total2_;
    const Real h1 = a1 * a1 + y1 * y1 - total2_;
    const Real from_k = (k1 - k0) * dx;
    const Real g0 = -from_k - d * da * k0;
    const Real g1 = -from_k - d * da * k1;
    const Real chord = da * da + dy * dy;
    const Real turn = 2.0 * dy * (g1 - g0);
    const Real most = 0.25 * std::max(Real{0}, std::max(g0 * g0, g1 * g1) - turn);
    const Real yg0 = y0 * g0;
    const Real yg1 = y1 * g1;
    const Real p = 2.0 * yg0 - chord + most;
    const Real w = 2.0 * yg1 - chord + most;
    const Real gm = 0.5 * (g0 + g1);
    const Real middle = 0.5 * (h0 + h1) + 0.25 * (yg0 + yg1 - chord + 0.25 * (gm * gm - turn));
    const Real high = std::max(p, w);
    Real bump = 0;
    if (high > 0.0) {
      const Real low = std::min(p, w);
      bump = low >= 0.0 ? 0.25 * high : 0.25 * high * high / (high - low);
    }
    return {std::max(h0, h1) + bump, middle};
  }

  // Both ends on the edge; an excess between them is taken off the accelerations.
  bool Trapezoid(Real x0, Real a0, Real k0, Real k1, Real d, Real deepest,
                 StepEnds<Real>& ends) const {
    ends.depth = 0;
    Real y = k1 * (x0 + d * a0);
    if (y > total_ * (1.0 + kSameSquare)) return false;
    y = std::min(y, total_);  // on the top of an arc's circle, up to rounding
    const Real kd = k1 * d;
    const Real square = 1.0 + kd * kd;
    const Real per_square = 1.0 / square;
    const Real root = std::sqrt(total2_ * square - y * y);
    const bool at_top = y >= total_ * (1.0 - kSameSquare);
    const Real a1 = at_top ? Real{0} : std::clamp((root - kd * y) * per_square, Real{0}, limit_);
    const Shape shape = ShapeOf(x0, a0, a1, k0, k1, d);
    ends.a0 = a0;
    ends.a1 = a1;
    ends.next = a1;
    const bool limited = 0.5 * (a0 + a1) >= limit_ * (1.0 - resolution_);
    if (!limited) {
      ends.depth = std::max(Real{0}, -shape.middle * per_deepest_);
      if (shape.middle < -deepest) return false;
    }
    if (a1 >= limit_) ends.depth = 0;  // the next step runs along the limit
    if (shape.excess <= tolerance_) return true;
    ends.depth = 0;
    if (shape.excess > 0.5 * deepest_) return false;
    // Off every a(t) between: max over t of 4 E t (1 - t) / (2 a(t)) <= 2 E / (a0 + a1 + 2 min(a0,
    // a1)).
    const Real smaller = std::min(a0, a1);
    const Real off = 2.0 * shape.excess / (a0 + a1 + 2.0 * smaller) * kSecondOrder;
    if (off > kLargestCorrection * smaller) return false;
    if (limited && off > resolution_ * limit_) return false;
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
    const Real level2 = total2_ - 0.5 * deepest_;
    const Real y0 = k0 * x0;
    const Real kd2 = k0 * d * (k0 * d);
    const Real fall = 0.5 * (k0 - k1) * x0;  // q0 y0 k0 d
    if (std::abs((y0 * y0 - level2) * kd2 + fall * fall) > deepest_ * kd2) return false;
    const Real relative = 0.5 * (k0 - k1) / d;
    const Real q0 = relative / (k0 * k0);
    const Real q1 = relative / (k1 * k1);
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
    ends = {a0, a1, At(k1, x0 + d * (a0 + a1)), Real{0}};
    return true;
  }

  // (a - off)^2 <= a^2 - 2 a off + off^2 with off <= a / 10: the square costs at most a twentieth.
  static constexpr double kLargestCorrection = 0.1;
  static constexpr double kSecondOrder = 1.06;
  // Far below the top a small part of the way to it always fits.
  static constexpr int kMostCuts = 20;

  const Real limit_;
  const Real knee_;  // lateral acceleration at the corner of limit and circle
  const Real total_;
  const Real resolution_;
  const Real total2_;
  const Real deepest_;  // of A^2 - a^2 - y^2 half-way
  const Real per_deepest_;
  const Real tolerance_;
  const Real beside_lateral_;  // largest |a_t| at the separate lateral limit
};

// Whether p + q t + r t^2, p <= 0, exceeds 0 somewhere in (0, d].
template <typename Real>
bool Exceeds(Real p, Real q, Real r, Real d) {
  if (p + d * (q + r * d) > 0.0) return true;
  // Its peak lies between and is positive.
  return r < 0.0 && q > 0.0 && q + 2.0 * r * d < 0.0 && q * q > 4.0 * r * p;
}

// The first t in (0, d] where it does; d if nowhere.
template <typename Real>
Real FirstExcess(Real p, Real q, Real r, Real d) {
  if (!Exceeds(p, q, r, d)) return d;
  const Real root = std::sqrt(std::max(Real{0}, q * q - 4.0 * r * p));
  if (q < 0.0) return std::min((root - q) / (2.0 * r), d);  // falls first: r > 0
  const Real sum = q + root;
  return sum > 0.0 ? std::clamp(-2.0 * p / sum, Real{0}, d) : d;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_DISC_EDGE_H_
