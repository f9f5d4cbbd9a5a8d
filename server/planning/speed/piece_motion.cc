// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/piece_motion.h"

namespace arclane {

template <typename Real>
Real PeakBetween(Real x0, Real x1, Real length, const BasicMotionBudget<Real>& budget,
                 Real radius) {
  const Real a = budget.accelerate.limit;
  const Real b = budget.brake.limit;
  // Without the circle: (p - x0) / 2a + (p - x1) / 2b = length.
  const Real straight = (b * x0 + a * x1 + 2 * a * b * length) / (a + b);
  if (IsStraight(radius)) return straight;
  const Real lower_knee =
      radius * std::min(budget.accelerate.knee_per_radius, budget.brake.knee_per_radius);
  if (straight <= lower_knee) return straight;

  const Real total = budget.total;
  const Real amplitude = radius * total;
  const auto needed = [&](Real peak) {
    return RiseLength(x0, peak, budget.accelerate, radius, total) +
           RiseLength(x1, peak, budget.brake, radius, total);
  };
  const Real floor = std::max(x0, x1);
  const Real upper_knee = std::max(
      floor, radius * std::max(budget.accelerate.knee_per_radius, budget.brake.knee_per_radius));
  const Real excess = upper_knee < amplitude ? length - needed(upper_knee) : Real{-1};
  if (excess >= 0) {
    // Both sides on the circle above upper_knee: each takes half the excess, an angle of excess /
    // radius.
    return grip::Advance(upper_knee, excess / radius, amplitude);
  }
  // One side constant, the other on the circle: transcendental. In the angle the function is smooth
  // and monotone.
  const Real low = grip::Angle(std::max(floor, lower_knee), amplitude);
  const Real high = grip::Angle(std::min(upper_knee, amplitude), amplitude);
  const Real phi = FindRoot(low, high, [&](Real angle) {
    return length - needed(std::max(floor, std::min(amplitude, amplitude * std::sin(angle))));
  });
  return std::max(floor, amplitude * std::sin(phi));
}

template double PeakBetween(double, double, double, const BasicMotionBudget<double>&, double);
template long double PeakBetween(long double, long double, long double,
                                 const BasicMotionBudget<long double>&, long double);

}  // namespace arclane
