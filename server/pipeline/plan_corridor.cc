// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_corridor.h"

#include <string>

#include "absl/cleanup/cleanup.h"
#include "server/codec/corridor_codec.h"
#include "server/codec/field_checks.h"
#include "server/codec/route_codec.h"
#include "server/codec/sampling_codec.h"
#include "server/planning/route/corridor_planner.h"

namespace arclane {
namespace {

// A corridor of so many portals keeps about 20 MiB of buffers alive.
constexpr size_t kLargeCorridor = size_t{1} << 15;

}  // namespace

std::optional<Failure> AnswerPlanCorridor(const v1::PlanCorridorRequest& request,
                                          const RequestLimits& limits, StopSignal stop,
                                          v1::PlanCorridorResponse& response) {
  thread_local CorridorPlanner planner;
  const absl::Cleanup give_back = [] {
    // The memory of a rare large plan is not kept.
    if (planner.corridor().portals.size() > kLargeCorridor) planner = CorridorPlanner();
  };
  Violations violations;
  const DecodedCorridorRequest decoded = ReadCorridorRequest(request, limits, violations);
  const DecodedSampling sampling =
      ReadSampling(request.sampling(), SampledThing::kRoute, limits, violations);

  std::optional<FailureReason> stopped;
  const auto should_stop = [&] {
    if (!stopped) stopped = stop();
    return stopped.has_value();
  };
  if (should_stop()) return GivenUp(*stopped);

  thread_local RoutePlan plan;
  plan.Clear();
  // The geometry is looked at even when other fields are wrong already: all violations are told at
  // once.
  const size_t field_violations = violations.total();
  Violations geometry_violations;
  const PlanStatus status =
      field_violations > 0 ? planner.Check(decoded.plan, geometry_violations)
                           : planner.Plan(decoded.plan, should_stop, plan, geometry_violations);
  for (const Violation& violation : geometry_violations.kept()) {
    violations.Add(violation.reason, RequestFieldPath(violation.field), violation.description);
  }
  if (!violations.empty()) return ToFailure(violations);
  switch (status) {
    case PlanStatus::kOk:
    case PlanStatus::kInvalid:
      break;
    case PlanStatus::kStopped:
      return GivenUp(*stopped);
    case PlanStatus::kVerificationFailed: {
      Failure failure;
      failure.reason = FailureReason::kVerificationFailed;
      failure.message = "the route leaves the corridor by " + NumberText(plan.largest_deviation) +
                        ", more than the tolerance " + NumberText(plan.deviation_tolerance) +
                        "; please report the request";
      return failure;
    }
  }

  v1::Route* route = response.mutable_route();
  if (decoded.closed_gate) {
    route->set_outcome(v1::OUTCOME_GATE_CLOSED);
    route->set_shortest_length(plan.shortest_length);
    route->mutable_blocked()->set_portal_index(decoded.closed_gate->portal_index);
    route->mutable_blocked()->set_gate_id(decoded.closed_gate->gate_id);
    route->mutable_blocked()->set_detail("a closed gate lies on the corridor");
  } else {
    EncodeRoute(plan, decoded.frame, route);
    EncodeSamples(sampling, plan.route, decoded.frame, route->mutable_samples(), violations);
    if (!violations.empty()) return ToFailure(violations);
  }
  if (request.include_corridor()) EncodeCorridor(planner.corridor(), decoded.frame, route);
  response.mutable_answer()->set_cache(v1::CACHE_OUTCOME_BYPASS);
  return std::nullopt;
}

}  // namespace arclane
