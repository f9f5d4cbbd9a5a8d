// SPDX-License-Identifier: Apache-2.0
// Random piece lists in all budget modes: limits at random distances, the hold before each braking
// run, and the optimum of an independent dense solver.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {
namespace {

struct Problem {
  std::vector<SpeedPiece> pieces;
  std::vector<SpeedStop> stops;
  SpeedLimits limits;
  double start = 0.0;
  double end = 0.0;

  std::string Print(std::uint64_t seed) const {
    std::ostringstream out;
    out.precision(17);
    out << "seed " << seed << " limits " << limits.max_speed << ' ' << limits.max_acceleration
        << ' ' << limits.max_braking << " lat " << limits.max_lateral_acceleration.value_or(0.0)
        << " total " << limits.max_total_acceleration.value_or(0.0) << " mode "
        << static_cast<int>(limits.budget_mode) << " reaction " << limits.reaction_time_s
        << " from " << start << " to " << end << " pieces";
    for (const SpeedPiece& piece : pieces)
      out << " {" << piece.length << ", " << piece.radius << "}";
    for (const SpeedStop& stop : stops) out << " stop " << stop.boundary << ' ' << stop.dwell_s;
    return out.str();
  }

  SpeedPlanRequest Request() const { return {pieces, limits, start, end, stops}; }
};

class RandomProblems {
 public:
  explicit RandomProblems(std::uint64_t seed) : random_(seed) {}

  double Uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  double LogUniform(double low, double high) {
    return std::exp(Uniform(std::log(low), std::log(high)));
  }
  bool Chance(double p) { return Uniform(0.0, 1.0) < p; }

  Problem Next(bool reacts) {
    Problem problem;
    SpeedLimits& limits = problem.limits;
    limits.max_speed = LogUniform(1.0, 30.0);
    limits.max_acceleration = LogUniform(0.5, 10.0);
    limits.max_braking = LogUniform(0.5, 10.0);
    const int mode = static_cast<int>(Uniform(0.0, 3.0));
    limits.budget_mode = static_cast<BudgetMode>(mode);
    if (mode != 2 || Chance(0.4)) limits.max_lateral_acceleration = LogUniform(0.5, 10.0);
    if (limits.budget_mode == BudgetMode::kReserved) {
      limits.max_total_acceleration = std::hypot(
          std::max(limits.max_acceleration, limits.max_braking), *limits.max_lateral_acceleration);
    } else if (limits.budget_mode == BudgetMode::kCoupled) {
      limits.max_total_acceleration = LogUniform(0.5, 12.0);
    }
    if (reacts) limits.reaction_time_s = LogUniform(0.01, 1.0);
    const int count = static_cast<int>(Uniform(1.0, 15.0));
    for (int i = 0; i < count; ++i) {
      const double length = Chance(0.05) ? 0.0 : LogUniform(0.01, 40.0);
      problem.pieces.push_back({length, Chance(0.5) ? kStraight : LogUniform(0.2, 60.0)});
    }
    for (std::size_t b = 0; b <= problem.pieces.size(); ++b) {
      if (Chance(0.06)) problem.stops.push_back({b, Chance(0.5) ? 0.0 : Uniform(0.0, 2.0)});
    }
    // Speeds that are feasible about half the time.
    if (Chance(0.4)) problem.start = Uniform(0.0, 0.5 * limits.max_speed);
    if (Chance(0.4)) problem.end = Uniform(0.0, 0.3 * limits.max_speed);
    return problem;
  }

 private:
  std::mt19937_64 random_;
};

// Checks every limit at `d` of the phase, each to 1e-9 relative.
void ExpectLimits(const Problem& problem, const SpeedPhase& phase, double d) {
  constexpr double kSlack = 1.0 + 1e-9;
  const SpeedLimits& limits = problem.limits;
  const double v = SpeedAt(phase, d);
  const double a = AccelerationAt(phase, d);
  const double lateral = v * v / problem.pieces[phase.piece].radius;
  ASSERT_GE(v, 0.0);
  ASSERT_LE(v, limits.max_speed * kSlack);
  ASSERT_LE(a, limits.max_acceleration * kSlack);
  ASSERT_GE(a, -limits.max_braking * kSlack);
  if (limits.max_lateral_acceleration) {
    ASSERT_LE(lateral, *limits.max_lateral_acceleration * kSlack);
  }
  if (limits.budget_mode != BudgetMode::kIndependent) {
    ASSERT_LE(std::hypot(a, lateral), *limits.max_total_acceleration * kSlack);
  }
}

// The phases cover the path without gaps, speeds join, times add up.
void ExpectContinuous(const SpeedPlan& plan) {
  double s = 0.0;
  double t = 0.0;
  double v = plan.boundary_speed.front();
  for (const SpeedPhase& phase : plan.phases) {
    ASSERT_NEAR(phase.start_distance, s, 1e-11 * plan.length);
    ASSERT_NEAR(phase.start_time_s, t, 1e-11 * plan.duration_s);
    ASSERT_NEAR(phase.start_speed, v, 1e-9 * std::max(v, 1e-3));
    ASSERT_GE(phase.length, 0.0);
    ASSERT_GE(phase.duration_s, 0.0);
    s = phase.start_distance + phase.length;
    t = phase.start_time_s + phase.duration_s;
    v = phase.end_speed;
  }
  ASSERT_NEAR(s, plan.length, 1e-11 * plan.length);
  ASSERT_NEAR(t, plan.duration_s, 1e-11 * plan.duration_s);
  ASSERT_NEAR(v, plan.boundary_speed.back(), 1e-9 * std::max(v, 1e-3));
}

void ExpectStops(const Problem& problem, const SpeedPlan& plan) {
  double dwells = 0.0;
  for (const SpeedStop& stop : problem.stops) {
    std::size_t row = 0;
    while (row < plan.piece_index.size() && plan.piece_index[row] < stop.boundary) ++row;
    ASSERT_EQ(plan.boundary_speed[row], 0.0) << "stop " << stop.boundary;
    dwells += stop.dwell_s;
  }
  double written = 0.0;
  for (const SpeedPhase& phase : plan.phases) {
    if (phase.kind == SpeedPhaseKind::kDwell) written += phase.duration_s;
  }
  ASSERT_NEAR(written, dwells, 1e-12 * (1.0 + dwells));
}

// Before each maximal run of braking phases the speed was constant for the reaction time.
void ExpectHolds(const Problem& problem, const SpeedPlan& plan) {
  double held = 0.0;
  bool braking = false;
  for (const SpeedPhase& phase : plan.phases) {
    switch (phase.kind) {
      case SpeedPhaseKind::kBrake:
        if (!braking) {
          ASSERT_GE(held, problem.limits.reaction_time_s * (1.0 - 1e-7))
              << "at " << phase.start_distance;
        }
        braking = true;
        held = 0.0;
        break;
      case SpeedPhaseKind::kCruise:
        held += phase.duration_s;
        braking = false;
        break;
      default:
        held = 0.0;
        braking = false;
    }
  }
}

TEST(SpeedPropertyTest, KeepsEveryLimitAtRandomDistances) {
  for (const bool reacts : {false, true}) {
    int planned = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
      RandomProblems random(seed);
      const Problem problem = random.Next(reacts);
      SCOPED_TRACE(problem.Print(seed));
      SpeedWorkspace workspace;
      SpeedPlan plan;
      PlanSpeed(problem.Request(), workspace, plan);
      ASSERT_NE(plan.status, SpeedPlanStatus::kInvalidArgument);
      if (plan.status != SpeedPlanStatus::kOk || plan.phases.empty()) continue;
      ++planned;
      ASSERT_NO_FATAL_FAILURE(ExpectContinuous(plan));
      ASSERT_NO_FATAL_FAILURE(ExpectStops(problem, plan));
      if (reacts) {
        ASSERT_NO_FATAL_FAILURE(ExpectHolds(problem, plan));
      }
      const int points = seed <= 20 ? 10000 : 200;
      for (int i = 0; i < points; ++i) {
        const auto k =
            static_cast<std::size_t>(random.Uniform(0.0, static_cast<double>(plan.phases.size())));
        const SpeedPhase& phase = plan.phases[std::min(k, plan.phases.size() - 1)];
        ASSERT_NO_FATAL_FAILURE(ExpectLimits(problem, phase, random.Uniform(0.0, phase.length)));
      }
    }
    EXPECT_GT(planned, 1000) << "too few feasible problems to mean anything";
  }
}

TEST(SpeedPropertyTest, TimeAndDistanceAreInverse) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    RandomProblems random(seed);
    const Problem problem = random.Next(false);
    SCOPED_TRACE(problem.Print(seed));
    SpeedWorkspace workspace;
    SpeedPlan plan;
    PlanSpeed(problem.Request(), workspace, plan);
    for (const SpeedPhase& phase : plan.phases) {
      if (phase.kind == SpeedPhaseKind::kDwell) continue;
      double before = 0.0;
      for (int i = 0; i <= 16; ++i) {
        const double d = phase.length * i / 16;
        const double t = TimeAt(phase, d);
        ASSERT_GE(t, before);
        before = t;
        ASSERT_NEAR(DistanceAtTime(phase, t), d, 1e-10 * phase.length)
            << "law " << static_cast<int>(phase.law);
      }
      ASSERT_NEAR(SpeedAt(phase, 1e-12 * phase.length), phase.start_speed,
                  2e-6 * std::max(phase.start_speed, phase.end_speed));
      ASSERT_NEAR(SpeedAt(phase, (1.0 - 1e-12) * phase.length), phase.end_speed,
                  2e-6 * std::max(phase.start_speed, phase.end_speed));
    }
  }
}

// Minimum time by brute force: every piece cut into `steps` parts, dx/ds integrated by the midpoint
// rule, backward then forward. Knows no closed form. Infinity when infeasible beyond `slack`.
double DenseTime(const Problem& problem, int steps) {
  const SpeedLimits& limits = problem.limits;
  const double total = limits.max_total_acceleration.value_or(1e300);
  const double lateral = std::min(limits.max_lateral_acceleration.value_or(1e300), total);
  const bool coupled = limits.budget_mode == BudgetMode::kCoupled;
  struct Node {
    double radius, ds, cap;
  };
  std::vector<Node> nodes;
  std::vector<double> upper;  // caps at grid points
  std::vector<std::size_t> first_point;
  upper.push_back(limits.max_speed * limits.max_speed);
  for (const SpeedPiece& piece : problem.pieces) {
    first_point.push_back(upper.size() - 1);
    if (piece.length == 0.0) continue;
    const double cap = std::min(limits.max_speed * limits.max_speed, lateral * piece.radius);
    upper.back() = std::min(upper.back(), cap);
    for (int i = 0; i < steps; ++i) {
      nodes.push_back({piece.radius, piece.length / steps, cap});
      upper.push_back(cap);
    }
  }
  first_point.push_back(upper.size() - 1);
  for (const SpeedStop& stop : problem.stops) upper[first_point[stop.boundary]] = 0.0;
  const auto push = [&](double x, double limit, double radius) {
    limit = std::min(limit, total);
    if (!coupled) return limit;
    const double y = x / radius;
    return y < total ? std::min(limit, std::sqrt(total * total - y * y)) : 0.0;
  };
  const auto step = [&](double x, double limit, const Node& node) {
    const double half = x + node.ds * push(x, limit, node.radius);
    return x + 2.0 * node.ds * push(half, limit, node.radius);
  };
  std::vector<double> x(upper.size());
  x.back() = std::min(upper.back(), problem.end * problem.end);
  for (std::size_t i = nodes.size(); i-- > 0;)
    x[i] = std::min(upper[i], step(x[i + 1], limits.max_braking, nodes[i]));
  x[0] = std::min(x[0], problem.start * problem.start);
  double time = 0.0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    x[i + 1] = std::min(x[i + 1], step(x[i], limits.max_acceleration, nodes[i]));
    time += 2.0 * nodes[i].ds / (std::sqrt(x[i]) + std::sqrt(x[i + 1]));
  }
  return time;
}

TEST(SpeedPropertyTest, AgreesWithADenseSolver) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    RandomProblems random(seed);
    const Problem problem = random.Next(false);
    SCOPED_TRACE(problem.Print(seed));
    SpeedWorkspace workspace;
    SpeedPlan plan;
    PlanSpeed(problem.Request(), workspace, plan);
    if (plan.status != SpeedPlanStatus::kOk) continue;
    double dwells = 0.0;
    for (const SpeedStop& stop : problem.stops) dwells += stop.dwell_s;
    const double dense = DenseTime(problem, 4000);
    // The dense solver misses up to a step at every change of phase, and its sums start like
    // sqrt(s) at rest.
    EXPECT_NEAR(plan.duration_s - dwells, dense, 2e-4 * dense + 1e-12);
    ++compared;
  }
  EXPECT_GT(compared, 80);
}

TEST(SpeedPropertyTest, ReversedPiecesWithSwappedLimitsTakeTheSameTime) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    RandomProblems random(seed);
    const Problem problem = random.Next(false);
    Problem mirrored = problem;
    std::reverse(mirrored.pieces.begin(), mirrored.pieces.end());
    std::swap(mirrored.start, mirrored.end);
    std::swap(mirrored.limits.max_acceleration, mirrored.limits.max_braking);
    for (SpeedStop& stop : mirrored.stops) stop.boundary = problem.pieces.size() - stop.boundary;
    std::reverse(mirrored.stops.begin(), mirrored.stops.end());
    SCOPED_TRACE(problem.Print(seed));
    SpeedWorkspace workspace;
    SpeedPlan plan;
    SpeedPlan other;
    PlanSpeed(problem.Request(), workspace, plan);
    PlanSpeed(mirrored.Request(), workspace, other);
    ASSERT_EQ(plan.status == SpeedPlanStatus::kOk, other.status == SpeedPlanStatus::kOk);
    ASSERT_NEAR(plan.duration_s, other.duration_s, 1e-9 * plan.duration_s);
  }
}

TEST(SpeedPropertyTest, TravelTimeIsThePlansDuration) {
  SpeedWorkspace workspace;
  SpeedPlan plan;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    RandomProblems random(seed);
    Problem problem = random.Next(false);
    problem.stops.clear();
    if (problem.limits.budget_mode == BudgetMode::kCoupled) continue;
    SCOPED_TRACE(problem.Print(seed));
    PlanSpeed(problem.Request(), workspace, plan);
    const double time =
        TravelTime(problem.pieces, problem.limits, problem.start, problem.end, workspace);
    if (plan.status == SpeedPlanStatus::kOk) {
      ASSERT_NEAR(time, plan.duration_s, 1e-12 * plan.duration_s);
    } else {
      ASSERT_TRUE(std::isinf(time)) << time;
    }
  }
}

TEST(SpeedPropertyTest, ReportedBoundsAreTight) {
  SpeedWorkspace workspace;
  SpeedPlan plan;
  int checked = 0;
  for (const bool reacts : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
      RandomProblems random(seed);
      Problem problem = random.Next(reacts);
      problem.start = random.Uniform(0.0, 1.5 * problem.limits.max_speed);
      SCOPED_TRACE(problem.Print(seed));
      PlanSpeed(problem.Request(), workspace, plan);
      if (plan.status != SpeedPlanStatus::kInfeasibleStart) continue;
      const double bound = plan.start_speed_max;
      ASSERT_LT(bound, problem.start);
      problem.start = bound;
      PlanSpeed(problem.Request(), workspace, plan);
      ASSERT_NE(plan.status, SpeedPlanStatus::kInfeasibleStart);
      problem.start = bound * (1.0 + 1e-9) + 1e-300;
      if (bound > 0.0) {
        PlanSpeed(problem.Request(), workspace, plan);
        ASSERT_EQ(plan.status, SpeedPlanStatus::kInfeasibleStart);
      }
      ++checked;
    }
  }
  EXPECT_GT(checked, 500);
}

TEST(SpeedPropertyTest, ReactionCostsTimeAndVanishesWithIt) {
  SpeedWorkspace workspace;
  SpeedPlan plain;
  SpeedPlan reacting;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    RandomProblems random(seed);
    Problem problem = random.Next(true);
    problem.start = problem.end = 0.0;
    SCOPED_TRACE(problem.Print(seed));
    PlanSpeed(problem.Request(), workspace, reacting);
    const double reaction_s = problem.limits.reaction_time_s;
    problem.limits.reaction_time_s = 0.0;
    PlanSpeed(problem.Request(), workspace, plain);
    ASSERT_EQ(plain.status, SpeedPlanStatus::kOk);
    ASSERT_EQ(reacting.status, SpeedPlanStatus::kOk);
    ASSERT_GE(reacting.duration_s, plain.duration_s * (1.0 - 1e-12));
    problem.limits.reaction_time_s = 1e-9 * reaction_s;
    PlanSpeed(problem.Request(), workspace, reacting);
    ASSERT_NEAR(reacting.duration_s, plain.duration_s, 1e-6 * plain.duration_s);
  }
}

// Moves x away from or towards 0 by up to four ulps.
double Nudged(double x, RandomProblems& random) {
  const int steps = static_cast<int>(random.Uniform(-4.99, 4.99));
  for (int i = 0; i < std::abs(steps); ++i) x = std::nextafter(x, steps < 0 ? 0.0 : 1e300);
  return x;
}

// Arcs in runs of one radius, as polygons and rounded rectangles have them.
Problem WithRuns(RandomProblems& random, bool reacts) {
  Problem problem = random.Next(reacts);
  problem.stops.clear();
  problem.pieces.clear();
  const int runs = static_cast<int>(random.Uniform(1.0, 4.0));
  for (int run = 0; run < runs; ++run) {
    if (random.Chance(0.6)) problem.pieces.push_back({random.LogUniform(0.1, 40.0), kStraight});
    const double radius = random.Chance(0.3) ? 1.0 : random.LogUniform(0.2, 60.0);
    const int arcs = 1 + static_cast<int>(random.Uniform(0.0, 5.0));
    for (int i = 0; i < arcs; ++i) {
      problem.pieces.push_back({random.LogUniform(0.01, 10.0) * radius, radius});
    }
  }
  if (random.Chance(0.6)) problem.start = problem.end = 0.0;
  return problem;
}

TEST(SpeedPropertyTest, RadiiThatDifferByRoundingAreOneRadius) {
  for (const bool reacts : {false, true}) {
    int planned = 0;
    for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
      RandomProblems random(seed);
      const Problem equal = WithRuns(random, reacts);
      Problem nudged = equal;
      for (SpeedPiece& piece : nudged.pieces) {
        if (piece.radius < kStraight) piece.radius = Nudged(piece.radius, random);
      }
      SpeedWorkspace workspace;
      SpeedPlan expected;
      SpeedPlan plan;
      PlanSpeed(equal.Request(), workspace, expected);
      PlanSpeed(nudged.Request(), workspace, plan);
      SCOPED_TRACE(nudged.Print(seed));
      ASSERT_EQ(plan.status, expected.status);
      if (plan.status != SpeedPlanStatus::kOk) continue;
      ++planned;
      ASSERT_NEAR(plan.duration_s, expected.duration_s, 1e-9 * expected.duration_s);
      ExpectContinuous(plan);
      for (std::size_t row = 0; row < plan.piece_index.size(); ++row) {
        const SpeedPiece& piece = nudged.pieces[plan.piece_index[row]];
        const SpeedLimits& limits = nudged.limits;
        const double lateral = std::min(limits.max_lateral_acceleration.value_or(1e300),
                                        limits.max_total_acceleration.value_or(1e300));
        const double cap = std::min(limits.max_speed, std::sqrt(lateral * piece.radius));
        // Times of pieces are differences of places along the path where phases are counted.
        ASSERT_GE(plan.piece_time_s[row] * cap, piece.length * (1.0 - 1e-12) - 1e-14 * plan.length)
            << "row " << row;
      }
      for (const SpeedPhase& phase : plan.phases) {
        ExpectLimits(nudged, phase, random.Uniform(0.0, 1.0) * phase.length);
        if (HasFatalFailure()) return;
      }
    }
    EXPECT_GT(planned, 2000);
  }
}

}  // namespace
}  // namespace arclane
