// SPDX-License-Identifier: Apache-2.0
// One PlanCorridor request from message to answer: check, plan, verify, sample, encode. Free of
// gRPC, so that tests, fuzzing and benchmarks run exactly what the server runs.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_CORRIDOR_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_CORRIDOR_H_

#include <optional>

#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_failure.h"

namespace arclane {

// Fills `response.route` and returns nullopt, or returns why the request fails; the response is
// then unspecified. `stop` is asked between stages and after every bounded amount of work; once it
// answers with a reason, that reason (kCancelled, kDeadlineExceeded, kDraining) is the failure.
// Thread-safe: scratch memory is kept per thread.
std::optional<Failure> AnswerPlanCorridor(const v1::PlanCorridorRequest& request,
                                          const RequestLimits& limits, StopSignal stop,
                                          v1::PlanCorridorResponse& response);

// Whether the plan of a request of a few KiB is sure to take no more than some dozen microseconds:
// nothing to round, no distance to keep, few samples. Cost: linear in the polygons' vertices when
// samples have a spacing, otherwise constant.
bool IsQuickPlan(const v1::PlanCorridorRequest& request);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_CORRIDOR_H_
