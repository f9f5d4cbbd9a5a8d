// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "server/planning/follow/cell_walls.h"
#include "server/planning/follow/follow_step_run.h"

namespace arclane {
namespace {

// How many cells around the last one, and around the one that the route is in, are searched for the
// agent.
constexpr size_t kCellSearch = 8;
// How long landing on a stop takes without noise: the stopping law brakes ever more gently near the
// stop, by less than half of the braking in the mean over the last few steps.
constexpr double kLandingBrakings = 1.5;
constexpr double kLandingSteps = 4.0;

}  // namespace

void FollowStepRun::ReadProgress() {
  dt_ = report_.dt;
  const double reported = Norm(report_.velocity);
  acting_ = options_.integrator == Integrator::kDelay ? Norm(state_.command) : reported;
  moved_ = std::sqrt(
      std::max(SquaredNorm(report_.displacement), SquaredNorm(report_.position - state_.position)));
  at_ = {state_.segment, state_.offset};
  deviation_ = SweepTo(route_, report_.position, moved_, &at_);
  const FollowSegment* segment = &route_.segments[at_.segment];
  const bool last = at_.segment + 1 == route_.segments.size();
  if (segment->stops_at_end && !last && MayLeave(Distance(report_.position, segment->end))) {
    at_ = {at_.segment + 1, 0.0};
    deviation_ = SweepTo(route_, report_.position, 0.0, &at_);
    segment = &route_.segments[at_.segment];
    state_.driving = false;
    leg_begins_ = true;
  }
  distance_ = at_.distance(route_);
  stop_along_ = segment->stop_distance - distance_;
  // Beside the route the way to the stop is longer.
  to_stop_ = deviation_ > rest_roundoff() ? Norm({stop_along_, deviation_}) : stop_along_;
  JudgeArrival();
  while (state_.portal < route_.portal_distance.size() &&
         route_.portal_distance[state_.portal] <= distance_) {
    ++state_.portal;
  }
  while (state_.portal > 0 && route_.portal_distance[state_.portal - 1] > distance_) {
    --state_.portal;
  }
  // A corner that is a stop stays ahead until its segment is left.
  const auto passed = [&](double corner) {
    return corner <= segment->start_distance || corner < distance_;
  };
  while (state_.corner < route_.corner_distance.size() &&
         passed(route_.corner_distance[state_.corner])) {
    ++state_.corner;
  }
  while (state_.corner > 0 && !passed(route_.corner_distance[state_.corner - 1])) --state_.corner;
}

// Within the distance tolerance of the goal the agent brakes, and has arrived when it is slow
// enough; noise of the position neither starts it again nor keeps it from resting.
void FollowStepRun::JudgeArrival() {
  if (at_.segment + 1 < route_.segments.size()) return;
  if (route_.end_speed > 0.0) {
    state_.arrived |= route_.segments.back().length - at_.offset <= route_.arrival_tolerance;
    return;
  }
  const double to_end = Distance(report_.position, route_.end);
  const bool slow = SlowEnough();
  state_.settling = Near(to_end, state_.settling);
  state_.arrived = state_.settling && (state_.arrived || slow);
  // Just past the goal it rests before it turns back.
  if (!slow && at_.offset >= route_.segments.back().length) {
    state_.settling = Near(to_end, true);
  }
}

// Whether the agent may leave a stop that lies `distance` away: within both tolerances. An agent
// that is not quite there yet lands on the stop first, as leaving early would cut the corner.
// Noise can keep it from landing: when it has had the time, it brakes, and leaves from where it
// rests.
bool FollowStepRun::MayLeave(double distance) {
  const bool near = Near(distance, state_.near_stop);
  if (!near) {
    state_.near_stop = state_.settling = false;
    return false;
  }
  if (!state_.near_stop) {
    state_.near_stop = true;
    state_.settle_time_s =
        report_.time_s + kLandingBrakings * acting_ / limits_.max_braking + kLandingSteps * dt_;
  }
  state_.settling = report_.time_s > state_.settle_time_s;
  if (!SlowEnough() || !(distance <= rest_roundoff() || state_.settling)) return false;
  state_.near_stop = state_.settling = false;
  return true;
}

// The nearest to cell `near` of the cells that hold p, as they follow one another; cell_count()
// when none of those searched does.
size_t FollowStepRun::CellNear(size_t near, Vec2 p) const {
  if (InCell(route_, near, p)) return near;
  for (size_t i = 1; i <= kCellSearch; ++i) {
    if (near + i < route_.cell_count() && InCell(route_, near + i, p)) return near + i;
    if (i <= near && InCell(route_, near - i, p)) return near - i;
  }
  return route_.cell_count();
}

// Of the cells [from, to] the one that p, which lies in none, is least far out of.
size_t FollowStepRun::CellBeside(size_t from, size_t to, Vec2 p) const {
  size_t best = to;
  double least = FarthestBehind(route_, to, p);
  for (size_t k = to; k-- > from;) {
    const double behind = FarthestBehind(route_, k, p);
    if (!(behind < least)) continue;
    least = behind;
    best = k;
  }
  return best;
}

// The cell that p is in, whose place along the route is `distance`; the last known cell is `near`.
// When none of those searched holds p, *inside is false and the cell is the nearest.
size_t FollowStepRun::CellOfAgent(Vec2 p, double distance, size_t near, bool* inside) const {
  // Round a vertex a step may pass any number of cells.
  const std::vector<double>& portals = route_.portal_distance;
  size_t on_route = state_.portal;
  while (on_route < portals.size() && portals[on_route] <= distance) ++on_route;
  on_route = std::min(on_route, route_.cell_count() - 1);
  // A corridor may visit a polygon twice: progress along the route tells which visit it is.
  size_t k = InCell(route_, on_route, p) ? on_route : CellNear(near, p);
  if (k == route_.cell_count() && on_route != near) k = CellNear(on_route, p);
  *inside = k < route_.cell_count();
  if (!*inside) k = CellBeside(std::min(near, on_route), on_route, p);
  // On a portal, or where the route is about to cross some at one vertex, the agent is in the cell
  // behind.
  const auto is_reached = [&](size_t portal) {
    return portal < on_route || (portals[portal] <= distance + route_.tolerance && !Closed(portal));
  };
  while (k + 1 < route_.cell_count() && is_reached(k) && InCell(route_, k + 1, p)) ++k;
  return k;
}

void FollowStepRun::FindCell() {
  if (route_.cell_count() == 0) return;
  state_.cell = static_cast<uint32_t>(
      CellOfAgent(report_.position, distance_, state_.cell, &out_.inside_corridor));
}

}  // namespace arclane
