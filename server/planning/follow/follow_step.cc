// SPDX-License-Identifier: Apache-2.0
#include "server/planning/follow/follow_step.h"

#include <algorithm>
#include <cmath>

#include "server/planning/follow/cell_walls.h"
#include "server/planning/follow/route_cursor.h"
#include "server/planning/follow/speed_ceiling.h"
#include "server/planning/route/motion_plan.h"
#include "server/planning/route/segment.h"

namespace arclane {
namespace {

// Braking asked for beyond the agent's by less than this fraction is rounding.
constexpr double kBrakingRoundoff = 1e-9;
// How many cells around the last one are searched for the agent.
constexpr size_t kCellSearch = 8;
// How long landing on a stop takes without noise: the stopping law brakes ever more gently near the
// stop, by less than half of the braking in the mean over the last few steps.
constexpr double kLandingBrakings = 1.5;
constexpr double kLandingSteps = 4.0;
// A wall's corner nearer than so many tolerances is where the agent stands: it may be one tolerance
// behind each of two walls there.
constexpr double kTouching = 8.0;
// How often the look-ahead is shortened to the portal in its way.
constexpr int kLookAheadTries = 4;

bool IsFinite(Vec2 v) { return std::isfinite(v.x) && std::isfinite(v.y); }

class Step {
 public:
  Step(const FollowRoute& route, const FollowerOptions& options, const FollowInput& input,
       FollowerState& state, MotionRequest& request)
      : route_(route),
        options_(options),
        in_(input),
        report_(input.report),
        limits_(route.agent.profile.limits),
        state_(state),
        out_(request) {}

  void Run() {
    Reset();
    out_.fault = Check();
    if (out_.fault != FollowFault::kNone) {
      out_.status = FollowStatus::kBadInput;
      out_.heading = report_.heading;
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

 private:
  void Reset() {
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

  FollowFault Check() const {
    if (state_.route_version != route_.version) return FollowFault::kOtherVersion;
    if (!(report_.dt > 0.0 && report_.dt <= options_.max_dt)) return FollowFault::kTimeStep;
    if (!(report_.time_s >= state_.time_s) || !std::isfinite(report_.time_s)) {
      return FollowFault::kTime;
    }
    if (!IsFinite(report_.position) || !IsFinite(report_.velocity) ||
        !IsFinite(report_.displacement) || !std::isfinite(report_.heading)) {
      return FollowFault::kNotFinite;
    }
    return FollowFault::kNone;
  }

  double rest_roundoff() const { return kArrivalRoundings * route_.roundoff; }

  bool SlowEnough() const {
    return acting_ <= route_.agent.corner_speed_tolerance || acting_ * dt_ <= rest_roundoff();
  }

  // Of a route without length: its end is its start.
  void RunWithoutWay() {
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

  FollowStatus ArrivedStatus() const {
    return route_.is_partial ? FollowStatus::kArrivedPartial : FollowStatus::kArrived;
  }

  void ReadProgress() {
    dt_ = report_.dt;
    const double reported = Norm(report_.velocity);
    acting_ = options_.integrator == Integrator::kDelay ? Norm(state_.command) : reported;
    moved_ = std::max(Norm(report_.displacement), Distance(report_.position, state_.position));
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
    to_stop_ = deviation_ > rest_roundoff() ? std::hypot(stop_along_, deviation_) : stop_along_;
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

  static bool Invalidates(DependencyState state) {
    return state != DependencyState::kCurrent && state != DependencyState::kAreaCostChanged;
  }

  // Within the distance tolerance of the goal the agent brakes, and has arrived when it is slow
  // enough; noise of the position neither starts it again nor keeps it from resting.
  void JudgeArrival() {
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

  bool Near(double distance, bool was_near) const {
    return distance <= (was_near ? options_.release_factor : 1.0) * route_.arrival_tolerance;
  }

  // Whether the agent may leave a stop that lies `distance` away: within both tolerances. An agent
  // that is not quite there yet lands on the stop first, as leaving early would cut the corner.
  // Noise can keep it from landing: when it has had the time, it brakes, and leaves from where it
  // rests.
  bool MayLeave(double distance) {
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

  void ReadReadSet() {
    uint8_t any = 0;
    for (const DependencyState state : in_.read_set) any |= static_cast<uint8_t>(state);
    if (any != 0) ReadChanges();
    closed_ = any != 0;
    out_.stale = Invalidates(state_.stale) || in_.feed_silent;
    state_.cancelled |= in_.cancel;
    const double limit = OffRouteDistance();
    off_route_ = deviation_ > limit;
    brakes_ = out_.stale || state_.cancelled || off_route_ || state_.settling ||
              !in_.avoidance.has_solution;
    if (out_.stale && Invalidates(state_.stale)) {
      out_.changed = state_.stale;
      out_.changed_dependency = state_.stale_dependency;
    }
  }

  // What lies ahead of the agent counts: the portals not yet crossed, and the goal.
  void ReadChanges() {
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
      const bool nearer = !Invalidates(state_.stale) ||
                          portal < route_.dependencies[state_.stale_dependency].portal;
      if (nearer) {
        state_.stale = changed;
        state_.stale_dependency = static_cast<uint32_t>(i);
      }
    }
  }

  double OffRouteDistance() const {
    if (options_.off_route_distance > 0.0) return options_.off_route_distance;
    const double braking = 0.5 * limits_.max_speed * limits_.max_speed / limits_.max_braking;
    return std::max({2.0 * route_.agent.profile.radius, 10.0 * route_.arrival_tolerance, braking});
  }

  void JudgeBlocking() {
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

  void FindCell() {
    if (route_.cell_count() == 0) return;
    const Vec2 p = report_.position;
    size_t k = state_.cell;
    out_.inside_corridor = InCell(route_, k, p);
    for (size_t i = 1; !out_.inside_corridor && i <= kCellSearch; ++i) {
      if (k + i < route_.cell_count() && InCell(route_, k + i, p)) {
        out_.inside_corridor = true;
        k += i;
      } else if (i <= k && InCell(route_, k - i, p)) {
        out_.inside_corridor = true;
        k -= i;
      }
    }
    if (!out_.inside_corridor) k = std::min<size_t>(state_.portal, route_.cell_count() - 1);
    // On a portal the agent is in the cell behind it.
    while (k < state_.portal && k + 1 < route_.cell_count() && InCell(route_, k + 1, p)) {
      ++k;
    }
    state_.cell = static_cast<uint32_t>(k);
  }

  // Under a shared budget the curve leaves less for braking and accelerating.
  double Budgeted(double acceleration) const {
    if (limits_.budget_mode != BudgetMode::kCoupled || !limits_.max_total_acceleration) {
      return acceleration;
    }
    const double lateral = acting_ * acting_ * route_.segments[at_.segment].curvature;
    const double total = *limits_.max_total_acceleration;
    const double rest = total * total - lateral * lateral;
    return rest > 0.0 ? std::min(acceleration, std::sqrt(rest)) : 0.0;
  }

  double StopLimit(const StoppingStep<double>& step) const {
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

  StepStretch Stretch(double longest_dt) const {
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

  void ChooseSpeed() {
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

  double Overrun(double available) const {
    return std::max(0.0, RestDistance(options_.integrator, acting_, limits_.max_braking, dt_) -
                             std::max(0.0, available));
  }

  // Turning, by a braking law of its own: the rotation rests at the wanted heading.
  void Turn() {
    const AgentProfile& agent = route_.agent.profile;
    const double reach =
        std::isfinite(stop_along_) ? std::min(speed_ * dt_, stop_along_) : speed_ * dt_;
    const FollowSegment* segment = &route_.segments[at_.segment];
    double wanted = segment->heading;
    if (segment->is_arc || at_.offset + reach > segment->length) {
      const RouteCursor next = Ahead(route_, at_, reach);
      segment = &route_.segments[next.segment];
      wanted = segment->heading + segment->curvature * next.offset;
    }
    const double error = WrapAngle(wanted - report_.heading);
    const double tolerance = std::max(agent.heading_tolerance, kStartDirectionRoundoff);
    const bool instant = !std::isfinite(agent.max_angular_speed);
    if (!state_.driving) {
      const bool moves = !leg_begins_ && !SlowEnough();
      state_.driving = !agent.turn_before_move || instant || moves || std::abs(error) <= tolerance;
    }
    turns_ = !state_.driving;
    if (turns_) speed_ = std::min(speed_, floor_);
    double turn = std::abs(error);
    if (state_.arrived) turn = 0.0;
    if (!instant) {
      double rate = agent.max_angular_speed;
      if (std::isfinite(options_.angular_braking)) {
        rate = std::min(rate, std::max(HoldStoppingLimit(turn, options_.angular_braking, dt_),
                                       LandingLimit(turn, {options_.angular_braking, dt_, dt_})));
      }
      turn = std::min(turn, rate * dt_);
    }
    out_.angular_speed = std::copysign(turn, error) / dt_;
    out_.heading = WrapAngle(report_.heading + std::copysign(turn, error));
  }

  // The first cell that holds the route's point p at `distance`, at least `from` and not behind a
  // closed portal. Behind a portal that p only touches, the route may turn back from it.
  size_t CellOf(double distance, Vec2 p, size_t from) const {
    size_t k = from;
    while (k < route_.portal_distance.size() && route_.portal_distance[k] <= distance &&
           !Closed(k)) {
      ++k;
    }
    while (k > from && InCell(route_, k - 1, p)) --k;
    return k;
  }

  bool Closed(size_t portal) const {
    if (!closed_) return false;
    for (size_t i = 0; i < in_.read_set.size(); ++i) {
      if (route_.dependencies[i].portal == portal && Invalidates(in_.read_set[i])) return true;
    }
    return false;
  }

  void Aim() {
    Vec2 base = report_.position;
    RouteCursor cursor = at_;
    double beside = deviation_;
    double step_length = speed_ * dt_;
    size_t cell = state_.cell;
    if (options_.integrator == Integrator::kRamp) step_length = 0.5 * (acting_ + speed_) * dt_;
    if (options_.integrator == Integrator::kDelay && acting_ > 0.0) {
      base = base + state_.command * dt_;
      beside = SweepTo(route_, base, acting_ * dt_, &cursor);
      cell = CellOf(cursor.distance(route_), base, cell);
    }
    double ahead = step_length;
    if (beside > rest_roundoff()) {
      const double meets = (step_length - beside) * (step_length + beside);
      ahead = std::max(meets > 0.0 ? std::sqrt(meets) : 0.0, kReturnSlope * beside);
    }
    const RouteCursor goal = Ahead(route_, cursor, ahead);
    Vec2 aim = PointAt(route_, goal);
    const Vec2 forward = DirectionOn(route_.segments[cursor.segment], cursor.offset);
    const bool past_stop = !SlowEnough() && Dot(aim - base, forward) < -rest_roundoff();
    if ((state_.settling || past_stop) && acting_ > 0.0) {
      // It rests before it turns back, and does not chase the noise of its position.
      speed_ = std::min(speed_, floor_);
      step_length = std::min(step_length, speed_ * dt_);
      const bool late = options_.integrator == Integrator::kDelay;
      aim = base + (late ? state_.command : report_.velocity) * (step_length / acting_);
    }
    Vec2 seen = aim;  // As far as the line base -> aim is known to lie in the corridor.
    size_t last = cell;
    if (route_.cell_count() > 0 && out_.inside_corridor) {
      last = CellOf(goal.distance(route_), aim, cell);
      if (last > cell) {
        Vec2 corner;
        if (FirstPortalMissed(route_, cell, last, base, aim, &corner) < last) {
          seen = corner;
          const Vec2 past = corner - base;
          const double length = Norm(past);
          // A corner that the agent stands on, or has passed, is not in its way.
          if (length > kTouching * route_.tolerance && Dot(past, aim - base) > 0.0) {
            aim = base + past * (step_length / length);
          }
        }
      }
    }
    const Vec2 way = aim - base;
    const double length = Norm(way);
    if (length > 0.0 && speed_ > 0.0) {
      const bool lands = options_.integrator != Integrator::kRamp && length <= step_length;
      out_.preferred_velocity = way * (lands ? 1.0 / dt_ : speed_ / length);
      out_.speed = lands ? length / dt_ : speed_;
      // Too near a point to reach it this slowly: it still brakes no harder than it can.
      if (out_.speed < floor_) {
        out_.preferred_velocity = way * (floor_ / length);
        out_.speed = floor_;
      }
    } else if (speed_ > 0.0) {
      out_.preferred_velocity =
          DirectionOn(route_.segments[cursor.segment], cursor.offset) * speed_;
      out_.speed = speed_;
    }
    ObeyAvoidance();
    if (out_.inside_corridor) WriteHalfPlanes(cell, last, base, seen);
    seen_ = seen;
  }

  // Shortens the request where avoidance's half-planes end it.
  void ObeyAvoidance() {
    const std::span<const HalfPlane> planes = in_.avoidance.half_planes;
    if (planes.empty() || out_.speed == 0.0) return;
    double fraction = 1.0;
    for (const HalfPlane& plane : planes) {
      const double room = plane.offset - Dot(plane.normal, report_.position);
      const double rate = Dot(plane.normal, out_.preferred_velocity) * dt_;
      if (rate > 0.0 && rate * fraction > room) fraction = std::max(0.0, room / rate);
    }
    if (fraction == 1.0) return;
    double speed = out_.speed * fraction;
    if (speed < floor_) {
      speed = floor_;
      out_.feasible = false;
    }
    out_.preferred_velocity = out_.preferred_velocity * (speed / out_.speed);
    out_.speed = speed;
  }

  void WriteHalfPlanes(size_t aim_cell, size_t last, Vec2 base, Vec2 seen) {
    const size_t cell = state_.cell;
    const Vec2 p = report_.position;
    // One step late, the step of the command before is what comes now.
    const bool late = options_.integrator == Integrator::kDelay;
    size_t to = late ? aim_cell : last;
    const Vec2 end = late ? base : seen;
    Vec2 unused;
    bool single = to == cell;
    for (size_t j = cell; j < to; ++j) single |= route_.portals[j].kind != PortalKind::kEdge;
    if (!single && late) single = FirstPortalMissed(route_, cell, to, p, end, &unused) < to;
    if (!single) {
      out_.half_plane_count =
          static_cast<uint32_t>(ConvexSetAround(route_, cell, to, p, end, out_.step_planes));
      if (out_.half_plane_count > 0) return;
    }
    const std::span<const HalfPlane> planes = route_.planes(cell);
    out_.cell_planes = planes.data();
    out_.half_plane_count = static_cast<uint32_t>(planes.size());
  }

  void LookAhead() {
    const double far = std::max({options_.look_ahead_distance, speed_ * dt_,
                                 options_.look_ahead_s * std::max(speed_, acting_)});
    RouteCursor cursor = AheadPastStops(route_, at_, far);
    if (!out_.inside_corridor) {
      out_.target = seen_;
      return;
    }
    for (int i = 0; i < kLookAheadTries; ++i) {
      const Vec2 target = PointAt(route_, cursor);
      const double distance = cursor.distance(route_);
      const size_t to = CellOf(distance, target, state_.cell);
      Vec2 unused;
      size_t missed = FirstPortalMissed(route_, state_.cell, to, report_.position, target, &unused);
      // The route goes on behind a closed portal; the look does not.
      const bool closed = missed == to && to < route_.portal_distance.size() &&
                          route_.portal_distance[to] <= distance;
      if (missed == to && !closed) {
        out_.target = target;
        return;
      }
      if (route_.portal_distance[missed] <= distance_) break;
      cursor = AheadPastStops(route_, at_, route_.portal_distance[missed] - distance_);
      if (i == 0 && !closed && stop_along_ < cursor.distance(route_) - distance_ &&
          stop_along_ > 0.0) {
        cursor = Ahead(route_, at_, stop_along_);
      }
    }
    out_.target = seen_;
  }

  void Tell() {
    out_.distance = distance_;
    out_.deviation = deviation_;
    out_.distance_to_stop = to_stop_;
    out_.segment = route_.segments[at_.segment].source;
    out_.corner = state_.corner;
    out_.portal = state_.portal;
    const bool too_fast = out_.overrun > route_.arrival_tolerance;
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

  FollowStatus Status(bool too_fast) {
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

  void Remember() {
    state_.time_s = report_.time_s;
    state_.segment = at_.segment;
    state_.offset = at_.offset;
    state_.position = report_.position;
    state_.command = out_.preferred_velocity;
  }

  const FollowRoute& route_;
  const FollowerOptions& options_;
  const FollowInput& in_;
  const FollowReport& report_;
  const SpeedLimits& limits_;
  FollowerState& state_;
  MotionRequest& out_;

  RouteCursor at_;
  double dt_ = 0.0;
  double acting_ = 0.0;  // The speed that acts until the command does.
  double moved_ = 0.0;
  double deviation_ = 0.0;
  double distance_ = 0.0;    // Along the route.
  double stop_along_ = 0.0;  // To the next stop, along the route.
  double to_stop_ = 0.0;
  double floor_ = 0.0;  // What full braking reaches.
  double speed_ = 0.0;
  Vec2 seen_;
  bool leg_begins_ = false;
  bool brakes_ = false;
  bool off_route_ = false;
  bool turns_ = false;
  bool closed_ = false;  // Some dependency is not current.
};

}  // namespace

FollowerState StartFollowing(const FollowRoute& route, double time_s, Vec2 position,
                             double distance) {
  FollowerState state;
  state.route_version = route.version;
  state.time_s = time_s;
  state.position = position;
  if (distance > 0.0 && !route.segments.empty()) {
    const RouteCursor at = AheadPastStops(route, {}, distance);
    state.segment = at.segment;
    state.offset = at.offset;
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
  Step(route, options, input, state, request).Run();
}

}  // namespace arclane
