// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/follow/cell_walls.h"
#include "server/planning/follow/follow_step_run.h"
#include "server/planning/route/motion_plan.h"
#include "server/planning/route/segment.h"

namespace arclane {
namespace {

// A wall's corner nearer than so many tolerances is where the agent stands: it may be one tolerance
// behind each of two walls there.
constexpr double kTouching = 8.0;
// How often the look-ahead is shortened to the portal in its way.
constexpr int kLookAheadTries = 4;

}  // namespace

// Turning, by a braking law of its own: the rotation rests at the wanted heading.
void FollowStepRun::Turn() {
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
size_t FollowStepRun::CellOf(double distance, Vec2 p, size_t from) const {
  size_t k = from;
  while (k < route_.portal_distance.size() && route_.portal_distance[k] <= distance && !Closed(k)) {
    ++k;
  }
  while (k > from && InCell(route_, k - 1, p)) --k;
  return k;
}

bool FollowStepRun::Closed(size_t portal) const {
  if (!closed_) return false;
  for (size_t i = 0; i < in_.read_set.size(); ++i) {
    if (route_.dependencies[i].portal == portal && Invalidates(in_.read_set[i])) return true;
  }
  return false;
}

void FollowStepRun::Aim() {
  Vec2 base = report_.position;
  RouteCursor cursor = at_;
  double beside = deviation_;
  double step_length = speed_ * dt_;
  size_t cell = state_.cell;
  if (options_.integrator == Integrator::kRamp) step_length = 0.5 * (acting_ + speed_) * dt_;
  if (options_.integrator == Integrator::kDelay && acting_ > 0.0) {
    base = base + state_.command * dt_;
    beside = SweepTo(route_, base, acting_ * dt_, &cursor);
    bool inside = false;
    if (route_.cell_count() > 0) cell = CellOfAgent(base, cursor.distance(route_), cell, &inside);
  }
  double ahead = step_length;
  if (beside > rest_roundoff()) {
    const double meets = (step_length - beside) * (step_length + beside);
    ahead = std::max(meets > 0.0 ? std::sqrt(meets) : 0.0, kReturnSlope * beside);
  }
  const RouteCursor goal = Ahead(route_, cursor, ahead);
  Vec2 aim = PointAt(route_, goal);
  // Only at a segment's end can the base lie past the place that it is projected on.
  const FollowSegment& segment = route_.segments[cursor.segment];
  const bool past_stop = cursor.offset >= segment.length && !SlowEnough() &&
                         Dot(aim - base, DirectionOn(segment, cursor.offset)) < -rest_roundoff();
  const bool coasts = (state_.settling || past_stop) && acting_ > 0.0;
  if (coasts) {
    // It rests before it turns back, and does not chase the noise of its position.
    speed_ = std::min(speed_, floor_);
    step_length = std::min(step_length, speed_ * dt_);
    const bool late = options_.integrator == Integrator::kDelay;
    aim = base + (late ? state_.command : report_.velocity) * (step_length / acting_);
  }
  Vec2 seen = aim;  // As far as the line base -> aim is known to lie in the corridor.
  size_t last = cell;
  if (route_.cell_count() > 0) {
    last = CellOf(goal.distance(route_), aim, cell);
    // Straight on behind a stop there may be no corridor.
    if (coasts && out_.inside_corridor) seen = SeenInCell(last, base, aim);
    if (last > cell) {
      Vec2 corner;
      const size_t missed =
          FirstPortalMissed(route_, cell, last, base, aim, route_.tolerance, &corner);
      if (missed < last) {
        seen = corner;
        const Vec2 past = corner - base;
        const double length = Norm(past);
        // A corner that the agent stands on, or has passed, is not in its way.
        if (length > kTouching * route_.tolerance) {
          if (Dot(past, aim - base) > 0.0) {
            aim = base + past * (step_length / length);
          } else if (LiesBefore(missed, base)) {
            // The route turns back at the corner: to it first, and no farther than braking allows.
            aim = base + past * (std::min(step_length, std::max(length, floor_ * dt_)) / length);
          }
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
    out_.preferred_velocity = DirectionOn(segment, cursor.offset) * speed_;
    out_.speed = speed_;
  }
  ObeyAvoidance();
  if (out_.inside_corridor && !WriteCellOfStep(base)) {
    WriteHalfPlanes(cell, last, base);
    ObeyHalfPlanes();
  }
  seen_ = seen;
}

// Whether p has yet to cross the portal.
bool FollowStepRun::LiesBefore(size_t portal, Vec2 p) const {
  const Vec2 right = route_.portals[portal].right;
  const Vec2 width = route_.portals[portal].left - right;
  return Cross(width, p - right) > route_.tolerance * Norm(width);
}

// Where the line from -> to, which enters the cell, leaves it, or `to`.
Vec2 FollowStepRun::SeenInCell(size_t cell, Vec2 from, Vec2 to) const {
  const Vec2 way = to - from;
  double fraction = 1.0;
  for (const HalfPlane& plane : route_.planes(cell)) {
    const double rate = Dot(plane.normal, way);
    const double room = plane.offset - Dot(plane.normal, from);
    if (rate > 0.0 && rate * fraction > room) fraction = std::max(0.0, room / rate);
  }
  return fraction == 1.0 ? to : from + way * fraction;
}

// Shortens the request where avoidance's half-planes end it.
void FollowStepRun::ObeyAvoidance() {
  const std::span<const HalfPlane> planes = in_.avoidance.half_planes;
  if (planes.empty() || out_.speed == 0.0) return;
  double fraction = 1.0;
  for (const HalfPlane& plane : planes) {
    const double room = plane.offset - Dot(plane.normal, report_.position);
    const double rate = Dot(plane.normal, out_.preferred_velocity) * dt_;
    if (rate > 0.0 && rate * fraction > room) fraction = std::max(0.0, room / rate);
  }
  if (fraction < 1.0) Shorten(fraction);
}

// The displacement of the step to come, when the controller does what is asked.
Vec2 FollowStepRun::StepToCome() const {
  switch (options_.integrator) {
    case Integrator::kHold:
      return out_.preferred_velocity * dt_;
    case Integrator::kRamp:
      return (report_.velocity + out_.preferred_velocity) * (0.5 * dt_);
    case Integrator::kDelay:
      return state_.command * dt_;
  }
  return {};
}

// Of the cells from `cell` to `last`, and those behind that hold it too, the one that holds the end
// of the line from the agent best, when the line lies in them; else the line is cut at the end of
// the portal that it misses.
size_t FollowStepRun::CellOfLine(size_t cell, size_t last, Vec2* end) const {
  const Vec2 p = report_.position;
  size_t top = last;
  while (top + 1 < route_.cell_count() && IsJoined(top) && InCell(route_, top + 1, *end)) ++top;
  Vec2 corner;
  size_t best = route_.cell_count();
  double least = 2.0 * route_.tolerance;
  for (size_t k = top + 1; k-- > cell;) {
    const double behind = FarthestBehind(route_, k, *end);
    if (behind > least || (best < route_.cell_count() && behind == least)) continue;
    if (FirstPortalMissed(route_, cell, k, p, *end, route_.tolerance, &corner) < k) continue;
    least = behind;
    best = k;
  }
  if (best < route_.cell_count() || last == cell) return best < route_.cell_count() ? best : cell;
  const size_t missed = FirstPortalMissed(route_, cell, last, p, *end, route_.tolerance, &corner);
  if (missed < last) *end = corner;
  return missed;
}

// Whether half-planes may reach through the portal.
bool FollowStepRun::IsJoined(size_t portal) const {
  return route_.portals[portal].kind == PortalKind::kEdge && !Closed(portal);
}

// The cell that half-planes begin with. An agent is counted to a cell that it lies outside of by
// rounding; when one of those round it holds it better, nothing needs to give way.
size_t FollowStepRun::CellHolding(Vec2 p) const {
  const size_t cell = state_.cell;
  // How far p is out of the cell. Round a corner it may lie as little behind an edge of a cell that
  // it is far from as behind that of a near one: the distance counts there.
  const auto beyond = [&](size_t k, double behind) {
    if (behind <= 0.0) return behind;
    const double distance = DistanceFromCell(route_, k, p);
    return distance > route_.tolerance ? distance : behind;
  };
  double least = FarthestBehind(route_, cell, p);
  if (least <= 0.0) return cell;
  least = beyond(cell, least);
  size_t best = cell;
  // False: farther on there is none.
  const auto look = [&](size_t k) {
    const double behind = FarthestBehind(route_, k, p);
    const double out = beyond(k, behind);
    if (out < least) {
      least = out;
      best = k;
    }
    return least > 0.0 && behind <= 2.0 * route_.tolerance;
  };
  for (size_t k = cell; k + 1 < route_.cell_count() && IsJoined(k) && look(k + 1);) ++k;
  for (size_t k = cell; k > 0 && IsJoined(k - 1) && look(k - 1);) --k;
  return best;
}

// Whether the end lies in a cell before `cell` that half-planes may reach.
bool FollowStepRun::StepsBack(size_t cell, Vec2 end) const {
  while (cell > 0 && IsJoined(cell - 1) && InCell(route_, cell - 1, end)) {
    if (FarthestBehind(route_, --cell, end) <= 0.0) return true;
  }
  return false;
}

// Most steps end in the cell that they begin in: its edges are all there is to tell.
bool FollowStepRun::WriteCellOfStep(Vec2 base) {
  const Vec2 p = report_.position;
  const Vec2 end = options_.integrator == Integrator::kDelay ? base : p + StepToCome();
  const std::span<const HalfPlane> planes = route_.planes(state_.cell);
  for (const HalfPlane& plane : planes) {
    if (std::max(Dot(plane.normal, p), Dot(plane.normal, end)) > plane.offset) return false;
  }
  out_.half_plane_count = static_cast<uint32_t>(planes.size());
  out_.cell_planes = planes.data();
  return true;
}

void FollowStepRun::WriteHalfPlanes(size_t aim_cell, size_t last, Vec2 base) {
  const Vec2 p = report_.position;
  const size_t cell = CellHolding(p);
  // One step late, the step of the command before is what comes now.
  const bool late = options_.integrator == Integrator::kDelay;
  Vec2 end = late ? base : p + StepToCome();
  size_t to = std::max(cell, late ? aim_cell : last);
  for (size_t k = cell; k < to; ++k) {
    if (route_.portals[k].kind != PortalKind::kEdge) to = k;
  }
  to = CellOfLine(cell, to, &end);
  // Round a corner, a step back may end within the tolerances of a later cell too: counted to that
  // one, it would move its walls out, behind which it does not lie.
  if (to > cell && DistanceFromCell(route_, to, end) > route_.tolerance && StepsBack(cell, end)) {
    to = cell;
  }
  if (to > cell && InCell(route_, to, end)) {
    out_.half_plane_count =
        static_cast<uint32_t>(ConvexSetAround(route_, cell, to, p, end, out_.step_planes));
    if (out_.half_plane_count > 0) return;
  }
  WriteCell(late ? cell : BestCell(cell, to, end));
}

// Of the cells [cell, to] that hold the agent, the one in which the line to `end` gets farthest.
size_t FollowStepRun::BestCell(size_t cell, size_t to, Vec2 end) const {
  const Vec2 p = report_.position;
  size_t best = cell;
  double farthest = -1.0;
  for (size_t k = cell; k <= to && InCell(route_, k, p); ++k) {
    const double reach = SquaredNorm(SeenInCell(k, p, end) - p);
    if (!(reach > farthest)) continue;
    farthest = reach;
    best = k;
  }
  return best;
}

void FollowStepRun::WriteCell(size_t cell) {
  const std::span<const HalfPlane> planes = route_.planes(cell);
  const Vec2 p = report_.position;
  const auto holds = [&](const HalfPlane& plane) { return Dot(plane.normal, p) <= plane.offset; };
  out_.half_plane_count = static_cast<uint32_t>(planes.size());
  if (!std::all_of(planes.begin(), planes.end(), holds) &&
      CellAround(route_, cell, p, out_.step_planes) > 0) {
    return;
  }
  out_.cell_planes = planes.data();
}

// Shortens the request where the half-planes end its step: what they could not contain is a line
// past a seam of the corridor.
void FollowStepRun::ObeyHalfPlanes() {
  // One step late, what the request is for comes after the step that the half-planes are for.
  if (options_.integrator != Integrator::kDelay) {
    const double share = options_.integrator == Integrator::kRamp ? 0.5 : 1.0;
    const Vec2 asked = out_.preferred_velocity * (share * dt_);
    const Vec2 given = StepToCome() - asked;
    double fraction = 1.0;
    for (const HalfPlane& plane : out_.half_planes()) {
      const double room =
          plane.offset - Dot(plane.normal, report_.position) - Dot(plane.normal, given);
      const double rate = Dot(plane.normal, asked);
      if (rate * fraction <= room + route_.plane_roundoff) continue;
      if (rate > 0.0) fraction = std::max(0.0, room / rate);
    }
    if (fraction < 1.0 && out_.speed > 0.0) Shorten(fraction);
  }
  // Under the ramp the agent's own velocity may lead out of them, one step late the command before.
  const Vec2 end = report_.position + StepToCome();
  for (const HalfPlane& plane : out_.half_planes()) {
    if (Dot(plane.normal, end) > plane.offset + route_.plane_roundoff) out_.feasible = false;
  }
}

// Shortens the request, but brakes no harder than it can.
void FollowStepRun::Shorten(double fraction) {
  double speed = out_.speed * fraction;
  if (speed < floor_) {
    speed = floor_;
    out_.feasible = false;
  }
  out_.preferred_velocity = out_.preferred_velocity * (speed / out_.speed);
  out_.speed = speed;
}

void FollowStepRun::LookAhead() {
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
    size_t missed = FirstPortalMissed(route_, state_.cell, to, report_.position, target,
                                      route_.tolerance, &unused);
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

}  // namespace arclane
