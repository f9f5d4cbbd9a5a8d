// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/follow/follow_step_run.h"

namespace arclane {
namespace {

// Braking asked for beyond the agent's by less than this fraction is rounding.
constexpr double kBrakingRoundoff = 1e-9;

}  // namespace

// Under a shared budget the curve leaves less for braking and accelerating.
double FollowStepRun::Budgeted(double acceleration) const {
  if (limits_.budget_mode != BudgetMode::kCoupled || !limits_.max_total_acceleration) {
    return acceleration;
  }
  const double lateral = acting_ * acting_ * route_.segments[at_.segment].curvature;
  const double total = *limits_.max_total_acceleration;
  const double rest = total * total - lateral * lateral;
  return rest > 0.0 ? std::min(acceleration, std::sqrt(rest)) : 0.0;
}

double FollowStepRun::StopLimit(const StoppingStep<double>& step) const {
  if (!(to_stop_ < std::numeric_limits<double>::infinity())) return limits_.max_speed;
  const double limit = StoppingLimit(options_.integrator, to_stop_, acting_, step);
  switch (options_.integrator) {
    case Integrator::kHold:
      return std::max(limit, LandingLimit(to_stop_, step));
    case Integrator::kDelay:
      return std::max(limit, LandingLimit(to_stop_ - acting_ * step.longest_dt, step));
    case Integrator::kRamp:
      break;
  }
  return limit;
}

StepStretch FollowStepRun::Stretch(double longest_dt) const {
  StepStretch stretch;
  stretch.from = stretch.begin = distance_;
  stretch.reach = longest_dt;
  stretch.until = distance_ + stop_along_;
  if (options_.integrator == Integrator::kDelay) stretch.begin += acting_ * longest_dt;
  // Half of the new speed acts in this step; the rest is the next one's, which begins with it.
  if (options_.integrator == Integrator::kRamp) {
    stretch.begin += 0.5 * acting_ * longest_dt;
    stretch.reach = 1.5 * longest_dt;
  }
  return stretch;
}

void FollowStepRun::ChooseSpeed() {
  const double braking = Budgeted(limits_.max_braking);
  const double acceleration = Budgeted(limits_.max_acceleration);
  const StoppingStep<double> step{limits_.max_braking, dt_, dt_ * options_.longest_step};
  floor_ = FullBrakingSpeed(acting_, braking, dt_);
  double stop_limit = StopLimit(step);
  if (options_.longest_step > 1.0 && stop_limit < floor_) {
    // A longer step has used up the margin.
    stop_limit = std::max(stop_limit, std::min(floor_, StopLimit({step.braking, dt_, dt_})));
  }
  const double faster = (leg_begins_ ? 0.0 : acting_) + acceleration * dt_;
  speed_ = std::min({stop_limit, limits_.max_speed, std::max(faster, floor_)});
  const double allowed =
      LargestSpeedBelowCeilings(route_, Stretch(step.longest_dt), speed_, &state_.ceiling);
  speed_ = allowed;
  const double tolerated = floor_ - kBrakingRoundoff * braking * dt_;
  if (speed_ < tolerated) {
    const double excess = (floor_ - allowed) * (floor_ + allowed) / (2.0 * limits_.max_braking);
    out_.overrun = stop_limit < tolerated ? Overrun(to_stop_) : excess;
    if (out_.overrun > route_.arrival_tolerance) out_.feasible = false;
    speed_ = floor_;
  }
  if (Invalidates(state_.stale)) {
    out_.overrun = 0.0;
    const uint32_t portal = route_.dependencies[state_.stale_dependency].portal;
    const double inset =
        std::max(0.0, route_.agent.profile.radius - route_.agent.profile.baked_radius);
    if (portal < route_.portal_distance.size()) {
      out_.overrun = Overrun(route_.portal_distance[portal] - distance_ - inset);
      if (out_.overrun > route_.arrival_tolerance) out_.feasible = false;
    }
  }
  if (!in_.avoidance.has_solution) out_.feasible = false;
  if (in_.avoidance.max_speed < speed_) {
    if (in_.avoidance.max_speed < tolerated) out_.feasible = false;
    speed_ = std::max(floor_, in_.avoidance.max_speed);
  }
}

double FollowStepRun::Overrun(double available) const {
  return std::max(0.0, RestDistance(options_.integrator, acting_, limits_.max_braking, dt_) -
                           std::max(0.0, available));
}

}  // namespace arclane
