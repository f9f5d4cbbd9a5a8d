// SPDX-License-Identifier: Apache-2.0
// What one core plans a second, by the length of the corridor, from bytes to bytes as a planning
// thread does it: the figures of the runbook's formula for the size of a replica.
// `items_per_second` is plans a second of one thread.
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/codec/message_arena.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_corridor.h"
#include "tests/benchmarks/zigzag_request.h"

namespace arclane {
namespace {

constexpr int kDistinctRequests = 16;

std::optional<FailureReason> NeverStop() { return std::nullopt; }

// Corridors of state.range(0) polygons, planned with 100 samples; `rounded`: corners are rounded
// where there is room, otherwise all are stops.
void PlanBytes(benchmark::State& state, bool rounded) {
  std::vector<std::string> requests;
  for (int serial = 0; serial < kDistinctRequests; ++serial) {
    auto request = benchmarks::ZigzagRequest(serial, static_cast<int>(state.range(0)));
    if (rounded) {
      request.mutable_agent()->mutable_limits()->set_max_lateral_acceleration(4.0);
      request.mutable_agent()->mutable_body()->set_max_turn_radius(2.0);
      request.mutable_agent()->mutable_body()->set_min_turn_radius(0.2);
    }
    requests.push_back(request.SerializeAsString());
  }
  MessageArena arena;
  std::string answer;
  size_t next = 0;
  for (auto _ : state) {
    auto& request = *arena.New<v1::PlanCorridorRequest>();
    if (!request.ParseFromString(requests[next++ % requests.size()])) std::abort();
    auto& response = *arena.New<v1::PlanCorridorResponse>();
    PlanTrace trace;
    if (AnswerPlanCorridor(request, RequestLimits(), NeverStop, response, nullptr, &trace))
      std::abort();
    response.SerializeToString(&answer);
    trace.End(Stage::kEncode);
    benchmark::DoNotOptimize(answer);
    arena.Reset();
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_Capacity_Stops(benchmark::State& state) { PlanBytes(state, /*rounded=*/false); }
void BM_Capacity_Rounded(benchmark::State& state) { PlanBytes(state, /*rounded=*/true); }

BENCHMARK(BM_Capacity_Stops)->Arg(4)->Arg(16)->Arg(64)->Arg(256)->Arg(1024);
BENCHMARK(BM_Capacity_Rounded)->Arg(4)->Arg(16)->Arg(64)->Arg(256)->Arg(1024);

}  // namespace
}  // namespace arclane
