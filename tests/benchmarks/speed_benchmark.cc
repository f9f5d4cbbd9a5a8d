// SPDX-License-Identifier: Apache-2.0
// Speed plans over pieces and along curvature profiles; the counters give nanoseconds a piece or
// node.
#include <cmath>
#include <random>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/planning/speed/curvature_profile.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {
namespace {

std::vector<SpeedPiece> LinesAndArcs(std::size_t count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> length(0.5, 12.0);
  std::uniform_real_distribution<double> log_radius(std::log(0.5), std::log(20.0));
  std::vector<SpeedPiece> pieces;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 2 == 0) {
      pieces.push_back({length(random), kStraight});
    } else {
      const double radius = std::exp(log_radius(random));
      pieces.push_back({radius * 1.2, radius});
    }
  }
  return pieces;
}

SpeedLimits LimitsOf(BudgetMode mode) {
  SpeedLimits limits;
  limits.max_speed = 6.0;
  limits.max_acceleration = 3.0;
  limits.max_braking = 4.0;
  limits.budget_mode = mode;
  if (mode != BudgetMode::kCoupled) limits.max_lateral_acceleration = 4.0;
  if (mode == BudgetMode::kReserved) limits.max_total_acceleration = 6.0;
  if (mode == BudgetMode::kCoupled) limits.max_total_acceleration = 4.0;
  return limits;
}

void PerItem(benchmark::State& state, std::size_t count) {
  state.counters["ns_per_item"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(count) * 1e-9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void PlanPieces(benchmark::State& state, BudgetMode mode, double reaction_s) {
  const std::vector<SpeedPiece> pieces = LinesAndArcs(static_cast<std::size_t>(state.range(0)));
  SpeedPlanRequest request;
  request.pieces = pieces;
  request.limits = LimitsOf(mode);
  request.limits.reaction_time_s = reaction_s;
  SpeedWorkspace workspace;
  SpeedPlan plan;
  for (auto _ : state) {
    PlanSpeed(request, workspace, plan);
    benchmark::DoNotOptimize(plan.duration_s);
  }
  if (plan.status != SpeedPlanStatus::kOk) state.SkipWithError("no plan");
  state.counters["phases"] = static_cast<double>(plan.phases.size());
  PerItem(state, pieces.size());
}

void BM_PlanPieces_Independent(benchmark::State& state) {
  PlanPieces(state, BudgetMode::kIndependent, 0.0);
}
void BM_PlanPieces_Reserved(benchmark::State& state) {
  PlanPieces(state, BudgetMode::kReserved, 0.0);
}
void BM_PlanPieces_Coupled(benchmark::State& state) {
  PlanPieces(state, BudgetMode::kCoupled, 0.0);
}
void BM_PlanPieces_Reaction(benchmark::State& state) {
  PlanPieces(state, BudgetMode::kIndependent, 0.1);
}
BENCHMARK(BM_PlanPieces_Independent)->Arg(8)->Arg(1000)->Arg(100000);
BENCHMARK(BM_PlanPieces_Reserved)->Arg(1000);
BENCHMARK(BM_PlanPieces_Coupled)->Arg(8)->Arg(1000)->Arg(100000);
BENCHMARK(BM_PlanPieces_Reaction)->Arg(1000);

void BM_TravelTime_LinesAndArcs(benchmark::State& state) {
  const std::vector<SpeedPiece> pieces = LinesAndArcs(static_cast<std::size_t>(state.range(0)));
  const SpeedLimits limits = LimitsOf(BudgetMode::kIndependent);
  SpeedWorkspace workspace;
  for (auto _ : state) {
    double time = TravelTime(pieces, limits, 0.0, 0.0, workspace);
    benchmark::DoNotOptimize(time);
  }
  PerItem(state, pieces.size());
}
BENCHMARK(BM_TravelTime_LinesAndArcs)->Arg(3)->Arg(9)->Arg(1000);

// A curve whose curvature swings like a winding road's, with `per_swing` nodes a swing.
void PlanCurve(benchmark::State& state, BudgetMode mode, double per_swing) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<double> distance(count);
  std::vector<double> curvature(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double s = 20.0 * static_cast<double>(i) / per_swing;
    distance[i] = s;
    curvature[i] =
        0.3 * std::sin(2.0 * 3.14159265358979 * s / 20.0) * (0.6 + 0.4 * std::sin(s / 37.0));
  }
  CurvatureProfileRequest request;
  request.distance = distance;
  request.curvature = curvature;
  request.limits = LimitsOf(mode);
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  for (auto _ : state) {
    PlanSpeedAlongCurve(request, workspace, plan);
    benchmark::DoNotOptimize(plan.duration_s);
  }
  if (plan.status != SpeedPlanStatus::kOk) state.SkipWithError("no plan");
  state.counters["phases"] = static_cast<double>(plan.phases.size());
  PerItem(state, count);
}

void BM_PlanCurve_Independent(benchmark::State& state) {
  PlanCurve(state, BudgetMode::kIndependent, 40.0);
}
void BM_PlanCurve_Reserved(benchmark::State& state) {
  PlanCurve(state, BudgetMode::kReserved, 40.0);
}
void BM_PlanCurve_Coupled(benchmark::State& state) { PlanCurve(state, BudgetMode::kCoupled, 40.0); }
void BM_PlanCurve_CoupledFine(benchmark::State& state) {
  PlanCurve(state, BudgetMode::kCoupled, 200.0);
}
BENCHMARK(BM_PlanCurve_Independent)->Arg(1000)->Arg(100000);
BENCHMARK(BM_PlanCurve_Reserved)->Arg(1000);
BENCHMARK(BM_PlanCurve_Coupled)->Arg(1000)->Arg(100000);
BENCHMARK(BM_PlanCurve_CoupledFine)->Arg(1000);

}  // namespace
}  // namespace arclane
