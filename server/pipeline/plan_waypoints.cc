// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_waypoints.h"

#include <string>

#include "server/codec/float_columns.h"
#include "server/codec/route_codec.h"
#include "server/codec/sampling_codec.h"
#include "server/codec/waypoints_codec.h"
#include "server/pipeline/sample_count.h"
#include "server/planning/route/waypoint_planner.h"

namespace arclane {

std::optional<Failure> AnswerPlanWaypoints(const v1::PlanWaypointsRequest& request,
                                           const RequestLimits& limits, StopSignal stop,
                                           v1::PlanWaypointsResponse& response, PlanTrace* trace) {
  const auto mark = [trace](Stage stage) {
    if (trace != nullptr) trace->End(stage);
  };
  thread_local WaypointPlanner planner;
  Violations violations;
  const DecodedWaypointsRequest decoded = ReadWaypointsRequest(request, limits, violations);
  const DecodedSampling sampling =
      ReadSampling(request.sampling(), SampledThing::kRoute, limits, violations);
  mark(Stage::kValidate);
  if (!violations.empty()) return ToFailure(violations);
  std::optional<FailureReason> stopped;
  const auto should_stop = [&] {
    if (!stopped) stopped = stop();
    return stopped.has_value();
  };
  if (should_stop()) return GivenUp(*stopped);

  WaypointPlan result;
  const absl::Status status = planner.Plan(decoded.plan, result, should_stop, mark);
  if (should_stop()) return GivenUp(*stopped);
  if (!status.ok()) {
    violations.Add(ViolationReason::kOutOfRange, "waypoints", std::string(status.message()));
  }
  for (const uint32_t line : result.uncontained_lines) {
    violations.Add(ViolationReason::kOffCorridor, "waypoints",
                   "the line behind waypoint " + std::to_string(line) + " leaves the containment");
  }
  if (!violations.empty()) return ToFailure(violations);

  v1::Route* route = response.mutable_route();
  EncodeRoute(result.plan, decoded.frame, route);
  mark(Stage::kEncode);
  EncodeSamples(sampling, result.plan.route, decoded.frame, route->mutable_samples(), violations);
  mark(Stage::kSample);
  if (!violations.empty()) return ToFailure(violations);
  if (trace != nullptr) {
    trace->samples = CountOf(route->samples());
    trace->CountCorners(result.plan.corners);
  }
  if (sampling.floats) {
    NarrowColumns(route, violations);
    if (!violations.empty()) return ToFailure(violations);
  }
  response.mutable_answer()->set_cache(v1::CACHE_OUTCOME_BYPASS);
  return std::nullopt;
}

}  // namespace arclane
