// SPDX-License-Identifier: Apache-2.0
// Plans whose start is new while the corridor, or the curve, was planned in before: with what was
// prepared then and without. The ratio of the two is what keeping it saves.
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/navmesh/navmesh_store.h"
#include "server/navmesh/registry.h"
#include "server/pipeline/plan_corridor.h"
#include "server/pipeline/plan_spline.h"
#include "server/service/prepared_cache.h"
#include "tests/support/grid_mesh.h"

namespace arclane {
namespace {

// The rows of a wide mesh, there and back: a corridor that winds.
struct World {
  explicit World(size_t polygons, double clearance = 0.0) {
    registry = *NavMeshRegistry::Open({}, std::make_shared<NullStore>(), 0.0);
    const NeutralMesh mesh = testing::GridMesh({.width = 16, .height = 64, .tile = 16});
    PublishRequest publish;
    publish.navmesh_id = "map";
    publish.version = {1};
    publish.neutral = &mesh;
    if (!registry->Publish(publish).ok()) std::abort();
    request.mutable_navmesh()->set_navmesh_id("map");
    for (uint64_t k = 0; k < polygons; ++k) {
      const uint64_t row = k / 8 * 2 + (k % 8 == 7 ? 1 : 0), column = k % 8 == 7 ? 6 : k % 8;
      const uint64_t x = (k / 8) % 2 == 0 ? column : 6 - column;
      request.mutable_corridor()->mutable_refs()->add_ref(row * 16 + x);
      goal_x = static_cast<double>(x) + 0.5;
      goal_y = static_cast<double>(row) + 0.5;
    }
    request.mutable_goal()->set_x(goal_x);
    request.mutable_goal()->set_y(goal_y);
    auto* limits = request.mutable_agent()->mutable_limits();
    limits->set_max_speed(4);
    limits->set_max_acceleration(3);
    limits->set_max_braking(3);
    request.mutable_agent()->mutable_body()->set_clearance(clearance);
  }

  void Plan(PreparedPlans* prepared) {
    request.mutable_start()->set_x(0.1 + 0.8 * static_cast<double>(++plans % 9973) / 9973.0);
    request.mutable_start()->set_y(0.5);
    response.Clear();
    ReadSet reads;
    const auto view = registry->View("map", {}, "", 0.0);
    if (AnswerPlanCorridorByRef(
            request, *view, RequestLimits(), [] { return std::nullopt; }, response, reads, nullptr,
            prepared))
      std::abort();
    benchmark::DoNotOptimize(response);
  }

  std::unique_ptr<NavMeshRegistry> registry;
  v1::PlanCorridorRequest request;
  v1::PlanCorridorResponse response;
  double goal_x = 0, goal_y = 0;
  uint64_t plans = 0;
};

constexpr double kClearance = 0.25;

void PlanAfresh(benchmark::State& state, double clearance) {
  World world(static_cast<size_t>(state.range(0)), clearance);
  for (auto _ : state) world.Plan(nullptr);
}
void PlanPrepared(benchmark::State& state, double clearance) {
  World world(static_cast<size_t>(state.range(0)), clearance);
  RouteCache cache({.capacity_bytes = size_t{64} << 20, .shard_count = 16});
  PreparedCache prepared(cache);
  for (int i = 0; i < 2; ++i) world.Plan(&prepared);  // The second time it is kept.
  for (auto _ : state) world.Plan(&prepared);
  if (prepared.counters().corridor_hits == 0) state.SkipWithError("nothing was prepared");
  state.counters["bytes_a_corridor"] =
      static_cast<double>(cache.counters().bytes) / static_cast<double>(cache.counters().entries);
}
void BM_PlanByReference_NewStart(benchmark::State& state) { PlanAfresh(state, 0.0); }
void BM_PlanByReference_NewStart_Prepared(benchmark::State& state) { PlanPrepared(state, 0.0); }
BENCHMARK(BM_PlanByReference_NewStart)->Arg(8)->Arg(32)->Arg(128);
BENCHMARK(BM_PlanByReference_NewStart_Prepared)->Arg(8)->Arg(32)->Arg(128);

void BM_PlanWithClearance_NewStart(benchmark::State& state) { PlanAfresh(state, kClearance); }
void BM_PlanWithClearance_NewStart_Prepared(benchmark::State& state) {
  PlanPrepared(state, kClearance);
}
BENCHMARK(BM_PlanWithClearance_NewStart)->Arg(8)->Arg(32)->Arg(128);
BENCHMARK(BM_PlanWithClearance_NewStart_Prepared)->Arg(8)->Arg(32)->Arg(128);

v1::PlanSplineRequest Curve(int points) {
  v1::PlanSplineRequest request;
  request.mutable_spline()->mutable_catmull_rom();
  for (int i = 0; i < points; ++i) {
    request.mutable_spline()->mutable_control()->add_x(i);
    request.mutable_spline()->mutable_control()->add_y(i % 3);
  }
  request.mutable_sampling()->set_count(100);
  return request;
}

void PlanCurve(const v1::PlanSplineRequest& request, PreparedPlans* prepared) {
  v1::PlanSplineResponse response;
  if (AnswerPlanSpline(
          request, RequestLimits(), [] { return std::nullopt; }, response, nullptr, prepared))
    std::abort();
  benchmark::DoNotOptimize(response);
}

void BM_PlanCurve(benchmark::State& state) {
  const v1::PlanSplineRequest request = Curve(static_cast<int>(state.range(0)));
  for (auto _ : state) PlanCurve(request, nullptr);
}
void BM_PlanCurve_Prepared(benchmark::State& state) {
  const v1::PlanSplineRequest request = Curve(static_cast<int>(state.range(0)));
  RouteCache cache({.capacity_bytes = size_t{64} << 20, .shard_count = 16});
  PreparedCache prepared(cache);
  for (int i = 0; i < 2; ++i) PlanCurve(request, &prepared);
  for (auto _ : state) PlanCurve(request, &prepared);
  if (prepared.counters().curve_hits == 0) state.SkipWithError("nothing was prepared");
}
BENCHMARK(BM_PlanCurve)->Arg(8)->Arg(64);
BENCHMARK(BM_PlanCurve_Prepared)->Arg(8)->Arg(64);

}  // namespace
}  // namespace arclane
