// SPDX-License-Identifier: Apache-2.0
// One PlanSpeed request from message to answer. Free of gRPC.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_SPEED_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_SPEED_H_

#include <optional>

#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_failure.h"
#include "server/pipeline/plan_trace.h"

namespace arclane {

// As PlanCorridor (plan_corridor.h).
std::optional<Failure> AnswerPlanSpeed(const v1::PlanSpeedRequest& request,
                                       const RequestLimits& limits, StopSignal stop,
                                       v1::PlanSpeedResponse& response, PlanTrace* trace = nullptr);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_SPEED_H_
