// SPDX-License-Identifier: Apache-2.0
// Plans along curves in columns against the plans of the general method, which unlimited speed caps
// ask for.
#include "server/planning/speed/decoupled_curve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/speed/curvature_profile.h"

namespace arclane {
namespace {

// Both methods find the same closed forms by other roundings.
constexpr double kSameTime = 1e-10;
constexpr double kSameSpeed = 1e-9;
// Of acceleration and of squared speed over the lateral limit; where a cap is followed its slope is
// a difference of neighbouring curvatures.
constexpr double kExcess = 1e-7;

struct BudgetCurve {
  std::uint64_t seed = 0;
  std::vector<double> distance;
  std::vector<double> curvature;
  CurvatureProfileRequest request;

  std::string Describe() const {
    std::ostringstream out;
    out.precision(17);
    const SpeedLimits& limits = request.limits;
    out << "seed " << seed << " flying " << request.flying_lap << " v " << request.start_speed
        << " to " << request.end_speed << " limits " << limits.max_speed << ' '
        << limits.max_acceleration << ' ' << limits.max_braking << ' '
        << limits.max_lateral_acceleration.value_or(0.0);
    for (std::size_t i = 0; i < std::min<std::size_t>(distance.size(), 200); ++i) {
      out << "\n  " << distance[i] << ' ' << curvature[i];
    }
    return out.str();
  }
};

// Winding, with runs of equal curvature, straights, changes of sign and jumps.
BudgetCurve RandomCurve(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  const auto any_scale = [&](double low, double high) {
    return std::exp(uniform(std::log(low), std::log(high)));
  };
  BudgetCurve curve;
  curve.seed = seed;
  const auto count = static_cast<std::size_t>(any_scale(2.0, 300.0));
  const double scale = seed % 4 == 0 ? any_scale(1e-4, 1e4) : 1.0;
  const double smoothness = uniform(0.0, 1.0);
  double s = uniform(-100.0, 100.0) * scale;
  double k = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    curve.distance.push_back(s);
    curve.curvature.push_back(k);
    s += any_scale(0.05, 5.0) * scale;
    const double kind = uniform(0.0, 1.0);
    if (kind < 0.1) {
      k = kind < 0.05 ? 0.0 : -0.0;
    } else if (kind < 0.85) {
      k = smoothness * k + (1.0 - smoothness) * uniform(-1.0, 1.0) / scale;
    }
  }
  CurvatureProfileRequest& request = curve.request;
  SpeedLimits& limits = request.limits;
  limits.max_speed = any_scale(0.5, 50.0) * std::sqrt(scale);
  limits.max_acceleration = any_scale(0.2, 20.0);
  limits.max_braking = any_scale(0.2, 20.0);
  if (seed % 8 != 1) limits.max_lateral_acceleration = any_scale(0.2, 20.0);
  request.flying_lap = seed % 3 == 0;
  if (request.flying_lap) {
    curve.curvature.back() = curve.curvature.front();
  } else if (seed % 5 == 0) {
    request.start_speed = uniform(0.0, 0.2) * limits.max_speed;
    request.end_speed = uniform(0.0, 0.2) * limits.max_speed;
  }
  return curve;
}

void ExpectFeasiblePhases(const BudgetCurve& curve, const CurvatureSpeedPlan& plan) {
  const SpeedLimits& limits = curve.request.limits;
  double distance = curve.distance.front();
  double time = 0.0;
  double v = curve.request.flying_lap ? plan.node_speed[0] : curve.request.start_speed;
  for (const SpeedPhase& phase : plan.phases) {
    ASSERT_NEAR(phase.start_distance, distance, 1e-12 * std::abs(distance) + 1e-9 * plan.length);
    ASSERT_NEAR(phase.start_time_s, time, 1e-9 * plan.duration_s);
    ASSERT_NEAR(phase.start_speed, v, kSameSpeed * limits.max_speed);
    ASSERT_NEAR(SpeedAt(phase, phase.length), phase.end_speed, 1e-6 * limits.max_speed);
    const std::size_t i = phase.piece;
    for (const double part : {0.0, 0.3, 0.5, 0.8, 1.0}) {
      const double d = part * phase.length;
      const double a = AccelerationAt(phase, d);
      const double speed = SpeedAt(phase, d);
      ASSERT_LE(a, limits.max_acceleration * (1.0 + kExcess));
      ASSERT_GE(a, -limits.max_braking * (1.0 + kExcess));
      ASSERT_LE(speed, limits.max_speed * (1.0 + kExcess));
      const double share = (phase.start_distance + d - curve.distance[i]) /
                           (curve.distance[i + 1] - curve.distance[i]);
      const double k =
          std::abs(curve.curvature[i] + (curve.curvature[i + 1] - curve.curvature[i]) * share);
      if (limits.max_lateral_acceleration) {
        ASSERT_LE(k * speed * speed, *limits.max_lateral_acceleration * (1.0 + kExcess));
      }
    }
    distance = phase.start_distance + phase.length;
    time = phase.start_time_s + phase.duration_s;
    v = phase.end_speed;
  }
  ASSERT_NEAR(time, plan.duration_s, 1e-9 * plan.duration_s);
  ASSERT_NEAR(distance, curve.distance.back(), 1e-9 * plan.length);
}

TEST(DecoupledCurveTest, EqualsTheGeneralMethod) {
  // One workspace and plan for all: what earlier plans left behind must not matter.
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  CurvatureWorkspace general_workspace;
  CurvatureSpeedPlan general;
  int plans = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    BudgetCurve curve = RandomCurve(seed);
    CurvatureProfileRequest request = curve.request;
    request.distance = curve.distance;
    request.curvature = curve.curvature;
    PlanSpeedAlongCurve(request, workspace, plan);
    const std::vector<double> unlimited(curve.distance.size(),
                                        std::numeric_limits<double>::infinity());
    request.speed_cap = unlimited;
    PlanSpeedAlongCurve(request, general_workspace, general);
    ASSERT_EQ(plan.status, general.status) << curve.Describe();
    if (plan.status != SpeedPlanStatus::kOk) {
      EXPECT_TRUE(plan.phases.empty() && plan.node_speed.empty());
      EXPECT_NEAR(plan.start_speed_max, general.start_speed_max,
                  kSameSpeed * general.start_speed_max);
      EXPECT_NEAR(plan.end_speed_max, general.end_speed_max, kSameSpeed * general.end_speed_max);
      continue;
    }
    ++plans;
    ASSERT_NEAR(plan.duration_s, general.duration_s, kSameTime * general.duration_s)
        << curve.Describe();
    ASSERT_EQ(plan.node_speed.size(), general.node_speed.size());
    for (std::size_t i = 0; i < plan.node_speed.size(); ++i) {
      ASSERT_NEAR(plan.node_speed[i], general.node_speed[i],
                  kSameSpeed * curve.request.limits.max_speed)
          << "node " << i << ' ' << curve.Describe();
    }
    ExpectFeasiblePhases(curve, plan);
    if (HasFatalFailure()) FAIL() << curve.Describe();
  }
  EXPECT_GT(plans, 4000);
}

TEST(DecoupledCurveTest, EqualRequestsGiveEqualBitsWhateverWasPlannedBefore) {
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    BudgetCurve curve = RandomCurve(seed);
    CurvatureProfileRequest request = curve.request;
    request.distance = curve.distance;
    request.curvature = curve.curvature;
    PlanSpeedAlongCurve(request, workspace, plan);
    CurvatureWorkspace fresh_workspace;
    CurvatureSpeedPlan fresh;
    PlanSpeedAlongCurve(request, fresh_workspace, fresh);
    ASSERT_EQ(plan.duration_s, fresh.duration_s) << curve.Describe();
    ASSERT_EQ(plan.node_speed, fresh.node_speed) << curve.Describe();
    ASSERT_EQ(plan.phases.size(), fresh.phases.size()) << curve.Describe();
  }
}

}  // namespace
}  // namespace arclane
