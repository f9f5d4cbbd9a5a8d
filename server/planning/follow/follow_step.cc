// SPDX-License-Identifier: Apache-2.0
#include "server/planning/follow/follow_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/follow/follow_step_run.h"

namespace arclane {
namespace {

// 0 times a finite number is 0, and NaN else.
bool AreFinite(Vec2 a, Vec2 b, Vec2 c, double d) {
  return 0.0 * a.x + 0.0 * a.y + 0.0 * b.x + 0.0 * b.y + 0.0 * c.x + 0.0 * c.y + 0.0 * d == 0.0;
}

}  // namespace

void FollowStepRun::Run() {
  Reset();
  out_.fault = Check();
  if (out_.fault != FollowFault::kNone) {
    out_.status = FollowStatus::kBadInput;
    // What is told of the agent is what is known of it.
    out_.heading = std::isfinite(report_.heading) ? report_.heading : 0.0;
    if (!std::isfinite(SquaredNorm(report_.position))) {
      const bool known = std::isfinite(SquaredNorm(state_.position));
      out_.rest_position = out_.target = known ? state_.position : route_.start;
    }
    return;
  }
  if (route_.segments.empty()) {
    RunWithoutWay();
    return;
  }
  ReadProgress();
  ReadReadSet();
  JudgeBlocking();
  FindCell();
  ChooseSpeed();
  Turn();
  if (brakes_) speed_ = std::min(speed_, floor_);
  Aim();
  LookAhead();
  Tell();
  Remember();
}

void FollowStepRun::Reset() {
  out_.fault = FollowFault::kNone;
  out_.replan = out_.requery = out_.stale = false;
  out_.feasible = true;
  out_.preferred_velocity = {};
  out_.speed = out_.angular_speed = out_.overrun = 0.0;
  out_.changed = DependencyState::kCurrent;
  out_.changed_dependency = 0;
  out_.collision = Collision::kNone;
  out_.half_plane_count = 0;
  out_.cell_planes = nullptr;
  out_.inside_corridor = false;
  out_.route_version = route_.version;
  out_.rest_position = out_.target = report_.position;
}

FollowFault FollowStepRun::Check() const {
  if (state_.route_version != route_.version) return FollowFault::kOtherVersion;
  if (!(report_.dt > 0.0 && report_.dt <= options_.max_dt)) return FollowFault::kTimeStep;
  if (!(report_.time_s >= state_.time_s) || !std::isfinite(report_.time_s)) {
    return FollowFault::kTime;
  }
  if (!AreFinite(report_.position, report_.velocity, report_.displacement, report_.heading) ||
      !(in_.avoidance.max_speed >= 0.0)) {
    return FollowFault::kNotFinite;
  }
  return FollowFault::kNone;
}

// Of a route without length: its end is its start.
void FollowStepRun::RunWithoutWay() {
  dt_ = report_.dt;
  acting_ = Norm(report_.velocity);
  out_.deviation = Distance(report_.position, route_.end);
  out_.distance = out_.distance_to_stop = 0.0;
  out_.corner = out_.portal = out_.segment = 0;
  out_.heading = report_.heading;
  floor_ = FullBrakingSpeed(acting_, limits_.max_braking, dt_);
  if (acting_ > 0.0) out_.preferred_velocity = report_.velocity * (floor_ / acting_);
  out_.speed = floor_;
  const bool there = out_.deviation <= route_.arrival_tolerance;
  state_.arrived |= there && SlowEnough();
  out_.status = state_.arrived || there ? ArrivedStatus() : FollowStatus::kOffRoute;
  out_.replan = out_.status != FollowStatus::kArrived;
  state_.time_s = report_.time_s;
  state_.position = report_.position;
}

void FollowStepRun::Remember() {
  state_.time_s = report_.time_s;
  state_.segment = at_.segment;
  state_.offset = at_.offset;
  state_.position = report_.position;
  state_.command = out_.preferred_velocity;
}

FollowerState StartFollowing(const FollowRoute& route, double time_s, Vec2 position,
                             double distance) {
  FollowerState state;
  state.route_version = route.version;
  state.time_s = time_s;
  state.position = position;
  if (route.segments.empty()) return state;
  RouteCursor at = distance > 0.0 ? AheadPastStops(route, {}, distance) : RouteCursor();
  const FollowSegment& segment = route.segments[at.segment];
  if (segment.stops_at_end && at.segment + 1 < route.segments.size() &&
      at.offset >= segment.length - kArrivalRoundings * route.roundoff) {
    // It rests at a stop, comes to it, or has just left it: what it moved along tells.
    const Vec2 way = position - segment.end;
    const double along = Dot(way, route.segments[at.segment + 1].direction);
    if (along > kArrivalRoundings * route.roundoff &&
        along > Dot(way, DirectionOn(segment, segment.length))) {
      at = {at.segment + 1, 0.0};
    }
  }
  const double moved = Distance(PointAt(route, at), position);
  if (std::isfinite(moved)) SweepTo(route, position, moved, &at);
  state.segment = at.segment;
  state.offset = at.offset;
  distance = at.distance(route);
  if (distance > 0.0) {
    while (state.portal < route.portal_distance.size() &&
           route.portal_distance[state.portal] <= distance) {
      ++state.portal;
    }
    if (route.cell_count() > 0) {
      state.cell = std::min(state.portal, static_cast<uint32_t>(route.cell_count() - 1));
    }
  }
  return state;
}

void FollowStep(const FollowRoute& route, const FollowerOptions& options, const FollowInput& input,
                FollowerState& state, MotionRequest& request) {
  FollowStepRun(route, options, input, state, request).Run();
}

}  // namespace arclane
