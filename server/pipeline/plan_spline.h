// SPDX-License-Identifier: Apache-2.0
// One PlanSpline request from message to answer.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_SPLINE_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_SPLINE_H_

#include <optional>

#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_failure.h"
#include "server/pipeline/plan_trace.h"
#include "server/pipeline/prepared_plans.h"

namespace arclane {

// As AnswerPlanCorridor (plan_corridor.h). `prepared`, if given, keeps the arc-length maps of
// curves from plan to plan; the answer is the same bits with and without.
std::optional<Failure> AnswerPlanSpline(const v1::PlanSplineRequest& request,
                                        const RequestLimits& limits, StopSignal stop,
                                        v1::PlanSplineResponse& response,
                                        PlanTrace* trace = nullptr,
                                        PreparedPlans* prepared = nullptr);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_SPLINE_H_
