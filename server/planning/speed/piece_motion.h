// SPDX-License-Identifier: Apache-2.0
// Closed forms on one piece, in x = v^2: how far x rises along a length, and the length a rise
// needs.
//
// Internal to the speed planner. Braking is acceleration seen from the piece's end, so one set of
// functions with a `Push` (the limit on |a_t|) serves both directions. On an arc of radius R under
// a coupled budget A the push is constant up to the *knee* x = R sqrt(A^2 - push^2) and runs along
// the grip circle above it.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_PIECE_MOTION_H_
#define ARCLANE_SERVER_PLANNING_SPEED_PIECE_MOTION_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/speed/grip_circle.h"
#include "server/planning/speed/speed_limits.h"

namespace arclane {

// One direction's limit on |a_t|.
struct Push {
  double limit = 0.0;
  double knee_per_radius = 0.0;  // sqrt(total^2 - limit^2)
};

// Limits resolved for planning: the total already bounds each part.
struct MotionBudget {
  Push accelerate;
  Push brake;
  double squared_max_speed = 0.0;
  double lateral = std::numeric_limits<double>::infinity();
  double total = std::numeric_limits<double>::infinity();
  bool coupled = false;

  // The squared speed cap of a piece of this radius.
  double CapAt(double radius) const { return std::min(squared_max_speed, lateral * radius); }
};

inline MotionBudget ResolveBudget(const SpeedLimits& limits) {
  MotionBudget budget;
  if (limits.max_total_acceleration) budget.total = *limits.max_total_acceleration;
  const auto push = [&budget](double limit) {
    limit = std::min(limit, budget.total);
    return Push{limit, std::sqrt((budget.total - limit) * (budget.total + limit))};
  };
  budget.accelerate = push(limits.max_acceleration);
  budget.brake = push(limits.max_braking);
  budget.squared_max_speed = limits.max_speed * limits.max_speed;
  budget.lateral = std::min(limits.max_lateral_acceleration.value_or(budget.lateral), budget.total);
  budget.coupled = limits.budget_mode == BudgetMode::kCoupled;
  return budget;
}

// x after pushing over `length` from x; `radius` is kStraight where the grip circle does not bind.
inline double Rise(double x, double length, const Push& push, double radius, double total) {
  const double straight = x + 2.0 * push.limit * length;
  if (!(radius < std::numeric_limits<double>::infinity())) return straight;
  const double knee = radius * push.knee_per_radius;
  if (straight <= knee) return straight;
  const double rest = x < knee ? (straight - knee) / (2.0 * push.limit) : length;
  return grip::Advance(std::max(x, knee), 2.0 * rest / radius, radius * total);
}

// x after the opposite push over `length` from x: Rise(Fall(x, l), l) = x where Fall > 0.
inline double Fall(double x, double length, const Push& push, double radius, double total) {
  if (!(radius < std::numeric_limits<double>::infinity()))
    return std::max(0.0, x - 2.0 * push.limit * length);
  const double knee = radius * push.knee_per_radius;
  if (x <= knee) return std::max(0.0, x - 2.0 * push.limit * length);
  const double amplitude = radius * total;
  const double to_knee = 0.5 * radius * (grip::Angle(x, amplitude) - grip::Angle(knee, amplitude));
  if (to_knee >= length) return std::max(knee, grip::Retreat(x, 2.0 * length / radius, amplitude));
  return std::max(0.0, knee - 2.0 * push.limit * (length - to_knee));
}

// Length needed to rise from `low` to `high` (low <= high, and high <= radius * total on an arc).
inline double RiseLength(double low, double high, const Push& push, double radius, double total) {
  if (!(radius < std::numeric_limits<double>::infinity())) return (high - low) / (2.0 * push.limit);
  const double knee = radius * push.knee_per_radius;
  if (high <= knee) return (high - low) / (2.0 * push.limit);
  const double amplitude = radius * total;
  const double start = std::max(low, knee);
  const double on_circle =
      0.5 * radius * (grip::Angle(high, amplitude) - grip::Angle(start, amplitude));
  return on_circle + (low < knee ? (knee - low) / (2.0 * push.limit) : 0.0);
}

// The squared speed at which accelerating from x0 meets braking down to x1 within `length`, caps
// ignored. Preconditions: x1 <= Rise(x0, length), x0 <= Rise(x1, length).
double PeakBetween(double x0, double x1, double length, const MotionBudget& budget, double radius);

// The root in [low, high] of a continuous f with f(low) >= 0 >= f(high): Illinois steps,
// safeguarded by bisection, to the last bit or so. Deterministic.
template <typename F>
double FindRoot(double low, double high, F f) {
  double f_low = f(low);
  if (!(f_low > 0.0)) return low;
  double f_high = f(high);
  if (!(f_high < 0.0)) return high;
  int side = 0;
  for (int i = 0; i < 200; ++i) {
    double mid = (low * f_high - high * f_low) / (f_high - f_low);
    if (i % 3 == 2 || !(mid > low && mid < high)) mid = low + 0.5 * (high - low);
    if (!(mid > low && mid < high)) break;
    const double value = f(mid);
    if (value == 0.0) return mid;
    if (value > 0.0) {
      low = mid;
      f_low = value;
      if (side == 1) f_high *= 0.5;
      side = 1;
    } else {
      high = mid;
      f_high = value;
      if (side == -1) f_low *= 0.5;
      side = -1;
    }
  }
  return low;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_PIECE_MOTION_H_
