// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/piece_motion.h"

namespace arclane {

double PeakBetween(double x0, double x1, double length, const MotionBudget& budget, double radius) {
  const double a = budget.accelerate.limit;
  const double b = budget.brake.limit;
  // Without the circle: (p - x0) / 2a + (p - x1) / 2b = length.
  const double straight = (b * x0 + a * x1 + 2.0 * a * b * length) / (a + b);
  if (!(radius < std::numeric_limits<double>::infinity())) return straight;
  const double lower_knee =
      radius * std::min(budget.accelerate.knee_per_radius, budget.brake.knee_per_radius);
  if (straight <= lower_knee) return straight;

  const double total = budget.total;
  const double amplitude = radius * total;
  const auto needed = [&](double peak) {
    return RiseLength(x0, peak, budget.accelerate, radius, total) +
           RiseLength(x1, peak, budget.brake, radius, total);
  };
  const double floor = std::max(x0, x1);
  const double upper_knee = std::max(
      floor, radius * std::max(budget.accelerate.knee_per_radius, budget.brake.knee_per_radius));
  const double excess = upper_knee < amplitude ? length - needed(upper_knee) : -1.0;
  if (excess >= 0.0) {
    // Both sides on the circle above upper_knee: each takes half the excess, an angle of excess /
    // radius.
    return grip::Advance(upper_knee, excess / radius, amplitude);
  }
  // One side constant, the other on the circle: transcendental. In the angle the function is smooth
  // and monotone.
  const double low = grip::Angle(std::max(floor, lower_knee), amplitude);
  const double high = grip::Angle(std::min(upper_knee, amplitude), amplitude);
  const double phi = FindRoot(low, high, [&](double angle) {
    return length - needed(std::max(floor, std::min(amplitude, amplitude * std::sin(angle))));
  });
  return std::max(floor, amplitude * std::sin(phi));
}

}  // namespace arclane
