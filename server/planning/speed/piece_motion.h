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
#include "server/planning/speed/motion_tolerance.h"
#include "server/planning/speed/speed_limits.h"

namespace arclane {

// One direction's limit on |a_t|.
template <typename Real>
struct BasicPush {
  Real limit = 0;
  Real knee_per_radius = 0;  // sqrt(total^2 - limit^2)
};

// Limits resolved for planning: the total already bounds each part.
template <typename Real>
struct BasicMotionBudget {
  BasicPush<Real> accelerate;
  BasicPush<Real> brake;
  Real squared_max_speed = 0;
  Real lateral = std::numeric_limits<Real>::infinity();
  Real total = std::numeric_limits<Real>::infinity();
  bool coupled = false;

  // The squared speed cap of a piece of this radius.
  Real CapAt(Real radius) const { return std::min(squared_max_speed, lateral * radius); }
};

using Push = BasicPush<double>;
using MotionBudget = BasicMotionBudget<double>;

template <typename Real = double>
BasicMotionBudget<Real> ResolveBudget(const SpeedLimits& limits) {
  BasicMotionBudget<Real> budget;
  if (limits.max_total_acceleration) budget.total = *limits.max_total_acceleration;
  const auto push = [&budget](Real limit) {
    limit = std::min(limit, budget.total);
    return BasicPush<Real>{limit, std::sqrt((budget.total - limit) * (budget.total + limit))};
  };
  budget.accelerate = push(limits.max_acceleration);
  budget.brake = push(limits.max_braking);
  budget.squared_max_speed = Real{limits.max_speed} * limits.max_speed;
  if (limits.max_lateral_acceleration) budget.lateral = *limits.max_lateral_acceleration;
  budget.lateral = std::min(budget.lateral, budget.total);
  budget.coupled = limits.budget_mode == BudgetMode::kCoupled;
  return budget;
}

// Whether no grip circle binds: a straight piece, or no coupled budget.
template <typename Real>
bool IsStraight(Real radius) {
  return !(radius < std::numeric_limits<Real>::infinity());
}

// x after pushing over `length` from x; `radius` is kStraight where the grip circle does not bind.
template <typename Real>
Real Rise(Real x, Real length, const BasicPush<Real>& push, Real radius, Real total) {
  const Real straight = x + 2 * push.limit * length;
  if (IsStraight(radius)) return straight;
  const Real knee = radius * push.knee_per_radius;
  if (straight <= knee) return straight;
  const Real rest = x < knee ? (straight - knee) / (2 * push.limit) : length;
  return grip::Advance(std::max(x, knee), 2 * rest / radius, radius * total);
}

// x after the opposite push over `length` from x: Rise(Fall(x, l), l) = x where Fall > 0.
template <typename Real>
Real Fall(Real x, Real length, const BasicPush<Real>& push, Real radius, Real total) {
  if (IsStraight(radius)) return std::max(Real{0}, x - 2 * push.limit * length);
  const Real knee = radius * push.knee_per_radius;
  if (x <= knee) return std::max(Real{0}, x - 2 * push.limit * length);
  const Real amplitude = radius * total;
  const Real to_knee = radius / 2 * (grip::Angle(x, amplitude) - grip::Angle(knee, amplitude));
  if (to_knee >= length) return std::max(knee, grip::Retreat(x, 2 * length / radius, amplitude));
  return std::max(Real{0}, knee - 2 * push.limit * (length - to_knee));
}

// Length needed to rise from `low` to `high` (low <= high, and high <= radius * total on an arc).
template <typename Real>
Real RiseLength(Real low, Real high, const BasicPush<Real>& push, Real radius, Real total) {
  if (IsStraight(radius)) return (high - low) / (2 * push.limit);
  const Real knee = radius * push.knee_per_radius;
  if (high <= knee) return (high - low) / (2 * push.limit);
  const Real amplitude = radius * total;
  const Real start = std::max(low, knee);
  const Real on_circle =
      radius / 2 * (grip::Angle(high, amplitude) - grip::Angle(start, amplitude));
  return on_circle + (low < knee ? (knee - low) / (2 * push.limit) : Real{0});
}

// Whether the rise from `low` to `high` takes all of `length`, up to the rounding of `high`. The
// speed reached alone does not tell: on a grip circle it saturates at the top, which a rise may
// reach long before the length ends. A fall is a rise seen from its end.
template <typename Real>
bool RisesThroughout(Real low, Real high, Real length, const BasicPush<Real>& push, Real radius,
                     Real total) {
  if (!(high >= low) || !(high >= kOnCap * Rise(low, length, push, radius, total))) return false;
  if (IsStraight(radius)) return true;
  const Real reach = std::min(high / Real{kOnCap}, radius * total);
  return RiseLength(low, reach, push, radius, total) >= length * kWholePiece;
}

// The squared speed at which accelerating from x0 meets braking down to x1 within `length`, caps
// ignored. Preconditions: x1 <= Rise(x0, length), x0 <= Rise(x1, length).
template <typename Real>
Real PeakBetween(Real x0, Real x1, Real length, const BasicMotionBudget<Real>& budget, Real radius);

// The root in [low, high] of a continuous f with f(low) >= 0 >= f(high): Illinois steps,
// safeguarded by bisection, to the last bit or so. Deterministic.
template <typename Real, typename F>
Real FindRoot(Real low, Real high, F f) {
  Real f_low = f(low);
  if (!(f_low > 0)) return low;
  Real f_high = f(high);
  if (!(f_high < 0)) return high;
  int side = 0;
  for (int i = 0; i < 200; ++i) {
    Real mid = (low * f_high - high * f_low) / (f_high - f_low);
    if (i % 3 == 2 || !(mid > low && mid < high)) mid = low + (high - low) / 2;
    if (!(mid > low && mid < high)) break;
    const Real value = f(mid);
    if (value == 0) return mid;
    if (value > 0) {
      low = mid;
      f_low = value;
      if (side == 1) f_high /= 2;
      side = 1;
    } else {
      high = mid;
      f_high = value;
      if (side == -1) f_low /= 2;
      side = -1;
    }
  }
  return low;
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_PIECE_MOTION_H_
