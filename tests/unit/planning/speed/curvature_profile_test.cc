// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/curvature_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace arclane {
namespace {

constexpr double kNoCap = std::numeric_limits<double>::infinity();

struct Curve {
  std::vector<double> distance;
  std::vector<double> curvature;
  std::vector<double> speed_cap;
  std::vector<SpeedStop> stops;
  SpeedLimits limits;
  double start = 0.0;
  double end = 0.0;
  bool flying = false;

  CurvatureProfileRequest Request() const {
    CurvatureProfileRequest request;
    request.distance = distance;
    request.curvature = curvature;
    request.speed_cap = speed_cap;
    request.stops = stops;
    request.limits = limits;
    request.flying_lap = flying;
    request.start_speed = start;
    request.end_speed = end;
    return request;
  }

  std::string Print(std::uint64_t seed) const {
    std::ostringstream out;
    out.precision(17);
    out << "seed " << seed << " limits " << limits.max_speed << ' ' << limits.max_acceleration
        << ' ' << limits.max_braking << " lat " << limits.max_lateral_acceleration.value_or(0)
        << " total " << limits.max_total_acceleration.value_or(0) << " mode "
        << static_cast<int>(limits.budget_mode) << " flying " << flying << " nodes";
    for (std::size_t i = 0; i < distance.size(); ++i) {
      out << " (" << distance[i] << ", " << curvature[i];
      if (!speed_cap.empty()) out << ", " << speed_cap[i];
      out << ')';
    }
    return out.str();
  }
};

class RandomCurves {
 public:
  explicit RandomCurves(std::uint64_t seed) : random_(seed) {}

  double Uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  double LogUniform(double low, double high) {
    return std::exp(Uniform(std::log(low), std::log(high)));
  }
  bool Chance(double p) { return Uniform(0.0, 1.0) < p; }

  Curve Next(BudgetMode mode) {
    Curve curve;
    SpeedLimits& limits = curve.limits;
    limits.max_speed = LogUniform(2.0, 30.0);
    limits.max_acceleration = LogUniform(1.0, 10.0);
    limits.max_braking = LogUniform(1.0, 10.0);
    limits.budget_mode = mode;
    if (mode == BudgetMode::kCoupled) limits.max_total_acceleration = LogUniform(1.0, 12.0);
    if (mode != BudgetMode::kCoupled || Chance(0.3))
      limits.max_lateral_acceleration = LogUniform(1.0, 10.0);
    if (mode == BudgetMode::kReserved) limits.max_total_acceleration = 20.0;
    const int count = static_cast<int>(Uniform(2.0, 30.0));
    const double spacing = LogUniform(0.1, 10.0);
    double s = Uniform(-5.0, 5.0);
    const bool smooth = Chance(0.5);
    const double phase = Uniform(0.0, 6.0);
    for (int i = 0; i < count; ++i) {
      curve.distance.push_back(s);
      s += smooth ? spacing : spacing * LogUniform(0.01, 3.0);
      const double sharp = Chance(0.2) ? 0.0 : LogUniform(1e-3, 2.0) * (Chance(0.5) ? 1.0 : -1.0);
      curve.curvature.push_back(smooth ? 0.4 * std::sin(phase + 0.4 * i) : sharp);
    }
    if (Chance(0.3)) {
      for (int i = 0; i < count; ++i) {
        curve.speed_cap.push_back(Chance(0.15) ? kNoCap : LogUniform(0.3, 1.3 * limits.max_speed));
      }
    }
    for (int i = 0; i < count; ++i) {
      if (Chance(0.05)) curve.stops.push_back({static_cast<std::size_t>(i), Uniform(0.0, 1.0)});
    }
    curve.flying = Chance(0.3);
    if (curve.flying) {
      curve.curvature.back() = (Chance(0.5) ? 1.0 : -1.0) * curve.curvature.front();
      if (!curve.speed_cap.empty()) curve.speed_cap.back() = curve.speed_cap.front();
    }
    return curve;
  }

 private:
  std::mt19937_64 random_;
};

double Interpolate(const std::vector<double>& values, const Curve& curve, std::size_t i, double s) {
  const double share = (s - curve.distance[i]) / (curve.distance[i + 1] - curve.distance[i]);
  return values[i] + (values[i + 1] - values[i]) * std::clamp(share, 0.0, 1.0);
}

// The prescribed squared speed at this share of interval i; infinity where there is none, as all
// along from a node that has one to one that has none.
double SquaredCapAt(const Curve& curve, std::size_t i, double share) {
  const double from = curve.speed_cap[i] * curve.speed_cap[i];
  const double to = curve.speed_cap[i + 1] * curve.speed_cap[i + 1];
  if (share <= 0.0) return from;
  if (share >= 1.0) return to;
  return from < kNoCap && to < kNoCap ? from + (to - from) * share : kNoCap;
}

// Every limit at 12 points of every phase; `slack` relative.
void ExpectFeasible(const Curve& curve, const CurvatureSpeedPlan& plan, double slack) {
  const SpeedLimits& limits = curve.limits;
  double s = curve.distance.front();
  double v_before = plan.node_speed.front();
  for (std::size_t i = 0; i < curve.speed_cap.size(); ++i) {
    ASSERT_LE(plan.node_speed[i], curve.speed_cap[i] * (1.0 + slack));
  }
  for (const SpeedPhase& phase : plan.phases) {
    ASSERT_NEAR(phase.start_distance, s, 1e-9 * plan.length);
    ASSERT_NEAR(phase.start_speed, v_before, 1e-6 * limits.max_speed);
    for (int i = 0; i <= 11; ++i) {
      const double d = phase.length * i / 11;
      const double kappa =
          std::abs(Interpolate(curve.curvature, curve, phase.piece, phase.start_distance + d));
      const double v = SpeedAt(phase, d);
      const double a = AccelerationAt(phase, d);
      ASSERT_LE(v, limits.max_speed * (1.0 + slack));
      ASSERT_LE(a, limits.max_acceleration * (1.0 + slack));
      ASSERT_GE(a, -limits.max_braking * (1.0 + slack));
      if (limits.max_lateral_acceleration) {
        ASSERT_LE(v * v * kappa, *limits.max_lateral_acceleration * (1.0 + slack));
      }
      if (limits.budget_mode == BudgetMode::kCoupled) {
        ASSERT_LE(std::hypot(a, v * v * kappa), *limits.max_total_acceleration * (1.0 + slack))
            << "interval " << phase.piece << " at " << phase.start_distance + d << " law "
            << static_cast<int>(phase.law) << " kind " << static_cast<int>(phase.kind) << " a "
            << a;
      }
      if (!curve.speed_cap.empty()) {
        const double from = curve.distance[phase.piece];
        const double cap = SquaredCapAt(
            curve, phase.piece,
            (phase.start_distance + d - from) / (curve.distance[phase.piece + 1] - from));
        ASSERT_LE(v * v, cap * (1.0 + slack) + 1e-9 * limits.max_speed);
      }
    }
    s = phase.start_distance + phase.length;
    v_before = phase.end_speed;
  }
  ASSERT_NEAR(s, curve.distance.back(), 1e-9 * plan.length);
}

// Minimum time by dense steps of the midpoint rule on a grid of `steps` points an interval.
double DenseTime(const Curve& curve, int steps) {
  const SpeedLimits& limits = curve.limits;
  const double total = limits.max_total_acceleration.value_or(1e300);
  const double lateral = std::min(limits.max_lateral_acceleration.value_or(1e300), total);
  const bool coupled = limits.budget_mode == BudgetMode::kCoupled;
  const std::size_t n = curve.distance.size() - 1;
  const std::size_t m = n * static_cast<std::size_t>(steps);
  std::vector<double> kappa(m + 1), cap(m + 1), ds(m);
  for (std::size_t i = 0; i <= m; ++i) {
    const std::size_t j = std::min(i / static_cast<std::size_t>(steps), n - 1);
    const double part = static_cast<double>(i - j * static_cast<std::size_t>(steps)) / steps;
    kappa[i] = std::abs(curve.curvature[j] + (curve.curvature[j + 1] - curve.curvature[j]) * part);
    cap[i] = std::min(limits.max_speed * limits.max_speed, lateral / std::max(kappa[i], 1e-300));
    if (!curve.speed_cap.empty()) {
      cap[i] = std::min(cap[i], SquaredCapAt(curve, j, part));
    }
    if (i < m) ds[i] = (curve.distance[j + 1] - curve.distance[j]) / steps;
  }
  double dwells = 0.0;
  for (const SpeedStop& stop : curve.stops) {
    cap[stop.boundary * static_cast<std::size_t>(steps)] = 0.0;
    dwells += stop.dwell_s;
  }
  const auto push = [&](double x, double limit, double k) {
    limit = std::min(limit, total);
    if (!coupled) return limit;
    const double y = x * k;
    return y < total ? std::min(limit, std::sqrt(total * total - y * y)) : 0.0;
  };
  const auto step = [&](double x, double limit, double k0, double k1, double d) {
    const double half = x + d * push(x, limit, k0);
    return x + 2.0 * d * push(half, limit, 0.5 * (k0 + k1));
  };
  std::vector<double> x(m + 1);
  if (curve.flying) {
    // Twice around from the loosest guess settles on the periodic optimum.
    if (cap[0] == 0.0 || cap[m] == 0.0) cap[0] = cap[m] = 0.0;
    x = cap;
    for (int round = 0; round < 3; ++round) {
      x[m] = x[0] = std::min(x[m], x[0]);
      for (std::size_t i = m; i-- > 0;) {
        x[i] = std::min(x[i], step(x[i + 1], limits.max_braking, kappa[i + 1], kappa[i], ds[i]));
      }
      x[m] = x[0] = std::min(x[m], x[0]);
      for (std::size_t i = 0; i < m; ++i) {
        x[i + 1] =
            std::min(x[i + 1], step(x[i], limits.max_acceleration, kappa[i], kappa[i + 1], ds[i]));
      }
    }
  } else {
    x[m] = 0.0;
    for (std::size_t i = m; i-- > 0;) {
      x[i] = std::min(cap[i], step(x[i + 1], limits.max_braking, kappa[i + 1], kappa[i], ds[i]));
    }
    x[0] = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
      x[i + 1] =
          std::min(x[i + 1], step(x[i], limits.max_acceleration, kappa[i], kappa[i + 1], ds[i]));
    }
  }
  double time = dwells;
  for (std::size_t i = 0; i < m; ++i) time += 2.0 * ds[i] / (std::sqrt(x[i]) + std::sqrt(x[i + 1]));
  return time;
}

void CheckRandomCurves(BudgetMode mode, double slack, double low, double high, int rounds) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(rounds); ++seed) {
    RandomCurves random(seed);
    const Curve curve = random.Next(mode);
    SCOPED_TRACE(curve.Print(seed));
    CurvatureWorkspace workspace;
    CurvatureSpeedPlan plan;
    PlanSpeedAlongCurve(curve.Request(), workspace, plan);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    ASSERT_NO_FATAL_FAILURE(ExpectFeasible(curve, plan, slack));
    if (seed > 150) continue;
    const double dense = DenseTime(curve, 4000);
    ASSERT_GE(plan.duration_s, dense * (1.0 - low));
    ASSERT_LE(plan.duration_s, dense * (1.0 + high));
  }
}

TEST(CurvatureProfileTest, IndependentLimitsHoldBetweenNodesAndTimeIsOptimal) {
  CheckRandomCurves(BudgetMode::kIndependent, 1e-9, 1e-3, 1e-3, 2000);
}

TEST(CurvatureProfileTest, ReservedLimitsHoldBetweenNodesAndTimeIsOptimal) {
  CheckRandomCurves(BudgetMode::kReserved, 1e-9, 1e-3, 1e-3, 300);
}

TEST(CurvatureProfileTest, CoupledBudgetHoldsBetweenNodesAndTimeIsNearOptimal) {
  CheckRandomCurves(BudgetMode::kCoupled, kBudgetExcess, 1e-3, 3e-3, 1000);
}

Curve CoupledCurve(std::vector<double> distance, std::vector<double> curvature,
                   std::vector<double> speed_cap, double max_speed, double max_acceleration,
                   double max_braking, double max_total) {
  Curve curve;
  curve.distance = std::move(distance);
  curve.curvature = std::move(curvature);
  curve.speed_cap = std::move(speed_cap);
  curve.limits.max_speed = max_speed;
  curve.limits.max_acceleration = max_acceleration;
  curve.limits.max_braking = max_braking;
  curve.limits.max_total_acceleration = max_total;
  curve.limits.budget_mode = BudgetMode::kCoupled;
  return curve;
}

Curve FlyingLap(Curve curve) {
  curve.flying = true;
  return curve;
}

Curve WithLateralLimit(Curve curve, double limit) {
  curve.limits.max_lateral_acceleration = limit;
  return curve;
}

// Acceleration that begins below a rising cap's and grows, and braking steps that bulge over it.
TEST(CurvatureProfileTest, CoupledPlansKeepSpeedCaps) {
  const Curve curves[] = {
      CoupledCurve({0.0, 0.34858154930837415, 49.387282071473294, 59.67795691661824},
                   {0.0, 0.9304581080722707, -0.3088119242403642, 0.06700560866311411},
                   {4.18624782256128, 6.472630565747644, 7.084772929522934, 8.16044204956621},
                   10.849315149352794, 7.762184673969442, 5.064815186911126, 15.520651018682223),
      FlyingLap(
          CoupledCurve({0.0, 147.78, 150.428, 276.922},
                       {0.6110229341761617, 0.5062975817772573, 0.4119187, 0.6110229341761617},
                       {12.0, 4.332944178248685, 5.9411232020788844, 12.0}, 6.0, 6.908232105395505,
                       0.6280163221549406, 9.956937301468052)),
      FlyingLap(CoupledCurve(
          {0.0, 83.115998708919804, 84.538961561053867, 131.792585741746},
          {0.92306317060509446, 0.3180113017067363, 0.84862445550474175, 0.92306317060509446},
          {7.2368716567291003, 2.8412575712659152, 11.509254585823381, 7.2368716567291003},
          17.754590626032581, 6.3019002375247188, 0.52515835312705994, 5.5078718317707507))};
  for (const Curve& curve : curves) {
    SCOPED_TRACE(curve.Print(0));
    CurvatureWorkspace workspace;
    CurvatureSpeedPlan plan;
    PlanSpeedAlongCurve(curve.Request(), workspace, plan);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    ASSERT_NO_FATAL_FAILURE(ExpectFeasible(curve, plan, kBudgetExcess));
  }
}

// At most 0.1 % above the optimum, as the default resolution promises.
void ExpectNearOptimal(const Curve& curve) {
  SCOPED_TRACE(curve.Print(0));
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  PlanSpeedAlongCurve(curve.Request(), workspace, plan);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  ASSERT_NO_FATAL_FAILURE(ExpectFeasible(curve, plan, kBudgetExcess));
  EXPECT_LE(plan.duration_s, DenseTime(curve, 40000) * 1.001);
}

// The two caps meet at a corner, from either side or twice within an interval.
TEST(CurvatureProfileTest, CoupledPlansRunUpToTheCornerOfSpeedCapAndLateralLimit) {
  const Curve curves[] = {
      WithLateralLimit(CoupledCurve({0.0, 2919.0}, {-0.5826, -0.01522}, {0.1802, 30.0}, 10, 0.2443,
                                    3.542, 6.366),
                       5.729),
      WithLateralLimit(
          CoupledCurve({0.0, 2919.0}, {0.01522, 0.5826}, {30.0, 0.1802}, 10, 3.542, 0.2443, 6.366),
          5.729),
      WithLateralLimit(
          CoupledCurve({0.0, 2120.0}, {-0.3109, 0.1383}, {0.4161, 12.0}, 6, 0.9324, 0.8614, 1.269),
          1.142),
      WithLateralLimit(
          CoupledCurve({0.0, 65.03, 92.48, 174.84, 231.3}, {0.0, 0.0101, 0.0, 0.3268, 0.0},
                       {1.284, 1.319, 17.2, 0.5289, 17.2}, 5.742, 1.616, 0.2105, 1.616),
          0.8079),
      FlyingLap(WithLateralLimit(
          CoupledCurve({0.0, 27.56, 30.49, 54.36}, {0.2694, 0.7314, 0.7314, 0.2694},
                       {20.0, 7.808, 1.477, 20.0}, 10, 4.517, 1.099, 4.517),
          2.258))};
  for (const Curve& curve : curves) ExpectNearOptimal(curve);
}

// Braking far weaker than the budget: long steps at its limit.
TEST(CurvatureProfileTest, CoupledPlansUseAllOfAWeakBrake) {
  ExpectNearOptimal(FlyingLap(CoupledCurve({0.0, 1.374, 2.622, 3.22, 3.62, 4.232},
                                           {0.0976, 0.0, 0.0, 5.235, 0.0, 0.0976}, {}, 44.88, 4.117,
                                           0.3317, 4.117)));
  ExpectNearOptimal(FlyingLap(CoupledCurve(
      {0.0, 20.0, 24.66, 33.7}, {-0.5788, 0.0, 0.6905, -0.5788}, {}, 10, 1.581, 0.391, 4.312)));
}

// Curvature over many orders of magnitude: a lateral limit adds the chords that acceleration and
// braking may meet, not steps along its cap, rising or falling.
TEST(CurvatureProfileTest, CoupledPlansFollowTheLateralCapInFewPhases) {
  for (const double share : {0.5, 0.9, 0.99, 0.999}) {
    for (const bool rises : {false, true}) {
      const Curve curve = WithLateralLimit(
          CoupledCurve({0.0, 10.0}, {rises ? 500.0 : 0.0, rises ? 0.0 : 500.0}, {}, 50, 4, 4, 5),
          share * 5);
      SCOPED_TRACE(curve.Print(0));
      CurvatureWorkspace workspace;
      CurvatureSpeedPlan plan;
      PlanSpeedAlongCurve(curve.Request(), workspace, plan);
      ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
      ASSERT_NO_FATAL_FAILURE(ExpectFeasible(curve, plan, kBudgetExcess));
      EXPECT_LT(plan.phases.size(), 300u);
      const auto follows = [](const SpeedPhase& phase) {
        return phase.law == SpeedLaw::kLateralCap;
      };
      EXPECT_EQ(std::count_if(plan.phases.begin(), plan.phases.end(), follows), 1);
    }
  }
}

// Braking begins where its steps are curved: no short chord between it and what is before.
TEST(CurvatureProfileTest, CoupledPlansKeepTheBudgetWhereBrakingBegins) {
  const Curve curve = CoupledCurve({0.0, 50.0}, {0.0, 1000.0}, {}, 50, 4, 4, 5);
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  PlanSpeedAlongCurve(curve.Request(), workspace, plan);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  ASSERT_NO_FATAL_FAILURE(ExpectFeasible(curve, plan, kBudgetExcess));
}

TEST(CurvatureProfileTest, FinerResolutionComesCloserToTheOptimum) {
  Curve curve;
  for (int i = 0; i <= 40; ++i) {
    curve.distance.push_back(0.5 * i);
    curve.curvature.push_back(0.4 * std::sin(0.3 * i));
  }
  curve.limits.max_speed = 7.0;
  curve.limits.max_acceleration = 3.0;
  curve.limits.max_braking = 4.0;
  curve.limits.max_total_acceleration = 4.0;
  curve.limits.budget_mode = BudgetMode::kCoupled;
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  double times[3];
  const double resolutions[3] = {1e-2, 1e-3, 1e-5};
  for (int i = 0; i < 3; ++i) {
    CurvatureProfileRequest request = curve.Request();
    request.budget_resolution = resolutions[i];
    PlanSpeedAlongCurve(request, workspace, plan);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    times[i] = plan.duration_s;
  }
  EXPECT_GT(times[0], times[1]);
  EXPECT_GT(times[1], times[2]);
  EXPECT_LT(times[1], times[2] * (1.0 + 5e-4));
}

TEST(CurvatureProfileTest, ConstantCurvatureEqualsThePieces) {
  for (const BudgetMode mode : {BudgetMode::kIndependent, BudgetMode::kCoupled}) {
    Curve curve;
    curve.distance = {0.0, 4.0, 9.0, 12.0};
    curve.curvature = {0.25, 0.25, 0.25, 0.25};
    curve.limits.max_speed = 10.0;
    curve.limits.max_acceleration = 3.0;
    curve.limits.max_braking = 4.0;
    curve.limits.budget_mode = mode;
    (mode == BudgetMode::kCoupled ? curve.limits.max_total_acceleration
                                  : curve.limits.max_lateral_acceleration) = 4.0;
    CurvatureWorkspace workspace;
    CurvatureSpeedPlan along;
    CurvatureProfileRequest request = curve.Request();
    request.budget_resolution = 1e-5;
    PlanSpeedAlongCurve(request, workspace, along);
    const std::vector<SpeedPiece> pieces = {{4.0, 4.0}, {5.0, 4.0}, {3.0, 4.0}};
    SpeedWorkspace speed_workspace;
    SpeedPlan plan;
    PlanSpeed({pieces, curve.limits, 0.0, 0.0, {}}, speed_workspace, plan);
    ASSERT_EQ(along.status, SpeedPlanStatus::kOk);
    EXPECT_NEAR(along.duration_s, plan.duration_s,
                (mode == BudgetMode::kCoupled ? 1e-5 : 1e-12) * plan.duration_s);
  }
}

TEST(CurvatureProfileTest, PrescribedSpeedIsFollowedAndClippingReported) {
  Curve curve;
  curve.limits.max_speed = 5.0;
  curve.limits.max_acceleration = 2.0;
  curve.limits.max_braking = 2.0;
  // v^2 rises by 2 a ds with a = 1 up to 3 m/s, holds, then asks for 6 m/s (above max_speed) and
  // falls within reach.
  curve.distance = {0.0, 4.5, 10.0, 18.0, 30.0, 60.0, 72.25};
  curve.curvature.assign(7, 0.0);
  curve.speed_cap = {0.0, 3.0, 3.0, 3.0, 6.0, 6.0, 1.0};
  curve.end = 1.0;
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  PlanSpeedAlongCurve(curve.Request(), workspace, plan);
  ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
  EXPECT_NEAR(plan.node_speed[1], 3.0, 1e-12);
  EXPECT_NEAR(plan.node_speed[3], 3.0, 1e-12);
  ASSERT_EQ(plan.clipped.size(), 1u);
  // 9 + (36 - 9)/12 d = 25 at d = 7.11...; 36 - 35/12.25 d = 25 at d = 3.85.
  EXPECT_NEAR(plan.clipped[0].start_distance, 18.0 + 16.0 * 12.0 / 27.0, 1e-9);
  EXPECT_NEAR(plan.clipped[0].end_distance, 60.0 + 11.0 * 12.25 / 35.0, 1e-9);
}

// A lap may be told from any of its nodes on. Where its ends differ in sign, what lies between the
// seam and the new start changes its sign for the seam's jump.
TEST(CurvatureProfileTest, LapsWhoseEndsDifferInSignTakeTheSameTimeFromAnyNodeOn) {
  for (const BudgetMode mode : {BudgetMode::kIndependent, BudgetMode::kCoupled}) {
    Curve lap;
    lap.flying = true;
    lap.limits.max_speed = 10.0;
    lap.limits.max_acceleration = lap.limits.max_braking = 1.0;
    lap.limits.budget_mode = mode;
    (mode == BudgetMode::kCoupled ? lap.limits.max_total_acceleration
                                  : lap.limits.max_lateral_acceleration) = 1.0;
    lap.distance = {0.0, 5.0, 10.0, 15.0, 20.0};
    lap.curvature = {0.5, -0.1, 1.0, 0.2, -0.5};
    Curve from_slowest = lap;
    from_slowest.curvature = {1.0, 0.2, -0.5, 0.1, -1.0};
    CurvatureWorkspace workspace;
    CurvatureSpeedPlan plan, moved;
    PlanSpeedAlongCurve(lap.Request(), workspace, plan);
    PlanSpeedAlongCurve(from_slowest.Request(), workspace, moved);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    ASSERT_EQ(moved.status, SpeedPlanStatus::kOk);
    EXPECT_NEAR(plan.duration_s, moved.duration_s, 1e-12 * moved.duration_s);
    ExpectFeasible(lap, plan, kBudgetExcess);
  }
}

TEST(CurvatureProfileTest, ACapBetweenNodesWithoutOneHoldsAtItsNode) {
  for (const BudgetMode mode : {BudgetMode::kIndependent, BudgetMode::kCoupled}) {
    for (const double cap : {1.0, 0.0}) {
      Curve curve;
      curve.limits.max_speed = 10.0;
      curve.limits.max_acceleration = curve.limits.max_braking = 2.0;
      curve.limits.budget_mode = mode;
      if (mode == BudgetMode::kCoupled) curve.limits.max_total_acceleration = 5.0;
      curve.distance = {0.0, 20.0, 40.0};
      curve.curvature.assign(3, 0.0);
      curve.speed_cap = {kNoCap, cap, kNoCap};
      CurvatureWorkspace workspace;
      CurvatureSpeedPlan plan;
      PlanSpeedAlongCurve(curve.Request(), workspace, plan);
      ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
      EXPECT_NEAR(plan.node_speed[1], cap, 1e-12);
      // Up to sqrt(40 + cap^2 / 2), down to the cap, and the same again.
      const double peak = std::sqrt(40.0 + 0.5 * cap * cap);
      EXPECT_NEAR(plan.duration_s, 2.0 * peak - cap, 1e-9);
    }
    Curve start;
    start.limits.max_speed = 10.0;
    start.limits.max_acceleration = start.limits.max_braking = 2.0;
    start.limits.budget_mode = mode;
    start.distance = {0.0, 20.0, 40.0};
    start.curvature.assign(3, 0.0);
    start.speed_cap = {2.0, kNoCap, kNoCap};
    start.start = 5.0;
    if (mode == BudgetMode::kCoupled) start.limits.max_total_acceleration = 5.0;
    CurvatureWorkspace workspace;
    CurvatureSpeedPlan plan;
    PlanSpeedAlongCurve(start.Request(), workspace, plan);
    EXPECT_EQ(plan.status, SpeedPlanStatus::kInfeasibleStart);
    EXPECT_NEAR(plan.start_speed_max, 2.0, 1e-12);
  }
}

TEST(CurvatureProfileTest, InvalidProfilesNameTheirFields) {
  CurvatureProfileRequest request;
  const std::vector<double> distance = {0.0, 1.0, 1.0, std::nan("")};
  const std::vector<double> curvature = {0.0, INFINITY, 0.0};
  const std::vector<double> cap = {-1.0};
  request.distance = distance;
  request.curvature = curvature;
  request.speed_cap = cap;
  request.limits.max_speed = 1.0;
  request.limits.max_acceleration = 1.0;
  request.limits.max_braking = 1.0;
  request.limits.reaction_time_s = 0.1;
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  PlanSpeedAlongCurve(request, workspace, plan);
  EXPECT_EQ(plan.status, SpeedPlanStatus::kInvalidArgument);
  EXPECT_EQ(plan.violations.size(), 7u);
  request.distance = {};
  PlanSpeedAlongCurve(request, workspace, plan);
  EXPECT_EQ(plan.status, SpeedPlanStatus::kInvalidArgument);
}

}  // namespace
}  // namespace arclane
