// SPDX-License-Identifier: Apache-2.0
// The funnel, portals given, beside two baselines over the same portals in the same run:
//  - BM_RestartingFunnel: the textbook funnel that keeps an apex and two sides and restarts its
//  scan at each corner.
//  - BM_SumPortals: the sum of all coordinates, the time in which the portals' bytes can be read.
// Shapes: a straight corridor, a zigzag with a corner at every other portal, and a gentle arc that
// turns by 90 degrees in all. /N is the number of portals; the counter s_per_portal is the time of
// a call over N.
#include <cmath>
#include <numbers>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {
namespace {

struct Sleeve {
  Vec2 start, goal;
  std::vector<Portal> portals;
};

Portal PortalAt(Vec2 left, Vec2 right) {
  Portal portal;
  portal.left = left;
  portal.right = right;
  return portal;
}

Sleeve Straight(size_t count) {
  Sleeve sleeve{{0.0, 0.0}, {2.0 * (static_cast<double>(count) + 1.0), 0.0}, {}};
  for (size_t i = 0; i < count; ++i) {
    const double x = 2.0 * (static_cast<double>(i) + 1.0);
    sleeve.portals.push_back(PortalAt({x, 2.0}, {x, -2.0}));
  }
  return sleeve;
}

// Alternate portals lie to the left and to the right of the straight line by more than their width.
Sleeve Zigzag(size_t count) {
  Sleeve sleeve{{0.0, 0.0}, {4.0 * (static_cast<double>(count) + 1.0), 0.0}, {}};
  for (size_t i = 0; i < count; ++i) {
    const double x = 4.0 * (static_cast<double>(i) + 1.0);
    const double y = i % 2 == 0 ? 3.0 : -3.0;
    sleeve.portals.push_back(PortalAt({x, y + 2.0}, {x, y - 2.0}));
  }
  return sleeve;
}

// Portals on the rays of a quarter circle, from radius 2000 to 3000; start and goal near the inner
// side, which the line follows.
Sleeve Arc(size_t count) {
  const double n = static_cast<double>(count) + 1.0;
  const double inner = 2000.0;
  const auto at = [&](double step, double radius) {
    const double angle = std::numbers::pi / 2.0 * step / n;
    return Vec2{radius * std::sin(angle), inner - radius * std::cos(angle)};
  };
  Sleeve sleeve{at(0.0, inner + 10.0), at(n, inner + 10.0), {}};
  for (size_t i = 0; i < count; ++i) {
    const double step = static_cast<double>(i) + 1.0;
    sleeve.portals.push_back(PortalAt(at(step, inner), at(step, inner + 1000.0)));
  }
  return sleeve;
}

// The simple stupid funnel algorithm as textbooks give it (Mononen 2010), on doubles, into a reused
// buffer.
double TwiceArea(Vec2 a, Vec2 b, Vec2 c) { return Cross(b - a, c - a); }

void RestartingFunnel(const Sleeve& sleeve, std::vector<Vec2>* corners) {
  corners->clear();
  Vec2 apex = sleeve.start;
  Vec2 left = apex;
  Vec2 right = apex;
  size_t left_index = 0;
  size_t right_index = 0;
  const size_t count = sleeve.portals.size();
  for (size_t i = 0; i <= count; ++i) {
    const Vec2 next_left = i == count ? sleeve.goal : sleeve.portals[i].left;
    const Vec2 next_right = i == count ? sleeve.goal : sleeve.portals[i].right;
    if (TwiceArea(apex, right, next_right) >= 0.0) {
      if (apex == right || TwiceArea(apex, left, next_right) < 0.0) {
        right = next_right;
        right_index = i;
      } else {
        corners->push_back(left);
        apex = right = left;
        i = right_index = left_index;
        continue;
      }
    }
    if (TwiceArea(apex, left, next_left) <= 0.0) {
      if (apex == left || TwiceArea(apex, right, next_left) > 0.0) {
        left = next_left;
        left_index = i;
      } else {
        corners->push_back(right);
        apex = left = right;
        i = left_index = right_index;
        continue;
      }
    }
  }
}

double Length(const Sleeve& sleeve, const std::vector<Vec2>& corners) {
  double length = 0.0;
  Vec2 from = sleeve.start;
  for (const Vec2 corner : corners) {
    length += Distance(from, corner);
    from = corner;
  }
  return length + Distance(from, sleeve.goal);
}

void SetCounters(benchmark::State& state) {
  const double portals = static_cast<double>(state.range(0));
  state.counters["s_per_portal"] = benchmark::Counter(
      portals, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

using Shape = Sleeve (*)(size_t);

void Funnel_(benchmark::State& state, Shape shape) {
  const Sleeve sleeve = shape(static_cast<size_t>(state.range(0)));
  Funnel funnel;
  CorridorPath path;
  const double tolerance = 1e-9;
  for ([[maybe_unused]] auto _ : state) {
    funnel.FindShortestPath(sleeve.start, sleeve.goal, sleeve.portals, tolerance, false, &path);
    const double length = path.length;
    benchmark::DoNotOptimize(length);
  }
  funnel.FindShortestPath(sleeve.start, sleeve.goal, sleeve.portals, tolerance, false, &path);
  std::vector<Vec2> corners;
  RestartingFunnel(sleeve, &corners);
  const double expected = Length(sleeve, corners);
  if (std::abs(path.length - expected) > 1e-9 * expected) state.SkipWithError("lengths differ");
  SetCounters(state);
}

void RestartingFunnel_(benchmark::State& state, Shape shape) {
  const Sleeve sleeve = shape(static_cast<size_t>(state.range(0)));
  std::vector<Vec2> corners;
  for ([[maybe_unused]] auto _ : state) {
    RestartingFunnel(sleeve, &corners);
    const double length = Length(sleeve, corners);
    benchmark::DoNotOptimize(length);
  }
  SetCounters(state);
}

void SumPortals_(benchmark::State& state, Shape shape) {
  const Sleeve sleeve = shape(static_cast<size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) {
    double x = 0.0;
    double y = 0.0;
    for (const Portal& portal : sleeve.portals) {
      x += portal.left.x + portal.right.x;
      y += portal.left.y + portal.right.y;
    }
    benchmark::DoNotOptimize(x);
    benchmark::DoNotOptimize(y);
  }
  SetCounters(state);
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t count : {8, 32, 128, 512, 10000, 100000}) benchmark->Arg(count);
}

// The restarting funnel is quadratic on arcs: 10^5 portals would take half a minute a call.
void RestartingArcSizes(benchmark::internal::Benchmark* benchmark) {
  for (const int64_t count : {8, 32, 128, 512, 10000}) benchmark->Arg(count);
}

#define ARCLANE_FUNNEL_BENCHMARKS(Shape, RestartingSizes)                            \
  BENCHMARK_CAPTURE(Funnel_, Shape, Shape)->Name("BM_Funnel_" #Shape)->Apply(Sizes); \
  BENCHMARK_CAPTURE(RestartingFunnel_, Shape, Shape)                                 \
      ->Name("BM_RestartingFunnel_" #Shape)                                          \
      ->Apply(RestartingSizes);                                                      \
  BENCHMARK_CAPTURE(SumPortals_, Shape, Shape)->Name("BM_SumPortals_" #Shape)->Apply(Sizes)

ARCLANE_FUNNEL_BENCHMARKS(Straight, Sizes);
ARCLANE_FUNNEL_BENCHMARKS(Zigzag, Sizes);
ARCLANE_FUNNEL_BENCHMARKS(Arc, RestartingArcSizes);

}  // namespace
}  // namespace arclane
