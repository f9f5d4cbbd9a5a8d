// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/route_assembly.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "server/planning/route/motion_plan.h"

namespace arclane {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// How many segments beyond the corner before are looked at for a corner's place: an arc and its
// neighbours are enough, strings of merged corners have more.
constexpr size_t kLookAhead = 64;

CornerAction ActionOf(CornerKind kind) {
  switch (kind) {
    case CornerKind::kRounded:
      return CornerAction::kRounded;
    case CornerKind::kMerged:
      return CornerAction::kMerged;
    case CornerKind::kDrivenThrough:
      return CornerAction::kPassed;
    case CornerKind::kStopped:
      break;
  }
  return CornerAction::kStop;
}

CornerCause CauseOf(StopReason reason) {
  switch (reason) {
    case StopReason::kNone:
      return CornerCause::kNone;
    case StopReason::kNoRoom:
      return CornerCause::kNoRoom;
    case StopReason::kTooShort:
      return CornerCause::kTooShort;
    case StopReason::kMinimumRadius:
      return CornerCause::kBelowMinRadius;
    case StopReason::kHairpin:
      return CornerCause::kHairpin;
    case StopReason::kSlower:
    case StopReason::kExtraLength:
      return CornerCause::kNotWorth;
    case StopReason::kWorkBudget:
      return CornerCause::kWorkBudget;
  }
  return CornerCause::kNone;
}

const char* CauseText(StopReason reason) {
  switch (reason) {
    case StopReason::kNoRoom:
      return "no arc stays inside the corridor";
    case StopReason::kTooShort:
      return "the lines beside it are too short";
    case StopReason::kMinimumRadius:
      return "only a smaller radius than the agent can drive would fit";
    case StopReason::kHairpin:
      return "the direction turns back";
    case StopReason::kSlower:
      return "rounding it would be slower";
    case StopReason::kExtraLength:
      return "rounding it would be longer than allowed";
    case StopReason::kWorkBudget:
      return "the work budget ended before it was looked at closely enough";
    case StopReason::kNone:
      break;
  }
  return "no radius was asked for";
}

// The offset along a segment nearest to a point, and the distance there.
std::pair<double, double> NearestOffset(const Segment& segment, Vec2 p) {
  double offset = 0.0;
  if (segment.kind == SegmentKind::kArc) {
    const double side = segment.curvature > 0.0 ? 1.0 : -1.0;
    const Vec2 center =
        segment.start + LeftNormal(UnitVector(segment.heading)) * (1.0 / segment.curvature);
    double turn = side * TurnAngle(segment.start - center, p - center);
    if (turn < 0.0) turn += 2.0 * M_PI;
    offset = std::min(turn / std::abs(segment.curvature), segment.length);
  } else if (segment.length > 0.0) {
    offset = std::clamp(Dot(p - segment.start, UnitVector(segment.heading)), 0.0, segment.length);
  }
  const double at_offset = Distance(p, PointAt(segment, offset));
  const double at_start = Distance(p, segment.start);
  return at_start < at_offset ? std::pair(0.0, at_start) : std::pair(offset, at_offset);
}

}  // namespace

void AppendElements(const DrivenPath& path, Vec2 goal, std::vector<Segment>& segments) {
  for (size_t i = 0; i < path.elements.size(); ++i) {
    const PathElement& element = path.elements[i];
    const Vec2 end = i + 1 < path.elements.size() ? path.elements[i + 1].start : goal;
    const double heading = Heading(element.direction);
    switch (element.kind) {
      case PathElementKind::kLine: {
        Segment line = MakeLine(SegmentKind::kLine, element.start, end);
        line.heading = heading;
        line.length = element.length;
        segments.push_back(line);
        break;
      }
      case PathElementKind::kArc:
        segments.push_back(MakeArc(element.start, heading, element.curvature, element.length, end));
        break;
      case PathElementKind::kTurn:
        segments.push_back(MakeTurn(element.start, heading, element.turn_rad));
        break;
    }
  }
}

double LayOutSegments(std::span<Segment> segments) {
  double distance = 0.0;
  for (Segment& segment : segments) {
    segment.start_distance = distance;
    distance += segment.length;
  }
  return distance;
}

void AppendCorners(const DrivenPath& path, std::span<const Segment> segments,
                   std::vector<RouteCorner>& corners) {
  size_t from = 0;
  for (const CornerOutcome& outcome : path.corners) {
    RouteCorner corner;
    corner.position = outcome.position;
    corner.turn_angle = outcome.turn_rad;
    corner.action = ActionOf(outcome.kind);
    corner.cause = CauseOf(outcome.reason);
    corner.radius = outcome.radius;
    double nearest = kInfinity;
    size_t at = from;
    for (size_t i = from; i < segments.size() && i < from + kLookAhead; ++i) {
      const auto [offset, distance] = NearestOffset(segments[i], outcome.position);
      if (distance >= nearest) continue;
      nearest = distance;
      at = i;
      corner.distance = segments[i].start_distance + offset;
    }
    from = at;
    corners.push_back(corner);
  }
}

UndrivableCorner DescribeUndrivable(const DrivenPath& path, double min_turn_radius,
                                    size_t first_corner) {
  UndrivableCorner undrivable;
  undrivable.detail = "the agent cannot turn in place";
  for (size_t i = 0; i < path.corners.size(); ++i) {
    const CornerOutcome& corner = path.corners[i];
    if (corner.kind != CornerKind::kStopped) continue;
    undrivable.corner = static_cast<uint32_t>(first_corner + i);
    undrivable.cause = CauseOf(corner.reason);
    undrivable.detail = "the agent cannot turn in place and must stop at corner " +
                        std::to_string(first_corner + i) + ": " + CauseText(corner.reason);
    if (corner.reason == StopReason::kMinimumRadius) {
      undrivable.detail += "; radius " + std::to_string(corner.radius_that_fits) + " fits, " +
                           std::to_string(min_turn_radius) + " is needed";
    }
    break;
  }
  return undrivable;
}

bool AddStartTurn(const AgentProfile& agent, const EndMotion& motion, RoutePlan& plan) {
  std::vector<Segment>& segments = plan.route.segments;
  if (!motion.heading || motion.velocity != Vec2{} || segments.empty()) return true;
  const double turn = WrapAngle(segments.front().heading - *motion.heading);
  const bool turns = std::abs(turn) > std::max(agent.heading_tolerance, kStartDirectionRoundoff);
  if (turns && !agent.can_turn_in_place) {
    plan.outcome = RouteOutcome::kNeedsMotionPlanning;
    plan.undrivable =
        UndrivableCorner{std::nullopt, 0, CornerCause::kNone,
                         "the agent cannot turn in place and its heading is off the first line"};
    return false;
  }
  if (agent.turn_before_move && turn != 0.0) {
    segments.insert(segments.begin(), MakeTurn(segments.front().start, *motion.heading, turn));
  }
  return true;
}

AgentTurning TurningOf(const AgentProfile& agent) {
  AgentTurning turning;
  turning.radius_max = agent.max_turn_radius.value_or(kInfinity);
  turning.radius_min = agent.min_turn_radius;
  turning.can_turn_in_place = agent.can_turn_in_place;
  turning.clearance = agent.inset();
  turning.corner_angle_min_rad = agent.corner_angle_min;
  turning.turn_speed_rad_s = agent.turn_before_move ? agent.max_angular_speed : kInfinity;
  return turning;
}

DrivingLimits DrivingLimitsOf(const AgentProfile& agent, const EndMotion& motion) {
  const double total = agent.limits.max_total_acceleration.value_or(kInfinity);
  DrivingLimits limits;
  limits.max_speed = agent.limits.max_speed;
  limits.max_acceleration = std::min(agent.limits.max_acceleration, total);
  limits.max_braking = std::min(agent.limits.max_braking, total);
  limits.max_lateral_acceleration =
      std::min(agent.limits.max_lateral_acceleration.value_or(kInfinity), total);
  limits.start_speed = std::min(Norm(motion.velocity), limits.max_speed);
  limits.goal_speed = std::min(motion.goal_speed, limits.max_speed);
  return limits;
}

RoundingOptions RoundingOptionsOf(const AgentProfile& agent) {
  RoundingOptions options;
  options.objective = agent.corner_objective == CornerObjective::kLeastTime
                          ? RoundingObjective::kLeastTime
                          : RoundingObjective::kFewestStopsThenTime;
  options.max_extra_length_fraction = agent.max_extra_length;
  options.work_budget = static_cast<uint64_t>(agent.corner_work_budget_s * 1e6 *
                                              static_cast<double>(kWorkUnitsPerMicrosecond));
  return options;
}

}  // namespace arclane
