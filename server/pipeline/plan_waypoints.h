// SPDX-License-Identifier: Apache-2.0
// One PlanWaypoints request from message to answer.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_WAYPOINTS_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_WAYPOINTS_H_

#include <optional>

#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_failure.h"
#include "server/pipeline/plan_trace.h"

namespace arclane {

// As AnswerPlanCorridor (plan_corridor.h).
std::optional<Failure> AnswerPlanWaypoints(const v1::PlanWaypointsRequest& request,
                                           const RequestLimits& limits, StopSignal stop,
                                           v1::PlanWaypointsResponse& response,
                                           PlanTrace* trace = nullptr);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_WAYPOINTS_H_
