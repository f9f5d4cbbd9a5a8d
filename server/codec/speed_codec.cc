// SPDX-License-Identifier: Apache-2.0
#include "server/codec/speed_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "server/codec/columns.h"
#include "server/codec/field_checks.h"

namespace arclane {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void ReadBudgetMode(const v1::AgentLimits& message, std::string_view path, SpeedLimits& limits,
                    Violations& violations) {
  switch (message.budget_mode()) {
    case v1::BUDGET_MODE_UNSPECIFIED:
      limits.budget_mode =
          limits.max_total_acceleration ? BudgetMode::kCoupled : BudgetMode::kIndependent;
      return;
    case v1::BUDGET_MODE_INDEPENDENT:
      limits.budget_mode = BudgetMode::kIndependent;
      return;
    case v1::BUDGET_MODE_RESERVED:
      limits.budget_mode = BudgetMode::kReserved;
      return;
    case v1::BUDGET_MODE_COUPLED:
      limits.budget_mode = BudgetMode::kCoupled;
      return;
    default:
      violations.Add(ViolationReason::kUnknownValue, std::string(path) + ".budget_mode",
                     "unknown value " + std::to_string(message.budget_mode()));
  }
}

void CheckRows(const char* field, int size, int expected, Violations& violations) {
  if (size == expected) return;
  violations.Add(ViolationReason::kLengthMismatch, field,
                 "columns must have equal lengths, got " + std::to_string(size) + " instead of " +
                     std::to_string(expected));
}

bool CheckLimit(const char* field, int size, uint32_t limit, const char* name,
                Violations& violations) {
  if (static_cast<uint32_t>(size) <= limit) return true;
  violations.Add(ViolationReason::kLimitExceeded, field,
                 std::string("at most ") + name + " " + std::to_string(limit) + ", got " +
                     std::to_string(size));
  return false;
}

v1::PhaseKind EncodePhaseKind(const SpeedPhase& phase) {
  switch (phase.law) {
    case SpeedLaw::kGripCircle:
      return phase.second < 0.0 ? v1::PHASE_KIND_COUPLED_BRAKE : v1::PHASE_KIND_COUPLED_ACCELERATE;
    case SpeedLaw::kLinearAcceleration:
      return v1::PHASE_KIND_RAMP;
    case SpeedLaw::kLateralCap:
      return v1::PHASE_KIND_FOLLOW_CAP;
    case SpeedLaw::kDwell:
      return v1::PHASE_KIND_TURN;
    case SpeedLaw::kConstantAcceleration:
      break;
  }
  switch (phase.kind) {
    case SpeedPhaseKind::kAccelerate:
      return v1::PHASE_KIND_ACCELERATE;
    case SpeedPhaseKind::kBrake:
      return v1::PHASE_KIND_BRAKE;
    case SpeedPhaseKind::kDwell:
      return v1::PHASE_KIND_TURN;
    case SpeedPhaseKind::kCruise:
    case SpeedPhaseKind::kFollowCap:
      break;
  }
  return v1::PHASE_KIND_CRUISE;
}

// The angle phi of v^2 = M sin(phi + 2 s / R) at the start of the phase; beyond pi / 2 while
// braking. It is found at the slower end, from both components of the acceleration: at the top, pi
// / 2, speed does not tell the angle to more than half of its digits, and what is wrong there would
// be wrong with the braking at the other end.
double PhaseAngle(const SpeedPhase& phase) {
  if (phase.law != SpeedLaw::kGripCircle) return 0.0;
  const bool brakes = phase.second < 0.0;
  const double slow = brakes ? phase.end_speed : phase.start_speed;
  const double lateral = std::clamp(slow * slow / phase.first, 0.0, 1.0);
  const double angle = std::atan2(lateral, std::sqrt((1.0 - lateral) * (1.0 + lateral)));
  return brakes ? std::numbers::pi - angle + phase.second * phase.length : angle;
}

double LawParameter(const SpeedPhase& phase) {
  switch (phase.law) {
    case SpeedLaw::kGripCircle:
    case SpeedLaw::kLinearAcceleration:
      return phase.first;
    case SpeedLaw::kLateralCap:
      return phase.second;
    case SpeedLaw::kConstantAcceleration:
    case SpeedLaw::kDwell:
      break;
  }
  return 0.0;
}

v1::SpeedOutcome EncodeStatus(SpeedPlanStatus status) {
  switch (status) {
    case SpeedPlanStatus::kOk:
      return v1::SPEED_OUTCOME_OK;
    case SpeedPlanStatus::kInfeasibleStart:
      return v1::SPEED_OUTCOME_INFEASIBLE_START;
    case SpeedPlanStatus::kInfeasibleEnd:
      return v1::SPEED_OUTCOME_INFEASIBLE_END;
    case SpeedPlanStatus::kInvalidArgument:
    case SpeedPlanStatus::kTooManyPhases:
    case SpeedPlanStatus::kStopped:
      break;
  }
  return v1::SPEED_OUTCOME_UNSPECIFIED;
}

template <typename Plan>
void EncodeShared(const Plan& plan, v1::SpeedPlan* out) {
  out->set_outcome(EncodeStatus(plan.status));
  if (plan.status == SpeedPlanStatus::kInfeasibleStart) {
    out->set_max_start_speed(plan.start_speed_max);
    out->mutable_brake_now()->set_stop_distance(plan.brake_now.stop_distance);
    out->mutable_brake_now()->set_overrun(plan.brake_now.overrun);
    out->mutable_brake_now()->set_speed_at_end(plan.brake_now.speed_at_end);
  }
  if (plan.status == SpeedPlanStatus::kInfeasibleEnd) out->set_max_end_speed(plan.end_speed_max);
  if (plan.status != SpeedPlanStatus::kOk) return;
  out->set_length(plan.length);
  out->set_duration_s(plan.duration_s);
  EncodePhases(plan.phases, out->mutable_phases());
}

}  // namespace

void AddTooManyPhases(std::string field, const RequestLimits& limits, Violations& violations) {
  violations.Add(ViolationReason::kLimitExceeded, std::move(field),
                 "the curvature asks for more than max_speed_phases " +
                     std::to_string(limits.max_speed_phases) +
                     " phases beyond a few for each of its nodes");
}

SpeedLimits ReadSpeedLimits(const v1::AgentLimits& message, double reaction_time_s,
                            std::string_view path, std::string_view reaction_path,
                            Violations& violations) {
  SpeedLimits limits;
  limits.max_speed = message.max_speed();
  limits.max_acceleration = message.max_acceleration();
  limits.max_braking = message.max_braking();
  if (message.has_max_lateral_acceleration() && message.max_lateral_acceleration() != kInfinity) {
    limits.max_lateral_acceleration = message.max_lateral_acceleration();
  }
  if (message.has_max_total_acceleration() && message.max_total_acceleration() != kInfinity) {
    limits.max_total_acceleration = message.max_total_acceleration();
  }
  ReadBudgetMode(message, path, limits, violations);
  limits.reaction_time_s = reaction_time_s;

  std::vector<SpeedViolation> broken;
  AppendLimitViolations(limits, broken);
  constexpr std::string_view kPrefix = "limits";
  for (const SpeedViolation& violation : broken) {
    const bool reaction = violation.field == "limits.reaction_time_s";
    violations.Add(ViolationReason::kOutOfRange,
                   reaction ? std::string(reaction_path)
                            : std::string(path) + violation.field.substr(kPrefix.size()),
                   violation.message);
  }
  return limits;
}

DecodedSpeedRequest ReadSpeedRequest(const v1::PlanSpeedRequest& request,
                                     const RequestLimits& limits, Violations& violations) {
  DecodedSpeedRequest decoded;
  if (!request.has_limits()) {
    violations.Add(ViolationReason::kRequired, "limits",
                   "required: max_speed, max_acceleration and max_braking");
  } else {
    decoded.limits = ReadSpeedLimits(request.limits(), request.reaction_time_s(), "limits",
                                     "reaction_time_s", violations);
    CheckNumber("limits.max_angular_speed", request.limits().max_angular_speed(),
                kNotNegativeOrInfinite, violations);
  }
  switch (request.geometry_case()) {
    case v1::PlanSpeedRequest::kPieces: {
      const v1::SpeedPieces& pieces = request.pieces();
      if (!CheckLimit("pieces", pieces.length_size(), limits.max_portals, "max_portals",
                      violations))
        break;
      const bool lines = pieces.radius().empty();
      if (!lines)
        CheckRows("pieces.radius", pieces.radius_size(), pieces.length_size(), violations);
      decoded.pieces.reserve(pieces.length_size());
      for (int i = 0; i < pieces.length_size(); ++i) {
        const double radius = lines || i >= pieces.radius_size() ? kStraight : pieces.radius(i);
        decoded.pieces.push_back({pieces.length(i), radius});
      }
      break;
    }
    case v1::PlanSpeedRequest::kProfile: {
      const v1::CurvatureProfile& profile = request.profile();
      CheckLimit("profile", profile.distance_size(), limits.max_portals, "max_portals", violations);
      if (profile.flying() && !profile.closed()) {
        violations.Add(ViolationReason::kConflict, "profile.flying", "needs a closed profile");
      }
      break;
    }
    case v1::PlanSpeedRequest::GEOMETRY_NOT_SET:
      violations.Add(ViolationReason::kRequired, "geometry", "required: pieces or profile");
  }
  const v1::SpeedStops& stops = request.stops();
  if (!stops.dwell_s().empty()) {
    CheckRows("stops.dwell_s", stops.dwell_s_size(), stops.boundary_size(), violations);
  }
  for (int i = 0; i < stops.boundary_size(); ++i) {
    const double dwell = i < stops.dwell_s_size() ? stops.dwell_s(i) : 0.0;
    decoded.stops.push_back({stops.boundary(i), dwell});
  }
  return decoded;
}

std::optional<uint32_t> FirstInfiniteLaw(std::span<const SpeedPhase> phases) {
  const auto infinite = std::find_if(phases.begin(), phases.end(), [](const SpeedPhase& phase) {
    return !std::isfinite(LawParameter(phase)) || !std::isfinite(phase.acceleration);
  });
  if (infinite == phases.end()) return std::nullopt;
  return infinite->piece;
}

void EncodePhases(std::span<const SpeedPhase> phases, v1::PhaseColumns* out) {
  FillColumn(phases, out->mutable_kind(), EncodePhaseKind);
  FillColumn(phases, out->mutable_segment_index(), [](const SpeedPhase& p) { return p.piece; });
  FillColumn(phases, out->mutable_start_distance(),
             [](const SpeedPhase& p) { return p.start_distance; });
  FillColumn(phases, out->mutable_start_time_s(),
             [](const SpeedPhase& p) { return p.start_time_s; });
  FillColumn(phases, out->mutable_speed(), [](const SpeedPhase& p) { return p.start_speed; });
  FillColumn(phases, out->mutable_acceleration(),
             [](const SpeedPhase& p) { return p.acceleration; });
  FillColumn(phases, out->mutable_length(), [](const SpeedPhase& p) { return p.length; });
  FillColumn(phases, out->mutable_duration_s(), [](const SpeedPhase& p) { return p.duration_s; });
  const auto has_law = [](SpeedLaw law) {
    return [law](const SpeedPhase& p) { return p.law == law; };
  };
  if (std::any_of(phases.begin(), phases.end(), has_law(SpeedLaw::kGripCircle))) {
    FillColumn(phases, out->mutable_phase_rad(), PhaseAngle);
  }
  if (std::any_of(phases.begin(), phases.end(),
                  [](const SpeedPhase& p) { return LawParameter(p) != 0.0; })) {
    FillColumn(phases, out->mutable_law(), LawParameter);
  }
}

void EncodeSpeedPlan(const SpeedPlan& plan, v1::SpeedPlan* out) {
  EncodeShared(plan, out);
  if (plan.status != SpeedPlanStatus::kOk) return;
  out->mutable_piece_index()->Add(plan.piece_index.begin(), plan.piece_index.end());
  out->mutable_boundary_speed()->Add(plan.boundary_speed.begin(), plan.boundary_speed.end());
  out->mutable_peak_speed()->Add(plan.peak_speed.begin(), plan.peak_speed.end());
  out->mutable_brake_start_distance()->Add(plan.brake_start_distance.begin(),
                                           plan.brake_start_distance.end());
  out->mutable_piece_time_s()->Add(plan.piece_time_s.begin(), plan.piece_time_s.end());
}

void EncodeSpeedPlan(const CurvatureSpeedPlan& plan, v1::SpeedPlan* out) {
  EncodeShared(plan, out);
  if (plan.status != SpeedPlanStatus::kOk) return;
  out->mutable_boundary_speed()->Add(plan.node_speed.begin(), plan.node_speed.end());
  for (const ClippedInterval& interval : plan.clipped) {
    out->mutable_clipped()->add_start_distance(interval.start_distance);
    out->mutable_clipped()->add_end_distance(interval.end_distance);
  }
}

}  // namespace arclane
