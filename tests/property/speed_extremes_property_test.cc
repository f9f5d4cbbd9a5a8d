// SPDX-License-Identifier: Apache-2.0
// Speed plans at the ends of double's range: limits, lengths and radii spread over 600 orders of
// magnitude against a plain solution in long double, and ordinary problems scaled by powers of two,
// whose times must scale exactly.
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
#include "server/planning/speed/speed_plan.h"

namespace arclane {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  double Uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double LogUniform(double low, double high) {
    return std::exp(Uniform(std::log(low), std::log(high)));
  }
  int Whole(int low, int high) { return std::uniform_int_distribution<int>(low, high)(engine_); }
  bool Chance(double p) { return Uniform(0.0, 1.0) < p; }

 private:
  std::mt19937_64 engine_;
};

std::string Print(std::uint64_t seed, const std::vector<SpeedPiece>& pieces,
                  const SpeedLimits& limits) {
  std::ostringstream out;
  out.precision(17);
  out << "seed " << seed << " speed " << limits.max_speed << " acceleration "
      << limits.max_acceleration << " braking " << limits.max_braking << " lateral "
      << limits.max_lateral_acceleration.value_or(0.0) << " total "
      << limits.max_total_acceleration.value_or(0.0) << " reaction " << limits.reaction_time_s
      << " pieces";
  for (const SpeedPiece& piece : pieces) out << " {" << piece.length << ", " << piece.radius << "}";
  return out.str();
}

// From rest to rest under independent limits, each step as the textbook has it.
long double PlainTime(const std::vector<SpeedPiece>& pieces, const SpeedLimits& limits) {
  using Real = long double;
  const Real total = limits.max_total_acceleration.value_or(INFINITY);
  const Real a = std::min<Real>(limits.max_acceleration, total);
  const Real b = std::min<Real>(limits.max_braking, total);
  const Real lateral = std::min<Real>(limits.max_lateral_acceleration.value_or(INFINITY), total);
  const std::size_t n = pieces.size();
  std::vector<Real> cap(n), x(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    cap[i] = std::min(Real{limits.max_speed} * limits.max_speed, lateral * pieces[i].radius);
  }
  for (std::size_t i = n; i-- > 0;) {
    x[i] = std::min(x[i + 1] + 2 * b * pieces[i].length, cap[i]);
    if (i > 0) x[i] = std::min(x[i], cap[i - 1]);
  }
  x[0] = 0;
  Real time = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Real length = pieces[i].length;
    x[i + 1] = std::min(x[i + 1], x[i] + 2 * a * length);
    const Real meet = (b * x[i] + a * x[i + 1] + 2 * a * b * length) / (a + b);
    const Real peak = std::min(cap[i], std::max({meet, x[i], x[i + 1]}));
    const Real rise = std::min(length, (peak - x[i]) / (2 * a));
    const Real fall = std::min(length - rise, (peak - x[i + 1]) / (2 * b));
    const Real v = std::sqrt(peak);
    time += 2 * rise / (std::sqrt(x[i]) + v) + 2 * fall / (v + std::sqrt(x[i + 1])) +
            std::max(Real{0}, length - rise - fall) / v;
  }
  return time;
}

TEST(SpeedExtremesTest, AnyPositiveNumbersGiveTheRightTime) {
  SpeedWorkspace workspace;
  SpeedPlan plan;
  int planned = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Random random(seed);
    const double low = seed % 2 == 0 ? 1e-300 : 1e-70;
    const double high = 1.0 / low;
    SpeedLimits limits;
    limits.max_speed = random.LogUniform(low, high);
    limits.max_acceleration = random.LogUniform(low, high);
    limits.max_braking = random.LogUniform(low, high);
    if (random.Chance(0.6)) limits.max_lateral_acceleration = random.LogUniform(low, high);
    if (random.Chance(0.3)) limits.max_total_acceleration = random.LogUniform(low, high);
    std::vector<SpeedPiece> pieces;
    for (int i = random.Whole(1, 9); i > 0; --i) {
      pieces.push_back({random.LogUniform(low, high),
                        random.Chance(0.5) ? kStraight : random.LogUniform(low, high)});
    }
    SCOPED_TRACE(Print(seed, pieces, limits));
    PlanSpeed({pieces, limits, 0.0, 0.0, {}}, workspace, plan);
    const long double time = PlainTime(pieces, limits);
    if (time > std::numeric_limits<double>::max()) {
      ASSERT_EQ(plan.status, SpeedPlanStatus::kInvalidArgument);
      ASSERT_EQ(plan.violations.size(), 1u);
      ASSERT_TRUE(plan.violations[0].field.starts_with("pieces["));
      continue;
    }
    ++planned;
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    ASSERT_GT(plan.duration_s, 0.0);
    ASSERT_NEAR(static_cast<double>(plan.duration_s / time), 1.0, 1e-12);
  }
  EXPECT_GT(planned, 2000);
}

// Powers of two for lengths and seconds that carry all quantities near the ends of double's range.
struct Scale {
  int length;
  int seconds;

  double Length(double value) const { return std::ldexp(value, length); }
  double Speed(double value) const { return std::ldexp(value, length - seconds); }
  double Acceleration(double value) const { return std::ldexp(value, length - 2 * seconds); }
  double Curvature(double value) const { return std::ldexp(value, -length); }
};

Scale RandomScale(Random& random) {
  for (;;) {
    const int speed = random.Whole(-980, 980);
    const int acceleration = random.Whole(-980, 980);
    const Scale scale = {2 * speed - acceleration, speed - acceleration};
    if (std::abs(scale.length) <= 980 && std::abs(scale.seconds) <= 980) return scale;
  }
}

SpeedLimits RandomLimits(Random& random, BudgetMode mode) {
  SpeedLimits limits;
  limits.budget_mode = mode;
  limits.max_speed = random.LogUniform(1.0, 20.0);
  limits.max_acceleration = random.LogUniform(1.0, 8.0);
  limits.max_braking = random.LogUniform(1.0, 8.0);
  if (mode != BudgetMode::kCoupled) limits.max_lateral_acceleration = random.LogUniform(1.0, 8.0);
  if (mode == BudgetMode::kReserved) limits.max_total_acceleration = 12.0;
  if (mode == BudgetMode::kCoupled) limits.max_total_acceleration = random.LogUniform(1.0, 8.0);
  return limits;
}

SpeedLimits Scaled(const SpeedLimits& limits, const Scale& scale) {
  SpeedLimits scaled = limits;
  scaled.max_speed = scale.Speed(limits.max_speed);
  scaled.max_acceleration = scale.Acceleration(limits.max_acceleration);
  scaled.max_braking = scale.Acceleration(limits.max_braking);
  if (limits.max_lateral_acceleration) {
    scaled.max_lateral_acceleration = scale.Acceleration(*limits.max_lateral_acceleration);
  }
  if (limits.max_total_acceleration) {
    scaled.max_total_acceleration = scale.Acceleration(*limits.max_total_acceleration);
  }
  scaled.reaction_time_s = std::ldexp(limits.reaction_time_s, scale.seconds);
  return scaled;
}

constexpr BudgetMode kModes[] = {BudgetMode::kIndependent, BudgetMode::kReserved,
                                 BudgetMode::kCoupled};

TEST(SpeedExtremesTest, PlansOverPiecesScale) {
  SpeedWorkspace workspace;
  SpeedPlan plan;
  SpeedPlan scaled_plan;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    SpeedLimits limits = RandomLimits(random, kModes[seed % 3]);
    if (random.Chance(0.3)) limits.reaction_time_s = random.LogUniform(0.01, 1.0);
    std::vector<SpeedPiece> pieces;
    for (int i = random.Whole(1, 9); i > 0; --i) {
      pieces.push_back({random.LogUniform(0.01, 30.0),
                        random.Chance(0.5) ? kStraight : random.LogUniform(0.2, 40.0)});
    }
    SCOPED_TRACE(Print(seed, pieces, limits));
    const Scale scale = RandomScale(random);
    std::vector<SpeedPiece> scaled = pieces;
    for (SpeedPiece& piece : scaled) {
      piece = {scale.Length(piece.length), scale.Length(piece.radius)};
    }
    PlanSpeed({pieces, limits, 0.0, 0.0, {}}, workspace, plan);
    PlanSpeed({scaled, Scaled(limits, scale), 0.0, 0.0, {}}, workspace, scaled_plan);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    ASSERT_EQ(scaled_plan.status, SpeedPlanStatus::kOk)
        << "length 2^" << scale.length << " seconds 2^" << scale.seconds;
    for (const SpeedPhase& phase : scaled_plan.phases) {
      const double v = SpeedAt(phase, 0.5 * phase.length);
      const auto [slow, fast] = std::minmax(phase.start_speed, phase.end_speed);
      ASSERT_GE(v, slow * (1.0 - 1e-12));
      ASSERT_LE(v, fast * (1.0 + 1e-12));
    }
    const double time = std::ldexp(plan.duration_s, scale.seconds);
    ASSERT_NEAR(scaled_plan.duration_s / time, 1.0, 1e-9)
        << "length 2^" << scale.length << " seconds 2^" << scale.seconds;
  }
}

TEST(SpeedExtremesTest, PlansAlongCurvesScale) {
  CurvatureWorkspace workspace;
  CurvatureSpeedPlan plan;
  CurvatureSpeedPlan scaled_plan;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    const SpeedLimits limits = RandomLimits(random, kModes[seed % 3]);
    const Scale scale = RandomScale(random);
    std::vector<double> distance, curvature, scaled_distance, scaled_curvature;
    double s = 0.0;
    for (int i = random.Whole(2, 30); i > 0; --i) {
      s += random.LogUniform(0.05, 3.0);
      distance.push_back(s);
      curvature.push_back(random.Uniform(-0.6, 0.6));
      scaled_distance.push_back(scale.Length(s));
      scaled_curvature.push_back(scale.Curvature(curvature.back()));
    }
    CurvatureProfileRequest request;
    request.distance = distance;
    request.curvature = curvature;
    request.limits = limits;
    PlanSpeedAlongCurve(request, workspace, plan);
    request.distance = scaled_distance;
    request.curvature = scaled_curvature;
    request.limits = Scaled(limits, scale);
    PlanSpeedAlongCurve(request, workspace, scaled_plan);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk) << "seed " << seed;
    ASSERT_EQ(scaled_plan.status, SpeedPlanStatus::kOk) << "seed " << seed;
    const double time = std::ldexp(plan.duration_s, scale.seconds);
    // Steps under a coupled budget are accepted by comparisons that rounding can turn.
    const double slack = limits.budget_mode == BudgetMode::kCoupled ? 1e-4 : 1e-9;
    ASSERT_NEAR(scaled_plan.duration_s / time, 1.0, slack)
        << "seed " << seed << " length 2^" << scale.length << " seconds 2^" << scale.seconds;
  }
}

}  // namespace
}  // namespace arclane
