// SPDX-License-Identifier: Apache-2.0
// What an agent can do: the limits that a speed plan never exceeds, and how they act together.
//
// Along a path with curvature 1/R the agent has a speed v, a tangential acceleration a_t and a
// lateral acceleration v^2/R. Every plan of this folder keeps, at every distance,
//   0 <= v <= max_speed,  -max_braking <= a_t <= max_acceleration,  v^2/R <=
//   max_lateral_acceleration,
// and the total acceleration as the budget mode says.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_SPEED_LIMITS_H_
#define ARCLANE_SERVER_PLANNING_SPEED_SPEED_LIMITS_H_

#include <optional>
#include <string>
#include <vector>

namespace arclane {

// How max_total_acceleration binds.
enum class BudgetMode {
  // Each component alone: |a_t| <= total and v^2/R <= total, if a total is given.
  kIndependent,
  // As kIndependent, and the separate limits fit into the total by construction:
  // max(max_acceleration, max_braking)^2 + max_lateral_acceleration^2 <= total^2 is checked; both
  // must be given.
  kReserved,
  // a_t^2 + (v^2/R)^2 <= total^2; the total must be given.
  kCoupled,
};

// All numbers are in the caller's length unit and seconds.
struct SpeedLimits {
  double max_speed = 0.0;         // > 0, finite
  double max_acceleration = 0.0;  // > 0, finite
  double max_braking = 0.0;       // > 0, finite; a magnitude
  // > 0 and finite if given; not given: unlimited.
  std::optional<double> max_lateral_acceleration;
  std::optional<double> max_total_acceleration;
  BudgetMode budget_mode = BudgetMode::kIndependent;
  // >= 0, finite. Speed is held at least this long before every braking run (see speed_plan.h).
  double reaction_time_s = 0.0;
};

// One broken rule: the field's path below the request ("limits.max_speed", "pieces[3].length") and
// what it must be.
struct SpeedViolation {
  std::string field;
  std::string message;
};

// Budgets such as (3, 4, 5) or (a/sqrt(2), a/sqrt(2), a) use the total up exactly; the caller's
// rounding of each is forgiven up to a few ulps.
inline constexpr double kReservedRoundoff = 1e-15;

// Appends one violation for every rule of SpeedLimits that does not hold; NaN breaks every rule.
void AppendLimitViolations(const SpeedLimits& limits, std::vector<SpeedViolation>& violations);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_SPEED_LIMITS_H_
