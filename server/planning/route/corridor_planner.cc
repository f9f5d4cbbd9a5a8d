// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/corridor_planner.h"

#include <algorithm>
#include <cmath>

#include "server/planning/corridor/surface.h"
#include "server/planning/route/braking_trace.h"
#include "server/planning/route/segment.h"

namespace arclane {

PlanStatus CorridorPlanner::Plan(const CorridorPlanRequest& request, absl::FunctionRef<bool()> stop,
                                 RoutePlan& plan, Violations& violations) {
  if (!builder_.Build(request.corridor, request.limits, &corridor_, &violations)) {
    return PlanStatus::kInvalid;
  }
  if (stop()) return PlanStatus::kStopped;

  if (request.agent.inset() > 0.0) {
    clearance_.FindPath(corridor_, request.agent.inset(), &path_, &plan.shortfalls);
  } else {
    funnel_.FindShortestPath(corridor_, &path_);
  }
  if (stop()) return PlanStatus::kStopped;

  plan.outcome = request.corridor_is_partial ? RouteOutcome::kPartial : RouteOutcome::kComplete;
  plan.shortest_length = path_.length;
  plan.start_shift = corridor_.start_shift;
  plan.goal_shift = corridor_.goal_shift;
  plan.route.start = plan.route.end = corridor_.start;
  CollectPoints();
  AddStops(request, plan);

  plan.deviation_tolerance = kDeviationTolerances * corridor_.tolerance;
  const Deviation deviation = VerifyLine(corridor_, points_, plan.deviation_tolerance, &crossings_);
  plan.largest_deviation = deviation.distance;
  if (!(deviation.distance <= plan.deviation_tolerance)) return PlanStatus::kVerificationFailed;
  if (stop()) return PlanStatus::kStopped;

  double length = 0.0;
  for (const Segment& segment : plan.route.segments) length += segment.length;
  BuildSurfaceProfile(corridor_, crossings_, length, &plan.route.surface);
  if (plan.outcome == RouteOutcome::kNeedsMotionPlanning) {
    plan.route.segments.clear();
    return PlanStatus::kOk;
  }
  motion_.Plan(request.agent, request.motion, plan);
  if (plan.braking) TraceBraking(plan);
  return PlanStatus::kOk;
}

PlanStatus CorridorPlanner::Check(const CorridorPlanRequest& request, Violations& violations) {
  return builder_.Build(request.corridor, request.limits, &corridor_, &violations)
             ? PlanStatus::kOk
             : PlanStatus::kInvalid;
}

// The points of the line without repetitions.
void CorridorPlanner::CollectPoints() {
  taut_.clear();
  taut_.push_back({path_.start, 0, false});
  for (const PathCorner& corner : path_.corners) {
    const bool fixed = corner.side == CornerSide::kPoint &&
                       corridor_.portals[corner.portal].kind != PortalKind::kEdge;
    if (corner.point == taut_.back().point) {
      taut_.back().portal = corner.portal;
      taut_.back().fixed |= fixed;
      continue;
    }
    taut_.push_back({corner.point, corner.portal, fixed});
  }
  if (path_.goal != taut_.back().point) {
    taut_.push_back({path_.goal, static_cast<uint32_t>(corridor_.portals.size()), false});
  }
  points_.clear();
  for (const TautPoint& taut : taut_) points_.push_back(taut.point);
}

// Lines between the points, with a stop and a turn at every corner.
void CorridorPlanner::AddStops(const CorridorPlanRequest& request, RoutePlan& plan) {
  const AgentProfile& agent = request.agent;
  std::vector<Segment>& segments = plan.route.segments;
  segments.clear();
  if (taut_.size() < 2) return;

  const bool at_rest = request.motion.velocity == Vec2{};
  if (request.motion.heading && at_rest) {
    const double turn = TurnAngle(UnitVector(*request.motion.heading), points_[1] - points_[0]);
    const bool turns = std::abs(turn) > std::max(agent.heading_tolerance, kStartDirectionRoundoff);
    if (turns && !agent.can_turn_in_place) {
      plan.outcome = RouteOutcome::kNeedsMotionPlanning;
      plan.undrivable = UndrivableCorner{
          std::nullopt, 0, CornerCause::kNone,
          "the agent cannot turn in place and its heading is off the first line"};
    }
    if (agent.turn_before_move && turn != 0.0) {
      segments.push_back(MakeTurn(points_[0], *request.motion.heading, turn));
    }
  }
  double distance = 0.0;
  for (size_t i = 0; i + 1 < taut_.size(); ++i) {
    const bool link = taut_[i].fixed && corridor_.portals[taut_[i].portal].kind == PortalKind::kLinkEntry;
    const SegmentKind kind = link ? SegmentKind::kLink : SegmentKind::kLine;
    segments.push_back(MakeLine(kind, points_[i], points_[i + 1]));
    distance += segments.back().length;
    if (i + 2 == taut_.size()) break;

    const TautPoint& at = taut_[i + 1];
    RouteCorner corner;
    corner.position = at.point;
    corner.portal_index = at.portal;
    corner.height = PortalHeight(corridor_.portals[at.portal], at.point);
    corner.turn_angle = TurnAngle(at.point - points_[i], points_[i + 2] - at.point);
    corner.distance = distance;
    if (std::abs(corner.turn_angle) <= agent.corner_angle_min) {
      corner.action = CornerAction::kPassed;
    } else {
      corner.action = CornerAction::kStop;
      corner.cause = at.fixed ? CornerCause::kLink : CornerCause::kNotRequested;
      segments.push_back(MakeTurn(at.point, segments.back().heading, corner.turn_angle));
      if (!agent.can_turn_in_place && plan.outcome != RouteOutcome::kNeedsMotionPlanning) {
        plan.outcome = RouteOutcome::kNeedsMotionPlanning;
        plan.undrivable = UndrivableCorner{static_cast<uint32_t>(plan.corners.size()), at.portal,
                                           corner.cause,
                                           "the agent cannot turn in place and this corner is a stop"};
      }
    }
    plan.corners.push_back(corner);
  }
}

// Heights along the braking path, and whether it stays inside.
void CorridorPlanner::TraceBraking(RoutePlan& plan) {
  const BrakingTrace trace =
      TraceInCorridor(corridor_, plan.route.start, plan.route.end, &crossings_);
  plan.braking->inside_corridor = trace.inside;
  plan.route.surface.clear();
  SurfaceKnot knot;
  knot.height = corridor_.start_height;
  plan.route.surface.push_back(knot);
  const auto add = [&](double distance, double height, uint32_t portal) {
    const SurfaceKnot& last = plan.route.surface.back();
    SurfaceKnot next;
    next.distance = distance;
    next.height = height;
    next.portal = portal;
    next.surface_distance =
        last.surface_distance + std::hypot(distance - last.distance, height - last.height);
    plan.route.surface.push_back(next);
  };
  for (size_t i = 0; i < crossings_.size(); ++i) {
    add(crossings_[i].distance, PortalHeight(corridor_.portals[i], crossings_[i].point),
        static_cast<uint32_t>(i));
  }
  // Behind the last crossing the ground is not known better than at it.
  if (plan.route.length > plan.route.surface.back().distance) {
    add(plan.route.length, plan.route.surface.back().height, static_cast<uint32_t>(crossings_.size()));
  }
  plan.braking->rest_height = plan.route.surface.back().height;
}

}  // namespace arclane
