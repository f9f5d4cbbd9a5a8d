// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/motion_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/stop_and_turn.h"

namespace arclane {
namespace {

// Fills start distances and the route's ends and length. Returns the distance to the first turn, or
// the length.
double LayOut(Route& route) {
  double distance = 0.0;
  double first_stop = -1.0;
  for (Segment& segment : route.segments) {
    segment.start_distance = distance;
    if (segment.kind == SegmentKind::kTurn && distance > 0.0 && first_stop < 0.0)
      first_stop = distance;
    distance += segment.length;
  }
  route.length = distance;
  if (!route.segments.empty()) {
    route.start = route.segments.front().start;
    route.end = route.segments.back().end;
  }
  return first_stop < 0.0 ? distance : first_stop;
}

const Segment* FirstMoving(const std::vector<Segment>& segments) {
  for (const Segment& segment : segments) {
    if (segment.length > 0.0) return &segment;
  }
  return nullptr;
}

// Dwells belong to the turn segments, in order; every other phase to the segment that it names
// already.
void AssignDwells(const std::vector<SpeedStop>& stops, std::vector<SpeedPhase>& phases) {
  size_t next = 0;
  for (SpeedPhase& phase : phases) {
    if (phase.kind != SpeedPhaseKind::kDwell) continue;
    while (next < stops.size() && stops[next].dwell_s != phase.duration_s) ++next;
    if (next < stops.size()) phase.piece = static_cast<uint32_t>(stops[next++].boundary);
  }
}

// The distance to the first arc that an agent which brakes with all it has, after its reaction
// time, enters faster than the arc allows; none before the first stop: nullopt.
std::optional<double> FirstArcTooFast(const std::vector<SpeedPiece>& pieces,
                                      const std::vector<SpeedStop>& stops,
                                      const SpeedLimits& limits, double speed) {
  const MotionBudget budget = ResolveBudget(limits);
  double x = speed * speed;
  double hold = speed * limits.reaction_time_s;
  double distance = 0.0;
  size_t next_stop = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto& [length, radius] = pieces[i];
    while (next_stop < stops.size() && stops[next_stop].boundary < i) ++next_stop;
    const bool rests = next_stop < stops.size() && stops[next_stop].boundary == i;
    if (distance > 0.0 && rests) return std::nullopt;
    if (x > budget.lateral * radius * (1.0 + kSpeedRoundoff)) return distance;
    const double held = std::min(hold, length);
    hold -= held;
    x = Fall(x, length - held, budget.brake, budget.coupled ? radius : kStraight, budget.total);
    distance += length;
  }
  return std::nullopt;
}

}  // namespace

double TurnDuration(const AgentProfile& agent, double angle) {
  if (!agent.turn_before_move) return 0.0;
  return TurnTime(angle, {agent.max_angular_speed, agent.heading_tolerance});
}

void MotionPlanner::Plan(const AgentProfile& agent, const EndMotion& motion, RoutePlan& plan) {
  Route& route = plan.route;
  const double available = LayOut(route);
  const double start_speed = Norm(motion.velocity);
  const Segment* first = FirstMoving(route.segments);
  plan.goal_speed_reached = motion.goal_speed;

  if (first == nullptr) {
    // Without a way, at the speed that is wanted and without a turn, there is nothing to do.
    const bool turns =
        std::any_of(route.segments.begin(), route.segments.end(),
                    [](const Segment& segment) { return segment.kind == SegmentKind::kTurn; });
    if (start_speed > 0.0 && !turns &&
        start_speed <= agent.limits.max_speed * (1.0 + kSpeedRoundoff) &&
        std::abs(start_speed - motion.goal_speed) <= kSpeedRoundoff * start_speed) {
      return;
    }
    if (start_speed > 0.0) {
      return PlanBraking(RouteOutcome::kCannotStop, agent, motion, 0.0, 0.0, 0.0, plan);
    }
    if (motion.goal_speed > 0.0) {
      plan.outcome = RouteOutcome::kGoalSpeedUnreachable;
      plan.goal_speed_reached = 0.0;
    }
    return;
  }
  if (start_speed > 0.0) {
    const double error = TurnAngle(UnitVector(first->heading), motion.velocity);
    if (std::abs(error) > std::max(agent.heading_tolerance, kStartDirectionRoundoff)) {
      return PlanBraking(RouteOutcome::kStartOffRoute, agent, motion, 0.0, error, 0.0, plan);
    }
  }

  pieces_.clear();
  stops_.clear();
  for (size_t i = 0; i < route.segments.size(); ++i) {
    const Segment& segment = route.segments[i];
    const double radius = segment.curvature == 0.0 ? kStraight : 1.0 / std::abs(segment.curvature);
    pieces_.push_back({segment.length, radius});
    if (segment.kind == SegmentKind::kTurn) {
      stops_.push_back({i, TurnDuration(agent, segment.turn_angle)});
    }
  }
  SpeedPlanRequest request;
  request.pieces = pieces_;
  request.limits = agent.limits;
  request.start_speed = start_speed;
  request.end_speed = motion.goal_speed;
  request.stops = stops_;
  PlanSpeed(request, workspace_, speed_);
  if (speed_.status == SpeedPlanStatus::kInfeasibleEnd) {
    plan.outcome = RouteOutcome::kGoalSpeedUnreachable;
    plan.goal_speed_reached = speed_.end_speed_max;
    request.end_speed = speed_.end_speed_max;
    PlanSpeed(request, workspace_, speed_);
  }
  if (speed_.status != SpeedPlanStatus::kOk) {
    const std::optional<double> arc = FirstArcTooFast(pieces_, stops_, agent.limits, start_speed);
    return PlanBraking(RouteOutcome::kCannotStop, agent, motion, arc.value_or(available), 0.0,
                       speed_.start_speed_max, plan);
  }
  AssignDwells(stops_, speed_.phases);
  std::swap(route.phases, speed_.phases);
  route.duration_s = speed_.duration_s;
}

void MotionPlanner::PlanBraking(RouteOutcome outcome, const AgentProfile& agent,
                                const EndMotion& motion, double available, double heading_error,
                                double max_start_speed, RoutePlan& plan) {
  const double speed = Norm(motion.velocity);
  // Any length that is surely enough; the plan says where it really rests.
  double braking = agent.limits.max_braking;
  if (agent.limits.max_total_acceleration) {
    braking = std::min(braking, *agent.limits.max_total_acceleration);
  }
  const double enough =
      2.0 * (speed * agent.limits.reaction_time_s + speed * speed / (2.0 * braking));
  const SpeedPiece piece{enough, kStraight};
  PlanFullBrake({&piece, 1}, agent.limits, speed, brake_);

  BrakingReport report;
  report.start_speed = speed;
  report.stop_distance = brake_.rest_distance;
  report.available_distance = available;
  report.overrun = std::max(0.0, report.stop_distance - available);
  report.max_start_speed = max_start_speed;
  report.heading_error = heading_error;
  report.speed_at_end = speed;
  for (const SpeedPhase& phase : brake_.phases) {
    if (phase.start_distance <= available) {
      report.speed_at_end = SpeedAt(phase, available - phase.start_distance);
    }
  }

  Route& route = plan.route;
  const Vec2 direction = motion.velocity * (1.0 / speed);
  report.rest_position = route.start + direction * report.stop_distance;
  route.segments.assign(1, MakeLine(SegmentKind::kLine, route.start, report.rest_position));
  route.segments[0].length = report.stop_distance;
  route.phases = brake_.phases;
  route.duration_s = brake_.duration_s;
  LayOut(route);
  plan.goal_speed_reached = 0.0;
  plan.braking = report;
  plan.outcome = outcome;
}

}  // namespace arclane
