// SPDX-License-Identifier: Apache-2.0
#include "server/codec/agent_codec.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "server/codec/field_checks.h"
#include "server/codec/frame_codec.h"
#include "server/codec/speed_codec.h"

namespace arclane {
namespace {

constexpr NumberRule kAngle{0.0, std::numbers::pi, true, false};
constexpr NumberRule kSmallAngle{0.0, std::numbers::pi / 4.0, true, false};
constexpr NumberRule kWorkBudget{0.0, 1.0, true, false};

// Limits of motion lie in this range, speeds and times that may be 0 below its end: with
// coordinates below 1e150 every distance to rest, and every time at the lowest speed, is a finite
// double.
constexpr double kLeastMotion = 1.0 / kMostMotion;
constexpr NumberRule kTurnRadius{kLeastMotion, std::numeric_limits<double>::infinity(), true, true};
constexpr NumberRule kMotion{kLeastMotion, kMostMotion, true, false};
constexpr NumberRule kMotionOrNone{0.0, kMostMotion, true, false};

// Of a limit that is right otherwise: other mistakes are told elsewhere.
void CheckMotion(const char* field, double limit, Violations& violations) {
  if (limit > 0.0 && std::isfinite(limit)) CheckNumber(field, limit, kMotion, violations);
}

void ReadBody(const v1::AgentBody& body, AgentProfile& agent, Violations& violations) {
  CheckNumber("agent.body.radius", body.radius(), kNotNegative, violations);
  CheckNumber("agent.body.baked_radius", body.baked_radius(), kNotNegative, violations);
  CheckNumber("agent.body.clearance", body.clearance(), kNotNegative, violations);
  agent.radius = body.radius();
  agent.baked_radius = body.baked_radius();
  agent.clearance = body.clearance();
  const bool min_ok =
      CheckNumber("agent.body.min_turn_radius", body.min_turn_radius(), kNotNegative, violations);
  agent.min_turn_radius = body.min_turn_radius();
  if (body.has_max_turn_radius()) {
    agent.max_turn_radius = body.max_turn_radius();
    if (CheckNumber("agent.body.max_turn_radius", body.max_turn_radius(), kTurnRadius,
                    violations) &&
        min_ok && body.min_turn_radius() > body.max_turn_radius()) {
      violations.Add(ViolationReason::kConflict, "agent.body.min_turn_radius",
                     "must be at most max_turn_radius " + NumberText(body.max_turn_radius()) +
                         ", got " + NumberText(body.min_turn_radius()));
    }
  }
  agent.can_turn_in_place = body.has_can_turn_in_place() ? body.can_turn_in_place() : true;
}

void ReadLimits(const v1::AgentProfile& message, AgentProfile& agent, Violations& violations) {
  const v1::AgentLimits& limits = message.limits();
  agent.limits = ReadSpeedLimits(limits, message.manners().reaction_time_s(), "agent.limits",
                                 "agent.manners.reaction_time_s", violations);
  CheckMotion("agent.limits.max_speed", limits.max_speed(), violations);
  CheckMotion("agent.limits.max_acceleration", limits.max_acceleration(), violations);
  CheckMotion("agent.limits.max_braking", limits.max_braking(), violations);
  CheckMotion("agent.limits.max_lateral_acceleration", limits.max_lateral_acceleration(),
              violations);
  CheckMotion("agent.limits.max_total_acceleration", limits.max_total_acceleration(), violations);
  CheckMotion("agent.limits.max_angular_speed", limits.max_angular_speed(), violations);
  const double reaction_s = message.manners().reaction_time_s();
  if (reaction_s > kMostMotion && std::isfinite(reaction_s)) {
    CheckNumber("agent.manners.reaction_time_s", reaction_s, kMotionOrNone, violations);
  }
  agent.max_angular_speed = limits.max_angular_speed();
  if (message.manners().turn_before_move() || limits.max_angular_speed() != 0.0) {
    CheckNumber("agent.limits.max_angular_speed", limits.max_angular_speed(), kPositiveOrInfinite,
                violations);
  }
}

void ReadManners(const v1::AgentManners& manners, AgentProfile& agent, Violations& violations) {
  CheckNumber("agent.manners.heading_tolerance_rad", manners.heading_tolerance_rad(), kAngle,
              violations);
  CheckNumber("agent.manners.corner_distance_tolerance", manners.corner_distance_tolerance(),
              kNotNegative, violations);
  CheckNumber("agent.manners.corner_speed_tolerance", manners.corner_speed_tolerance(),
              kNotNegative, violations);
  agent.heading_tolerance = manners.heading_tolerance_rad();
  agent.turn_before_move = manners.turn_before_move();
  if (manners.has_corner_angle_min_rad()) {
    CheckNumber("agent.manners.corner_angle_min_rad", manners.corner_angle_min_rad(), kSmallAngle,
                violations);
    agent.corner_angle_min = manners.corner_angle_min_rad();
  }
  switch (manners.corner_objective()) {
    case v1::CORNER_OBJECTIVE_UNSPECIFIED:
    case v1::CORNER_OBJECTIVE_FEWEST_STOPS:
      agent.corner_objective = CornerObjective::kFewestStops;
      break;
    case v1::CORNER_OBJECTIVE_LEAST_TIME:
      agent.corner_objective = CornerObjective::kLeastTime;
      break;
    default:
      violations.Add(ViolationReason::kUnknownValue, "agent.manners.corner_objective",
                     "unknown value " + std::to_string(manners.corner_objective()));
  }
  if (manners.has_max_extra_length()) {
    CheckNumber("agent.manners.max_extra_length", manners.max_extra_length(),
                kNotNegativeOrInfinite, violations);
    agent.max_extra_length = manners.max_extra_length();
  }
  if (manners.has_corner_work_budget_s()) {
    CheckNumber("agent.manners.corner_work_budget_s", manners.corner_work_budget_s(), kWorkBudget,
                violations);
    agent.corner_work_budget_s = manners.corner_work_budget_s();
  }
}

}  // namespace

AgentProfile ReadAgent(const v1::AgentProfile& message, bool present, Violations& violations) {
  AgentProfile agent;
  if (!present || !message.has_limits()) {
    violations.Add(ViolationReason::kRequired, "agent.limits",
                   "required: max_speed, max_acceleration and max_braking");
    return agent;
  }
  ReadBody(message.body(), agent, violations);
  ReadLimits(message, agent, violations);
  ReadManners(message.manners(), agent, violations);
  return agent;
}

void CheckSpeed(const std::string& field, double speed, Violations& violations) {
  if (CheckNumber(field, speed, kMotionOrNone, violations) && speed > 0.0) {
    CheckNumber(field, speed, kMotion, violations);
  }
}

void CheckStop(const AgentProfile& agent, const EndMotion& motion, Violations& violations) {
  const double speed = std::hypot(motion.velocity.x, motion.velocity.y);
  if (!(speed > 0.0) || !(agent.limits.max_braking > 0.0)) return;
  if (speed < kLeastMotion) {
    CheckNumber("motion.velocity", speed, kMotion, violations);
    return;
  }
  const double distance =
      speed * agent.limits.reaction_time_s + speed * speed / (2.0 * agent.limits.max_braking);
  if (distance <= kMaxCoordinate || !std::isfinite(speed)) return;
  violations.Add(ViolationReason::kOutOfRange, "motion.velocity",
                 "the agent would come to rest " + NumberText(distance) + " away; at most " +
                     NumberText(kMaxCoordinate) + " can be told");
}

EndMotion ReadMotion(const v1::Motion& message, UpAxis up_axis, Violations& violations) {
  EndMotion motion;
  // Squares of speeds must not overflow: the coordinate limit serves for velocities too.
  CheckPoint("motion.velocity", message.velocity(), violations);
  motion.velocity = SplitPoint(message.velocity(), up_axis).plan;
  if (message.has_heading_rad()) {
    CheckNumber("motion.heading_rad", message.heading_rad(), kFinite, violations);
    motion.heading = message.heading_rad();
  }
  CheckSpeed("motion.goal_speed", message.goal_speed(), violations);
  motion.goal_speed = message.goal_speed();
  return motion;
}

}  // namespace arclane
