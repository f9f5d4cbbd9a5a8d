// SPDX-License-Identifier: Apache-2.0
// How planning scales with threads: plans from bytes to bytes as planning threads make them, on 1,
// 2, 4 and 8 threads at once, each with buffers of its own. Beside the plans a second:
//   allocations_a_plan   calls of operator new by the planning threads
//   waits_a_plan         voluntary context switches: a thread that computes makes one only where it
//                        waits for a lock (or a page), so this counts contended locks
//   cpu_ns_a_plan        CPU time a plan; it stays flat where threads do not disturb each other
#include <sys/resource.h>
#include <time.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/codec/message_arena.h"
#include "server/codec/request_limits.h"
#include "server/pipeline/plan_corridor.h"
#include "tests/benchmarks/zigzag_request.h"

namespace {

thread_local uint64_t allocation_count = 0;

void* Allocate(size_t size) {
  ++allocation_count;
  void* const memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace arclane {
namespace {

constexpr int kDistinctRequests = 64;
constexpr int kWarmUpPlans = 64;

std::optional<FailureReason> NeverStop() { return std::nullopt; }

uint64_t WaitsOfThisThread() {
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) std::abort();
  return static_cast<uint64_t>(usage.ru_nvcsw);
}

double CpuSecondsOfThisThread() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Requests for corridors of 32 polygons, by the thread that plans them, so that no two threads
// share.
std::vector<std::string> Requests(int thread, bool rounded) {
  std::vector<std::string> requests;
  for (int i = 0; i < kDistinctRequests; ++i) {
    auto request = benchmarks::ZigzagRequest(thread * kDistinctRequests + i);
    if (rounded) {
      request.mutable_agent()->mutable_limits()->set_max_lateral_acceleration(4.0);
      request.mutable_agent()->mutable_body()->set_max_turn_radius(2.0);
      request.mutable_agent()->mutable_body()->set_min_turn_radius(0.2);
    }
    requests.push_back(request.SerializeAsString());
  }
  return requests;
}

void Scale(benchmark::State& state, bool rounded) {
  const auto requests = Requests(state.thread_index(), rounded);
  MessageArena arena;
  std::string answer;
  size_t next = 0;
  const auto plan = [&] {
    auto& request = *arena.New<v1::PlanCorridorRequest>();
    if (!request.ParseFromString(requests[next++ % requests.size()])) std::abort();
    auto& response = *arena.New<v1::PlanCorridorResponse>();
    PlanTrace trace;
    if (AnswerPlanCorridor(request, RequestLimits(), NeverStop, response, nullptr, &trace))
      std::abort();
    response.SerializeToString(&answer);
    benchmark::DoNotOptimize(answer);
    arena.Reset();
  };
  for (int i = 0; i < kWarmUpPlans; ++i) plan();
  uint64_t allocations = 0, waits = 0;
  double cpu_s = 0.0;
  bool begun = false;
  for (auto _ : state) {
    // Behind the barrier at which the threads begin together.
    if (!begun) {
      begun = true;
      allocations = allocation_count;
      waits = WaitsOfThisThread();
      cpu_s = CpuSecondsOfThisThread();
    }
    plan();
  }
  const auto plans = static_cast<double>(state.iterations());
  using benchmark::Counter;
  state.SetItemsProcessed(state.iterations());
  state.counters["allocations_a_plan"] =
      Counter(static_cast<double>(allocation_count - allocations) / plans, Counter::kAvgThreads);
  state.counters["waits_a_plan"] =
      Counter(static_cast<double>(WaitsOfThisThread() - waits) / plans, Counter::kAvgThreads);
  state.counters["cpu_ns_a_plan"] =
      Counter(1e9 * (CpuSecondsOfThisThread() - cpu_s) / plans, Counter::kAvgThreads);
}

void BM_Scaling_Stops(benchmark::State& state) { Scale(state, /*rounded=*/false); }
void BM_Scaling_Rounded(benchmark::State& state) { Scale(state, /*rounded=*/true); }

BENCHMARK(BM_Scaling_Stops)->ThreadRange(1, 8)->UseRealTime();
BENCHMARK(BM_Scaling_Rounded)->ThreadRange(1, 8)->UseRealTime();

}  // namespace
}  // namespace arclane
