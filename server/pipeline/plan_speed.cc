// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_speed.h"

#include <span>
#include <string>

#include "server/codec/speed_codec.h"
#include "server/planning/speed/curvature_profile.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {
namespace {

std::span<const double> Borrow(const google::protobuf::RepeatedField<double>& field) {
  return {field.data(), static_cast<size_t>(field.size())};
}

// Violations of the planner's own checks, but for those of the limits, which the codec has told already.
void AddPlannerViolations(const std::vector<SpeedViolation>& found, const char* prefix,
                          Violations& violations) {
  for (const SpeedViolation& violation : found) {
    if (violation.field.starts_with("limits.")) continue;
    violations.Add(ViolationReason::kOutOfRange, prefix + violation.field, violation.message);
  }
}

}  // namespace

std::optional<Failure> AnswerPlanSpeed(const v1::PlanSpeedRequest& request, const RequestLimits& limits,
                                       StopSignal stop, v1::PlanSpeedResponse& response) {
  if (const auto reason = stop()) return GivenUp(*reason);
  Violations violations;
  const DecodedSpeedRequest decoded = ReadSpeedRequest(request, limits, violations);
  v1::SpeedPlan* out = response.mutable_plan();
  if (request.has_profile()) {
    thread_local CurvatureWorkspace workspace;
    thread_local CurvatureSpeedPlan plan;
    CurvatureProfileRequest profile;
    profile.distance = Borrow(request.profile().distance());
    profile.curvature = Borrow(request.profile().curvature());
    profile.speed_cap = Borrow(request.profile().speed_cap());
    profile.stops = decoded.stops;
    profile.limits = decoded.limits;
    profile.flying_lap = request.profile().flying();
    profile.start_speed = request.start_speed();
    profile.end_speed = request.end_speed();
    PlanSpeedAlongCurve(profile, workspace, plan);
    AddPlannerViolations(plan.violations, "", violations);
    if (!violations.empty()) return ToFailure(violations);
    EncodeSpeedPlan(plan, out);
  } else if (request.has_pieces()) {
    thread_local SpeedWorkspace workspace;
    thread_local SpeedPlan plan;
    SpeedPlanRequest pieces;
    pieces.pieces = decoded.pieces;
    pieces.limits = decoded.limits;
    pieces.start_speed = request.start_speed();
    pieces.end_speed = request.end_speed();
    pieces.stops = decoded.stops;
    PlanSpeed(pieces, workspace, plan);
    AddPlannerViolations(plan.violations, "", violations);
    if (!violations.empty()) return ToFailure(violations);
    EncodeSpeedPlan(plan, out);
  }
  if (!violations.empty()) return ToFailure(violations);
  response.mutable_answer()->set_cache(v1::CACHE_OUTCOME_BYPASS);
  return std::nullopt;
}

}  // namespace arclane
