// SPDX-License-Identifier: Apache-2.0
#include "server/service/plan_record.h"

#include "server/service/service_labels.h"

namespace arclane {

void RecordPlan(const PlanTrace& trace, bool planned, Metrics& metrics) {
  for (size_t i = 0; i < kStageCount; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (trace.Ended(stage)) metrics.Stage(LabelIndex(stage), trace.Seconds(stage));
  }
  if (!planned) return;
  if (trace.portals) metrics.Portals(*trace.portals);
  metrics.Samples(trace.samples);
  for (size_t i = 0; i < kCornerActionCount; ++i) {
    if (trace.corners[i] != 0)
      metrics.Corners(LabelIndex(static_cast<CornerAction>(i)), trace.corners[i]);
  }
  for (size_t i = 1; i < kCornerCauseCount; ++i) {
    if (trace.corner_stops[i] != 0)
      metrics.CornerStops(LabelIndex(static_cast<CornerCause>(i)), trace.corner_stops[i]);
  }
}

void WriteStageTimes(const PlanTrace& trace, v1::StageTimes* times) {
  times->set_queue_s(trace.Seconds(Stage::kQueue));
  times->set_validate_s(trace.Seconds(Stage::kValidate));
  times->set_plan_s(trace.Seconds(Stage::kCorridor) + trace.Seconds(Stage::kFunnel) +
                    trace.Seconds(Stage::kCorners) + trace.Seconds(Stage::kSpeed));
  times->set_encode_s(trace.Seconds(Stage::kSample) + trace.Seconds(Stage::kEncode));
}

}  // namespace arclane
