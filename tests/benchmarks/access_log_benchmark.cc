// SPDX-License-Identifier: Apache-2.0
// What the access log costs a call that succeeds and is not written: most calls.
#include "server/telemetry/access_log.h"

#include <benchmark/benchmark.h>

#include "server/telemetry/build_info.h"
#include "server/telemetry/metrics.h"

namespace arclane {
namespace {

void BM_AccessLog_UnwrittenCall(benchmark::State& state) {
  static Metrics* const metrics =
      new Metrics(CurrentBuild(),
                  {.methods = {"M"}, .outcomes = {"O"}, .shed_reasons = {"R"}, .stages = {"S"}});
  static AccessLog* const log =
      new AccessLog({.success_sample = 1'000'000'000, .slow_s = 0.25}, *metrics);
  for (auto _ : state) benchmark::DoNotOptimize(log->Consider(true, 1e-4));
}
BENCHMARK(BM_AccessLog_UnwrittenCall)->Threads(1)->Threads(2);

}  // namespace
}  // namespace arclane
