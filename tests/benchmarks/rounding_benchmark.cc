// SPDX-License-Identifier: Apache-2.0
// The rounding of corners: corridors by length and work budget, waypoints by count. How good the
// paths are is printed by rounding_table, which reads the reference corridors.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/planning/rounding/fillet_polyline.h"
#include "server/planning/rounding/round_corners.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

// A zigzag lane of `polygons` quads with a corner in about every third.
RoundingCase Zigzag(int polygons) {
  std::vector<Portal> portals;
  std::vector<std::vector<Vec2>> cells;
  const auto at = [](int i) {
    const double x = 2.0 * i;
    const double y = 3.0 * std::abs(std::remainder(static_cast<double>(i), 6.0));
    return Portal{{x, y + 1.5}, {x, y - 1.5}};
  };
  for (int i = 0; i < polygons; ++i) {
    const Portal a = at(i);
    const Portal b = at(i + 1);
    cells.push_back({a.right, b.right, b.left, a.left});
    if (i > 0) portals.push_back(a);
  }
  const Portal first = at(0);
  const Portal last = at(polygons);
  return MakeCase("zigzag", (first.left + first.right) * 0.5, (last.left + last.right) * 0.5,
                  std::move(cells), std::move(portals));
}

// Arguments: polygons, budget in microseconds of the calibration. Counters: work units a
// microsecond, time over stopping.
void BM_RoundCorners_Zigzag(benchmark::State& state) {
  const RoundingCase c = Zigzag(static_cast<int>(state.range(0)));
  AgentTurning turning;
  turning.radius_max = 2.0;
  turning.radius_min = 0.25;
  RoundingOptions options;
  options.work_budget = static_cast<uint64_t>(state.range(1)) * kWorkUnitsPerMicrosecond;
  uint64_t work = 0;
  DrivenPath path;
  for (auto _ : state) {
    path = RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), options);
    work += path.work_used;
    benchmark::DoNotOptimize(path);
  }
  state.counters["units_per_us"] =
      benchmark::Counter(static_cast<double>(work) * 1e-6, benchmark::Counter::kIsRate);
  state.counters["time_over_stopping"] = path.time_s / path.time_stopping_s;
  state.counters["stops"] = path.stop_count;
}
BENCHMARK(BM_RoundCorners_Zigzag)
    ->ArgsProduct({{8, 32, 128}, {0, 100, 300, 3000}})
    ->Unit(benchmark::kMicrosecond);

std::vector<Vec2> RandomWaypoints(int64_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::vector<Vec2> waypoints;
  for (int64_t i = 0; i < count; ++i) waypoints.push_back({static_cast<double>(i), unit(random)});
  return waypoints;
}

void BM_FilletPolyline_Random(benchmark::State& state) {
  const std::vector<Vec2> waypoints = RandomWaypoints(state.range(0));
  const std::vector<double> request = {2.0};
  FilletPolylineOptions options;
  options.radius_min = state.range(1) != 0 ? 0.2 : 0.0;
  for (auto _ : state) benchmark::DoNotOptimize(FilletPolyline(waypoints, request, options));
  state.counters["ns_per_corner"] = benchmark::Counter(
      static_cast<double>(state.range(0)) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
// The second argument: with a minimum radius, so that some corners stop.
BENCHMARK(BM_FilletPolyline_Random)
    ->ArgsProduct({{1000, 10000, 30000, 100000, 300000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace arclane::testing
