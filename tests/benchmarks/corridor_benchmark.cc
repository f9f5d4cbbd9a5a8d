// SPDX-License-Identifier: Apache-2.0
// The other stages of planning through a corridor: building it from polygons or portals, verifying
// its line and giving heights. Shape: a zigzag of squares and their neighbours, /N polygons, a
// corner every few polygons.
#include <cmath>
#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/planning/corridor/clearance.h"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/corridor/surface.h"
#include "server/planning/corridor/verification.h"

namespace arclane {
namespace {

struct Columns {
  std::vector<double> a, b, height;
  PointColumns view() const { return {a, b, height}; }
  void Add(Vec2 p) {
    a.push_back(p.x);
    b.push_back(p.y);
    height.push_back(0.25 * p.x);
  }
};

// Quadrilaterals between successive cross-sections of a winding band.
struct Band {
  Columns vertices, left, right;
  std::vector<uint32_t> counts;
  CorridorInput input;

  explicit Band(size_t polygons) {
    const auto section = [](size_t i, double side) {
      const double x = 3.0 * static_cast<double>(i);
      return Vec2{x, 6.0 * std::sin(x / 5.0) + side};
    };
    for (size_t k = 0; k < polygons; ++k) {
      vertices.Add(section(k, -1.0));
      vertices.Add(section(k + 1, -1.0));
      vertices.Add(section(k + 1, 1.0));
      vertices.Add(section(k, 1.0));
      counts.push_back(4);
      if (k > 0) {
        left.Add(section(k, 1.0));
        right.Add(section(k, -1.0));
      }
    }
    input.start = (section(0, 0.0) + section(1, 0.0)) * 0.5;
    input.goal = (section(polygons - 1, 0.0) + section(polygons, 0.0)) * 0.5;
    input.precision = CoordinatePrecision::Double();
    input.polygons = {vertices.view(), counts};
    input.portals = {left.view(), right.view(), {}};
  }
};

void BM_BuildFromPolygons_Band(benchmark::State& state) {
  Band band(static_cast<size_t>(state.range(0)));
  band.input.has_polygons = true;
  CorridorBuilder builder;
  Corridor corridor;
  Violations violations;
  for (auto _ : state) {
    if (!builder.Build(band.input, {}, &corridor, &violations)) state.SkipWithError("refused");
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_BuildFromPolygons_Band)->Arg(8)->Arg(32)->Arg(512);

void BM_BuildFromPortals_Band(benchmark::State& state) {
  Band band(static_cast<size_t>(state.range(0)));
  band.input.has_portals = true;
  CorridorBuilder builder;
  Corridor corridor;
  Violations violations;
  for (auto _ : state) {
    if (!builder.Build(band.input, {}, &corridor, &violations)) state.SkipWithError("refused");
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_BuildFromPortals_Band)->Arg(8)->Arg(32)->Arg(512);

struct Solved {
  Corridor corridor;
  CorridorPath path;
  std::vector<Vec2> points;

  explicit Solved(size_t polygons) {
    Band band(polygons);
    band.input.has_polygons = true;
    CorridorBuilder builder;
    Violations violations;
    builder.Build(band.input, {}, &corridor, &violations);
    Funnel funnel;
    funnel.FindShortestPath(corridor, &path);
    points.push_back(path.start);
    for (const PathCorner& corner : path.corners) points.push_back(corner.point);
    points.push_back(path.goal);
  }
};

void BM_ShortestPath_Band(benchmark::State& state) {
  const Solved solved(static_cast<size_t>(state.range(0)));
  Funnel funnel;
  CorridorPath path;
  for (auto _ : state) {
    funnel.FindShortestPath(solved.corridor, &path);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_ShortestPath_Band)->Arg(8)->Arg(32)->Arg(512);

void BM_VerifyLine_Band(benchmark::State& state) {
  const Solved solved(static_cast<size_t>(state.range(0)));
  std::vector<PortalCrossing> crossings;
  const double tolerance = 2.0 * solved.corridor.tolerance;
  for (auto _ : state) {
    const Deviation deviation = VerifyLine(solved.corridor, solved.points, tolerance, &crossings);
    if (deviation.distance > tolerance) state.SkipWithError("deviates");
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_VerifyLine_Band)->Arg(8)->Arg(32)->Arg(512);

void BM_SurfaceProfile_Band(benchmark::State& state) {
  const Solved solved(static_cast<size_t>(state.range(0)));
  std::vector<PortalCrossing> crossings;
  VerifyLine(solved.corridor, solved.points, 1e-9, &crossings);
  std::vector<SurfaceKnot> knots;
  for (auto _ : state) {
    BuildSurfaceProfile(solved.corridor, crossings, solved.path.length, &knots);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_SurfaceProfile_Band)->Arg(8)->Arg(32)->Arg(512);

void BM_Clearance_Band(benchmark::State& state) {
  const Solved solved(static_cast<size_t>(state.range(0)));
  ClearancePlanner planner;
  CorridorPath path;
  std::vector<ClearanceShortfall> shortfalls;
  for (auto _ : state) {
    planner.FindPath(solved.corridor, 0.3, &path, &shortfalls);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_Clearance_Band)->Arg(8)->Arg(32)->Arg(512);

}  // namespace
}  // namespace arclane
