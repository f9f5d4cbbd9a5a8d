// SPDX-License-Identifier: Apache-2.0
// What a plan took and came to, as metrics and as a message.
#ifndef ARCLANE_SERVER_SERVICE_PLAN_RECORD_H_
#define ARCLANE_SERVER_SERVICE_PLAN_RECORD_H_

#include "arclane/v1/planner.pb.h"
#include "server/pipeline/plan_trace.h"
#include "server/telemetry/metrics.h"

namespace arclane {

// To be called once for each plan, when it has ended: the stages that it went through and, where it
// was made (`planned`), its size and its corners.
void RecordPlan(const PlanTrace& trace, bool planned, Metrics& metrics);

void WriteStageTimes(const PlanTrace& trace, v1::StageTimes* times);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PLAN_RECORD_H_
