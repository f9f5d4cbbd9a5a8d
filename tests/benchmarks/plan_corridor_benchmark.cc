// SPDX-License-Identifier: Apache-2.0
// A whole plan in process: the zigzag of 32 polygons from message to message, with and without its
// 100 samples, and from bytes to bytes.
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

constexpr int kDistinctRequests = 64;

std::optional<FailureReason> NeverStop() { return std::nullopt; }

std::vector<v1::PlanCorridorRequest> Requests(bool samples) {
  std::vector<v1::PlanCorridorRequest> requests;
  for (int serial = 0; serial < kDistinctRequests; ++serial) {
    requests.push_back(benchmarks::ZigzagRequest(serial));
    if (!samples) requests.back().clear_sampling();
  }
  return requests;
}

void Plan(const v1::PlanCorridorRequest& request, v1::PlanCorridorResponse& response) {
  if (AnswerPlanCorridor(request, RequestLimits(), NeverStop, response)) std::abort();
}

void PlanMessages(benchmark::State& state, bool samples) {
  const auto requests = Requests(samples);
  MessageArena arena;
  size_t next = 0;
  for (auto _ : state) {
    auto& response = *arena.New<v1::PlanCorridorResponse>();
    Plan(requests[next++ % requests.size()], response);
    benchmark::DoNotOptimize(response);
    arena.Reset();
  }
}

void BM_Plan_Zigzag(benchmark::State& state) { PlanMessages(state, /*samples=*/true); }
void BM_PlanWithoutSamples_Zigzag(benchmark::State& state) {
  PlanMessages(state, /*samples=*/false);
}

void BM_PlanBytes_Zigzag(benchmark::State& state) {
  std::vector<std::string> requests;
  for (const auto& request : Requests(true)) requests.push_back(request.SerializeAsString());
  MessageArena arena;
  std::string answer;
  size_t next = 0;
  for (auto _ : state) {
    auto& request = *arena.New<v1::PlanCorridorRequest>();
    if (!request.ParseFromString(requests[next++ % requests.size()])) std::abort();
    auto& response = *arena.New<v1::PlanCorridorResponse>();
    Plan(request, response);
    response.SerializeToString(&answer);
    benchmark::DoNotOptimize(answer);
    arena.Reset();
  }
}

BENCHMARK(BM_Plan_Zigzag)->Arg(benchmarks::kZigzagPolygons);
BENCHMARK(BM_PlanWithoutSamples_Zigzag)->Arg(benchmarks::kZigzagPolygons);
BENCHMARK(BM_PlanBytes_Zigzag)->Arg(benchmarks::kZigzagPolygons);

}  // namespace
}  // namespace arclane
