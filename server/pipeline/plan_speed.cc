// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_speed.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "server/codec/field_checks.h"
#include "server/codec/speed_codec.h"
#include "server/planning/speed/curvature_profile.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {
namespace {

std::span<const double> Borrow(const google::protobuf::RepeatedField<double>& field) {
  return {field.data(), static_cast<size_t>(field.size())};
}

// The planner numbers its structures, "stops[2].dwell_s"; the message holds their fields as
// columns, "stops.dwell_s[2]".
std::string ColumnPath(std::string path) {
  const size_t open = path.find('[');
  const size_t close = path.find("].");
  if (open == std::string::npos || close == std::string::npos || close < open) return path;
  const std::string index = path.substr(open, close + 1 - open);
  path.erase(open, index.size());
  return path + index;
}

// The profile's columns are fields of its own message.
std::string CallerPath(const std::string& path) {
  for (const std::string_view column : {"distance", "curvature", "speed_cap"}) {
    if (path.starts_with(column)) return "profile." + path;
  }
  return ColumnPath(path);
}

// Violations of the planner's own checks. What it finds wrong with the limits alone the codec has
// told already; limits that are right alone, but not for this geometry, are told by it only.
void AddPlannerViolations(const std::vector<SpeedViolation>& found, Violations& violations) {
  const bool told = !violations.empty();
  for (const SpeedViolation& violation : found) {
    if (told && violation.field.starts_with("limits.")) continue;
    violations.Add(ViolationReason::kOutOfRange, CallerPath(violation.field), violation.message);
  }
}

void AddInfiniteLaw(std::string field, Violations& violations) {
  violations.Add(ViolationReason::kOutOfRange, std::move(field),
                 "the motion there has numbers beyond what a double can hold");
}

}  // namespace

std::optional<Failure> AnswerPlanSpeed(const v1::PlanSpeedRequest& request,
                                       const RequestLimits& limits, StopSignal stop,
                                       v1::PlanSpeedResponse& response, PlanTrace* trace) {
  const auto mark = [trace](Stage stage) {
    if (trace != nullptr) trace->End(stage);
  };
  if (const auto reason = stop()) return GivenUp(*reason);
  Violations violations;
  const DecodedSpeedRequest decoded = ReadSpeedRequest(request, limits, violations);
  mark(Stage::kValidate);
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
    if (request.reaction_time_s() > 0.0) {
      violations.Add(ViolationReason::kConflict, "reaction_time_s",
                     "is not offered along a curvature profile; must be 0, got " +
                         NumberText(request.reaction_time_s()));
    }
    profile.most_extra_phases = limits.max_speed_phases;
    std::optional<FailureReason> stopped;
    PlanSpeedAlongCurve(profile, workspace, plan, [&] {
      stopped = stop();
      return stopped.has_value();
    });
    mark(Stage::kSpeed);
    if (stopped) return GivenUp(*stopped);
    if (plan.status == SpeedPlanStatus::kTooManyPhases) {
      AddTooManyPhases("profile.curvature", limits, violations);
    }
    AddPlannerViolations(plan.violations, violations);
    if (const auto interval = FirstInfiniteLaw(plan.phases)) {
      AddInfiniteLaw("profile.curvature[" + std::to_string(*interval + 1) + "]", violations);
    }
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
    mark(Stage::kSpeed);
    AddPlannerViolations(plan.violations, violations);
    if (const auto piece = FirstInfiniteLaw(plan.phases)) {
      AddInfiniteLaw("pieces.radius[" + std::to_string(*piece) + "]", violations);
    }
    if (!violations.empty()) return ToFailure(violations);
    EncodeSpeedPlan(plan, out);
  }
  mark(Stage::kEncode);
  if (!violations.empty()) return ToFailure(violations);
  response.mutable_answer()->set_cache(v1::CACHE_OUTCOME_BYPASS);
  return std::nullopt;
}

}  // namespace arclane
