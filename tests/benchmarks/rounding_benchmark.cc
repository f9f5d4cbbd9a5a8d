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
    ->ArgsProduct({{8, 32, 128, 512, 2000, 20000}, {0, 300, 3000}})
    ->Unit(benchmark::kMicrosecond);

// Corners of a polyline in shapes that differ in what has to be decided.
enum Shape : int64_t {
  kGentle,        // Slight turns: every radius is bounded by its request.
  kRandom,        // Sharp turns of all kinds: radii are bounded by the lines.
  kConflicts,     // The same with a minimum radius: about every fourth corner is in the way.
  kFarConflicts,  // Twelve pairs of corners in one another's way, far apart on a zigzag.
};

std::vector<Vec2> Waypoints(Shape shape, int64_t count, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::vector<Vec2> waypoints;
  double x = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    switch (shape) {
      case kGentle:
        waypoints.push_back({static_cast<double>(i), 0.05 * unit(random)});
        break;
      case kRandom:
      case kConflicts:
        waypoints.push_back({static_cast<double>(i), unit(random)});
        break;
      case kFarConflicts:
        x += i % (count / 12) == 5 ? 0.5 : 2.0;
        waypoints.push_back({x, static_cast<double>(i % 2)});
        break;
    }
  }
  return waypoints;
}

void ReportCorners(benchmark::State& state, int64_t count) {
  state.counters["ns_per_corner"] = benchmark::Counter(
      static_cast<double>(count) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// Arguments: shape, waypoints. Short lines take turns with others: a processor learns the branches
// that one of a thousand corners takes by heart, which callers do not see, nor do 10^5 corners.
constexpr int64_t kCornersInAll = 100000;

void BM_FilletPolyline(benchmark::State& state) {
  const auto shape = static_cast<Shape>(state.range(0));
  std::vector<std::vector<Vec2>> lines;
  for (int64_t corners = 0; corners < kCornersInAll; corners += state.range(1)) {
    lines.push_back(Waypoints(shape, state.range(1), static_cast<uint32_t>(lines.size() + 1)));
  }
  const std::vector<double> request = {2.0};
  FilletPolylineOptions options;
  if (shape == kConflicts) options.radius_min = 1.0;
  if (shape == kFarConflicts) options.radius_min = 0.6;
  uint32_t stops = 0;
  size_t next = 0;
  benchmark::DoNotOptimize(FilletPolyline(lines[0], request, options));  // Pages are touched once.
  for (auto _ : state) {
    const auto filleted = FilletPolyline(lines[next++ % lines.size()], request, options);
    stops = filleted->path.stop_count;
    benchmark::DoNotOptimize(filleted);
  }
  state.counters["stops"] = stops;
  ReportCorners(state, state.range(1));
}
BENCHMARK(BM_FilletPolyline)
    ->ArgsProduct({{kGentle, kRandom, kConflicts, kFarConflicts}, {1000, 10000, 100000}})
    ->Unit(benchmark::kMicrosecond);

// Arguments: waypoints. As many overlapping polygons hold the line, one round each waypoint.
void BM_FilletPolyline_Contained(benchmark::State& state) {
  const int64_t count = state.range(0);
  const std::vector<Vec2> waypoints = Waypoints(kRandom, count);
  std::vector<Vec2> vertices;
  std::vector<uint32_t> begin = {0};
  for (const Vec2 p : waypoints) {
    for (const Vec2 corner : {Vec2{-0.6, -1.2}, Vec2{0.6, -1.2}, Vec2{0.6, 1.2}, Vec2{-0.6, 1.2}}) {
      vertices.push_back(Vec2{p.x, 0.0} + corner);
    }
    begin.push_back(static_cast<uint32_t>(vertices.size()));
  }
  FilletPolylineOptions options;
  options.polygon_vertices = vertices;
  options.polygon_begin = begin;
  const std::vector<double> request = {2.0};
  for (auto _ : state) {
    const auto filleted = FilletPolyline(waypoints, request, options);
    if (!filleted->uncontained_lines.empty()) state.SkipWithError("leaves the polygons");
    benchmark::DoNotOptimize(filleted);
  }
  ReportCorners(state, count);
}
BENCHMARK(BM_FilletPolyline_Contained)
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace arclane::testing
