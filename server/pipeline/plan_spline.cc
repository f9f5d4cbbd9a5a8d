// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_spline.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "server/codec/field_checks.h"
#include "server/codec/float_columns.h"
#include "server/codec/speed_codec.h"
#include "server/codec/spline_codec.h"
#include "server/pipeline/sample_count.h"
#include "server/planning/route/curve_speed.h"
#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/curve.h"

namespace arclane {
namespace {

// How many samples will be taken, when that is known before the length is.
size_t ExpectedSamples(const SamplingPlan& plan) {
  switch (plan.rule) {
    case SamplingRule::kCount:
      return plan.count;
    case SamplingRule::kDistances:
      return plan.distances.size();
    case SamplingRule::kNone:
      return 0;
    case SamplingRule::kSpacing:
    case SamplingRule::kTimeStep:
      break;
  }
  return SIZE_MAX;
}

// All that an arc-length map depends on.
void CurveKey(const v1::PlanSplineRequest& request, const DecodedSplineRequest& decoded,
              InverseMode mode, std::string* key) {
  request.spline().SerializeToString(key);
  key->push_back(static_cast<char>(decoded.up_axis));
  key->push_back(static_cast<char>(mode));
  char error[sizeof(double)];
  std::memcpy(error, &decoded.relative_error, sizeof(error));
  key->append(error, sizeof(error));
}

// Null when the violations say why.
std::shared_ptr<const ArcLengthMap> MapOf(const v1::PlanSplineRequest& request,
                                          const DecodedSplineRequest& decoded,
                                          PreparedPlans* prepared, Violations& violations) {
  const auto refuse = [&](const absl::Status& status) {
    violations.Add(ViolationReason::kOutOfRange, "spline", std::string(status.message()));
    return nullptr;
  };
  auto curve = Curve::Create(decoded.curve, decoded.curve_limits);
  if (!curve.ok()) return refuse(curve.status());
  ArcLengthOptions options;
  options.relative_error = decoded.relative_error;
  options.inverse_mode = decoded.has_agent
                             ? InverseMode::kTabulated
                             : ChooseInverseMode(*curve, ExpectedSamples(decoded.sampling.plan));
  thread_local std::string key;
  bool keeps = false;
  if (prepared != nullptr) {
    CurveKey(request, decoded, options.inverse_mode, &key);
    if (auto known = prepared->FindCurve(key)) return known;
    keeps = prepared->WantsCurve(key);
  }
  auto map = ArcLengthMap::Create(*std::move(curve), options);
  if (!map.ok()) return refuse(map.status());
  auto shared = std::make_shared<const ArcLengthMap>(*std::move(map));
  if (keeps) prepared->KeepCurve(key, shared);
  return shared;
}

void RefuseJumps(const CurveSpeed& speed, Violations& violations) {
  for (const CurveStop& stop : speed.stops) {
    violations.Add(ViolationReason::kConflict, "spline",
                   "the direction jumps by " + NumberText(stop.turn_angle_rad) +
                       " rad at distance " + NumberText(stop.distance) +
                       ", which this agent would have to turn in place");
  }
}

// The planner speaks of the profile that was made of the curve; the request has a curve, a wish and
// an agent.
std::string RequestField(const std::string& field) {
  if (field.starts_with("speed_cap")) return "speed_wish.speed";
  if (field.starts_with("limits.")) return "agent." + field;
  if (field.starts_with("stops")) return "agent.limits.max_angular_speed";
  if (field.starts_with("start_speed") || field.starts_with("end_speed")) return field;
  return "spline";
}

}  // namespace

std::optional<Failure> AnswerPlanSpline(const v1::PlanSplineRequest& request,
                                        const RequestLimits& limits, StopSignal stop,
                                        v1::PlanSplineResponse& response, PlanTrace* trace,
                                        PreparedPlans* prepared) {
  const auto mark = [trace](Stage stage) {
    if (trace != nullptr) trace->End(stage);
  };
  Violations violations;
  DecodedSplineRequest decoded = ReadSplineRequest(request, limits, violations);
  decoded.speed.most_extra_phases = limits.max_speed_phases;
  mark(Stage::kValidate);
  if (!violations.empty()) return ToFailure(violations);
  if (const auto reason = stop()) return GivenUp(*reason);

  const std::shared_ptr<const ArcLengthMap> map = MapOf(request, decoded, prepared, violations);
  if (map == nullptr) return ToFailure(violations);
  mark(Stage::kCorridor);
  if (const auto reason = stop()) return GivenUp(*reason);

  v1::CurvePlan* out = response.mutable_plan();
  EncodeCurve(*map, out);
  mark(Stage::kEncode);
  thread_local CurvatureWorkspace workspace;
  thread_local CurveSpeed speed;
  if (decoded.has_agent) {
    if (const absl::Status refined = RefineProfile(*map, decoded.speed, speed); !refined.ok()) {
      violations.Add(ViolationReason::kLimitExceeded, "spline",
                     "at most max_curve_nodes " + std::to_string(limits.max_curve_nodes) +
                         " nodes of its profile of curvature, needs more");
      return ToFailure(violations);
    }
    if (decoded.refuse_jumps) RefuseJumps(speed, violations);
    if (!violations.empty()) return ToFailure(violations);
    std::optional<FailureReason> stopped;
    PlanCurveSpeed(*map, decoded.speed, workspace, speed, [&] {
      if (!stopped) stopped = stop();
      return stopped.has_value();
    });
    mark(Stage::kSpeed);
    if (!stopped) stopped = stop();
    if (stopped) return GivenUp(*stopped);
    if (speed.plan.status == SpeedPlanStatus::kTooManyPhases) {
      AddTooManyPhases("spline", limits, violations);
    }
    // Many places of the profile may speak of one field of the request.
    std::string told;
    for (const SpeedViolation& violation : speed.plan.violations) {
      const std::string field = RequestField(violation.field);
      if (std::exchange(told, field) == field) continue;
      violations.Add(ViolationReason::kOutOfRange, field, violation.message);
    }
    if (speed.plan.violations.empty() && FirstInfiniteLaw(speed.plan.phases)) {
      violations.Add(ViolationReason::kOutOfRange, "spline",
                     "the motion along it has numbers beyond what a double can hold: send it in a "
                     "smaller unit");
    }
    if (!violations.empty()) return ToFailure(violations);
    EncodeCurveSpeed(speed, out);
    mark(Stage::kEncode);
  }
  EncodeCurveSamples(decoded, *map, decoded.has_agent ? &speed : nullptr, out->mutable_samples(),
                     violations);
  mark(Stage::kSample);
  if (!violations.empty()) return ToFailure(violations);
  if (trace != nullptr) trace->samples = CountOf(out->samples());
  if (decoded.sampling.floats) {
    NarrowColumns(out, violations);
    if (!violations.empty()) return ToFailure(violations);
  }
  response.mutable_answer()->set_cache(v1::CACHE_OUTCOME_BYPASS);
  return std::nullopt;
}

}  // namespace arclane
