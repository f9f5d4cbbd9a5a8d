// SPDX-License-Identifier: Apache-2.0
// What metrics cost a call, and what a scrape costs.
#include <benchmark/benchmark.h>

#include "server/pipeline/plan_trace.h"
#include "server/service/plan_record.h"
#include "server/service/service_labels.h"
#include "server/telemetry/build_info.h"
#include "server/telemetry/metrics.h"

namespace arclane {
namespace {

constexpr size_t kCall = LabelIndex(MethodId::kPlanCorridor);

Metrics& SharedMetrics() {
  static auto* const metrics = new Metrics(CurrentBuild(), ServiceLabels());
  return *metrics;
}

// Everything that is recorded for one planned call: in flight, admission, queue, eight stages and
// the clock reads that they take, size, corners, outcome, code and duration.
void BM_Metrics_PlannedCall(benchmark::State& state) {
  Metrics& metrics = SharedMetrics();
  TickClock::SecondsPerTick();
  for (auto _ : state) {
    metrics.CallStarted(kCall);
    metrics.AdmittedChanged(1000);
    metrics.QueueChanged(1);
    PlanTrace trace;
    for (size_t stage = 0; stage < kStageCount; ++stage) trace.End(static_cast<Stage>(stage));
    metrics.QueueChanged(-1);
    trace.portals = 31;
    trace.samples = 100;
    trace.corners = {2, 5, 1, 1};
    trace.corner_stops[static_cast<size_t>(CornerCause::kNoRoom)] = 2;
    RecordPlan(trace, true, metrics);
    metrics.AdmittedChanged(-1000);
    metrics.Outcome(LabelIndex(v1::OUTCOME_COMPLETE));
    metrics.CallEnded(kCall, 0, 50e-6);
  }
}
BENCHMARK(BM_Metrics_PlannedCall)->ThreadRange(1, 4)->UseRealTime();

// What is recorded for an answer from the cache.
void BM_Metrics_CachedCall(benchmark::State& state) {
  Metrics& metrics = SharedMetrics();
  for (auto _ : state) {
    metrics.CallStarted(kCall);
    metrics.Outcome(LabelIndex(v1::OUTCOME_COMPLETE));
    metrics.CallEnded(kCall, 0, 10e-6);
  }
}
BENCHMARK(BM_Metrics_CachedCall);

// One stage's end, as planning's mark.
void BM_Metrics_StageEnd(benchmark::State& state) {
  PlanTrace trace;
  for (auto _ : state) {
    trace.End(Stage::kFunnel);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_Metrics_StageEnd);

// One observation of a histogram of twenty buckets.
void BM_Metrics_Observe(benchmark::State& state) {
  Metrics& metrics = SharedMetrics();
  double duration_s = 1e-7;
  for (auto _ : state) {
    metrics.Stage(LabelIndex(Stage::kSpeed), duration_s);
    duration_s = duration_s > 0.05 ? 1e-7 : duration_s * 1.7;
  }
}
BENCHMARK(BM_Metrics_Observe);

// The text of a scrape; `bytes` is its size.
void BM_Metrics_Scrape(benchmark::State& state) {
  Metrics& metrics = SharedMetrics();
  size_t bytes = 0;
  for (auto _ : state) bytes = metrics.Text().size();
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Metrics_Scrape)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace arclane
