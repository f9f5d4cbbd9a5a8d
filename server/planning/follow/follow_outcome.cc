// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/follow/follow_step_run.h"

namespace arclane {

void FollowStepRun::ReadReadSet() {
  uint8_t any = 0;
  for (const DependencyState state : in_.read_set) any |= static_cast<uint8_t>(state);
  if (any != 0) ReadChanges();
  closed_ = any != 0;
  out_.stale = Invalidates(state_.stale) || in_.feed_silent;
  state_.cancelled |= in_.cancel;
  off_route_ = deviation_ > (options_.off_route_distance > 0.0 ? options_.off_route_distance
                                                               : route_.off_route_distance);
  brakes_ = out_.stale || state_.cancelled || off_route_ || state_.settling ||
            !in_.avoidance.has_solution;
  if (out_.stale && Invalidates(state_.stale)) {
    out_.changed = state_.stale;
    out_.changed_dependency = state_.stale_dependency;
  }
}

// What lies ahead of the agent counts: the portals not yet crossed, and the goal.
void FollowStepRun::ReadChanges() {
  for (size_t i = 0; i < in_.read_set.size(); ++i) {
    const DependencyState changed = in_.read_set[i];
    const uint32_t portal = route_.dependencies[i].portal;
    if (changed == DependencyState::kCurrent || portal < state_.portal) continue;
    if (changed == DependencyState::kAreaCostChanged) {
      out_.requery = true;
      out_.changed = changed;
      out_.changed_dependency = static_cast<uint32_t>(i);
      continue;
    }
    const bool nearer =
        !Invalidates(state_.stale) || portal < route_.dependencies[state_.stale_dependency].portal;
    if (nearer) {
      state_.stale = changed;
      state_.stale_dependency = static_cast<uint32_t>(i);
    }
  }
}

void FollowStepRun::JudgeBlocking() {
  const double elapsed = report_.time_s - state_.time_s;
  const double commanded = Norm(state_.command);
  if (commanded > 0.0) {
    state_.window_requested += commanded * elapsed;
    state_.window_made += Dot(report_.displacement, state_.command) / commanded;
  }
  state_.window_s += elapsed;
  if (state_.window_s >= options_.blocked_window_s) {
    state_.blocked = state_.window_requested > rest_roundoff() &&
                     state_.window_made < options_.blocked_fraction * state_.window_requested;
    state_.window_s = state_.window_requested = state_.window_made = 0.0;
  }
  state_.blocked_s = state_.blocked ? state_.blocked_s + elapsed : 0.0;
}

void FollowStepRun::Tell() {
  out_.distance = distance_;
  out_.deviation = deviation_;
  out_.distance_to_stop = to_stop_;
  out_.segment = route_.segments[at_.segment].source;
  out_.corner = state_.corner;
  out_.portal = state_.portal;
  const bool too_fast = JudgeTooFast();
  if (brakes_ || too_fast) {
    const double rest = RestDistance(options_.integrator, acting_, limits_.max_braking, dt_);
    out_.rest_position = PointAt(route_, AheadPastStops(route_, at_, rest));
  }
  if (!out_.inside_corridor && route_.cell_count() > 0) out_.feasible = false;
  out_.status = Status(too_fast);
  out_.replan = out_.stale || off_route_ || out_.status == FollowStatus::kBlocked ||
                (state_.arrived && route_.needs_replan);
  if (!too_fast) out_.overrun = 0.0;
}

// Noise of the position or the speed lets the overrun come and go from step to step. Told once, it
// is told until it has not been so for a while, or the agent rests.
bool FollowStepRun::JudgeTooFast() {
  if (out_.overrun > route_.arrival_tolerance) {
    state_.too_fast_until_s = report_.time_s + options_.too_fast_hold_s;
    state_.overrun = out_.overrun;
    return true;
  }
  if (!(report_.time_s < state_.too_fast_until_s) || SlowEnough()) return false;
  out_.overrun = state_.overrun;
  return true;
}

FollowStatus FollowStepRun::Status(bool too_fast) {
  if (state_.cancelled) return FollowStatus::kCancelled;
  if (state_.arrived) return ArrivedStatus();
  if (too_fast) return FollowStatus::kCannotStopInTime;
  if (out_.stale) return FollowStatus::kStale;
  if (off_route_) return FollowStatus::kOffRoute;
  if (state_.blocked) {
    out_.collision = report_.collision;
    const bool waits = report_.collision == Collision::kMoving &&
                       state_.blocked_s < options_.moving_obstacle_patience_s;
    return waits ? FollowStatus::kWaiting : FollowStatus::kBlocked;
  }
  return turns_ ? FollowStatus::kTurning : FollowStatus::kFollowing;
}

}  // namespace arclane
